"""The end of the pipeline: order of the blocks, branches, and instruction words."""

from collections.abc import Sequence

from fgpu.config import ANNOTATED
from fgpu.isa import Opcode, Operands, by_opcode, encode

from ..ir.cfg import Flow
from ..ir.module import Location
from .mir import ZERO, MachineBlock, MachineFunction, Op, Pseudo
from .uniformity import END

__all__ = ["emit", "jump_to_last_calls", "skip_empty_blocks"]

_INVERSE = {Opcode.BEQ: Opcode.BNE, Opcode.BNE: Opcode.BEQ}
_DUPLICATE_UP_TO = 4
"""Operations of a last block that are copied rather than jumped to: words are cheaper than time."""


def jump_to_last_calls(function: MachineFunction) -> None:
    """Let what a routine ends with calling return to where the routine was called from."""
    for block in function.blocks.values():
        end = function.blocks[block.next] if block.next is not None else MachineBlock("")
        ops = [op for op in block.ops if not _does_nothing(op)]
        if block.branch is None and end.enter is None and not end.successors and all(map(_does_nothing, end.ops)) \
                and ops and ops[-1].opcode is Pseudo.CALL:
            ops[-1].opcode = Pseudo.JUMP
            block.ops, block.next = ops, None


def _does_nothing(op: Op) -> bool:
    return op.opcode is Pseudo.RESULT or (op.opcode is Pseudo.MOVE and op.dst == op.rs)


def emit(function: MachineFunction, at: int, entries: Sequence[int] = (),
         lines: dict[int, Location] | None = None, *, scheme: str = "stack") -> list[int]:
    """The words of ``function``, whose registers are physical; ``at`` is the word index of the first.

    ``entries`` are the word indices of the routines that it may call. ``lines`` gets the places in the source of the
    words that have one. For schemes of divergence other than ``stack`` no block but that of a loop comes before one
    that leads to it: where the path with the lowest PC runs first, paths meet where all come by. Before branches at
    which work-items may part comes a ``meet`` for those schemes that need it.
    """
    order = _layout(function) if scheme == "stack" else _topological(function)
    places = _places(function, order, scheme) if scheme in ANNOTATED else {}
    ops: list[Op] = []
    labels: dict[str, int] = {}
    targets: dict[int, str] = {}
    calls: dict[int, str] = {}
    for position, block in enumerate(order):
        follower = order[position + 1].name if position + 1 < len(order) else None
        labels[block.name] = len(ops)
        _body(block, ops)
        if block.ops and block.ops[-1].opcode is Pseudo.JUMP:
            continue
        if block.enter is not None:
            calls[len(ops)] = block.enter
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
                calls[len(ops)] = places[block.name]
                ops.append(Op(Opcode.MEET, location=branch.location))
            targets[len(ops)] = target
            ops.append(branch)
        if next_block is None:
            ops.append(Op(Opcode.RET, location=block.location))
        elif next_block != follower:
            end = function.blocks[next_block]
            if not end.successors and end.enter is None and len(end.ops) <= _DUPLICATE_UP_TO and not end.has_barrier:
                _body(end, ops)
                ops.append(Op(Opcode.RET, location=end.location))
            else:
                targets[len(ops)] = next_block
                ops.append(Op(Opcode.BEQ, location=block.location))
    for index, name in targets.items():
        ops[index].imm = labels[name] - index - 1
    for index, name in calls.items():
        ops[index].imm = labels[name] - index
    for index, op in enumerate(ops):
        if op.opcode is Pseudo.CALL:
            ops[index] = Op(Opcode.JSUB, imm=entries[op.imm] - (at + index), location=op.location)
        elif op.opcode is Pseudo.JUMP:
            ops[index] = Op(Opcode.BEQ, imm=entries[op.imm] - (at + index) - 1, location=op.location)
    if lines is not None:
        lines |= {at + index: op.location for index, op in enumerate(ops)
                  if op.location is not None and op.location.line > 0}
    return [_encode(op) for op in ops]


def _places(function: MachineFunction, order: Sequence[MachineBlock], scheme: str) -> dict[str, str]:
    """By blocks at whose branches work-items may part: the block where all of them come by, or, for ``counters``,
    all but those that return on the way."""
    flow = function.flow()
    ends = [block.name for block in order if not flow.successors.get(block.name, ["-"])]
    idom = Flow({END: ends[-1:] if scheme == "counters" else ends, **flow.predecessors}).idom
    return {block.name: place for block in order
            if block.splits and block.branch is not None and (place := idom.get(block.name, END)) != END}


def skip_empty_blocks(function: MachineFunction) -> None:
    """Let branches to a block that does nothing go where it goes."""
    def final(name: str | None) -> str | None:
        seen = set()
        while name is not None and name not in seen:
            seen.add(name)
            block = function.blocks[name]
            if block.ops or block.branch is not None or block.enter is not None or block.next is None:
                break
            name = block.next
        return name

    for block in function.blocks.values():
        block.target, block.next = final(block.target), final(block.next)
        if block.target == block.next:
            block.branch = block.target = None


def _layout(function: MachineFunction) -> list[MachineBlock]:
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


def _encode(op: Op) -> int:
    assert isinstance(op.opcode, Opcode)
    rd = op.dst if op.dst is not None else op.rd
    return encode(op.opcode, Operands(rd, op.rs, op.rt, op.imm))
