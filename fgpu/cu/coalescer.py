"""Gathers the accesses of a wavefront into wide requests (first half of section 3.4.4's memory controller).

The reference sends each work-item's access by itself. Here the work-items of a phase that touch one cache
row travel together, and rows of one cache line that a load touches in ascending order share one request.
"""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.cache.bus import AtomicOp, Row
from fgpu.choose import choose
from fgpu.config import PE_COUNT, Config

from .control_word import Width
from .register_file import Words
from .vector import PhaseAccess

__all__ = ["Coalescer", "RowAccess"]


class RowAccess(data.StructLayout):
    """Accesses of one phase to one cache row.

    ``new_row`` is 0 if the previous access of the same load used the same row. ``words`` are the lanes' word
    positions in the row. An atomic ``operation`` is a ``load`` of one lane. The last access of an instruction,
    flagged ``last``, may have no lanes.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "load": 1,
            **({"atomic": 1, "operation": AtomicOp} if config.atomics else {}),
            **({"expected": 32} if "cmpxchg" in config.atomics else {}),
            "new_row": 1,
            "line": config.line_address_bits,
            "row_index": exact_log2(config.line_rows),
            "wavefront": 3,
            "phase": 3,
            "rd": 5,
            "last": 1,
            "lanes": PE_COUNT,
            "words": data.ArrayLayout(exact_log2(config.row_words), PE_COUNT),
            "byte_offsets": data.ArrayLayout(2, PE_COUNT),
            "width": Width,
            "store_data": Words,
        })


class Coalescer(wiring.Component):
    """Splits a phase into accesses of one row each, lowest lane first; one a cycle.

    Latency 2 cycles. All lanes of a phase that are in the row of the lowest remaining lane leave with it; atomic
    operations leave one by one.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "phases": In(stream.Signature(PhaseAccess(config))),
            "accesses": Out(stream.Signature(RowAccess(config))),
            "idle": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        row_words = self._config.row_words
        offset_bits = exact_log2(row_words) + 2

        # Stage 1: a phase with its remaining lanes, and which lanes share a row.
        phase = Signal(PhaseAccess(self._config))
        busy = Signal()
        remaining = Signal(PE_COUNT)
        same_row = [Signal(PE_COUNT, name=f"same_row_{lane}") for lane in range(PE_COUNT)]
        new: Any = self.phases.payload
        rows = [new.addresses[lane][offset_bits:] for lane in range(PE_COUNT)]

        # Stage 2: one row of it.
        leader = Signal(range(PE_COUNT))
        for lane in reversed(range(PE_COUNT)):
            with m.If(remaining[lane]):
                m.d.comb += leader.eq(lane)
        lanes = Signal(PE_COUNT)
        left = Signal(PE_COUNT)
        lanes_of_row = choose(same_row, leader)
        m.d.comb += [lanes.eq(lanes_of_row & remaining), left.eq(remaining & ~lanes_of_row)]
        row = Signal(32 - offset_bits)
        addresses: Any = phase.addresses
        m.d.comb += row.eq(choose([addresses[lane][offset_bits:] for lane in range(PE_COUNT)], leader))
        atomic = phase.atomic if self._config.atomics else Const(0)
        fresh = Signal(init=1)
        previous_row = Signal(32 - offset_bits)

        out: Any = self.accesses
        advance = Signal()
        m.d.comb += advance.eq(busy & (~out.valid | out.ready))
        m.d.comb += self.phases.ready.eq(~busy | (advance & (left == 0)))
        m.d.comb += self.idle.eq(~busy & ~out.valid)
        with m.If(out.ready):
            m.d.sync += out.valid.eq(0)
        with m.If(advance):
            last = Signal()
            m.d.comb += last.eq(phase.last & (left == 0))
            m.d.sync += [
                remaining.eq(left),
                busy.eq(left != 0),
                out.valid.eq(lanes.any() | last),
                out.payload.load.eq(phase.load),
                out.payload.new_row.eq(lanes.any() & (fresh | (row != previous_row) | atomic)),
                out.payload.line.eq(row[exact_log2(self._config.line_rows):]),
                out.payload.row_index.eq(row[:exact_log2(self._config.line_rows)]),
                out.payload.wavefront.eq(phase.wavefront),
                out.payload.phase.eq(phase.phase),
                out.payload.rd.eq(phase.rd),
                out.payload.width.eq(phase.width),
                out.payload.last.eq(last),
                out.payload.lanes.eq(lanes),
                out.payload.store_data.eq(phase.store_data),
            ]
            if self._config.atomics:
                m.d.sync += [out.payload.atomic.eq(atomic), out.payload.operation.eq(phase.operation)]
            if "cmpxchg" in self._config.atomics:
                m.d.sync += out.payload.expected.eq(choose(list(phase.expected), leader))
            # Rows are compared within one load only, so that a load after a store sees memory anew.
            with m.If(lanes.any()):
                m.d.sync += [previous_row.eq(row), fresh.eq(last)]
            with m.Elif(last):
                m.d.sync += fresh.eq(1)
            for lane in range(PE_COUNT):
                m.d.sync += [
                    out.payload.words[lane].eq(addresses[lane][2:offset_bits]),
                    out.payload.byte_offsets[lane].eq(addresses[lane][:2]),
                ]
        with m.If(self.phases.ready & self.phases.valid):
            m.d.sync += [phase.eq(new), remaining.eq(new.lanes), busy.eq(new.lanes.any() | new.last)]
            for lane in range(PE_COUNT):
                m.d.sync += same_row[lane].eq(Cat(rows[lane] == other for other in rows))
                if self._config.atomics:
                    with m.If(new.atomic):
                        m.d.sync += same_row[lane].eq(1 << lane)
        return m


