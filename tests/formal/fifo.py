"""First in, first out: what queues, and all that contains them, promise."""

from dataclasses import dataclass

from amaranth.hdl import Array, Const, Module, Mux, Signal, Value, ValueLike
from amaranth.lib.data import StructLayout
from amaranth.utils import ceil_log2

from fgpu.gateware.queue import Queue, WideQueue
from fgpu.gateware.skid_buffer import SkidBuffer

from .prover import Claim

__all__ = ["Followed", "fifo", "follow", "peek_claim", "queue_claim", "skid_claim", "wide_queue_claim"]


@dataclass
class Followed:
    """One payload, any one, on its way: ``ahead`` of it are so many, and it has this ``value``."""

    active: Signal
    ahead: Signal
    value: Signal


def follow(claim: Claim, push: ValueLike, ahead: ValueLike, value: ValueLike, pop: ValueLike, *, bits: int,
           name: str = "") -> Followed:
    """Follow the payload of any ``push``: when ``ahead`` others have gone, it must come.

    What holds for a payload that nobody can tell from the others holds for each of them.
    """
    m: Module = claim.m
    it = Followed(Signal(), Signal(bits), Signal(len(Value.cast(value))))
    choose = claim.free(f"follow{name}")
    with m.If(~it.active):
        with m.If(choose & push):
            m.d.sync += [it.active.eq(1), it.ahead.eq(ahead), it.value.eq(value)]
    with m.Elif(pop):
        m.d.sync += [it.ahead.eq(it.ahead - 1), it.active.eq(it.ahead != 0)]
    return it


def fifo(claim: Claim, path: str, push: ValueLike, before: ValueLike, pop: ValueLike, valid: ValueLike,
         after: ValueLike, *, depth: int, registered: bool = False, contents: bool = True) -> Signal:
    """State that what is pushed comes, once, in order and a cycle later; ``path`` is of a :class:`Queue` inside.

    Returns how many payloads are inside. Without ``contents``, only their number is stated, not what they are.
    """
    bits = ceil_log2(depth) + 3
    inside = claim.count(push, pop, bits)
    claim.always(claim.same(valid, inside != 0))
    claim.always(inside <= depth + registered)

    in_register = Value.cast(valid) if registered else Value.cast(0)
    level = claim.inside(f"{path}.level", range(depth + 1))
    claim.invariant(level + in_register == inside)
    claim.invariant(claim.inside(f"{path}.empty", 1) == (level == 0))
    claim.invariant(claim.inside(f"{path}.full", 1) == (level == depth))
    pointers = ceil_log2(depth)
    read, write = (claim.inside(f"{path}.{port}__addr", pointers) for port in ("read", "write"))
    claim.invariant((read + level)[:pointers] == write)
    if not contents:
        return inside

    it = follow(claim, push, inside - pop, before, pop, bits=bits, name=path.replace(".", "_"))
    claim.always(~it.active | (it.ahead != 0) | claim.same(after, it.value))
    # How all that relates to the pointers and the memory.
    claim.invariant(~it.active | (it.ahead < inside))
    width = len(Value.cast(before))
    words = Array(claim.inside(f"{path}.storage[{n}]", width) for n in range(1 << pointers))
    place = Signal(pointers)
    claim.m.d.comb += place.eq(read + it.ahead - in_register)
    claim.invariant(~it.active | (it.ahead < in_register) | (Mux(it.active, words[place], 0) == it.value))
    return inside


def queue_claim(depth: int, registered: bool, queue: type[Queue] = Queue) -> Claim:
    """A queue, with room for all of ``depth``."""
    dut = queue(3, depth=depth, registered=registered)
    claim = Claim(dut=dut)
    push, pop = dut.input.valid & dut.input.ready, dut.output.valid & dut.output.ready
    inside = fifo(claim, "dut", push, dut.input.payload, pop, dut.output.valid, dut.output.payload,
                  depth=depth, registered=registered)
    claim.always(dut.input.ready | (inside >= depth))
    return claim


