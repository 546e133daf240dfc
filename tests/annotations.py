"""Where work-items that part at a branch may meet again, from the control flow of a program in machine code."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from fgpu.compiler.ir.cfg import Flow
from fgpu.config import ANNOTATED, Config
from fgpu.errors import EncodingError
from fgpu.isa import OPCODE, Opcode, Operands, decode, encode

from .core.program_generator import Kernel

__all__ = ["Reconvergence", "annotated", "annotated_kernel", "misplaced"]

_END = ""


class Reconvergence:
    """What the compiler could tell of the program ``words``."""

    def __init__(self, words: Sequence[int], entry: int) -> None:
        self._words = words
        self._entry = entry

    @cached_property
    def _successors(self) -> dict[int, list[int]]:
        """By PC, calls apart; of the last ``ret`` of a function none, as of others."""
        found: dict[int, list[int]] = {}
        for pc, word in enumerate(self._words):
            try:
                row, operands = decode(int(word))
            except EncodingError:
                found[pc] = []
                continue
            following = [pc + 1] if pc + 1 < len(self._words) else []
            if row.is_branch:
                target = pc + 1 + operands.imm
                never = row.opcode is Opcode.BNE and operands.rd == operands.rs
                always = row.opcode is Opcode.BEQ and operands.rd == operands.rs
                there = [target] if 0 <= target < len(self._words) and not never else []
                found[pc] = list(dict.fromkeys([*([] if always else following), *there]))
            else:
                found[pc] = [] if row.opcode is Opcode.RET else following
        return found

    @cached_property
    def _functions(self) -> list[list[int]]:
        """The PCs of the kernel and of each subroutine."""
        entries = {self._entry}
        for pc, word in enumerate(self._words):
            try:
                row, operands = decode(int(word))
            except EncodingError:
                continue
            if row.opcode is Opcode.JSUB:
                entries.add(pc + operands.imm)
        return [self._reached(entry) for entry in sorted(entries)]

    def _reached(self, entry: int) -> list[int]:
        seen, todo = {entry}, [entry]
        while todo:
            for other in self._successors.get(todo.pop(), []):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return sorted(seen)

    @cached_property
    def _post_dominators(self) -> Mapping[int, int]:
        found: dict[int, int] = {}
        for pcs in self._functions:
            found |= self._idoms(pcs, [pc for pc in pcs if not self._successors.get(pc)])
        return found

    @cached_property
    def _structures(self) -> Mapping[int, int]:
        """The same where only the last ``ret`` of a function is its end."""
        found: dict[int, int] = {}
        for pcs in self._functions:
            ends = [pc for pc in pcs if not self._successors.get(pc)]
            found |= self._idoms(pcs, ends[-1:])
        return found

    def _idoms(self, pcs: Sequence[int], ends: Sequence[int]) -> dict[int, int]:
        """By branches: where all ways to the ``ends`` meet, if not only there."""
        before: dict[str, list[str]] = {_END: [str(pc) for pc in ends], **{str(pc): [] for pc in pcs}}
        for pc in pcs:
            for other in self._successors.get(pc, []):
                before[str(other)].append(str(pc))
        idom = Flow(before).idom
        return {pc: int(place) for pc in pcs if len(self._successors.get(pc, [])) > 1
                and (place := idom.get(str(pc), _END)) != _END}

    def post_dominator(self, pc: int) -> int | None:
        """The first instruction that all ways from the branch at ``pc`` have in common; None: there is none."""
        return self._post_dominators.get(pc)

    def end_of_structure(self, pc: int) -> int | None:
        """The same if work-items that return on the way count for nothing."""
        return self._structures.get(pc)


def annotated(words: Sequence[int], entry: int, scheme: str) -> tuple[list[int], int]:
    """The same program with a ``meet`` before each branch, as the ``scheme`` needs it; and its entry."""
    points = Reconvergence(words, entry)
    find = points.end_of_structure if scheme == "counters" else points.post_dominator
    places = {pc: place for pc in range(len(words)) if (place := find(pc)) is not None}
    now, shift = {}, 0      # by old PC: where the instruction is, or the ``meet`` before it
    for pc in range(len(words)):
        now[pc] = pc + shift
        shift += pc in places
    now[len(words)] = len(words) + shift
    result: list[int] = []
    for pc, word in enumerate(words):
        if pc in places:
            result.append(encode(Opcode.MEET, Operands(imm=now[places[pc]] - len(result))))
        try:
            row, operands = decode(int(word))
        except EncodingError:
            result.append(int(word))
            continue
        if row.is_branch or row.opcode is Opcode.JSUB:
            base = 1 if row.is_branch else 0
            target = pc + base + operands.imm
            if target in now:
                word = encode(row.opcode, replaced(operands, now[target] - base - len(result)))
        result.append(int(word))
    return result, now[entry]


def annotated_kernel(kernel: Kernel, config: Config) -> Kernel:
    """``kernel`` with a ``meet`` before each branch, where the scheme needs that and the code RAM has the room."""
    if config.divergence not in ANNOTATED:
        return kernel
    words, entry = annotated(kernel.program, kernel.descriptor.entry, config.divergence)
    if len(words) > config.cram_words:
        return kernel
    return replace(kernel, program=words, descriptor=replace(kernel.descriptor, entry=entry))


def misplaced(kernel: Kernel, rng: random.Random) -> Kernel:
    """``kernel`` where some ``meet`` name any other place near them, that work-items may never come to."""
    words = list(kernel.program)
    for pc, word in enumerate(words):
        if OPCODE.extract(word) == Opcode.MEET.value and rng.random() < 0.3:
            place = min(max(pc + rng.choice([rng.randint(-5, 5), rng.randint(-40, 40)]), 0), len(words) - 1)
            words[pc] = encode(Opcode.MEET, Operands(imm=place - pc))
    return replace(kernel, program=words)


def replaced(operands: Operands, imm: int) -> Operands:
    """With another immediate."""
    return operands._replace(imm=imm)
