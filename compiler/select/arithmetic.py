"""Integer arithmetic, and what of several instructions the machine does in fewer."""

from collections.abc import Callable, Mapping, Sequence

from fgpu.isa import Opcode

from ..ir.module import Definitions, Instruction, Op
from ..ir.values import WORD_BITS, Constant, Local, Type, Value
from .conditions import ConditionSelector
from .machine_builder import Builder

__all__ = ["BINARY", "ArithmeticSelector"]

BINARY = {
    Op.ADD: Opcode.ADD, Op.SUB: Opcode.SUB, Op.MUL: Opcode.MUL, Op.AND: Opcode.AND, Op.OR: Opcode.OR,
    Op.XOR: Opcode.XOR, Op.SHL: Opcode.SLL, Op.LSHR: Opcode.SRL, Op.ASHR: Opcode.SRA,
}
"""The machine's operation for each of the IR with two operands."""


class ArithmeticSelector:
    """Selects code for integer arithmetic of one function. ``value`` gives the register of an operand, ``users`` has
    the instructions that read a value, ``depth_of`` tells the loops around its definition."""

    def __init__(self, builder: Builder, value: Callable[[Value, Type], int], conditions: ConditionSelector,
                 definitions: Definitions, users: Mapping[str, Sequence[Instruction]],
                 depth_of: Callable[[str], int]) -> None:
        self.builder = builder
        self.value = value
        self.conditions = conditions
        self.definitions = definitions
        self.users = users
        self.depth_of = depth_of

    def binary(self, instruction: Instruction) -> int:
        """The register of the result of one of :data:`BINARY`."""
        op, bits = instruction.op, instruction.type.bits
        if bits == 1:
            return self._binary_bool(instruction)
        a, b = self._both(instruction)
        if op in (Op.SHL, Op.LSHR, Op.ASHR):
            b = self._shift_amount(instruction.operands[1], instruction.type)
        if op is Op.LSHR:
            a = self.builder.zero_extended(a, bits)
        elif op is Op.ASHR:
            a = self.builder.sign_extended(a, bits)
        if op is Op.AND and (field := self._bit_field(instruction)) is not None:
            return field
        if op is Op.ADD and (less := self._minus_condition(instruction)) is not None:
            return less
        if op in (Op.ADD, Op.SUB, Op.OR, Op.XOR) and (chosen := self._apply_unless(instruction)) is not None:
            return chosen
        if op is Op.ADD or instruction.is_disjoint:
            fused = self._multiply_accumulate(instruction)
            if fused is not None:
                return fused
        return self.builder.binary(BINARY[op], a, b)

    def _both(self, instruction: Instruction) -> tuple[int, int]:
        return (self.value(instruction.operands[0], instruction.types[0]),
                self.value(instruction.operands[1], instruction.types[1]))

    def _minus_condition(self, add: Instruction) -> int | None:
        """``x + (c ? -1 : 0)`` as ``x - c``."""
        for extended, other in (add.operands, add.operands[::-1]):
            sext = self.definitions.of(extended)
            if sext is not None and sext.op is Op.SEXT and sext.types[0].bits == 1:
                return self.builder.sub(self.value(other, add.type), self.value(sext.operands[0], sext.types[0]))
        return None

    def _bit_field(self, instruction: Instruction) -> int | None:
        """A masked shift by a constant as two shifts: no longer, and needs no mask in a register."""
        shifted, constant = instruction.operands
        shift = self.definitions.of(shifted)
        mask = constant.value if isinstance(constant, Constant) else None
        if shift is None or shift.op not in (Op.SHL, Op.LSHR) or mask is None or instruction.type.bits != WORD_BITS \
                or not isinstance(shift.operands[1], Constant) or shift.operands[1].value is None:
            return None
        b, source, places = self.builder, self.value(shift.operands[0], shift.type), shift.operands[1].value
        field = mask % (1 << WORD_BITS)
        if shift.op is Op.SHL:
            above, low = WORD_BITS - field.bit_length(), places
            field |= (1 << places + b.zeros_below.get(source, 0)) - 1   # zeros anyway
            field = field >> places << places
            back = above
        else:
            above, low = WORD_BITS - field.bit_length() - places, 0
            back = above + places
            if len(self.users[shift.name]) > 1 or b.unsigned_bits.get(source, WORD_BITS) <= WORD_BITS - above:
                return None
        if field == 0 or above <= 0 or field != (1 << field.bit_length()) - (1 << low):
            return None
        return b.srl(b.shl(source, b.const(above + low if shift.op is Op.SHL else above)), b.const(back))

    def _apply_unless(self, instruction: Instruction) -> int | None:
        """``x op (c ? 0 : y)`` as ``c ? x : x op y``: one constant and one move less."""
        orders = [instruction.operands] if instruction.op is Op.SUB else [instruction.operands,
                                                                         instruction.operands[::-1]]
        for x, choice in orders:
            select = self.definitions.of(choice)
            if select is None or select.op is not Op.SELECT or len(self.users[select.name]) != 1 \
                    or Constant(0) not in select.operands[1:] or self.depth_of(select.name) != self.depth_of(""):
                continue
            test, y, other = select.operands
            condition = ~self.conditions.condition(test)
            if y == Constant(0):
                y, condition = other, ~condition
            plain = self.value(x, instruction.type)
            applied = self.builder.binary(BINARY[instruction.op], plain, self.value(y, instruction.type))
            return self.builder.select(condition.register, condition.negated, plain, applied)
        return None

    def _shift_amount(self, amount: Value, type: Type) -> int:
        """Shifts use the low five bits of a register: what OpenCL C asks for, so clang's mask can go."""
        definition = self.definitions.of(amount)
        if type.bits == 32 and definition is not None and definition.op is Op.AND \
                and definition.operands[1] == Constant(31):
            amount = definition.operands[0]
        return self.builder.zero_extended(self.value(amount, type), type.bits)

    def _binary_bool(self, instruction: Instruction) -> int:
        """Arithmetic modulo 2 on booleans, which are 0 or 1 in a register."""
        if instruction.op in (Op.AND, Op.OR):
            return self.conditions.materialize(self.conditions.condition(Local(instruction.name)))
        if instruction.op in (Op.ADD, Op.SUB, Op.XOR):
            return self.builder.xor(*self._both(instruction))
        if instruction.op is Op.MUL:
            return self.builder.and_(*self._both(instruction))
        return self.value(instruction.operands[0], instruction.types[0])    # shifts of i1 can only shift by 0

    def _multiply_accumulate(self, add: Instruction) -> int | None:
        """``x + y * z``, and in a loop ``x + (y << constant)``."""
        for product, other in (add.operands, add.operands[::-1]):
            mul = self.definitions.of(product)
            if mul is None or mul.op not in (Op.MUL, Op.SHL) or len(self.users[mul.name]) != 1 \
                    or self.depth_of(mul.name) != self.depth_of(""):
                continue
            old, (a, b) = self.value(other, add.type), self._both(mul)
            if mul.op is Op.MUL:
                return self.builder.macc(old, a, b)
            if (shift := self.builder.value_of(b)) is not None and self.depth_of(""):
                return self.builder.macc(old, a, self.builder.const(1 << shift), in_loop=True)
        return None
