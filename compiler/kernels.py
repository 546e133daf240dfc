"""Programs to images: the kernels, their parameters, and whether they fit the configuration."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Literal

from fgpu.config import Config
from fgpu.errors import CapacityError, CompileError, EncodingError
from fgpu.isa import Opcode, by_opcode, decode

from .collection import seldom_collected
from .fitting import Compiled, Fitting
from .frontend.clang import Size, builtins, compile_to_bitcode, read_ir
from .frontend.diagnostics import why_no_kernel
from .image import Image, Kernel, Parameter
from .ir.module import Function, Module
from .ir.values import LOCAL_SPACE
from .linker import Linker
from .observers import default_observers
from .orders import TooLargeError
from .passes import Observer
from .refusals import check_program, short_store
from .work_groups import asks_for_work_groups

__all__ = ["compile_modules", "compile_sources"]

_WORD_BYTES = 4
_WITHOUT_RECONVERGENCE = 1.25
"""By how much a program may be too large that it is tried without the calls that let work-items meet again."""
_MANY = 2
"""How many code RAMs' words are so many that nobody asks how many more they would be."""
_VECTOR = re.compile(r" __attribute__\(\(ext_vector_type\((\d+)\)\)\)")
_SIZES = {"char": 1, "uchar": 1, "bool": 1, "half": 2, "short": 2, "ushort": 2, "long": 8, "ulong": 8,
          "double": 8}


def compile_sources(sources: Mapping[str, str], options: Sequence[str], config: Config,
                    wanted: Sequence[str] | None = None, observers: Sequence[Observer] = ()) -> Image:
    """Compile programs by their file names to one image; see :func:`~fgpu.compiler.compile.compile_opencl`."""
    told: list[str] = []

    def bitcode(size: Size) -> tuple[bytes, ...]:
        made = [compile_to_bitcode(source, filename, options, library=builtins(), size=size, kernels=wanted or ())
                for filename, source in sources.items()]
        told.extend(message for each in made for message in each.warnings)
        return tuple(each.code for each in made)

    image = compile_modules(sources, bitcode, config, wanted, observers)
    return replace(image, clang_warnings=tuple(dict.fromkeys(told)))


def compile_modules(sources: Mapping[str, str], bitcode: Callable[[Size], tuple[bytes, ...]], config: Config,
                    wanted: Sequence[str] | None = None, observers: Sequence[Observer] = ()) -> Image:
    """Compile what ``bitcode`` makes of the ``sources`` to one image."""
    with seldom_collected():
        return _Search(sources, bitcode, config, wanted, observers).image()


class _Search:
    """For an image that fits the code RAM: attempts, the fastest first, and what those that failed have told."""

    def __init__(self, sources: Mapping[str, str], bitcode: Callable[[Size], tuple[bytes, ...]], config: Config,
                 wanted: Sequence[str] | None, observers: Sequence[Observer]) -> None:
        self._sources = sources
        self._bitcode = cache(bitcode)
        self._config = config
        self._wanted = wanted
        self._observers = [*default_observers(), *observers]
        self._tried: dict[tuple[bool, tuple[bytes, ...]], Image | None] = {}
        self._promising: set[tuple[bytes, ...]] = set()     # for which there are more plans if nothing is shorter
        self._words: list[int] = []         # of images that are too large
        self._least: list[int] = []         # of attempts that were given up: so many words at least
        self._far: list[str] = []           # branches and calls that do not reach their targets
        self._outlined: list[Image] = []    # that fit because repeats became subroutines
        self._kernels = 0

    def image(self) -> Image:
        """Raises :class:`~fgpu.errors.CapacityError` if none fits."""
        # Only where there is no room at all do work-items that parted stay so.
        for size in Size:
            image = self._attempt(size)
            if image is not None and size is Size.LARGE and _private_memory(image):
                # Registers that are kept there cost more than counting does.
                image = min(image, self._attempt(Size.MEDIUM) or image, key=_private_memory)
            if image is not None:
                return image
        if self._outlined:
            return self._outlined[-1]
        most = self._config.cram_words
        if min([*self._words, *self._least], default=_MANY * most) <= _WITHOUT_RECONVERGENCE * most:
            image = self._attempt(Size.SMALL, reconverges=False)
            if image is not None:
                return image
        raise self._too_large()

    def _attempt(self, size: Size, reconverges: bool = True) -> Image | None:
        bitcode = self._bitcode(size)
        if (reconverges, bitcode) not in self._tried or (size is Size.SMALL and bitcode in self._promising):
            self._tried[reconverges, bitcode] = self._made(bitcode, size, reconverges)
        return self._tried[reconverges, bitcode]

    def _made(self, bitcode: tuple[bytes, ...], size: Size, reconverges: bool) -> Image | None:
        modules = _modules(dict(zip(self._sources, map(read_ir, bitcode), strict=True)), self._sources, self._wanted)
        self._kernels = sum(map(len, modules.values()))
        for module, functions in modules.items():
            check_program(module, functions, self._config)
        # Only of the last attempt anybody asks how much too large it is.
        most = int(self._config.cram_words * (_WITHOUT_RECONVERGENCE if size is Size.SMALL else 1))
        variant = f"{size.name.lower()}, {'' if reconverges else 'no reconvergence, '}"
        fitting = Fitting(self._config, Linker(self._config), reconverges, most, self._observers, variant,
                          size is Size.SMALL)
        warnings: list[str] = []
        try:
            linker, kernels = _compiled(modules, fitting, warnings)
        except TooLargeError as error:
            self._least.append(error.least)
            return None
        except EncodingError as error:      # a branch or a call that does not reach its target
            self._far.append(str(error))
            return None
        finally:
            if fitting.left_plans_out:
                self._promising.add(bitcode)
        if len(linker.words) > self._config.cram_words:
            self._words.append(len(linker.words))
            return None
        image = Image(tuple(linker.words), kernels, bytes(linker.data.content), linker.lines,
                      tuple(sorted(linker.data.pointers)), tuple(dict.fromkeys(warnings)),
                      tuple(linker.formats.formats), tuple(linker.formats.strings))
        if not fitting.outlined:
            return image
        self._outlined.append(image)
        return None

    def _too_large(self) -> CapacityError:
        config = self._config
        if self._words or self._least:
            what = f"{min(self._words)}" if self._words else f"at least {min(self._least)}"
            why = f"{what} instructions; the code RAM holds {config.cram_words} (cram_size={config.cram_size})"
        else:
            why = f"a branch or a call over too many instructions ({self._far[-1]})"
        return CapacityError(f"{', '.join(self._sources)}: the program has {why}"
                             + ("; compile fewer of its kernels with kernels=[...]" if self._kernels > 1 else ""))


