"""Gathers the accesses of a wavefront into wide requests (first half of section 3.4.4's memory controller).

The reference sends each work-item's access by itself. Here the work-items of a phase that touch one cache
row travel together, and rows of one cache line that a load touches in ascending order share one request.
"""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.config import PE_COUNT, PHASE_BITS, PHASES, WAVEFRONT_BITS, Config
from fgpu.gateware.choose import choose, lowest, number_of
from fgpu.gateware.lut_ram import LutRam
from fgpu.gateware.skid_buffer import SkidBuffer
from fgpu.interfaces.memory_bus import AtomicOp, Row
from fgpu.isa import REGISTER_BITS

from .control_word import Width
from .register_file import Words
from .vector import PhaseAccess

__all__ = ["PHASE_ENTRIES", "Coalescer", "RowAccess"]

_LINE_PARTS = 4
"""Parts in which lines are compared; it takes a stage more to know whether any of them differs."""
PHASE_ENTRIES = 4 * PHASES
"""Phases that it keeps, each in an entry of LUT RAM."""


def parts_of_word(config: Config) -> int:
    """Parts of a word that come from different lanes: bytes, but without narrow stores the whole word."""
    return 4 if config.sub_integer_stores else 1


class RowAccess(data.StructLayout):
    """Accesses of one phase to one cache row.

    The previous access of the same load, if there was one, used the same row unless ``other_row`` or any bit of
    ``other_line``, each for a part of the address; ``higher``: if it used the same line, then a lower row there.
    ``words`` are the lanes' word positions in the row, ``writes`` the parts of them that they store and no higher
    lane of the access overwrites. An atomic ``operation`` is a ``load`` of one lane. The last access of an
    instruction, flagged ``last``, may have no lanes.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "load": 1,
            **({"atomic": 1, "operation": AtomicOp} if config.atomics else {}),
            **({"expected": 32} if "cmpxchg" in config.atomics else {}),
            "other_line": _LINE_PARTS,
            "other_row": 1,
            "higher": 1,
            "line": config.line_address_bits,
            "row_index": exact_log2(config.line_rows),
            "wavefront": WAVEFRONT_BITS,
            "phase": PHASE_BITS,
            "rd": REGISTER_BITS,
            "last": 1,
            "lanes": PE_COUNT,
            "words": data.ArrayLayout(exact_log2(config.row_words), PE_COUNT),
            "writes": data.ArrayLayout(parts_of_word(config), PE_COUNT),
            "width": Width,
        })


_PAIRS = [(lane, other) for other in range(PE_COUNT) for lane in range(other)]
"""Of lanes that may share a row."""


class _Plan(data.StructLayout):
    """What tells how many accesses a phase becomes: its lanes, the lowest alone, and which pairs share a row."""

    def __init__(self) -> None:
        super().__init__({"lanes": PE_COUNT, "first": PE_COUNT, "same_row": len(_PAIRS)})


class _Kept(data.StructLayout):
    """What is read when an access is made: a phase without its lanes and store data."""

    def __init__(self, config: Config) -> None:
        super().__init__({name: field.shape for name, field in PhaseAccess(config)
                          if name not in ("lanes", "store_data")})


class _Placed(data.StructLayout):
    """An access, the entry of its phase, and whether that is free after it."""

    def __init__(self, config: Config) -> None:
        super().__init__({"access": RowAccess(config), "place": range(PHASE_ENTRIES), "final": 1})


class Coalescer(wiring.Component):
    """Splits phases into accesses of one row each, lowest lane first; one a cycle.

    Latency 3 cycles, and no path from the ready of ``accesses`` to what is made next. All lanes of a phase that are
    in the row of the lowest remaining lane leave with it; atomic operations leave one by one. A phase has an enabled
    lane, or is the last of its instruction.

    Phases stay in LUT RAM, ``PHASE_ENTRIES`` at most, until their last access is accepted: then ``released``
    is high. ``store_data`` is that of the access. The lanes of the next row are known a cycle ahead: the plans of the
    phases are a memory of their own, which is read before the rest.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "phase": In(PhaseAccess(config)),
            "phase_valid": In(1),
            "released": Out(1),
            "accesses": Out(stream.Signature(RowAccess(config))),
            "store_data": Out(Words),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        offset_bits = exact_log2(config.row_words) + 2
        row_bits = exact_log2(config.line_rows)

        new: Any = self.phase
        incoming = Signal(_Plan())
        rows = [new.addresses[lane][offset_bits:] for lane in range(PE_COUNT)]
        m.d.comb += [
            incoming.lanes.eq(new.lanes),
            incoming.first.eq(lowest(new.lanes)),
            incoming.same_row.eq(Cat(rows[lane] == rows[other] for lane, other in _PAIRS)),
        ]
        if config.atomics:
            with m.If(new.atomic):
                m.d.comb += incoming.same_row.eq(0)
        kept = _Kept(config)
        write_place = Signal(range(PHASE_ENTRIES))
        next_place = Signal(range(PHASE_ENTRIES))
        place = Signal(range(PHASE_ENTRIES))               # of the phase in stage 2
        takes = Signal()                                   # stage 1 is done with its phase
        m.submodules.ready_accesses = ready_accesses = SkidBuffer(_Placed(config))
        made, done = ready_accesses.input, ready_accesses.output
        next_plan: Any = self._memory(m, "plans", _Plan(), incoming, write_place, next_place)
        following: Any = self._memory(m, "kept", kept, Cat(new[name] for name in kept.members), write_place,
                                      next_place)
        phase: Any = Signal(kept)
        strobes = [Signal(4, name=f"strobe{lane}") for lane in range(PE_COUNT)]
        with m.If(takes):
            m.d.sync += phase.eq(following)
            m.d.sync += [strobe.eq(self._strobe(following.addresses[lane], following.width))
                         for lane, strobe in enumerate(strobes)]
        store_data = self._memory(m, "store_data", Words, new.store_data, write_place,
                                  ready_accesses.following.place)
        with m.If(~done.valid | done.ready):
            m.d.sync += self.store_data.eq(store_data)
        kept_count = Signal(range(PHASE_ENTRIES + 1))      # of phases that have not begun to leave
        more = Signal()                                    # there are any
        with m.If(self.phase_valid):
            m.d.sync += write_place.eq(write_place + 1)

        # Stage 1: the lanes of the next row, of the phase or of the next one.
        busy = Signal()
        same_row = Signal(len(_PAIRS))
        lanes = Signal(PE_COUNT)                # of the row
        leader = Signal(range(PE_COUNT))        # the lowest of them
        left = Signal(PE_COUNT)                 # of the phase, for other rows
        final = Signal()                        # none is

        def to_row_of(first: Value, remaining: Value, same: Value) -> list[Any]:
            """Go on to the row of the lane ``first``, one-hot, of those that remain."""
            shares = {pair: same[number] for number, pair in enumerate(_PAIRS)}
            in_row, others = Signal(PE_COUNT), Signal(PE_COUNT)
            shared = Cat(Cat(first[lane], *(first[lower] & shares[lower, lane] for lower in range(lane))).any()
                         for lane in range(PE_COUNT))
            m.d.comb += [in_row.eq(remaining & shared), others.eq(remaining & ~shared)]
            return [lanes.eq(in_row), leader.eq(number_of(first)), left.eq(others), final.eq(others == 0)]

        advance, follow = Signal(), Signal()
        m.d.comb += [takes.eq(~busy | (advance & final)), follow.eq(more & takes)]
        m.d.sync += [
            kept_count.eq(kept_count + self.phase_valid - follow),
            more.eq(self.phase_valid | Mux(follow, kept_count[1:].any(), more)),
        ]
        with m.If(follow):
            m.d.sync += [
                *to_row_of(next_plan.first, next_plan.lanes, next_plan.same_row),
                busy.eq(1), same_row.eq(next_plan.same_row), place.eq(next_place), next_place.eq(next_place + 1),
            ]
        with m.Elif(advance):
            m.d.sync += [*to_row_of(lowest(left), left, same_row), busy.eq(~final)]

        # Stage 2: one row.
        row = Signal(32 - offset_bits)
        addresses: Any = phase.addresses
        m.d.comb += row.eq(choose([addresses[lane][offset_bits:] for lane in range(PE_COUNT)], leader))
        atomic = phase.atomic if config.atomics else Const(0)
        fresh = Signal(init=1)
        previous_row = Signal(32 - offset_bits)
        index, previous_index = row[:row_bits], previous_row[:row_bits]
        out: Any = made.payload.access
        line, previous_line = row[row_bits:], previous_row[row_bits:]
        size = -(-len(line) // _LINE_PARTS)
        differs = Cat(line[at:at + size] != previous_line[at:at + size] for at in range(0, len(line), size))
        last = Signal()
        m.d.comb += [
            advance.eq(busy & made.ready),
            made.valid.eq(busy),
            made.payload.place.eq(place),
            made.payload.final.eq(final),
            self.accesses.valid.eq(done.valid),
            self.accesses.payload.eq(done.payload.access),
            done.ready.eq(self.accesses.ready),
            self.released.eq(done.valid & done.ready & done.payload.final),
            last.eq(phase.last & final),
            out.load.eq(phase.load),
            out.other_line.eq(differs & lanes.any().replicate(len(differs))),
            out.other_row.eq(lanes.any() & (fresh | atomic | (index != previous_index))),
            out.higher.eq(index > previous_index),
            out.line.eq(line),
            out.row_index.eq(index),
            out.wavefront.eq(phase.wavefront),
            out.phase.eq(phase.phase),
            out.rd.eq(phase.rd),
            out.width.eq(phase.width),
            out.last.eq(last),
            out.lanes.eq(lanes),
        ]
        if config.atomics:
            m.d.comb += [out.atomic.eq(atomic), out.operation.eq(phase.operation)]
        if "cmpxchg" in config.atomics:
            m.d.comb += out.expected.eq(choose(list(phase.expected), leader))
        for lane, writes in enumerate(self._writes(phase, strobes, lanes)):
            m.d.comb += [out.words[lane].eq(addresses[lane][2:offset_bits]), out.writes[lane].eq(writes)]
        with m.If(advance):
            # Rows are compared within one load only, so that a load after a store sees memory anew.
            with m.If(lanes.any()):
                m.d.sync += [previous_row.eq(row), fresh.eq(last)]
            with m.Else():
                m.d.sync += fresh.eq(1)
        return m

    def _memory(self, m: Module, name: str, shape: ShapeLike, value: Any, write_place: Signal,
                read_place: Signal) -> Any:
        """A part of all phases, in LUT RAM; the one in an entry."""
        m.submodules[name] = memory = LutRam(shape, PHASE_ENTRIES)
        write, read = memory.write_port(), memory.read_port()
        m.d.comb += [
            write.addr.eq(write_place),
            write.data.eq(value),
            write.en.eq(self.phase_valid),
            read.addr.eq(read_place),
        ]
        return read.data

    @staticmethod
    def _strobe(address: Any, width: Any) -> Value:
        """The bytes of its word that an access writes."""
        return Mux(width == Width.BYTE, 1 << address[:2],
                   Mux(width == Width.HALF, Mux(address[1], 0b1100, 0b0011), 0b1111))

    def _writes(self, phase: Any, strobes: list[Signal], lanes: Signal) -> list[Value]:
        """For each of the lanes of a row the parts of its word that it writes and no higher lane does."""
        wanted: list[Any] = []
        words = [phase.addresses[lane][2:exact_log2(self._config.row_words) + 2] for lane in range(PE_COUNT)]
        for lane in range(PE_COUNT):
            mine = strobes[lane] if self._config.sub_integer_stores else Const(1, 1)
            wanted.append(mine & lanes[lane].replicate(len(mine)))
        writes = []
        for lane in range(PE_COUNT):
            lost: Any = 0
            for higher in range(lane + 1, PE_COUNT):
                lost = lost | (wanted[higher] & (words[lane] == words[higher]).replicate(len(wanted[higher])))
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
            "store_data": In(Words),
            "row": Out(Row(config)),
            "strobe": Out(config.row_words * 4),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        access: Any = self.access
        store_data: Any = self.store_data
        parts = range(parts_of_word(self._config))
        width = 32 // len(parts)
        values = []
        for lane in range(PE_COUNT):
            value = Signal(32, name=f"value{lane}")
            word = store_data[lane]
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
