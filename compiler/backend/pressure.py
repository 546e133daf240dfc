"""How many registers live at once, before any is allocated."""

from collections.abc import Iterable, Mapping

from .mir import MachineFunction, Op, Pseudo

__all__ = ["least_spilled"]


def _is_free(op: Op) -> bool:
    """Whether the result may need neither a register nor a place in memory: it is computed again, or it is a copy."""
    return op.is_cheap or op.opcode is Pseudo.MOVE


def least_spilled(function: MachineFunction, out: Mapping[str, Iterable[int]], available: int) -> int:
    """How many words of ``function``, which is in SSA form, are spilled at least if there are so many ``available``
    registers; register allocation may need more. ``out``: the registers that are live at the ends of blocks.
    """
    free = {op.dst for block in function.blocks.values() for op in block.ops if _is_free(op)} | {0}
    for block in function.blocks.values():
        for phi in block.phis:
            sources = set(phi.sources.values()) - {phi.dst}
            if len(sources) == 1 or sources <= free:    # as in a register that is a copy of another
                free.add(phi.dst)
    most = 0
    for name, block in function.blocks.items():
        live = set(out[name]) - free
        most = max(most, len(live))
        for op in reversed([*block.reading()]):
            live.discard(op.dst or 0)
            live.update(register for register in op.uses if register not in free)
            most = max(most, len(live))
    return max(0, most - available)
