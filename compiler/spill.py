"""Spilling: registers that found no place live in the scratchpad, or are computed again where they are read."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from fgpu.isa import Opcode

from .mir import MachineFunction, Op

__all__ = ["spill"]

_Fetch = Callable[[int, list[Op]], int]


def _rewrite(op: Op, ops: list[Op], fetch: _Fetch) -> None:
    """Let ``op`` read what ``fetch`` brings, once for each register."""
    brought = {register: fetch(register, ops) for register in dict.fromkeys(op.uses)}
    op.substitute(brought.__getitem__)


def spill(function: MachineFunction, registers: Iterable[int], edges: Mapping[int, set[int]],
          words: int) -> tuple[int, set[int]]:
    """Rewrite ``function`` so that ``registers`` live only next to their uses.

    Slots are allotted from scratchpad word ``words`` on; registers that do not interfere share one.
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
        ops.append(replace(again[register], dst=new) if register in again
                   else Op(Opcode.LLWI, new, imm=slots[register]))
        return new

    for block in function.blocks.values():
        ops: list[Op] = []
        for op in block.ops:
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
                ops.append(Op(Opcode.LSWI, None, rd=op.dst, imm=slot))
        if block.branch is not None:
            _rewrite(block.branch, ops, fetch)
        block.ops = ops
    return max([words, *(slot + 1 for slot in slots.values())]), temporaries
