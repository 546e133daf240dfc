"""What the dispatcher promises: each work-group of each kernel once, and then the end."""

from itertools import pairwise

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data

from fgpu.address_map import DescriptorWord, ShapeWord
from fgpu.config import Config
from fgpu.dispatcher.dispatcher import _SETTLE_CYCLES, Dispatcher

from .prover import Claim

CONFIG = Config(compute_units=2)
STATES = ("Idle", "Clean cache", "Read descriptor", "Choose compute unit", "Hand out work-group", "Drain",
          "Finish")
"""In the order in which the source names them first, which is how Amaranth numbers them."""
_FIRST_PARAMETER, _FIRST_SIZE = DescriptorWord.PARAMETERS.value, DescriptorWord.GLOBAL_SIZE.value
_OFFSET, _GROUPS = DescriptorWord.GLOBAL_OFFSET.value, DescriptorWord.WORK_GROUPS.value
_ORDER = (DescriptorWord.ENTRY, DescriptorWord.SHAPE, DescriptorWord.SIZE, *range(_OFFSET, _OFFSET + 3),
          *range(_GROUPS, _GROUPS + 3), *range(_FIRST_SIZE, _FIRST_SIZE + 3), *range(_FIRST_PARAMETER, 32))
"""The words as they are read; of those of work-groups as many as there are dimensions."""


