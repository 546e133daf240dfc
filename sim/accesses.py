"""Accesses of kernels that no program means: outside every buffer, or misaligned."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fgpu.config import LOCAL_BASE
from fgpu.errors import KernelAccessError, KernelFault
from fgpu.fault import FaultCause
from fgpu.isa import Instruction, Space, decode

from .dispatch import Dispatch
from .memory import GlobalMemory
from .places import Places

__all__ = ["AccessCheck", "name_work_item", "outside_memory"]

_WORD_BYTES = 4
_WIDTHS = {2: "a multiple of 2", 4: "a multiple of 4"}


@dataclass(frozen=True)
class AccessCheck:
    """What the accesses of a launch are held to. They are aligned, and lie in ``ranges``; None: anywhere. Those of
    local memory lie in the first bytes of it, as many as a work-group has.

    Ranges are pairs (first address, first address beyond), ascending and apart. A load of a word may take the whole
    word in which a range ends; loads of a part of a word read the whole one, too, but are asked for that part only.
    """

    ranges: tuple[tuple[int, int], ...] | None = None
    local_bytes: int = 0
    """What a work-group has of local memory."""

    def first_refused(self, addresses: np.ndarray, row: Instruction) -> int | None:
        """The index of the first address that the instruction ``row`` must not access."""
        size = _size(row)
        if int(np.bitwise_or.reduce(addresses)) & (size - 1):
            return int((addresses & np.uint32(size - 1) != 0).argmax())
        ranges = self.ranges
        if row.space is Space.LOCAL:
            addresses, ranges = addresses - np.uint32(LOCAL_BASE), ((0, self.local_bytes),)
        if ranges is None:
            return None
        takes_word = row.writes_rd and row.atomic is None and size == _WORD_BYTES
        least, greatest = int(addresses.min()), int(addresses.max())
        place = bisect_right(ranges, (least, 1 << 32)) - 1
        if place >= 0 and greatest + size <= _end(ranges[place], takes_word):
            return None     # all in one buffer, as nearly always
        firsts = np.array([first for first, _ in ranges], dtype=np.int64)
        ends = np.array([0] + [_end(ends, takes_word) for ends in ranges], dtype=np.int64)
        wide = addresses.astype(np.int64)
        wrong = wide + size > ends[np.searchsorted(firsts, wide, side="right")]
        return int(wrong.argmax()) if wrong.any() else None

    def error(self, places: Places, pc: int, address: int, work_item: str) -> KernelAccessError:
        """The exception for an access that was refused."""
        why = f"is outside every buffer{self._nearest(address)}"
        if pc < len(places.words):
            row, _ = decode(int(places.words[pc]))
            if address % _size(row):
                why = f"is misaligned: {row.mnemonic} needs {_WIDTHS[_size(row)]}"
            elif row.space is Space.LOCAL:
                why = self._outside_local(address)
        return KernelAccessError(
            f"{_access(places, pc, address, work_item)} {why}. "
            "check_accesses=False (--no-check-accesses) runs it as the hardware would", address=address, pc=pc)

    def _outside_local(self, address: int) -> str:
        whose = f"the {self.local_bytes:,} bytes of the work-group's local memory"
        if not self.local_bytes:
            return "is outside local memory, of which the work-group has none"
        offset = (address - LOCAL_BASE + (1 << 31)) % (1 << 32) - (1 << 31)     # that of the nearer end
        return f"is {-offset:,} bytes before {whose}" if offset < 0 else \
            f"is across the end of {whose}" if offset < self.local_bytes else \
            f"is {offset - self.local_bytes:,} bytes behind {whose}" if offset > self.local_bytes else \
            f"is just behind {whose}"

    def _nearest(self, address: int) -> str:
        ranges = self.ranges or ()
        place = bisect_right(ranges, (address, 1 << 32)) - 1
        near = [(max(address - end + 1, first - address), first, end)
                for first, end in ranges[max(0, place):place + 2]]
        if not near:
            return ""
        _, first, end = min(near)
        where = f"{first - address} bytes before" if address < first else \
            "across the end of" if address < end else \
            f"{address - end} bytes behind the end of" if address > end else "just behind"
        return f", {where} that from 0x{first:08X} to 0x{end - 1:08X}"


def outside_memory(places: Places, pc: int, address: int, work_item: str, memory: GlobalMemory) -> KernelFault:
    """The exception for an access where there is no memory."""
    return KernelFault(f"{_access(places, pc, address, work_item)} is outside memory, 0x{memory.base:08X} to "
                       f"0x{memory.base + memory.size - 1:08X}", FaultCause.BUS_ERROR)


def _access(places: Places, pc: int, address: int, work_item: str) -> str:
    kind = "access to"
    if pc < len(places.words):
        row, _ = decode(int(places.words[pc]))
        kind = f"{row.mnemonic} at" if row.atomic is not None else "load from" if row.writes_rd else "store to"
        if row.space is Space.LOCAL:
            kind += " local address"
    return f"{places.named(pc)}: {kind} 0x{address:08X} by {work_item}"


def _size(row: Instruction) -> int:
    """Bytes that an instruction is asked for."""
    return _WORD_BYTES if row.atomic is not None else 1 << row.scale


def _end(ends: tuple[int, int], takes_word: bool) -> int:
    return -(-ends[1] // _WORD_BYTES) * _WORD_BYTES if takes_word else ends[1]


def name_work_item(dispatch: Dispatch, offsets: Sequence[int], local_ids: Sequence[int]) -> str:
    """A work-item by its global ids, from those of its work-group's first and its own in it."""
    ids = [(int(offsets[index]) + int(local_ids[index])) % (1 << 32) for index in range(dispatch.dimensions)]
    return f"work-item {ids[0] if len(ids) == 1 else tuple(ids)}"
