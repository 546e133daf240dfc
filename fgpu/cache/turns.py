"""Which compute unit's request the arbiter takes next."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from fgpu.config import Config
from fgpu.gateware.choose import above_lowest, first_above, number_of

__all__ = ["Turns"]

_TURN = 4
"""Reads of a turn, a power of two: what is owed wraps."""


class Turns(wiring.Component):
    """Round-robin, but chosen a cycle before: ``chosen`` has the bit of the compute unit whose turn it is, and
    ``choices`` its number, each copy from registers of its own. It is the turn of one that asked in the cycle before
    and was not served then; if there was none, of one that was ``likely`` to ask now; else it stays where it was. Who
    comes unforeseen is served a cycle later.

    ``valid``, ``writes`` and ``reads`` tell what each compute unit asks for, and ``served`` which of them is served.
    While no read is admitted it is the turn of a write.

    A turn is four reads if reads had to wait (a slice's is one): two loads of a wavefront, of 64 consecutive words
    each, take so many lines, and a wavefront that has them can store while the others still load. A compute unit is
    *owed* what it has not asked for yet: it goes before all turns when it comes. A write in its place counts.
    """

    def __init__(self, config: Config, *, copies: int) -> None:
        count = config.compute_units
        self._count = count
        self._owes = config.slices == 1     # else neighbours go to different slices
        super().__init__({
            "valid": In(count), "writes": In(count), "reads": In(count), "served": In(count), "likely": In(count),
            "admit_reads": In(1),
            "chosen": Out(count), "choices": Out(ceil_log2(count)).array(copies),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        count = self._count
        if count == 1:
            m.d.comb += self.chosen.eq(1)
            return m
        due, is_due = self._due(m) if self._owes else (Const(0, count), Const(0))
        above = Signal(count)       # the compute units above the last one whose turn it was
        now_above = Signal(count)
        m.d.comb += now_above.eq(above)
        with m.If(self.served.any() & ~is_due):
            m.d.comb += now_above.eq(above_lowest(self.chosen))
        m.d.sync += above.eq(now_above)
        left = self.valid & ~self.served
        # Whose turn it is next, if a read is admitted then and if not.
        asking = Mux(due.any(), due, left), left & self.writes
        found = [Signal(count, name=f"found{number}") for number in range(2)]
        m.d.comb += [which.eq(first_above(Mux(who.any(), who, self.likely), now_above))
                     for which, who in zip(found, asking, strict=True)]
        finds = [which.any() for which in found]
        self._keep(m, self.chosen, found, finds, "turn", init=1)
        numbers = [number_of(which) for which in found]
        for number, choice in enumerate(self.choices):
            self._keep(m, choice, numbers, finds, f"choice{number}_")
        return m

    def _keep(self, m: Module, kept: Value, found: list[Any], finds: list[Value], name: str, init: int = 0) -> None:
        """Keep what was found, if anything was, or itself. What depends on itself is not taken for another copy."""
        turns = [Signal(len(kept), name=f"{name}{number}", init=init) for number in range(2)]
        m.d.comb += kept.eq(Mux(self.admit_reads, *turns))
        for turn, which, is_found in zip(turns, found, finds, strict=True):
            m.d.sync += turn.eq(Mux(is_found, which, kept))

    def _due(self, m: Module) -> tuple[Value, Value]:
        """Whose reads are owed, of those that wait or are likely to, and whether this turn is such a one."""
        owed = [Signal(range(_TURN), name=f"owed{cu}") for cu in range(self._count)]
        waits = (self.valid & self.reads) | (~self.valid & self.likely)
        due = waits & Cat(each.any() for each in owed) & (~self.admit_reads).replicate(self._count)
        was_due = Signal()
        is_due = Signal()
        m.d.sync += was_due.eq(due.any())
        m.d.comb += is_due.eq(was_due & self.admit_reads)
        for cu, each in enumerate(owed):
            with m.If(self.served[cu] & (self.reads[cu] | is_due)):
                m.d.sync += each.eq(each - 1)       # of none: the first of a turn
        return due, is_due
