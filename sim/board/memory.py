"""A board's memory as its host sees it: what the host needs comes over the line when it is asked for."""

import numpy as np

from fgpu.board.link import Link
from fgpu.board.protocol import MEMORY_BASE

from ..memory import GlobalMemory

__all__ = ["BoardMemory"]

_BLOCK = 256    # bytes; what is fetched, and compared before it is sent


class BoardMemory(GlobalMemory):
    """Global memory on a board, with a copy here.

    Blocks go to the board when a kernel is to run, if the host has looked at them for writing and they differ from
    what is there; they come from it when the host looks at them for the first time since a kernel has run. With
    ``is_shared``, others read and write the bytes without a word: then what a kernel has changed of all that was
    allocated comes when it has ended.
    """

    is_shared = False

    def __init__(self, link: Link) -> None:
        super().__init__(MEMORY_BASE, link.memory_bytes)
        self._link = link
        blocks = link.memory_bytes // _BLOCK
        self._there = np.zeros(link.memory_bytes, np.uint8)     # what the board has, where that is known
        self._known = np.zeros(blocks, bool)
        self._used = np.zeros(blocks, bool)                     # the host may have written here
        self._stale = np.zeros(blocks, bool)                    # kernels may have
        self._shared: list[tuple[int, int]] = []                # blocks that others may look at, at the last launch

    def clear(self, address: int, length: int) -> None:
        """Make zeros of some bytes."""
        self._note(self.check(address, length), length, whole=True)
        super().clear(address, length)

    def view(self, address: int, length: int) -> np.ndarray:
        """A writable view, up to date; what is written to it is on the board when the next kernel runs."""
        self._note(self.check(address, length), length)
        return super().view(address, length)

    def _note(self, offset: int, length: int, *, whole: bool = False) -> None:
        if not length or self.is_shared:
            return
        first, end = offset // _BLOCK, -(-(offset + length) // _BLOCK)
        for begin, after in _runs(self._stale[first:end]):
            self._fetch(first + begin, first + after, offset, length, whole)
        self._used[first:end] = True

    def _fetch(self, begin: int, end: int, offset: int, length: int, whole: bool) -> None:
        """Bring blocks here. Of those that are overwritten as a whole nothing is needed."""
        self._stale[begin:end] = False
        at, after = begin * _BLOCK, end * _BLOCK
        if whole and offset <= at and after <= offset + length:
            self._known[begin:end] = False
            return
        content = np.frombuffer(self._link.read(self.base + at, after - at), np.uint8)
        self.bytes[at:after] = content
        self._there[at:after] = content
        self._known[begin:end] = True

    def send(self) -> int:
        """Bring to the board what it lacks, before a kernel runs; how many bytes that were."""
        self._shared = self._allocated()
        for first, end in self._shared:
            self._used[first:end] = True
        used = np.flatnonzero(self._used)
        here, there = self.bytes.reshape(-1, _BLOCK), self._there.reshape(-1, _BLOCK)
        differs = ~self._known[used] | (here[used] != there[used]).any(axis=1)
        changed = np.zeros(len(self._used), bool)
        changed[used[differs]] = True
        sent = 0
        for begin, end in _runs(changed):
            content = self.bytes[begin * _BLOCK:end * _BLOCK].copy()
            self._link.write(self.base + begin * _BLOCK, content.tobytes())
            self._there[begin * _BLOCK:end * _BLOCK] = content
            sent += len(content)
        self._known[changed] = True
        self._used[:] = False
        return sent

    def run(self) -> None:
        """A kernel runs: what is here may be old."""
        self._stale[:] = True
        self._known[:] = False

    def receive(self) -> None:
        """A kernel has ended. What others have written meanwhile stays, but where the kernel wrote, too."""
        for first, end in self._shared:
            at, after = first * _BLOCK, end * _BLOCK
            content = np.frombuffer(self._link.read(self.base + at, after - at), np.uint8)
            changed = content != self._there[at:after]
            self.bytes[at:after][changed] = content[changed]
            self._there[at:after] = content
            self._known[first:end] = True

    def _allocated(self) -> list[tuple[int, int]]:
        """First block, and the one behind the last, of each run of allocated ones; none if nobody shares them."""
        if not self.is_shared:
            return []
        taken = np.zeros(len(self._used), bool)
        for first, end in self.allocator.ranges:
            taken[(first - self.base) // _BLOCK:-(-(end - self.base) // _BLOCK)] = True
        return _runs(taken)


def _runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """Where flags are set: first, and the one behind the last, of each run."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]
