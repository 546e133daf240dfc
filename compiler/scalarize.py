"""Vectors become scalars: one IR instruction for each lane, before anything else looks at the function."""

import itertools
from collections.abc import Callable
from dataclasses import replace

from .ir import Constant, Function, Instruction, Local, Type, Value, integer

__all__ = ["scalarize"]

_LANEWISE = {"add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor", "icmp",
             "select", "zext", "sext", "trunc", "freeze", "phi", "fadd", "fsub", "fmul", "fdiv", "fneg", "fcmp",
             "sitofp", "uitofp", "fptosi", "fptoui"}
_WORD = integer(32)
_serial = itertools.count()


def scalarize(function: Function) -> None:
    """Rewrite ``function`` in place without vectors, as far as they are integers."""
    if any(type.kind == "vector" for i in function.instructions() for type in (i.type, *i.types)):
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
        for block in self.function.blocks.values():
            self.made = []
            for instruction in block.instructions:
                self.instruction(instruction, later)
            block.instructions = self.made
        for fill in later:
            fill()
        for instruction in self.function.instructions():
            instruction.operands = [self.resolved(operand) for operand in instruction.operands]

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
                          list(like.blocks), like.detail, like.source, like.align, like.location)
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
            self.lanewise(instruction)
        else:
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

    def on_extractelement(self, instruction: Instruction) -> None:
        vector, index = instruction.operands
        if isinstance(index, Constant) and index.value is not None:
            self.aliases[instruction.name] = self.lane(vector, index.value)
        else:
            raise self.function.error("the index of a vector's element must be a constant", instruction)

    def on_insertelement(self, instruction: Instruction) -> None:
        vector, value, index = instruction.operands
        if not isinstance(index, Constant) or index.value is None:
            raise self.function.error("the index of a vector's element must be a constant", instruction)
        lanes = [self.lane(vector, number) for number in range(instruction.type.count)]
        lanes[index.value] = value
        self.lanes[instruction.name] = lanes

    def on_shufflevector(self, instruction: Instruction) -> None:
        first, second, mask = instruction.operands
        count = instruction.types[0].count
        chosen = []
        for number in range(instruction.type.count):
            source = self.lane(mask, number)
            at = source.value if isinstance(source, Constant) and source.value is not None else 0
            chosen.append(self.lane(first, at) if at < count else self.lane(second, at - count))
        self.lanes[instruction.name] = chosen

    def on_bitcast(self, instruction: Instruction) -> None:
        """Lanes to a word, a word to lanes, or lanes of the same width."""
        source, target = instruction.types[0], instruction.type
        value = instruction.operands[0]
        if source.kind == target.kind == "vector" and source.count == target.count:
            self.lanes[instruction.name] = [self.lane(value, number) for number in range(source.count)]
        elif target == _WORD:
            self.aliases[instruction.name] = self.packed(
                [self.lane(value, number) for number in range(source.count)], source.fields[0], instruction)
        elif source == _WORD:
            self.lanes[instruction.name] = self.unpacked(value, target, instruction)
        else:
            self.made.append(instruction)

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
        packed = 4 // bytes_each
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
        packed = 4 // element.size
        like = replace(store, align=min(store.align, element.size))
        if packed > 1 and store.align >= 4 and type.space and vector.count % packed == 0:
            for first in range(0, vector.count, packed):
                word = self.packed([self.lane(value, first + number) for number in range(packed)], element, store)
                to = self.address(store, pointer, type, first * element.size)
                self.made.append(replace(store, operands=[word, to], types=[_WORD, type]))
            return
        for number in range(vector.count):
            to = self.address(store, pointer, type, number * element.size)
            self.made.append(replace(like, operands=[self.lane(value, number), to], types=[element, type]))
