"""Loop variables and what they become share a register: the increment comes last."""

from .mir import MachineBlock, MachineFunction

__all__ = ["delay_increments"]


def delay_increments(function: MachineFunction) -> None:
    """Move the increment of a loop variable behind the last use of its old value, so both share a register."""
    flow = function.flow()
    for loop in flow.loops:
        phis = function.blocks[loop.header].phis
        for latch in loop.latches:
            block = function.blocks[latch]
            for phi in phis:
                _delay(block, phi.dst, phi.sources[latch])


def _delay(block: MachineBlock, old: int, new: int) -> None:
    at = next((at for at, op in enumerate(block.ops) if op.dst == new), None)
    if at is None or old not in block.ops[at].uses or not block.ops[at].is_pure:
        return
    last = max((n for n, op in enumerate(block.ops) if old in op.uses), default=at)
    if last > at and not any(new in op.uses for op in block.ops[at + 1:last + 1]):
        block.ops.insert(last, block.ops.pop(at))