def _private_memory(image: Image) -> int:
    """Words of work-items' own memory."""
    return sum(kernel.scratchpad_words + kernel.private_bytes // _WORD_BYTES for kernel in image.kernels.values())


def _modules(modules: Mapping[str, Module], sources: Mapping[str, str],
             wanted: Sequence[str] | None) -> dict[Module, list[Function]]:
    """What clang made of each of the ``sources``, and those of the kernels that are wanted."""
    present = [[function for function in module.functions.values() if function.is_kernel]
               for module in modules.values()]
    for filename, functions in zip(modules, present, strict=True):
        if not functions:
            raise CompileError(f"{filename}: there is no __kernel function in this program"
                               f"{why_no_kernel(sources[filename])}")
    names = [function.name for functions in present for function in functions]
    for name in wanted or ():
        if name not in names:
            raise CompileError(f"{', '.join(modules)}: there is no kernel {name!r}; the kernels there are: "
                               f"{', '.join(names)}")
    return {module: [function for function in functions if wanted is None or function.name in wanted]
            for module, functions in zip(modules.values(), present, strict=True)}


def _compiled(modules: Mapping[Module, Sequence[Function]], fitting: Fitting,
              warnings: list[str]) -> tuple[Linker, dict[str, Kernel]]:
    kernels: dict[str, Kernel] = {}
    for module, functions in modules.items():
        fitting.start_source()
        for function in functions:
            if function.name in kernels:
                raise function.error(f"there are two kernels {function.name!r} in the image")
            kernels[function.name] = _kernel(fitting, function, module, warnings)
    return fitting.linker, kernels


def _kernel(fitting: Fitting, function: Function, module: Module, warnings: list[str]) -> Kernel:
    parameters = _parameters(function, module)
    compiled = _add_kernel(fitting, function, module)
    warnings += compiled.warnings
    parameters += tuple(Parameter(name, "implicit", "uint", _WORD_BYTES) for name in compiled.hidden)
    kernel = Kernel(function.name, compiled.entry, parameters, compiled.scratchpad,
                    len(fitting.linker.words) - compiled.entry, module.work_group_size(function), compiled.frame,
                    local_bytes=compiled.local_bytes, has_barrier=compiled.has_barrier)
    return replace(kernel, splittable=not kernel.is_cooperative and not asks_for_work_groups(function, module))


def _add_kernel(fitting: Fitting, function: Function, module: Module) -> Compiled:
    """Add a kernel to the program of ``fitting`` if the configuration has the stores that it needs."""
    config = fitting.config
    words = fitting.linker.words
    first = len(words)
    compiled = fitting.add(function, module)
    if config.lacks(by_opcode[Opcode.SB]) is not None:
        for word in words[first:]:
            row, _ = decode(word)
            if row.is_store and config.lacks(row) is not None:
                raise short_store(function, row.mnemonic)
    return compiled


def _parameters(function: Function, module: Module) -> tuple[Parameter, ...]:
    names = module.metadata.get(function.metadata.get("kernel_arg_name", ""), [])
    types = module.metadata.get(function.metadata.get("kernel_arg_base_type", ""), [])
    result = []
    for number, (_, type) in enumerate(function.parameters):
        spelling = _VECTOR.sub(r"\1", types[number]) if number < len(types) else ""
        pointee = spelling.removesuffix("*")
        if type.is_by_value:
            result.append(Parameter(names[number], "struct", spelling, type.fields[0].size))
        elif type.kind == "ptr":
            kind: Literal["pointer", "local"] = "local" if type.space == LOCAL_SPACE else "pointer"
            result.append(Parameter(names[number], kind, pointee, _size(pointee)))
        else:
            result.append(Parameter(names[number], "scalar", spelling, type.size))
    return tuple(result)


def _size(type: str) -> int:
    """Bytes of a type by its OpenCL name; a vector of three is as large as one of four."""
    match = re.fullmatch(r"([a-z]+)(\d*)", type)
    scalar, lanes = match.groups() if match else (type, "")
    return _SIZES.get(scalar, 4) * {"": 1, "3": 4}.get(lanes, int(lanes or 1))
