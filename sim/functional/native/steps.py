"""Programs as the compiled engine reads them: a table of decoded instructions."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from fgpu.config import Config
from fgpu.isa import INSTRUCTIONS, OPCODE, RD, RS, RT, Field, Format, Immediate, Instruction, Opcode, Space, Unit

from .abi import SCRAP, Kind, Step

__all__ = ["Steps"]

_FIELDS: Any = Step._fields_
_STEP = np.dtype([(name, kind) for name, kind in _FIELDS])
assert _STEP.itemsize == ctypes.sizeof(Step)
_WORD_SCALE = 2
_PARAMETER_BASE = 2
"""The immediate of an access to a parameter, whose number is in ``rt``."""


def _kind(row: Instruction) -> Kind:
    if row.atomic is not None:
        return Kind.ATOMIC
    if row.space is Space.GLOBAL or row.space is Space.LOCAL:
        return Kind.LOAD if row.writes_rd else Kind.STORE
    if row.unit in (Unit.CONTROL, Unit.RETURN):
        if row.is_branch:
            return Kind.BRANCH
        return Kind.CALL if row.immediate is not None else Kind.RETURN if row.opcode is Opcode.RET else Kind.BARRIER
    return Kind.PLAIN


def _extract(field: Field, words: np.ndarray) -> np.ndarray:
    value, at = np.zeros_like(words), 0
    for low, width in field.parts:
        value |= (words >> np.uint32(low) & np.uint32((1 << width) - 1)) << np.uint32(at)
        at += width
    return value


def _immediates(row: Instruction, words: np.ndarray) -> np.ndarray:
    """The operands that instructions see, the number of a parameter, or 1 for an access without an index."""
    if row.immediate is None:
        return np.full_like(words, row.atomic is not None and row.format is Format.RD_RS_RT)
    value = _extract(row.immediate, words)
    if row.immediate_kind is Immediate.SIGNED:
        sign = np.uint32(1 << row.immediate.width - 1)
        value = (value ^ sign) - sign
    return value


_REGISTERS = {"rd": RD, "rs": RS, "rt": RT}


class Steps:
    """The words of a program, decoded for a configuration."""

    def __init__(self, program: Sequence[int], config: Config) -> None:
        words = np.array(program, dtype=np.uint32)
        opcodes = _extract(OPCODE, words)
        table = np.zeros(len(words), dtype=_STEP)
        table["opcode"], table["kind"] = opcodes, Kind.NONE
        named = 1
        for row in INSTRUCTIONS:
            places = np.flatnonzero(opcodes == row.opcode.value)
            if not len(places) or config.lacks(row) is not None:
                continue
            chosen = words[places]
            immediates = _immediates(row, chosen)
            table["kind"][places] = _kind(row)
            table["local"][places] = row.space is Space.LOCAL
            table["scale"][places] = row.scale if row.atomic is None else _WORD_SCALE
            for name in row.registers:
                numbers = _extract(_REGISTERS[name], chosen)
                table[name][places] = numbers
                named |= int(np.bitwise_or.reduce(np.uint32(1) << numbers))
            table["to"][places] = np.where(table["rd"][places] == 0, SCRAP, table["rd"][places])
            if row.format is Format.RD_PARAMETER_INDEX:
                table["rt"][places], immediates = immediates, np.full_like(immediates, _PARAMETER_BASE)
            table["immediate"][places] = immediates
            table["target"][places] = places + immediates.view(np.int32) + row.is_branch
        self.table = table
        self.address: int = table.ctypes.data
        self.registers = named
        """A bit for each that the program names, and for r0."""
        self.uses_local = bool(table["local"].any())
        self.uses_scratchpad = bool(np.isin(opcodes, (Opcode.LLWI.value, Opcode.LSWI.value)).any())
