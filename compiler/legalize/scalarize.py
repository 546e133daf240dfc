"""Vectors become scalars: one IR instruction for each lane, before anything else looks at the function."""

from collections.abc import Callable
from dataclasses import replace

from ..ir.builder import Builder
from ..ir.module import Function, Instruction, Op
from ..ir.values import WORD, Constant, Local, Type, Value
from ..refusals import plain_name, unsupported_call

__all__ = ["scalarize"]

_LANEWISE = {Op.ADD, Op.SUB, Op.MUL, Op.UDIV, Op.SDIV, Op.UREM, Op.SREM, Op.SHL, Op.LSHR, Op.ASHR, Op.AND, Op.OR,
             Op.XOR, Op.ICMP, Op.SELECT, Op.ZEXT, Op.SEXT, Op.TRUNC, Op.FREEZE, Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV,
             Op.FNEG, Op.FCMP, Op.SITOFP, Op.UITOFP, Op.FPTOSI, Op.FPTOUI,
             Op.FPEXT, Op.FPTRUNC}
_REDUCTIONS = {"add": Op.ADD, "mul": Op.MUL, "and": Op.AND, "or": Op.OR, "xor": Op.XOR}
_EXTREMA = ("smin", "smax", "umin", "umax")


def scalarize(function: Function) -> None:
    """Rewrite ``function`` in place without vectors, as far as they are integers."""
    if any(type.kind == "vector" for _, type in function.parameters) \
            or any(type.kind == "vector" for i in function.instructions() for type in (i.type, *i.types)):
        _Scalarizer(function).run()


