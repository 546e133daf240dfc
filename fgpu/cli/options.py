"""Options that commands share: of the hardware, the simulator and the compiler."""

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

import click
from click.core import ParameterSource

import fgpu.config
from fgpu.config import PRESETS, Config
from fgpu.engines import ENGINES, MAX_CYCLES
from fgpu.errors import ConfigError

from .groups import COMPILER, HARDWARE, SIMULATION, option
from .values import NameList

__all__ = [
    "compiler_options", "config_options", "engine_options", "hardware_options", "latency_option", "refuse_given",
]

Command = TypeVar("Command", bound=Callable[..., Any])

_SHORT = {"compute_units": ["--cus"]}
_INTERNAL = ("statistics",)     # simulators set it themselves


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


def refuse_given(purpose: str, *names: str) -> None:
    """An error if one of the current command's options of these names, which serve another purpose, was given."""
    context = click.get_current_context()
    for each in context.command.params:
        if each.name in names and context.get_parameter_source(each.name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{each.opts[-1]} is for {purpose}")
