"""Memory that a core beside this processor shares with it."""

from typing import Any

import numpy as np

from fgpu.errors import MemoryAccessError

from ..allocator import Allocator
from ..memory import GlobalMemory

__all__ = ["MappedMemory"]


class MappedMemory(GlobalMemory):
    """Bytes that are mapped here, and which the core finds from the address ``base`` on.

    ``pages`` is an array of bytes. If it has ``sync_to_device`` and ``sync_from_device``, as PYNQ's buffers have,
    they are called for the ranges in use around each launch; else caches are taken to be coherent, or to be none.
    """

    def __init__(self, base: int, pages: Any) -> None:
        size = len(pages)
        if size <= 0 or base < 0 or base + size > 1 << 32 or base % 4096 or size % 4096:
            raise MemoryAccessError(
                f"memory of {size} bytes at 0x{base:08X} must be whole 4 KiB pages of the 32-bit address space")
        self.base = base
        self.size = size
        self._synchronized = pages if hasattr(pages, "sync_to_device") else None
        self.bytes = np.asarray(pages).view(np.ndarray)
        self.words = self.bytes.view("<u4")
        self.allocator = Allocator(base, size)

    def clear(self, address: int, length: int) -> None:
        """Make zeros of some bytes."""
        self.view(address, length)[:] = 0

    def flush(self) -> None:
        """Write back what caches hold of what is in use."""
        for part in self._used():
            part.sync_to_device()

    def invalidate(self) -> None:
        """Forget what caches hold of what is in use."""
        for part in self._used():
            part.sync_from_device()

    def _used(self) -> list[Any]:
        if self._synchronized is None:
            return []
        return [self._synchronized[first - self.base:end - self.base] for first, end in self.allocator.ranges]
