"""Operand syntax of assembly text, derived from the instruction formats: one description for both directions."""

import re
from typing import Final

from fgpu.isa import Format

__all__ = ["OPERANDS", "TARGET_BASE", "pattern"]

OPERANDS: Final[dict[Format, str]] = {
    Format.RD_RS_RT: "{rd}, {rs}, {rt}",
    Format.RD_RS: "{rd}, {rs}",
    Format.RD_RS_IMM: "{rd}, {rs}, {imm}",
    Format.RD_IMM: "{rd}, {imm}",
    Format.RD_BASE_INDEX: "{rd}, {rt}[{rs}]",
    Format.RD_PARAMETER_INDEX: "{rd}, {imm}[{rs}]",
    Format.RD_ATOMIC: "{rd}, {rs}[{rt}]",
    Format.RD_SCRATCHPAD: "{rd}, {rs}[{imm}]",
    Format.RD_RS_TARGET: "{rd}, {rs}, {target}",
    Format.TARGET: "{target}",
    Format.NONE: "",
}
"""Operands of each format as text, with the names of the fields."""

TARGET_BASE: Final[dict[Format, int]] = {Format.RD_RS_TARGET: 1, Format.TARGET: 0}
"""What the hardware adds to PC and immediate for the target of a branch or a jump."""

_FIELD: Final = {
    "rd": r"r(?P<rd>\d+)", "rs": r"r(?P<rs>\d+)", "rt": r"r(?P<rt>\d+)",
    "imm": r"(?P<imm>-?\w+)", "target": r"(?P<target>-?[\w.$]+)",
}


def pattern(format: Format) -> re.Pattern[str]:
    """What the operands of an instruction of ``format`` look like, one group a field."""
    text = re.escape(OPERANDS[format]).replace(r"\{", "{").replace(r"\}", "}").replace(r",\ ", r"\s*,\s*")
    text = text.replace(r"\[", r"\s*\[\s*").replace(r"\]", r"\s*\]")
    return re.compile(text.format(**_FIELD))
