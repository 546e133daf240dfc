"""Loads, stores and address arithmetic: instruction selection for memory."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from fgpu.isa import Opcode

from .builder import Builder
from .ir import Constant, Function, Instruction, Local, Type, Value
from .mir import ZERO

__all__ = ["GLOBAL_SPACES", "PRIVATE_SPACE", "MemorySelector", "Private"]

PRIVATE_SPACE = 0
GLOBAL_SPACES = (1, 2)  # __global and __constant
_LOADS = {1: Opcode.LB, 2: Opcode.LH, 4: Opcode.LW}
_STORES = {1: Opcode.SB, 2: Opcode.SH, 4: Opcode.SW}
_WORD = 4
_INDIFFERENT = {"add", "sub", "mul", "and", "or", "xor", "shl", "store", "trunc"}
"""Operations that do not look at the bits above a narrow integer."""


@dataclass(frozen=True)
class Private:
    """An address in the scratchpad: word ``register + offset``; each element of ``unit`` bytes has a word."""

    register: int
    offset: int
    unit: int


@dataclass(frozen=True)
class _Path:
    """What a getelementptr adds to ``base``: bytes, and registers times bytes."""

    base: Value
    offset: int
    terms: tuple[tuple[int, int], ...]


class MemorySelector:
    """Selects the memory instructions of one function. ``value`` gives the register of an operand."""

    def __init__(self, function: Function, builder: Builder, value: Callable[[Value, Type], int],
                 definitions: dict[str, Instruction], users: dict[str, list[Instruction]],
                 depth_of: Callable[[str], int]) -> None:
        self.function = function
        self.builder = builder
        self.value = value
        self.definitions = definitions
        self.users = users
        self.depth_of = depth_of
        self.private: dict[str, Private] = {}

    # -- global memory ---------------------------------------------------------------------------------

    def load(self, instruction: Instruction) -> int:
        pointer, type = instruction.operands[0], instruction.type
        size = self._element_size(instruction, type, instruction.types[0])
        if instruction.types[0].space == PRIVATE_SPACE:
            return self._private_load(self._private_access(instruction, pointer, size), size)
        base, index = self.address(pointer, size)
        word = self.builder.emit(_LOADS[size], rs=index, rt=base)
        if size == _WORD:
            return word
        return self._part(instruction, word, base, index, size)

    def _part(self, load: Instruction, word: int, base: int, index: int, size: int) -> int:
        """Take the 8 or 16 bits that were asked for out of the aligned word, extended as most users want it."""
        b, bits = self.builder, 8 * size
        if load.align >= _WORD:                 # the part is at the bottom: extension when it is asked for
            return word
        users = {user.op for user in self.users.get(load.name, ())}
        wants_signed = "sext" in users and "zext" not in users
        to_top = wants_signed or (size == 2 and not users <= _INDIFFERENT)
        top = b.const(32 - bits)
        # Shifts use the low five bits of the amount, so what address bits are above them does not matter, and
        # 16 + x is 16 - x. Sums are grouped so that what depends on the base alone can leave a loop.
        if size == 2:
            at_base = b.shl(base, b.const(3))
            amount = b.add(b.add(at_base, top) if to_top else at_base, b.shl(index, b.const(4)))
        elif to_top and self.depth_of(""):
            amount = b.sub(b.sub(top, b.shl(base, b.const(3))), b.shl(index, b.const(3)))
        else:
            amount = b.shl(b.add(base, index), b.const(3))
            amount = b.xor(amount, top) if to_top else amount
        if not to_top:
            return b.srl(word, amount)
        moved = b.shl(word, amount)
        if wants_signed:
            return b.note(b.sra(moved, top), signed_bits=bits)
        return b.srl(moved, top)

    def store(self, instruction: Instruction) -> None:
        stored, pointer = instruction.operands
        if instruction.types[1].space == PRIVATE_SPACE and isinstance(stored, Constant) and stored.value is not None:
            size = instruction.types[0].size
            content = (stored.value % (1 << 8 * size)).to_bytes(size, "little")
            self._private_constants(self._private_access(instruction, pointer, size), content)
            return
        size = self._element_size(instruction, instruction.types[0], instruction.types[1])
        data = self.value(stored, instruction.types[0])
        if instruction.types[1].space == PRIVATE_SPACE:
            self._private_store(self._private_access(instruction, pointer, size), data, size)
            return
        base, index = self.address(pointer, size)
        self.builder.effect(_STORES[size], rs=index, rt=base, rd=data)

    def _element_size(self, at: Instruction, type: Type, pointer: Type) -> int:
        size = type.size
        if size not in _LOADS or (type.kind == "int" and type.bits not in (8, 16, 32)):
            raise self.function.error(f"memory access of {type.bits} bits is not supported", at)
        if pointer.space in GLOBAL_SPACES and at.align < size:
            raise self.function.error(f"access to {size} bytes that may not be aligned is not supported", at)
        return size

    def address(self, pointer: Value, size: int) -> tuple[int, int]:
        """Base and index registers of an access of ``size`` bytes; the hardware scales the index by ``size``."""
        b, type = self.builder, Type("ptr", space=1)
        path = self._path(pointer)
        if path is None:
            return self.value(pointer, type), ZERO
        while (inner := self._path(path.base)) is not None and not self._is_outside_loop(path.base):
            path = _Path(inner.base, inner.offset + path.offset, inner.terms + path.terms)
        if path.offset % size or any(stride % size for _, stride in path.terms):
            return self.value(pointer, type), ZERO
        base, index, offset = self.value(path.base, type), ZERO, path.offset // size
        for register, stride in path.terms:
            index = b.add(index, b.mul(register, b.const(stride // size)))
        if index and offset and self._is_outside_loop(path.base):
            return b.add(base, b.const(path.offset)), index     # goes to the loop's preheader
        return base, b.add(index, b.const(offset))

    def _is_outside_loop(self, value: Value) -> bool:
        """Whether ``value`` is defined in fewer loops than the block at hand."""
        return not isinstance(value, Local) or self.depth_of(value.name) < self.depth_of("")

    def _path(self, pointer: Value) -> _Path | None:
        if not isinstance(pointer, Local):
            return None
        gep = self.definitions.get(pointer.name)
        if gep is None or gep.op != "getelementptr":
            return None
        return self._walk(gep)

    def _walk(self, gep: Instruction) -> _Path:
        offset, type = 0, gep.source
        terms: list[tuple[int, int]] = []
        for position, (index, index_type) in enumerate(zip(gep.operands[1:], gep.types[1:], strict=True)):
            if position and type.kind == "struct" and isinstance(index, Constant):
                assert index.value is not None
                offset += type.offset(index.value)
                type = type.fields[index.value]
                continue
            if position:
                type = type.fields[0]
            index, constant = self._split(index, index_type)
            offset += constant * type.size
            if not isinstance(index, Constant):
                register = self.builder.sign_extended(self.value(index, index_type), index_type.bits)
                terms.append((register, type.size))
        return _Path(gep.operands[0], offset, tuple(terms))

    def _split(self, index: Value, type: Type) -> tuple[Value, int]:
        """``index`` as a value and a constant to add: in a loop the constant goes to the base, outside the loop."""
        if isinstance(index, Constant) and index.value is not None:
            return Constant(0), index.value
        definition = self.definitions.get(index.name) if isinstance(index, Local) else None
        if definition is not None and type.bits == 32 and self.depth_of("") \
                and (definition.op == "add" or definition.detail == "disjoint") \
                and isinstance(definition.operands[1], Constant) and definition.operands[1].value is not None \
                and all(user.op == "getelementptr" for user in self.users[definition.name]):
            return definition.operands[0], definition.operands[1].value
        return index, 0

    def getelementptr(self, gep: Instruction) -> int:
        """The address itself, for those who need it in a register."""
        if gep.type.space == PRIVATE_SPACE:
            return self._private_element(gep)
        b, path = self.builder, self._walk(gep)
        address = self.value(path.base, gep.types[0])
        for register, stride in path.terms:
            address = b.add(address, b.mul(register, b.const(stride)))
        return b.add(address, b.const(path.offset))

    def copy(self, call: Instruction) -> None:
        """memcpy of a constant length between global addresses, a word at a time: assignment of a struct."""
        b, length = self.builder, call.operands[2]
        if call.types[1].space not in GLOBAL_SPACES or not isinstance(length, Constant) or length.value is None \
                or length.value % _WORD or call.align < _WORD:
            raise self.function.error("memory can only be copied in whole aligned words", call)
        to, source = (self.value(operand, type) for operand, type in zip(call.operands[:2], call.types, strict=False))
        words = [b.emit(Opcode.LW, rs=b.const(at), rt=source) for at in range(length.value // _WORD)]
        for at, word in enumerate(words):
            b.effect(Opcode.SW, rs=b.const(at), rt=to, rd=word)

    # -- private memory --------------------------------------------------------------------------------

    def alloca(self, instruction: Instruction) -> int:
        """Reserve scratchpad words for a private variable."""
        if instruction.operands:
            raise self.function.error("a private array needs a constant size", instruction)
        sizes = set(_scalars(instruction.source))
        if len(sizes) != 1 or not sizes <= set(_LOADS):
            raise self.function.error("a private variable in memory must be an array of one integer type of at "
                                      "most 32 bits", instruction)
        unit = sizes.pop()
        function = self.builder.function
        place = Private(ZERO, function.private_words, unit)
        function.private_words += instruction.source.size // unit
        self.private[instruction.name] = place
        return self.builder.const(place.offset)

    def _private_element(self, gep: Instruction) -> int:
        b, path = self.builder, self._walk(gep)
        place = self.private_place(path.base, gep)
        if path.offset % place.unit:
            raise self.function.error("a private array must be accessed by whole elements", gep)
        register, odd = place.register, ZERO
        for term, stride in path.terms:
            if stride % place.unit:
                odd = b.add(odd, b.mul(term, b.const(stride)))
            else:
                register = b.add(register, b.mul(term, b.const(stride // place.unit)))
        if odd:     # bytes that LLVM computed; the access is aligned, so they make whole elements
            register = b.add(register, b.sra(odd, b.const(place.unit.bit_length() - 1)))
        place = Private(register, place.offset + path.offset // place.unit, place.unit)
        self.private[gep.name] = place
        return b.add(register, b.const(place.offset))

    def private_place(self, pointer: Value, at: Instruction) -> Private:
        """Where a private pointer points; refused where that cannot be told."""
        place = self.private.get(pointer.name) if isinstance(pointer, Local) else None
        if place is not None:
            return place
        units = self._units(pointer, set())
        if len(units) != 1 or 0 in units:
            raise self.function.error("a private pointer must point into a private array of this kernel", at)
        return Private(self.value(pointer, at.types[0]), 0, units.pop())

    def _units(self, pointer: Value, seen: set[str]) -> set[int]:
        """Element sizes of all arrays that ``pointer`` may point into; 0 stands for anything else."""
        if not isinstance(pointer, Local) or pointer.name not in self.definitions:
            return {0}
        if pointer.name in seen:
            return set()
        seen.add(pointer.name)
        definition = self.definitions[pointer.name]
        match definition.op:
            case "alloca":
                return set(_scalars(definition.source))
            case "getelementptr" | "freeze":
                return self._units(definition.operands[0], seen)
            case "select":
                return self._units(definition.operands[1], seen) | self._units(definition.operands[2], seen)
            case "phi":
                return {unit for operand in definition.operands for unit in self._units(operand, seen)}
        return {0}

    def _private_access(self, at: Instruction, pointer: Value, size: int) -> Private:
        place = self.private_place(pointer, at)
        if size % place.unit:
            raise self.function.error(f"a private array of {place.unit}-byte elements is accessed as {size} bytes; "
                                      "use one type", at)
        return place

    def _private_load(self, place: Private, size: int) -> int:
        """One element, or several that LLVM reads at once as one integer."""
        b, result = self.builder, ZERO
        for part in range(size // place.unit):
            element = b.emit(Opcode.LLWI, place.register, imm=place.offset + part)
            if size > place.unit:
                element = b.zero_extended(element, 8 * place.unit)
            result = b.or_(b.shl(element, b.const(8 * place.unit * part)), result)
        return result

    def _private_store(self, place: Private, data: int, size: int) -> None:
        for part in range(size // place.unit):
            element = self.builder.srl(data, self.builder.const(8 * place.unit * part))
            self.builder.effect(Opcode.LSWI, place.register, rd=element, imm=place.offset + part)

    def _private_constants(self, place: Private, data: bytes) -> None:
        for at in range(0, len(data), place.unit):
            value = self.builder.const(int.from_bytes(data[at:at + place.unit], "little", signed=True))
            self.builder.effect(Opcode.LSWI, place.register, rd=value, imm=place.offset + at // place.unit)

    def private_fill(self, call: Instruction, data: bytes | None) -> None:
        """memset, or memcpy of constant ``data``, to a private array: a store for each element."""
        place = self.private_place(call.operands[0], call)
        length = call.operands[2]
        if data is None or not isinstance(length, Constant) or length.value is None or length.value % place.unit:
            raise self.function.error("a private array can only be filled with constants, as a whole", call)
        self._private_constants(place, data[:length.value])


def _scalars(type: Type) -> list[int]:
    """Sizes of the scalars that make up ``type``; 0 for what the scratchpad cannot hold."""
    if type.kind in ("array", "struct"):
        return [size for member in type.fields for size in _scalars(member)]
    if type.kind == "vector":
        return _scalars(type.fields[0])
    return [type.size] if type.is_word else [0]
