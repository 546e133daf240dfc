"""Spilling: registers that found no place live in the scratchpad, or are computed again where they are read."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from fgpu.isa import Opcode

from ..select.frame import WORD_STRIDE, frame_register
from .mir import MachineFunction, Op, Pseudo

__all__ = ["spill"]

_WORD_BYTES = 4
_Fetch = Callable[[int, list[Op]], int]


def _rewrite(op: Op, ops: list[Op], fetch: _Fetch) -> None:
    """Let ``op`` read what ``fetch`` brings, once for each register."""
    brought = {register: fetch(register, ops) for register in dict.fromkeys(op.uses)}
    op.substitute(brought.__getitem__)


def spill(function: MachineFunction, registers: Iterable[int], edges: Mapping[int, set[int]],
          words: int, room: int | None = None, frame_words: int = 0) -> tuple[int, set[int]]:
    """Rewrite ``function`` so that ``registers`` live only next to their uses.

    Slots are allotted from scratchpad word ``words`` on; registers that do not interfere share one. Those from
    ``room`` on are words of the frame in global memory, from ``frame_words`` on.
    Returns the words needed then, and the short-lived registers that now do the work.
    """
    definitions: dict[int, list[Op]] = {}
    for block in function.blocks.values():
        for op in block.ops:
            if op.dst is not None:
                definitions.setdefault(op.dst, []).append(op)
    again = {register: definitions[register][0] for register in registers
             if len(definitions[register]) == 1 and definitions[register][0].is_cheap}
    slots: dict[int, int] = {}
    for register in registers:
        if register not in again:
            taken = {slots[other] for other in edges[register] if other in slots}
            slots[register] = next(slot for slot in range(words, words + len(taken) + 1) if slot not in taken)
    temporaries: set[int] = set()

    def fetch(register: int, ops: list[Op]) -> int:
        if register not in again and register not in slots:
            return register
        new = function.new_register()
        temporaries.add(new)
        if register in again:
            ops.append(replace(again[register], dst=new, location=None))     # that of what reads it
        elif (frame := in_frame(slots[register], ops)) is not None:
            ops.append(Op(Opcode.LW, new, *frame))
        else:
            ops.append(Op(Opcode.LLWI, new, imm=slots[register]))
        return new

    def in_frame(slot: int, ops: list[Op]) -> tuple[int, int] | None:
        """Index and base of a slot in the frame."""
        if base is None or room is None or slot < room:
            return None
        index = function.new_register()
        temporaries.add(index)
        ops.append(Op(Pseudo.CONST, index, imm=(frame_words + slot - room) * WORD_STRIDE // _WORD_BYTES))
        return index, base

    def keep(register: int, slot: int, ops: list[Op]) -> None:
        first = len(ops)
        frame = in_frame(slot, ops)
        ops.append(Op(Opcode.LSWI, None, rd=register, imm=slot) if frame is None
                   else Op(Opcode.SW, None, *frame, rd=register))
        for new in ops[first:]:
            new.location = ops[first - 1].location

    base = frame_register(function)
    for block in function.blocks.values():
        first = next((at + 1 for at, op in enumerate(block.ops) if op.opcode is Pseudo.FRAME), 0)
        ops = block.ops[:first]     # nothing can be kept in the frame before its address is known
        for register in dict.fromkeys(op.dst for op in ops if op.dst in slots):
            assert register is not None
            keep(register, slots[register], ops)
            temporaries.add(register)
        for op in block.ops[first:]:
            if op.dst in again:
                continue
            _rewrite(op, ops, fetch)
            ops.append(op)
            if op.dst in slots:
                slot = slots[op.dst]
                if op.is_tied:
                    op.dst = op.rd
                else:
                    op.dst = function.new_register()
                    temporaries.add(op.dst)
                keep(op.dst, slot, ops)
        if block.branch is not None:
            _rewrite(block.branch, ops, fetch)
        block.ops = ops
    return max([words, *(slot + 1 for slot in slots.values())]), temporaries
