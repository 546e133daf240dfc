"""Store data of lanes to the words of a cache row (section 3.4.4)."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.config import PE_COUNT, Config
from fgpu.gateware.choose import choose
from fgpu.interfaces.memory_bus import Row

from .coalescer import RowAccess, parts_of_word
from .control_word import Width
from .register_file import Words

__all__ = ["Scatter"]


class Scatter(wiring.Component):
    """Places the store data of a row access into the row. ``strobe``, the bytes that are written, is combinational;
    the ``row`` is there a cycle later: which lane a part of it comes from takes one, and bringing it there another.

    The operand of an atomic operation goes to word 0, the expected word to word 1, and ``strobe`` says which word
    they are for.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "access": In(RowAccess(config)),
            "store_data": In(Words),
            "strobe": Out(config.row_words * 4),
            "row": Out(Row(config)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        access: Any = self.access
        store_data: Any = self.store_data
        parts = parts_of_word(config)
        width = 32 // parts
        values: Any = Signal(data.ArrayLayout(data.ArrayLayout(width, parts), PE_COUNT))
        sources: Any = Signal(data.ArrayLayout(data.ArrayLayout(range(PE_COUNT), parts), config.row_words))
        for lane in range(PE_COUNT):
            word = store_data[lane]
            m.d.sync += values[lane].eq(word)
            if parts > 1:
                with m.Switch(access.width):
                    with m.Case(Width.BYTE):
                        m.d.sync += values[lane].eq(word[:8].replicate(4))
                    with m.Case(Width.HALF):
                        m.d.sync += values[lane].eq(word[:16].replicate(2))

        for position in range(config.row_words):
            here = []
            for lane in range(PE_COUNT):
                moved = access.atomic if config.atomics and position == 0 else 0
                here.append(((access.words[lane] == position) | moved).replicate(parts) & access.writes[lane])
            for part in range(parts):
                hit = Cat(lanes[part] for lanes in here).any()
                first = position * 4 + part * width // 8
                m.d.sync += sources[position][part].eq(
                    Cat(Cat(here[lane][part] for lane in range(PE_COUNT) if lane >> bit & 1).any()
                        for bit in range(exact_log2(PE_COUNT))))
                m.d.comb += [
                    self.strobe[first:first + width // 8].eq(hit.replicate(width // 8)),
                    self.row[position][part * width:(part + 1) * width].eq(
                        choose([values[lane][part] for lane in range(PE_COUNT)], sources[position][part])),
                ]
        if config.atomics:
            of_word_0 = Cat(access.lanes[lane] & (access.words[lane] == 0) for lane in range(PE_COUNT)).any()
            with m.If(access.atomic & ~of_word_0):
                m.d.comb += self.strobe[:4].eq(0)
        if "cmpxchg" in config.atomics:
            atomic, expected = Signal(), Signal(32)
            m.d.sync += [atomic.eq(access.atomic), expected.eq(access.expected)]
            with m.If(atomic):
                m.d.comb += self.row[1].eq(expected)
        return m
