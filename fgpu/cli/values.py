"""Values in command-line options: sizes, kernel arguments and arrays."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fgpu.errors import LaunchError

if TYPE_CHECKING:
    import numpy as np  # late: fgpu[sim] has it

    from fgpu.sim import LocalMemory

__all__ = ["Assignment", "CycleWindow", "FloatRange", "NameList", "NumberList", "argument", "array_bytes"]

_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")
_FILLS = ("random", "zeros", "ones", "range")
_ELEMENTS_MAX = 1 << 28


class NumberList(click.ParamType):
    """``64`` or ``32,32``: one or several integers."""

    name = "N[,M[,K]]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """The integers."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(int(part, 0) for part in value.split(","))
        except ValueError:
            self.fail(f"{value!r} must be integers with commas between, as 64 or 32,32", param, ctx)


class FloatRange(click.FloatRange):
    """A number between two others; what is no number is not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is no number from {self.min} to {self.max}", param, ctx)
        return number


class NameList(click.ParamType):
    """``add`` or ``add,max``: one or several names."""

    name = "NAME[,NAME...]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """The names."""
        return value if isinstance(value, tuple) else tuple(part.strip() for part in value.split(","))


class CycleWindow(click.ParamType):
    """``1000:2000``: from the first cycle up to the second."""

    name = "FROM:TO"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """First cycle, and the one after the last."""
        if isinstance(value, tuple):
            return value
        first, colon, end = value.partition(":")
        try:
            window = int(first or "0"), int(end)
        except ValueError:
            window = 0, 0
        if not colon or not 0 <= window[0] < window[1]:
            self.fail(f"{value!r} must be two cycles with a colon between, the second one greater, as 1000:2000",
                      param, ctx)
        return window


class Assignment(click.ParamType):
    """``NUMBER=TEXT``, as the ``example``; the number is not negative."""

    name = "N=..."

    def __init__(self, example: str) -> None:
        self._example = example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, str]:
        """The number and the text."""
        if isinstance(value, tuple):
            return value
        number, equals, text = value.partition("=")
        try:
            if equals and text and int(number, 0) >= 0:
                return int(number, 0), text
        except ValueError:
            pass
        self.fail(f"{value!r} must be a number, '=' and a value, as {self._example}", param, ctx)


def argument(
        text: str, rng: "np.random.Generator") -> "np.ndarray | LocalMemory | int | float | tuple[int | float, ...]":
    """A kernel argument: an array (a ``.npy`` file, or ``fill:type:shape``), ``local:BYTES``, a number or a vector.

    Raises :class:`~fgpu.errors.LaunchError` for text that is none of these.
    """
    if text.lower().endswith(".npy"):
        return _load(Path(text))
    if text.startswith("local:"):
        return _local(text)
    if ":" in text:
        return _filled(text, rng)
    try:
        numbers = tuple(map(_number, text.split(",")))
    except ValueError:
        raise LaunchError(f"argument {text!r} is neither a number, or the numbers of a vector as 1,2.5, nor a .npy "
                          "file nor an array such as random:int32:1024") from None
    if any(isinstance(number, float) and math.isinf(number) for number in numbers) and "inf" not in text.lower():
        raise LaunchError(f"argument {text!r} is beyond every floating-point number; for infinity, give inf")
    return numbers if len(numbers) > 1 else numbers[0]


def _number(text: str) -> int | float:
    try:
        return int(text, 0)
    except ValueError:
        return float(text)


def _local(text: str) -> "LocalMemory":
    from fgpu.sim import LocalMemory

    try:
        size = int(text.removeprefix("local:"), 0)
    except ValueError:
        raise LaunchError(f"argument {text!r} must have a number of bytes, as local:1024") from None
    return LocalMemory(size)


def _load(path: Path) -> "np.ndarray":
    import numpy as np

    try:
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        raise LaunchError(f"cannot read {path}: {error.strerror or 'not a NumPy file'}") from None
    except (ValueError, EOFError) as error:
        raise LaunchError(f"{path} is not a NumPy array of numbers: {error}") from None
    if not isinstance(array, np.ndarray):
        raise LaunchError(f"{path} holds several arrays; save one with numpy.save")
    if array.size == 0:
        raise LaunchError(f"the array in {path} has no elements, its shape is {array.shape}; a buffer needs one")
    return array


def _filled(text: str, rng: "np.random.Generator") -> "np.ndarray":
    import numpy as np

    fill, *rest = text.split(":")
    if len(rest) != 2 or fill not in _FILLS or rest[0] not in _TYPES:
        raise LaunchError(f"array {text!r} must be FILL:TYPE:SHAPE, as random:int32:1024 or zeros:int32:32x32; "
                          f"fills are {', '.join(_FILLS)}, types {', '.join(_TYPES)}")
    dtype = np.dtype(rest[0])
    try:
        shape = tuple(int(extent, 0) for extent in rest[1].lower().split("x"))
    except ValueError:
        shape = ()
    if not shape or min(shape) < 1 or math.prod(shape) > _ELEMENTS_MAX:
        raise LaunchError(f"array {text!r}: the shape {rest[1]!r} must be positive numbers with 'x' between, "
                          f"and at most {_ELEMENTS_MAX} elements")
    if fill == "random" and dtype.kind == "f":
        return rng.random(shape, np.float32).astype(dtype)
    if fill == "random":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    if fill == "range":
        return np.arange(math.prod(shape)).astype(dtype).reshape(shape)
    return np.full(shape, 1 if fill == "ones" else 0, dtype)


def array_bytes(array: "np.ndarray") -> bytes:
    """The array as a ``.npy`` file."""
    from io import BytesIO

    import numpy as np

    file = BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()
