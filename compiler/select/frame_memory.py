"""Accesses to frames: from a byte's number in the frame to where it is in global memory.

Byte ``n`` is in word ``n // 4``, which is ``WORD_STRIDE`` bytes behind the word before it; see
:mod:`fgpu.compiler.select.frame`.
"""

from collections.abc import Callable

from fgpu.isa import Opcode

from ..backend.mir import ZERO
from ..ir.module import Instruction
from ..ir.values import Constant, Local, Type, Value
from .address_path import Path
from .frame import FRAME_SPACE, PARAMETER, WORD_STRIDE
from .machine_builder import Builder

__all__ = ["FrameMemory"]

_WORD = 4
_NULL = Constant(0)
_POINTER = Type("ptr", space=FRAME_SPACE)
_STORES = {1: Opcode.SB, 2: Opcode.SH, 4: Opcode.SW}
_APART = WORD_STRIDE // _WORD
"""How much further than in a row words are apart."""


def _log2(power: int) -> int:
    return power.bit_length() - 1


class FrameMemory:
    """Selects the accesses to the frame of one function. ``value`` gives the register of an operand; ``is_invariant``
    tells whether it is known before the loop at hand, ``in_loop`` whether there is one."""

    def __init__(self, builder: Builder, value: Callable[[Value, Type], int], is_invariant: Callable[[Value], bool],
                 in_loop: Callable[[], bool]) -> None:
        self.builder = builder
        self.value = value
        self.is_invariant = is_invariant
        self.in_loop = in_loop

    def load(self, at: Instruction, path: Path, size: int) -> tuple[int, int]:
        """The word with the ``size`` bytes that are asked for, and a register with where in the word they are: how
        many of that size are before them, modulo those of a word."""
        b, path = self.builder, self._from_zero(path)
        if (byte := self._byte(at, path)) is not None:
            return b.emit(Opcode.LW, *self._word(path.further(-byte))), b.const(byte // size)
        number, base = self._number(path, size)
        word = b.sra(number, b.const(_log2(_WORD // size)))
        return b.emit(Opcode.LW, b.shl(word, b.const(_log2(_APART))), base), number

    def store(self, at: Instruction, path: Path, data: int, size: int) -> None:
        """Store the low ``size`` bytes of ``data``."""
        b, path = self.builder, self._from_zero(path)
        if (byte := self._byte(at, path)) is not None:
            index, base = self._word(path.further(-byte), size, byte // size)
        else:
            number, base = self._number(path, size)
            word, further = b.sra(number, b.const(_log2(_WORD // size))), (WORD_STRIDE - _WORD) // size
            if self.in_loop():
                index = b.macc(number, word, b.const(further), in_loop=True)
            else:
                part = b.and_(number, b.const(_WORD // size - 1))
                index = b.add(b.shl(word, b.const(_log2(WORD_STRIDE // size))), part)
        b.effect(_STORES[size], index, base, data)

    @property
    def address(self) -> int:
        """The register with the address of the work-item's frame."""
        return self.value(Local(PARAMETER), _POINTER)

    def _from_zero(self, path: Path) -> Path:
        """``path`` with all that is known of its base in its offset."""
        known = self.builder.value_of(self.value(path.base, _POINTER))
        return path if known is None else Path(_NULL, path.offset + known, path.terms)

    def _byte(self, at: Instruction, path: Path) -> int | None:
        """Where in a word the access begins, if that is known."""
        if at.align >= _WORD:
            return 0
        if path.base == _NULL and all(stride % _WORD == 0 for _, stride in path.terms):
            return path.offset % _WORD
        return None

    def _number(self, path: Path, size: int) -> tuple[int, int]:
        """Where ``path`` leads, in elements of ``size`` bytes, beyond whole words that are known; and the address of
        the last of those."""
        b, first = self.builder, path.offset - path.offset % _WORD
        return self._sum(path.further(-first), size), b.add(self.address, b.const(first * _APART))

    def _sum(self, path: Path, size: int) -> int:
        """Where ``path`` leads, in elements of ``size`` bytes."""
        b = self.builder
        each = size if path.is_by(size) else 1
        number = b.srl(self.value(path.base, _POINTER), b.const(_log2(each)))
        for register, stride in path.terms:
            number = b.add(number, b.mul(register, b.const(stride // each)))
        number = b.add(number, b.const(path.offset // each))
        return number if each == size else b.sra(number, b.const(_log2(size)))

    def _word(self, path: Path, size: int = _WORD, more: int = 0) -> tuple[int, int]:
        """Index and base of the word to which ``path`` leads, for an instruction that scales the index by ``size``;
        ``more`` is added to the index."""
        b, frame = self.builder, self.address
        scale = b.const(_APART // size)
        if not path.is_by(_WORD):   # which the sum is
            return b.add(b.mul(self._sum(path, 1), scale), b.const(more)), frame
        index = ZERO
        for register, stride in path.terms:
            index = b.add(index, b.mul(register, b.const(stride * _APART // size)))
        further = path.offset * _APART + more * size
        hoisted = self.in_loop() and self.is_invariant(path.base) and index != ZERO
        base = self.value(path.base, _POINTER)
        if hoisted:     # to the loop's preheader
            moved = b.mul(base, b.const(_APART))
            return index, b.add(b.add(frame, moved), b.const(further))
        index = b.add(b.mul(base, scale), index)
        return b.add(index, b.const(further // size)), frame
