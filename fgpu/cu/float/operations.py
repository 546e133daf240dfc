"""Floating-point operations, and how long each takes."""

from typing import Final

from amaranth.lib import data, enum

__all__ = ["BASE_LATENCY", "LATENCY", "SLOT_CYCLES", "FloatOp", "Slots", "operations_of"]


class FloatOp(enum.Enum, shape=4):
    """A floating-point operation; equal to the code of its opcode (family 0xC), named as its mnemonic."""

    FADD = 0x0
    FMUL = 0x1
    FDIV = 0x2
    UITOFP = 0x3
    FSQRT = 0x4
    FPTOSI = 0x5
    FPTOUI = 0x6
    FSLT = 0x7
    FSUB = 0x8
    ITOFP = 0x9


SLOT_CYCLES: Final = 4
"""Issue is in slots of four cycles, and the turn in which results are written is fixed: latencies are alike modulo
this."""
BASE_LATENCY: Final = 8
"""Cycles of the fast operations, from the operands at the inputs to the result at the output."""

LATENCY: Final = dict.fromkeys(FloatOp, BASE_LATENCY) | {FloatOp.FSQRT: 28, FloatOp.FDIV: 32}
"""Cycles of each operation, from the operands at the inputs to the result at the output."""
assert all((cycles - BASE_LATENCY) % SLOT_CYCLES == 0 for cycles in LATENCY.values())


class Slots(data.ArrayLayout):
    """Slots of four cycles that each operation, by its code, takes more than :data:`BASE_LATENCY`."""

    def __init__(self) -> None:
        super().__init__(3, 1 << 4)


def operations_of(names: frozenset[str]) -> frozenset[FloatOp]:
    """The operations with these mnemonics."""
    return frozenset(FloatOp[name.upper()] for name in names)
