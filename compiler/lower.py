"""Instruction selection: IR of one kernel to machine operations on virtual registers."""

import re
from collections.abc import Callable, Mapping

from fgpu.config import WORK_GROUP_MAX
from fgpu.isa import Opcode

from .builder import Builder
from .cfg import Flow
from .conditions import ConditionSelector
from .ir import Block, Constant, Function, Global, Instruction, Local, Type, Value, Variable
from .memory import GLOBAL_SPACES, MemorySelector
from .mir import ZERO, MachineBlock, MachineFunction, Phi
from .refusals import check_function, refuse, unsupported_call

__all__ = ["lower"]

_BINARY = {
    "add": Opcode.ADD, "sub": Opcode.SUB, "mul": Opcode.MUL, "and": Opcode.AND, "or": Opcode.OR, "xor": Opcode.XOR,
    "shl": Opcode.SLL, "lshr": Opcode.SRL, "ashr": Opcode.SRA,
}
_DIMENSIONS = 3
_ID_BITS = (WORK_GROUP_MAX - 1).bit_length()
_IGNORED = ("llvm.lifetime.", "llvm.assume", "llvm.dbg.", "llvm.experimental.noalias.", "llvm.donothing")
_MINMAX = {"llvm.smin.": (True, False), "llvm.smax.": (True, True), "llvm.umin.": (False, False),
           "llvm.umax.": (False, True)}


