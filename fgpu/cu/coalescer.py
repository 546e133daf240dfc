"""Gathers the accesses of a wavefront into wide requests (first half of section 3.4.4's memory controller).

The reference sends each work-item's access by itself. Here the work-items of a phase that touch one cache
row travel together, and rows of one cache line that a load touches in ascending order share one request.
"""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.cache.bus import AtomicOp, Row
from fgpu.choose import choose, lowest, number_of
from fgpu.config import PE_COUNT, Config

from .control_word import Width
from .register_file import Words
from .vector import PhaseAccess

__all__ = ["Coalescer", "RowAccess"]


def parts_of_word(config: Config) -> int:
    """Parts of a word that come from different lanes: bytes, but without narrow stores the whole word."""
    return 4 if config.sub_integer_stores else 1


class RowAccess(data.StructLayout):
    """Accesses of one phase to one cache row.

    ``new_row`` is 0 if the previous access of the same load used the same row; ``ascends``: the access before was
    in a lower row of the same line. ``words`` are the lanes' word positions in the row, ``writes`` the parts of them
    that they store and no higher lane of the access overwrites. An atomic ``operation`` is a ``load`` of one lane.
    The last access of an instruction, flagged ``last``, may have no lanes.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "load": 1,
            **({"atomic": 1, "operation": AtomicOp} if config.atomics else {}),
            **({"expected": 32} if "cmpxchg" in config.atomics else {}),
            "new_row": 1,
            "ascends": 1,
            "line": config.line_address_bits,
            "row_index": exact_log2(config.line_rows),
            "wavefront": 3,
            "phase": 3,
            "rd": 5,
            "last": 1,
            "lanes": PE_COUNT,
            "words": data.ArrayLayout(exact_log2(config.row_words), PE_COUNT),
            "writes": data.ArrayLayout(parts_of_word(config), PE_COUNT),
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
        leader = Signal(range(PE_COUNT))        # the lowest remaining lane
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
        row_bits = exact_log2(self._config.line_rows)
        same_line, same_index = Signal(), Signal()
        m.d.comb += [
            same_line.eq(row[row_bits:] == previous_row[row_bits:]),
            same_index.eq(row[:row_bits] == previous_row[:row_bits]),
        ]
        writes = self._writes(phase, same_row)

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
                remaining.eq(left), leader.eq(number_of(lowest(left))),
                busy.eq(left != 0),
                out.valid.eq(lanes.any() | last),
                out.payload.load.eq(phase.load),
                out.payload.new_row.eq(lanes.any() & (fresh | ~(same_line & same_index) | atomic)),
                out.payload.ascends.eq(same_line & (row[:row_bits] > previous_row[:row_bits])),
                out.payload.line.eq(row[row_bits:]),
                out.payload.row_index.eq(row[:row_bits]),
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
                    out.payload.writes[lane].eq(writes[lane] & lanes[lane].replicate(len(writes[lane]))),
                ]
        with m.If(self.phases.ready & self.phases.valid):
            m.d.sync += [phase.eq(new), remaining.eq(new.lanes), leader.eq(number_of(lowest(new.lanes))),
                         busy.eq(new.lanes.any() | new.last)]
            for lane in range(PE_COUNT):
                m.d.sync += same_row[lane].eq(Cat(rows[lane] == other for other in rows))
                if self._config.atomics:
                    with m.If(new.atomic):
                        m.d.sync += same_row[lane].eq(1 << lane)
        return m

    def _writes(self, phase: Any, same_row: list[Signal]) -> list[Value]:
        """For each lane the parts of its word that it writes, when its row's turn comes, and no higher lane does.

        All lanes of a row leave together, so this does not depend on whose turn it is.
        """
        wanted: list[Any] = []
        words = [phase.addresses[lane][2:exact_log2(self._config.row_words) + 2] for lane in range(PE_COUNT)]
        for lane in range(PE_COUNT):
            offset = phase.addresses[lane][:2]
            strobe = Mux(phase.width == Width.BYTE, 1 << offset,
                         Mux(phase.width == Width.HALF, Mux(offset[1], 0b1100, 0b0011), 0b1111))
            wanted.append(strobe if self._config.sub_integer_stores else Const(1, 1))
        writes = []
        for lane in range(PE_COUNT):
            lost: Any = 0
            for higher in range(lane + 1, PE_COUNT):
                same = same_row[lane][higher] & phase.lanes[higher] & (words[lane] == words[higher])
                lost = lost | (wanted[higher] & same.replicate(len(wanted[higher])))
            writes.append((wanted[lane] & ~lost)[:parts_of_word(self._config)])
        return writes


class Scatter(wiring.Component):
    """Places the store data of a row access into the row; combinational.

    The operand of an atomic operation goes to
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
        parts = range(parts_of_word(self._config))
        width = 32 // len(parts)
        values = []
        for lane in range(PE_COUNT):
            value = Signal(32, name=f"value{lane}")
            word = access.store_data[lane]
            m.d.comb += value.eq(word)
            if len(parts) > 1:
                with m.Switch(access.width):
                    with m.Case(Width.BYTE):
                        m.d.comb += value.eq(word[:8].replicate(4))
                    with m.Case(Width.HALF):
                        m.d.comb += value.eq(word[:16].replicate(2))
            values.append(value)

        for position in range(self._config.row_words):
            here = []
            for lane in range(PE_COUNT):
                moved = access.atomic if self._config.atomics and position == 0 else 0
                here.append(((access.words[lane] == position) | moved).replicate(len(parts)) & access.writes[lane])
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
