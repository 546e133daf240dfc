"""From what a caller passes to a launch to the numbers of a kernel descriptor."""

import math
import re
import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from fgpu.compiler.bound_kernel import BoundKernel
from fgpu.compiler.image import Image, Kernel, Parameter
from fgpu.config import DIMENSIONS, PARAMETERS_MAX, Config
from fgpu.errors import ImageError, LaunchError

from .buffer import Buffer
from .features import check_built
from .local_memory import LocalMemory
from .numbers import is_integer, is_number

__all__ = [
    "Argument", "Size", "argument_words", "check_kernel", "check_program", "choose_kernel", "sizes",
]

Size = int | Sequence[int]
Argument = Buffer | LocalMemory | int | float | np.number | np.void | bytes | Sequence[int | float] | np.ndarray

_WORD_BYTES = 4
_SHOWN = 80
_PARTS = re.compile(r"([a-z ]+)(\d*)")
_POINTEE = re.compile(r"([a-z]+)(\d*)(\[\d+\])*")
_DTYPES = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8",
           "ulong": "u8", "half": "f2", "float": "f4", "double": "f8"}
_FLOATS = ("half", "float")
_INTEGERS = range(-(1 << 31), 1 << 32)
_UNSIGNED = ("bool", "uchar", "ushort", "uint", "unsigned", "size_t", "ulong")


def sizes(what: str, value: Size) -> tuple[int, ...]:
    """One number or several as a tuple of 1 to 3 integers."""
    items: tuple[Any, ...] = tuple(value) if isinstance(value, Sequence | np.ndarray) and np.ndim(value) else (value,)
    if not 1 <= len(items) <= DIMENSIONS:
        raise LaunchError(f"the {what} {value!r} must have 1 to {DIMENSIONS} dimensions")
    for item in items:
        if not is_integer(item):
            raise LaunchError(f"the {what} {value!r} must be made of integers, not {item!r}")
    return tuple(int(item) for item in items)


def choose_kernel(image: Image | BoundKernel, name: str | None) -> tuple[Image, Kernel]:
    """The kernel called ``name``, or the only one."""
    if isinstance(image, BoundKernel):
        if name is not None:
            raise LaunchError(f"{image!r} is already a kernel; give no name, {name!r}, with it")
        return image.image, image.kernel
    if not isinstance(image, Image):
        raise LaunchError(f"the program must be an Image, not {type(image).__name__}; "
                          "compile_opencl(source) makes one")
    if name is not None:
        return image, image.kernel(name)
    if len(image.kernels) != 1:
        there = ", ".join(image.kernels)
        raise ImageError(f"name the kernel to launch; the image has {there}" if there else
                         "the image names no kernel; give entries with Image.from_words(words, {'name': 0}), or use "
                         "launch_descriptor")
    return image, next(iter(image.kernels.values()))


def check_program(image: Image, entry: int, config: Config) -> None:
    """Refuse a program that does not fit the hardware or needs what it lacks."""
    if len(image.words) > config.cram_words:
        raise ImageError(f"the image has {len(image.words)} words; the code RAM holds {config.cram_words} "
                         f"(cram_size={config.cram_size} KiB)")
    if entry not in range(len(image.words)):
        raise LaunchError(f"the kernel starts at word {entry}, outside the image of {len(image.words)} words")
    check_built(image.words, entry, config)


def check_kernel(kernel: Kernel, local_size: tuple[int, ...], config: Config) -> None:
    """Refuse a work-group or a configuration with which the kernel cannot run."""
    if kernel.scratchpad_words > config.scratchpad_words:
        raise LaunchError(f"kernel {kernel.name!r} needs {kernel.scratchpad_words} scratchpad words a work-item; "
                          f"this configuration has {config.scratchpad_words} "
                          f"(scratchpad_size={config.scratchpad_size} KiB)")
    demanded = kernel.work_group_size
    if demanded is not None and local_size + (1,) * (3 - len(local_size)) != demanded:
        raise LaunchError(f"kernel {kernel.name!r} demands the local size {demanded} (reqd_work_group_size), "
                          f"not {local_size}")


