"""The host's serial line: UART, its rate, and the bridge behind it."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out, connect, flipped

from fgpu.gateware.queue import Queue

from .bridge import Bridge
from .protocol import RATE_BITS, RETRIES_TO_DEFAULT
from .uart import ReceivedByte, UARTReceiver, UARTTransmitter
from .words import WordBusSignature

__all__ = ["HostLine"]

_QUEUE_BYTES = 128      # come while a frame's words are written


class HostLine(wiring.Component):
    """``rx`` and ``tx`` of a serial line, 8N1, to accesses of the host.

    The line starts at ``default_rate`` (see :func:`~fgpu.board.protocol.rate_of`), and has it again after a break,
    at the end of a session, and when ``RETRIES_TO_DEFAULT`` commands one after the other could not be understood.
    ``new_rate`` with ``set_rate`` holds as soon as nothing is under way. Rates have ``RATE_BITS`` bits. ``active`` is
    high while a command is under way or a byte of an answer is sent.

    ``rx`` counts two cycles late. ``timeout_cycles`` of silence end a command that is incomplete; ``break_cycles`` of
    a line that is low are a break. 128 bytes wait for the bridge while it is busy; what comes then is lost, and the
    bridge is told.
    """

    def __init__(self, *, default_rate: int, timeout_cycles: int, break_cycles: int) -> None:
        self._default_rate = default_rate
        self._timeout_cycles = timeout_cycles
        self._break_cycles = break_cycles
        super().__init__({
            "rx": In(1, init=1), "tx": Out(1, init=1), "words": Out(WordBusSignature()),
            "set_rate": In(1), "new_rate": In(RATE_BITS), "rate": Out(RATE_BITS, init=default_rate),
            "active": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        line = Signal(init=1)
        m.submodules.synchronizer = FFSynchronizer(self.rx, line, init=1)
        m.submodules.receiver = receiver = UARTReceiver(break_cycles=self._break_cycles)
        m.submodules.transmitter = transmitter = UARTTransmitter()
        m.submodules.queue = queue = Queue(ReceivedByte, depth=_QUEUE_BYTES, registered=True)
        m.submodules.bridge = bridge = Bridge(timeout_cycles=self._timeout_cycles)
        connect(m, receiver.output, queue.input)
        connect(m, queue.output, bridge.received)
        connect(m, bridge.sent, transmitter.input)
        connect(m, bridge.words, flipped(self.words))

        pending: Any = Signal()
        wanted = Signal(RATE_BITS)
        failures = Signal(range(RETRIES_TO_DEFAULT))
        m.d.comb += [
            receiver.rx.eq(line), receiver.rate.eq(self.rate), transmitter.rate.eq(self.rate),
            self.tx.eq(transmitter.tx), bridge.line_break.eq(receiver.line_break),
            self.active.eq(~bridge.idle | ~transmitter.idle),
        ]
        with m.If(pending & bridge.idle & transmitter.idle):
            m.d.sync += [self.rate.eq(wanted), pending.eq(0)]
        with m.If(bridge.understood):
            m.d.sync += failures.eq(0)
        with m.If(bridge.failed):
            m.d.sync += failures.eq(failures + 1)
            with m.If(failures == RETRIES_TO_DEFAULT - 1):
                m.d.sync += [wanted.eq(self._default_rate), pending.eq(1), failures.eq(0)]
        with m.If(self.set_rate):
            m.d.sync += [wanted.eq(self.new_rate), pending.eq(1)]
        with m.If(bridge.left | receiver.line_break):
            m.d.sync += [wanted.eq(self._default_rate), pending.eq(1)]
        return m
