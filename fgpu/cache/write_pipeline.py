"""The write pipeline: takes dirty lines row by row and gives them to memory beat by beat."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.axi.master import WriteBeat
from fgpu.config import Config

from .payloads import MarkedRow, MarkedWord

__all__ = ["EvictedRows", "WritePipeline"]


class EvictedRows(wiring.Signature):
    """The data stage's way into the write pipeline.

    ``room`` tells that a whole line fits; ``reserve`` takes that room. Afterwards the rows of the line follow,
    lowest first, each with ``push``, whenever the data stage has them.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "room": In(1),
            "reserve": Out(1),
            "push": Out(1),
            "row": Out(MarkedRow(config)),
        })


class WritePipeline(wiring.Component):
    """A FIFO of dirty lines between the data stage and the AXI master.

    A line leaves when all of it is here, so that a started burst never waits for the data stage; its first
    beat is valid 2 cycles after its last row was pushed, the others follow without a gap, and so does the
    next line. A word of the memory is a row or a beat, whichever is wider. (Dissertation, section 3.5.4.)
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._wide = max(config.row_words, config.axi_words)
        # Four lines, as long as they fit the smallest LUT RAM (32 entries).
        self._lines = min(4, max(2, 32 * self._wide // config.line_words))
        super().__init__({"input": In(EvictedRows(config)), "beats": Out(stream.Signature(WriteBeat(config)))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        beats_in_word = exact_log2(self._wide // config.axi_words)
        rows_in_word = exact_log2(self._wide // config.row_words)

        m.submodules.storage = storage = Memory(
            shape=data.ArrayLayout(MarkedRow(config), 1 << rows_in_word),
            depth=self._lines * config.line_words // self._wide, init=[], attrs={"ram_style": "distributed"})
        write, read = storage.write_port(granularity=1), storage.read_port(domain="comb")

        row = Signal(exact_log2(self._lines * config.line_rows))
        row_last = row[:exact_log2(config.line_rows)].all()
        m.d.comb += [
            write.addr.eq(row[rows_in_word:]),
            write.en.eq(self.input.push << row[:rows_in_word]),
        ]
        for lane in range(1 << rows_in_word):
            m.d.comb += write.data[lane].eq(self.input.row)
        with m.If(self.input.push):
            m.d.sync += row.eq(row + 1)

        beat = Signal(exact_log2(self._lines * config.burst_beats))
        beat_last = beat[:exact_log2(config.burst_beats)].all()
        words = Signal(data.ArrayLayout(MarkedWord, config.axi_words))
        reserved = Signal(range(self._lines + 1))
        complete = Signal(range(self._lines + 1))
        take = Signal()
        m.d.comb += [
            read.addr.eq(beat[beats_in_word:]),
            words.eq(read.data.as_value().word_select(beat[:beats_in_word], len(words.as_value()))),
            take.eq((complete != 0) & (~self.beats.valid | self.beats.ready)),
            self.input.room.eq(reserved != self._lines),
        ]
        m.d.sync += [
            reserved.eq(reserved + self.input.reserve - (take & beat_last)),
            complete.eq(complete + (self.input.push & row_last) - (take & beat_last)),
        ]
        with m.If(take):
            m.d.sync += [
                beat.eq(beat + 1),
                self.beats.valid.eq(1),
                self.beats.payload.data.eq(Cat(word.word for word in words)),
                self.beats.payload.strobe.eq(Cat(word.dirty for word in words)),
                self.beats.payload.last.eq(beat_last),
            ]
        with m.Elif(self.beats.ready):
            m.d.sync += self.beats.valid.eq(0)
        return m
