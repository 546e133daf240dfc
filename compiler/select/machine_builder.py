"""Emitting machine operations: picks immediate forms, folds constants, and knows which upper bits are clear."""

from collections.abc import Sequence

from fgpu.isa import Opcode, by_opcode

from ..backend.mir import ARGUMENTS, COMMUTATIVE, ZERO, Callee, MachineBlock, MachineFunction, Op, Pseudo
from ..ir.module import Location

__all__ = ["Builder", "signed"]

_MASK = 0xFFFF_FFFF
_SHIFTS = (Opcode.SLL, Opcode.SRL, Opcode.SRA)
_SHIFTED_BY = 31
"""The bits of a register by which shifts shift."""
_IMMEDIATE = {
    Opcode.ADD: Opcode.ADDI, Opcode.AND: Opcode.ANDI, Opcode.OR: Opcode.ORI, Opcode.XOR: Opcode.XORI,
    Opcode.SLL: Opcode.SLLI, Opcode.SRL: Opcode.SRLI, Opcode.SRA: Opcode.SRAI, Opcode.SLT: Opcode.SLTI,
    Opcode.SLTU: Opcode.SLTIU,
}


def signed(value: int) -> int:
    """``value`` modulo 2^32, as a signed number."""
    return ((value & _MASK) ^ 0x8000_0000) - 0x8000_0000


_FOLD = {
    Opcode.ADD: lambda a, b: a + b,
    Opcode.SUB: lambda a, b: a - b,
    Opcode.MUL: lambda a, b: a * b,
    Opcode.AND: lambda a, b: a & b,
    Opcode.OR: lambda a, b: a | b,
    Opcode.XOR: lambda a, b: a ^ b,
    Opcode.NOR: lambda a, b: ~(a | b),
    Opcode.SLL: lambda a, b: a << (b & 31),
    Opcode.SRL: lambda a, b: (a & _MASK) >> (b & 31),
    Opcode.SRA: lambda a, b: a >> (b & 31),
    Opcode.SLT: lambda a, b: int(a < b),
    Opcode.SLTU: lambda a, b: int((a & _MASK) < (b & _MASK)),
}


