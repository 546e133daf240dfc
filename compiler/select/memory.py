"""Loads, stores and address arithmetic: instruction selection for memory."""

from collections.abc import Callable

from fgpu.isa import Opcode

from ..backend.mir import ZERO
from ..ir.module import Definitions, Function, Instruction, Op
from ..ir.values import LOCAL_SPACE, PRIVATE_SPACE, WORD, Constant, Local, Type, Value
from .address_path import Path
from .frame import FRAME_SPACE
from .frame_memory import FrameMemory
from .machine_builder import Builder
from .scratchpad import PrivateMemory

__all__ = ["GLOBAL_SPACES", "MemorySelector"]

GLOBAL_SPACES = (1, 2)  # __global and __constant
_ADDRESSED_SPACES = (*GLOBAL_SPACES, LOCAL_SPACE)
_LOADS = {1: Opcode.LB, 2: Opcode.LH, 4: Opcode.LW}
_STORES = {1: Opcode.SB, 2: Opcode.SH, 4: Opcode.SW}
_LOCAL_LOADS = {1: Opcode.LLB, 2: Opcode.LLH, 4: Opcode.LLW}
_LOCAL_STORES = {1: Opcode.LSB, 2: Opcode.LSH, 4: Opcode.LSW}
_WORD = 4
_INDIFFERENT = {"add", "sub", "mul", "and", "or", "xor", "shl", "store", "trunc"}
"""Operations that do not look at the bits above a narrow integer."""


