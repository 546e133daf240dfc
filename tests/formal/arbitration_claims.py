"""What the round-robin chooser and the cache's arbiter promise."""

from typing import Any

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.utils import ceil_log2

from fgpu.cache.arbiter import Arbiter
from fgpu.cache.payloads import TagOp, TagRequest
from fgpu.config import Config
from fgpu.gateware.round_robin import RoundRobin
from fgpu.interfaces.memory_bus import MemoryOp

from .fifo import follow
from .prover import Claim

CONFIG = Config(compute_units=4, cache_banks=1, cache_line=64)


def _no_starvation(claim: Claim, above: Signal, requests: Value, served: Value, choice: Value, who: Signal) -> None:
    """While ``who`` waits, each of the others is served at most once before it."""
    m: Module = claim.m
    count = len(requests)
    waited = Signal(range(count + 2))
    with m.If(~requests.bit_select(who, 1) | (served & (choice == who))):
        m.d.sync += waited.eq(0)
    with m.Elif(served):
        m.d.sync += waited.eq(waited + 1)
    claim.always(waited < count)
    # ``above`` is one of 0…0, 1…10, 1…100, …; the turns before that of ``who`` and those gone make count - 1.
    claim.invariant(Cat(above == (1 << count) - (1 << n) for n in range(1, count + 1)).any())
    last, turns = Signal(range(count)), Signal(range(count))
    m.d.comb += last.eq(count - 1)
    for n in range(count - 1):
        with m.If(above == (1 << count) - (1 << n + 1)):
            m.d.comb += last.eq(n)
    m.d.comb += turns.eq(Mux(who > last, who - last - 1, who + count - 1 - last))
    claim.invariant(waited + turns < count)


def round_robin_claim(count: int, round_robin: type[RoundRobin] = RoundRobin) -> Claim:
    """The choice is a requester if there is one; among ``count``, a requester waits for ``count`` - 1 others."""
    dut = round_robin(count)
    claim = Claim(dut=dut)
    who = claim.constant("who", range(count))
    claim.assume(who < count)
    claim.always(dut.valid == dut.requests.any())
    claim.always(~dut.valid | dut.requests.bit_select(dut.choice, 1))
    claim.always(dut.chosen == Mux(dut.valid, 1 << dut.choice, 0))
    above = claim.inside("dut.above", count)
    _no_starvation(claim, above, dut.requests, dut.valid & dut.accept, dut.choice, who)
    return claim


