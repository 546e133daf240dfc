"""Calls: of routines, compiler intrinsics and the work-item functions."""

import re
from collections.abc import Callable, Mapping

from fgpu.config import WORK_GROUP_MAX, Config
from fgpu.isa import Opcode

from ..backend.mir import ZERO, Callee
from ..ir.module import Function, Instruction, Module
from ..ir.values import WORD_BITS, Constant, Global, Type, Value
from ..refusals import unsupported_call
from ..work_groups import BARRIERS
from .atomics import atomic_name, atomic_opcode
from .machine_builder import Builder
from .memory import MemorySelector

__all__ = ["CallSelector"]

_DIMENSIONS = 3
_PLACE = 3
"""What stands for a dimension in the instruction that asks for the place."""
_ID_BITS = (WORK_GROUP_MAX - 1).bit_length()
_IGNORED = ("llvm.lifetime.", "llvm.assume", "llvm.dbg.", "llvm.experimental.noalias.", "llvm.donothing")
_FENCES = ("mem_fence", "read_mem_fence", "write_mem_fence")
"""No instruction: a work-item's accesses take effect in program order (docs/memory-order.md)."""
_MINMAX = {"llvm.smin.": (True, False), "llvm.smax.": (True, True), "llvm.umin.": (False, False),
           "llvm.umax.": (False, True)}


