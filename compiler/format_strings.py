"""The format strings of printf (OpenCL C 1.2, 6.12.13): the compiler checks them, the host follows them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "HEADER_WORDS", "STRING", "Argument", "Conversion", "Format", "FormatError", "check_arguments", "parse_format",
]

STRING = "string"
"""The argument type of a literal that ``%s`` prints."""
HEADER_WORDS = 2
"""Words of a record before its arguments."""
_LANES = (2, 3, 4, 8, 16)
_INTEGERS, _FLOATS, _OTHERS = "diouxX", "fFeEgGaA", "csp"
_CONVERSION = re.compile(r"%([-+ #0]*)(\d*)(?:(\.)(\d*))?(?:v(\d*))?(hh|hl|h|l)?(.?)", re.S)
_FOREIGN = ("ll", "j", "z", "t", "L", "q")
_MOST = 4095
"""Characters that a conversion may be asked for: what C99 (7.19.6.1) promises of each."""
_INTEGER_TYPES = {"char": 1, "short": 2, "int": 4, "long": 8}
_FLOAT_TYPES = {"half": 2, "float": 4, "double": 8}
_MODIFIERS = {
    "hh": ("char", ""), "h": ("short", "half"), "hl": ("int", "float"), "l": ("long", "double"),
}
"""Elements of vectors by their length modifier: integers and floats."""


class FormatError(ValueError):
    """A format string that OpenCL C does not have; the message names the conversion and the remedy."""


@dataclass(frozen=True)
class Argument:
    """The type of an argument: ``int``, ``long``, ``float``, ``double``, ``pointer``, ``string``, or a vector of
    numbers such as ``char4``, whose ``lanes`` are 4; of others they are 1. Integers have no sign; conversions do."""

    kind: str
    lanes: int = 1

    def __str__(self) -> str:
        return f"{self.kind}{self.lanes if self.lanes > 1 else ''}"

    @classmethod
    def parse(cls, text: str) -> "Argument":
        """The argument whose ``str`` is ``text``; raises :class:`FormatError` for anything else."""
        match = re.fullmatch(r"([a-z]+)(\d*)", text)
        kind, lanes = (match[1], int(match[2] or 1)) if match else ("", 1)
        is_number = kind in _INTEGER_TYPES or kind in _FLOAT_TYPES
        if not (is_number and lanes in (1, *_LANES)) and not (kind in ("pointer", STRING) and lanes == 1):
            raise FormatError(f"{text!r} is no argument of printf")
        return cls(kind, lanes)

    @property
    def element_bytes(self) -> int:
        """Bytes of an element, or of all if it is no vector; a string is a number in the image."""
        return _INTEGER_TYPES.get(self.kind) or _FLOAT_TYPES.get(self.kind) or 4

    @property
    def words(self) -> int:
        """Words of a record; a vector of three has as many as one of four."""
        return -(-(4 if self.lanes == 3 else self.lanes) * self.element_bytes // 4)

    @property
    def is_float(self) -> bool:
        """Whether it is made of floating-point numbers."""
        return self.kind in _FLOAT_TYPES


@dataclass(frozen=True)
class Format:
    """A format string and the types of the arguments that a call gives it, so many as it prints."""

    text: str
    arguments: tuple[Argument, ...] = ()

    @property
    def words(self) -> int:
        """Words of a record."""
        return HEADER_WORDS + sum(argument.words for argument in self.arguments)


@dataclass(frozen=True)
class Conversion:
    """One conversion specification, such as ``%+8.3v4hlf``."""

    text: str
    flags: str
    width: int
    precision: int | None
    lanes: int
    length: str
    letter: str

    @property
    def is_integer(self) -> bool:
        """Whether it prints integers."""
        return self.letter in _INTEGERS

    @property
    def is_float(self) -> bool:
        """Whether it prints floating-point numbers."""
        return self.letter in _FLOATS


def parse_format(text: str) -> list[str | Conversion]:
    """The parts of a format string: what stands there, and conversions.

    Raises :class:`FormatError` for conversions that OpenCL C 1.2 does not have.
    """
    parts: list[str | Conversion] = []
    at = 0
    while at < len(text):
        percent = text.find("%", at)
        if percent < 0:
            parts.append(text[at:])
            break
        if percent > at:
            parts.append(text[at:percent])
        match = _CONVERSION.match(text, percent)
        assert match is not None
        parts.append("%" if match[0] == "%%" else _conversion(match, text))
        at = match.end()
    return parts


def _conversion(match: re.Match[str], text: str) -> Conversion:
    spelled, (flags, width, point, precision, vector, length, letter) = match[0], match.groups()
    rest = text[match.end() - len(letter):]
    foreign = next((name for name in _FOREIGN if f"{length or ''}{rest}".startswith(name)), None)
    if not letter:
        raise FormatError(f"the format string ends within {spelled!r}; a percent sign is written %%")
    if letter == "*":
        raise FormatError(f"{spelled!r}: OpenCL C has no width or precision from an argument; write the number")
    if letter == "n":
        raise FormatError(f"{spelled!r}: OpenCL C has no %n; printf returns 0, or -1 where it failed")
    if foreign is not None:
        raise FormatError(f"{spelled!r}: OpenCL C has no length modifier {foreign!r}; long is printed by %ld and "
                          "%lu, size_t, which has 32 bits here, by %u or %lu")
    if letter not in _INTEGERS + _FLOATS + _OTHERS:
        raise FormatError(f"{spelled!r} is no conversion of OpenCL C; there are d i o u x X f F e E g G a A c s p, "
                          "and %% for a percent sign")
    if vector is not None and (not vector.isdecimal() or int(vector) not in _LANES):
        raise FormatError(f"{spelled!r}: vectors have {', '.join(map(str, _LANES))} elements, not {vector or 'none'}")
    if vector is not None and letter in _OTHERS:
        raise FormatError(f"{spelled!r}: %{letter} prints no vectors; numbers in them are printed by d i o u x X "
                          "f F e E g G a A")
    if length and letter in _OTHERS:
        raise FormatError(f"{spelled!r}: %{letter} takes no length modifier; leave out {length!r}")
    if length == "hl" and vector is None:
        raise FormatError(f"{spelled!r}: 'hl' is for vectors, as in %v4hl{letter}; write %{letter}")
    if length == "hh" and letter in _FLOATS:
        raise FormatError(f"{spelled!r}: 'hh' is for integers; write 'hl' for vectors of float")
    for what, number in ("width", width), ("precision", precision):
        if number and int(number) > _MOST:
            raise FormatError(f"{spelled!r}: the {what} may be {_MOST} at most")
    return Conversion(spelled, flags, int(width or 0), int(precision or 0) if point else None,
                      int(vector) if vector is not None else 1, length or "", letter)


def check_arguments(parts: Sequence[str | Conversion], arguments: Sequence[Argument]) -> None:
    """Refuse arguments that the conversions among ``parts`` do not print; more than there are conversions may be.

    Integers may have any width, as a program's ``size_t`` has another one elsewhere. Raises :class:`FormatError`.
    """
    conversions = [part for part in parts if isinstance(part, Conversion)]
    if len(arguments) < len(conversions):
        texts = " ".join(conversion.text for conversion in conversions)
        raise FormatError(f"conversions: {len(conversions)} ({texts}), arguments: {len(arguments)}; "
                          "give one for each")
    for number, (conversion, argument) in enumerate(zip(conversions, arguments, strict=False), start=1):
        if (remedy := _misprint(conversion, argument)) is not None:
            raise FormatError(f"argument {number} is {_named(argument)}, which {conversion.text!r} does not print; "
                              f"{remedy}")


def _named(argument: Argument) -> str:
    if argument.kind == "pointer":
        return "a pointer"
    return f"{'an' if argument.kind[0] in 'aeiou' else 'a'} {argument}"


def _misprint(conversion: Conversion, argument: Argument) -> str | None:
    """What to write instead if a conversion cannot print an argument."""
    letter = conversion.letter
    if letter == "s":
        return None if argument.kind == STRING else "%s prints string literals only; numbers are printed by %d or %f"
    if argument.kind == "pointer":
        fits = letter == "p" or (conversion.is_integer and conversion.lanes == 1)
        return None if fits else "pointers are printed by %p"
    if argument.kind == STRING:
        return "strings are printed by %s"
    if conversion.lanes != argument.lanes or conversion.is_float != argument.is_float:
        return f"write {_suitable(argument)}"
    if argument.lanes > 1 and conversion.length:
        fits = argument.kind == _MODIFIERS[conversion.length][argument.is_float]
        return None if fits else f"write {_suitable(argument)}"
    return None


def _suitable(argument: Argument) -> str:
    """A conversion for an argument."""
    letter = "f" if argument.is_float else "d"
    if argument.lanes == 1:
        return f"%{'l' if argument.kind == 'long' else ''}{letter}"
    length = next(name for name, kinds in _MODIFIERS.items() if argument.kind in kinds)
    return f"%v{argument.lanes}{length}{letter}"
