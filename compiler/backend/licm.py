"""Loop-invariant code motion."""

from ..ir.cfg import Loop
from .mir import MachineFunction, Op, Pseudo

__all__ = ["hoist_invariants"]


def hoist_invariants(function: MachineFunction) -> None:
    """Move pure operations out of the loops in which their operands do not change, innermost loops first."""
    flow = function.flow()
    for loop in flow.loops:
        if loop.preheader is not None:
            _hoist(function, loop, sorted(loop.blocks, key=flow.number.__getitem__))


def _hoist(function: MachineFunction, loop: Loop, names: list[str]) -> None:
    blocks = [function.blocks[name] for name in names]
    assert loop.preheader is not None
    target = function.blocks[loop.preheader]
    inside = {phi.dst for block in blocks for phi in block.phis}
    inside |= {op.dst for block in blocks for op in block.ops if op.dst is not None}
    for block in blocks:
        kept: list[Op] = []
        for op in block.ops:
            # A call may stand where the loop seldom comes.
            if op.is_pure and op.dst is not None and op.opcode is not Pseudo.CALL and inside.isdisjoint(op.uses):
                target.ops.append(op)
                inside.discard(op.dst)
            else:
                kept.append(op)
        block.ops = kept
