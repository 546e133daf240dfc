"""An asynchronous serial line, 8N1, at any rate up to a quarter of the clock."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .protocol import RATE_BITS

__all__ = ["ReceivedByte", "UARTReceiver", "UARTTransmitter"]

_FRAME_BITS = 10        # start, eight data bits, stop


class ReceivedByte(data.Struct):
    """A byte off the line, or the word that what came since the last one is wrong."""

    value: 8
    bad: 1
    """There was no stop bit, or bytes came that nobody took."""


class UARTReceiver(wiring.Component):
    """Bytes off ``rx``, which belongs to the clock's domain, sampled in the middle of their bits.

    The line waits for nobody: of bytes that are not taken before the next one has come, the first is kept, the next
    one after it is ``bad``. ``rate`` is that of :func:`~fgpu.board.protocol.rate_of`. A byte is at ``output`` from
    the cycle after the middle of its stop bit on. ``line_break`` is high while the line has been low for
    ``break_cycles`` and more.
    """

    def __init__(self, *, break_cycles: int) -> None:
        self._break_cycles = break_cycles
        super().__init__({
            "rx": In(1, init=1), "rate": In(RATE_BITS), "output": Out(stream.Signature(ReceivedByte)),
            "line_break": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        output: Any = self.output
        left = Signal(range(_FRAME_BITS + 1))       # bits to sample; none: waiting for a start bit
        released = Signal()                         # the line has been high since the last stop bit
        phase = Signal(RATE_BITS)
        later = Signal(RATE_BITS + 1)
        bits = Signal(8)
        lost = Signal()
        done, is_bad = Signal(), Signal()
        m.d.comb += later.eq(phase + self.rate)
        with m.If(left == 0):
            m.d.sync += phase.eq(1 << RATE_BITS - 1)
            with m.If(self.rx):
                m.d.sync += released.eq(1)
            with m.Elif(released):
                m.d.sync += left.eq(_FRAME_BITS)
        with m.Else():
            m.d.sync += phase.eq(later[:RATE_BITS])
            with m.If(later[RATE_BITS]):
                m.d.sync += [left.eq(left - 1), bits.eq(Cat(bits[1:], self.rx))]
                with m.If((left == _FRAME_BITS) & self.rx):     # noise, no start bit
                    m.d.sync += left.eq(0)
                with m.If(left == 1):
                    m.d.sync += [bits.eq(bits), released.eq(self.rx)]
                    m.d.comb += [done.eq(1), is_bad.eq(~self.rx)]

        with m.If(output.ready):
            m.d.sync += output.valid.eq(0)
        with m.If(done):
            with m.If(output.valid & ~output.ready):
                m.d.sync += lost.eq(1)
            with m.Else():
                m.d.sync += [
                    output.valid.eq(1), output.payload.value.eq(bits), output.payload.bad.eq(is_bad | lost),
                    lost.eq(0),
                ]

        low = Signal(range(self._break_cycles + 1))
        m.d.comb += self.line_break.eq(low == self._break_cycles)
        with m.If(self.rx):
            m.d.sync += low.eq(0)
        with m.Elif(~self.line_break):
            m.d.sync += low.eq(low + 1)
        return m


class UARTTransmitter(wiring.Component):
    """Bytes to ``tx``, one stop bit each; ``idle`` between them.

    ``rate`` is that of :func:`~fgpu.board.protocol.rate_of`. The start bit begins in the cycle after a byte was
    taken; the next byte is taken when the stop bit has passed, after 10 bits of 2^``RATE_BITS`` / ``rate`` cycles
    each.
    """

    def __init__(self) -> None:
        super().__init__({
            "input": In(stream.Signature(8)), "rate": In(RATE_BITS), "tx": Out(1, init=1), "idle": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        left = Signal(range(_FRAME_BITS + 1))
        phase = Signal(RATE_BITS)
        later = Signal(RATE_BITS + 1)
        bits = Signal(_FRAME_BITS - 1)      # data and stop bit, behind the one on the line
        m.d.comb += [later.eq(phase + self.rate), self.idle.eq(left == 0), self.input.ready.eq(self.idle)]
        with m.If(self.idle):
            m.d.sync += phase.eq(0)
            with m.If(self.input.valid):
                m.d.sync += [self.tx.eq(0), bits.eq(Cat(self.input.payload, 1)), left.eq(_FRAME_BITS)]
        with m.Else():
            m.d.sync += phase.eq(later[:RATE_BITS])
            with m.If(later[RATE_BITS]):
                m.d.sync += [self.tx.eq(bits[0]), bits.eq(Cat(bits[1:], 1)), left.eq(left - 1)]
        return m
