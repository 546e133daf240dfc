"""Floating-point operations, and how long each takes."""

from collections.abc import Iterable
from typing import Final

from amaranth.lib import data, enum

from fgpu.config import Config
from fgpu.cu.pipeline import FLOAT_LATENCY
from fgpu.isa import Opcode

__all__ = ["BASE_LATENCY", "LATENCY", "FloatOp", "Slots", "lanes_of", "narrow_select", "operations_of"]


class FloatOp(enum.Enum, shape=4):
    """A floating-point operation; equal to the code of its opcode (family 0xC), and named as that."""

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


LATENCY: Final = {op: FLOAT_LATENCY[Opcode[op.name]] for op in FloatOp}
"""Cycles of each operation, from the operands at the inputs to the result at the output."""
BASE_LATENCY: Final = min(LATENCY.values())
"""Cycles of the fast operations."""


class Slots(data.ArrayLayout):
    """Issue slots that each operation, by its code, takes more than :data:`BASE_LATENCY`."""

    def __init__(self) -> None:
        super().__init__(3, 1 << 4)


def operations_of(names: frozenset[str]) -> frozenset[FloatOp]:
    """The operations with these mnemonics."""
    return frozenset(FloatOp[name.upper()] for name in names)


def lanes_of(config: Config) -> dict[FloatOp, int]:
    """The narrow operations, which fewer than all lanes have, and how many have them."""
    return {FloatOp[name.upper()]: lanes for name, lanes in config.narrow_floats.items()}


def narrow_select(narrow: Iterable[FloatOp]) -> FloatOp | None:
    """The one of the narrow operations that selects the results of them all; None if there is none."""
    return min(narrow, key=lambda op: op.value, default=None)
