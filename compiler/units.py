"""Programs whose sources are compiled separately and linked, and each of whose kernels has an image of its own.

A :class:`Unit` is what clang makes of a source, or of several that were linked: not optimized, and for no particular
hardware. That is what a host can keep and load again. An image for a configuration is made of it when it is needed.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, Final

from fgpu.config import ATOMICS, Config
from fgpu.errors import CapacityError, CompileError
from fgpu.extras import demand
from fgpu.store import kept_bytes, with_digest, without_digest, workspace

from .estimate import estimates
from .frontend.bitcode import SAMPLER, compiler_version
from .frontend.dependence import depends_on_more
from .frontend.reader import KERNEL_COPY
from .image import Image
from .interface import Interface
from .work_groups import BARRIERS

__all__ = ["Unit", "code_key", "compile_unit", "link_units"]

_MAGIC: Final = b"fgpu-unit 3\n"
_REFUSED: Final = b"refused: "
"""Before the reason, where an image would be."""
_HEADER_DEPTH: Final = 8
"""Folders above that of headers, so that they may include each other by "../"."""
_KNOWN: Final = ("llvm.", "_Z", "fgpu_", "__fgpu", "printf", SAMPLER)
"""What the names of functions begin with that are defined later, or refused with a better message."""
_MARGIN: Final = 2
"""By how much a kernel may be larger than its estimate."""
_EXTERNAL, _INTERNAL, _AVAILABLE = "external", "internal", "available_externally"


@dataclass(frozen=True)
class Unit:
    """Clang's bitcode of one or more sources, before anything is optimized."""

    bitcode: bytes = field(repr=False)
    extensions: tuple[str, ...]
    """The types that it has beyond those of every program: ``cl_khr_fp64``, ``cl_khr_fp16``."""
    kernels: Mapping[str, Interface]
    undefined: tuple[str, ...] = ()
    """Names of what it calls or accesses and does not have, nor the compiler."""
    log: str = ""
    """Clang's warnings."""
    estimates: Mapping[str, int | None] = field(default_factory=dict)
    """Of each kernel; see :mod:`~fgpu.compiler.estimate`."""

    def to_bytes(self) -> bytes:
        """What :meth:`from_bytes` takes, in this version of fgpu or in another."""
        head = json.dumps({"extensions": list(self.extensions), "log": self.log, "undefined": list(self.undefined),
                           "estimates": dict(self.estimates),
                           "kernels": [kernel.to_json() for kernel in self.kernels.values()],
                           "bitcode": base64.b64encode(self.bitcode).decode()}).encode()
        return _MAGIC + with_digest(head)

    @classmethod
    def from_bytes(cls, content: bytes) -> "Unit":
        """Raises :class:`~fgpu.errors.CompileError` for what :meth:`to_bytes` did not write."""
        head = without_digest(content.removeprefix(_MAGIC)) if content.startswith(_MAGIC) else None
        if head is None:
            raise CompileError("this is no program that fgpu compiled, or it is damaged")
        try:
            data: dict[str, Any] = json.loads(head)
            kernels = [Interface.from_json(kernel) for kernel in data["kernels"]]
            return cls(base64.b64decode(data["bitcode"]), tuple(data["extensions"]),
                       {kernel.name: kernel for kernel in kernels}, tuple(data["undefined"]), data["log"],
                       dict(data["estimates"]))
        except (ValueError, KeyError, TypeError) as error:
            raise CompileError(f"this program is of another version of fgpu: {error!r}") from None

    def doubtful(self, config: Config) -> list[str]:
        """The kernels that may be refused for a configuration; only :meth:`image` tells."""
        is_plain = config.atomics == ATOMICS and config.sub_integer_stores
        return [kernel for kernel in self.kernels if not is_plain
                or (words := self.estimates.get(kernel)) is None or words > config.cram_words // _MARGIN]

    def image(self, kernel: str, config: Config) -> Image:
        """The image of one kernel for a configuration.

        It is kept in the user's cache folder, as is that a kernel needs more than the hardware has.
        Raises :class:`~fgpu.errors.CompileError` for what is not supported or does not fit.
        """
        key = json.dumps([compiler_version(), hashlib.sha256(self.bitcode).hexdigest(), self.extensions, kernel,
                          code_key(config)])
        name = hashlib.sha256(key.encode()).hexdigest()
        kept = kept_bytes("programs", name, partial(self._compiled, kernel, config))
        if kept.startswith(_REFUSED):
            raise CapacityError(kept.removeprefix(_REFUSED).decode())
        return Image.from_json(kept.decode())

    def _compiled(self, kernel: str, config: Config) -> bytes:
        demand("compiling OpenCL C", "opencl")
        from .frontend.clang import Size, optimize
        from .kernels import compile_modules

        alone = _only(self.bitcode, kernel)

        def bitcode(size: Size) -> tuple[bytes, ...]:
            return (optimize(alone, size),)

        try:
            return compile_modules({"the program": ""}, bitcode, config, [kernel]).to_json().encode()
        except CapacityError as error:      # to know takes as long as to compile
            return _REFUSED + str(error).encode()


def code_key(config: Config) -> str:
    """A text that is equal for configurations that run the same code, with however many compute units."""
    return repr([(each.name, sorted(value) if isinstance(value, frozenset) else value) for each in fields(config)
                 if each.name != "compute_units" for value in [getattr(config, each.name)]])


def compile_unit(source: str, filename: str = "<opencl>", options: Sequence[str] = (),
                 headers: Mapping[str, str] | None = None) -> Unit:
    """Run the front end over a source, which may include ``headers`` by their names (they may be in folders).

    ``options`` are those of :func:`~fgpu.compiler.compile_opencl`. Units of sources that include no files are kept in
    the user's cache folder. Raises :class:`~fgpu.errors.CompileError` with clang's messages.
    """
    if headers:
        with workspace() as root:
            folder = root.joinpath(*["headers"] * _HEADER_DEPTH)
            folder.mkdir(parents=True)
            for name, text in headers.items():
                path = folder / name
                if not path.resolve().is_relative_to(root.resolve()):
                    raise CompileError(f"the header {name!r} is outside the folder of headers")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", errors="surrogateescape")
            return _made(source, filename, [f"-I{folder}", *options], folder)
    if depends_on_more(source, *options):
        return _made(source, filename, options)
    key = json.dumps([compiler_version(), source, filename, list(options)])
    name = hashlib.sha256(key.encode()).hexdigest()
    return Unit.from_bytes(kept_bytes("units", name, lambda: _made(source, filename, options).to_bytes()))


def _made(source: str, filename: str, options: Sequence[str], folder: Path | None = None) -> Unit:
    demand("compiling OpenCL C", "opencl")
    from .frontend import clang
    from .frontend.interface import read_interfaces

    made = clang.compile_unit(source, filename, options, folder)
    kernels = {kernel.name: kernel for kernel in read_interfaces(made.declared)}
    with _parsed(made.bitcode) as module:
        return Unit(made.bitcode, made.extensions, kernels, _undefined(module), made.log,
                    estimates(str(module), kernels))


def link_units(units: Sequence[Unit], *, is_library: bool = False) -> Unit:
    """Link units to one, which lacks nothing that it calls unless this ``is_library``.

    Raises :class:`~fgpu.errors.CompileError` that names what is there twice or not at all.
    """
    linked = units[0] if len(units) == 1 else _linked(units)
    if linked.undefined and not is_library:
        raise CompileError("\n".join(f"error: undefined symbol {name!r}" for name in linked.undefined))
    return linked


def _linked(units: Sequence[Unit]) -> Unit:
    kernels = {name: kernel for unit in units for name, kernel in unit.kernels.items()}
    extensions = tuple(dict.fromkeys(extension for unit in units for extension in unit.extensions))
    log = "\n".join(unit.log for unit in units if unit.log)
    try:
        with _parsed(units[0].bitcode) as module:
            defined = _definitions(module)
            for unit in units[1:]:
                other = _parsed(unit.bitcode, module)
                more = _definitions(other)
                if twice := sorted(name for name in defined & more if not name.startswith(KERNEL_COPY)):
                    raise CompileError("\n".join(f"error: symbol {name!r} is defined more than once"
                                                 for name in twice))
                defined |= more
                module.link_in(other)
            text = str(module)
            return Unit(_without_promises(module, text), extensions, kernels, _undefined(module), log,
                        estimates(text, kernels))
    except RuntimeError as error:
        raise CompileError(f"error: cannot link: {error}") from None


def _without_promises(module: Any, text: str) -> bytes:
    """The module's bitcode, in which ``restrict`` says nothing where there are barriers, which may be in another
    source than the promise."""
    from llvmlite import binding as llvm

    promising = re.compile(r"^define .*\bnoalias\b.*$", re.MULTILINE)
    content: bytes = module.as_bitcode()
    if not any(name in text for name in BARRIERS) or not promising.search(text):
        return content
    honest = promising.sub(lambda line: re.sub(r"\bnoalias ", "", line[0]), text)
    with llvm.parse_assembly(honest, llvm.create_context()) as parsed:
        content = parsed.as_bitcode()
        return content


def _parsed(bitcode: bytes, beside: Any = None) -> Any:
    """LLVM's module, in a context of its own or that of another module."""
    demand("compiling OpenCL C", "opencl")
    from llvmlite import binding as llvm

    return llvm.parse_bitcode(bitcode, llvm.create_context() if beside is None else beside._context)


def _undefined(module: Any) -> tuple[str, ...]:
    return tuple(item.name for item in (*module.functions, *module.global_variables)
                 if item.is_declaration and not item.name.startswith(_KNOWN))


def _definitions(module: Any) -> set[str]:
    """Names that no other module may define, too."""
    return {item.name for item in (*module.functions, *module.global_variables)
            if not item.is_declaration and item.linkage.name == _EXTERNAL}


def _only(bitcode: bytes, kernel: str) -> bytes:
    """The module with ``kernel`` alone seen from outside, so that what it does not call is left out."""
    with _parsed(bitcode) as module:
        for item in (*module.functions, *module.global_variables):
            if not item.is_declaration and item.name != kernel and item.linkage.name in (_EXTERNAL, _AVAILABLE):
                item.linkage = _INTERNAL
        content: bytes = module.as_bitcode()
        return content
