"""The order of the operations of each block.

As clang leaves them, a load often stands just before what needs it, or all of a vector is brought before anything is
done with it.
"""

from collections import Counter
from collections.abc import Callable, Iterator

from fgpu.config import LOADS, PHASES, RESULT_CYCLES
from fgpu.cu.float.operations import LATENCY, SLOT_CYCLES, FloatOp
from fgpu.isa import Opcode, Unit, by_opcode

from .liveness import live_out
from .mir import MachineBlock, MachineFunction, Op, Pseudo

__all__ = ["overlap", "shorten_lives"]

_LOAD = 60
"""Cycles, about, from a load that hits to what needs it."""


def overlap(function: MachineFunction) -> bool:
    """Reorder the operations of ``function``, which is in SSA form, within its blocks, so that a wavefront that is
    alone does what it can while its loads and results are under way. Returns whether that changed anything."""
    flow = function.flow()
    latest: dict[str, list[tuple[int, int]]] = {}     # loop variables and what they become, of each latch
    for loop in flow.loops:
        for latch in loop.latches:
            phis = function.blocks[loop.header].phis
            latest.setdefault(latch, []).extend((phi.dst, phi.sources[latch]) for phi in phis)
    changed = False
    for name, block in function.blocks.items():
        head, rest = _after_frame(block)
        ops = head + _overlapped(rest, latest.get(name, []))
        changed |= ops != block.ops
        block.ops = ops
    return changed


def shorten_lives(function: MachineFunction) -> None:
    """Reorder the operations of ``function``, which is in SSA form, within its blocks, so that few registers live at
    once: for functions that would spill."""
    out = live_out(function)
    for name, block in function.blocks.items():
        keep = set(out[name])
        if block.branch is not None:
            keep.update(block.branch.uses)
        block.ops = _ordered(block, keep)


def _after_frame(block: MachineBlock) -> tuple[list[Op], list[Op]]:
    """The operations of ``block`` up to the one with the frame's address, before which no register can be kept there,
    and the others."""
    first = next((at + 1 for at, op in enumerate(block.ops) if op.opcode is Pseudo.FRAME), 0)
    return block.ops[:first], block.ops[first:]


def _memories(op: Op) -> tuple[str, ...]:
    """What the operation reads or writes besides registers."""
    if isinstance(op.opcode, Pseudo):
        is_call = op.opcode is Pseudo.CALL and not op.is_pure
        return ("global", "scratchpad") if is_call else ("result",) if op.opcode is Pseudo.RESULT else ()
    unit = by_opcode[op.opcode].unit
    return {Unit.MEMORY: ("global",), Unit.ATOMIC: ("global",), Unit.SCRATCHPAD: ("scratchpad",)}.get(unit, ())


def _dependencies(ops: list[Op]) -> list[set[int]]:
    """For each operation the numbers of those that must come before it."""
    definitions = {op.dst: at for at, op in enumerate(ops) if op.dst is not None}
    last_write: dict[str, int] = {}
    reads: dict[str, list[int]] = {}
    result = []
    for at, op in enumerate(ops):
        before = {definitions[register] for register in op.uses if register in definitions}
        for memory in _memories(op):
            if memory in last_write:
                before.add(last_write[memory])
            if op.is_droppable:
                reads.setdefault(memory, []).append(at)
            else:
                before.update(reads.pop(memory, ()))
                last_write[memory] = at
        if op.opcode is Pseudo.RESULT:
            before.update(range(at))
        before.discard(at)
        result.append(before)
    return result


def _followers(before: list[set[int]]) -> list[list[int]]:
    """For each operation the numbers of those that must come after it."""
    after: list[list[int]] = [[] for _ in before]
    for at, needed in enumerate(before):
        for other in needed:
            after[other].append(at)
    return after