def dispatcher_claim(dispatcher: type[Dispatcher] = Dispatcher) -> Claim:
    """The lowest pending kernel runs; its work-groups go out in order, one at a time, each once and to one unit.

    The kernel finishes once, when the last one was taken (or after a fault) and all units were idle, and when the
    cache was cleaned if its bit is set or there was a fault. After a fault at most one more work-group goes out.
    Work-groups go out when the descriptor's words that they are made of are there, the first one at its offset. The
    runtime memories are written only while the units are ``loading``, which ends before the kernel.
    After a fault between kernels the cache is cleaned before the next one. That it finishes at all is not stated.
    """
    dut = dispatcher(CONFIG)
    claim = Claim(dut=dut)
    m: Module = claim.m
    claim.assume(~claim.past(1) | (dut.clean_cache == claim.past(dut.clean_cache)))
    claim.assume(~(dut.clean_start & dut.clean_done))
    at = claim.inside("dut.fsm_state", range(len(STATES)))

    def state(*names: str) -> Value:
        return Cat(at == STATES.index(name) for name in names).any()

    # One kernel at a time, the lowest.
    lowest = dut.pending & (~dut.pending + 1)[:len(dut.pending)]
    running, slot = Signal(), Signal(4)
    with m.If(dut.accepted.any()):
        m.d.sync += running.eq(1)
        for number in range(len(dut.accepted)):
            with m.If(dut.accepted[number]):
                m.d.sync += slot.eq(number)
    with m.Elif(dut.finished.any()):
        m.d.sync += running.eq(0)
    claim.always(~dut.accepted.any() | (~running & (dut.accepted == lowest)))
    # A fault between kernels, until the cache is cleaned for it.
    late, between = Signal(), Signal()
    with m.If(dut.fault & ((~running & ~dut.accepted.any()) | dut.finished.any())):
        m.d.sync += late.eq(1)
    with m.Elif(dut.clean_start):
        m.d.sync += late.eq(0)
    with m.If(dut.clean_start & ~running):
        m.d.sync += between.eq(1)
    with m.Elif(dut.clean_done):
        m.d.sync += between.eq(0)
    claim.always(~dut.pending.any() | running | dut.accepted.any() | late | between)
    claim.always(~dut.accepted.any() | (~late & ~between))
    claim.invariant(late == claim.inside("dut.suspect", 1))
    claim.invariant(between == (state("Clean cache") & ~running & ~dut.clean_start))
    claim.invariant(~dut.clean_start | (state("Clean cache") & (running | late)))
    claim.always(~dut.finished.any() | (running & (dut.finished == Const(1, len(dut.finished)) << slot)))
    claim.always(dut.running == Mux(running, Const(1, len(dut.running)) << slot, 0))
    claim.always(~running | (dut.slot == slot))
    claim.always(~dut.accepted.any() | (dut.accepted == Const(1, len(dut.accepted)) << dut.slot))
    claim.invariant(running == claim.inside("dut.active", 1))
    claim.invariant(Mux(running, ~state("Idle"), state("Idle", "Clean cache")))
    claim.invariant(at < len(STATES))

    # What the descriptor says, word by word a cycle after it is asked for.
    word = claim.past(dut.lram_address[:5])
    claim.always(~dut.runtime_write.valid | dut.loading)
    claim.always(~dut.loading | (running & ~dut.clean_start & ~dut.finished.any()))
    comes = claim.past(dut.lram_read)
    shape = Signal(ShapeWord)
    last_ids = Signal(data.ArrayLayout(32, 3))
    with m.If(comes & (word == DescriptorWord.SHAPE.value)):
        m.d.sync += shape.eq(dut.lram_data)
    origins = Signal(data.ArrayLayout(32, 3))
    with m.If(dut.accepted.any()):
        m.d.sync += last_ids.eq(0)
    for n in range(3):
        with m.If(comes & (word == _GROUPS + n)):
            m.d.sync += last_ids[n].eq(dut.lram_data)
        with m.If(comes & (word == _OFFSET + n)):
            m.d.sync += origins[n].eq(dut.lram_data)
        claim.invariant(~running | (claim.inside(f"dut.last_id{n}", 32) == last_ids[n]))
        claim.invariant(claim.inside(f"dut.origin{n}", 32) == origins[n])
    claim.invariant(claim.inside("dut.shape", 32) == shape.as_value())
    arriving, arriving_word = claim.inside("dut.arriving", 1), claim.inside("dut.arriving_word", 5)
    reading, read_word = dut.lram_read, dut.lram_address[:5]
    following, dimensions = Signal(5), shape.dimensions_minus_1
    for one, other in pairwise(_ORDER):
        with m.If(arriving_word == int(one)):
            m.d.comb += following.eq(int(other))
    for n in range(2):
        with m.If((arriving_word == _GROUPS + n) & (dimensions == n)):
            m.d.comb += following.eq(_FIRST_SIZE)
    claim.invariant(~arriving | (comes & (arriving_word == word) & reading))
    claim.invariant(~reading | (read_word == Mux(arriving, following, DescriptorWord.ENTRY.value)))
    claim.invariant(arriving | ~comes | (word == 0) | (word >= _FIRST_PARAMETER))
    claim.invariant(~reading | dut.loading)
    claim.invariant(~dut.loading | (running & ~state("Clean cache", "Finish")))
    # Which words have been read, as a bit each: what work-groups are made of before the first of them goes out.
    read = Signal(32)
    with m.If(dut.accepted.any()):
        m.d.sync += read.eq(0)
    with m.Elif(dut.lram_read):
        m.d.sync += read.eq(read | (1 << dut.lram_address[:5]))
    needed = Cat(read[int(each)] for each in _ORDER[:6]).all() & Cat(
        (dimensions < n) | read[_GROUPS + n] for n in range(3)).all()
    head = Cat(read_word == int(each) for each in _ORDER[:9]).any()
    claim.invariant(~state("Read descriptor") | (reading & (head | (read_word == _FIRST_SIZE))))
    claim.invariant(~(state("Read descriptor") & arriving)
                    | Cat(arriving_word == int(each) for each in _ORDER[:9]).any())
    for place, each in enumerate(_ORDER[:10]):
        so_far = Cat(read[int(other)] for other in _ORDER[:min(place, 6)]).all()
        counts = Cat((dimensions < n) | read[_GROUPS + n] for n in range(place - 6 if place < 9 else 3)).all()
        claim.invariant(~(state("Read descriptor") & (read_word == int(each))) | (so_far & counts))

    # Each work-group, once.
    taken = Cat(each.valid & each.ready for each in dut.work_groups)
    valid = Cat(each.valid for each in dut.work_groups)
    claim.always((valid == 0) | (valid == 1) | (valid == 2))
    expected, complete, aborted, extra = Signal(data.ArrayLayout(32, 3)), Signal(), Signal(), Signal()
    first = Signal()
    with m.If(dut.accepted.any()):
        m.d.sync += [expected.eq(0), complete.eq(0), aborted.eq(0), extra.eq(0), first.eq(1)]
    with m.Elif(taken.any()):
        last: Value = Const(1)
        for n in range(3):
            is_last = expected[n] == last_ids[n]
            with m.If(last):
                m.d.sync += expected[n].eq(Mux(is_last, 0, expected[n] + 1))
            last = last & is_last
        m.d.sync += [complete.eq(last), extra.eq(aborted), first.eq(0)]
    with m.If(dut.fault & (running | dut.accepted.any())):
        m.d.sync += aborted.eq(1)
    for each in dut.work_groups:
        claim.always(claim.stable(each.valid, each.ready, each.payload))
        claim.always(~each.valid | claim.same(each.payload.ids, expected))
        claim.always(~each.valid | needed)
        claim.always(~(each.valid & first) | claim.same(each.payload.offsets, origins))
        claim.always(~each.valid | (running & ~complete & ~extra))
    claim.always(dut.cancel == (aborted & running))
    claim.always(~dut.finished.any() | complete | aborted)
    ids = claim.inside("dut.group", 192)[:96]
    handing = state("Choose compute unit", "Hand out work-group")
    claim.invariant(~handing | ((ids == expected.as_value()) & ~complete))
    claim.invariant(~state("Hand out work-group") | ~extra)
    claim.invariant(~extra | aborted)
    offsets = claim.inside("dut.group", 192)[96:]
    claim.invariant(~(handing & first) | (offsets == origins.as_value()))
    claim.invariant(~handing | needed)
    parameters = claim.inside("dut.size_word", 32)[28:]
    beyond = arriving & (arriving_word == 31)       # is read, but not kept
    claim.invariant(~reading | beyond | Cat(read_word == int(each) for each in _ORDER).any())
    claim.invariant(~(arriving & (arriving_word >= _FIRST_PARAMETER))
                    | (arriving_word[:4] <= (parameters - 1)[:4]))
    claim.invariant(~running | ~state("Choose compute unit", "Hand out work-group", "Drain") | ~reading | beyond
                    | ~Cat(read_word == int(each) for each in _ORDER[:10]).any())
    claim.invariant(~state("Read descriptor")
                    | ((expected.as_value() == 0) & (ids == 0) & ~complete & ~extra))
    claim.invariant(~running | ~state("Drain", "Clean cache", "Finish") | complete | aborted)

    # The end: all units were idle some time after the last work-group, then the cache was cleaned, once.
    since, quiet, cleaning, cleaned = Signal(range(_SETTLE_CYCLES + 1)), Signal(), Signal(), Signal()
    with m.If(dut.accepted.any() | taken.any()):
        m.d.sync += [since.eq(0), quiet.eq(0), cleaning.eq(0), cleaned.eq(0)]
    with m.Else():
        m.d.sync += [
            since.eq(Mux(since == _SETTLE_CYCLES, since, since + 1)),
            quiet.eq(quiet | ((since == _SETTLE_CYCLES) & dut.idle.all())),
            cleaning.eq(cleaning | (dut.clean_start & running)),
            cleaned.eq(cleaned | (cleaning & dut.clean_done)),
        ]
    claim.always(~dut.finished.any() | quiet)
    wanted = (dut.clean_cache >> slot)[0] | aborted
    claim.always(~dut.finished.any() | (cleaned == wanted))
    claim.always(dut.clear_registers == (dut.finished.any() & aborted))
    claim.always(~dut.clean_start | Mux(running, wanted & quiet & ~cleaning, late))
    settle = claim.inside("dut.settle", range(_SETTLE_CYCLES + 1))
    claim.invariant(since <= _SETTLE_CYCLES)
    claim.invariant(~state("Drain") | (settle >= _SETTLE_CYCLES - since))
    claim.invariant(~running | ~state("Clean cache", "Finish") | quiet)
    claim.invariant(~running | ~dut.clean_start | wanted)
    claim.invariant(~running | ~state("Clean cache") | (wanted & (cleaning != dut.clean_start) & ~cleaned))
    claim.invariant(~state("Finish") | (cleaned == wanted))
    claim.invariant(~running | state("Clean cache", "Finish") | (~cleaning & ~cleaned))
    return claim
