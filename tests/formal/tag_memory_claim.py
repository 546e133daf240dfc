"""What the tag memory promises the tag stage."""

from amaranth.hdl import Array, Module, Signal

from fgpu.cache.payloads import Tags, index_bits, set_bits
from fgpu.cache.tag_memory import TagMemory
from fgpu.config import Config

from .known_tags import words_of_each_way
from .prover import Claim


def tag_memory_claim(config: Config, tag_memory: type[TagMemory] = TagMemory) -> Claim:
    """For any entry: its tag shows as it was last written, or it is written in this cycle.

    The surroundings: what is written to a set that waits for the next step is written again until that comes.
    """
    dut = tag_memory(config)
    claim = Claim(dut=dut)
    m: Module = claim.m
    low = set_bits(config)
    entry = claim.constant("entry", index_bits(config))
    its_set, its_way = entry[:low], entry[low:]
    write = dut.write
    last, known, shows, written = Signal(Tags(config).elem_shape), Signal(), Signal(), Signal()
    m.d.comb += written.eq(write.valid & (write.set == its_set) & (write.way == its_way))
    with m.If(written):
        m.d.sync += [last.eq(write.tag), known.eq(1)]
    with m.If(dut.step):
        m.d.sync += shows.eq(dut.next_set == its_set)
    again = claim.past(shows & written & ~dut.step)
    claim.assume(~again | (written & claim.same(write.tag, claim.past(write.tag))))

    tag = Array(dut.tags[way] for way in range(config.cache_ways))[its_way]
    claim.always(~(shows & known) | written | (tag == last))
    words = words_of_each_way(claim, "dut.storage", config, len(last), config.cache_sets)
    claim.invariant(~known | (Array(words)[entry] == last))
    return claim
