"""Buffers: typed pieces of global memory that the host reads and writes by name."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from fgpu.errors import MemoryAccessError

if TYPE_CHECKING:
    from .device_memory import DeviceMemory

__all__ = ["Buffer", "device_array"]

_LONG_BYTES = 8


def device_array(values: ArrayLike, dtype: DTypeLike | None = None) -> np.ndarray:
    """``values`` as an array that global memory can hold: contiguous, little endian, elements of 1 to 8 bytes.

    Python integers without ``dtype`` become ``int32``; floats need one. Raises
    :class:`~fgpu.errors.MemoryAccessError` for other element types, and for values that ``dtype`` does not have;
    floats are rounded to it.
    """
    try:
        array = np.asarray(values)
        if dtype is None and not isinstance(values, np.ndarray | np.generic) and array.dtype == np.int64:
            dtype = np.int32
        if dtype is not None and (array.dtype.kind not in "biuf" or _are_long(values, array)):
            array = np.asarray(values, dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise MemoryAccessError(f"these values make no array of numbers: {error}") from None
    if dtype is None:
        check_type(array.dtype)
        if array.dtype == np.float64 and not isinstance(values, np.ndarray | np.generic):
            raise MemoryAccessError("say of which type these numbers are, as with dtype=numpy.float32")
        return np.asarray(array, array.dtype.newbyteorder("<"), order="C")
    element = element_type(dtype)
    with np.errstate(all="ignore"):
        converted = array.astype(element)
        if element.kind == "f":
            wrong = np.isinf(converted) & np.isfinite(array)
        elif array.dtype.kind == "f":       # back as floats the largest integers would be rounded
            wrong = (np.trunc(array) != array) | ~_in_range(array, element)
        else:
            wrong = ~_in_range(array, element)
    if wrong.any():
        value = array[wrong].flat[0]
        raise MemoryAccessError(f"{value} is no {element.name}; convert the values first, as with "
                                f"numpy.asarray(values).astype(numpy.{element.name}), or use another type")
    return np.asarray(converted, order="C")


def _are_long(values: ArrayLike, array: np.ndarray) -> bool:
    """Whether integers have become floats, as NumPy has no type for those of int64 and of uint64 together."""
    return array.dtype == np.float64 and not isinstance(values, np.ndarray) and all(
        isinstance(value, int) for value in np.asarray(values, object).flat)


def _in_range(array: np.ndarray, element: np.dtype) -> np.ndarray:
    """Which numbers are not beyond the least and the greatest of an integer type, or bool."""
    least, greatest = (0, 1) if element.kind == "b" else (np.iinfo(element).min, np.iinfo(element).max)
    if array.dtype.kind == "b":
        return np.ones(array.shape, bool)
    if array.dtype.kind == "f":     # limits of 64 bits are no floats; the next power of two is
        return np.asarray((array >= least) & (array < float(greatest + 1)))
    limits = np.iinfo(array.dtype)
    return np.asarray((array >= max(least, limits.min)) & (array <= min(greatest, limits.max)))


def element_type(dtype: DTypeLike) -> np.dtype:
    """The type of elements that ``dtype`` names, little endian, if the device has it."""
    try:
        element = np.dtype(dtype)
    except TypeError:
        raise MemoryAccessError(f"{dtype!r} is no type of elements; use one of NumPy's, as numpy.int32") from None
    check_type(element)
    return element.newbyteorder("<")


def check_type(dtype: np.dtype) -> None:
    """Refuse element types that the device has no words for."""
    if dtype.kind not in "biuf" or dtype.itemsize > _LONG_BYTES:
        raise MemoryAccessError(f"the device has no elements of type {dtype}; convert to an integer or to a float of "
                                "64 bits at most, as with array.astype(numpy.float32)")


class Buffer:
    """An array in global memory. Made by :meth:`Device.buffer <fgpu.sim.device.Device.buffer>`.

    Attributes are ``address`` (in bytes), ``shape``, ``dtype``, ``nbytes`` and ``is_free``: whether its memory was
    given back. ``buffer[...]`` reads copies and writes elements by NumPy's indices, ``numpy.asarray(buffer)`` is a
    copy of the content.
    """

    def __init__(self, device: "DeviceMemory", address: int, shape: tuple[int, ...], dtype: np.dtype,
                 owner: "Buffer | None" = None) -> None:
        self._device = device
        self.address = address
        self.shape = shape
        self.dtype = dtype
        self._owner = self if owner is None else owner
        self._was_freed = False

    @property
    def is_free(self) -> bool:
        """Whether its memory was given back, by this buffer or another view of it."""
        return self._owner._was_freed

    def mark_free(self) -> None:
        """For the device, which gives the memory back."""
        self._owner._was_freed = True

    @property
    def nbytes(self) -> int:
        """Length in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def device(self) -> "DeviceMemory":
        """The device in whose memory this is."""
        return self._device

    def check(self) -> None:
        """Raise :class:`~fgpu.errors.MemoryAccessError` if the buffer was freed."""
        if self.is_free:
            raise MemoryAccessError(f"{self!r} was freed; make another with device.buffer()")

    def read(self) -> np.ndarray:
        """A copy of the content."""
        with self._device.lock:
            return self._content().copy()

    def write(self, values: ArrayLike) -> None:
        """Replace the content; values of other types are converted, floats rounded.

        Raises :class:`~fgpu.errors.MemoryAccessError` if ``values`` has another number of elements, or some that the
        buffer's type does not have.
        """
        array = device_array(values, self.dtype)
        if array.size != math.prod(self.shape):
            raise MemoryAccessError(f"{array.size} elements do not fit this buffer of {math.prod(self.shape)}, "
                                    f"shape {self.shape}")
        with self._device.lock:
            self._content()[...] = array.reshape(self.shape)

    def _content(self) -> np.ndarray:
        """The memory itself, for whoever holds the device's lock."""
        self.check()
        return self._device.array(self.address, math.prod(self.shape), self.dtype).reshape(self.shape)

    def __getitem__(self, index: Any) -> Any:
        """A copy of elements, or an element, by NumPy's indices.

        Raises :class:`~fgpu.errors.MemoryAccessError` for indices that there are not.
        """
        with self._device.lock:
            content = self._content()
            try:
                return content[index].copy()
            except (IndexError, TypeError, ValueError) as error:
                raise MemoryAccessError(f"{self!r} has no {index!r}: {error}") from None

    def __setitem__(self, index: Any, values: ArrayLike) -> None:
        """Write elements by NumPy's indices; values are converted as by :meth:`write`."""
        array = device_array(values, self.dtype)
        with self._device.lock:
            content = self._content()
            try:
                content[index] = array
            except (IndexError, TypeError, ValueError) as error:
                raise MemoryAccessError(f"{self!r} takes no such values at {index!r}: {error}") from None

    def __len__(self) -> int:
        """Elements of the first dimension."""
        if not self.shape:
            raise TypeError(f"{self!r} is one number and has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.read())

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError(f"an array of {self!r} is a copy: memory belongs to the device")
        return self.read().astype(dtype or self.dtype, copy=False)

    def view(self, dtype: DTypeLike) -> "Buffer":
        """The same memory as elements of another type, as NumPy's ``view``: the last dimension grows or shrinks.

        Raises :class:`~fgpu.errors.MemoryAccessError` for types that the device has not, and where the last dimension
        does not hold whole elements.
        """
        element = element_type(dtype)
        row = (self.shape[-1] if self.shape else 1) * self.dtype.itemsize
        if row % element.itemsize:
            raise MemoryAccessError(f"{row} bytes, a row of {self!r}, are no whole elements of {element}")
        return Buffer(self._device, self.address, (*self.shape[:-1], row // element.itemsize), element, self._owner)

    def free(self) -> None:
        """Give the memory back; other buffers may then come to lie there.

        Raises :class:`~fgpu.errors.MemoryAccessError` if that was done before.
        """
        self._device.release(self)

    def __repr__(self) -> str:
        return f"<Buffer of {self.shape} {self.dtype} at 0x{self.address:08X}>"