def argument_words(kernel: Kernel, arguments: Sequence[Argument], device: object,
                   local: Sequence[int] = ()) -> tuple[int, ...]:
    """The words of the parameters that the source has; ``device`` is where buffers must live, and ``local`` has a
    word for each :class:`LocalMemory`."""
    parameters = kernel.parameters
    local_words = iter(local)
    if not isinstance(arguments, Sequence) or isinstance(arguments, str | bytes):
        raise LaunchError(f"args must be a list with an argument for each parameter, not {arguments!r}")
    if parameters is None:
        if len(arguments) > PARAMETERS_MAX:
            raise LaunchError(f"{len(arguments)} arguments are too many; a kernel takes at most {PARAMETERS_MAX}")
        return tuple(next(local_words) if isinstance(argument, LocalMemory) else
                     _word(f"argument {index}", argument, None, device)
                     for index, argument in enumerate(arguments))
    asked = [parameter for parameter in parameters if parameter.kind != "implicit"]
    if len(arguments) != len(asked):
        expected = ", ".join(parameter.declaration for parameter in asked)
        raise LaunchError(f"kernel {kernel.name!r} takes {len(asked)} arguments ({expected}), "
                          f"not {len(arguments)}")
    words: list[int] = []
    for index, (argument, parameter) in enumerate(zip(arguments, asked, strict=True)):
        what = f"argument {index} ({parameter.declaration})"
        if parameter.kind == "local" or isinstance(argument, LocalMemory):
            _check_local(what, argument, parameter)
            words.append(next(local_words))
            continue
        words += _words(what, argument, parameter, device) if _has_parts(parameter) \
            else [_word(what, argument, parameter, device)]
    return tuple(words)


def _check_local(what: str, argument: Argument, parameter: Parameter) -> None:
    if isinstance(argument, LocalMemory):
        if parameter.kind == "pointer":
            raise LaunchError(f"{what} points to global memory, not to local memory; pass a buffer")
        if parameter.kind != "local":
            raise LaunchError(f"{what} is a value, not local memory")
    else:
        given = f"{argument!r}" if len(repr(argument)) < _SHOWN else type(argument).__name__
        raise LaunchError(f"{what} is local memory; pass its size, LocalMemory(bytes), not {given}")


def _has_parts(parameter: Parameter) -> bool:
    """Whether the value has several words or parts: a long integer, a vector or a struct."""
    return parameter.kind == "struct" or (
        parameter.kind == "scalar" and (parameter.size > _WORD_BYTES or parameter.type[-1:].isdigit()))


