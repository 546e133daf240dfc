"""Private variables in memory: instruction selection for the scratchpad.

A pointer holds the number of an element or of a byte, counted so that word 0 of the work-item's region has the number
``FIRST_WORD``: no variable is at the null pointer, and every variable is as aligned as the declaration says. The
immediate of the access takes the difference back, which costs nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from fgpu.isa import Opcode, by_opcode

from ..backend.mir import ZERO
from ..ir.module import Function, Instruction, Op
from ..ir.values import Local, Type, Value
from .machine_builder import Builder
from .scratchpad_layout import PACKED, PrivateLayout

__all__ = ["FIRST_WORD", "PrivateMemory"]

FIRST_WORD = 1024
"""The number that pointers have for the scratchpad's first word: a multiple of all alignments up to 4 KiB."""
_WORD = 4
_BYTE_BITS = 8
_IMMEDIATES = by_opcode[Opcode.LLWI].immediate_range


@dataclass(frozen=True)
class _Place:
    """A pointer's value: ``register + offset``, in elements of ``unit`` bytes, or in bytes if packed."""

    register: int
    offset: int
    unit: int

    def moved(self, by: int) -> "_Place":
        """The place ``by`` bytes further."""
        return replace(self, offset=self.offset + (by if self.unit == PACKED else by // self.unit))


class PrivateMemory:
    """Selects the scratchpad instructions of one function. ``value`` gives the register of an operand."""

    def __init__(self, function: Function, builder: Builder, value: Callable[[Value, Type], int], words: int) -> None:
        self.function = function
        self.builder = builder
        self.value = value
        self.layout = PrivateLayout(function, words)
        self.places: dict[str, _Place] = {}
        self.words = self._placed()

    def _placed(self) -> dict[str, int]:
        """The first word of each variable, behind what the function's callees use: those of large alignment first."""
        machine, words = self.builder.function, {}
        variables = [(self.layout.alignment(i), i) for i in self.function.instructions() if i.op is Op.ALLOCA]
        for align, alloca in sorted(variables, key=lambda variable: -variable[0]):
            machine.private_words += -(FIRST_WORD + machine.private_words) % align
            words[alloca.name] = machine.private_words
            machine.private_words += -(-alloca.source.size // (self.layout.unit(Local(alloca.name)) or _WORD))
        return words

    def alloca(self, instruction: Instruction) -> int:
        """The address of a private variable."""
        if instruction.operands:
            raise self.function.error("a private array needs a constant size", instruction)
        unit, word = self.layout.unit(Local(instruction.name)), FIRST_WORD + self.words[instruction.name]
        place = self.places[instruction.name] = _Place(ZERO, word * (_WORD if unit == PACKED else 1), unit)
        return self.builder.const(place.offset)

    def place(self, pointer: Value, at: Instruction) -> _Place:
        """Where a private pointer points."""
        if isinstance(pointer, Local) and pointer.name in self.places:
            return self.places[pointer.name]
        return _Place(self.value(pointer, at.types[-1]), 0, self.layout.unit(pointer))

    def element(self, gep: Instruction, base: Value, offset: int, terms: tuple[tuple[int, int], ...]) -> int:
        """The address ``offset`` bytes and some registers times bytes beyond ``base``."""
        b, place = self.builder, self.place(base, gep)
        register, odd = place.register, ZERO
        unit = place.unit or 1
        if offset % unit:
            raise self.function.error("a private array must be accessed by whole elements", gep)
        for term, stride in terms:
            if stride % unit:
                odd = b.add(odd, b.mul(term, b.const(stride)))
            else:
                register = b.add(register, b.mul(term, b.const(stride // unit)))
        if odd:     # bytes that LLVM computed; the access is aligned, so they make whole elements
            register = b.add(register, b.sra(odd, b.const(unit.bit_length() - 1)))
        place = _Place(register, place.offset + offset // unit, place.unit)
        self.places[gep.name] = place
        return b.add(register, b.const(place.offset))

    # -- accesses --------------------------------------------------------------------------------------

    def load(self, at: Instruction, pointer: Value, size: int) -> int:
        """``size`` bytes, a word at most; above them anything."""
        b, place = self.builder, self.place(pointer, at)
        if place.unit == PACKED and size <= at.align:
            return self._load_packed(place)
        step, result = place.unit or at.align, ZERO
        for byte in range(0, size, step):
            part = self._load_packed(place.moved(byte)) if place.unit == PACKED else \
                self._load_word(place.register, place.offset + byte // step)
            if size > step:
                part = b.zero_extended(part, _BYTE_BITS * step)
            result = b.or_(b.shl(part, b.const(_BYTE_BITS * byte)), result)
        return result

    def _access(self, register: int, number: int) -> tuple[int, int]:
        """Register and immediate for word ``register + number`` as pointers count."""
        if (immediate := number - FIRST_WORD) in _IMMEDIATES:
            return register, immediate
        return self.builder.add(register, self.builder.const(immediate)), 0

    def _load_word(self, register: int, number: int) -> int:
        register, immediate = self._access(register, number)
        return self.builder.emit(Opcode.LLWI, register, imm=immediate)

    def _store_word(self, register: int, number: int, data: int) -> None:
        register, immediate = self._access(register, number)
        self.builder.effect(Opcode.LSWI, register, rd=data, imm=immediate)

    def _load_packed(self, place: _Place) -> int:
        word, moved = self._word_of(place), self.builder.shl
        b = self.builder
        loaded = self._load_word(*word)
        if place.register == ZERO:
            return b.srl(loaded, b.const(place.offset % _WORD * _BYTE_BITS))
        return b.srl(loaded, moved(b.add(place.register, b.const(place.offset % _WORD)), b.const(3)))

    def _word_of(self, place: _Place) -> tuple[int, int]:
        """The number of the word in which a packed place is: the sum of a register and a constant."""
        b = self.builder
        if place.register == ZERO:
            return ZERO, place.offset // _WORD
        # The offset's bytes may carry into the next word.
        address = b.add(place.register, b.const(place.offset % _WORD))
        return b.sra(address, b.const(2)), place.offset // _WORD

    def store(self, at: Instruction, pointer: Value, data: int, size: int) -> None:
        """The low ``size`` bytes of ``data``, a word at most."""
        b, place = self.builder, self.place(pointer, at)
        step = place.unit or min(at.align, size)
        for byte in range(0, size, step):
            part = b.srl(data, b.const(_BYTE_BITS * byte))
            if place.unit == PACKED:
                self._store_packed(place.moved(byte), part, step)
            else:
                self._store_word(place.register, place.offset + byte // step, part)

    def _store_packed(self, place: _Place, data: int, size: int) -> None:
        b, (register, offset) = self.builder, self._word_of(place)
        if size < _WORD:
            bits = _BYTE_BITS * size
            if place.register == ZERO:
                shift = b.const(place.offset % _WORD * _BYTE_BITS)
            else:
                shift = b.shl(b.add(place.register, b.const(place.offset % _WORD)), b.const(3))
            old = self._load_word(register, offset)
            mask = b.shl(b.const((1 << bits) - 1), shift)
            # Only the bits under the mask change.
            data = b.xor(old, b.and_(b.xor(old, b.shl(data, shift)), mask))
        self._store_word(register, offset, data)

    def fill(self, call: Instruction, data: bytes) -> None:
        """Write constant ``data``: a store for each element, or for each word."""
        b, place = self.builder, self.place(call.operands[0], replace(call, types=call.types[:1]))
        if place.unit == PACKED and (place.register != ZERO or place.offset % _WORD or len(data) % _WORD):
            for at, byte in enumerate(data):
                self._store_packed(place.moved(at), b.const(byte), 1)
            return
        unit = place.unit or _WORD
        if len(data) % unit:
            raise self.function.error("a private array can only be filled by whole elements", call)
        for at in range(0, len(data), unit):
            value = b.const(int.from_bytes(data[at:at + unit], "little", signed=True))
            to = place.moved(at)
            register, number = self._word_of(to) if place.unit == PACKED else (to.register, to.offset)
            self._store_word(register, number, value)