def peek_claim(depth: int, queue: type[Queue] = Queue) -> Claim:
    """A queue that shows a field of what is behind the first."""
    dut = queue(StructLayout({"hidden": 1, "seen": 2}), depth=depth, registered=True, peek="seen")
    claim = Claim(dut=dut)
    push, pop = dut.input.valid & dut.input.ready, dut.output.valid & dut.output.ready
    inside = fifo(claim, "dut", push, dut.input.payload, pop, dut.output.valid, dut.output.payload, depth=depth,
                  registered=True)
    claim.always(claim.same(dut.has_second, inside > 1))
    it = follow(claim, push, inside - pop, dut.input.payload.seen, pop, bits=len(inside), name="seen")
    claim.always(~it.active | (it.ahead != 1) | claim.same(dut.second, it.value))
    claim.invariant(~it.active | (it.ahead < inside))
    pointers = ceil_log2(depth)
    read = claim.inside("dut.read__addr", pointers)
    words = Array(claim.inside(f"dut.storage[{n}]", 3) for n in range(1 << pointers))
    seen = Signal(2)
    claim.m.d.comb += seen.eq(words[(read + it.ahead - 1)[:pointers]][1:])
    claim.invariant(~it.active | (it.ahead == 0) | (seen == it.value))
    return claim


def wide_queue_claim(depth: int, late: bool, queue: type[WideQueue] = WideQueue) -> Claim:
    """A wide queue, with room for all of ``depth``; each half of a payload is where its own counters say."""
    dut = queue(2, depth=depth, late=late)
    claim = Claim(dut=dut)
    push, pop = dut.input.valid & dut.input.ready, dut.output.valid & dut.output.ready
    inside = claim.count(push, pop, ceil_log2(depth) + 3)
    uncounted = claim.inside("dut.pushed", 1) if late else Const(0)
    counted = Signal.like(inside)
    claim.m.d.comb += counted.eq(inside - uncounted)
    claim.invariant(uncounted <= inside)
    claim.always(claim.same(dut.output.valid, counted != 0))
    claim.always(claim.same(dut.input.ready, counted < depth - late))
    claim.always(~claim.past(dut.spacious) | dut.input.ready)
    claim.always(inside <= depth)
    it = follow(claim, push, inside - pop, dut.input.payload, pop, bits=ceil_log2(depth) + 3)
    claim.always(~it.active | (it.ahead != 0) | claim.same(dut.output.payload, it.value))
    claim.invariant(~it.active | (it.ahead < inside))
    claim.invariant(claim.inside("dut.level", range(depth + 1)) == counted)
    claim.invariant(claim.inside("dut.empty", 1) == (counted == 0))
    claim.invariant(~dut.spacious | (counted + late + 2 <= depth))
    pointers = ceil_log2(depth + 1)
    pulled = claim.inside("dut.pulled", 1)
    for half in range(2):
        free, place, following = (claim.inside(f"dut.memory.{name}{half}", pointers)
                                  for name in ("free", "current", "following"))
        words = Array(claim.inside(f"dut.memory.storage{half}[{n}]", 1) for n in range(1 << pointers))
        kept = Signal(pointers, name=f"kept{half}")
        claim.m.d.comb += kept.eq(place + pulled + it.ahead)
        claim.invariant((place + 1)[:pointers] == following)
        claim.invariant((place + pulled + counted)[:pointers] == free)
        if late:
            claim.invariant((free + 1)[:pointers] == claim.inside(f"dut.memory.next_free{half}", pointers))
        claim.invariant(~it.active | (Mux(it.active, words[kept], 0) == it.value[half]))
    return claim


def skid_claim(buffer: type[SkidBuffer] = SkidBuffer) -> Claim:
    """A skid buffer: in order, nothing lost or twice, latency 1, room for two, whoever waits."""
    dut = buffer(3)
    claim = Claim(dut=dut)
    push, pop = dut.input.valid & dut.input.ready, dut.output.valid & dut.output.ready
    inside = claim.count(push, pop, 2)
    claim.always(claim.same(dut.output.valid, inside != 0))
    claim.always(claim.same(dut.input.ready, inside != 2))
    claim.always(inside <= 2)
    it = follow(claim, push, inside - pop, dut.input.payload, pop, bits=2)
    claim.always(~it.active | (it.ahead != 0) | claim.same(dut.output.payload, it.value))
    claim.always(claim.stable(dut.output.valid, dut.output.ready, dut.output.payload))
    claim.invariant(claim.inside("dut.room", 1) == (inside != 2))
    claim.invariant(~it.active | (it.ahead < inside))
    claim.invariant(~it.active | (it.ahead == 0) | (claim.inside("dut.late", 3) == it.value))
    return claim
