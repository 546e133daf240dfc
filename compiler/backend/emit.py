"""The end of the pipeline: what needs no instruction goes, and instructions become words."""

from collections.abc import Callable, Sequence

from fgpu.isa import Opcode, Operands, encode

from .mir import MachineBlock, MachineFunction, Op, Pseudo

__all__ = ["emit", "jump", "jump_to_last_calls", "skip_empty_blocks"]


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


def jump(source: int, target: int) -> Op:
    """The instruction at word ``source`` that goes on at word ``target``."""
    return Op(Opcode.BEQ, imm=target - source - 1)


def emit(ops: Sequence[Op], at: int, entry: Callable[[int, int], int]) -> list[int]:
    """The words of the instructions ``ops``; ``at`` is the word index of the first. ``entry`` is told the number of a
    function and where it is called from: it answers with the word that is called.

    Raises :class:`~fgpu.errors.EncodingError` for what a branch or a call does not reach.
    """
    words = []
    for here, op in enumerate(ops, at):
        if op.opcode is Pseudo.CALL:
            op = Op(Opcode.JSUB, imm=entry(op.imm, here) - here)
        elif op.opcode is Pseudo.JUMP:
            op = jump(here, entry(op.imm, here))
        words.append(_encode(op))
    return words


def _encode(op: Op) -> int:
    assert isinstance(op.opcode, Opcode)
    rd = op.dst if op.dst is not None else op.rd
    return encode(op.opcode, Operands(rd, op.rs, op.rt, op.imm))
