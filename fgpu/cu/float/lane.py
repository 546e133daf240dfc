"""The floating-point units of one processing element."""

from typing import Any

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .adder import Adder
from .comparison import Comparison
from .divider import Divider
from .format import BINARY32, Format, Operand
from .multiplier import Multiplier
from .normalizer import Normalizer
from .operations import LATENCY, FloatOp
from .root import SquareRoot
from .stages import Stages

__all__ = ["Lane"]


class Lane(wiring.Component):
    """Executes one floating-point operation a cycle for one work-item.

    The first stage takes the operands apart for all units; ``select`` chooses among their results in the last one
    (see :class:`~fgpu.cu.float.units.FloatUnits`). Operations that are not in ``operations`` give any result, but
    ``elsewhere``, if there is such a one, gives ``other``, the result of a unit outside.
    """

    def __init__(self, operations: frozenset[FloatOp], number: Format = BINARY32, *,
                 elsewhere: FloatOp | None = None) -> None:
        self._operations, self._number, self._elsewhere = operations, number, elsewhere
        super().__init__({
            "operation": In(FloatOp),
            "first": In(number.width),
            "second": In(number.width),
            "select": In(FloatOp),
            "result": Out(number.width),
        } | ({} if elsewhere is None else {"other": In(number.width)}))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        s = Stages(m)
        number = self._number
        results: list[tuple[tuple[FloatOp, ...], Any]] = []
        if self._operations:
            self._add_units(m, s, number, results)
        if self._elsewhere is not None:
            results.append(((self._elsewhere,), self.other))

        with m.Switch(self.select):
            for operations, result in results[1:]:
                with m.Case(*operations):
                    m.d.comb += self.result.eq(result)
            for _, result in results[:1]:
                with m.Default():
                    m.d.comb += self.result.eq(result)
        return m

    def _add_units(self, m: Module, s: Stages, number: Format,
                   results: list[tuple[tuple[FloatOp, ...], Any]]) -> None:
        """Each adds its result and the operations for which it is chosen."""
        first = self._operand(m, "first", self.first)
        second: Any = None
        smaller: Any = None

        def unit(unit: Any, name: str, *operations: FloatOp) -> Any:
            m.submodules[name] = unit
            results.append((operations, unit.result))
            return unit

        def present(*operations: FloatOp) -> tuple[FloatOp, ...]:
            return tuple(op for op in operations if op in self._operations)

        adds = present(*sorted(Adder.OPERATIONS, key=lambda op: op.value))
        # Linters take a register that nobody reads for a fault.
        if self._operations != {FloatOp.FSQRT}:
            second = self._operand(m, "second", self.second)
        if adds or present(FloatOp.FSLT):
            smaller = s.later("smaller", self.first[:-1] < self.second[:-1])
        if adds:
            operation: Any = s.later("operation_later", self.operation) if len(adds) > 1 else adds[0]
            adder = unit(Adder(number, self._operations), "adder", *adds)
            m.d.comb += [adder.operation.eq(operation), adder.first.eq(first), adder.second.eq(second),
                         adder.smaller.eq(smaller)]
        if FloatOp.FMUL in self._operations:
            multiplier = unit(Multiplier(number), "multiplier", FloatOp.FMUL)
            m.d.comb += [multiplier.first.eq(first), multiplier.second.eq(second)]
        if FloatOp.FSLT in self._operations:
            comparison = unit(Comparison(number), "comparison", FloatOp.FSLT)
            m.d.comb += [comparison.first.eq(first), comparison.second.eq(second), comparison.smaller.eq(smaller)]

        if present(FloatOp.FDIV, FloatOp.FSQRT):
            m.submodules.normalize_first = normalize_first = Normalizer(number)
            m.d.comb += normalize_first.operand.eq(first)
            before = 1 + normalize_first.cycles
        if FloatOp.FDIV in self._operations:
            m.submodules.normalize_second = normalize_second = Normalizer(number)
            divider = unit(Divider(number, LATENCY[FloatOp.FDIV] - before), "divider", FloatOp.FDIV)
            m.d.comb += [normalize_second.operand.eq(second), divider.first.eq(normalize_first.normalized),
                         divider.second.eq(normalize_second.normalized)]
        if FloatOp.FSQRT in self._operations:
            root = unit(SquareRoot(number, LATENCY[FloatOp.FSQRT] - before), "root", FloatOp.FSQRT)
            m.d.comb += root.first.eq(normalize_first.normalized)

    def _operand(self, m: Module, name: str, word: Any) -> Any:
        """A number taken apart, a cycle later."""
        layout = Operand(self._number)
        fraction = word[:self._number.fraction_bits]
        exponent = word[self._number.fraction_bits:-1]
        normal, special, whole = exponent.any(), exponent.all(), ~fraction.any()
        fields = {
            "fraction": fraction, "exponent": exponent, "sign": word[-1], "normal": normal,
            "zero": ~normal & whole if self._number.subnormals else ~normal,
            "infinite": special & whole, "nan": special & ~whole,
        }
        return layout(Stages(m).later(name, Cat(fields[field] for field, _ in layout)))
