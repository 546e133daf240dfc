"""The unit for atomic operations on local memory."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.atomic_result import atomic_result
from fgpu.config import ATOMICS, PE_COUNT
from fgpu.gateware.choose import choose
from fgpu.interfaces.memory_bus import AtomicOp

from .register_file import Words

__all__ = ["LocalAtomics"]


class LocalAtomics(wiring.Component):
    """Computes the new word of one lane a cycle; latency two cycles.

    ``operation``, ``lane``, and operands and expected words of all lanes come together, with ``advance``; the ``old``
    word in the next cycle, with ``compute``. The ``result`` stays until the next one.
    """

    advance: In(1)
    operation: In(AtomicOp, init=AtomicOp.ADD)
    lane: In(3)
    compute: In(1)
    old: In(32)
    operands: In(Words)
    expected: In(Words)
    result: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        operation = Signal(AtomicOp, init=AtomicOp.ADD)
        # Each of both parts is one of four words or 0: that takes two LUTs a bit, and joining them none.
        operand, expected = (Signal(data.ArrayLayout(32, 2), name=name) for name in ("operand", "expected"))
        middle = PE_COUNT // 2
        with m.If(self.advance):
            m.d.sync += operation.eq(self.operation)
        for part, chosen in enumerate([~self.lane[-1], self.lane[-1]]):
            lanes = slice(part * middle, (part + 1) * middle)
            for word, given in [(operand[part], self.operands), (expected[part], self.expected)]:
                with m.If(self.advance):
                    m.d.sync += word.eq(choose(list(given)[lanes], self.lane[:-1]))
                with m.If(self.advance & ~chosen):
                    m.d.sync += word.eq(0)
        result = atomic_result(m, ATOMICS, operation, self.old, operand, expected)
        with m.If(self.compute):
            m.d.sync += self.result.eq(result)
        return m
