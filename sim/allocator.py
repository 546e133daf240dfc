"""Which ranges of global memory are taken."""

from bisect import bisect_left, bisect_right, insort
from collections import deque
from threading import Lock

from fgpu.errors import MemoryAccessError

__all__ = ["Allocator"]

_PAGE = 4096
_GAP = 128
"""Bytes that stay free behind a buffer, as many as the largest vector has: who writes there hits no other buffer."""


class Allocator:
    """Gives out ranges of the ``size`` bytes at ``base`` that do not overlap, to any thread."""

    def __init__(self, base: int, size: int) -> None:
        self._base = base
        self._size = size
        self.lock = Lock()
        self._taken: list[tuple[int, int]] = []     # first address and end, ascending
        self._holes = [(base, size)]                # a page's address and the room there; those with room, ascending
        self._returned: deque[int] = deque()
        self._ranges: tuple[tuple[int, int], ...] | None = ()

    def take(self, length: int, address: int | None = None) -> int:
        """Reserve ``length`` bytes, at ``address`` or at the lowest free page; returns the address.

        Raises :class:`~fgpu.errors.MemoryAccessError` where there is no room.
        """
        with self.lock:
            if self._returned:
                self._take_back()
            if address is None:
                address = self._take_lowest(length)
            else:
                self._take_at(address, length)
            self._ranges = None
            return address

    def free(self, address: int) -> None:
        """Give a range back, from anywhere: takes no lock, so that finalizers may do it."""
        self._returned.append(address)

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """First address and end of each range that is taken, ascending; those that touch each other are one."""
        with self.lock:
            self._take_back()
            if self._ranges is None:
                joined: list[tuple[int, int]] = []
                for taken in self._taken:
                    if joined and joined[-1][1] == taken[0]:
                        joined[-1] = joined[-1][0], taken[1]
                    else:
                        joined.append(taken)    # the same tuple: thousands of new ones wake the garbage collector
                self._ranges = tuple(joined)
            return self._ranges

    def holds(self, address: int, length: int = 1) -> bool:
        """Whether a range that is taken has all these bytes."""
        ranges = self.ranges
        place = bisect_right(ranges, (address, 1 << 32)) - 1
        return place >= 0 and address + length <= ranges[place][1]

    def _take_lowest(self, length: int) -> int:
        for index, (address, room) in enumerate(self._holes):
            if length <= room:
                insort(self._taken, (address, address + length))
                rest = -(-(address + length + _GAP) // _PAGE) * _PAGE
                if rest < address + room:
                    self._holes[index] = rest, address + room - rest
                else:
                    del self._holes[index]
                return address
        raise MemoryAccessError(f"no room for a buffer of {length} bytes in the {self._size} bytes of "
                                "global memory; free other buffers")

    def _take_at(self, address: int, length: int) -> None:
        place = bisect_left(self._taken, (address, 0))
        for first, end in self._taken[max(0, place - 1):place + 1]:
            if address < end and first < address + length:
                raise MemoryAccessError(f"a buffer of {length} bytes at 0x{address:08X} overlaps the one from "
                                        f"0x{first:08X} to 0x{end - 1:08X}")
        self._taken.insert(place, (address, address + length))
        self._renew_holes(place, place + 1)

    def _take_back(self) -> None:
        """Make holes of the ranges that were given back."""
        while self._returned:
            address = self._returned.popleft()
            place = bisect_left(self._taken, (address, 0))
            if place < len(self._taken) and self._taken[place][0] == address:
                del self._taken[place]
                self._renew_holes(place, place)
                self._ranges = None

    def _hole(self, place: int) -> tuple[int, int]:
        """The pages before the range at an index: the first one's address and the room for one buffer."""
        first = -(-(self._taken[place - 1][1] + _GAP) // _PAGE) * _PAGE if place else self._base
        end = self._taken[place][0] - _GAP if place < len(self._taken) else self._base + self._size
        return first, end - first

    def _renew_holes(self, first: int, last: int) -> None:
        """Note the holes before the ranges at some indices, after a change of these."""
        holes = [self._hole(place) for place in range(first, last + 1)]
        begin = bisect_left(self._holes, (holes[0][0], 0))
        end = bisect_left(self._holes, (sum(holes[-1]), 0))
        self._holes[begin:end] = [hole for hole in holes if hole[1] > 0]
