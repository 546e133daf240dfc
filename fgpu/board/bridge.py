"""The bridge: commands of the host, byte by byte, become accesses to words."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.crc.catalog import CRC32_ETHERNET
from amaranth.lib.wiring import In, Out

from fgpu.gateware.block_ram import BlockRam

from .protocol import BURST_WORDS, Command, Status
from .uart import ReceivedByte
from .words import WordBusSignature

__all__ = ["Bridge"]

_WORD_BYTES = 4


class Bridge(wiring.Component):
    """Speaks LiteX's UARTBone, and frames with a checksum (:class:`~fgpu.board.protocol.Command`).

    A frame writes nothing before its checksum was found right. After a byte that cannot be, a wrong checksum or an
    unknown command, all is ignored until the line has been silent for ``timeout_cycles``; so long a silence also
    ends a command that is incomplete. With the first right frame commands without checksum become unknown ones,
    until ``FRAME_LEAVE`` or ``line_break``. A frame that writes with the number of the last one is answered as that
    was, but not executed again: so a host whose answer got lost may repeat it.

    ``understood`` and ``failed`` tell of each frame or command that was, or could not be, understood, ``left`` that
    a session has ended. ``idle`` is high while none is under way.
    """

    def __init__(self, *, timeout_cycles: int) -> None:
        self._timeout_cycles = timeout_cycles
        super().__init__({
            "received": In(stream.Signature(ReceivedByte)), "sent": Out(stream.Signature(8)),
            "line_break": In(1), "words": Out(WordBusSignature()),
            "idle": Out(1), "understood": Out(1), "failed": Out(1), "left": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        received: Any = self.received
        sent: Any = self.sent
        requests, answers = self.words.requests, self.words.answers
        m.submodules.crc = crc = CRC32_ETHERNET(data_width=8).create()
        m.submodules.buffer = buffer = BlockRam(32, BURST_WORDS)
        write_port, read_port = buffer.write_port(), buffer.read_port()

        command = Signal(Command, init=Command.READ)
        is_frame, is_write, is_fixed = Signal(), Signal(), Signal()
        locked = Signal()                   # frames only
        sequence, last = Signal(8), Signal(8)
        executed = Signal()                 # the last frame wrote, and was number `last`
        count, index = Signal(8), Signal(8)     # of words, minus 1
        address = Signal(32)
        word = Signal(32)
        byte = Signal(2)
        error = Signal()

        silence = Signal(range(self._timeout_cycles))
        expired = Signal()
        taken = Signal()
        value = received.payload.value
        m.d.comb += [
            expired.eq(silence == self._timeout_cycles - 1), taken.eq(received.valid & received.ready),
            is_write.eq((command == Command.WRITE) | (command == Command.WRITE_FIXED)
                        | (command == Command.FRAME_WRITE)),
            is_fixed.eq((command == Command.WRITE_FIXED) | (command == Command.READ_FIXED)),
            is_frame.eq((command == Command.FRAME_WRITE) | (command == Command.FRAME_READ)
                        | (command == Command.FRAME_LEAVE)),
            crc.data.eq(Mux(received.ready, value, sent.payload)),
            crc.valid.eq(taken | (sent.valid & sent.ready)),
            write_port.addr.eq(index), read_port.addr.eq(index),
            requests.payload.address.eq(address), requests.payload.write.eq(is_write),
            requests.payload.data.eq(word),
        ]
        # Receiving states set it to count.
        m.d.sync += silence.eq(0)

        @contextmanager
        def receiving(name: str) -> Iterator[None]:
            """A state in which a byte is due; the block is of what follows one."""
            with m.State(name):
                m.d.comb += received.ready.eq(1)
                with m.If(taken & received.payload.bad):
                    m.next = "DRAIN"
                with m.Elif(taken):
                    yield
                with m.Elif(expired):
                    m.d.comb += self.failed.eq(1)
                    m.next = "COMMAND"
                with m.Else():
                    m.d.sync += silence.eq(silence + 1)

        def execute() -> None:
            """Begin the accesses of a command that is complete."""
            m.d.sync += [index.eq(0), byte.eq(0)]
            m.next = "READ_BUFFER"

        def end_word(*, frame: str, plain: str, last_of_frame: str) -> None:
            """Go on with the next word, or with what follows the last one."""
            m.d.sync += index.eq(index + 1)
            with m.If(is_frame):
                m.next = frame
                with m.If(index == count):
                    m.next = last_of_frame
            with m.Else():
                m.next = plain
                with m.If(index == count):
                    m.d.comb += self.understood.eq(1)
                    m.next = "COMMAND"

        with m.FSM():
            with m.State("COMMAND"):
                m.d.comb += [self.idle.eq(1), received.ready.eq(1), crc.start.eq(1)]
                m.d.sync += [command.eq(value), index.eq(0), byte.eq(0)]
                with m.If(taken):
                    m.next = "DRAIN"
                    with m.If(~received.payload.bad):
                        with m.Switch(value):
                            with m.Case(Command.FRAME_WRITE, Command.FRAME_READ, Command.FRAME_LEAVE):
                                m.next = "SEQUENCE"
                            with m.Case(Command.WRITE, Command.READ, Command.WRITE_FIXED, Command.READ_FIXED):
                                with m.If(~locked):
                                    m.next = "LENGTH"
            with receiving("SEQUENCE"):
                m.d.sync += sequence.eq(value)
                m.next = "LENGTH"
                with m.If(~value[7]):
                    m.next = "DRAIN"
            with receiving("LENGTH"):
                m.d.sync += count.eq(Mux(is_frame, value, value - 1))
                m.next = "ADDRESS"
            with receiving("ADDRESS"):
                m.d.sync += [address.eq(Cat(value, address)), byte.eq(byte + 1)]
                with m.If(byte == _WORD_BYTES - 1):
                    with m.If(is_write):
                        m.next = "DATA"
                    with m.Elif(is_frame):
                        m.next = "CHECK"
                    with m.Else():
                        m.d.sync += error.eq(0)
                        execute()
            with receiving("DATA"):
                m.d.sync += [word.eq(Cat(value, word)), byte.eq(byte + 1)]
                with m.If(byte == _WORD_BYTES - 1):
                    with m.If(is_frame):
                        m.d.comb += [write_port.en.eq(1), write_port.data.eq(Cat(value, word))]
                        m.d.sync += index.eq(index + 1)
                        with m.If(index == count):
                            m.next = "CHECK"
                    with m.Else():
                        m.next = "REQUEST"
            with receiving("CHECK"):
                m.d.sync += byte.eq(byte + 1)
                with m.If(byte == _WORD_BYTES - 1):
                    m.next = "JUDGE"
            with m.State("JUDGE"):
                m.next = "DRAIN"
                with m.If(crc.match_detected):
                    m.d.comb += self.understood.eq(1)
                    m.d.sync += [locked.eq(1), last.eq(sequence), executed.eq(is_write)]
                    with m.If(is_write & executed & (sequence == last)):
                        m.next = "SEND_SEQUENCE"
                    with m.Else():
                        m.d.sync += error.eq(0)
                        execute()
                        with m.If(~is_write):
                            m.next = "SEND_SEQUENCE"
            with m.State("DRAIN"):
                m.d.comb += received.ready.eq(1)
                with m.If(~received.valid):
                    m.d.sync += silence.eq(silence + 1)
                    with m.If(expired):
                        m.d.comb += self.failed.eq(1)
                        m.next = "COMMAND"

            with m.State("READ_BUFFER"):
                m.next = "TAKE_WORD"
            with m.State("TAKE_WORD"):      # who takes it looks at all of it, and block RAM is slow
                m.d.sync += word.eq(read_port.data)
                m.next = "REQUEST"
            with m.State("REQUEST"):
                m.d.comb += requests.valid.eq(1)
                with m.If(requests.ready):
                    m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += answers.ready.eq(1)
                with m.If(answers.valid):
                    # In the upper half, where there is nothing, it stays: it does not begin again at 0.
                    m.d.sync += [word.eq(answers.payload.data), address.eq(address + ~(is_fixed | address[-1]))]
                    with m.If(answers.payload.error):
                        m.d.sync += error.eq(1)
                    with m.If(is_write):
                        end_word(frame="READ_BUFFER", plain="DATA", last_of_frame="SEND_SEQUENCE")
                    with m.Else():
                        m.next = "SEND_WORD"

            with m.State("SEND_SEQUENCE"):
                m.d.comb += [sent.valid.eq(1), sent.payload.eq(sequence), crc.start.eq(1)]
                with m.If(sent.ready):
                    m.next = "SEND_STATUS"
                    with m.If(command == Command.FRAME_READ):
                        m.next = "REQUEST"
            with m.State("SEND_WORD"):
                m.d.comb += [sent.valid.eq(1), sent.payload.eq(word[24:])]
                with m.If(sent.ready):
                    m.d.sync += [word.eq(word << 8), byte.eq(byte + 1)]
                    with m.If(byte == _WORD_BYTES - 1):
                        end_word(frame="REQUEST", plain="REQUEST", last_of_frame="SEND_STATUS")
            with m.State("SEND_STATUS"):
                m.d.comb += [sent.valid.eq(1), sent.payload.eq(Mux(error, Status.ERROR, Status.OKAY))]
                with m.If(sent.ready):
                    m.d.sync += byte.eq(0)
                    m.next = "TAKE_CHECKSUM"
            with m.State("TAKE_CHECKSUM"):
                m.d.sync += word.eq(crc.crc)
                m.next = "SEND_CHECKSUM"
            with m.State("SEND_CHECKSUM"):
                m.d.comb += [sent.valid.eq(1), sent.payload.eq(word[:8])]
                with m.If(sent.ready):
                    m.d.sync += [word.eq(word >> 8), byte.eq(byte + 1)]
                    with m.If(byte == _WORD_BYTES - 1):
                        m.next = "COMMAND"
                        with m.If(command == Command.FRAME_LEAVE):
                            m.d.comb += self.left.eq(1)
                            m.d.sync += [locked.eq(0), executed.eq(0)]

        with m.If(self.line_break):
            m.d.sync += [locked.eq(0), executed.eq(0)]
        return m
