"""Spilling: registers that found no place live in the scratchpad, or are computed again where they are read."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from fgpu.isa import Opcode

from ..select.frame import WORD_STRIDE, frame_register
from .mir import MachineBlock, MachineFunction, Op, Pseudo

__all__ = ["spill"]

_WORD_BYTES = 4


def spill(function: MachineFunction, registers: Iterable[int], edges: Mapping[int, set[int]],
          words: int, room: int | None = None, frame_words: int = 0) -> tuple[int, set[int]]:
    """Rewrite ``function`` so that ``registers`` live only next to their uses.

    Slots are allotted from scratchpad word ``words`` on; registers that do not interfere share one. Those from
    ``room`` on are words of the frame in global memory, from ``frame_words`` on.
    Returns the words needed then, and the short-lived registers that now do the work.
    """
    cheap = _cheap_definitions(function)
    again = {register: cheap[register] for register in registers if register in cheap}
    slots = _slots((register for register in registers if register not in again), edges, words)
    spiller = _Spiller(function, again, slots, room, frame_words)
    for block in function.blocks.values():
        spiller.rewrite(block)
    return max([words, *(slot + 1 for slot in slots.values())]), spiller.temporaries


def _cheap_definitions(function: MachineFunction) -> dict[int, Op]:
    """The definition of each register that has one only, if it costs no more than reading a slot."""
    definitions: dict[int, list[Op]] = {}
    for block in function.blocks.values():
        for op in block.ops:
            if op.dst is not None:
                definitions.setdefault(op.dst, []).append(op)
    return {register: ops[0] for register, ops in definitions.items() if len(ops) == 1 and ops[0].is_cheap}


def _slots(registers: Iterable[int], edges: Mapping[int, set[int]], words: int) -> dict[int, int]:
    """For each register the first slot from ``words`` on that none has with which it interferes."""
    slots: dict[int, int] = {}
    for register in registers:
        taken = {slots[other] for other in edges[register] if other in slots}
        slots[register] = next(slot for slot in range(words, words + len(taken) + 1) if slot not in taken)
    return slots


class _Spiller:
    """Rewrites blocks: registers in ``again`` are computed again by that instruction where they are read, those in
    ``slots`` live there. ``temporaries`` are the registers that stand for them."""

    def __init__(self, function: MachineFunction, again: dict[int, Op], slots: dict[int, int],
                 room: int | None, frame_words: int) -> None:
        self._function = function
        self._again = again
        self._slots = slots
        self._room = room
        self._frame_words = frame_words
        self._frame = frame_register(function)
        self.temporaries: set[int] = set()

    def rewrite(self, block: MachineBlock) -> None:
        """Let a block bring what it reads, and keep what it computes."""
        first = next((at + 1 for at, op in enumerate(block.ops) if op.opcode is Pseudo.FRAME), 0)
        ops = block.ops[:first]     # nothing can be kept in the frame before its address is known
        for register in dict.fromkeys(op.dst for op in ops if op.dst in self._slots):
            assert register is not None
            self._keep(register, self._slots[register], ops)
            self.temporaries.add(register)
        for op in block.ops[first:]:
            if op.dst in self._again:
                continue
            self._bring_operands(op, ops)
            ops.append(op)
            if op.dst in self._slots:
                slot = self._slots[op.dst]
                op.dst = op.rd if op.is_tied else self._temporary()
                self._keep(op.dst, slot, ops)
        if block.branch is not None:
            self._bring_operands(block.branch, ops)
        block.ops = ops

    def _temporary(self) -> int:
        register = self._function.new_register()
        self.temporaries.add(register)
        return register

    def _bring_operands(self, op: Op, ops: list[Op]) -> None:
        """Append to ``ops`` what brings the operands of ``op``, once for each register, and let it read these."""
        brought = {register: self._bring(register, ops) for register in dict.fromkeys(op.uses)}
        op.substitute(brought.__getitem__)

    def _bring(self, register: int, ops: list[Op]) -> int:
        if register not in self._again and register not in self._slots:
            return register
        new = self._temporary()
        if register in self._again:
            ops.append(replace(self._again[register], dst=new, location=None))     # that of what reads it
        elif (frame := self._in_frame(self._slots[register], ops)) is not None:
            ops.append(Op(Opcode.LW, new, *frame))
        else:
            ops.append(Op(Opcode.LLWI, new, imm=self._slots[register]))
        return new

    def _keep(self, register: int, slot: int, ops: list[Op]) -> None:
        """Append to ``ops`` the store into a slot, which belongs to the source line of what computed it."""
        first = len(ops)
        frame = self._in_frame(slot, ops)
        ops.append(Op(Opcode.LSWI, None, rd=register, imm=slot) if frame is None
                   else Op(Opcode.SW, None, *frame, rd=register))
        for new in ops[first:]:
            new.location = ops[first - 1].location

    def _in_frame(self, slot: int, ops: list[Op]) -> tuple[int, int] | None:
        """Index and base of a slot in the frame."""
        if self._frame is None or self._room is None or slot < self._room:
            return None
        index = self._temporary()
        word = self._frame_words + slot - self._room
        ops.append(Op(Pseudo.CONST, index, imm=word * WORD_STRIDE // _WORD_BYTES))
        return index, self._frame