class MemorySelector:
    """Selects the memory instructions of one function. ``value`` gives the register of an operand."""

    def __init__(self, function: Function, builder: Builder, value: Callable[[Value, Type], int],
                 definitions: Definitions, users: dict[str, list[Instruction]],
                 depth_of: Callable[[str], int], scratchpad_words: int) -> None:
        self.function = function
        self.builder = builder
        self.value = value
        self.definitions = definitions
        self.users = users
        self.depth_of = depth_of
        self.private = PrivateMemory(function, builder, value, scratchpad_words)
        self.frame = FrameMemory(builder, value, self._is_outside_loop, lambda: depth_of("") > 0)

    # -- global and local memory ---------------------------------------------------------------------------------

    def load(self, instruction: Instruction) -> int:
        """The register of what is loaded; above the bits of a narrow type it may hold anything."""
        pointer, type = instruction.operands[0], instruction.type
        size = self._element_size(instruction, type, instruction.types[0])
        if instruction.types[0].space == PRIVATE_SPACE:
            return self.private.load(instruction, pointer, size)
        if instruction.types[0].space == FRAME_SPACE:
            word, index = self.frame.load(instruction, self._whole_path(pointer), size)
            return word if size == _WORD else self._part(instruction, word, ZERO, index, size)
        base, index = self.address(pointer, size)
        loads = _LOCAL_LOADS if instruction.types[0].space == LOCAL_SPACE else _LOADS
        word = self.builder.emit(loads[size], rs=index, rt=base)
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
        """Store a value, whatever kind of memory its address is in."""
        stored, pointer = instruction.operands
        size = self._element_size(instruction, instruction.types[0], instruction.types[1])
        data = self.value(stored, instruction.types[0])
        if instruction.types[1].space == PRIVATE_SPACE:
            self.private.store(instruction, pointer, data, size)
            return
        if instruction.types[1].space == FRAME_SPACE:
            self.frame.store(instruction, self._whole_path(pointer), data, size)
            return
        base, index = self.address(pointer, size)
        stores = _LOCAL_STORES if instruction.types[1].space == LOCAL_SPACE else _STORES
        self.builder.effect(stores[size], rs=index, rt=base, rd=data)

    def _element_size(self, at: Instruction, type: Type, pointer: Type) -> int:
        size = type.size
        if size not in _LOADS or (type.kind == "int" and type.bits not in (8, 16, 32)):
            raise self.function.error(f"memory access of {type.bits} bits is not supported", at)
        if pointer.space != PRIVATE_SPACE and at.align < size:
            raise self.function.error(f"access to {size} bytes that may not be aligned is not supported", at)
        return size

    def address(self, pointer: Value, size: int) -> tuple[int, int]:
        """Base and index registers of an access of ``size`` bytes; the hardware scales the index by ``size``."""
        b, type = self.builder, Type("ptr", space=1)
        path = self._whole_path(pointer)
        if not path.is_by(size):
            return self.value(pointer, type), ZERO
        base, index = self.value(path.base, type), self._sum(path.terms, size)
        if index and self._is_outside_loop(path.base):      # what is added to the base goes to the loop's preheader
            return b.add(b.add(base, self._sum(path.steady)), b.const(path.offset)), index
        return base, b.add(b.add(index, self._sum(path.steady, size)), b.const(path.offset // size))

    def _sum(self, terms: tuple[tuple[int, int], ...], size: int = 1) -> int:
        b, total = self.builder, ZERO
        for register, stride in terms:
            total = b.add(total, b.mul(register, b.const(stride // size)))
        return total

    def _whole_path(self, pointer: Value) -> Path:
        """All that the loop at hand adds to an address that is known before it."""
        path = self._path(pointer) or Path(pointer)
        while (inner := self._path(path.base)) is not None and not self._is_outside_loop(path.base):
            path = path.behind(inner)
        return path

    def _is_outside_loop(self, value: Value) -> bool:
        """Whether ``value`` is defined in fewer loops than the block at hand."""
        return not isinstance(value, Local) or self.depth_of(value.name) < self.depth_of("")

    def _path(self, pointer: Value) -> Path | None:
        gep = self.definitions.of(pointer)
        if gep is None or gep.op is not Op.GETELEMENTPTR:
            return None
        return self._walk(gep)

    def _walk(self, gep: Instruction) -> Path:
        offset, type = 0, gep.source
        terms: list[tuple[int, int]] = []
        steady: list[tuple[int, int]] = []
        for position, (index, index_type) in enumerate(zip(gep.operands[1:], gep.types[1:], strict=True)):
            if position and type.kind == "struct" and isinstance(index, Constant):
                assert index.value is not None
                offset += type.offset(index.value)
                type = type.fields[index.value]
                continue
            if position:
                type = type.fields[0]
            product = self._split_product(index) if gep.type.space in _ADDRESSED_SPACES else None
            if product is not None:
                register, factor, constant = product
                terms.append((register, type.size))
                steady.append((factor, constant * type.size))
                continue
            index, constant = self._split(index, index_type)
            offset += constant * type.size
            if not isinstance(index, Constant):
                register = self.builder.sign_extended(self.value(index, index_type), index_type.bits)
                terms.append((register, type.size))
        return Path(gep.operands[0], offset, tuple(terms), tuple(steady))

    def _split(self, index: Value, type: Type) -> tuple[Value, int]:
        """``index`` as a value and a constant to add: in a loop the constant goes to the base, outside the loop."""
        if isinstance(index, Constant) and index.value is not None:
            return Constant(0), index.value
        return (self._sum_with_constant(index) if type.bits == 32 else None) or (index, 0)

    def _split_product(self, index: Value) -> tuple[int, int, int] | None:
        """``(i + constant) * steady`` as the registers of ``i * steady`` and ``steady``, and the constant: the former
        is the same for all copies of an unrolled loop's body, the latter are known before the loop."""
        product = self.definitions.of(index)
        if product is None or product.type != WORD or not self._is_product_for_addresses(product):
            return None
        for counter, factor in (product.operands, product.operands[::-1]):
            parts = self._sum_with_constant(counter)
            if parts is not None and self._is_outside_loop(factor) and not self._is_outside_loop(counter):
                step = self.value(factor, WORD)
                return self.builder.mul(self.value(parts[0], WORD), step), step, parts[1]
        return None

    def _is_product_for_addresses(self, product: Instruction) -> bool:
        return product.op is Op.MUL and all(user.op is Op.GETELEMENTPTR for user in self.users[product.name])

    def _sum_with_constant(self, value: Value) -> tuple[Value, int] | None:
        """The value and the constant whose sum ``value`` is, if it is computed in a loop and for addresses only."""
        definition = self.definitions.of(value)
        if definition is not None and self.depth_of("") \
                and (definition.op is Op.ADD or definition.is_disjoint) \
                and isinstance(definition.operands[1], Constant) and definition.operands[1].value is not None \
                and all(user.op is Op.GETELEMENTPTR or self._is_product_for_addresses(user)
                        for user in self.users[definition.name]):
            return definition.operands[0], definition.operands[1].value
        return None

    def getelementptr(self, gep: Instruction) -> int:
        """The address itself, for those who need it in a register."""
        if gep.type.space == PRIVATE_SPACE:
            path = self._walk(gep)
            return self.private.element(gep, path.base, path.offset, path.terms)
        b, path = self.builder, self._walk(gep)
        address = self.value(path.base, gep.types[0])
        return b.add(b.add(address, self._sum(path.terms + path.steady)), b.const(path.offset))