class Builder:
    """Appends operations to ``block``. Values are registers; constants are registers with a known value.

    ``unsigned_bits`` and ``signed_bits`` say of a register that its value fits so many bits, read as an
    unsigned or as a signed number; ``zeros_below`` how many of its lowest bits are clear. A register that is
    not there may hold anything.
    """

    def __init__(self, function: MachineFunction) -> None:
        self.function = function
        self.block = MachineBlock("")
        self.location: Location | None = None
        """Of what is being lowered; each operation remembers it."""
        self.constants: dict[int, int] = {ZERO: 0}
        self.unsigned_bits: dict[int, int] = {ZERO: 0}
        self.signed_bits: dict[int, int] = {ZERO: 1}
        self.zeros_below: dict[int, int] = {ZERO: 32}

    # -- any operation -------------------------------------------------------------------------------

    def frame(self, address: int) -> int:
        """The register that has the frame's address for the whole function."""
        dst = self.function.new_register()
        self._append(Op(Pseudo.FRAME, dst, address))
        return dst

    def frame_step(self) -> int:
        """The register of a constant that :func:`~fgpu.compiler.select.frame.set_frame_size` sets."""
        dst = self.function.new_register()
        self._append(Op(Pseudo.FRAME_STEP, dst))
        return dst

    def emit(self, opcode: Opcode, rs: int = ZERO, rt: int = ZERO, rd: int = ZERO, imm: int = 0) -> int:
        """Append an operation with a new destination, which is returned."""
        dst = self.function.new_register()
        self._append(Op(opcode, dst, rs, rt, rd, imm))
        return dst

    def effect(self, opcode: Opcode, rs: int = ZERO, rt: int = ZERO, rd: int = ZERO, imm: int = 0) -> None:
        """Append an operation without a destination."""
        self._append(Op(opcode, None, rs, rt, rd, imm))

    def fence(self) -> None:
        """Keep accesses to memory on their side of this place."""
        self._append(Op(Pseudo.FENCE))

    def _append(self, op: Op) -> None:
        op.location = self.location
        self.block.ops.append(op)

    def argument(self, number: int) -> int:
        """The argument ``number`` of the routine that is being built."""
        dst = self.function.new_register()
        self._append(Op(Pseudo.MOVE, dst, ARGUMENTS[number]))
        return dst

    def give_back(self, registers: Sequence[int]) -> None:
        """Let ``registers``, two at most, be the results of the routine."""
        rs, rt = [*registers, ZERO, ZERO][:2]
        self._append(Op(Pseudo.RESULT, rs=rs, rt=rt, imm=len(registers)))

    def call(self, callee: Callee, arguments: Sequence[int]) -> int:
        """The first result of a call of ``callee``, if it has one."""
        dst = self.function.new_register()
        self._append(Op(Pseudo.CALL, dst, imm=callee.number, callee=callee, arguments=tuple(arguments)))
        return dst

    def second(self, call: int) -> int:
        """The second result of the call that returns ``call``."""
        dst = self.function.new_register()
        self._append(Op(Pseudo.SECOND, dst, call))
        return dst

    def const(self, value: int) -> int:
        """A register with the value ``value``."""
        value = signed(value)
        if value == 0:
            return ZERO
        dst = self.function.new_register()
        self._append(Op(Pseudo.CONST, dst, imm=value))
        self.constants[dst] = value
        self.unsigned_bits[dst] = (value & _MASK).bit_length()
        self.signed_bits[dst] = (value if value >= 0 else ~value).bit_length() + 1
        return dst

    def value_of(self, register: int) -> int | None:
        """The value of a register, if known, as a signed number."""
        return self.constants.get(register)

    # -- arithmetic ----------------------------------------------------------------------------------

    def binary(self, opcode: Opcode, a: int, b: int) -> int:
        """``a opcode b``, by the cheapest instruction."""
        left, right = self.value_of(a), self.value_of(b)
        if opcode in (Opcode.ADD, Opcode.OR) and a == ZERO:
            return b
        if left is not None and right is not None:
            return self.const(_FOLD[opcode](left, right))
        if left is not None and opcode in COMMUTATIVE:
            a, b, left, right = b, a, right, left
        if opcode is Opcode.SUB and right is not None:
            return self.add(a, self.const(-right))
        if opcode in _SHIFTS and right is not None and right & ~_SHIFTED_BY:
            return self.binary(opcode, a, self.const(right & _SHIFTED_BY))
        if right is not None and (simple := self._with_constant(opcode, a, right)) is not None:
            return simple
        immediate = _IMMEDIATE.get(opcode)
        if right is not None and immediate is not None and right in by_opcode[immediate].immediate_range:
            result = self.emit(immediate, a, imm=right)
        else:
            result = self.emit(opcode, a, b)
        self._note(opcode, result, a, b)
        return result

    def _with_constant(self, opcode: Opcode, a: int, right: int) -> int | None:
        """What needs no instruction, or another one than ``opcode``."""
        if right == 0:
            if opcode in (Opcode.AND, Opcode.MUL, Opcode.SLTU):
                return ZERO
            if opcode in (Opcode.ADD, Opcode.OR, Opcode.XOR, Opcode.SLL, Opcode.SRL, Opcode.SRA):
                return a
        if opcode is Opcode.MUL and right & _MASK in (power := {1 << n: n for n in range(32)}):
            return self.shl(a, self.const(power[right & _MASK]))
        if opcode is Opcode.XOR and right == -1:
            return self.emit(Opcode.NOR, a, ZERO)
        if opcode is Opcode.AND:
            mask = right & _MASK
            if mask & (mask + 1) == 0 and self.unsigned_bits.get(a, 32) <= mask.bit_length():
                return a
            if mask & (mask + 1) == 0 and mask not in by_opcode[Opcode.ANDI].immediate_range:
                shift = self.const(32 - mask.bit_length())
                return self.srl(self.shl(a, shift), shift)
        return None

    def _note(self, opcode: Opcode, result: int, a: int, b: int) -> None:
        ua, ub = self.unsigned_bits.get(a, 32), self.unsigned_bits.get(b, 32)
        sa, sb = self.signed_bits.get(a, 32), self.signed_bits.get(b, 32)
        shift = self.value_of(b)
        bits, sbits = 32, 32
        if opcode is Opcode.AND:
            bits, sbits = min(ua, ub), max(sa, sb)
        elif opcode in (Opcode.OR, Opcode.XOR):
            bits, sbits = max(ua, ub), max(sa, sb)
        elif opcode in (Opcode.SLT, Opcode.SLTU):
            bits = 1
        elif opcode is Opcode.SRL:
            bits = ua if shift is None else min(32 - (shift & 31), max(0, ua - (shift & 31)))
        elif opcode is Opcode.SRA:
            bits, sbits = (ua, sa) if shift is None else (ua, max(1, sa - (shift & 31)))
        elif opcode is Opcode.SLL and shift is not None:
            self.zeros_below[result] = self.zeros_below.get(a, 0) + shift
            bits, sbits = ua + shift, sa + shift
        elif opcode is Opcode.ADD:
            bits, sbits = max(ua, ub) + 1, max(sa, sb) + 1
        elif opcode is Opcode.SUB:
            sbits = max(sa, sb) + 1
        elif opcode is Opcode.MUL:
            bits, sbits = ua + ub, sa + sb
        self.note(result, bits, sbits)

    def note(self, register: int, unsigned_bits: int = 32, signed_bits: int = 32) -> int:
        """Remember how many bits the value of ``register`` needs; returns the register."""
        if unsigned_bits < 32:
            self.unsigned_bits[register] = unsigned_bits
            signed_bits = min(signed_bits, unsigned_bits + 1)
        if signed_bits < 32:
            self.signed_bits[register] = signed_bits
        return register

    def add(self, a: int, b: int) -> int:
        """``a + b``, modulo 2**32."""
        return self.binary(Opcode.ADD, a, b)

    def sub(self, a: int, b: int) -> int:
        """``a - b``, modulo 2**32."""
        return self.binary(Opcode.SUB, a, b)

    def mul(self, a: int, b: int) -> int:
        """The lower word of ``a * b``."""
        return self.binary(Opcode.MUL, a, b)

    def macc(self, old: int, a: int, b: int, in_loop: bool = False) -> int:
        """``old + a * b``; in a loop constants in registers are free, elsewhere they are not worth it."""
        if self.value_of(old) == 0 or self.value_of(a) is not None \
                or (self.value_of(b) is not None and not in_loop):
            return self.add(old, self.mul(a, b))
        return self.emit(Opcode.MACC, a, b, old)

    def and_(self, a: int, b: int) -> int:
        """``a & b``."""
        return self.binary(Opcode.AND, a, b)

    def or_(self, a: int, b: int) -> int:
        """``a | b``."""
        return self.binary(Opcode.OR, a, b)

    def xor(self, a: int, b: int) -> int:
        """``a ^ b``."""
        return self.binary(Opcode.XOR, a, b)

    def shl(self, a: int, b: int) -> int:
        """``a << b``; of ``b`` the low five bits count."""
        return self.binary(Opcode.SLL, a, b)

    def srl(self, a: int, b: int) -> int:
        """``a >> b``, with zeros from above; of ``b`` the low five bits count."""
        return self.binary(Opcode.SRL, a, b)

    def sra(self, a: int, b: int) -> int:
        """``a >> b``, with the sign from above; of ``b`` the low five bits count."""
        return self.binary(Opcode.SRA, a, b)

    def less(self, a: int, b: int, is_signed: bool) -> int:
        """1 if ``a < b``, else 0."""
        return self.binary(Opcode.SLT if is_signed else Opcode.SLTU, a, b)

    def select(self, condition: int, negated: bool, then: int, other: int) -> int:
        """``then`` if ``condition`` is not zero (is zero, if ``negated``), else ``other``."""
        known = self.value_of(condition)
        if known is not None:
            return then if (known != 0) != negated else other
        if then == other:
            return then
        result = self.emit(Opcode.MOVZ if negated else Opcode.MOVN, then, condition, other)
        self.zeros_below[result] = min(self.zeros_below.get(then, 0), self.zeros_below.get(other, 0))
        return self.note(result, max(self.unsigned_bits.get(r, 32) for r in (then, other)),
                         max(self.signed_bits.get(r, 32) for r in (then, other)))

    # -- narrow integers -----------------------------------------------------------------------------

    def zero_extended(self, a: int, bits: int) -> int:
        """The low ``bits`` of ``a`` as an unsigned number."""
        return a if bits >= 32 else self.and_(a, self.const((1 << bits) - 1))

    def sign_extended(self, a: int, bits: int) -> int:
        """The low ``bits`` of ``a`` as a signed number."""
        if bits >= 32 or self.signed_bits.get(a, 32) <= bits:
            return a
        shift = self.const(32 - bits)
        result = self.sra(self.shl(a, shift), shift)
        return self.note(result, signed_bits=bits)
