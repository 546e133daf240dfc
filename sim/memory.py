"""Global memory: the bytes that all engines share by reference."""

import mmap
import sys

import numpy as np

from fgpu.engines import MEMORY_BASE
from fgpu.errors import MemoryAccessError

from .allocator import Allocator
from .numbers import is_integer

__all__ = ["GlobalMemory", "check_integers"]

_DEFAULT_SIZE = 1 << 28
_MANY = 1 << 18


def check_integers(*numbers: object) -> None:
    """Refuse what is no address and no length."""
    for number in numbers:
        if not is_integer(number):
            raise MemoryAccessError(f"addresses and lengths are integers, not {number!r}")


class GlobalMemory:
    """Bytes ``base`` to ``base + size - 1`` of the 32-bit address space, little endian, zero at first.

    The host's pages are reserved lazily, so a large memory costs only what is touched. ``allocator`` knows what is
    in use, by all devices that share this memory.
    """

    def __init__(self, base: int = MEMORY_BASE, size: int = _DEFAULT_SIZE) -> None:
        if size <= 0 or base < 0 or base + size > 1 << 32 or base % 4096 or size % 4096:
            raise MemoryAccessError(
                f"memory of {size} bytes at 0x{base:08X} must be whole 4 KiB pages of the 32-bit address space")
        self.base = base
        self.size = size
        self._pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)   # a fork's is its own
        self.bytes = np.frombuffer(self._pages, dtype=np.uint8)
        self.words = self.bytes.view("<u4")
        self.allocator = Allocator(base, size)

    def check(self, address: int, length: int, what: str = "access") -> int:
        """The offset of ``address``; raises :class:`MemoryAccessError` if the range leaves the memory."""
        check_integers(address, length)
        if length < 0 or address < self.base or address + length > self.base + self.size:
            raise MemoryAccessError(
                f"{what} of {length} bytes at 0x{address:08X} is outside memory, "
                f"0x{self.base:08X} to 0x{self.base + self.size - 1:08X}")
        return address - self.base

    def clear(self, address: int, length: int) -> None:
        """Make zeros of ``length`` bytes at ``address``. The host gives back the pages of many."""
        offset = self.check(address, length)
        end = offset + length
        first, last = -(-offset // mmap.PAGESIZE) * mmap.PAGESIZE, end // mmap.PAGESIZE * mmap.PAGESIZE
        if last - first < _MANY or not hasattr(mmap, "MADV_DONTNEED") or sys.platform != "linux":
            first = last = end
        else:       # on Linux they are zeros at their next use; elsewhere that is not said
            self._pages.madvise(mmap.MADV_DONTNEED, first, last - first)
        self.bytes[offset:first] = 0
        self.bytes[last:end] = 0

    def view(self, address: int, length: int) -> np.ndarray:
        """A writable view of ``length`` bytes at ``address``."""
        offset = self.check(address, length)
        return self.bytes[offset:offset + length]