class _Scalarizer:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.builder = Builder(function)
        self.lanes: dict[str, list[Value]] = {}
        self.aliases: dict[str, Value] = {}

    def run(self) -> None:
        for phi in self.function.instructions():    # lanes of a phi may be asked for before we come to it
            if phi.op is Op.PHI and phi.type.kind == "vector":
                self.lanes[phi.name] = [Local(f"{phi.name}.lane{lane}") for lane in range(phi.type.count)]
        later: list[Callable[[], None]] = []
        flow = self.function.flow()
        for name in flow.order:
            block = self.function.blocks[name]
            self.builder.made = []
            if name == flow.entry:
                self.parameters()
            for instruction in block.instructions:
                self.instruction(instruction, later)
            block.instructions = self.builder.made
        for fill in later:
            fill()
        for instruction in self.function.instructions():
            instruction.operands = [self.resolved(operand) for operand in instruction.operands]

    def parameters(self) -> None:
        """Vectors come as words, each of which is a parameter; taking them apart is what the function starts with."""
        parameters: list[tuple[str, Type]] = []
        for name, type in self.function.parameters:
            if type.kind != "vector" or type.fields[0].kind != "int":
                parameters.append((name, type))
                continue
            words = [f"{name}.word{number}" for number in range(-(-type.size // 4))]
            parameters += [(word, WORD) for word in words]
            self.builder.like = Instruction(Op.BITCAST, name=name, location=self.function.location)
            self.lanes[name] = self.lanes_of([Local(word) for word in words], type)
        self.function.parameters = parameters

    def resolved(self, value: Value) -> Value:
        while isinstance(value, Local) and value.name in self.aliases:
            value = self.aliases[value.name]
        return value

    def lane(self, value: Value, number: int) -> Value:
        """Lane ``number`` of a vector operand."""
        if isinstance(value, Local):
            return self.resolved(self.lanes[value.name][number])
        if isinstance(value, Constant) and value.lanes:
            return value.lanes[number]
        return value

    def instruction(self, instruction: Instruction, later: list[Callable[[], None]]) -> None:
        self.builder.like = instruction
        made = self.builder.made
        vectors = [type for type in (instruction.type, *instruction.types) if type.kind == "vector"]
        handler = getattr(self, f"on_{instruction.op}", None)
        if not vectors or any(v.fields[0].kind != "int" for v in vectors):
            made.append(instruction)
        elif handler is not None:
            handler(instruction)
        elif instruction.op is Op.PHI:
            self.phi(instruction, later)
        elif instruction.callee.startswith("llvm.vector.reduce."):
            self.reduction(instruction)
        elif instruction.op in _LANEWISE or instruction.callee.startswith("llvm."):
            self.lanewise(instruction)
        else:
            if instruction.op is Op.CALL:
                raise unsupported_call(self.function, instruction, plain_name(instruction.callee))
            made.append(instruction)                # refused later, by name

    def lanewise(self, instruction: Instruction) -> None:
        element = instruction.type.fields[0]
        name, _, suffix = instruction.callee.rpartition(".")
        callee = f"{name}.i{element.bits}" if suffix.startswith("v") else instruction.callee
        self.lanes[instruction.name] = [
            self.builder.append(replace(
                instruction, name="", type=element, callee=callee,
                operands=[self.lane(operand, number) if type.kind == "vector" else operand
                          for operand, type in zip(instruction.operands, instruction.types, strict=True)],
                types=[type.fields[0] if type.kind == "vector" else type for type in instruction.types]))
            for number in range(instruction.type.count)]

    def phi(self, phi: Instruction, later: list[Callable[[], None]]) -> None:
        element = phi.type.fields[0]
        for number, lane in enumerate(self.lanes[phi.name]):
            assert isinstance(lane, Local)
            scalar = Instruction(Op.PHI, element, lane.name, types=[element] * len(phi.operands),
                                 blocks=list(phi.blocks))
            self.builder.append(scalar)

            def fill(scalar: Instruction = scalar, number: int = number) -> None:
                scalar.operands = [self.lane(operand, number) for operand in phi.operands]
            later.append(fill)

    def reduction(self, call: Instruction) -> None:
        """One operation over all lanes."""
        kind = call.callee.split(".")[3]
        vector = call.types[0]
        type = vector.fields[0]
        result, *rest = (self.lane(call.operands[0], number) for number in range(vector.count))
        for lane in rest:
            if kind in _EXTREMA:
                result = self.builder.call(f"llvm.{kind}.i{type.bits}", result, lane, type=type, types=[type] * 2)
            else:
                result = self.builder.add(_REDUCTIONS[kind], result, lane, type=type)
        self.aliases[call.name] = result

    def is_lane(self, instruction: Instruction, number: int) -> Value:
        """Whether the last operand, an index, is ``number``."""
        return self.builder.icmp("eq", instruction.operands[-1], Constant(number), instruction.types[-1])

    def on_extractelement(self, instruction: Instruction) -> None:
        vector, index = instruction.operands
        type, count = instruction.type, instruction.types[0].count
        if isinstance(index, Constant) and index.value is not None:
            self.aliases[instruction.name] = self.lane(vector, index.value % count)
            return
        result = self.lane(vector, 0)
        for number in range(1, count):
            result = self.builder.select(self.is_lane(instruction, number), self.lane(vector, number), result, type)
        self.aliases[instruction.name] = result

    def on_insertelement(self, instruction: Instruction) -> None:
        vector, value, index = instruction.operands
        type = instruction.type.fields[0]
        lanes = [self.lane(vector, number) for number in range(instruction.type.count)]
        if isinstance(index, Constant) and index.value is not None:
            lanes[index.value % len(lanes)] = value
        else:
            lanes = [self.builder.select(self.is_lane(instruction, number), value, lane, type)
                     for number, lane in enumerate(lanes)]
        self.lanes[instruction.name] = lanes

    def on_shufflevector(self, instruction: Instruction) -> None:
        first, second, mask = instruction.operands
        count = instruction.types[0].count
        chosen = []
        for number in range(instruction.type.count):
            source = self.lane(mask, number)
            at = source.value if isinstance(source, Constant) and source.value is not None else 0
            chosen.append(source if isinstance(source, Constant) and source.is_undefined
                          else self.lane(first, at) if at < count else self.lane(second, at - count))
        self.lanes[instruction.name] = chosen

    def on_bitcast(self, instruction: Instruction) -> None:
        """Lanes of one width to lanes of another, or an integer of as many bits to or from lanes."""
        source, target = instruction.types[0], instruction.type
        value = instruction.operands[0]
        if source.kind == target.kind == "vector" and source.count == target.count:
            self.lanes[instruction.name] = [self.lane(value, number) for number in range(source.count)]
            return
        words = self.words_of(value, source)
        if target.kind == "vector":
            self.lanes[instruction.name] = self.lanes_of(words, target)
        else:
            self.aliases[instruction.name] = self.integer_of(words, target)

    def words_of(self, value: Value, type: Type) -> list[Value]:
        """The bits of a vector or an integer as words, the lowest first; the last may have zeros at its top."""
        if type.kind != "vector":
            if type.bits <= WORD.bits:
                return [self.builder.convert(Op.ZEXT, value, type, WORD)]
            return [self.builder.add(Op.EXTRACTWORD, value, types=[type], index=number)
                    for number in range(-(-type.bits // WORD.bits))]
        element = type.fields[0]
        lanes = [self.lane(value, number) for number in range(type.count)]
        if element.bits >= WORD.bits:
            return [word for lane in lanes for word in self.words_of(lane, element)]
        each = WORD.bits // element.bits
        return [self.packed(lanes[at:at + each], element) for at in range(0, len(lanes), each)]

    def integer_of(self, words: list[Value], type: Type) -> Value:
        """The integer that consists of ``words``."""
        if type.bits > WORD.bits:
            return self.builder.add(Op.CONCAT, *words, type=type, types=[WORD] * len(words))
        return self.builder.convert(Op.TRUNC, words[0], WORD, type)

    def lanes_of(self, words: list[Value], type: Type) -> list[Value]:
        """The lanes of a vector that consists of ``words``."""
        element = type.fields[0]
        if element.bits >= WORD.bits:
            each = element.bits // WORD.bits
            return [self.integer_of(words[at * each:at * each + each], element) for at in range(type.count)]
        each = WORD.bits // element.bits
        return [lane for at, word in enumerate(words)
                for lane in self.unpacked(word, element, min(each, type.count - at * each))]

    def packed(self, lanes: list[Value], element: Type) -> Value:
        b = self.builder
        word: Value = Constant(0)
        for number, lane in enumerate(lanes):
            moved = b.add(Op.SHL, b.add(Op.ZEXT, lane, types=[element]), Constant(number * element.bits))
            word = b.add(Op.OR, word, moved)
        return word

    def unpacked(self, word: Value, element: Type, count: int) -> list[Value]:
        b = self.builder
        return [b.add(Op.TRUNC, b.add(Op.LSHR, word, Constant(number * element.bits)), type=element, types=[WORD])
                for number in range(count)]

    def on_load(self, load: Instruction) -> None:
        b, pointer, type, element = self.builder, load.operands[0], load.types[0], load.type.fields[0]
        bytes_each = element.size
        packed = max(1, 4 // bytes_each)
        lanes: list[Value] = []
        if bytes_each < 4 and load.align >= 4 and type.space and load.type.count % packed == 0:
            # One word brings several lanes.
            for at in range(0, load.type.count * bytes_each, 4):
                lanes += self.unpacked(b.load(WORD, b.offset(pointer, type, at), type, load.align), element, packed)
        else:
            lanes = [b.load(element, b.offset(pointer, type, number * bytes_each), type, min(load.align, bytes_each))
                     for number in range(load.type.count)]
        self.lanes[load.name] = lanes

    def on_store(self, store: Instruction) -> None:
        b, (value, pointer), (vector, type) = self.builder, store.operands, store.types
        element = vector.fields[0]
        packed = max(1, 4 // element.size)
        if packed > 1 and store.align >= 4 and type.space and vector.count % packed == 0:
            for first in range(0, vector.count, packed):
                word = self.packed([self.lane(value, first + number) for number in range(packed)], element)
                b.store(word, WORD, b.offset(pointer, type, first * element.size), type, store.align)
            return
        for number in range(vector.count):
            lane = self.lane(value, number)
            if not (isinstance(lane, Constant) and lane.is_undefined):     # as the fourth of a vector of three
                to = b.offset(pointer, type, number * element.size)
                b.store(lane, element, to, type, min(store.align, element.size))
