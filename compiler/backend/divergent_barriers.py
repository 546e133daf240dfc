"""Barriers to which only some work-items of a work-group come: a mistake in most programs."""

from fgpu.isa import PER_WORK_ITEM, Opcode, by_opcode

from ..ir.cfg import Flow
from ..ir.module import Location
from .mir import MachineFunction, Op, Pseudo
from .uniformity import END, divergent_branches, post_dominators

__all__ = ["find_divergent_barriers"]


def find_divergent_barriers(function: MachineFunction) -> list[tuple[Location | None, Location | None]]:
    """Barriers of ``function``, which is in SSA form, that are behind branches which depend on a work-item's id:
    where they are in the source, and where the branch is.

    Work-items that end at once instead, as those beyond the end of an array do, are none that others wait for.
    """
    barriers = [name for name, block in function.blocks.items() if block.has_barrier]
    if not barriers:
        return []
    flow = function.flow()
    after = post_dominators(flow)
    found: dict[str, str] = {}
    for name in sorted(divergent_branches(function, flow, _is_own), key=flow.number.__getitem__):
        region = flow.reached(flow.successors[name], after.get(name, END))
        inside = [barrier for barrier in barriers if barrier in region]
        if any(_ends_at_once(function, flow, way) for way in flow.successors[name]):
            around = [loop.blocks for loop in flow.loops if name in loop.blocks]
            inside = [barrier for barrier in inside if any(barrier in blocks for blocks in around)]
        found |= dict.fromkeys(inside, name)
    return [(_location(function, barrier), _branch_location(function, name)) for barrier, name in found.items()]


def _is_own(op: Op) -> bool:
    """Whether each work-item has a result of its own for certain."""
    opcode = op.opcode
    return not isinstance(opcode, Pseudo) and (opcode in PER_WORK_ITEM or by_opcode[opcode].atomic is not None)


def _ends_at_once(function: MachineFunction, flow: Flow, way: str) -> bool:
    return all(not function.blocks[name].ops for name in flow.walk([way], END))


def _location(function: MachineFunction, barrier: str) -> Location | None:
    return next(op.location for op in function.blocks[barrier].ops if op.opcode is Opcode.SYNC)


def _branch_location(function: MachineFunction, name: str) -> Location | None:
    branch = function.blocks[name].branch
    return branch.location if branch is not None else None