class _Lowering:
    def __init__(self, function: Function, variables: Mapping[str, Variable]) -> None:
        self.function = function
        self.variables = variables
        self.flow = Flow({name: block.successors for name, block in function.blocks.items()})
        self.machine = MachineFunction(function.name)
        self.builder = Builder(self.machine)
        self.values: dict[str, int] = {}
        self.definitions: dict[str, Instruction] = {}
        self.users: dict[str, list[Instruction]] = {}
        self.home: dict[str, str] = {}
        for block in function.blocks.values():
            for instruction in block.instructions:
                self.definitions[instruction.name] = instruction
                self.home[instruction.name] = block.name
                for operand in instruction.operands:
                    if isinstance(operand, Local):
                        self.users.setdefault(operand.name, []).append(instruction)
        self.definitions.pop("", None)
        self.memory = MemorySelector(function, self.builder, self.value, self.definitions, self.users, self.depth_of)
        self.conditions = ConditionSelector(self.builder, self.value, self.definitions)

    def run(self) -> MachineFunction:
        check_function(self.function)
        for name in self.flow.order:
            self.machine.blocks[name] = MachineBlock(name)
        entry = self.builder.block = self.machine.blocks[self.flow.entry]
        for number, (name, _) in enumerate(self.function.parameters):
            self.values[name] = self.builder.emit(Opcode.LP, imm=number)
        for name in self.flow.order:
            for phi in self.function.blocks[name].phis:
                self.values[phi.name] = self.builder.note(self.machine.new_register(),
                                                          1 if phi.type.bits == 1 else 32)
        for name in self.flow.order:
            self.builder.block = self.machine.blocks[name]
            self.here = name
            for instruction in self.function.blocks[name].instructions:
                self.instruction(instruction)
        assert entry.name == self.flow.entry
        for name in self.flow.order:
            self.phis(self.function.blocks[name])
        return self.machine

    def depth_of(self, name: str) -> int:
        """Loops around the definition of ``name``; around the instruction at hand for the empty name."""
        return self.flow.depth[self.home.get(name, self.flow.entry) if name else self.here]

    def phis(self, block: Block) -> None:
        for phi in block.phis:
            sources = {}
            for value, name in zip(phi.operands, phi.blocks, strict=True):
                if name in self.machine.blocks:
                    self.builder.block = self.machine.blocks[name]
                    sources[name] = self.value(value, phi.type)
            self.machine.blocks[block.name].phis.append(Phi(self.values[phi.name], sources))

    def value(self, value: Value, type: Type) -> int:
        """The register of an operand; above the bits of a narrow type it may hold anything."""
        if isinstance(value, Local):
            return self.values[value.name]
        if isinstance(value, Constant) and value.value is not None:
            return self.builder.const(value.value)
        what = f"variable {value.name!r} in memory" if isinstance(value, Global) else f"constant {value.text!r}"
        raise refuse(self.function, self.current, f"{what} is not supported (there is no data segment)")

    # -- instructions ------------------------------------------------------------------------------------

    def instruction(self, instruction: Instruction) -> None:
        self.current = instruction
        if instruction.op == "phi":
            return
        handler: Callable[[Instruction], int | None] | None = getattr(self, f"op_{instruction.op}", None)
        if handler is None and instruction.op in _BINARY:
            handler = self.binary
        if handler is None:
            raise refuse(self.function, instruction, f"instruction {instruction.op!r} is not supported")
        result = handler(instruction)
        if instruction.name and result is not None:
            self.values[instruction.name] = result

    def both(self, instruction: Instruction) -> tuple[int, int]:
        return (self.value(instruction.operands[0], instruction.types[0]),
                self.value(instruction.operands[1], instruction.types[1]))

    def binary(self, instruction: Instruction) -> int:
        op, bits = instruction.op, instruction.type.bits
        if bits == 1:
            return self.binary_bool(instruction)
        a, b = self.both(instruction)
        if op in ("shl", "lshr", "ashr"):
            b = self.shift_amount(instruction.operands[1], instruction.type)
        if op == "lshr":
            a = self.builder.zero_extended(a, bits)
        elif op == "ashr":
            a = self.builder.sign_extended(a, bits)
        if op in ("add", "sub", "or", "xor") and (chosen := self.apply_unless(instruction)) is not None:
            return chosen
        if op == "add" or instruction.detail == "disjoint":
            fused = self.multiply_accumulate(instruction)
            if fused is not None:
                return fused
        return self.builder.binary(_BINARY[op], a, b)

    def apply_unless(self, instruction: Instruction) -> int | None:
        """``x op (c ? 0 : y)`` as ``c ? x : x op y``: one constant and one move less."""
        x, choice = instruction.operands
        if not isinstance(choice, Local) and instruction.op != "sub":
            x, choice = choice, x
        select = self.definitions.get(choice.name) if isinstance(choice, Local) else None
        if select is None or select.op != "select" or len(self.users[select.name]) != 1 \
                or Constant(0) not in select.operands[1:] or self.depth_of(select.name) != self.depth_of(""):
            return None
        condition = self.conditions.condition(select.operands[0])
        if select.operands[2] == Constant(0):
            condition = ~condition
        y = select.operands[1 if select.operands[2] == Constant(0) else 2]
        plain = self.value(x, instruction.type)
        applied = self.builder.binary(_BINARY[instruction.op], plain, self.value(y, instruction.type))
        return self.builder.select(condition.register, condition.negated, plain, applied)

    def shift_amount(self, amount: Value, type: Type) -> int:
        """Shifts use the low five bits of a register: what OpenCL C asks for, so clang's mask can go."""
        definition = self.definitions.get(amount.name) if isinstance(amount, Local) else None
        if type.bits == 32 and definition is not None and definition.op == "and" \
                and definition.operands[1] == Constant(31):
            amount = definition.operands[0]
        return self.builder.zero_extended(self.value(amount, type), type.bits)

    def binary_bool(self, instruction: Instruction) -> int:
        """Arithmetic modulo 2 on booleans, which are 0 or 1 in a register."""
        if instruction.op in ("and", "or", "xor"):
            return self.conditions.materialize(self.conditions.condition(Local(instruction.name))) \
                if instruction.op != "xor" else self.builder.xor(*self.both(instruction))
        if instruction.op in ("add", "sub"):
            return self.builder.xor(*self.both(instruction))
        if instruction.op == "mul":
            return self.builder.and_(*self.both(instruction))
        return self.value(instruction.operands[0], instruction.types[0])    # shifts of i1 can only shift by 0

    def multiply_accumulate(self, add: Instruction) -> int | None:
        for product, other in (add.operands, add.operands[::-1]):
            mul = self.definitions.get(product.name) if isinstance(product, Local) else None
            if mul is None or mul.op not in ("mul", "shl") or len(self.users[mul.name]) != 1 \
                    or self.depth_of(mul.name) != self.depth_of(""):
                continue
            old, (a, b) = self.value(other, add.type), self.both(mul)
            if mul.op == "mul":
                return self.builder.macc(old, a, b)
            if (shift := self.builder.value_of(b)) is not None and self.depth_of(""):
                return self.builder.macc(old, a, self.builder.const(1 << shift), in_loop=True)
        return None

    def op_icmp(self, instruction: Instruction) -> int:
        return self.conditions.materialize(self.conditions.compare(instruction))

    def op_select(self, instruction: Instruction) -> int:
        if instruction.type.bits == 1 and (instruction.operands[1] == Constant(1)
                                           or instruction.operands[2] == Constant(0)):
            return self.conditions.materialize(self.conditions.condition(Local(instruction.name)))
        condition = self.conditions.condition(instruction.operands[0])
        then, other = (self.value(v, instruction.type) for v in instruction.operands[1:])
        return self.builder.select(condition.register, condition.negated, then, other)

    def op_zext(self, instruction: Instruction) -> int:
        return self.builder.zero_extended(self.value(instruction.operands[0], instruction.types[0]),
                                          instruction.types[0].bits)

    def op_sext(self, instruction: Instruction) -> int:
        source = self.value(instruction.operands[0], instruction.types[0])
        if instruction.types[0].bits == 1:
            return self.builder.sub(ZERO, source)
        return self.builder.sign_extended(source, instruction.types[0].bits)

    def op_trunc(self, instruction: Instruction) -> int:
        source = self.value(instruction.operands[0], instruction.types[0])
        return self.builder.zero_extended(source, 1) if instruction.type.bits == 1 else source

    def copied(self, instruction: Instruction) -> int:
        return self.value(instruction.operands[0], instruction.types[0])

    op_freeze = op_bitcast = copied

    def op_ptrtoint(self, instruction: Instruction) -> int:
        if instruction.types[0].space not in GLOBAL_SPACES:
            raise refuse(self.function, instruction, "a private pointer as an integer is not supported")
        return self.copied(instruction)

    def op_inttoptr(self, instruction: Instruction) -> int:
        return self.op_zext(instruction)

    def op_load(self, instruction: Instruction) -> int:
        return self.memory.load(instruction)

    def op_store(self, instruction: Instruction) -> None:
        self.memory.store(instruction)

    def op_getelementptr(self, instruction: Instruction) -> int:
        return self.memory.getelementptr(instruction)

    def op_alloca(self, instruction: Instruction) -> int:
        return self.memory.alloca(instruction)

    # -- control flow ------------------------------------------------------------------------------------

    def op_br(self, instruction: Instruction) -> None:
        self.builder.block.next = instruction.blocks[0]

    def op_condbr(self, instruction: Instruction) -> None:
        target, other = instruction.blocks
        self.builder.block.next = other
        if target != other:
            self.builder.block.branch = self.conditions.branch(instruction.operands[0])
            self.builder.block.target = target

    def op_ret(self, instruction: Instruction) -> None:
        """The block has no successor; that is all."""

    op_unreachable = op_ret

    # -- calls -------------------------------------------------------------------------------------------

    def op_call(self, call: Instruction) -> int | None:
        callee = call.detail
        if callee.startswith(_IGNORED):
            return None
        if callee.startswith(("llvm.memset.p0.", "llvm.memcpy.p0.")):
            self.memory.private_fill(call, self.filling(call))
            return None
        for prefix, (is_signed, is_max) in _MINMAX.items():
            if callee.startswith(prefix):
                return self.minmax(call, is_signed, is_max)
        intrinsic = re.fullmatch(r"llvm\.(\w+(?:\.sat)?)\.i\d+", callee)
        name = re.fullmatch(r"_Z(\d+)(\w+)", callee)
        builtin = intrinsic[1].replace(".", "_") if intrinsic else name[2][:int(name[1])] if name else callee
        handler: Callable[[Instruction], int] | None = getattr(self, f"call_{builtin}", None)
        if handler is None:
            raise unsupported_call(self.function, call, builtin)
        return handler(call)

    def filling(self, call: Instruction) -> bytes | None:
        """The bytes that a memset or a memcpy writes, if they are known."""
        source, length = call.operands[1:3]
        if isinstance(source, Global):
            return self.variables[source.name].content if source.name in self.variables else None
        if isinstance(source, Constant) and source.value is not None and isinstance(length, Constant):
            return bytes([source.value & 0xFF]) * (length.value or 0)
        return None

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
            raise refuse(self.function, call, f"a rotation of {bits} bits is not supported")
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

    # -- the index space ---------------------------------------------------------------------------------

    def query(self, call: Instruction, outside: int, build: Callable[[int], int]) -> int:
        """``build`` for the constant dimension of the call; ``outside`` for a dimension beyond the third."""
        dimension = call.operands[0]
        if not isinstance(dimension, Constant) or dimension.value is None:
            raise refuse(self.function, call, "the dimension of a work-item function must be a constant")
        return build(dimension.value) if dimension.value in range(_DIMENSIONS) else self.builder.const(outside)

    def runtime(self, opcode: Opcode, dimension: int, bits: int = 32) -> int:
        return self.builder.note(self.builder.emit(opcode, imm=dimension), bits)

    def call_get_global_id(self, call: Instruction) -> int:
        return self.query(call, 0, lambda d: self.builder.add(self.runtime(Opcode.LID, d, _ID_BITS),
                                                              self.runtime(Opcode.WGOFF, d)))

    def call_get_local_id(self, call: Instruction) -> int:
        return self.query(call, 0, lambda d: self.runtime(Opcode.LID, d, _ID_BITS))

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


def lower(function: Function, variables: Mapping[str, Variable]) -> MachineFunction:
    """Select instructions for ``function``; raises CompileError for what the machine cannot do.

    ``variables`` are the constants of the module, from which private arrays are initialized.
    """
    return _Lowering(function, variables).run()
