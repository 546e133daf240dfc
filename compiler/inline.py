"""Inlining of one IR function into another."""

import itertools
from collections.abc import Iterable
from dataclasses import replace

from .ir import Block, Constant, Function, Instruction, Local, Value

__all__ = ["inline_call", "substitute"]

_serial = itertools.count()


def substitute(instructions: Iterable[Instruction], values: dict[str, Value]) -> None:
    """Replace the locals that ``values`` names wherever they are read."""
    for instruction in instructions:
        instruction.operands = [values.get(operand.name, operand) if isinstance(operand, Local) else operand
                                for operand in instruction.operands]


def inline_call(function: Function, block: Block, call: Instruction, callee: Function) -> Block:
    """Replace ``call`` in ``block`` by the body of ``callee``; returns the block that has what followed it."""
    if len(callee.blocks) == 1:
        _splice(function, block, call, callee)
        return block
    prefix = f"{callee.name}.{next(_serial)}."
    values: dict[str, Value] = {
        name: argument for (name, _), argument in zip(callee.parameters, call.operands, strict=True)
    }
    for instruction in callee.instructions():
        if instruction.name:
            values[instruction.name] = Local(prefix + instruction.name)
    at = block.instructions.index(call)
    after = Block(prefix + "end", block.instructions[at + 1:])
    block.instructions = block.instructions[:at]
    for successor in after.successors:
        for phi in function.blocks[successor].phis:
            phi.blocks = [after.name if name == block.name else name for name in phi.blocks]
    results: list[tuple[Value, str]] = []
    clones = []
    for body in callee.blocks.values():
        clone = Block(prefix + body.name)
        for original in body.instructions:
            copy = replace(original, name=original.name and prefix + original.name, types=list(original.types),
                           blocks=[prefix + name for name in original.blocks], location=call.location)
            substitute([copy], values)
            if copy.op == "ret":
                results.append((copy.operands[0] if copy.operands else Constant(0), clone.name))
                copy = Instruction("br", blocks=[after.name])
            clone.instructions.append(copy)
        clones.append(clone)
    block.instructions.append(Instruction("br", blocks=[clones[0].name]))
    if call.name:
        after.instructions.insert(0, Instruction(
            "phi", call.type, call.name, [value for value, _ in results], [call.type] * len(results),
            [name for _, name in results], location=call.location))
    _place_after(function, block, [*clones, after])
    return after


def _splice(function: Function, block: Block, call: Instruction, callee: Function) -> None:
    """The body of a callee without branches in the place of ``call``."""
    prefix = f"{callee.name}.{next(_serial)}."
    values: dict[str, Value] = {
        name: argument for (name, _), argument in zip(callee.parameters, call.operands, strict=True)
    }
    copies = []
    for original in callee.instructions():
        copy = replace(original, name=original.name and prefix + original.name, types=list(original.types),
                       location=call.location)
        substitute([copy], values)
        if original.name:
            values[original.name] = Local(copy.name)
        copies.append(copy)
    result = copies.pop()
    at = block.instructions.index(call)
    block.instructions[at:at + 1] = copies
    if call.name:
        substitute(function.instructions(), {call.name: result.operands[0]})


def _place_after(function: Function, block: Block, new: list[Block]) -> None:
    blocks: dict[str, Block] = {}
    for name, old in function.blocks.items():
        blocks[name] = old
        if old is block:
            blocks |= {b.name: b for b in new}
    function.blocks = blocks
