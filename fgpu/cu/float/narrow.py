"""Floating-point operations that fewer lanes have: a wavefront's work-items one after the other (section 8.2.1)."""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.config import PE_COUNT, PHASES
from fgpu.cu.pipeline import NARROW_ENTRIES
from fgpu.cu.register_file import Words
from fgpu.gateware.choose import choose
from fgpu.gateware.lut_ram import LutRam

from .format import BINARY32, Format
from .lane import Lane
from .operations import FloatOp
from .stages import Stages

__all__ = ["NarrowControl", "NarrowPlace", "NarrowUnits", "NarrowWork"]

_BINARY = frozenset({FloatOp.FADD, FloatOp.FSUB, FloatOp.FMUL, FloatOp.FDIV, FloatOp.FSLT})
_LANE_BITS = exact_log2(PE_COUNT)


class NarrowPlace(data.Struct):
    """A phase of an instruction under way: where its operands and then its results are kept."""

    entry: exact_log2(NARROW_ENTRIES)
    phase: exact_log2(PHASES)


class NarrowWork(data.Struct):
    """Work-items of a phase: as many as lanes have the operation, from work-item ``lane`` on."""

    place: NarrowPlace
    lane: _LANE_BITS
    operation: FloatOp


class NarrowControl(wiring.Signature):
    """What steers :class:`NarrowUnits`, in each cycle.

    The operands at hand are those of phase ``capture``, if ``capture_valid``. Those of ``feed`` enter the units in
    the next cycle. ``collect`` names what leaves the units now, if ``collect_valid``, and ``leave`` the phase whose
    results are to be at the output in the next cycle.
    """

    def __init__(self) -> None:
        super().__init__({
            "capture": Out(NarrowPlace),
            "capture_valid": Out(1),
            "feed": Out(NarrowWork),
            "collect": Out(NarrowWork),
            "collect_valid": Out(1),
            "leave": Out(NarrowPlace),
        })


class NarrowUnits(wiring.Component):
    """The units for operations that are on fewer ``lanes`` than eight, and the memories before and behind them.

    Results of what is fed in cycle t are there, to be collected, in cycle t + 1 + ``LATENCY[op]``. As in the lanes'
    own units, nothing is reset.
    """

    def __init__(self, lanes: Mapping[FloatOp, int], number: Format = BINARY32) -> None:
        self._lanes, self._number = dict(lanes), number
        super().__init__({
            "control": In(NarrowControl()),
            "first": In(Words),
            "second": In(Words),
            "result": Out(Words),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        s = Stages(m)
        control: Any = self.control
        operands = {"first": self.first} | ({"second": self.second} if self._lanes.keys() & _BINARY else {})
        words: dict[str, Any] = {}
        for name, value in operands.items():
            m.submodules[name] = memory = LutRam(Words, NARROW_ENTRIES * PHASES)
            write, read = memory.write_port(), memory.read_port()
            m.d.comb += [
                write.addr.eq(control.capture), write.en.eq(control.capture_valid), write.data.eq(value),
                read.addr.eq(control.feed.place),
            ]
            words[name] = read.data

        operation = s.later("operation", control.feed.operation)
        units = []
        for number in range(max(self._lanes.values())):
            present = frozenset(op for op, lanes in self._lanes.items() if lanes > number)
            least = min(self._lanes[op] for op in present)
            unit = Lane(present, self._number)
            m.submodules[f"unit{number}"] = unit
            units.append(unit)
            m.d.comb += [unit.operation.eq(operation), unit.select.eq(control.collect.operation)]
            for name, value in words.items():
                mine = choose([value[lane] for lane in range(number, PE_COUNT, least)],
                              control.feed.lane[exact_log2(least):])
                m.d.comb += getattr(unit, name).eq(s.later(f"{name}{number}", mine))

        m.submodules.results = results = LutRam(data.ArrayLayout(unsigned(32), PE_COUNT), NARROW_ENTRIES * PHASES)
        write, read = results.write_port(granularity=1), results.read_port()
        m.d.comb += [write.addr.eq(control.collect.place), read.addr.eq(control.leave)]
        for lane in range(PE_COUNT):
            value, enable = self._collected(lane, units)
            m.d.comb += [write.data[lane].eq(value), write.en[lane].eq(enable)]
        m.d.comb += self.result.eq(s.later("result_later", read.data.as_value()))
        return m

    def _collected(self, lane: int, units: list[Lane]) -> tuple[Any, Any]:
        """The result for a work-item, and whether it comes now."""
        collect: Any = self.control.collect
        value: Any = None
        mine: Any = Const(0)
        for width in sorted(set(self._lanes.values())):
            of_width = Cat(collect.operation == op for op, lanes in self._lanes.items() if lanes == width).any()
            shift = exact_log2(width)
            mine |= of_width & (collect.lane[shift:] == lane >> shift)
            result = units[lane % width].result
            value = result if value is None else Mux(of_width, result, value)
        return value, self.control.collect_valid & mine
