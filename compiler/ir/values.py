"""Types of the IR, and what an operand can be."""

from dataclasses import dataclass, field, replace
from typing import TypeAlias

__all__ = [
    "BOOL",
    "BYTE",
    "LOCAL_SPACE",
    "PRIVATE_SPACE",
    "VOID",
    "WORD",
    "WORD_BITS",
    "Constant",
    "Global",
    "Local",
    "Type",
    "Value",
    "integer",
    "integers_like",
]

PRIVATE_SPACE = 0
"""The address space of work-items' own memory."""
LOCAL_SPACE = 3
"""That of work-groups' memory."""


@dataclass(frozen=True)
class Type:
    """A type. ``kind`` is one of void, int, ptr, array, struct, vector, float, other; the rest depends on it."""

    kind: str
    bits: int = 0
    space: int = 0
    count: int = 0
    fields: tuple["Type", ...] = ()
    text: str = ""
    is_packed: bool = False
    least_align: int = 1
    """Bytes that an attribute demands, whatever a struct consists of."""

    @property
    def is_by_value(self) -> bool:
        """Whether this parameter is a struct, of which the function gets a copy; ``fields`` has its type."""
        return self.kind == "ptr" and bool(self.fields)

    @property
    def is_private(self) -> bool:
        """Whether this is a pointer to private memory, which is not in a frame."""
        return self.kind == "ptr" and self.space == PRIVATE_SPACE

    @property
    def align(self) -> int:
        """Alignment in bytes, in the 32-bit data layout that OpenCL C has here."""
        return max(self.least_align, self._natural_align)

    @property
    def _natural_align(self) -> int:
        if self.is_packed:
            return 1
        if self.kind in ("array", "struct"):
            return max((field.align for field in self.fields), default=1)
        return self.size

    @property
    def size(self) -> int:
        """Bytes that a value of this type takes in memory, padding included."""
        match self.kind:
            case "int" | "float":
                return max(1, 1 << (self.bits - 1).bit_length() >> 3)
            case "ptr":
                return 4
            case "array":
                return self.count * self.fields[0].size
            case "vector":                      # of three: as large as of four
                return (1 << (self.count - 1).bit_length()) * self.fields[0].size
            case "struct":
                return _round_up(self.offset(len(self.fields)), self._natural_align)
        return 1

    def offset(self, index: int) -> int:
        """Byte offset of field ``index`` of a struct."""
        at = 0
        for number, member in enumerate(self.fields):
            at = _round_up(at, 1 if self.is_packed else member.align)
            if number == index:
                break
            at += member.size
        return at

    @property
    def is_word(self) -> bool:
        """Whether a value of this type fits a register."""
        return self.kind == "ptr" or (self.kind == "int" and self.bits <= 32) or self.text == "float"


def _round_up(value: int, to: int) -> int:
    return -(-value // to) * to


VOID = Type("void")


def integer(bits: int) -> Type:
    """The integer type of ``bits`` bits."""
    return Type("int", bits=bits)


def integers_like(type: Type, bits: int) -> Type:
    """The integer, or the vector of integers, of ``bits`` bits that is like ``type``."""
    return replace(type, fields=(integer(bits),)) if type.kind == "vector" else integer(bits)


WORD_BITS = 32
WORD = integer(WORD_BITS)
BYTE = integer(8)
BOOL = integer(1)


@dataclass(frozen=True)
class Local:
    """A value that an instruction or a parameter of the function defines."""

    name: str


@dataclass(frozen=True)
class Global:
    """The address of a function or of a variable of the module, and bytes beyond it."""

    name: str
    offset: int = 0


@dataclass(frozen=True)
class Constant:
    """An integer (null, an undefined value as zero, the word of a float); None if the compiler has no use for it.

    A vector has ``lanes``, unless all of them are ``value``. An undefined lane need not be stored.
    """

    value: int | None
    text: str = ""
    lanes: tuple["Value", ...] = ()
    is_undefined: bool = field(default=False, compare=False)


Value: TypeAlias = Local | Global | Constant
