"""What the cleaner and the tag stage promise together: no dirty line is lost, none is left after cleaning."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.utils import exact_log2

from fgpu.cache.cleaner import Cleaner
from fgpu.cache.line_states import GROUP_LINES, LineState, part_bits
from fgpu.cache.payloads import TagOp, TagRequest, index_bits, set_bits
from fgpu.cache.tag_stage import TagStage
from fgpu.config import Config
from fgpu.gateware.choose import lowest, number_of

from .known_tags import KnownTags, connect_tags, words_of_each_way
from .prover import Claim

STATES = ("SCRUB", "SERVE", "CLOSE", "SCAN", "SETTLE", "EVICT")
"""In the order in which the source names them first, which is how Amaranth numbers them."""


def cleaner_claim(config: Config, tag_stage: type[TagStage] = TagStage, cleaner: type[Cleaner] = Cleaner) -> Claim:
    """For any place in the cache: a dirty line there is evicted, once, before it is replaced and before ``done``.

    What is evicted is the line that was written there. After ``done`` nothing is valid. A request that is served
    without a fill meets the line that it asks for. Whatever the memories hold at first, the place is scrubbed, once,
    before it serves anything. The surroundings: any requests until the cycle in which ``hold`` rises (an arbiter
    without delay, the cleaner first; so it cannot tell what ``came`` is for, who was let in and is still in there),
    early write-backs of any lines, any stalls.
    """
    stage, sweeper, tag_memory = tag_stage(config), cleaner(config), KnownTags(config)
    claim = Claim(stage=stage, cleaner=sweeper, known_tags=tag_memory)
    m: Module = claim.m
    connect_tags(claim, tag_memory, stage)
    ask = claim.free("ask")
    wanted = data.View(TagRequest(config), claim.free("wanted", TagRequest(config).size))
    op = wanted.op.as_value()
    claim.assume((op == TagOp.READ.value) | (op == TagOp.WRITE.value) | ((op == TagOp.ATOMIC.value)
                                                                        if config.atomics else 0))
    claim.drive(sweeper.pending, ask)
    closed = Signal(init=1)
    m.d.sync += closed.eq(sweeper.hold)
    claim.drive(stage.requests.valid, sweeper.requests.valid | (ask & ~closed))
    claim.drive(stage.requests.payload, Mux(sweeper.requests.valid, sweeper.requests.payload.as_value(),
                                            wanted.as_value()))
    claim.drive(sweeper.requests.ready, stage.requests.ready)
    claim.drive(sweeper.idle, stage.idle & claim.free("others_idle"))
    for name in ("group", "invalidate"):
        claim.drive(getattr(stage.sweep, name), getattr(sweeper.sweep, name))
    for name in ("dirty", "uses", "part"):
        claim.drive(getattr(sweeper.sweep, name), getattr(stage.sweep, name))

    # What is at one place, as the data stage sees it.
    place = claim.constant("place", index_bits(config))
    station = stage.stations.payload
    event = Signal()
    atomic = station.atomic if config.atomics else 0
    m.d.comb += event.eq(stage.stations.valid & (station.index == place))
    dirty, valid, line = Signal(), Signal(), Signal(config.line_address_bits)
    brings = station.write | station.fill
    with m.If(event):
        m.d.sync += dirty.eq(station.write | atomic | (dirty & ~station.walk) | (dirty & station.merge))
        with m.If(brings):
            m.d.sync += [line.eq(stage.tag_managers.line), valid.eq(1)]
        with m.Elif(station.evict & ~station.keep):
            m.d.sync += valid.eq(0)
    with m.If(sweeper.done):
        m.d.sync += valid.eq(0)
    victim = stage.tag_managers.allocations.payload.victim
    # Room for two is told a cycle late.
    claim.invariant(claim.inside("stage.room", 1) == claim.past(stage.stations_room))
    claim.assume(~claim.past(stage.stations_room) | stage.stations.ready)
    claim.always(~stage.stations.valid | stage.stations.ready)
    rows = station.rows | station.walk.replicate(config.line_rows)
    claim.always(station.spares == ~station.write)
    claim.always(station.first == number_of(lowest(rows)))
    claim.always(station.single == ((rows & (rows - 1)) == 0))
    replaces = event & brings & ~(valid & (stage.tag_managers.line == line))
    claim.always(~(replaces & dirty) | station.evict)
    claim.always(~(event & station.evict) | (dirty & (victim == line) & stage.tag_managers.allocations.valid
                                             & stage.tag_managers.allocations.ready
                                             & stage.tag_managers.allocations.payload.evict))
    claim.always(~(event & ~station.walk & ~station.write) | (valid & (stage.tag_managers.line == line)))
    claim.always(~(event & station.merge) | (valid & (stage.tag_managers.line == line)))
    scrubbed, scrubs = Signal(), event & station.walk & ~station.fill & ~station.evict
    with m.If(scrubs):
        m.d.sync += scrubbed.eq(1)
    claim.always(~scrubs | ~scrubbed)
    claim.always(~event | scrubs | scrubbed)
    claim.always(~sweeper.done | ~dirty)
    claim.reachable(sweeper.done & claim.past(claim.past(dirty)))

    # How all that relates to the memories and the cleaner's steps.
    at = claim.inside("cleaner.fsm_state", range(len(STATES)))

    def state(*names: str) -> Value:
        return Cat(at == STATES.index(name) for name in names).any()

    low, ways = set_bits(config), config.cache_ways
    groups = config.cache_sets // GROUP_LINES
    words = words_of_each_way(claim, "stage.states", config, 3 * GROUP_LINES, groups)
    tags = words_of_each_way(claim, "known_tags.storage", config, config.line_address_bits - low, config.cache_sets)
    here, tag = Signal(LineState), Signal(config.line_address_bits - low)
    for n, word in enumerate(words):
        with m.If(place[exact_log2(GROUP_LINES):] == n):
            m.d.comb += here.eq(word.word_select(place[:exact_log2(GROUP_LINES)], 3))
    for n, word in enumerate(tags):
        with m.If(place == n):
            m.d.comb += tag.eq(word)
    t1_valid, t1_match = claim.inside("stage.t1_valid", 1), claim.inside("stage.t1_match", 1)
    t1_old, t1_old_tag = claim.inside("stage.t1_old", 3), claim.inside("stage.t1_old_tag", len(tag))
    t1 = data.View(TagRequest(config), claim.inside("stage.t1", TagRequest(config).size))
    t1_op, serves, mine = t1.op.as_value(), Signal(), Signal()
    way = claim.inside("stage.t1_way", exact_log2(ways)) if ways > 1 else Signal(0)
    uses = Signal()     # writes it again and again, until it goes: what was here before is in T1
    with m.If(uses):
        m.d.comb += [here.eq(t1_old), tag.eq(t1_old_tag)]
    m.d.comb += [
        mine.eq(t1_valid & (Cat(t1.line[:low], way) == place)),
        uses.eq(mine & serves & (t1_op != TagOp.RETIRE.value)),
        serves.eq((t1_op == TagOp.READ.value) | (t1_op == TagOp.WRITE.value) | (t1_op == TagOp.RETIRE.value)
                  | ((t1_op == TagOp.ATOMIC.value) if config.atomics else 0)),
    ]
    claim.invariant(at < len(STATES))
    claim.invariant(sweeper.hold == ~state("SERVE"))
    claim.invariant(state("SERVE", "CLOSE") | closed)
    came = claim.inside("cleaner.came", 1)
    claim.invariant(~state("CLOSE") | ~t1_valid | came)
    claim.invariant(~claim.inside("cleaner.quiet", 1) | ~t1_valid)
    claim.invariant(~claim.inside("cleaner.quiet", 1) | ~came)
    for flag, what in (("reads", TagOp.READ), ("writes", TagOp.WRITE), ("cleans", TagOp.CLEAN),
                       ("retires", TagOp.RETIRE)):
        is_op = (t1_op == what.value) | ((t1_op == TagOp.ATOMIC.value) if config.atomics and flag == "reads" else 0)
        claim.invariant(claim.inside(f"stage.t1_{flag}", 1) == (t1_valid & is_op))
    match = (tag == t1.line[low:]) & (here.valid if ways > 1 else 1)
    claim.invariant(~(mine & serves) | (claim.same(t1_old, here) & (t1_match == match)))
    claim.invariant(~mine | (t1_old_tag == tag))
    # No line is in two ways of the set.
    step = claim.inside("cleaner.step", exact_log2(len(words)))
    waiting = claim.inside("cleaner.waiting", GROUP_LINES)
    in_set = t1.line[:low] == place[:low]
    holds = Signal(ways)        # the line of T1
    entries = [(Signal(LineState, name=f"state_of_way{n}"), Signal.like(tag, name=f"tag_of_way{n}"))
               for n in range(ways)]
    for n, (its_state, its_tag) in enumerate(entries):
        for group, word in enumerate(words[n * groups:(n + 1) * groups]):
            with m.If(place[exact_log2(GROUP_LINES):low] == group):
                m.d.comb += its_state.eq(word.word_select(place[:exact_log2(GROUP_LINES)], 3))
        for each, its in enumerate(tags[n * config.cache_sets:(n + 1) * config.cache_sets]):
            with m.If(place[:low] == each):
                m.d.comb += its_tag.eq(its)
        with m.If(t1_valid & serves & (t1_op != TagOp.RETIRE.value) & in_set & (way == n)):
            m.d.comb += [its_state.eq(t1_old), its_tag.eq(t1_old_tag)]
        m.d.comb += holds[n].eq(its_state.valid & (its_tag == t1.line[low:]))
        turn = Cat(Const(n, exact_log2(ways)), place[exact_log2(GROUP_LINES):low])
        scrubbing = state("SCRUB") & ((step < turn) | ((step == turn) & waiting.all()))
        claim.invariant(~state("SCRUB") | scrubbing | ~its_state.as_value().any())
        for other_state, other_tag in entries[:n]:
            claim.invariant(state("SCRUB") | ~(its_state.valid & other_state.valid & (its_tag == other_tag)))
    if ways > 1:
        claim.invariant(~(t1_valid & serves & in_set) | (t1_match == holds.any()))
        claim.invariant(~(t1_valid & serves & in_set & t1_match) | holds.bit_select(way, 1))
    scrub = t1_op == TagOp.SCRUB.value
    claim.invariant(~t1_valid | Mux(state("SCRUB"), scrub, Mux(state("SERVE", "CLOSE"), serves | scrub,
                                                               t1_op == TagOp.CLEAN.value)))
    claim.invariant(~(dirty | valid) | (line == Cat(place[:low], tag)))
    claim.invariant(~dirty | valid)

    lane, its = place[:exact_log2(GROUP_LINES)], Cat(place[low:], place[exact_log2(GROUP_LINES):low])
    here_scrubs = state("SCRUB") & (step == its)
    unknown = state("SCRUB") & ((step < its) | (here_scrubs & waiting.all()))
    claim.invariant(unknown | ~here.dirty | here.valid)
    claim.invariant(~state("SCRUB") | (~dirty & ~valid & waiting.any() & (unknown | ~here.as_value().any())))
    claim.invariant(scrubbed == ~((mine & scrub) | (state("SCRUB") & (step < its))
                                  | (here_scrubs & waiting.bit_select(lane, 1))))
    claim.invariant(~(mine & scrub) | (~dirty & ~valid & ~((state("SCRUB") & (step < its))
                                                          | (here_scrubs & waiting.bit_select(lane, 1)))))
    cleaned = mine & (t1_op == TagOp.CLEAN.value)
    swept = state("SETTLE") | (state("SCAN", "EVICT") & (step > its)) | (state("EVICT") & (step == its))
    waits = state("EVICT") & (step == its) & waiting.bit_select(lane, 1)
    claim.invariant(unknown | swept | ((dirty == here.dirty) & (valid == here.valid) & ~cleaned))
    claim.invariant(~swept | (~here.as_value().any() & (dirty == (cleaned | waits)) & ~(cleaned & waits)))
    claim.invariant(~state("EVICT") | waiting.any())
    claim.invariant(~state("SERVE", "CLOSE", "SETTLE") | (step == 0))
    # Where nothing was used since the last sweep, nothing is valid.
    parts = part_bits(config)
    used = claim.inside("cleaner.used", 1 << parts)
    claim.invariant(unknown | used.bit_select(place[low - parts:low], 1) | ~here.as_value().any())
    claim.invariant(~state("SCRUB", "SETTLE") | (used == 0))
    claim.invariant(~state("SCAN", "EVICT") | (used.any() & (step[len(step) - parts:] == number_of(lowest(used)))))
    return claim
