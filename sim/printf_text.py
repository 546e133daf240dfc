"""What printf prints of values, by OpenCL C 1.2 (6.12.13): exactly rounded, and spelled as C does."""

import math
import struct
from collections.abc import Sequence
from functools import lru_cache

from fgpu.compiler.format_strings import Argument, Conversion, Format, parse_format

__all__ = ["convert", "formatted"]

_BITS = {"hh": 8, "h": 16, "": 32, "l": 64}
_FLOATS = {2: "<e", 4: "<f", 8: "<d"}
_FRACTION_DIGITS = 13
"""Hexadecimal digits behind the point of a double."""
_LEAST_EXPONENT = -1022


def formatted(format: Format, content: bytes, strings: Sequence[str]) -> bytes:
    """What a call prints whose arguments are ``content``, in words; ``strings`` has what ``%s`` prints."""
    printed = b""
    arguments, at = iter(format.arguments), 0
    for part in _parts(format.text):
        if isinstance(part, str):
            printed += _encoded(part)
            continue
        argument = next(arguments)
        value = content[at:at + 4 * argument.words]
        at += 4 * argument.words
        if part.letter == "s":
            number = int.from_bytes(value, "little")
            text = _encoded(strings[number]) if number < len(strings) else b"(unknown string)"
            printed += _justified(text if part.precision is None else text[:part.precision], part)
        else:
            printed += convert(part, argument, value)
    return printed


_parts = lru_cache(parse_format)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _justified(text: bytes, conversion: Conversion) -> bytes:
    return text.ljust(conversion.width) if "-" in conversion.flags else text.rjust(conversion.width)


def convert(conversion: Conversion, argument: Argument, content: bytes) -> bytes:
    """A number, character, pointer or vector of numbers, which is ``content`` in memory."""
    size = argument.element_bytes
    elements = [content[at:at + size] for at in range(0, argument.lanes * size, size)]
    return b",".join(_scalar(conversion, argument, element) for element in elements)


def _scalar(conversion: Conversion, argument: Argument, content: bytes) -> bytes:
    letter = conversion.letter
    if letter == "c":
        return _justified(content[:1], conversion)
    if letter == "p":
        number = int.from_bytes(content, "little")
        return _justified(f"{number:#x}".encode() if number else b"(nil)", conversion)
    if conversion.is_integer:
        bits = 8 * argument.element_bytes if argument.lanes > 1 else _BITS[conversion.length]
        is_signed = letter in "di"
        number = int.from_bytes(content, "little", signed=is_signed) % (1 << bits)
        if is_signed and number >> bits - 1:
            number -= 1 << bits
        return _integer(conversion, number).encode()
    [value] = struct.unpack(_FLOATS[argument.element_bytes], content)
    return _float(conversion, value).encode()


def _padded(conversion: Conversion, sign: str, digits: str, has_zeros: bool) -> str:
    """``digits`` behind a sign, or what they begin with, in the width that is asked for."""
    if "-" in conversion.flags:
        return (sign + digits).ljust(conversion.width)
    if has_zeros and "0" in conversion.flags:
        return sign + digits.rjust(conversion.width - len(sign), "0")
    return (sign + digits).rjust(conversion.width)


def _sign(conversion: Conversion, is_negative: bool) -> str:
    return "-" if is_negative else "+" if "+" in conversion.flags else " " if " " in conversion.flags else ""


def _integer(conversion: Conversion, number: int) -> str:
    letter, precision = conversion.letter, conversion.precision
    digits = f"{abs(number):{'d' if letter in 'diu' else letter}}"
    if number == 0 and precision == 0:
        digits = ""
    digits = digits.rjust(precision or 0, "0")
    sign = _sign(conversion, number < 0) if letter in "di" else ""
    if "#" in conversion.flags and letter == "o" and not digits.startswith("0"):
        digits = f"0{digits}"
    if "#" in conversion.flags and letter in "xX" and number:
        sign = f"0{letter}"
    return _padded(conversion, sign, digits, has_zeros=precision is None)


def _float(conversion: Conversion, value: float) -> str:
    letter = conversion.letter
    sign, size = _sign(conversion, math.copysign(1, value) < 0), abs(value)
    if not math.isfinite(size):
        text = "nan" if math.isnan(size) else "inf"
        return _padded(conversion, sign, text.upper() if letter.isupper() else text, has_zeros=False)
    if letter in "aA":
        prefix, digits = _hexadecimal(conversion, size)
        text = _padded(conversion, sign + prefix, digits, has_zeros=True)
        return text.upper() if letter == "A" else text
    precision = 6 if conversion.precision is None else conversion.precision
    alternative = "#" if "#" in conversion.flags else ""
    return _padded(conversion, sign, f"{size:{alternative}.{precision}{letter}}", has_zeros=True)


def _hexadecimal(conversion: Conversion, size: float) -> tuple[str, str]:
    """``0x`` and what follows in C99's hexadecimal spelling of a positive number or zero."""
    exponent = max(math.frexp(size)[1] - 1, _LEAST_EXPONENT) if size else 0
    digits = 4 * _FRACTION_DIGITS
    number = int(math.ldexp(size, digits - exponent)) if size else 0
    shown = _FRACTION_DIGITS
    if conversion.precision is None:
        while shown and not number & 0xF:
            number, shown = number >> 4, shown - 1
    elif conversion.precision < shown:
        shown = conversion.precision
        unit = 1 << 4 * (_FRACTION_DIGITS - shown)
        quotient, rest = divmod(number, unit)
        number = quotient + (2 * rest > unit or (2 * rest == unit and quotient % 2 == 1))   # to nearest, to even
    else:
        number, shown = number << 4 * (conversion.precision - shown), conversion.precision
    whole, behind = divmod(number, 1 << 4 * shown)
    point = "." if shown or "#" in conversion.flags else ""
    return "0x", f"{whole:x}{point}{behind:0{shown}x}p{exponent:+d}" if shown else f"{whole:x}{point}p{exponent:+d}"
