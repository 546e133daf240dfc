"""Common subexpression elimination, over the whole function."""

import bisect
from operator import itemgetter

from .mir import COMMUTATIVE, MachineFunction

__all__ = ["eliminate_common_subexpressions"]


def eliminate_common_subexpressions(function: MachineFunction) -> None:
    """Compute each pure value once on every path: later computations become the first one's result."""
    flow = function.flow()
    known: dict[tuple[object, ...], list[tuple[int, int, int]]] = {}   # span of the block, register
    replaced: dict[int, int] = {}

    def final(register: int) -> int:
        while register in replaced:
            register = replaced[register]
        return register

    for name in flow.order:
        block = function.blocks[name]
        kept = []
        for op in block.ops:
            op.substitute(final)
            if op.is_pure and op.dst is not None:
                rs, rt = op.rs, op.rt
                if op.opcode in COMMUTATIVE and rs > rt:
                    rs, rt = rt, rs
                places = known.setdefault((op.opcode, rs, rt, op.rd, op.imm, op.arguments), [])
                # No block with the value dominates another one, so the last before us is the only candidate.
                first, _ = flow.span(name)
                at = bisect.bisect(places, first, key=itemgetter(0))
                if at and first <= places[at - 1][1]:
                    replaced[op.dst] = places[at - 1][2]
                    continue
                places.insert(at, (*flow.span(name), op.dst))
            kept.append(op)
        block.ops = kept
    for block in function.blocks.values():
        for phi in block.phis:
            phi.sources = {name: final(source) for name, source in phi.sources.items()}
        for op in block.reading():
            op.substitute(final)
