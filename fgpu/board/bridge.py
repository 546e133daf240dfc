"""The bridge: commands of the host, byte by byte, become accesses to words."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.crc.catalog import CRC32_ETHERNET
from amaranth.lib.wiring import In, Out

from fgpu.gateware.block_ram import BlockRam

from .protocol import BURST_WORDS, Command, Status
from .uart import ReceivedByte
from .words import WordBusSignature

__all__ = ["Bridge"]

_WORD_BYTES = 4


class _Input:
    """The bytes of the host, and cycles of ``silence`` behind the last one; states that receive have it counted."""

    def __init__(self, m: Module, received: Any, timeout_cycles: int) -> None:
        self.ready, self.valid = received.ready, received.valid
        self.value, self.bad = received.payload.value, received.payload.bad
        self.silence = Signal(range(timeout_cycles))
        self.expired = Signal()
        self.taken = Signal()
        m.d.comb += [self.expired.eq(self.silence == timeout_cycles - 1), self.taken.eq(self.valid & self.ready)]
        m.d.sync += self.silence.eq(0)


class _Session:
    """What the bridge keeps from one frame to the next."""

    def __init__(self) -> None:
        self.locked = Signal()              # frames only
        self.last = Signal(8, name="last")
        self.executed = Signal()            # the last frame wrote, and was number `last`

    def end(self, m: Module) -> None:
        m.d.sync += [self.locked.eq(0), self.executed.eq(0)]


class _Work:
    """The command that is under way: what was received of it, and how far it is executed or answered."""

    def __init__(self, m: Module) -> None:
        self.command = Signal(Command, init=Command.READ)
        self.is_frame = Signal(name="is_frame")
        self.is_write = Signal(name="is_write")
        self.is_fixed = Signal(name="is_fixed")
        self.sequence = Signal(8)
        self.count = Signal(8)              # of words, minus 1
        self.index = Signal(8)
        self.address = Signal(32)
        self.word = Signal(32)
        self.byte = Signal(2)
        self.error = Signal()
        m.d.comb += [
            self.is_write.eq((self.command == Command.WRITE) | (self.command == Command.WRITE_FIXED)
                             | (self.command == Command.FRAME_WRITE)),
            self.is_fixed.eq((self.command == Command.WRITE_FIXED) | (self.command == Command.READ_FIXED)),
            self.is_frame.eq((self.command == Command.FRAME_WRITE) | (self.command == Command.FRAME_READ)
                             | (self.command == Command.FRAME_LEAVE)),
        ]

    @property
    def ends_word(self) -> Value:
        """This byte is the last one of a word."""
        return self.byte == _WORD_BYTES - 1

    def execute(self, m: Module) -> None:
        """Begin the accesses of a command that is complete."""
        m.d.sync += [self.error.eq(0), self.index.eq(0), self.byte.eq(0)]
        m.next = "READ_BUFFER"


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
        sent: Any = self.sent
        request: Any = self.words.requests.payload
        m.submodules.crc = crc = CRC32_ETHERNET(data_width=8).create()
        m.submodules.buffer = buffer = BlockRam(32, BURST_WORDS)
        write_port, read_port = buffer.write_port(), buffer.read_port()
        given = _Input(m, self.received, self._timeout_cycles)
        work, session = _Work(m), _Session()
        m.d.comb += [
            crc.data.eq(Mux(given.ready, given.value, sent.payload)),
            crc.valid.eq(given.taken | (sent.valid & sent.ready)),
            write_port.addr.eq(work.index), read_port.addr.eq(work.index),
            request.address.eq(work.address), request.write.eq(work.is_write), request.data.eq(work.word),
        ]
        with m.FSM():
            self._receive(m, given, work, session, crc, write_port)
            self._judge(m, work, session, crc)
            self._drain(m, given)
            self._execute(m, work, read_port)
            self._send_words(m, work, crc)
            self._send_end(m, work, session, crc)
        with m.If(self.line_break):
            session.end(m)
        return m

    @contextmanager
    def _receiving(self, m: Module, name: str, given: _Input) -> Iterator[None]:
        """A state in which a byte is due; the block is of what follows one."""
        with m.State(name):
            m.d.comb += given.ready.eq(1)
            with m.If(given.taken & given.bad):
                m.next = "DRAIN"
            with m.Elif(given.taken):
                yield
            with m.Elif(given.expired):
                m.d.comb += self.failed.eq(1)
                m.next = "COMMAND"
            with m.Else():
                m.d.sync += given.silence.eq(given.silence + 1)

    def _receive(self, m: Module, given: _Input, work: _Work, session: _Session, crc: Any, write_port: Any) -> None:
        """The states of a command's bytes. Words of a frame go to the buffer; others are written as they come."""
        value = given.value
        with m.State("COMMAND"):
            m.d.comb += [self.idle.eq(1), given.ready.eq(1), crc.start.eq(1)]
            m.d.sync += [work.command.eq(value), work.index.eq(0), work.byte.eq(0)]
            with m.If(given.taken):
                m.next = "DRAIN"
                with m.If(~given.bad):
                    with m.Switch(value):
                        with m.Case(Command.FRAME_WRITE, Command.FRAME_READ, Command.FRAME_LEAVE):
                            m.next = "SEQUENCE"
                        with m.Case(Command.WRITE, Command.READ, Command.WRITE_FIXED, Command.READ_FIXED):
                            with m.If(~session.locked):
                                m.next = "LENGTH"
        with self._receiving(m, "SEQUENCE", given):
            m.d.sync += work.sequence.eq(value)
            m.next = "LENGTH"
            with m.If(~value[7]):
                m.next = "DRAIN"
        with self._receiving(m, "LENGTH", given):
            m.d.sync += work.count.eq(Mux(work.is_frame, value, value - 1))
            m.next = "ADDRESS"
        with self._receiving(m, "ADDRESS", given):
            m.d.sync += [work.address.eq(Cat(value, work.address)), work.byte.eq(work.byte + 1)]
            with m.If(work.ends_word):
                with m.If(work.is_write):
                    m.next = "DATA"
                with m.Elif(work.is_frame):
                    m.next = "CHECK"
                with m.Else():
                    work.execute(m)
        with self._receiving(m, "DATA", given):
            m.d.sync += [work.word.eq(Cat(value, work.word)), work.byte.eq(work.byte + 1)]
            with m.If(work.ends_word):
                with m.If(work.is_frame):
                    m.d.comb += [write_port.en.eq(1), write_port.data.eq(Cat(value, work.word))]
                    m.d.sync += work.index.eq(work.index + 1)
                    with m.If(work.index == work.count):
                        m.next = "CHECK"
                with m.Else():
                    m.next = "REQUEST"
        with self._receiving(m, "CHECK", given):
            m.d.sync += work.byte.eq(work.byte + 1)
            with m.If(work.ends_word):
                m.next = "JUDGE"

    def _judge(self, m: Module, work: _Work, session: _Session, crc: Any) -> None:
        """The state that knows whether a frame is right, and whether it was executed before."""
        with m.State("JUDGE"):
            m.next = "DRAIN"
            with m.If(crc.match_detected):
                m.d.comb += self.understood.eq(1)
                m.d.sync += [
                    session.locked.eq(1), session.last.eq(work.sequence), session.executed.eq(work.is_write)]
                with m.If(work.is_write & session.executed & (work.sequence == session.last)):
                    m.next = "SEND_SEQUENCE"
                with m.Else():
                    work.execute(m)
                    with m.If(~work.is_write):
                        m.next = "SEND_SEQUENCE"

    def _drain(self, m: Module, given: _Input) -> None:
        """The state that ignores what comes until the line is silent."""
        with m.State("DRAIN"):
            m.d.comb += given.ready.eq(1)
            with m.If(~given.valid):
                m.d.sync += given.silence.eq(given.silence + 1)
                with m.If(given.expired):
                    m.d.comb += self.failed.eq(1)
                    m.next = "COMMAND"

    def _execute(self, m: Module, work: _Work, read_port: Any) -> None:
        """The states of an access to a word."""
        requests, answers = self.words.requests, self.words.answers
        with m.State("READ_BUFFER"):
            m.next = "TAKE_WORD"
        with m.State("TAKE_WORD"):      # who takes it looks at all of it, and block RAM is slow
            m.d.sync += work.word.eq(read_port.data)
            m.next = "REQUEST"
        with m.State("REQUEST"):
            m.d.comb += requests.valid.eq(1)
            with m.If(requests.ready):
                m.next = "ANSWER"
        with m.State("ANSWER"):
            m.d.comb += answers.ready.eq(1)
            with m.If(answers.valid):
                m.d.sync += [
                    work.word.eq(answers.payload.data),
                    # In the upper half, where there is nothing, it stays: it does not begin again at 0.
                    work.address.eq(work.address + ~(work.is_fixed | work.address[-1])),
                ]
                with m.If(answers.payload.error):
                    m.d.sync += work.error.eq(1)
                with m.If(work.is_write):
                    self._end_word(m, work, frame="READ_BUFFER", plain="DATA", last_of_frame="SEND_SEQUENCE")
                with m.Else():
                    m.next = "SEND_WORD"

    def _end_word(self, m: Module, work: _Work, *, frame: str, plain: str, last_of_frame: str) -> None:
        """Go on with the next word, or with what follows the last one."""
        m.d.sync += work.index.eq(work.index + 1)
        with m.If(work.is_frame):
            m.next = frame
            with m.If(work.index == work.count):
                m.next = last_of_frame
        with m.Else():
            m.next = plain
            with m.If(work.index == work.count):
                m.d.comb += self.understood.eq(1)
                m.next = "COMMAND"

    def _send_words(self, m: Module, work: _Work, crc: Any) -> None:
        """The states of an answer's bytes to the last one of its words, of which each was just read."""
        sent: Any = self.sent
        with m.State("SEND_SEQUENCE"):
            m.d.comb += [sent.valid.eq(1), sent.payload.eq(work.sequence), crc.start.eq(1)]
            with m.If(sent.ready):
                m.next = "SEND_STATUS"
                with m.If(work.command == Command.FRAME_READ):
                    m.next = "REQUEST"
        with m.State("SEND_WORD"):
            m.d.comb += [sent.valid.eq(1), sent.payload.eq(work.word[24:])]
            with m.If(sent.ready):
                m.d.sync += [work.word.eq(work.word << 8), work.byte.eq(work.byte + 1)]
                with m.If(work.ends_word):
                    self._end_word(m, work, frame="REQUEST", plain="REQUEST", last_of_frame="SEND_STATUS")

    def _send_end(self, m: Module, work: _Work, session: _Session, crc: Any) -> None:
        """The states of a frame's status and checksum."""
        sent: Any = self.sent
        with m.State("SEND_STATUS"):
            m.d.comb += [sent.valid.eq(1), sent.payload.eq(Mux(work.error, Status.ERROR, Status.OKAY))]
            with m.If(sent.ready):
                m.d.sync += work.byte.eq(0)
                m.next = "TAKE_CHECKSUM"
        with m.State("TAKE_CHECKSUM"):
            m.d.sync += work.word.eq(crc.crc)
            m.next = "SEND_CHECKSUM"
        with m.State("SEND_CHECKSUM"):
            m.d.comb += [sent.valid.eq(1), sent.payload.eq(work.word[:8])]
            with m.If(sent.ready):
                m.d.sync += [work.word.eq(work.word >> 8), work.byte.eq(work.byte + 1)]
                with m.If(work.ends_word):
                    m.next = "COMMAND"
                    with m.If(work.command == Command.FRAME_LEAVE):
                        m.d.comb += self.left.eq(1)
                        session.end(m)
