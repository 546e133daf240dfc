"""Comparisons, as cheap as their user allows: the machine has less-than, equality and conditional moves only."""

from collections.abc import Callable
from dataclasses import dataclass

from fgpu.isa import Opcode, by_opcode

from ..backend.mir import ZERO
from ..backend.mir import Op as MachineOp
from ..ir.module import Definitions, Instruction, Op
from ..ir.values import BOOL, Constant, Type, Value
from .machine_builder import Builder, signed

__all__ = ["Condition", "ConditionSelector"]

_SWAPPED = {"sgt": "slt", "ugt": "ult", "sge": "sle", "uge": "ule"}
_IMMEDIATE_MAX = by_opcode[Opcode.SLTIU].immediate_range[-1]


@dataclass(frozen=True)
class Condition:
    """True if ``register`` is not zero (is zero, if ``negated``); ``is_bool``: it is 0 or 1."""

    register: int
    negated: bool = False
    is_bool: bool = True

    def __invert__(self) -> "Condition":
        return Condition(self.register, not self.negated, self.is_bool)


class ConditionSelector:
    """Selects code for conditions of one function. ``value`` gives the register of an operand."""

    def __init__(self, builder: Builder, value: Callable[[Value, Type], int],
                 definitions: Definitions, depth_of: Callable[[str], int]) -> None:
        self.builder = builder
        self.value = value
        self.definitions = definitions
        self.depth_of = depth_of
        self.known: dict[tuple[str, str], Condition] = {}   # by block and name

    def condition(self, value: Value) -> Condition:
        """The condition that an i1 stands for, with what computes it where that saves an instruction."""
        definition = self.definitions.of(value)
        if definition is None:
            return Condition(self.value(value, BOOL))
        key = (self.builder.block.name, definition.name)
        if key not in self.known:
            here = self.builder.location
            self.builder.location = definition.location or here
            self.known[key] = self._computed(definition) or Condition(self.value(value, BOOL))
            self.builder.location = here
        return self.known[key]

    def _computed(self, definition: Instruction) -> Condition | None:
        match definition.op:
            case Op.ICMP:
                return self.compare(definition)
            case Op.FREEZE:
                return self.condition(definition.operands[0])
            case Op.XOR if definition.operands[1] == Constant(1):
                return ~self.condition(definition.operands[0])
            case Op.XOR:
                a, b = (self.condition(operand) for operand in definition.operands)
                if a.is_bool and b.is_bool:
                    return Condition(self.builder.xor(a.register, b.register), a.negated != b.negated)
            case Op.AND | Op.OR:
                return self._both(definition.op, *definition.operands)
            case Op.SELECT:
                test, then, other = definition.operands
                if then == Constant(1):
                    return self._both(Op.OR, test, other)
                if other == Constant(0):
                    return self._both(Op.AND, test, then)
        return None

    def _both(self, op: Op, first: Value, second: Value) -> Condition:
        """Conjunction or disjunction, through whichever of `or`s and `and`s the polarities allow."""
        a, b = self.condition(first), self.condition(second)
        if op is Op.OR:
            if not a.negated and not b.negated:
                return Condition(self.builder.or_(a.register, b.register), False, a.is_bool and b.is_bool)
        elif a.negated and b.negated:
            return Condition(self.builder.or_(a.register, b.register), True, a.is_bool and b.is_bool)
        if a.is_bool and b.is_bool and a.negated == b.negated:
            return Condition(self.builder.and_(a.register, b.register), a.negated)
        left, right = self.materialize(a), self.materialize(b)
        return Condition(self.builder.or_(left, right) if op is Op.OR else self.builder.and_(left, right))

    def materialize(self, condition: Condition) -> int:
        """A register that is 1 if the condition is true, else 0."""
        b = self.builder
        if condition.is_bool:
            return b.xor(condition.register, b.const(1)) if condition.negated else condition.register
        if condition.negated:
            return b.less(condition.register, b.const(1), is_signed=False)
        return b.less(ZERO, condition.register, is_signed=False)

    def compare(self, icmp: Instruction) -> Condition:
        """The condition that a comparison tests."""
        predicate = icmp.predicate
        left, right = self.operands(icmp)
        if predicate in ("eq", "ne"):
            b = self.builder
            known = b.value_of(right)
            difference = b.sub(left, right) if known is not None else b.xor(left, right)
            is_bool = b.unsigned_bits.get(difference, 32) <= 1
            return Condition(difference, negated=predicate == "eq", is_bool=is_bool)
        is_signed = predicate[0] == "s"
        if (limit := self.builder.value_of(right)) is not None and predicate == "ult" and self.is_far(limit):
            # Below a power of two, in two instructions instead of three.
            upper = self.builder.srl(left, self.builder.const(limit.bit_length() - 1))
            return Condition(upper, negated=True, is_bool=False)
        if predicate.endswith("lt") and limit and self.is_at_hand(limit - 1) and not self.is_at_hand(limit, right):
            # x < c is not c - 1 < x.
            return Condition(self.builder.less(self.builder.const(limit - 1), left, is_signed), negated=True)
        bound = self._successor(right, is_signed)
        if predicate.endswith(("le", "gt")) and bound is not None:  # x <= c is x < c + 1
            less = self.builder.less(left, bound, is_signed)
            return Condition(less, negated=predicate.endswith("gt"))
        if predicate in _SWAPPED:
            predicate, left, right = _SWAPPED[predicate], right, left
        if predicate.endswith("lt"):
            return Condition(self.builder.less(left, right, is_signed))
        return Condition(self.builder.less(right, left, is_signed), negated=True)

    def is_at_hand(self, value: int, besides: int = ZERO) -> bool:
        """Whether a comparison has ``value`` for nothing: as an immediate, or in a register ``besides`` that one."""
        return -_IMMEDIATE_MAX <= value <= _IMMEDIATE_MAX or any(
            known == value and register != besides for register, known in self.builder.constants.items())

    def is_far(self, limit: int) -> bool:
        """Whether ``limit`` is a power of two that takes two instructions to make, and is not made before a loop."""
        return limit > _IMMEDIATE_MAX and limit & (limit - 1) == 0 and self.depth_of("") == 0

    def _successor(self, register: int, is_signed: bool) -> int | None:
        known = self.builder.value_of(register)
        if known is None or not self.is_at_hand(known + 1) or known == (0x7FFF_FFFF if is_signed else -1):
            return None
        return self.builder.const(signed(known + 1))

    def operands(self, icmp: Instruction) -> tuple[int, int]:
        """Both operands, extended from their type to 32 bits as the predicate needs it."""
        type, b = icmp.types[0], self.builder
        left, right = (self.value(operand, type) for operand in icmp.operands)
        if type.kind != "int" or type.bits >= 32:
            return left, right
        extend = b.zero_extended
        if icmp.predicate[0] == "s" or (icmp.predicate in ("eq", "ne") and all(
                b.signed_bits.get(register, 32) <= type.bits for register in (left, right))):
            extend = b.sign_extended
        return extend(left, type.bits), extend(right, type.bits)

    def branch(self, value: Value) -> MachineOp:
        """The branch that is taken if ``value`` is true."""
        definition = self.definitions.of(value)
        if definition is not None and definition.op is Op.ICMP and definition.predicate in ("eq", "ne"):
            left, right = self.operands(definition)
            return MachineOp(Opcode.BEQ if definition.predicate == "eq" else Opcode.BNE, rs=right, rd=left)
        condition = self.condition(value)
        return MachineOp(Opcode.BEQ if condition.negated else Opcode.BNE, rs=ZERO, rd=condition.register)
