"""The write pipeline: takes dirty lines row by row and gives them to memory beat by beat."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.config import Config
from fgpu.gateware.choose import encode_lowest
from fgpu.gateware.lut_ram import LutRam

from ..gateware.queue import Queue
from .axi_master import BeatSpan, WriteBeat
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


class _Burst(data.StructLayout):
    """The beats of a line that leave, and whether it is only one."""

    def __init__(self, config: Config) -> None:
        super().__init__({"span": BeatSpan(config), "single": 1})


class WritePipeline(wiring.Component):
    """A FIFO of dirty lines between the data stage and the AXI master.

    Of a line only the beats from the first to the last with a dirty byte leave; ``span`` names them in the cycle
    after the last row was pushed. They leave when all of them are here, so that a started burst never waits for the
    data stage; the first is valid 3 cycles after the last row was pushed, the others follow without a gap, and so
    does the next line. An entry of the memory is a row or a beat, whichever is wider. (Dissertation, section 3.5.4.)
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._wide = max(config.row_words, config.axi_words)
        # Four lines, as long as they fit the smallest LUT RAM (32 entries).
        self._lines = min(4, max(2, 32 * self._wide // config.line_words))
        super().__init__({
            "input": In(EvictedRows(config)),
            "span": Out(BeatSpan(config)),
            "beats": Out(stream.Signature(WriteBeat(config))),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        beats_in_entry = exact_log2(self._wide // config.axi_words)
        rows_in_entry = exact_log2(self._wide // config.row_words)

        m.submodules.storage = storage = LutRam(data.ArrayLayout(MarkedRow(config), 1 << rows_in_entry),
                                                self._lines * config.line_words // self._wide)
        write, read = storage.write_port(granularity=1), storage.read_port()

        row = Signal(exact_log2(self._lines * config.line_rows))
        row_in_line = row[:exact_log2(config.line_rows)]
        # A cycle later: which bytes are dirty is seen in two steps.
        pushed = Signal()
        pushed_row = Signal.like(row_in_line)
        dirty = Signal(config.row_words)
        m.d.sync += [
            pushed.eq(self.input.push), pushed_row.eq(row_in_line),
            dirty.eq(Cat(word.dirty.any() for word in self.input.row)),
        ]
        row_last = pushed_row.all()
        m.d.comb += [
            write.addr.eq(row[rows_in_entry:]),
            write.en.eq(self.input.push << row[:rows_in_entry]),
        ]
        for part in range(1 << rows_in_entry):
            m.d.comb += write.data[part].eq(self.input.row)
        with m.If(self.input.push):
            m.d.sync += row.eq(row + 1)

        m.submodules.spans = spans = Queue(_Burst(config), depth=self._lines, registered=True)
        m.d.comb += [
            self.span.eq(self._span(m, pushed, dirty, pushed_row)),
            spans.input.valid.eq(pushed & row_last),
            spans.input.payload.span.eq(self.span),
            spans.input.payload.single.eq(self.span.first == self.span.last),
        ]

        line = Signal(exact_log2(self._lines))
        begun = Signal()
        next_beat = Signal(exact_log2(config.burst_beats))
        beat = Signal.like(next_beat)
        burst = spans.output.payload
        next_last = Signal()        # the next beat is the last
        beat_last = Mux(begun, next_last, burst.single)
        words = Signal(data.ArrayLayout(MarkedWord, config.axi_words))
        reserved = Signal(range(self._lines + 1))
        take = Signal()
        m.d.comb += [
            beat.eq(Mux(begun, next_beat, burst.span.first)),
            read.addr.eq(Cat(beat, line)[beats_in_entry:]),
            words.eq(read.data.as_value().word_select(beat[:beats_in_entry], len(words.as_value()))),
            take.eq(spans.output.valid & (~self.beats.valid | self.beats.ready)),
            spans.output.ready.eq(take & beat_last),
            self.input.room.eq(reserved != self._lines),
        ]
        m.d.sync += reserved.eq(reserved + self.input.reserve - (take & beat_last))
        with m.If(take):
            m.d.sync += [
                begun.eq(~beat_last),
                next_beat.eq(beat + 1),
                next_last.eq(beat + 1 == burst.span.last),
                line.eq(line + beat_last),
                self.beats.valid.eq(1),
                self.beats.payload.data.eq(Cat(word.word for word in words)),
                self.beats.payload.strobe.eq(Cat(word.dirty for word in words)),
                self.beats.payload.last.eq(beat_last),
            ]
        with m.Elif(self.beats.ready):
            m.d.sync += self.beats.valid.eq(0)
        return m

    def _span(self, m: Module, pushed: Value, dirty: Value, row: Value) -> Value:
        """The dirty beats of the line until the ``row`` that was pushed; of a line without any, the first beat."""
        config = self._config
        so_far = Signal(BeatSpan(config))
        some = Signal()
        beats = Cat(dirty.word_select(n, config.axi_words).any()
                    for n in range(max(1, config.row_words // config.axi_words)))
        lowest, highest = Signal(exact_log2(len(beats))), Signal(exact_log2(len(beats)))
        for n in range(len(beats)):
            with m.If(beats[n]):
                m.d.comb += highest.eq(n)
        encode_lowest(m, lowest, beats)
        here = row if config.row_words >= config.axi_words else row[exact_log2(config.axi_words // config.row_words):]
        span = Signal(BeatSpan(config))
        m.d.comb += [
            span.first.eq(Mux(some | ~dirty.any(), so_far.first, Cat(lowest, here))),
            span.last.eq(Mux(dirty.any(), Cat(highest, here), so_far.last)),
        ]
        with m.If(pushed):
            m.d.sync += [some.eq((some | dirty.any()) & ~row.all()), so_far.eq(Mux(row.all(), 0, span.as_value()))]
        return span
