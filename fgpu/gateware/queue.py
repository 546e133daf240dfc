"""Stream queues in LUT RAM."""

from typing import Any

from amaranth.hdl import Module, Mux, ShapeLike, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import Layout
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from .halved_ram import HalvedRam
from .lut_ram import LutRam

__all__ = ["Queue", "WideQueue"]


def _members(shape: ShapeLike, depth: int, *, late: bool = False) -> dict[str, Any]:
    return {
        "input": In(stream.Signature(shape)), "output": Out(stream.Signature(shape)),
        "spacious": Out(1, init=1 if depth - late > 1 else 0),
    }


def _count(m: Module, queue: Any, depth: int, push: Any, pull: Any, *, late: bool = False) -> tuple[Signal, Signal]:
    """How many payloads are in the memory of a queue, and whether there is none; ``late``: one more may be."""
    most = depth - late
    level, empty = Signal(range(depth + 1), name="level"), Signal(init=1, name="empty")
    # Who comes late chooses; the adders are before. Whether it is empty is kept beside the level: it steers much.
    with m.If(push & ~pull):
        m.d.sync += [level.eq(level + 1), empty.eq(0), queue.spacious.eq(level < most - 2)]
    with m.Elif(pull & ~push):
        m.d.sync += [level.eq(level - 1), empty.eq(level == 1), queue.spacious.eq(level < most)]
    return level, empty


class Queue(wiring.Component):
    """A stream FIFO that takes and gives one payload a cycle.

    Latency 1 cycle, with or without the output register. Without it the payload comes straight from LUT RAM;
    with it the queue holds one payload more, and a payload that finds it empty goes directly to the register.
    ``spacious``: there is room for two, so that who looks a cycle late may still send.

    Parameters
    ----------
    shape : ShapeLike
        Payload.
    depth : int
        Payloads in the LUT RAM.
    registered : bool
        Whether there is an output register.
    peek : str | None
        A field of the payload that ``second`` shows of the one behind the first, where ``has_second``. Only with an
        output register.
    """

    def __init__(self, shape: ShapeLike, *, depth: int, registered: bool = False, peek: str | None = None) -> None:
        if depth < 1:
            raise ValueError(f"Queue depth must be positive, not {depth!r}")
        if peek and not registered:
            raise ValueError(f"A queue without an output register cannot peek at {peek!r}")
        self._shape = shape
        self._depth = depth
        self._registered = registered
        self._peek = peek
        members = _members(shape, depth)
        if peek:
            members |= {"has_second": Out(1), "second": Out(Layout.cast(shape)[peek].shape)}
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.storage = storage = LutRam(self._shape, 1 << ceil_log2(self._depth))
        write = storage.write_port()
        read = storage.read_port()
        push, pull = Signal(), Signal()
        level, empty = _count(m, self, self._depth, push, pull)
        # Beside the level, too: it goes where the level is far from.
        full = Signal()
        with m.If(push & ~pull):
            m.d.sync += full.eq(level == self._depth - 1)
        with m.Elif(pull & ~push):
            m.d.sync += full.eq(0)
        m.d.comb += [
            self.input.ready.eq(~full),
            write.data.eq(self.input.payload),
            write.en.eq(self.input.ready),      # what is not pushed is written over: so that it is known early
        ]
        if self._registered:
            free = ~self.output.valid | self.output.ready
            m.d.comb += [
                # What passes an empty memory is written there, too: so nobody waits to know whether it does.
                push.eq(self.input.valid & self.input.ready),
                pull.eq(free & (~empty | push)),
            ]
            with m.If(free):
                m.d.sync += [
                    self.output.valid.eq(self.input.valid | ~empty),
                    self.output.payload.eq(Mux(empty, self.input.payload, read.data)),
                ]
        else:
            m.d.comb += [
                pull.eq(self.output.valid & self.output.ready),
                push.eq(self.input.valid & self.input.ready),
                self.output.valid.eq(~empty),
                self.output.payload.eq(read.data),
            ]
        with m.If(push):
            m.d.sync += write.addr.eq(write.addr + 1)
        with m.If(pull):
            m.d.sync += read.addr.eq(read.addr + 1)
        if self._peek:
            m.d.comb += [self.has_second.eq(~empty), self.second.eq(read.data[self._peek])]
        return m


class WideQueue(wiring.Component):
    """A stream FIFO for payloads so wide that their LUT RAM is far from who sends and takes them.

    Latency 1 cycle, or 2 if ``late``, one payload a cycle, ``spacious`` as in :class:`Queue`. No valid or ready goes
    to all of the memory: it is written in each cycle, at an entry that is free. What was taken moves the read address
    a cycle later, behind a multiplexer, and so does what came late that of writes
    (:class:`~fgpu.gateware.halved_ram.HalvedRam`).

    Parameters
    ----------
    shape : ShapeLike
        Payload.
    depth : int
        Payloads that find room; one less than a power of two wastes no memory.
    late : bool
        Whether what comes is counted a cycle later: for who knows late in its cycle whether it sends.
    """

    def __init__(self, shape: ShapeLike, *, depth: int, late: bool = False) -> None:
        if depth < 1:
            raise ValueError(f"Queue depth must be positive, not {depth!r}")
        self._shape = shape
        self._depth = depth
        self._late = late
        super().__init__(_members(shape, depth, late=late))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        push, pull = Signal(), Signal()
        pushed = Signal()
        pulled = Signal()
        counted = pushed if self._late else push
        level, empty = _count(m, self, self._depth, counted, pull, late=self._late)
        m.d.comb += [
            self.input.ready.eq(level < self._depth - self._late), self.output.valid.eq(~empty),
            push.eq(self.input.valid & self.input.ready), pull.eq(self.output.valid & self.output.ready),
        ]
        m.d.sync += [pushed.eq(push), pulled.eq(pull)]
        m.submodules.memory = memory = HalvedRam(self._shape, 1 << ceil_log2(self._depth + 1), begun=True,
                                                 late=self._late)
        m.d.comb += [
            memory.given.eq(self.input.payload), memory.write.eq(1), memory.push.eq(counted),
            memory.look.eq(pulled.replicate(2)), memory.step.eq(pulled), self.output.payload.eq(memory.shown),
        ]
        return m
