"""Machine-independent clean-up of machine code in SSA form: sharing, loop invariants, dead code."""

import bisect
from operator import itemgetter

from ..ir.cfg import Loop
from .mir import COMMUTATIVE, MachineBlock, MachineFunction, Op, Pseudo

__all__ = ["optimize"]


def optimize(function: MachineFunction) -> None:
    """Improve ``function`` in place; it must be in SSA form."""
    remove_dead(function)
    share_common(function)
    hoist_invariants(function)
    share_common(function)
    remove_dead(function)
    delay_increments(function)


def remove_dead(function: MachineFunction) -> None:
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


def share_common(function: MachineFunction) -> None:
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
