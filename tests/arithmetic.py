"""What the arithmetic instructions mean, in Python's integers: written apart from hardware and engines."""

from collections.abc import Callable

__all__ = ["OPERATIONS", "WORD", "signed"]

WORD = 1 << 32


def signed(value: int) -> int:
    """The number that a word stands for in two's complement."""
    return value - WORD if value >> 31 else value


OPERATIONS: dict[str, Callable[[int, int, int], int | None]] = {
    "add": lambda a, b, d: a + b,
    "sub": lambda a, b, d: a - b,
    "mul": lambda a, b, d: a * b,
    "macc": lambda a, b, d: d + a * b,
    "li": lambda a, b, d: b,
    "lui": lambda a, b, d: b << 16 | d & 0xFFFF,
    "sll": lambda a, b, d: a << b % 32,
    "srl": lambda a, b, d: a >> b % 32,
    "sra": lambda a, b, d: signed(a) >> b % 32,
    "and": lambda a, b, d: a & b,
    "or": lambda a, b, d: a | b,
    "xor": lambda a, b, d: a ^ b,
    "nor": lambda a, b, d: ~(a | b),
    "movn": lambda a, b, d: a if b else None,
    "movz": lambda a, b, d: None if b else a,
    "slt": lambda a, b, d: int(signed(a) < signed(b)),
    "sltu": lambda a, b, d: int(a < b),
}
"""The new rd from rs, rt or the immediate, and rd, modulo 2**32; None: unchanged."""
OPERATIONS |= {f"{name}i": OPERATIONS[name] for name in ("add", "sll", "srl", "sra", "and", "or", "xor", "slt")}
OPERATIONS["sltiu"] = OPERATIONS["sltu"]
