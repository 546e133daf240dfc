"""Which registers are live where, before and after phis are gone."""

from .mir import MachineBlock, MachineFunction

__all__ = ["live_out"]


def _local(block: MachineBlock) -> tuple[set[int], set[int]]:
    """Registers that the block reads before it writes them, and those that it writes."""
    reads: set[int] = set()
    writes = {phi.dst for phi in block.phis}
    for op in block.reading():
        reads.update(register for register in op.uses if register not in writes)
        if op.dst is not None:
            writes.add(op.dst)
    return reads, writes


def live_out(function: MachineFunction) -> dict[str, set[int]]:
    """Registers whose value is read after the end of each block; a phi reads at the end of its predecessors."""
    local = {name: _local(block) for name, block in function.blocks.items()}
    phi_reads: dict[str, set[int]] = {name: set() for name in function.blocks}
    for block in function.blocks.values():
        for phi in block.phis:
            for name, source in phi.sources.items():
                if source:
                    phi_reads[name].add(source)
    live_in: dict[str, set[int]] = {name: set() for name in function.blocks}
    result = {name: set(phi_reads[name]) for name in function.blocks}
    flow = function.flow()
    order = flow.order[::-1]
    waiting = set(order)
    while waiting:
        for name in order:
            if name not in waiting:
                continue
            waiting.discard(name)
            out = result[name]
            for successor in function.blocks[name].successors:
                out |= live_in[successor]
            reads, writes = local[name]
            new = reads | (out - writes)
            if len(new) != len(live_in[name]):      # it only grows
                live_in[name] = new
                waiting.update(flow.predecessors[name])
    return result
