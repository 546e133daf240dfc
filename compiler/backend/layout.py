"""The layout of a function: the order of its blocks, and instructions that lead from one to another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from fgpu.config import ANNOTATED
from fgpu.isa import Opcode, by_opcode

from ..ir.cfg import Flow
from .mir import ZERO, MachineBlock, MachineFunction, Op, Pseudo
from .uniformity import END

__all__ = ["REACH", "Layout", "lay_out"]

_NEAR = 1000
"""Instructions by which jumps may be off, to be between blocks: those within a block have to pass by."""

_INVERSE = {Opcode.BEQ: Opcode.BNE, Opcode.BNE: Opcode.BEQ}
_DUPLICATE_UP_TO = 4
"""Operations of a last block that are copied rather than jumped to: words are cheaper than time."""
_CALL, _BRANCH = (by_opcode[opcode].immediate_range for opcode in (Opcode.JSUB, Opcode.BEQ))
REACH: Final = range(max(_CALL.start, _BRANCH.start + 1), min(_CALL.stop, _BRANCH.stop + 1))
"""How far a branch or a call leads at most, from its word on."""


@dataclass
class Layout:
    """The instructions of a function in their order, but for calls of other functions, which are still such.

    ``labels`` are numbers of instructions, by name; ``ways`` says for branches and calls, by their numbers, to which
    of them they lead.
    """

    ops: list[Op]
    labels: dict[str, int]
    ways: dict[int, str]

    @property
    def calls(self) -> Iterator[tuple[int, int]]:
        """Calls of other functions: their numbers, and those of the functions."""
        return ((at, op.imm) for at, op in enumerate(self.ops) if op.opcode in (Pseudo.CALL, Pseudo.JUMP))

    def add_jumps(self, names: Sequence[str], near: int) -> None:
        """Insert jumps near an instruction, where a block begins if one does, which others pass by; where they lead
        is open. Their labels are ``names``."""
        here = min(self.labels.values(), key=lambda place: abs(place - near))
        if abs(here - near) > _NEAR:
            here = near + (self.ops[near - 1].opcode is Opcode.MEET)
        count, behind = 1 + len(names), f"behind.{names[-1]}"

        def moved(place: int) -> int:
            return place + count * (place >= here)

        self.ops[here:here] = [Op(Opcode.BEQ) for _ in range(count)]
        self.labels = {label: moved(place) for label, place in self.labels.items()}
        self.ways = {moved(place): label for place, label in self.ways.items()}
        self.labels |= {name: here + 1 + number for number, name in enumerate((*names, behind))}
        self.ways[here] = behind        # which others may be inserted before

    def resolve(self) -> None:
        """Let all branches and calls within the function lead to their labels, by a jump halfway where they do not
        reach them."""
        while (far := next((at for at in self.ways if self._distance(at) not in REACH), None)) is not None:
            label, distance = self.ways[far], self._distance(far)
            stone = self.ways[far] = f"{label}.from.{far}.{distance}"
            self.add_jumps([stone], far + distance // 2)
            self.ways[self.labels[stone]] = label
        for at in self.ways:
            self.ops[at].imm = self._distance(at) - (self.ops[at].opcode in _INVERSE)

    def _distance(self, at: int) -> int:
        return self.labels[self.ways[at]] - at


def lay_out(function: MachineFunction, scheme: str = "stack") -> Layout:
    """The layout of ``function``, whose registers are physical.

    For schemes of divergence other than ``stack`` no block but that of a loop comes before one that leads to it:
    where the path with the lowest PC runs first, paths meet where all come by. Before branches at which work-items
    may part comes a ``meet`` for those schemes that need it.
    """
    order = _in_order(function) if scheme == "stack" else _topological(function)
    places = _places(function, order, scheme) if scheme in ANNOTATED else {}
    ops: list[Op] = []
    labels: dict[str, int] = {}
    ways: dict[int, str] = {}
    for position, block in enumerate(order):
        follower = order[position + 1].name if position + 1 < len(order) else None
        labels[block.name] = len(ops)
        _body(block, ops)
        if block.ops and block.ops[-1].opcode is Pseudo.JUMP:
            continue
        if block.enter is not None:
            ways[len(ops)] = block.enter
            ops.append(Op(Opcode.JSUB, location=block.location))
        branch, target, next_block = block.branch, block.target, block.next
        if branch is not None and target is not None:
            # The way on is a jump if neither follows: that back to the inner loop's start is the one to branch to.
            is_back = next_block != follower and labels.get(next_block or "", -1) > labels.get(target, -1)
            if (target == follower or is_back) and next_block is not None:
                inverse = _INVERSE[branch.opcode]   # type: ignore[index]
                branch = Op(inverse, rs=branch.rs, rd=branch.rd, location=branch.location)
                target, next_block = next_block, target
            branch.location = branch.location or block.location
            if block.name in places:
                ways[len(ops)] = places[block.name]
                ops.append(Op(Opcode.MEET, location=branch.location))
            ways[len(ops)] = target
            ops.append(branch)
        if next_block is None:
            ops.append(Op(Opcode.RET, location=block.location))
        elif next_block != follower:
            end = function.blocks[next_block]
            if not end.successors and end.enter is None and len(end.ops) <= _DUPLICATE_UP_TO and not end.has_barrier:
                _body(end, ops)
                ops.append(Op(Opcode.RET, location=end.location))
            else:
                ways[len(ops)] = next_block
                ops.append(Op(Opcode.BEQ, location=block.location))
    return Layout(ops, labels, ways)


def _places(function: MachineFunction, order: Sequence[MachineBlock], scheme: str) -> dict[str, str]:
    """By blocks at whose branches work-items may part: the block where all of them come by, or, for ``counters``,
    all but those that return on the way."""
    flow = function.flow()
    ends = [block.name for block in order if not flow.successors.get(block.name, ["-"])]
    idom = Flow({END: ends[-1:] if scheme == "counters" else ends, **flow.predecessors}).idom
    return {block.name: place for block in order
            if block.splits and block.branch is not None and (place := idom.get(block.name, END)) != END}


def _in_order(function: MachineFunction) -> list[MachineBlock]:
    """Blocks in an order in which most go on to the next one; loops stay together, and parts that are called."""
    successors = {name: block.successors for name, block in function.blocks.items()}
    placed: dict[str, MachineBlock] = {}
    entries = [next(iter(successors))]
    while entries:
        entry = entries.pop()
        flow = Flow({entry: successors[entry], **successors})
        waiting = flow.order[::-1]
        while waiting:
            name: str | None = waiting.pop()
            while name is not None and name not in placed:
                block = placed[name] = function.blocks[name]
                ways = [way for way in (block.next, block.target) if way is not None and way not in placed]
                name = max(ways, key=flow.depth.__getitem__, default=None)
                if block.enter is not None:
                    entries.append(block.enter)
    return list(placed.values())


def _topological(function: MachineFunction) -> list[MachineBlock]:
    """Blocks behind all that lead to them but by the way back of a loop, whose blocks stay together."""
    flow = function.flow()
    around = {name: {loop.header for loop in flow.loops if name in loop.blocks} for name in flow.order}
    missing = {name: {other for other in flow.predecessors[name] if flow.number[other] < flow.number[name]}
               for name in flow.order}
    order: list[str] = []
    ready = [flow.entry]
    while ready:
        last = order[-1] if order else flow.entry
        follower = function.blocks[last].next
        name = max(ready, key=lambda each: (len(around[each] & around[last]), each == follower, ready.index(each)))
        ready.remove(name)
        order.append(name)
        for other in dict.fromkeys(flow.successors[name]):
            if name in missing[other]:
                missing[other].remove(name)
                if not missing[other]:
                    ready.append(other)
    return [function.blocks[name] for name in order]


def _body(block: MachineBlock, ops: list[Op]) -> None:
    """Append copies of the operations of ``block``, pseudo operations as instructions."""
    first = len(ops)
    for op in block.ops:
        is_move = op.opcode in (Pseudo.MOVE, Pseudo.FRAME)
        if op.opcode is Pseudo.RESULT or (is_move and op.dst == op.rs):
            continue
        if is_move:
            ops.append(Op(Opcode.OR, op.dst, op.rs, ZERO, location=op.location))
        elif op.opcode is Pseudo.CONST:
            ops += _constant(op)
        else:
            ops.append(Op(op.opcode, op.dst, op.rs, op.rt, op.rd, op.imm, location=op.location))
    after = block.location
    for op in reversed(ops[first:]):        # what passes add without a place of its own is for what follows
        op.location = after = op.location or after


def _constant(op: Op) -> list[Op]:
    """``li`` where 16 signed bits are enough, else ``li`` and ``lui``."""
    if op.imm in by_opcode[Opcode.LI].immediate_range:
        return [Op(Opcode.LI, op.dst, imm=op.imm, location=op.location)]
    low = ((op.imm & 0xFFFF) ^ 0x8000) - 0x8000
    return [Op(Opcode.LI, op.dst, imm=low, location=op.location),
            Op(Opcode.LUI, op.dst, imm=(op.imm >> 16) & 0xFFFF, location=op.location)]
