"""What the dispatcher promises: each work-group of each kernel once, and then the end."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data

from fgpu.address_map import DescriptorWord, ShapeWord
from fgpu.config import Config
from fgpu.dispatcher.dispatcher import _SETTLE_CYCLES, Dispatcher

from .prover import Claim

CONFIG = Config(compute_units=2)
STATES = ("Idle", "Start to clean", "Read descriptor", "Write sizes", "Write local ids", "Choose compute unit",
          "Drain", "Hand out work-group", "Finish", "Clean cache")
"""In the order in which the source names them first, which is how Amaranth numbers them."""
_FIRST_PARAMETER, _LAST_FIXED = DescriptorWord.PARAMETERS.value, DescriptorWord.SIZE.value


def dispatcher_claim(dispatcher: type[Dispatcher] = Dispatcher) -> Claim:
    """The lowest pending kernel runs; its work-groups go out in order, one at a time, each once and to one unit.

    The kernel finishes once, when the last one was taken (or after a fault) and all units were idle, and when the
    cache was cleaned if its bit is set or there was a fault. After a fault at most one more work-group goes out.
    After a fault between kernels the cache is cleaned before the next one. That it finishes at all is not stated.
    """
    dut = dispatcher(CONFIG)
    claim = Claim(dut=dut)
    m: Module = claim.m
    claim.assume(~claim.past(1) | (dut.clean_cache == claim.past(dut.clean_cache)))
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
    claim.invariant(between == (state("Clean cache") & ~running))
    claim.invariant(~state("Start to clean") | running | late)
    claim.always(~dut.finished.any() | (running & (dut.finished == Const(1, len(dut.finished)) << slot)))
    claim.always(dut.running == Mux(running, Const(1, len(dut.running)) << slot, 0))
    claim.always(~running | (dut.slot == slot))
    claim.invariant(running == claim.inside("dut.active", 1))
    claim.invariant(Mux(running, ~state("Idle"), state("Idle", "Start to clean", "Clean cache")))
    claim.invariant(at < len(STATES))

    # What the descriptor says, word by word a cycle after it is asked for.
    word = claim.past(dut.lram_address[:5])
    comes = claim.past(dut.lram_read)
    shape = Signal(ShapeWord)
    last_ids = Signal(data.ArrayLayout(32, 3))
    with m.If(comes & (word == DescriptorWord.SHAPE.value)):
        m.d.sync += shape.eq(dut.lram_data)
    for n in range(3):
        with m.If(comes & (word == DescriptorWord.WORK_GROUPS.value + n)):
            m.d.sync += last_ids[n].eq(Mux(n <= shape.dimensions_minus_1, dut.lram_data, 0))
        claim.invariant(claim.inside(f"dut.last_id{n}", 32) == last_ids[n])
    claim.invariant(claim.inside("dut.shape", 32) == shape.as_value())
    arriving, arriving_word = claim.inside("dut.arriving", 1), claim.inside("dut.arriving_word", 5)
    read_word = claim.inside("dut.read_word", 5)
    following = Signal(5)
    m.d.comb += following.eq(Mux(arriving_word == _LAST_FIXED, _FIRST_PARAMETER, arriving_word + 1))
    claim.invariant(~arriving | (comes & (arriving_word == word) & state("Read descriptor")))
    claim.invariant(~state("Read descriptor") | (read_word == Mux(arriving, following, 0)))
    claim.invariant(arriving | ~comes | (word == 0) | (word >= _FIRST_PARAMETER))

    # Each work-group, once.
    taken = Cat(each.valid & each.ready for each in dut.work_groups)
    valid = Cat(each.valid for each in dut.work_groups)
    claim.always((valid == 0) | (valid == 1) | (valid == 2))
    expected, complete, aborted, extra = Signal(data.ArrayLayout(32, 3)), Signal(), Signal(), Signal()
    with m.If(dut.accepted.any()):
        m.d.sync += [expected.eq(0), complete.eq(0), aborted.eq(0), extra.eq(0)]
    with m.Elif(taken.any()):
        last: Value = Const(1)
        for n in range(3):
            is_last = expected[n] == last_ids[n]
            with m.If(last):
                m.d.sync += expected[n].eq(Mux(is_last, 0, expected[n] + 1))
            last = last & is_last
        m.d.sync += [complete.eq(last), extra.eq(aborted)]
    with m.If(dut.fault & (running | dut.accepted.any())):
        m.d.sync += aborted.eq(1)
    for each in dut.work_groups:
        claim.always(claim.stable(each.valid, each.ready, each.payload))
        claim.always(~each.valid | claim.same(each.payload.ids, expected))
        claim.always(~each.valid | (running & ~complete & ~extra))
    claim.always(dut.cancel == (aborted & running))
    claim.always(~dut.finished.any() | complete | aborted)
    ids = claim.inside("dut.group", 192)[:96]
    handing = state("Choose compute unit", "Hand out work-group")
    claim.invariant(~handing | ((ids == expected.as_value()) & ~complete))
    claim.invariant(~state("Hand out work-group") | ~extra)
    claim.invariant(~extra | aborted)
    claim.invariant(~state("Read descriptor", "Write sizes", "Write local ids")
                    | ((expected.as_value() == 0) & ~complete & ~extra))
    claim.invariant(~running | ~state("Drain", "Start to clean", "Clean cache", "Finish") | complete | aborted)

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
    claim.always(dut.clear_registers == (dut.clean_start & running & aborted))
    claim.always(~dut.clean_start | Mux(running, wanted & quiet & ~cleaning, late))
    settle = claim.inside("dut.settle", range(_SETTLE_CYCLES + 1))
    claim.invariant(since <= _SETTLE_CYCLES)
    claim.invariant(~state("Drain") | (settle >= _SETTLE_CYCLES - since))
    claim.invariant(~running | ~state("Start to clean", "Clean cache", "Finish") | quiet)
    claim.invariant(~running | ~state("Start to clean") | wanted)
    claim.invariant(~running | ~state("Clean cache") | (wanted & cleaning & ~cleaned))
    claim.invariant(~state("Finish") | (cleaned == wanted))
    claim.invariant(~running | state("Clean cache", "Finish") | (~cleaning & ~cleaned))
    return claim
