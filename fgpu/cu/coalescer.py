"""Gathers the accesses of a wavefront into wide requests (first half of section 3.4.4's memory controller).

The reference sends each work-item's access by itself. Here the work-items of a phase that touch one cache
row travel together, and rows of one cache line that a load touches in ascending order share one request.
"""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.config import PE_COUNT, PHASE_BITS, PHASES, WAVEFRONT_BITS, Config
from fgpu.gateware.choose import choose, lowest, number_of
from fgpu.gateware.lut_ram import LutRam
from fgpu.gateware.skid_buffer import SkidBuffer
from fgpu.interfaces.memory_bus import AtomicOp
from fgpu.isa import REGISTER_BITS

from .control_word import Width
from .register_file import Words
from .vector import PhaseAccess

__all__ = ["PHASE_ENTRIES", "Coalescer", "RowAccess", "parts_of_word"]

PHASE_ENTRIES = 4 * PHASES
"""Phases that it keeps, each in an entry of LUT RAM."""


def parts_of_word(config: Config) -> int:
    """Parts of a word that come from different lanes: bytes, but without narrow stores the whole word."""
    return 4 if config.sub_integer_stores else 1


class RowAccess(data.StructLayout):
    """Accesses of one phase to one cache row.

    ``new_row`` unless the previous access of the same load used the same row; ``ascends``: that used a lower row of
    the same line.
    ``words`` are the lanes' word positions in the row, ``writes`` the parts of them that they store and no higher
    lane of the access overwrites. An atomic ``operation`` is a ``load`` of one lane. The last access of an
    instruction, flagged ``last``, may have no lanes.
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


class _Compared(data.StructLayout):
    """What tells how many accesses a phase becomes: its lanes, the lowest alone, and which pairs share a row."""

    def __init__(self) -> None:
        super().__init__({"lanes": PE_COUNT, "first": PE_COUNT, "same_row": len(_PAIRS)})


class _RowLanes(data.StructLayout):
    """Lanes of the next row of a phase, their lowest as a number, and those ``left`` for other rows, if any."""

    def __init__(self) -> None:
        super().__init__({"lanes": PE_COUNT, "leader": range(PE_COUNT), "left": PE_COUNT, "final": 1})


class _Plan(data.StructLayout):
    """How the accesses of a phase begin, and which pairs of lanes share a row."""

    def __init__(self) -> None:
        super().__init__({"first": _RowLanes(), "same_row": len(_PAIRS)})


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

    Latency 5 cycles, and no path from the ready of ``accesses`` to what is made next. All lanes of a phase that are
    in the row of the lowest remaining lane leave with it; atomic operations leave one by one. Phases without any
    enabled lane are ``dropped``, a cycle later, except the last of an instruction.

    Phases stay in LUT RAM, ``PHASE_ENTRIES`` at most, until their last access is accepted: then ``released``
    is high. ``store_data`` is that of the access, out of this memory. The lanes of the next row are known a cycle
    ahead: the plans of the phases are a memory of their own, which is read before the rest, and written a cycle
    later, when lanes have been compared.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "phase": In(PhaseAccess(config)),
            "phase_valid": In(1),
            "dropped": Out(1),
            "released": Out(1),
            "accesses": Out(stream.Signature(RowAccess(config))),
            "store_data": Out(Words),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        m.submodules.ready_accesses = ready_accesses = SkidBuffer(_Placed(config))
        made, done = ready_accesses.input, ready_accesses.output
        wanted = Signal()
        m.d.comb += wanted.eq(self.phase_valid & (self.phase.lanes.any() | self.phase.last))
        m.d.sync += self.dropped.eq(self.phase_valid & ~wanted)

        planned, plan = self._plan(m, wanted)
        next_place = Signal(range(PHASE_ENTRIES))
        next_plan, following = self._keep(m, wanted, planned, plan, next_place, done.payload.place)
        busy = Signal()
        takes = Signal()                                   # stage 1 is done with its phase
        place = Signal(range(PHASE_ENTRIES))               # of the phase in stage 2
        now = self._choose_lanes(m, planned, next_plan, next_place, place, busy, takes, made.ready)
        phase: Any = Signal(_Kept(config))
        with m.If(takes):
            m.d.sync += phase.eq(following)
        chosen_valid, chosen = self._make(m, busy, now, phase, place, made.ready)
        self._compare_with_previous(m, chosen_valid, chosen, made)
        m.d.comb += [
            self.accesses.valid.eq(done.valid),
            self.accesses.payload.eq(done.payload.access),
            done.ready.eq(self.accesses.ready),
            self.released.eq(done.valid & done.ready & done.payload.final),
        ]
        return m

    def _plan(self, m: Module, wanted: Signal) -> tuple[Signal, Any]:
        """Stage 0: lanes are compared, while the rest of the phase is written. The plan, a cycle later."""
        new: Any = self.phase
        offset_bits = exact_log2(self._config.row_words) + 2
        incoming = Signal(_Compared())
        compared: Any = Signal(_Compared())
        planned = Signal()
        plan: Any = Signal(_Plan())
        m.d.sync += [compared.eq(incoming), planned.eq(wanted)]
        m.d.comb += [
            plan.first.eq(self._next_row(m, "planned", compared.first, compared.lanes, compared.same_row)),
            plan.same_row.eq(compared.same_row),
        ]
        rows = [new.addresses[lane][offset_bits:] for lane in range(PE_COUNT)]
        m.d.comb += [
            incoming.lanes.eq(new.lanes),
            incoming.first.eq(lowest(new.lanes)),
            incoming.same_row.eq(Cat(rows[lane] == rows[other] for lane, other in _PAIRS)),
        ]
        if self._config.atomics:
            with m.If(new.atomic):
                m.d.comb += incoming.same_row.eq(0)
        return planned, plan

    def _keep(self, m: Module, wanted: Signal, planned: Signal, plan: Any, next_place: Signal,
              done_place: Any) -> tuple[Any, Any]:
        """The memories of the phases; the plan and the rest of that which is next. Store data are those of the access
        that leaves."""
        new: Any = self.phase
        kept = _Kept(self._config)
        write_place = Signal(range(PHASE_ENTRIES))
        plan_place = Signal(range(PHASE_ENTRIES))          # where the plan of the phase before is written
        m.d.sync += plan_place.eq(write_place)
        with m.If(wanted):      # what is not is written over
            m.d.sync += write_place.eq(write_place + 1)
        next_plan = self._memory(m, "plans", plan, planned, plan_place, next_place)
        whole = Signal(kept)
        m.d.comb += whole.eq(Cat(new[name] for name in kept.members))
        following = self._memory(m, "kept", whole, self.phase_valid, write_place, next_place)
        m.d.comb += self.store_data.eq(
            self._memory(m, "store_data", new.store_data, self.phase_valid, write_place, done_place))
        return next_plan, following

    def _choose_lanes(self, m: Module, planned: Signal, next_plan: Any, next_place: Signal, place: Signal,
                      busy: Signal, takes: Signal, ready: Value) -> Any:
        """Stage 1: the lanes of the next row, of the phase or of the next one."""
        kept_count = Signal(range(PHASE_ENTRIES + 1))      # of phases that have not begun to leave
        more = Signal()                                    # there are any
        same_row = Signal(len(_PAIRS))
        now: Any = Signal(_RowLanes())
        advance, follow = Signal(), Signal()
        m.d.comb += [
            advance.eq(busy & ready), takes.eq(~busy | (advance & now.final)), follow.eq(more & takes),
        ]
        with m.If(planned & ~follow):
            m.d.sync += [kept_count.eq(kept_count + 1), more.eq(1)]
        with m.Elif(follow & ~planned):
            m.d.sync += [kept_count.eq(kept_count - 1), more.eq(kept_count != 1)]
        with m.If(follow):
            m.d.sync += [
                now.eq(next_plan.first),
                busy.eq(1), same_row.eq(next_plan.same_row), place.eq(next_place), next_place.eq(next_place + 1),
            ]
        with m.Elif(advance):
            m.d.sync += [now.eq(self._next_row(m, "rest", lowest(now.left), now.left, same_row)), busy.eq(~now.final)]
        return now

    def _make(self, m: Module, busy: Signal, now: Any, phase: Any, place: Signal, ready: Value) -> tuple[Signal, Any]:
        """Stage 2: the row, and what its lanes do there."""
        config = self._config
        offset_bits = exact_log2(config.row_words) + 2
        row_bits = exact_log2(config.line_rows)
        row = Signal(32 - offset_bits)
        addresses: Any = phase.addresses
        chosen: Any = Signal(_Placed(config))
        chosen_valid = Signal()
        m.d.comb += row.eq(choose([addresses[lane][offset_bits:] for lane in range(PE_COUNT)], now.leader))
        with m.If(ready):
            m.d.sync += [
                chosen_valid.eq(busy),
                chosen.place.eq(place),
                chosen.final.eq(now.final),
                *(chosen.access[name].eq(phase[name]) for name in ("load", "wavefront", "phase", "rd", "width")),
                chosen.access.line.eq(row[row_bits:]),
                chosen.access.row_index.eq(row[:row_bits]),
                chosen.access.last.eq(phase.last & now.final),
                chosen.access.lanes.eq(now.lanes),
            ]
            if config.atomics:
                m.d.sync += [chosen.access.atomic.eq(phase.atomic), chosen.access.operation.eq(phase.operation)]
            if "cmpxchg" in config.atomics:
                m.d.sync += chosen.access.expected.eq(choose(list(phase.expected), now.leader))
            for lane, writes in enumerate(self._writes(phase, now.lanes)):
                m.d.sync += [chosen.access.words[lane].eq(addresses[lane][2:offset_bits]),
                             chosen.access.writes[lane].eq(writes)]
        return chosen_valid, chosen

    def _compare_with_previous(self, m: Module, valid: Signal, chosen: Any, made: Any) -> None:
        """Stage 3: what an access is to the one before. Rows are compared within one load only, so that a load after
        a store sees memory anew."""
        out = chosen.access
        atomic = out.atomic if self._config.atomics else Const(0)
        fresh = Signal(init=1)
        previous: Any = Signal(data.StructLayout({"row_index": len(out.row_index), "line": len(out.line)}))
        has_lanes = out.lanes.any()
        other_line = out.line != previous.line
        m.d.comb += [
            made.valid.eq(valid),
            made.payload.eq(chosen),
            made.payload.access.new_row.eq(
                has_lanes & (fresh | atomic | other_line | (out.row_index != previous.row_index))),
            made.payload.access.ascends.eq(~other_line & (out.row_index > previous.row_index)),
        ]
        with m.If(valid & made.ready):
            with m.If(has_lanes):
                m.d.sync += [previous.line.eq(out.line), previous.row_index.eq(out.row_index), fresh.eq(out.last)]
            with m.Else():
                m.d.sync += fresh.eq(1)

    @staticmethod
    def _next_row(m: Module, name: str, first: Value, remaining: Value, same: Value) -> Value:
        """Of the lanes that remain those in the row of ``first``, one-hot, as :class:`_RowLanes`."""
        shares = {pair: same[number] for number, pair in enumerate(_PAIRS)}
        found: Any = Signal(_RowLanes(), name=name)
        shared = Cat(Cat(first[lane], *(first[lower] & shares[lower, lane] for lower in range(lane))).any()
                     for lane in range(PE_COUNT))
        m.d.comb += [
            found.lanes.eq(remaining & shared), found.leader.eq(number_of(first)),
            found.left.eq(remaining & ~shared), found.final.eq(found.left == 0),
        ]
        return found

    def _memory(self, m: Module, name: str, value: Any, valid: Signal, write_place: Signal,
                read_place: Signal) -> Any:
        """A part of all phases, in LUT RAM; the one in an entry."""
        m.submodules[name] = memory = LutRam(value.shape(), PHASE_ENTRIES)
        write, read = memory.write_port(), memory.read_port()
        m.d.comb += [
            write.addr.eq(write_place),
            write.data.eq(value),
            write.en.eq(valid),
            read.addr.eq(read_place),
        ]
        return read.data

    @staticmethod
    def _strobe(address: Any, width: Any) -> Value:
        """The bytes of its word that an access writes."""
        return Mux(width == Width.BYTE, 1 << address[:2],
                   Mux(width == Width.HALF, Mux(address[1], 0b1100, 0b0011), 0b1111))

    def _writes(self, phase: Any, lanes: Value) -> list[Value]:
        """For each of the lanes of a row the parts of its word that it writes and no higher lane does."""
        wanted: list[Any] = []
        words = [phase.addresses[lane][2:exact_log2(self._config.row_words) + 2] for lane in range(PE_COUNT)]
        for lane in range(PE_COUNT):
            mine = (self._strobe(phase.addresses[lane], phase.width) if self._config.sub_integer_stores
                    else Const(1, 1))
            wanted.append(mine & lanes[lane].replicate(len(mine)))
        writes = []
        for lane in range(PE_COUNT):
            lost: Any = 0
            for higher in range(lane + 1, PE_COUNT):
                lost = lost | (wanted[higher] & (words[lane] == words[higher]).replicate(len(wanted[higher])))
            writes.append((wanted[lane] & ~lost)[:parts_of_word(self._config)])
        return writes
