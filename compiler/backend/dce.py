"""Dead code elimination: what nobody reads is dropped."""

from .mir import MachineFunction

__all__ = ["eliminate_dead_code"]


def eliminate_dead_code(function: MachineFunction) -> None:
    """Drop operations and phis whose result nobody reads."""
    producers: dict[int, list[int]] = {}
    live: list[int] = []
    for block in function.blocks.values():
        for phi in block.phis:
            producers[phi.dst] = [source for source in phi.sources.values() if source]
        for op in block.reading():
            if op.dst is not None and op.is_droppable:
                producers[op.dst] = op.uses
            else:
                live += op.uses
    needed: set[int] = set()
    while live:
        register = live.pop()
        if register not in needed:
            needed.add(register)
            live += producers.get(register, ())
    for block in function.blocks.values():
        block.phis = [phi for phi in block.phis if phi.dst in needed]
        block.ops = [op for op in block.ops if not op.is_droppable or op.dst in needed]
