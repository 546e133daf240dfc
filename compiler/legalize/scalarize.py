"""Vectors become scalars: one IR instruction for each lane, before anything else looks at the function."""

import itertools
from collections.abc import Callable
from dataclasses import replace

from ..ir.module import Constant, Function, Instruction, Local, Type, Value, integer
from ..refusals import plain_name, unsupported_call

__all__ = ["scalarize"]

_LANEWISE = {"add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor", "icmp",
             "select", "zext", "sext", "trunc", "freeze", "phi", "fadd", "fsub", "fmul", "fdiv", "fneg", "fcmp",
             "sitofp", "uitofp", "fptosi", "fptoui"}
_WORD = integer(32)
_BOOL = integer(1)
_REDUCTIONS = {"add": "add", "mul": "mul", "and": "and", "or": "or", "xor": "xor", "smin": "llvm.smin",
               "smax": "llvm.smax", "umin": "llvm.umin", "umax": "llvm.umax"}
_serial = itertools.count()


def scalarize(function: Function) -> None:
    """Rewrite ``function`` in place without vectors, as far as they are integers."""
    if any(type.kind == "vector" for _, type in function.parameters) \
            or any(type.kind == "vector" for i in function.instructions() for type in (i.type, *i.types)):
        _Scalarizer(function).run()