def arbiter_claim(arbiter: type[Arbiter] = Arbiter) -> Claim:
    """Accepted requests, and nothing else, leave in order, one cycle later at the earliest, or wait, two at most; the
    row of a write leaves at once.

    The cleaner goes first, a cycle after it came, and a cycle after ``hold`` the others are kept out; a compute
    unit waits for one turn of each other, and for the reads that are owed to it before and after: seven requests
    at most. A read only waits while reads are admitted. Who asked in the cycle before is certain to be considered,
    and cycles are lost to guesses only where a read is owed. Requests stay until they are taken, but a write may
    come in place of a read.
    """
    count = CONFIG.compute_units
    dut = arbiter(CONFIG)
    claim = Claim(dut=dut)
    m: Module = claim.m
    requests = Cat(request.valid for request in dut.requests)
    admitted = Cat(request.valid & ((request.payload.op == MemoryOp.WRITE) | dut.admit_reads)
                   for request in dut.requests)
    writes = Cat(request.payload.op == MemoryOp.WRITE for request in dut.requests)
    taken = Cat(request.valid & request.ready for request in dut.requests)
    granted = dut.granted
    left = claim.past(requests & ~taken)
    left_writes = claim.past(requests & ~taken & writes)
    claim.assume((left & ~requests) == 0)
    claim.assume((left_writes & ~writes) == 0)

    # Of the compute units, one at a time.
    claim.always((taken & (taken - 1)[:count]) == 0)
    turn = claim.past(dut.hold | (dut.cleaner.valid & ~dut.cleaner.ready))      # the cleaner's
    room = claim.past(dut.writes_room)
    claim.invariant(claim.inside("dut.cleans", 1) == turn)
    claim.invariant(claim.inside("dut.others", 1) == (room & ~turn))
    claim.always(~taken.any() | (room & ~turn))
    claim.always(dut.pending == requests.any())
    claim.always((taken & ~admitted) == 0)
    cleaned = dut.cleaner.valid & dut.cleaner.ready

    # What is granted is what was taken, in order, from the next cycle on; two find room.
    claim.always(claim.stable(granted.valid, granted.ready, granted.payload))
    gone = granted.valid & granted.ready
    inside = claim.count(taken.any() | cleaned, gone, 2)
    claim.always(granted.valid == (inside != 0))
    claim.always(inside <= 2)
    claim.invariant(claim.inside("dut.inside.room", 1) == (inside != 2))
    claim.invariant(claim.inside("dut.inside.full", 1) == (inside == 2))
    claim.always(dut.cleaner.ready == (turn & (inside != 2)))
    claim.always(dut.step == (~granted.valid | granted.ready))
    claim.always(~claim.past(dut.step) | ~granted.valid
                 | (granted.payload.line[:len(dut.next_set)] == claim.past(dut.next_set)))
    who = claim.constant("who", ceil_log2(count))
    fields = Array(Cat(r.payload.line, r.payload.rows, r.payload.op == MemoryOp.WRITE) for r in dut.requests)
    mine = taken.bit_select(who, 1)
    late = data.View(TagRequest(CONFIG), claim.inside("dut.inside.late", TagRequest(CONFIG).size))

    def fields_of(request: Any) -> Value:
        return Cat(request.line, request.rows, request.op == TagOp.WRITE, request.cu)

    for push, its, out, kept in (
            (mine, Cat(fields[who], who), fields_of(granted.payload), fields_of(late)),
            (cleaned, dut.cleaner.payload.as_value(), granted.payload.as_value(), late.as_value())):
        it = follow(claim, push, inside - gone, its, gone, bits=2, name=str(len(out)))
        claim.always(~it.active | (it.ahead != 0) | (out == it.value))
        claim.invariant(~it.active | (it.ahead < inside))
        claim.invariant(~it.active | (it.ahead == 0) | (kept == it.value))
    now, later = granted.payload.op.as_value(), late.op.as_value()
    read = TagOp.READ.value
    claim.always(~claim.past(mine) | (inside != 1) | (now == TagOp.WRITE.value) | (now == read))
    reads = Signal(2)       # inside; the cleaner's are none
    claim.assume(~dut.cleaner.valid | ((dut.cleaner.payload.op != TagOp.READ)
                                       & (dut.cleaner.payload.op != TagOp.ATOMIC)))
    m.d.comb += reads.eq(((inside != 0) & (now == read)) + ((inside == 2) & (later == read)))
    claim.always(dut.reads_inside == reads)
    claim.invariant((inside == 0) | (now != TagOp.ATOMIC.value))
    claim.invariant((inside != 2) | (later != TagOp.ATOMIC.value))

    # Rows of writes.
    rows = Array(Cat(r.payload.row, r.payload.strobe) for r in dut.requests)
    write = mine & (Array(r.payload.op.as_value() for r in dut.requests)[who] == MemoryOp.WRITE.value)
    claim.always(~write | (dut.writes.valid & (Cat(dut.writes.payload.row, dut.writes.payload.strobe) == rows[who])))
    claim.always(~dut.writes.valid | taken.any())

    # Somebody of those that are left is served whenever nothing is in the way, or a guess.
    free = room & ~turn & (inside != 2)
    choice = Signal(ceil_log2(count))
    for n in range(count):
        with m.If(taken[n]):
            m.d.comb += choice.eq(n)
    # If reads had to wait, each of the three after that of a turn goes first, and is nobody's turn.
    owed = [Signal(2, name=f"owed{n}") for n in range(count)]
    due, is_due = Signal(count), Signal()
    m.d.comb += is_due.eq(claim.past(due.any()) & dut.admit_reads)
    for n, request in enumerate(dut.requests):
        read = request.payload.op == MemoryOp.READ
        waits = Mux(request.valid, read, dut.likely[n])
        m.d.comb += due[n].eq(waits & ~dut.admit_reads & (owed[n] != 0))
        with m.If(taken[n] & (read | is_due)):
            m.d.sync += owed[n].eq(Mux(owed[n] == 0, 3, owed[n] - 1))
        claim.invariant(claim.inside(f"dut.turns.owed{n}", 2) == owed[n])
    claim.always(~(is_due & taken.any()) | (taken & claim.past(due)).any())
    guessed = is_due & (claim.past(due) & ~left).any()
    claim.always(~(Mux(dut.admit_reads, left.any(), left_writes.any()) & free) | taken.any() | guessed)
    for kind in range(2):
        whose = claim.inside(f"dut.turns.turn{kind}", count)
        claim.invariant(Cat(whose == 1 << n for n in range(count)).any())
        for copy in range(2):
            its = claim.inside(f"dut.turns.choice{copy}_{kind}", ceil_log2(count))
            claim.invariant(whose == 1 << its)
    claim.invariant(claim.inside("dut.turns.was_due", 1) == claim.past(due.any()))
    # It waits anew with a write in place of a read, and after a turn that was owed.
    waits = admitted & ~(writes & claim.past(requests & ~taken & ~writes)) & ~(taken & is_due.replicate(count))
    _no_starvation(claim, claim.inside("dut.turns.above", count), waits, taken.any() & ~is_due, choice, who)
    return claim
