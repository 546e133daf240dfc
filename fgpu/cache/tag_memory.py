"""The tags of all lines, read while a request is on its way to the tag stage."""

from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import Config

from .payloads import Tags, TagWrite, set_bits
from .ways import memory_of_each_way

__all__ = ["TagMemory"]


class TagMemory(wiring.Component):
    """With ``step``, ``tags`` are those of ``next_set`` from the next cycle on, with what is written in this cycle.

    What is written while a set waits for the next step does not show in its tags. The tag stage needs none of that:
    only the request before the one that waits writes, until it goes on, and is compared with it there.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "step": In(1),
            "next_set": In(set_bits(config)),
            "tags": Out(Tags(config)),
            "write": In(TagWrite(config)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        each = memory_of_each_way(m, self._config, "storage", Tags(self._config).elem_shape, self._config.cache_sets)
        for way, memory in enumerate(each):
            read, write = memory.read_port(), memory.write_port()
            m.d.comb += [
                read.addr.eq(self.next_set),
                write.addr.eq(self.write.set), write.data.eq(self.write.tag),
                write.en.eq(self.write.valid & (self.write.way == way)),
            ]
            written = write.en & (self.write.set == self.next_set)
            with m.If(self.step):
                m.d.sync += self.tags[way].eq(Mux(written, write.data, read.data))
        return m
