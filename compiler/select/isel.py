"""Instruction selection: IR of one kernel to machine operations on virtual registers."""

from collections.abc import Callable, Mapping

from fgpu.config import PARAMETERS_MAX, Config
from fgpu.isa import Opcode

from ..backend.mir import FRAME_POINTER, ZERO, Callee, MachineBlock, MachineFunction, Phi
from ..ir.module import Block, Function, Instruction, Module, Op
from ..ir.values import WORD_BITS, Constant, Global, Local, Type, Value
from ..refusals import check_function, unsupported_instruction
from .arithmetic import BINARY, ArithmeticSelector
from .calls import CallSelector
from .conditions import Condition, ConditionSelector
from .frame import PARAMETER, frame_address
from .locations import source_locations
from .machine_builder import Builder
from .memory import MemorySelector

__all__ = ["lower"]

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
        self.arithmetic = ArithmeticSelector(self.builder, self.value, self.conditions, self.definitions, self.users,
                                             self.depth_of)
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
        if handler is None and instruction.op in BINARY:
            handler = self.arithmetic.binary
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
