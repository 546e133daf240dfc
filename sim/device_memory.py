"""The global memory of a device, as its host uses it: buffers, and words at addresses."""

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from fgpu.errors import LaunchError, MemoryAccessError

from .buffer import Buffer, check_type, device_array, element_type
from .memory import GlobalMemory, check_integers

__all__ = ["DeviceMemory", "alone"]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_D = TypeVar("_D", bound="DeviceMemory")


def alone(method: Callable[Concatenate[_D, _P], _R]) -> Callable[Concatenate[_D, _P], _R]:
    """A method that one thread at a time runs on a device."""

    @wraps(method)
    def locked(self: _D, *args: _P.args, **options: _P.kwargs) -> _R:
        with self.lock:
            return method(self, *args, **options)

    return locked


class DeviceMemory:
    """What the host of a :class:`~fgpu.sim.device.Device` does with its memory."""

    def __init__(self, memory: GlobalMemory | None = None) -> None:
        self.memory = GlobalMemory() if memory is None else memory
        if not isinstance(self.memory, GlobalMemory):
            raise LaunchError(f"memory must be a GlobalMemory, not {memory!r}")
        self.lock = threading.RLock()
        self._allocator = self.memory.allocator
        self._cache_is_clean = True
        self._everywhere = False        # the host has used addresses outside the buffers

    @alone
    def buffer(self, content: ArrayLike | int | tuple[int, ...], dtype: DTypeLike | None = None, *,
               address: int | None = None) -> Buffer:
        """Allocate global memory: for an array or a list, which it then holds, or of a shape, full of zeros.

        A plain integer or a tuple is a shape. ``dtype`` is ``int32`` where the content does not tell.
        ``address`` (bytes, a multiple of 4) places the buffer; by default it starts on a 4 KiB page of its
        own. Raises :class:`~fgpu.errors.MemoryAccessError` where there is no room.
        """
        is_shape = isinstance(content, int | tuple)
        array = self._zeros(content, dtype) if is_shape else device_array(content, dtype)
        if array.size == 0:
            raise MemoryAccessError("a buffer must have at least one element")
        self._check_clean()
        if address is not None:
            self._check_aligned(address, "buffer")
            self.memory.check(address, array.nbytes, "a buffer")
        place = self._allocator.take(array.nbytes, address)
        buffer = Buffer(self, place, array.shape, array.dtype)
        if is_shape:
            self.memory.clear(place, array.nbytes)
        else:
            buffer.write(array)
        return buffer

    @staticmethod
    def _zeros(shape: Any, dtype: DTypeLike | None) -> np.ndarray:
        try:
            element = np.dtype(np.int32 if dtype is None else dtype)
            check_type(element)
            return np.zeros(shape, element)
        except (TypeError, ValueError, MemoryError) as error:
            raise MemoryAccessError(f"a buffer cannot have the shape {shape!r} and type {dtype!r}: {error}") from None

    @alone
    def release(self, buffer: Buffer) -> None:
        """Free a buffer's memory; the same as :meth:`Buffer.free <sim.buffer.Buffer.free>`."""
        if not isinstance(buffer, Buffer) or buffer.device is not self:
            raise MemoryAccessError(f"{buffer!r} is no buffer of this device")
        buffer.check()
        buffer.mark_free()
        self._allocator.free(buffer.address)

    @alone
    def read(self, address: int, count: int, dtype: DTypeLike = np.int32) -> np.ndarray:
        """A copy of ``count`` elements of global memory from the byte ``address`` on."""
        return self.array(address, count, dtype).copy()

    def array(self, address: int, count: int, dtype: DTypeLike) -> np.ndarray:
        """The memory itself from the byte ``address`` on; for those who hold ``lock``, until the next launch."""
        element = element_type(dtype)
        self._check_clean()
        self._note_use(address, count * element.itemsize)
        return self.memory.view(address, count * element.itemsize).view(element)

    @alone
    def write(self, address: int, values: ArrayLike) -> None:
        """Write an array to global memory from the byte ``address`` on."""
        array = device_array(values)
        self._check_clean()
        self._note_use(address, array.nbytes)
        self.memory.view(address, array.nbytes)[:] = array.reshape(-1).view(np.uint8)

    def read_word(self, address: int) -> int:
        """The unsigned 32-bit word at ``address``, a multiple of 4."""
        self._check_aligned(address)
        return int(self.read(address, 1, np.uint32)[0])

    def write_word(self, address: int, value: int) -> None:
        """Write a 32-bit word, signed or unsigned, to ``address``, a multiple of 4."""
        self._check_aligned(address)
        if not isinstance(value, int | np.integer) or int(value) not in range(-(1 << 31), 1 << 32):
            raise MemoryAccessError(f"{value!r} is not a 32-bit word")
        self.write(address, np.array([int(value) % (1 << 32)], dtype=np.uint32))

    @staticmethod
    def _check_aligned(address: int, what: str = "word") -> None:
        check_integers(address)
        if address % 4:
            raise MemoryAccessError(f"the {what} address 0x{address:08X} is not a multiple of 4")

    def _note_use(self, address: int, length: int) -> None:
        self.memory.check(address, length)
        self._everywhere |= not self._allocator.holds(address, length)

    def _check_clean(self) -> None:
        if not self._cache_is_clean:
            raise LaunchError("the last launch had clean=False, so its results may still be in the FGPU's cache and "
                              "the host cannot use memory; pass clean=True to the last launch before that")
