"""The unit for atomic operations on local memory."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.atomic_result import atomic_result
from fgpu.config import ATOMICS
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
        operand, expected = Signal(32), Signal(32)
        with m.If(self.advance):
            m.d.sync += [
                operation.eq(self.operation),
                operand.eq(choose(list(self.operands), self.lane)),
                expected.eq(choose(list(self.expected), self.lane)),
            ]
        with m.If(self.compute):
            m.d.sync += self.result.eq(atomic_result(m, ATOMICS, operation, self.old, operand, expected))
        return m
