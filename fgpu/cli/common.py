"""What the commands share: errors, hardware options, files."""

import ast
import errno
import inspect
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

import fgpu.config
from fgpu.config import PRESETS, Config
from fgpu.engines import ENGINES, MAX_CYCLES
from fgpu.errors import ConfigError, FgpuError
from fgpu.files import write_atomically

from .groups import COMPILER, HARDWARE, SIMULATION, option
from .values import NameList

__all__ = [
    "OPENCL", "ErrorGroup", "check_output", "check_outputs", "compile_file", "compiler_options", "config_options",
    "engine_options", "hardware_options", "latency_option", "load_image", "read_text", "refuse_given",
    "told_warnings", "write_file",
]

Command = TypeVar("Command", bound=Callable[..., Any])

_SHORT = {"compute_units": ["--cus"]}
OPENCL = (".cl", ".ocl", ".c")
"""How names of files with OpenCL C end."""
_INTERNAL = ("statistics",)     # simulators set it themselves


class ErrorGroup(click.Group):
    """A group whose commands answer every error of fgpu with its message and exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; the project's errors become a line on standard error and exit status 1."""
        if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
            sys.stdout.reconfigure(errors="replace")    # a terminal of Latin-1 has no bars, but shows the rest
        try:
            return super().invoke(ctx)
        except FgpuError as error:
            raise click.ClickException(str(error)) from error
        except BrokenPipeError:
            raise   # click ends quietly when the reader of a pipe has
        except OSError as error:
            raise click.ClickException(f"{error.filename or 'input/output'}: {error.strerror or error}") from error


# -- hardware -----------------------------------------------------------------------------------


def _listed(constant: str) -> str:
    return ", ".join(sorted(getattr(fgpu.config, constant)))


def _descriptions() -> dict[str, str]:
    """The first paragraph of the text under each parameter of :class:`Config`; what follows is for Python."""
    found = {}
    [tree] = ast.parse(inspect.getsource(Config)).body
    assert isinstance(tree, ast.ClassDef)
    for item, following in zip(tree.body, tree.body[1:], strict=False):
        if (isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
                and isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)):
            text = re.sub(r"``|\*", "", str(following.value.value).split("\n\n")[0])
            found[item.target.id] = re.sub(r":data:`(\w+)`", lambda name: _listed(name[1]), text)
    return found


def _instead_of(command: Command, function: Any) -> Any:
    """``function``, to which click passes what ``command`` wants, and more."""
    function.__doc__, function.__name__ = command.__doc__, command.__name__
    function.__click_params__ = list(getattr(command, "__click_params__", []))
    return function


def hardware_options() -> list[str]:
    """The names of the options that :func:`config_options` adds."""
    return ["preset", *(field.name for field in fields(Config) if field.name not in _INTERNAL)]