def _words(what: str, argument: Argument, parameter: Parameter, device: object) -> list[int]:
    """The words of a value of several words or parts: an integer of 64 bits, a vector, or a struct's bytes."""
    if isinstance(argument, Buffer):
        raise LaunchError(f"{what} is a value, not a buffer")
    match = _PARTS.fullmatch(parameter.type)
    scalar, lanes = match.groups() if match is not None else ("", "")
    if isinstance(argument, bytes | np.void):
        content = argument if isinstance(argument, bytes) else argument.tobytes()
    elif parameter.kind == "struct":
        raise LaunchError(f"{what} must be given as its {parameter.size} bytes, or as an element of a NumPy array of "
                          f"such structs, not as {argument!r}")
    elif scalar not in _DTYPES:
        raise LaunchError(f"{what} has a type unknown here; give it as its {parameter.size} bytes, "
                          f"not {argument!r}")
    else:
        content = _content(what, argument, scalar, int(lanes or 1))
    if len(content) not in (parameter.size, parameter.size * 3 // 4 if lanes == "3" else parameter.size):
        raise LaunchError(f"{what} has {parameter.size} bytes, not {len(content)}")
    content += bytes(-len(content) % _WORD_BYTES) + bytes(max(0, parameter.size - len(content)) // _WORD_BYTES * 4)
    return [int.from_bytes(content[at:at + _WORD_BYTES], "little")
            for at in range(0, -(-parameter.size // _WORD_BYTES) * _WORD_BYTES, _WORD_BYTES)]


def _content(what: str, argument: Any, scalar: str, lanes: int) -> bytes:
    """The bytes of one number, or of one for each lane."""
    several = isinstance(argument, Sequence | np.ndarray) and np.ndim(argument)
    values: list[Any] = list(argument) if several else [argument]
    if len(values) != lanes:
        raise LaunchError(f"{what} takes {lanes} numbers, not {argument!r}")
    dtype = np.dtype(_DTYPES[scalar])
    for value in values:
        if not is_number(value):
            raise LaunchError(f"{what} must be made of numbers, not {value!r}")
        if dtype.kind != "f" and not (is_integer(value) and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max):
            raise LaunchError(f"{what} is made of {scalar}, which {value!r} is not")
    if dtype.kind == "f":
        return b"".join(_float(what, value, scalar) for value in values)
    return np.array(values, dtype.newbyteorder("<")).tobytes()


def _float(what: str, value: float, scalar: str) -> bytes:
    """A number rounded to a type of floating-point numbers, which has none as large only for infinity."""
    try:
        with np.errstate(over="ignore"):
            rounded = np.array(value, f"<{_DTYPES[scalar]}")
        if math.isinf(rounded) <= math.isinf(value):
            return rounded.tobytes()
    except OverflowError:
        pass
    raise LaunchError(f"{what} is beyond every {scalar}: {reprlib.repr(value)}; for infinity, give math.inf")


def _word(what: str, argument: Argument, parameter: Parameter | None, device: object) -> int:
    if isinstance(argument, Buffer):
        if parameter is not None and parameter.kind != "pointer":
            raise LaunchError(f"{what} is a number, not a buffer")
        if argument.device is not device:
            raise LaunchError(f"{what} is a buffer of another device; make it with this device's buffer()")
        argument.check()
        if parameter is not None:
            _check_elements(what, argument, parameter)
        return argument.address
    if parameter is not None and parameter.kind == "scalar" and isinstance(argument, list | tuple):
        raise LaunchError(f"{what} is one {parameter.type}, not {argument!r}; pass one number")
    if isinstance(argument, np.ndarray | list | tuple | np.void):
        raise LaunchError(f"{what} is a NumPy array or a list; put it into global memory with "
                          "device.buffer(array) and pass the buffer")
    if parameter is not None and parameter.kind == "scalar" and parameter.type in _FLOATS:
        if not is_number(argument):
            raise LaunchError(f"{what} must be a number, not {argument!r}")
        return int.from_bytes(_float(what, argument, parameter.type), "little")
    if isinstance(argument, float | np.floating):
        raise LaunchError(f"{what} is the floating-point number {argument!r}; pass an integer")
    if not isinstance(argument, int | np.integer):
        raise LaunchError(f"{what} must be a buffer or an integer, not {argument!r}")
    allowed = _INTEGERS if parameter is None else _range(parameter)
    if int(argument) not in allowed:
        raise LaunchError(f"{what} is {argument}, outside {allowed[0]} to {allowed[-1]}")
    return int(argument) % (1 << 32)


def _check_elements(what: str, buffer: Buffer, parameter: Parameter) -> None:
    """Refuse a buffer whose elements the kernel would take for something else.

    Elements must be as wide as the parameter's, and integers or floating-point numbers as those are; signs do not
    matter. Unsigned integers are taken for bit patterns, of elements or of whole vectors. A pointer to void, a
    struct or another type of the program takes everything.
    """
    match = _POINTEE.fullmatch(parameter.type)
    if match is None or match[1] not in _DTYPES:
        return
    wanted, given = np.dtype(_DTYPES[match[1]]), buffer.dtype
    lanes = {"": 1, "3": 4}.get(match[2], int(match[2] or 1))
    if given.itemsize == wanted.itemsize and (given.kind == "f") == (wanted.kind == "f"):
        return
    if given.kind == "u" and given.itemsize in (wanted.itemsize, wanted.itemsize * lanes):
        return
    raise LaunchError(
        f"{what} points to {parameter.type}, but the buffer has elements of type {given}; convert the values, "
        f"as with array.astype(numpy.{wanted}), or pass buffer.view(numpy.{wanted}) where the bytes are right")


def _range(parameter: Parameter) -> range:
    """Integers that fit a parameter; a pointer is an address."""
    bits = min(8 * parameter.size, 32)
    if parameter.kind == "pointer":
        return range(1 << 32)
    if parameter.type == "bool":
        return range(2)
    if parameter.type.startswith("u") or parameter.type in _UNSIGNED:
        return range(1 << bits)
    return range(-(1 << (bits - 1)), 1 << (bits - 1))
