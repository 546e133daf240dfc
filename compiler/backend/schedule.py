"""The order of the operations of each block.

As clang leaves them, a load often stands just before what needs it, or all of a vector is brought before anything is
done with it.
"""

import heapq
from collections.abc import Iterator, Mapping
from typing import Protocol

from fgpu.cu.pipeline import FLOAT_RESULT_CYCLES, ISSUE_CYCLES, LOADS, RESULT_CYCLES
from fgpu.isa import REGISTER_COUNT, Opcode, Space, by_opcode

from .liveness import live_out
from .mir import MachineBlock, MachineFunction, Op, Pseudo

__all__ = ["overlap", "shorten_lives"]

_MEMORIES = {Space.GLOBAL: ("global",), Space.LOCAL: ("local",), Space.SCRATCHPAD: ("scratchpad",)}
_FENCES = (Opcode.SYNC, Pseudo.FENCE)
_LOAD = 60
"""Cycles, about, from a load that hits to what needs it."""


def overlap(function: MachineFunction, floats: Mapping[Opcode, int] = FLOAT_RESULT_CYCLES) -> None:
    """Reorder the operations of ``function``, which is in SSA form, within its blocks, so that a wavefront that is
    alone does what it can while its loads and results are under way. ``floats``: cycles of floating-point
    operations."""
    flow = function.flow()
    latest: dict[str, list[tuple[int, int]]] = {}     # loop variables and what they become, of each latch
    for loop in flow.loops:
        for latch in loop.latches:
            phis = function.blocks[loop.header].phis
            latest.setdefault(latch, []).extend((phi.dst, phi.sources[latch]) for phi in phis)
    for name, block in function.blocks.items():
        head, rest = _after_frame(block)
        block.ops = head + _overlapped(rest, latest.get(name, []), floats)


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
    if op.opcode in _FENCES:
        return (*_MEMORIES[Space.GLOBAL], *_MEMORIES[Space.LOCAL])
    if isinstance(op.opcode, Pseudo):
        is_call = op.opcode is Pseudo.CALL and not op.is_pure
        return ("global", "local", "scratchpad") if is_call else ("result",) if op.opcode is Pseudo.RESULT else ()
    space = by_opcode[op.opcode].space
    return () if space is None else _MEMORIES[space]


def _dependencies(ops: list[Op]) -> list[set[int]]:
    """For each operation the numbers of those that must come before it."""
    definitions = {op.dst: at for at, op in enumerate(ops) if op.dst is not None}
    arguments: list[int] = []       # what reads the registers in which a routine finds its own: calls overwrite them
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
        if op.opcode is Pseudo.CALL:
            before.update(arguments)
        elif any(0 < register < REGISTER_COUNT for register in op.uses):
            arguments.append(at)
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


class _Ready(Protocol):
    """The operations that may come next."""

    def add(self, at: int) -> None:
        """All that must come before operation ``at`` has come."""

    def closer(self, at: int) -> None:
        """Something has come that must come before operation ``at``."""

    def take(self) -> int | None:
        """The operation that comes next; None if there is none."""


def _listed(after: list[list[int]], waiting: list[int], ready: _Ready) -> Iterator[int]:
    """The numbers of the operations in an order in which those ``after`` each follow it: of those that may come next
    always the one that ``ready`` gives. ``waiting`` counts for how many each still waits.
    """
    for at, count in enumerate(waiting):
        if count == 0:
            ready.add(at)
    while (chosen := ready.take()) is not None:
        yield chosen
        for other in after[chosen]:
            waiting[other] -= 1
            if waiting[other] == 0:
                ready.add(other)
            ready.closer(other)


def _cycles(op: Op, floats: Mapping[Opcode, int]) -> tuple[int, int]:
    """From an operation to the next, and to one that needs its result."""
    if op.is_load:
        return ISSUE_CYCLES, _LOAD
    if not isinstance(op.opcode, Pseudo) and op.opcode in floats:
        return floats[op.opcode], floats[op.opcode]
    return ISSUE_CYCLES, RESULT_CYCLES


def _overlapped(ops: list[Op], variables: list[tuple[int, int]], floats: Mapping[Opcode, int]) -> list[Op]:
    before = _dependencies(ops)
    definitions = {op.dst: at for at, op in enumerate(ops) if op.dst is not None}
    users: dict[int, list[int]] = {}
    for at, op in enumerate(ops):
        for register in op.uses:
            users.setdefault(register, []).append(at)
    for old, new in variables:      # both shall share a register
        if (change := definitions.get(new)) is not None:
            before[change].update(at for at in users.get(old, ()) if at < change)
    after = _followers(before)
    # How much of loading, and how many stores, are to come after an operation: what addresses are made of goes first.
    loading = [0] * len(ops)
    for at in reversed(range(len(ops))):
        own = _LOAD if ops[at].is_load else int(bool(_memories(ops[at])))
        loading[at] = max((loading[other] for other in after[at]), default=0) + own

    ready = _Overlap(ops, after, loading, floats)
    return [ops[at] for at in _listed(after, [len(needed) for needed in before], ready)]


_Urgency = tuple[int, int, int, int]


