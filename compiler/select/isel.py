"""Instruction selection: IR of one kernel to machine operations on virtual registers."""

from collections.abc import Callable, Mapping

from fgpu.config import PARAMETERS_MAX, Config
from fgpu.isa import INSTRUCTION_BITS as WORD_BITS
from fgpu.isa import Opcode

from ..backend.mir import FRAME_POINTER, ZERO, Callee, MachineBlock, MachineFunction, Phi
from ..ir.module import Block, Function, Instruction, Module, Op
from ..ir.values import Constant, Global, Local, Type, Value
from ..refusals import check_function, unsupported_instruction
from .calls import CallSelector
from .conditions import Condition, ConditionSelector
from .frame import PARAMETER, frame_address
from .locations import source_locations
from .machine_builder import Builder
from .memory import MemorySelector

__all__ = ["lower"]

_BINARY = {
    Op.ADD: Opcode.ADD, Op.SUB: Opcode.SUB, Op.MUL: Opcode.MUL, Op.AND: Opcode.AND, Op.OR: Opcode.OR,
    Op.XOR: Opcode.XOR, Op.SHL: Opcode.SLL, Op.LSHR: Opcode.SRL, Op.ASHR: Opcode.SRA,
}


class _Lowering:
    def __init__(self, function: Function, module: Module, config: Config, callees: Mapping[str, Callee]) -> None:
        self.function = function
        self.module = module
        self.config = config
        self.flow = function.flow()
        self.machine = MachineFunction(function.name)
        self.machine.private_words = max((callee.scratchpad for callee in callees.values()), default=0)
        self.builder = Builder(self.machine)
        self.values: dict[str, int] = {}
        self.definitions = function.definitions()
        self.users: dict[str, list[Instruction]] = {}
        self.home: dict[str, str] = {}
        for block in function.blocks.values():
            for instruction in block.instructions:
                self.home[instruction.name] = block.name
                for operand in instruction.operands:
                    if isinstance(operand, Local):
                        self.users.setdefault(operand.name, []).append(instruction)
        self.memory = MemorySelector(function, self.builder, self.value, self.definitions, self.users, self.depth_of,
                                     config.scratchpad_words)
        self.calls = CallSelector(function, module, config, self.builder, self.value, self.memory,
                                  self.depth_of, callees)
        self.conditions = ConditionSelector(self.builder, self.value, self.definitions, self.depth_of)
        self.locations = source_locations(function, self.flow)

    def run(self) -> MachineFunction:
        check_function(self.function)
        for name in self.flow.order:
            self.machine.blocks[name] = MachineBlock(name)
        entry = self.builder.block = self.machine.blocks[self.flow.entry]
        self.builder.location = self.function.location
        self.parameters()
        for name in self.flow.order:
            for phi in self.function.blocks[name].phis:
                self.values[phi.name] = self.builder.note(self.machine.new_register(),
                                                          1 if phi.type.bits == 1 else 32)
        for name in self.flow.order:
            self.builder.block = self.machine.blocks[name]
            self.here = name
            for instruction in self.function.blocks[name].instructions:
                self.instruction(instruction)
            self.builder.block.location = self.builder.location
        assert entry.name == self.flow.entry
        for name in self.flow.order:
            self.phis(self.function.blocks[name])
        return self.machine

    def parameters(self) -> None:
        """The function's parameters in registers, first of all the address of its frame."""
        function, b, named = self.function, self.builder, [name for name, _ in self.function.parameters]
        if not function.is_kernel:
            if function.frame is not None:
                self.values[PARAMETER] = b.frame(FRAME_POINTER)
            self.values |= {name: b.argument(number) for number, name in enumerate(named)}
            return
        here = PARAMETERS_MAX if len(named) <= PARAMETERS_MAX else PARAMETERS_MAX - 1
        rest = b.emit(Opcode.LP, imm=here) if len(named) > here else ZERO

        def parameter(number: int) -> int:
            return b.emit(Opcode.LP, imm=number) if number < here \
                else b.emit(Opcode.LW, rs=b.const(number - here), rt=rest)

        frames = named.index(PARAMETER) if function.frame is not None else None
        if function.frame is not None and frames is not None:
            self.values[PARAMETER] = frame_address(b, parameter(frames), self.module.work_group_size(function))
        self.values |= {name: parameter(number) for number, name in enumerate(named) if number != frames}

    def depth_of(self, name: str) -> int:
        """Loops around the definition of ``name``; around the instruction at hand for the empty name."""
        return self.flow.depth[self.home.get(name, self.flow.entry) if name else self.here]

    def phis(self, block: Block) -> None:
        for phi in block.phis:
            sources = {}
            self.builder.location = self.locations[phi]
            for value, name in zip(phi.operands, phi.blocks, strict=True):
                if name in self.machine.blocks:
                    self.builder.block = self.machine.blocks[name]
                    sources[name] = self.value(value, phi.type)
            self.machine.blocks[block.name].phis.append(
                Phi(self.values[phi.name], sources, self.builder.location))

    def value(self, value: Value, type: Type) -> int:
        """The register of an operand; above the bits of a narrow type it may hold anything."""
        if isinstance(value, Local):
            return self.values[value.name]
        if isinstance(value, Constant) and value.value is not None:
            return self.builder.const(value.value)
        what = f"variable {value.name!r} in memory" if isinstance(value, Global) else f"constant {value.text!r}"
        raise self.function.error(f"{what} is not supported (there is no data segment)", self.current)

    # -- instructions ------------------------------------------------------------------------------------

    def instruction(self, instruction: Instruction) -> None:
        self.current = instruction
        self.builder.location = self.locations[instruction]
        if instruction.op is Op.PHI:
            return
        handler: Callable[[Instruction], int | None] | None = getattr(self, f"op_{instruction.op}", None)
        if handler is None and instruction.op in _BINARY:
            handler = self.binary
        elif handler is None and instruction.op in self.config.float_ops:
            handler = self.hard_float
        if handler is None:
            raise unsupported_instruction(self.function, instruction)
        result = handler(instruction)
        if instruction.name and result is not None:
            self.values[instruction.name] = result

    def hard_float(self, instruction: Instruction) -> int:
        """An operation of the hardware on words that are floats."""
        operands = [self.value(operand, type) for operand, type in zip(instruction.operands, instruction.types,
                                                                       strict=True)]
        result = self.builder.emit(Opcode[instruction.op.upper()], *operands)
        return self.builder.note(result, 1) if instruction.op is Op.FSLT else result

    def both(self, instruction: Instruction) -> tuple[int, int]:
        return (self.value(instruction.operands[0], instruction.types[0]),
                self.value(instruction.operands[1], instruction.types[1]))

    def binary(self, instruction: Instruction) -> int:
        op, bits = instruction.op, instruction.type.bits
        if bits == 1:
            return self.binary_bool(instruction)
        a, b = self.both(instruction)
        if op in (Op.SHL, Op.LSHR, Op.ASHR):
            b = self.shift_amount(instruction.operands[1], instruction.type)
        if op is Op.LSHR:
            a = self.builder.zero_extended(a, bits)
        elif op is Op.ASHR:
            a = self.builder.sign_extended(a, bits)
        if op is Op.AND and (field := self.bit_field(instruction)) is not None:
            return field
        if op is Op.ADD and (less := self.minus_condition(instruction)) is not None:
            return less
        if op in (Op.ADD, Op.SUB, Op.OR, Op.XOR) and (chosen := self.apply_unless(instruction)) is not None:
            return chosen
        if op is Op.ADD or instruction.is_disjoint:
            fused = self.multiply_accumulate(instruction)
            if fused is not None:
                return fused
        return self.builder.binary(_BINARY[op], a, b)

    def minus_condition(self, add: Instruction) -> int | None:
        """``x + (c ? -1 : 0)`` as ``x - c``."""
        for extended, other in (add.operands, add.operands[::-1]):
            sext = self.definitions.of(extended)
            if sext is not None and sext.op is Op.SEXT and sext.types[0].bits == 1:
                return self.builder.sub(self.value(other, add.type), self.value(sext.operands[0], sext.types[0]))
        return None

    def bit_field(self, instruction: Instruction) -> int | None:
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

    def apply_unless(self, instruction: Instruction) -> int | None:
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
            applied = self.builder.binary(_BINARY[instruction.op], plain, self.value(y, instruction.type))
            return self.builder.select(condition.register, condition.negated, plain, applied)
        return None

    def shift_amount(self, amount: Value, type: Type) -> int:
        """Shifts use the low five bits of a register: what OpenCL C asks for, so clang's mask can go."""
        definition = self.definitions.of(amount)
        if type.bits == 32 and definition is not None and definition.op is Op.AND \
                and definition.operands[1] == Constant(31):
            amount = definition.operands[0]
        return self.builder.zero_extended(self.value(amount, type), type.bits)

    def binary_bool(self, instruction: Instruction) -> int:
        """Arithmetic modulo 2 on booleans, which are 0 or 1 in a register."""
        if instruction.op in (Op.AND, Op.OR):
            return self.conditions.materialize(self.conditions.condition(Local(instruction.name)))
        if instruction.op in (Op.ADD, Op.SUB, Op.XOR):
            return self.builder.xor(*self.both(instruction))
        if instruction.op is Op.MUL:
            return self.builder.and_(*self.both(instruction))
        return self.value(instruction.operands[0], instruction.types[0])    # shifts of i1 can only shift by 0

    def multiply_accumulate(self, add: Instruction) -> int | None:
        for product, other in (add.operands, add.operands[::-1]):
            mul = self.definitions.of(product)
            if mul is None or mul.op not in (Op.MUL, Op.SHL) or len(self.users[mul.name]) != 1 \
                    or self.depth_of(mul.name) != self.depth_of(""):
                continue
            old, (a, b) = self.value(other, add.type), self.both(mul)
            if mul.op is Op.MUL:
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
        if (moved := self.moved_condition(condition, *instruction.operands[1:])) is not None:
            return moved
        then, other = (self.value(v, instruction.type) for v in instruction.operands[1:])
        return self.builder.select(condition.register, condition.negated, then, other)

    def moved_condition(self, condition: Condition, then: Value, other: Value) -> int | None:
        """``condition ? 1 << n : 0`` as a shift."""
        power = then.value % (1 << WORD_BITS) if isinstance(then, Constant) and then.value is not None else 0
        if other != Constant(0) or not condition.is_bool or condition.negated or power.bit_count() != 1:
            return None
        return self.builder.shl(condition.register, self.builder.const(power.bit_length() - 1))

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
        return self.memory.private.alloca(instruction)

    # -- control flow ------------------------------------------------------------------------------------

    def op_br(self, instruction: Instruction) -> None:
        self.builder.block.next = instruction.blocks[0]

    def op_condbr(self, instruction: Instruction) -> None:
        target, other = instruction.blocks
        self.builder.block.next = other
        if target != other:
            self.builder.block.branch = branch = self.conditions.branch(instruction.operands[0])
            branch.location = self.builder.location
            self.builder.block.target = target

    def op_ret(self, instruction: Instruction) -> None:
        """The block has no successor; a routine returns something, too."""
        if not self.function.is_kernel:
            self.builder.give_back([self.value(operand, type) for operand, type in zip(
                instruction.operands, instruction.types, strict=True)])

    def op_unreachable(self, instruction: Instruction) -> None:
        """The block has no successor; that is all."""

    def op_second(self, instruction: Instruction) -> int:
        return self.builder.second(self.value(instruction.operands[0], instruction.types[0]))

    def op_call(self, instruction: Instruction) -> int | None:
        return self.calls.call(instruction)


def lower(function: Function, module: Module, config: Config, callees: Mapping[str, Callee]) -> MachineFunction:
    """Select instructions for ``function`` of ``module``; raises CompileError for what the hardware cannot do.

    ``callees`` has the functions that it calls, compiled, by name.
    """
    return _Lowering(function, module, config, callees).run()
