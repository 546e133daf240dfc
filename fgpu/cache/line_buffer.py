"""The line buffer: collects the beats of read bursts into rows."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.config import Config
from fgpu.gateware.lut_ram import LutRam
from fgpu.interfaces.memory_bus import Row

from .axi_master import ReadBeat, turn_bits
from .payloads import row_bits

__all__ = ["BufferedRow", "LineBuffer"]


class BufferedRow(wiring.Signature):
    """The data stage's view of the line buffer: ``row`` of the oldest line, in the same cycle; with ``last`` that is
    done, and the next cycle is about the next line.

    ``arrived`` tells that the row is complete, if in the cycle before the line was the same, and so was ``number``
    or, with ``step`` then, one less.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "number": Out(row_bits(config)),
            "last": Out(1),
            "step": Out(1),
            "arrived": In(1),
            "row": In(Row(config)),
        })


class LineBuffer(wiring.Component):
    """As many lines as there are tag managers, a ring: they are read in the order in which they were asked for.
    Beats of different lines may interleave; they tell their line's ``turn``.

    A row can be read in the cycle after its last beat. The first beat of a line may come 2 cycles after the ``last``
    of the line whose place it takes. An entry of the memory is a row or a beat, whichever is wider.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "beats": In(stream.Signature(ReadBeat(config), always_ready=True)),
            "port": In(BufferedRow(config)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        wide = max(config.row_words, config.axi_words)
        beats_in_entry = exact_log2(wide // config.axi_words)
        rows_in_entry = exact_log2(wide // config.row_words)
        beat_bits = exact_log2(config.burst_beats)

        m.submodules.storage = storage = LutRam(data.ArrayLayout(config.axi_data_width, 1 << beats_in_entry),
                                                config.slice_tag_managers * config.line_words // wide)
        write, read = storage.write_port(granularity=1), storage.read_port()

        # How many beats of each line are here; the top bit tells that the line is complete.
        oldest = Signal(turn_bits(config))
        done, ended = Signal(turn_bits(config)), Signal()      # a cycle late: the last row is known late
        m.d.sync += [done.eq(oldest), ended.eq(self.port.last)]
        counts = Array(Signal(beat_bits + 1, name=f"beats_{n}") for n in range(config.slice_tag_managers))
        beat = self.beats.payload
        number = Signal(beat_bits)
        m.d.comb += [
            number.eq(counts[beat.turn]),
            write.addr.eq(Cat(number[beats_in_entry:], beat.turn)),
            write.en.eq(self.beats.valid << number[:beats_in_entry]),
        ]
        for part in range(1 << beats_in_entry):
            m.d.comb += write.data[part].eq(beat.data)
        for line, count in enumerate(counts):
            with m.If(ended & (done == line)):
                m.d.sync += count.eq(0)
            with m.Elif(self.beats.valid & (beat.turn == line)):
                m.d.sync += count.eq(count + 1)

        # Whether this row and the next one will be here, so that nothing is compared in the cycle that asks.
        port = self.port
        count = Signal(beat_bits + 1)
        here, next_here, stepped = Signal(), Signal(), Signal()
        comes = self.beats.valid & (beat.turn == oldest)
        completes = comes & (count[:beats_in_entry] == (1 << beats_in_entry) - 1)
        entries = count >> beats_in_entry
        m.d.comb += count.eq(counts[oldest])
        for known, row in ((here, port.number), (next_here, port.number + 1)):
            entry = row >> rows_in_entry
            m.d.sync += known.eq((entries > entry) | (completes & (entries == entry)))
        m.d.sync += stepped.eq(port.step)
        with m.If(port.last):       # known late: an enable of registers
            m.d.sync += oldest.eq(oldest + 1)
        m.d.comb += [
            read.addr.eq(Cat(port.number[rows_in_entry:], oldest)),
            port.row.eq(read.data.as_value().word_select(port.number[:rows_in_entry], config.row_words * 32)),
            port.arrived.eq(Mux(stepped, next_here, here)),
        ]
        return m