class _Alike:
    """Ready operations that begin when what they need is there, and no sooner than something that they have in
    common: those that could begin by then, those that could a little later, and the others."""

    def __init__(self) -> None:
        self.ripe: list[tuple[int, int]] = []       # least first: less of loading, number
        self.soon: list[tuple[int, int, int]] = []
        self.later: list[tuple[int, int, int]] = []     # least first: when it is there, less of loading, number

    def best(self, now: int, threshold: int, placed: list[bool]) -> _Urgency | None:
        """The least urgency, whose last part is the operation's number."""
        begin, limit = max(now, threshold), now + ISSUE_CYCLES - 1
        while self.later and (self.later[0][0] <= max(begin, limit) or placed[self.later[0][2]]):
            self.soon.append(heapq.heappop(self.later))
        for available, less, at in self.soon:
            if available <= begin:
                heapq.heappush(self.ripe, (less, at))
        self.soon = [item for item in self.soon if item[0] > begin and not placed[item[2]]]
        while self.ripe and placed[self.ripe[0][1]]:
            heapq.heappop(self.ripe)
        found = [(now, less, available, at) for available, less, at in self.soon]
        found += [(max(now, begin - ISSUE_CYCLES + 1), less, begin, at) for less, at in self.ripe[:1]]
        found += [(available - ISSUE_CYCLES + 1, less, available, at) for available, less, at in self.later[:1]]
        return min(found, default=None)


class _Overlap:
    """What could begin before another operation would end does not wait for one with less loading to come."""

    def __init__(self, ops: list[Op], after: list[list[int]], loading: list[int],
                 floats: Mapping[Opcode, int]) -> None:
        self.ops = ops
        self.floats = floats
        self.after = after
        self.loading = loading
        self.available = [0] * len(ops)     # when what the operation needs is there
        self.placed = [False] * len(ops)
        self.under_way: list[int] = []      # when loads end
        self.now = 0
        self.loads, self.local, self.others = _Alike(), _Alike(), _Alike()

    def kind(self, at: int) -> _Alike:
        """Operations that are neither loads nor computations wait for all loads."""
        op = self.ops[at]
        if op.is_load:
            return self.loads
        is_local = (op.is_pure and op.opcode is not Pseudo.CALL) or op.opcode in (Opcode.LLWI, Opcode.LSWI)
        return self.local if is_local else self.others

    def add(self, at: int) -> None:
        heapq.heappush(self.kind(at).later, (self.available[at], -self.loading[at], at))

    def closer(self, at: int) -> None:
        """That changes nothing."""

    def take(self) -> int | None:
        thresholds = ((self.loads, self.under_way[-LOADS] if len(self.under_way) >= LOADS else 0), (self.local, 0),
                      (self.others, self.under_way[-1] if self.under_way else 0))
        found = [best for alike, threshold in thresholds
                 if (best := alike.best(self.now, threshold, self.placed)) is not None]
        if not found:
            return None
        _, _, begin, at = min(found)
        self.placed[at] = True
        op, (issue, latency) = self.ops[at], _cycles(self.ops[at], self.floats)
        end = begin + latency
        if op.is_load:
            self.under_way.append(end)
        self.now = begin + issue
        for other in self.after[at]:
            self.available[other] = max(self.available[other], end if op.dst in self.ops[other].uses else self.now)
        return at


def _ordered(block: MachineBlock, keep: set[int]) -> list[Op]:
    head, ops = _after_frame(block)
    before = _dependencies(ops)
    waiting = [len(needed) for needed in before]
    return head + [ops[at] for at in _listed(_followers(before), waiting, _Pressure(ops, waiting, keep))]


class _Pressure:
    """Where most registers become free, less the one that is written, comes first; then what goes on with what was
    made last; then that whose user waits for least else."""

    def __init__(self, ops: list[Op], waiting: list[int], keep: set[int]) -> None:
        self.ops = ops
        self.waiting = waiting
        self.keep = keep
        self.users: dict[int, list[int]] = {}
        for at, op in enumerate(ops):
            for register in set(op.uses):
                self.users.setdefault(register, []).append(at)
        self.uses = {register: len(users) for register, users in self.users.items()}
        self.makers = {op.dst: at for at, op in enumerate(ops) if op.dst is not None}
        self.made: dict[int, int] = {}
        self.ready: set[int] = set()
        self.queue: list[_Urgency] = []     # an urgency only ever falls; the last that was noted comes first

    def urgency(self, at: int) -> _Urgency:
        op = self.ops[at]
        freed = sum(1 for register in set(op.uses) if self.uses[register] == 1 and register not in self.keep)
        missing = min((self.waiting[user] for user in self.users.get(op.dst or 0, ())), default=0)
        latest = max((self.made.get(register, -1) for register in op.uses), default=-1)
        return (-freed + (op.dst is not None), -latest, missing, at)

    def note(self, at: int | None) -> None:
        if at in self.ready:
            heapq.heappush(self.queue, self.urgency(at))

    def add(self, at: int) -> None:
        self.ready.add(at)
        self.note(at)

    def closer(self, at: int) -> None:
        for register in self.ops[at].uses:
            self.note(self.makers.get(register))

    def take(self) -> int | None:
        while self.queue and self.queue[0][-1] not in self.ready:
            heapq.heappop(self.queue)
        if not self.queue:
            return None
        at = heapq.heappop(self.queue)[-1]
        self.ready.discard(at)
        if (dst := self.ops[at].dst) is not None and self.users.get(dst):
            self.made[dst] = len(self.made)
        for register in set(self.ops[at].uses):
            self.uses[register] -= 1
            if self.uses[register] == 1:        # the last user frees it
                for user in self.users[register]:
                    self.note(user)
        return at
