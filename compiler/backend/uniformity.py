"""Which branches may split a wavefront: those whose operands may differ between its work-items."""

from collections.abc import Callable, Mapping, Sequence

from fgpu.isa import PER_WORK_ITEM, REGISTER_COUNT, Space, by_opcode

from ..ir.cfg import Flow, Loop
from .mir import MachineFunction, Op, Pseudo

__all__ = ["END", "divergent_branches", "find_divergent_branches", "post_dominators"]

END = ""
"""What follows the blocks that nothing follows."""
_OWN = PER_WORK_ITEM | {opcode for opcode, row in by_opcode.items()
                        if row.atomic is not None or row.space is Space.SCRATCHPAD}


def post_dominators(flow: Flow) -> dict[str, str]:
    """By the blocks that lead to an end: the next one that all paths to an end have in common."""
    before = {END: [name for name in flow.order if not flow.successors[name]], **flow.predecessors}
    return Flow(before).idom


def find_divergent_branches(function: MachineFunction) -> None:
    """Mark the blocks of ``function``, which is in SSA form, whose branches may split a wavefront.

    Only the length of programs depends on this, not what they do.
    """
    for name in divergent_branches(function, function.flow(), _differs):
        function.blocks[name].splits = True


def divergent_branches(function: MachineFunction, flow: Flow, differs: Callable[[Op], bool]) -> set[str]:
    """The blocks of ``function`` whose branches depend on what ``differs`` between work-items, or on arguments."""
    after = post_dominators(flow)
    users, home = _data_flow(function, flow)
    seeds = set(range(1, REGISTER_COUNT))       # what functions are given
    for name in flow.order:
        seeds.update(op.dst for op in function.blocks[name].ops if op.dst is not None and differs(op))
    deciding: dict[int, list[str]] = {}     # the blocks whose branches read a register
    for name in flow.order:
        branch = function.blocks[name].branch
        for register in branch.uses if branch is not None else ():
            deciding.setdefault(register, []).append(name)
    behind = _read_behind(function, flow, home)
    differing: set[int] = set()
    splitting: set[str] = set()
    todo = seeds
    while todo:
        register = todo.pop()
        if register in differing:
            continue
        differing.add(register)
        todo |= users.get(register, set())
        for name in deciding.get(register, ()):
            if name not in splitting:
                splitting.add(name)
                end = after.get(name, END)
                for join in _joins(flow.successors, name, end):
                    todo.update(phi.dst for phi in function.blocks[join].phis)
                for loop, registers in behind:      # some work-items leave it before others do
                    if name in loop.blocks and end not in loop.blocks:
                        todo |= registers
    return splitting


def _data_flow(function: MachineFunction, flow: Flow) -> tuple[dict[int, set[int]], dict[int, str]]:
    """For each register those that are computed from it, and the block where it is."""
    users: dict[int, set[int]] = {}
    home: dict[int, str] = {}
    for name in flow.order:
        block = function.blocks[name]
        for dst, uses in [*((phi.dst, [*phi.sources.values()]) for phi in block.phis),
                          *((op.dst, op.uses) for op in block.ops)]:
            if dst is not None:
                home[dst] = name
                for register in uses:
                    users.setdefault(register, set()).add(dst)
    return users, home


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


def _read_behind(function: MachineFunction, flow: Flow, home: Mapping[int, str]) -> list[tuple[Loop, set[int]]]:
    """For each loop the registers that it makes and that are read behind it."""
    found: list[tuple[Loop, set[int]]] = [(loop, set()) for loop in flow.loops]
    around: dict[str, list[int]] = {name: [] for name in flow.order}
    for number, loop in enumerate(flow.loops):
        for name in loop.blocks:
            around[name].append(number)
    for name in flow.order:
        block = function.blocks[name]
        for uses in [*(phi.sources.values() for phi in block.phis), *(op.uses for op in block.reading())]:
            for register in uses:
                for number in around[home.get(register, name)]:
                    if name not in flow.loops[number].blocks:
                        found[number][1].add(register)
    return found