class Scatter(wiring.Component):
    """Places the store data of a row access into the row; combinational.

    Where several work-items write one byte, the highest lane wins. The operand of an atomic operation goes to
    word 0, the expected word to word 1, and ``strobe`` says which word they are for.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "access": In(RowAccess(config)),
            "row": Out(Row(config)),
            "strobe": Out(config.row_words * 4),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        access: Any = self.access
        # Without narrow stores all bytes of a word come from one lane.
        parts = range(4 if self._config.sub_integer_stores else 1)
        width = 32 // len(parts)
        values, wanted = [], []
        for lane in range(PE_COUNT):
            value, strobe = Signal(32, name=f"value{lane}"), Signal(len(parts), name=f"strobe{lane}")
            word, offset = access.store_data[lane], access.byte_offsets[lane]
            m.d.comb += [value.eq(word), strobe.eq(-1)]
            if len(parts) > 1:
                with m.Switch(access.width):
                    with m.Case(Width.BYTE):
                        m.d.comb += [strobe.eq(1 << offset), value.eq(word[:8].replicate(4))]
                    with m.Case(Width.HALF):
                        m.d.comb += [strobe.eq(Mux(offset[1], 0b1100, 0b0011)), value.eq(word[:16].replicate(2))]
            values.append(value)
            wanted.append(strobe & access.lanes[lane].replicate(len(parts)))

        # Lanes that no higher one overwrites, for each part of a word; then no position needs priorities.
        writes = []
        for lane in range(PE_COUNT):
            lost: Any = 0
            for higher in range(lane + 1, PE_COUNT):
                same_word = access.words[lane] == access.words[higher]
                lost = lost | (wanted[higher] & same_word.replicate(len(parts)))
            kept = Signal(len(parts), name=f"writes{lane}")
            m.d.comb += kept.eq(wanted[lane] & ~lost)
            writes.append(kept)

        for position in range(self._config.row_words):
            here = []
            for lane in range(PE_COUNT):
                moved = access.atomic if self._config.atomics and position == 0 else 0
                here.append(((access.words[lane] == position) | moved).replicate(len(parts)) & writes[lane])
            for part in parts:
                source = Cat(Cat(here[lane][part] for lane in range(PE_COUNT) if lane >> bit & 1).any()
                             for bit in range(exact_log2(PE_COUNT)))
                hit = Cat(lanes[part] for lanes in here).any()
                first = position * 4 + part * width // 8
                m.d.comb += [
                    self.row[position][part * width:(part + 1) * width].eq(
                        choose([value[part * width:(part + 1) * width] for value in values], source)),
                    self.strobe[first:first + width // 8].eq(hit.replicate(width // 8)),
                ]
        if self._config.atomics:
            of_word_0 = Cat(access.lanes[lane] & (access.words[lane] == 0) for lane in range(PE_COUNT)).any()
            with m.If(access.atomic & ~of_word_0):
                m.d.comb += self.strobe[:4].eq(0)
        if "cmpxchg" in self._config.atomics:
            with m.If(access.atomic):
                m.d.comb += self.row[1].eq(access.expected)
        return m