class CallSelector:
    """Selects code for the calls of one function. ``value`` gives the register of an operand."""

    def __init__(self, function: Function, module: Module, config: Config, builder: Builder,
                 value: Callable[[Value, Type], int], memory: MemorySelector, depth_of: Callable[[str], int],
                 callees: Mapping[str, Callee]) -> None:
        self.function = function
        self.module = module
        self.config = config
        self.builder = builder
        self.value = value
        self.memory = memory
        self.depth_of = depth_of
        self.callees = callees

    def both(self, call: Instruction) -> tuple[int, int]:
        """Registers of the first two arguments."""
        return (self.value(call.operands[0], call.types[0]), self.value(call.operands[1], call.types[1]))

    def call(self, call: Instruction) -> int | None:
        """The result of a call, if it has one."""
        callee = call.callee
        if (linked := self.callees.get(callee)) is not None:
            arguments = [self.value(operand, type) for operand, type in zip(call.operands, call.types, strict=True)]
            if linked.frame:
                arguments.append(self.memory.frame.address)
            return self.builder.call(linked, arguments)
        if callee.startswith(_IGNORED):
            return None
        if callee.startswith(("llvm.memset.p0.", "llvm.memcpy.p0.")):
            self.memory.private.fill(call, self.filling(call))
            return None
        for prefix, (is_signed, is_max) in _MINMAX.items():
            if callee.startswith(prefix):
                return self.minmax(call, is_signed, is_max)
        intrinsic = re.fullmatch(r"llvm\.(\w+(?:\.sat)?)\.i\d+", callee)
        name = re.fullmatch(r"_Z(\d+)(\w+)", callee)
        builtin = intrinsic[1].replace(".", "_") if intrinsic else name[2][:int(name[1])] if name else callee
        if (atomic := atomic_name(call)) is not None:
            return self.atomic(call, atomic)
        if builtin in _FENCES:
            self.builder.fence()
            return None
        if callee in BARRIERS:
            self.builder.effect(Opcode.SYNC)
            return None
        handler: Callable[[Instruction], int] | None = getattr(self, f"call_{builtin}", None)
        if handler is None:
            raise unsupported_call(self.function, call, builtin)
        return handler(call)

    def atomic(self, call: Instruction, name: str) -> int:
        """An atomic operation on a word of memory, if the hardware has it; the result is the old word."""
        opcode = atomic_opcode(self.function, call, name, self.config)
        b, pointer = self.builder, call.operands[0]
        arguments = [self.value(operand, call.type) for operand in call.operands[1:]]
        if opcode in (Opcode.ACMPXCHG, Opcode.LACMPXCHG):
            expected, new = arguments
            return b.emit(opcode, rs=self.value(pointer, call.types[0]), rt=expected, rd=new)
        operand = arguments[0] if arguments else b.const(1 if name == "atomic_inc" else -1)
        if name == "atomic_sub":
            operand = b.sub(ZERO, operand)
        base, index = self.memory.address(pointer, 4)
        return b.emit(opcode, rs=base, rt=index, rd=operand)

    def filling(self, call: Instruction) -> bytes:
        """The bytes that a memset or a memcpy of a constant table writes."""
        source, length = call.operands[1:3]
        size = length.value if isinstance(length, Constant) else None
        if size is not None and isinstance(source, Global) and source.name in self.module.variables:
            return self.module.variables[source.name].content[source.offset:source.offset + size]
        if size is not None and isinstance(source, Constant) and source.value is not None:
            return bytes([source.value & 0xFF]) * size
        raise self.function.error("private memory can only be filled with constants of a known length", call)

    def call_fgpu_opaque(self, call: Instruction) -> int:
        """What it is given; clang did not know that."""
        return self.value(call.operands[0], call.type)

    def minmax(self, call: Instruction, is_signed: bool, is_max: bool) -> int:
        b, bits = self.builder, call.type.bits
        extend = b.sign_extended if is_signed else b.zero_extended
        x, y = (extend(register, bits) for register in self.both(call))
        less = b.less(x, y, is_signed)
        return b.select(less, is_max, x, y)

    def call_abs(self, call: Instruction) -> int:
        b = self.builder
        x = b.sign_extended(self.value(call.operands[0], call.type), call.type.bits)
        return b.select(b.less(x, ZERO, is_signed=True), False, b.sub(ZERO, x), x)

    def funnel(self, call: Instruction, to_left: bool) -> int:
        """fshl and fshr: the upper or lower word of two words shifted together."""
        b, bits = self.builder, call.type.bits
        high, low, amount = (self.value(operand, call.type) for operand in call.operands)
        if bits & (bits - 1):
            raise self.function.error(f"a rotation of {bits} bits is not supported", call)
        known = b.value_of(amount)
        if known is not None and known % bits == 0:
            return high if to_left else low
        if known is not None:
            left = known % bits if to_left else bits - known % bits
            low = b.srl(b.zero_extended(low, bits), b.const(bits - left))
            if self.depth_of(""):
                return b.macc(low, high, b.const(1 << left), in_loop=True)
            return b.or_(b.shl(high, b.const(left)), low)
        amount = b.and_(amount, b.const(bits - 1))
        rest = b.and_(b.sub(ZERO, amount), b.const(bits - 1))
        # The two shifts are by n and bits - n; for n = 0 the second is split so that it shifts by bits.
        one = b.const(1)
        if to_left:
            low = b.zero_extended(low, bits)
            if call.operands[0] == call.operands[1]:
                return b.or_(b.shl(high, amount), b.srl(low, rest))
            return b.or_(b.shl(high, amount), b.srl(b.srl(low, one), b.xor(amount, b.const(bits - 1))))
        low = b.zero_extended(low, bits)
        if call.operands[0] == call.operands[1]:
            return b.or_(b.shl(high, rest), b.srl(low, amount))
        return b.or_(b.shl(b.shl(high, one), b.xor(amount, b.const(bits - 1))), b.srl(low, amount))

    def call_fshl(self, call: Instruction) -> int:
        return self.funnel(call, to_left=True)

    def call_fshr(self, call: Instruction) -> int:
        return self.funnel(call, to_left=False)

    def call_usub_sat(self, call: Instruction) -> int:
        b = self.builder
        x, y = (b.zero_extended(register, call.type.bits) for register in self.both(call))
        return b.select(b.less(x, y, is_signed=False), False, ZERO, b.sub(x, y))

    def call_uadd_sat(self, call: Instruction) -> int:
        b = self.builder
        x, y = (b.zero_extended(register, call.type.bits) for register in self.both(call))
        total = b.add(x, y)
        if call.type.bits == 32:
            return b.select(b.less(total, x, is_signed=False), False, b.const(-1), total)
        limit = b.const((1 << call.type.bits) - 1)
        return b.select(b.less(total, limit, is_signed=False), False, total, limit)

    def signed_saturation(self, call: Instruction, adds: bool) -> int:
        """Of words: where the result's sign is wrong, the end of the range with the other one."""
        b, bits = self.builder, call.type.bits
        x, y = (b.sign_extended(register, bits) for register in self.both(call))
        result = b.add(x, y) if adds else b.sub(x, y)
        if bits < WORD_BITS:
            lowest, highest = b.const(-1 << bits - 1), b.const((1 << bits - 1) - 1)
            result = b.select(b.less(result, lowest, is_signed=True), False, lowest, result)
            return b.select(b.less(highest, result, is_signed=True), False, highest, result)
        changed = b.xor(x, result)
        other = b.xor(y, result) if adds else b.xor(x, y)
        limit = b.xor(b.sra(result, b.const(WORD_BITS - 1)), b.const(-1 << WORD_BITS - 1))
        return b.select(b.less(b.and_(changed, other), ZERO, is_signed=True), False, limit, result)

    def call_sadd_sat(self, call: Instruction) -> int:
        return self.signed_saturation(call, adds=True)

    def call_ssub_sat(self, call: Instruction) -> int:
        return self.signed_saturation(call, adds=False)

    def call_bswap(self, call: Instruction) -> int:
        b, bits = self.builder, call.type.bits
        x = self.value(call.operands[0], call.type)
        outer = b.or_(b.shl(x, b.const(bits - 8)), b.srl(b.zero_extended(x, bits), b.const(bits - 8)))
        if bits == 16:
            return outer
        mask, eight = b.const(0xFF00), b.const(8)
        return b.or_(outer, b.or_(b.and_(b.srl(x, eight), mask), b.shl(b.and_(x, mask), eight)))

    def call_bitreverse(self, call: Instruction) -> int:
        """Swap halves, of halves, of halves: written here, as clang makes this very call of the same in C."""
        b, x = self.builder, self.value(call.operands[0], call.type)
        for distance, mask in ((1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0F0F_0F0F), (8, 0x00FF_00FF)):
            shift, bits = b.const(distance), b.const(mask)
            x = b.or_(b.and_(b.srl(x, shift), bits), b.shl(b.and_(x, bits), shift))
        half = b.const(16)
        x = b.or_(b.srl(x, half), b.shl(x, half))
        return b.srl(x, b.const(32 - call.type.bits))

    # -- the index space ---------------------------------------------------------------------------------

    def query(self, call: Instruction, outside: int, build: Callable[[int], int]) -> int:
        """``build`` for the dimension of the call; ``outside`` for one beyond the third."""
        b, dimension = self.builder, call.operands[0]
        if isinstance(dimension, Constant) and dimension.value is not None:
            return build(dimension.value) if dimension.value in range(_DIMENSIONS) else b.const(outside)
        asked, result = self.value(dimension, call.types[0]), b.const(outside)
        for number in range(_DIMENSIONS):
            result = b.select(b.xor(asked, b.const(number)), True, build(number), result)
        return result

    def runtime(self, opcode: Opcode, dimension: int, bits: int = 32) -> int:
        return self.builder.note(self.builder.emit(opcode, imm=dimension), bits)

    def call_get_global_id(self, call: Instruction) -> int:
        return self.query(call, 0, lambda d: self.runtime(Opcode.GID, d))

    def call_get_local_id(self, call: Instruction) -> int:
        return self.query(call, 0, lambda d: self.runtime(Opcode.LID, d, _ID_BITS))

    def call_fgpu_place(self, call: Instruction) -> int:
        """A number that no other running work-group has; see :mod:`fgpu.compiler.legalize.local_memory`."""
        return self.runtime(Opcode.WGOFF, _PLACE)

    def call_get_group_id(self, call: Instruction) -> int:
        return self.query(call, 0, lambda d: self.runtime(Opcode.WGID, d))

    def call_get_global_size(self, call: Instruction) -> int:
        return self.query(call, 1, lambda d: self.runtime(Opcode.SIZE, d))

    def call_get_local_size(self, call: Instruction) -> int:
        return self.query(call, 1, lambda d: self.runtime(Opcode.WGSIZE, d, _ID_BITS + 1))

    def call_get_global_offset(self, call: Instruction) -> int:
        """wgoff is the group's number times its size, plus the global offset."""
        def offset(d: int) -> int:
            start = self.builder.mul(self.runtime(Opcode.WGID, d), self.runtime(Opcode.WGSIZE, d, _ID_BITS + 1))
            return self.builder.sub(self.runtime(Opcode.WGOFF, d), start)
        return self.query(call, 0, offset)
