"""Tags as the tag stage may expect them of the tag memory, which is proven by itself."""

from amaranth.hdl import Module, ShapeLike, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.cache.payloads import Tags, TagWrite, set_bits
from fgpu.cache.tag_stage import TagStage
from fgpu.cache.ways import memory_of_each_way
from fgpu.config import Config

from .prover import Claim

__all__ = ["KnownTags", "connect_tags", "words_of_each_way"]


class KnownTags(wiring.Component):
    """The tags of ``set`` before what is written in this cycle, in a memory ``storage`` for each way."""

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({"set": In(set_bits(config)), "tags": Out(Tags(config)), "write": In(TagWrite(config))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        tag = Tags(self._config).elem_shape
        for way, memory in enumerate(memory_of_each_way(m, self._config, "storage", tag, self._config.cache_sets)):
            read, write = memory.read_port(), memory.write_port()
            m.d.comb += [
                read.addr.eq(self.set), self.tags[way].eq(read.data),
                write.addr.eq(self.write.set), write.data.eq(self.write.tag),
                write.en.eq(self.write.valid & (self.write.way == way)),
            ]
        return m


def words_of_each_way(claim: Claim, path: str, config: Config, shape: ShapeLike, depth: int) -> list[Signal]:
    """What is in the memories of ``memory_of_each_way``, way after way."""
    return [claim.inside(f"{path}{way if config.cache_ways > 1 else ''}[{n}]", shape)
            for way in range(config.cache_ways) for n in range(depth)]


def connect_tags(claim: Claim, tags: KnownTags, stage: TagStage) -> None:
    """Give the stage its tags; what the tag memory expects of it is claimed."""
    claim.drive(tags.set, stage.requests.payload.line[:len(tags.set)])
    claim.drive(stage.tags, tags.tags.as_value())
    claim.drive(tags.write, stage.tag_write.as_value())
    waits = stage.requests.valid & ~stage.requests.ready
    claim.always(~claim.past(waits & stage.tag_write.valid)
                 | claim.same(stage.tag_write, claim.past(stage.tag_write)))
