"""Accesses to what a parameter points to have the parameter as their base, not a register with it."""

from typing import Final

from fgpu.isa import Opcode

from .mir import ZERO, MachineFunction

__all__ = ["fold_parameters"]

_FOLDED: Final = {Opcode.LB: Opcode.LBP, Opcode.LH: Opcode.LHP, Opcode.LW: Opcode.LWP,
                  Opcode.SB: Opcode.SBP, Opcode.SH: Opcode.SHP, Opcode.SW: Opcode.SWP}


def fold_parameters(function: MachineFunction) -> None:
    """Let loads and stores of ``function``, which is in SSA form, read parameters themselves.

    What read the parameters into registers stays, for other uses or for dead code elimination.
    """
    parameters = {op.dst: op.imm for block in function.blocks.values() for op in block.ops if op.opcode is Opcode.LP}
    for block in function.blocks.values():
        for op in block.ops:
            if op.rt in parameters and isinstance(op.opcode, Opcode) and op.opcode in _FOLDED:
                op.opcode, op.imm, op.rt = _FOLDED[op.opcode], parameters[op.rt], ZERO