class _Scalarizer:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.lanes: dict[str, list[Value]] = {}
        self.aliases: dict[str, Value] = {}
        self.made: list[Instruction] = []

    def run(self) -> None:
        for phi in self.function.instructions():    # lanes of a phi may be asked for before we come to it
            if phi.op == "phi" and phi.type.kind == "vector":
                self.lanes[phi.name] = [Local(f"{phi.name}.lane{lane}") for lane in range(phi.type.count)]
        later: list[Callable[[], None]] = []
        flow = self.function.flow()
        for name in flow.order:
            block = self.function.blocks[name]
            self.made = self.parameters() if name == flow.entry else []
            for instruction in block.instructions:
                self.instruction(instruction, later)
            block.instructions = self.made
        for fill in later:
            fill()
        for instruction in self.function.instructions():
            instruction.operands = [self.resolved(operand) for operand in instruction.operands]

    def parameters(self) -> list[Instruction]:
        """Vectors come as words, each of which is a parameter; taking them apart is what the function starts with."""
        self.made = []
        parameters: list[tuple[str, Type]] = []
        for name, type in self.function.parameters:
            if type.kind != "vector" or type.fields[0].kind != "int":
                parameters.append((name, type))
                continue
            words = [f"{name}.word{number}" for number in range(-(-type.size // 4))]
            parameters += [(word, _WORD) for word in words]
            like = Instruction("", name=name, location=self.function.location)
            self.lanes[name] = self.lanes_of([Local(word) for word in words], type, like)
        self.function.parameters = parameters
        return self.made

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

    def add(self, op: str, type: Type, operands: list[Value], types: list[Type], like: Instruction,
            name: str = "") -> Local:
        """Append a scalar instruction."""
        new = Instruction(op, type, name or f"{like.name or op}.lane{next(_serial)}", operands, types,
                          list(like.blocks), like.detail, like.source, like.align, like.location,
                          like.is_of_numbers)
        self.made.append(new)
        return Local(new.name)

    def instruction(self, instruction: Instruction, later: list[Callable[[], None]]) -> None:
        vectors = [type for type in (instruction.type, *instruction.types) if type.kind == "vector"]
        handler = getattr(self, f"on_{instruction.op}", None)
        if not vectors or any(v.fields[0].kind != "int" for v in vectors):
            self.made.append(instruction)
        elif handler is not None:
            handler(instruction)
        elif instruction.op == "phi":
            self.phi(instruction, later)
        elif instruction.op in _LANEWISE or (instruction.op == "call" and instruction.detail.startswith("llvm.")):
            if instruction.detail.startswith("llvm.vector.reduce."):
                self.reduction(instruction)
            else:
                self.lanewise(instruction)
        else:
            if instruction.op == "call":
                raise unsupported_call(self.function, instruction, plain_name(instruction.detail))
            self.made.append(instruction)           # refused later, by name

    def lanewise(self, instruction: Instruction) -> None:
        element = instruction.type.fields[0]
        detail, _, suffix = instruction.detail.rpartition(".")
        like = replace(instruction, detail=f"{detail}.i{element.bits}") if suffix.startswith("v") else instruction
        self.lanes[instruction.name] = [
            self.add(instruction.op, element,
                     [self.lane(operand, number) if type.kind == "vector" else operand
                      for operand, type in zip(instruction.operands, instruction.types, strict=True)],
                     [type.fields[0] if type.kind == "vector" else type for type in instruction.types], like)
            for number in range(instruction.type.count)]

    def phi(self, phi: Instruction, later: list[Callable[[], None]]) -> None:
        element = phi.type.fields[0]
        for number, lane in enumerate(self.lanes[phi.name]):
            assert isinstance(lane, Local)
            self.add("phi", element, [], [element] * len(phi.operands), phi, lane.name)
            scalar = self.made[-1]

            def fill(scalar: Instruction = scalar, number: int = number) -> None:
                scalar.operands = [self.lane(operand, number) for operand in phi.operands]
            later.append(fill)

    def reduction(self, call: Instruction) -> None:
        """One operation over all lanes."""
        operation = _REDUCTIONS[call.detail.split(".")[3]]
        vector = call.types[0]
        type = vector.fields[0]
        result, *rest = (self.lane(call.operands[0], number) for number in range(vector.count))
        like = replace(call, detail=f"{operation}.i{type.bits}") if "." in operation else replace(call, detail="")
        for lane in rest:
            result = self.add("call" if "." in operation else operation, type, [result, lane], [type, type], like)
        self.aliases[call.name] = result

    def is_lane(self, instruction: Instruction, number: int) -> Value:
        """Whether the last operand, an index, is ``number``."""
        index, type = instruction.operands[-1], instruction.types[-1]
        like = replace(instruction, detail="eq")
        return self.add("icmp", _BOOL, [index, Constant(number)], [type, type], like)

    def on_extractelement(self, instruction: Instruction) -> None:
        vector, index = instruction.operands
        type, count = instruction.type, instruction.types[0].count
        if isinstance(index, Constant) and index.value is not None:
            self.aliases[instruction.name] = self.lane(vector, index.value % count)
            return
        result = self.lane(vector, 0)
        for number in range(1, count):
            chosen = [self.is_lane(instruction, number), self.lane(vector, number), result]
            result = self.add("select", type, chosen, [_BOOL, type, type], instruction)
        self.aliases[instruction.name] = result

    def on_insertelement(self, instruction: Instruction) -> None:
        vector, value, index = instruction.operands
        type = instruction.type.fields[0]
        lanes = [self.lane(vector, number) for number in range(instruction.type.count)]
        if isinstance(index, Constant) and index.value is not None:
            lanes[index.value % len(lanes)] = value
        else:
            lanes = [self.add("select", type, [self.is_lane(instruction, number), value, lane], [_BOOL, type, type],
                              instruction) for number, lane in enumerate(lanes)]
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
        words = self.words_of(value, source, instruction)
        if target.kind == "vector":
            self.lanes[instruction.name] = self.lanes_of(words, target, instruction)
        else:
            self.aliases[instruction.name] = self.integer_of(words, target, instruction)

    def words_of(self, value: Value, type: Type, like: Instruction) -> list[Value]:
        """The bits of a vector or an integer as words, the lowest first; the last may have zeros at its top."""
        if type.kind != "vector":
            if type.bits <= _WORD.bits:
                return [value if type == _WORD else self.add("zext", _WORD, [value], [type], like)]
            return [self.add("word", _WORD, [value], [type], replace(like, detail=str(number)))
                    for number in range(-(-type.bits // _WORD.bits))]
        element = type.fields[0]
        lanes = [self.lane(value, number) for number in range(type.count)]
        if element.bits >= _WORD.bits:
            return [word for lane in lanes for word in self.words_of(lane, element, like)]
        each = _WORD.bits // element.bits
        return [self.packed(lanes[at:at + each], element, like) for at in range(0, len(lanes), each)]

    def integer_of(self, words: list[Value], type: Type, like: Instruction) -> Value:
        """The integer that consists of ``words``."""
        if type.bits > _WORD.bits:
            return self.add("words", type, words, [_WORD] * len(words), like)
        return words[0] if type == _WORD else self.add("trunc", type, words, [_WORD], like)

    def lanes_of(self, words: list[Value], type: Type, like: Instruction) -> list[Value]:
        """The lanes of a vector that consists of ``words``."""
        element = type.fields[0]
        if element.bits >= _WORD.bits:
            each = element.bits // _WORD.bits
            return [self.integer_of(words[at * each:at * each + each], element, like) for at in range(type.count)]
        each = _WORD.bits // element.bits
        return [lane for at, word in enumerate(words)
                for lane in self.unpacked(word, replace(type, count=min(each, type.count - at * each)), like)]

    def packed(self, lanes: list[Value], element: Type, like: Instruction) -> Value:
        word: Value = Constant(0)
        for number, lane in enumerate(lanes):
            wide = self.add("zext", _WORD, [lane], [element], like)
            moved = self.add("shl", _WORD, [wide, Constant(number * element.bits)], [_WORD, _WORD], like)
            word = self.add("or", _WORD, [word, moved], [_WORD, _WORD], like)
        return word

    def unpacked(self, word: Value, vector: Type, like: Instruction) -> list[Value]:
        element = vector.fields[0]
        return [self.add("trunc", element, [
            self.add("lshr", _WORD, [word, Constant(number * element.bits)], [_WORD, _WORD], like)], [_WORD], like)
            for number in range(vector.count)]

    def address(self, instruction: Instruction, pointer: Value, type: Type, offset: int) -> Value:
        like = replace(instruction, source=integer(8))
        return self.add("getelementptr", type, [pointer, Constant(offset)], [type, _WORD], like)

    def on_load(self, load: Instruction) -> None:
        pointer, type, element = load.operands[0], load.types[0], load.type.fields[0]
        bytes_each = element.size
        packed = max(1, 4 // bytes_each)
        lanes: list[Value] = []
        if bytes_each < 4 and load.align >= 4 and type.space and load.type.count % packed == 0:
            # One word brings several lanes.
            for at in range(0, load.type.count * bytes_each, 4):
                word = self.add("load", _WORD, [self.address(load, pointer, type, at)], [type], load)
                lanes += self.unpacked(word, replace(load.type, count=packed), load)
        else:
            like = replace(load, align=min(load.align, bytes_each))
            for number in range(load.type.count):
                place = self.address(load, pointer, type, number * bytes_each)
                lanes.append(self.add("load", element, [place], [type], like))
        self.lanes[load.name] = lanes

    def on_store(self, store: Instruction) -> None:
        value, pointer = store.operands
        vector, type = store.types
        element = vector.fields[0]
        packed = max(1, 4 // element.size)
        like = replace(store, align=min(store.align, element.size))
        if packed > 1 and store.align >= 4 and type.space and vector.count % packed == 0:
            for first in range(0, vector.count, packed):
                word = self.packed([self.lane(value, first + number) for number in range(packed)], element, store)
                to = self.address(store, pointer, type, first * element.size)
                self.made.append(replace(store, operands=[word, to], types=[_WORD, type]))
            return
        for number in range(vector.count):
            lane = self.lane(value, number)
            if not (isinstance(lane, Constant) and lane.is_undefined):     # as the fourth of a vector of three
                to = self.address(store, pointer, type, number * element.size)
                self.made.append(replace(like, operands=[lane, to], types=[element, type]))
