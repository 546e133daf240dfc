"""Constant vectors and initial values of variables: llvmlite shows them as text only."""

import re
import struct
from collections.abc import Iterator

from llvmlite import binding as llvm

from ..ir.values import Constant, Global, Type
from .constant_expressions import Expression, UnknownExpressionError

__all__ = ["float_word", "initial_bytes", "lanes"]

_ZEROS = ("zeroinitializer", "undef", "poison", "null", "false")
_SCALAR = re.compile(r"-?\d+(?![\d.])|true")
_FLOAT = re.compile(r"0xH(?P<half>[0-9A-F]{4})|0x[0-9A-F]{16}|[-+]?\d[\d.]*(?:e[-+]?\d+)?")
_STRING = re.compile(r'c"([^"]*)"')
_ESCAPE = re.compile(r"\\(\\|[0-9A-Fa-f]{2})")
_FORMATS = {16: ("<e", 0x7E00), 32: ("<f", 0x7FC0_0000), 64: ("<d", 0x7FF8_0000_0000_0000)}
"""Of numbers by their bits, and the one NaN."""
_NORMAL_32, _PER_DENORMAL_32 = 2.0 ** -126, 2.0 ** 149
_POINTER_BYTES = 4


class _Unknown(Exception):
    """A part that is not a number."""


def float_word(value: float, bits: int = 32) -> int:
    """The number ``value`` of so many bits as an integer; every NaN is the canonical one."""
    format, nan = _FORMATS[bits]
    if value != value:
        return nan
    if bits == 32 and 0 < abs(value) < _NORMAL_32:      # a host that flushes denormal numbers would make 0 of it
        return round(abs(value) * _PER_DENORMAL_32) - (1 << 31 if value < 0 else 0)
    return int.from_bytes(struct.pack(format, value), "little", signed=True)


class _Cursor:
    """Reads a constant of a known type from its text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def accept(self, *wanted: str) -> bool:
        self.text = self.text.lstrip(" ,")
        found = next((word for word in wanted if self.text.startswith(word)), None)
        self.text = self.text[len(found or ""):]
        return found is not None

    def take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        self.text = self.text.lstrip(" ,")
        match = pattern.match(self.text)
        if match is None:
            raise _Unknown
        self.text = self.text[match.end():]
        return match

    def scalar(self, type: Type) -> int | Global:
        self.text = self.text.lstrip(" ,")
        if type.kind == "ptr" or (type.kind == "int" and _SCALAR.match(self.text) is None):
            return self.address(type)
        if type.kind == "int":
            number = self.take(_SCALAR)[0]
            return 1 if number == "true" else int(number)
        if type.kind != "float":
            raise _Unknown
        match = self.take(_FLOAT)
        spelling = match[0]
        if match["half"]:
            return float_word(struct.unpack(">e", bytes.fromhex(match["half"]))[0], type.bits)
        # In hexadecimal as binary64, whatever the type.
        return float_word(struct.unpack(">d", bytes.fromhex(spelling[2:]))[0] if spelling[:2] == "0x"
                          else float(spelling), type.bits)

    def address(self, type: Type) -> int | Global:
        expression = Expression(self.text)
        try:
            value = expression.value(type)
        except UnknownExpressionError:
            raise _Unknown from None
        self.text = expression.rest
        if isinstance(value, Global) and type.size == _POINTER_BYTES:
            return value
        if not isinstance(value, Constant) or value.value is None:
            raise _Unknown
        return value.value

    def parts(self, spelling: llvm.TypeRef, type: Type) -> Iterator[tuple[int, Type, int | Global]]:
        """Offset, type and value of each scalar of the constant that is not zero or undefined as a whole."""
        if self.accept(*_ZEROS):
            return
        if self.text.startswith('c"'):
            content = _ESCAPE.sub(lambda code: "\\" if code[1] == "\\" else chr(int(code[1], 16)),
                                  self.take(_STRING)[1])
            for at, character in enumerate(content):
                yield at, type.fields[0], ord(character)
        elif self.accept("splat ("):
            self.accept(str(next(spelling.elements)))
            value = self.scalar(type.fields[0])
            for number in range(type.count):
                yield number * type.fields[0].size, type.fields[0], value
            self.accept(")")
        elif self.accept("[", "<{", "{", "<"):
            elements = list(spelling.elements)
            is_struct = type.kind == "struct"
            for number in range(len(elements) if is_struct else type.count):
                member = number if is_struct else 0
                inner = type.fields[member]
                if not self.accept(re.sub(r" = type .*", "", str(elements[member]))):
                    raise _Unknown
                start = type.offset(number) if is_struct else number * inner.size
                for at, scalar, value in self.parts(elements[member], inner):
                    yield start + at, scalar, value
            self.accept("]", "}>", "}", ">")
        else:
            yield 0, type, self.scalar(type)


def lanes(text: str, spelling: llvm.TypeRef, type: Type) -> Constant:
    """The constant vector of numbers that ``text`` gives with its type."""
    cursor = _Cursor(text)
    cursor.accept(str(spelling))
    try:
        known = {at: value for at, _, value in cursor.parts(spelling, type) if isinstance(value, int)}
    except _Unknown:
        return Constant(None, text)
    size = type.fields[0].size
    undefined = [spelled.strip(">").endswith(("undef", "poison")) for spelled in text.split(",")]
    return Constant(None, "", tuple(Constant(known.get(number * size, 0),
                                             is_undefined=len(undefined) == type.count and undefined[number])
                                    for number in range(type.count)))


def initial_bytes(text: str, spelling: llvm.TypeRef, type: Type) \
        -> tuple[bytes, tuple[tuple[int, Global], ...]] | None:
    """What a variable of numbers and addresses, printed as ``text``, starts with, and where which address is in it;
    None for anything else."""
    match = re.match(r".*?\b(?:constant|global) (.*)", text)
    cursor = _Cursor(match[1] if match is not None else "")
    if not cursor.accept(re.sub(r" = type .*", "", str(spelling))):
        return None
    content = bytearray(type.size)
    pointers: list[tuple[int, Global]] = []
    try:
        for at, scalar, value in cursor.parts(spelling, type):
            if isinstance(value, Global):
                pointers.append((at, value))
                continue
            content[at:at + scalar.size] = (value % (1 << 8 * scalar.size)).to_bytes(scalar.size, "little")
    except _Unknown:
        return None
    return bytes(content), tuple(pointers)
