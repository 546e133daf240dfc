"""What the tag stage and the tag managers promise together: one owner for each line."""

from amaranth.hdl import Array, Cat, Module, Signal, Value
from amaranth.lib.wiring import Out
from amaranth.utils import exact_log2

from fgpu.cache.line_states import GROUP_LINES, LineState
from fgpu.cache.payloads import TagOp, index_bits
from fgpu.cache.tag_manager import TagManagers
from fgpu.cache.tag_stage import TagStage
from fgpu.config import Config

from .known_tags import KnownTags, connect_tags, words_of_each_way
from .prover import Claim
from .tag_manager_claim import follow_entries


def ownership_claim(config: Config, tag_stage: type[TagStage] = TagStage) -> Claim:
    """While a line is on its way to memory, it is neither read from memory nor written back a second time.

    The surroundings: any reads, writes and early write-backs, between two sweeps of the cleaner.
    """
    stage, managers, tag_memory = tag_stage(config), TagManagers(config), KnownTags(config)
    claim = Claim(stage=stage, managers=managers, known_tags=tag_memory)
    m: Module = claim.m
    connect_tags(claim, tag_memory, stage)
    signature = stage.tag_managers.signature
    for (_, member, near), (_, _, far) in zip(
            signature.flatten(stage.tag_managers), signature.flatten(managers.tag_stage), strict=True):
        claim.drive(*((far, near) if member.flow is Out else (near, far)))
    claim.assume(~stage.sweep.invalidate)
    op = stage.requests.payload.op.as_value()
    claim.assume((op == TagOp.READ.value) | (op == TagOp.WRITE.value) | (op == TagOp.RETIRE.value))

    entries = follow_entries(claim, managers, "managers", config)
    line = claim.constant("line", config.line_address_bits)
    leaving = Signal()
    m.d.comb += leaving.eq(Cat(entries.evicts[n] & (victim == line)
                               for n, victim in enumerate(entries.victims)).any())
    claim.always(~(stage.fills.valid & (stage.fills.payload == line)) | ~leaving)
    allocation = stage.tag_managers.allocations.payload
    evicted = entries.allocate & allocation.evict & (allocation.victim == line)
    claim.always(~evicted | ~leaving)
    claim.always(~stage.fills.valid | entries.allocate)

    claim.reachable(leaving & stage.stall.victim)
    claim.reachable(claim.past(leaving & stage.stall.victim) & stage.fills.valid & ~leaving)

    # There is one way: where a victim was is its set.
    low = index_bits(config)
    for n in range(config.slice_tag_managers, len(entries.victims)):
        claim.invariant(~entries.evicts[n] | (entries.places[n] == entries.victims[n][:low]))

    # A line that is here does not leave, but by an early write-back, and the tag stage knows what is here.
    lane_bits = exact_log2(GROUP_LINES)
    tag_bits = config.line_address_bits - low
    tags = Array(words_of_each_way(claim, "known_tags.storage", config, tag_bits, config.cache_sets))
    groups = Array(words_of_each_way(
        claim, "stage.states", config, 3 * GROUP_LINES, config.cache_sets // GROUP_LINES))

    t1_valid, t1_match = claim.inside("stage.t1_valid", 1), claim.inside("stage.t1_match", 1)
    t1_old, t1_old_tag = claim.inside("stage.t1_old", 3), claim.inside("stage.t1_old_tag", tag_bits)
    t1 = claim.inside("stage.t1", len(Value.cast(stage.requests.payload)))
    t1_op = t1[:len(op)]

    def place(index: Value, name: str) -> tuple[Signal, Signal]:
        """The state and the tag. T1 writes them again and again, until it goes: there is what was here before."""
        found, tag = Signal(LineState, name=f"{name}_state"), Signal(tag_bits, name=f"{name}_tag")
        m.d.comb += [
            found.eq(Array(groups)[index[lane_bits:]].word_select(index[:lane_bits], 3)), tag.eq(tags[index]),
        ]
        with m.If(t1_valid & (t1_op != TagOp.RETIRE.value) & (stage.tag_managers.line[:low] == index)):
            m.d.comb += [found.eq(t1_old), tag.eq(t1_old_tag)]
        return found, tag

    here, replaced = Signal(), Signal()
    here_state, here_tag = place(line[:low], "here")
    m.d.comb += [
        here.eq(here_state.valid & (here_tag == line[low:])),
        replaced.eq(Cat(entries.evicts[n] & (entries.victims[n] == line)
                        for n in range(config.slice_tag_managers)).any()),
    ]
    # A complete line stays while it is written back early.
    claim.invariant(~here | ~replaced)
    claim.invariant(~here | ~leaving | here_state.populated)
    claim.invariant(~t1_valid | (t1_op == TagOp.READ.value) | (t1_op == TagOp.WRITE.value)
                    | (t1_op == TagOp.RETIRE.value))
    for flag, what in (("reads", TagOp.READ), ("writes", TagOp.WRITE), ("cleans", TagOp.CLEAN),
                       ("retires", TagOp.RETIRE)):
        claim.invariant(claim.inside(f"stage.t1_{flag}", 1) == (t1_valid & (t1_op == what.value)))
    known, known_tag = place(stage.tag_managers.line[:low], "known")
    claim.invariant(~t1_valid | claim.same(t1_old, known))
    claim.invariant(~t1_valid | (t1_old_tag == known_tag))
    claim.invariant(~t1_valid | (t1_match == (t1_old_tag == stage.tag_managers.line[low:])))
    return claim