def config_options(omit: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """Options for every hardware parameter but ``omit``; the command gets a ``config``."""

    def decorate(command: Command) -> Command:
        names = [name for name in hardware_options() if name != "preset" and name not in omit]

        def with_config(preset: str | None, **given: Any) -> Any:
            changes = {name: given.pop(name) for name in names}
            # An empty text is no names, and takes the place of a preset's.
            changes = {name: frozenset().union(*(each for each in value if each != ("",)))
                       if isinstance(value, tuple) else value
                       for name, value in changes.items() if value is not None and value != ()}
            base = Config() if preset is None else Config.preset(preset)
            return command(config=base.replace(**changes), **given)

        wrapped = _instead_of(command, with_config)
        descriptions = _descriptions()
        for field in reversed(fields(Config)):
            if field.name in names:
                wrapped = _option(field.name, field.default, descriptions.get(field.name, ""))(wrapped)
        text = f"Start from a named configuration: {', '.join(PRESETS)}; by default from basic."
        return option("--preset", group=HARDWARE, metavar="NAME", help=text)(wrapped)

    return decorate


def _option(name: str, default: Any, description: str) -> Callable[[Any], Any]:
    flag = "--" + name.replace("_", "-")
    if isinstance(default, bool):
        return option(f"{flag}/--no-{flag[2:]}", name, default=None, group=HARDWARE, help=description)
    if isinstance(default, frozenset):
        return option(flag, name, type=NameList(), multiple=True, group=HARDWARE, help=description)
    if isinstance(default, str):
        return option(flag, name, metavar="NAME", group=HARDWARE,
                      help=f"{description.removesuffix('.')}. Default {default}.")
    return option(flag, *_SHORT.get(name, []), name, type=int, metavar="N", group=HARDWARE,
                  help=f"{description.removesuffix('.')}. Default {default}.")


def engine_options(command: Command, *, latencies: bool = False) -> Command:
    """Which simulator, with which memory and watchdog; several ``latencies`` of memory come as a tuple."""
    command = option("--max-cycles", type=click.IntRange(min=1), default=MAX_CYCLES, show_default=True,
                     group=SIMULATION, help="Stop a kernel that takes longer, in cycles.")(command)
    command = latency_option(command, several=latencies)
    return option("--engine", type=click.Choice(ENGINES), default=ENGINES[0], show_default=True, group=SIMULATION,
                  help="verilator: every cycle, fast, builds a model once; pysim: every cycle, slow; "
                       "functional: results only.")(command)


def compiler_options(command: Command) -> Command:
    """Options for clang; the command gets them as ``options``."""

    def with_options(defines: tuple[str, ...], includes: tuple[str, ...], others: tuple[str, ...],
                     **given: Any) -> Any:
        options = (*(f"-D{define}" for define in defines), *(f"-I{include}" for include in includes), *others)
        return command(options=options, **given)

    wrapped = option("--option", "others", multiple=True, metavar="OPTION", group=COMPILER,
                     help="Another option of OpenCL's compilers, as --option=-cl-finite-math-only.")(
                         _instead_of(command, with_options))
    wrapped = option("-I", "--include", "includes", multiple=True, metavar="DIR", group=COMPILER,
                     help="Look for headers in DIR, too; those beside FILE are found.")(wrapped)
    return option("-D", "--define", "defines", multiple=True, metavar="NAME[=VALUE]", group=COMPILER,
                  help="Define a macro.")(wrapped)


def _latency(context: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    if value is None:
        return None
    try:
        bounds = [int(part) for part in value.split(":")]
    except ValueError:
        bounds = []
    if len(bounds) not in (1, 2) or not 0 <= bounds[0] <= bounds[-1]:
        raise ConfigError(f"--latency {value!r} must be cycles, as 20, or a range from fewer to more, as 10:40")
    return bounds[0] if len(bounds) == 1 else (bounds[0], bounds[1])


def _latencies(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[Any, ...]:
    return tuple(_latency(context, parameter, part) for part in (value.split(",") if value is not None else [None]))


def latency_option(command: Command, *, several: bool = False) -> Command:
    """Cycles that memory adds; ``several`` to try come as a tuple."""
    text = "Cycles that the memory adds to each burst, fixed or random from N to M"
    return option("--latency", callback=_latencies if several else _latency, group=SIMULATION,
                  metavar="N[:M][,...]" if several else "N[:M]",
                  help=f"{text}, one or several to try. Default 0." if several else f"{text}. Default 0.")(command)


# -- files --------------------------------------------------------------------------------------


def read_text(path: Path) -> str:
    """A text file."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise click.ClickException(f"{path}:{line}: byte 0x{error.object[error.start]:02X} is not UTF-8; "
                                   "save the file as UTF-8") from None


def refuse_given(purpose: str, *names: str) -> None:
    """An error if one of the current command's options of these names, which serve another purpose, was given."""
    context = click.get_current_context()
    for each in context.command.params:
        if each.name in names and context.get_parameter_source(each.name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{each.opts[-1]} is for {purpose}")


def check_output(path: Path) -> None:
    """An error for a file that :func:`write_file` could not write, for commands that take long until then."""
    if path.is_dir() or not path.parent.is_dir():
        reason = os.strerror(errno.EISDIR if path.is_dir() else errno.ENOENT)
        raise click.ClickException(f"cannot write {path}: {reason}")


def check_outputs(outputs: Sequence[tuple[str, Path]], source: Path) -> None:
    """An error for one of the files, each with the option that names it, that could not be written, would be written
    twice, or is the ``source`` that the command reads."""
    written: dict[Path, str] = {}
    for name, path in outputs:
        check_output(path)
        place = path.resolve()
        if place == source.resolve():
            raise click.ClickException(f"{name} {path} would replace the program itself; give another file")
        if place in written:
            raise click.ClickException(f"{written[place]} and {name} both write {path}; give each a file of its own")
        written[place] = name


def write_file(path: Path, content: bytes | str) -> None:
    """Write a file that appears whole or not at all."""
    try:
        write_atomically(path, content)
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror or error}") from None


@contextmanager
def told_warnings() -> Iterator[None]:
    """Warnings are for who typed the command, who has no line of Python to look at."""
    def tell(message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None,
             line: str | None = None) -> None:
        click.echo(f"Warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = tell
        yield


def compile_file(path: Path, config: Config, options: tuple[str, ...] = (), kernels: tuple[str, ...] = (),
                 observers: Sequence[Any] = ()) -> Any:
    """The image of OpenCL C, of which only ``kernels`` are compiled if there are any; ``observers`` see the
    passes."""
    from fgpu.compiler import compile_opencl

    with told_warnings():
        return compile_opencl(read_text(path), filename=str(path), options=(*options, f"-I{path.parent}"),
                              config=config, kernels=kernels or None, observers=observers)


def load_image(path: Path, config: Config, options: tuple[str, ...] = (), kernels: tuple[str, ...] = ()) -> Any:
    """An image from OpenCL C (.cl; see :func:`compile_file`), from assembly (.s, .asm) or from a program image (.mif,
    .json)."""
    from fgpu.compiler import Image, assemble

    suffix = path.suffix.lower()
    if suffix in OPENCL:
        return compile_file(path, config, options, kernels)
    if options:
        raise click.UsageError(f"{options[0]} is for OpenCL C, which {path} is not")
    if suffix in (".s", ".asm"):
        return assemble(read_text(path), filename=str(path))
    if suffix in (".mif", ".json"):
        return Image.load(path)
    raise click.ClickException(f"{path}: a program is a .cl, .s, .mif or .json file, "
                               f"not {repr(path.suffix) if path.suffix else 'one without a suffix'}")