def _listed(after: list[list[int]], waiting: list[int], urgency: Callable[[int], tuple[int, ...]],
            place: Callable[[int], None]) -> Iterator[int]:
    """The numbers of the operations in an order in which those ``after`` each follow it: of those that may come next
    always the one of least ``urgency``, of which ``place`` is told. ``waiting`` counts for how many each still waits.
    """
    ready = {at for at, count in enumerate(waiting) if count == 0}
    while ready:
        at = min(ready, key=urgency)
        ready.discard(at)
        place(at)
        yield at
        for other in after[at]:
            waiting[other] -= 1
            if waiting[other] == 0:
                ready.add(other)


def _cycles(op: Op) -> tuple[int, int]:
    """From an operation to the next, and to one that needs its result."""
    if op.is_load:
        return PHASES, _LOAD
    if not isinstance(op.opcode, Pseudo) and by_opcode[op.opcode].unit is Unit.FLOAT:
        latency = LATENCY[FloatOp[op.opcode.name]] + SLOT_CYCLES
        return latency, latency
    return PHASES, RESULT_CYCLES


def _overlapped(ops: list[Op], variables: list[tuple[int, int]]) -> list[Op]:
    before = _dependencies(ops)
    definitions = {op.dst: at for at, op in enumerate(ops) if op.dst is not None}
    for old, new in variables:      # both shall share a register
        if (change := definitions.get(new)) is not None:
            before[change].update(at for at, op in enumerate(ops[:change]) if old in op.uses)
    after = _followers(before)
    # How much of loading, and how many stores, are to come after an operation: what addresses are made of goes first.
    loading = [0] * len(ops)
    for at in reversed(range(len(ops))):
        own = _LOAD if ops[at].is_load else int(bool(_memories(ops[at])))
        loading[at] = max((loading[other] for other in after[at]), default=0) + own

    available = [0] * len(ops)      # when what the operation needs is there
    under_way: list[int] = []       # when loads end
    now = 0

    def start(at: int) -> int:
        """When the operation could begin; those that are neither loads nor computations wait for all loads."""
        op = ops[at]
        if op.is_load:
            return max(available[at], under_way[-LOADS] if len(under_way) >= LOADS else 0)
        if (op.is_pure and op.opcode is not Pseudo.CALL) or op.opcode in (Opcode.LLWI, Opcode.LSWI):
            return available[at]
        return max([available[at], *under_way])

    def place(at: int) -> None:
        nonlocal now
        now = max(now, start(at))
        issue, latency = _cycles(ops[at])
        end = now + latency
        if ops[at].is_load:
            under_way.append(end)
        now += issue
        for other in after[at]:
            available[other] = max(available[other], end if ops[at].dst in ops[other].uses else now)

    def urgency(at: int) -> tuple[int, int, int, int]:
        """What could begin before another operation would end does not wait for one with less loading to come."""
        begin = max(now, start(at))
        return (max(now, begin - PHASES + 1), -loading[at], begin, at)

    return [ops[at] for at in _listed(after, [len(needed) for needed in before], urgency, place)]


def _ordered(block: MachineBlock, keep: set[int]) -> list[Op]:
    head, ops = _after_frame(block)
    before = _dependencies(ops)
    waiting = [len(needed) for needed in before]
    uses = Counter(register for op in ops for register in set(op.uses))
    users: dict[int, list[int]] = {}
    for at, op in enumerate(ops):
        for register in op.uses:
            users.setdefault(register, []).append(at)

    made: dict[int, int] = {}

    def urgency(at: int) -> tuple[int, int, int, int]:
        """Registers that become free, less the one that is written; then what goes on with what was made last; then
        how much else the user still waits for."""
        op = ops[at]
        freed = sum(1 for register in set(op.uses) if uses[register] == 1 and register not in keep)
        missing = min((waiting[user] for user in users.get(op.dst or 0, ())), default=0)
        latest = max((made.get(register, -1) for register in op.uses), default=-1)
        return (-freed + (op.dst is not None), -latest, missing, at)

    def place(at: int) -> None:
        if (dst := ops[at].dst) is not None and users.get(dst):
            made[dst] = len(made)
        for register in set(ops[at].uses):
            uses[register] -= 1

    return head + [ops[at] for at in _listed(_followers(before), waiting, urgency, place)]
