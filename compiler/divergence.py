"""Which branches may split a wavefront: those whose operands may differ between its work-items."""

from collections.abc import Iterator, Mapping, Sequence

from fgpu.isa import REGISTER_COUNT, Opcode, Unit, by_opcode

from .cfg import Flow
from .mir import MachineFunction, Op, Pseudo

__all__ = ["find_splits", "post_dominators"]

END = ""
"""What follows the blocks that nothing follows."""
_OWN = frozenset({Opcode.LID, *(opcode for opcode, row in by_opcode.items()
                                if row.unit in (Unit.ATOMIC, Unit.SCRATCHPAD))})


def post_dominators(flow: Flow) -> dict[str, str]:
    """By the blocks that lead to an end: the next one that all paths to an end have in common."""
    before = {END: [name for name in flow.order if not flow.successors[name]], **flow.predecessors}
    return Flow(before).idom


def find_splits(function: MachineFunction) -> None:
    """Mark the blocks of ``function``, which is in SSA form, whose branches may split a wavefront.

    Only the length of programs depends on this, not what they do.
    """
    flow = function.flow()
    after = post_dominators(flow)
    users: dict[int, set[int]] = {}
    home: dict[int, str] = {}
    seeds = set(range(1, REGISTER_COUNT))       # what functions are given
    for name in flow.order:
        block = function.blocks[name]
        for dst, uses in [*((phi.dst, [*phi.sources.values()]) for phi in block.phis),
                          *((op.dst, op.uses) for op in block.ops)]:
            if dst is not None:
                home[dst] = name
                for register in uses:
                    users.setdefault(register, set()).add(dst)
        seeds.update(op.dst for op in block.ops if op.dst is not None and _differs(op))
    differing: set[int] = set()
    todo = seeds
    while todo:
        while todo:
            register = todo.pop()
            if register not in differing:
                differing.add(register)
                todo |= users.get(register, set())
        for name in flow.order:
            block = function.blocks[name]
            if block.branch is not None and not block.splits and not differing.isdisjoint(block.branch.uses):
                block.splits = True
                end = after.get(name, END)
                for join in _joins(flow.successors, name, end):
                    todo.update(phi.dst for phi in function.blocks[join].phis)
                todo.update(_left_behind(function, flow, home, name, end))


def _differs(op: Op) -> bool:
    """Whether each work-item has a result of its own, whatever the operands."""
    return op.opcode in _OWN or op.opcode is Pseudo.FRAME or (op.opcode is Pseudo.CALL and not op.is_pure)


def _joins(successors: Mapping[str, Sequence[str]], split: str, end: str) -> set[str]:
    """Blocks up to ``end`` to which different ways lead from the branch of ``split``."""
    way = {name: name for name in successors[split]}
    joins = set()
    todo = list(way)
    while todo:
        name = todo.pop()
        if name in (end, split):
            continue
        for follower in successors[name]:
            if follower not in way:
                way[follower] = way[name]
                todo.append(follower)
            elif way[follower] != way[name] and follower not in joins:
                joins.add(follower)
                if way[follower] != follower:
                    way[follower] = follower
                    todo.append(follower)
    return joins


def _left_behind(function: MachineFunction, flow: Flow, home: Mapping[int, str], split: str,
                 end: str) -> Iterator[int]:
    """What is used behind the loops that some work-items leave at ``split`` before others do."""
    for loop in flow.loops:
        if split in loop.blocks and end not in loop.blocks:
            for name in flow.order:
                if name not in loop.blocks:
                    block = function.blocks[name]
                    uses = [*(register for phi in block.phis for register in phi.sources.values()),
                            *(register for op in block.reading() for register in op.uses)]
                    yield from (register for register in uses if home.get(register, name) in loop.blocks)
