"""Inlining of one IR function into another."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from .builder import Builder
from .module import Block, Function, Instruction, Location, Op
from .values import Constant, Local, Value

__all__ = ["inline_calls", "substitute"]

def substitute(instructions: Iterable[Instruction], values: dict[str, Value]) -> None:
    """Replace the locals that ``values`` names wherever they are read."""
    for instruction in instructions:
        instruction.operands = [values.get(operand.name, operand) if isinstance(operand, Local) else operand
                                for operand in instruction.operands]


def inline_calls(function: Function, body_of: Callable[[Instruction], Function | None],
                 keeps_lines: bool = False) -> None:
    """Replace each call for which ``body_of`` has a function by that function's body, whose own calls stay.

    What is inlined is in the source where the call is, or if it ``keeps_lines`` where it was.
    """
    results: dict[str, Value] = {}
    last: dict[str, str] = {}       # where a block ends whose calls had branches
    blocks: dict[str, Block] = {}
    builder = Builder(function)
    for block in function.blocks.values():
        blocks[block.name] = here = block
        old, block.instructions = block.instructions, []
        for instruction in old:
            callee = body_of(instruction) if instruction.op is Op.CALL else None
            if callee is None:
                here.instructions.append(instruction)
            elif len(callee.blocks) == 1:
                copies, result = _copied(instruction, callee, builder, keeps_lines)
                here.instructions += copies
                results |= {instruction.name: result} if instruction.name else {}
            else:
                clones = _cloned(instruction, callee, builder, keeps_lines)
                here.instructions.append(Instruction(Op.BR, blocks=[clones[0].name], location=instruction.location))
                blocks |= {clone.name: clone for clone in clones}
                here = clones[-1]
        if here is not block:
            last[block.name] = here.name
    function.blocks = blocks
    for phi in function.instructions() if last else ():
        if phi.op is Op.PHI:
            phi.blocks = [last.get(name, name) for name in phi.blocks]
    if results:
        substitute(function.instructions(), {name: _final(value, results) for name, value in results.items()})


def _final(value: Value, results: dict[str, Value]) -> Value:
    """``value``, or what it is where that is the result of a call that was replaced, too."""
    while isinstance(value, Local) and value.name in results:
        value = results[value.name]
    return value


def _arguments(call: Instruction, callee: Function) -> dict[str, Value]:
    return {name: argument for (name, _), argument in zip(callee.parameters, call.operands, strict=True)}


def _location(call: Instruction, original: Instruction, keeps_lines: bool) -> Location | None:
    return (original.location if keeps_lines else None) or call.location


def _cloned(call: Instruction, callee: Function, builder: Builder, keeps_lines: bool) -> list[Block]:
    """The blocks of ``callee`` and the one that follows them, with the result."""
    prefix = f"{builder.name(callee.name)}."
    values = _arguments(call, callee)
    values |= {i.name: Local(prefix + i.name) for i in callee.instructions() if i.name}
    after = Block(prefix + "end")
    results: list[tuple[Value, str]] = []
    clones = []
    for body in callee.blocks.values():
        clone = Block(prefix + body.name)
        for original in body.instructions:
            copy = replace(original, name=original.name and prefix + original.name, types=list(original.types),
                           blocks=[prefix + name for name in original.blocks],
                           location=_location(call, original, keeps_lines))
            substitute([copy], values)
            if copy.op is Op.RET:
                results.append((copy.operands[0] if copy.operands else Constant(0), clone.name))
                copy = Instruction(Op.BR, blocks=[after.name], location=copy.location)
            clone.instructions.append(copy)
        clones.append(clone)
    if call.name:
        after.instructions.append(Instruction(
            Op.PHI, call.type, call.name, [value for value, _ in results], [call.type] * len(results),
            [name for _, name in results], location=call.location))
    return [*clones, after]


def _copied(call: Instruction, callee: Function, builder: Builder,
            keeps_lines: bool) -> tuple[list[Instruction], Value]:
    """The body of a callee without branches, and its result."""
    prefix = f"{builder.name(callee.name)}."
    values = _arguments(call, callee)
    copies = []
    for original in callee.instructions():
        copy = replace(original, name=original.name and prefix + original.name, types=list(original.types),
                       location=_location(call, original, keeps_lines))
        substitute([copy], values)
        if original.name:
            values[original.name] = Local(copy.name)
        copies.append(copy)
    end = copies.pop()
    return copies, end.operands[0] if end.operands else Constant(0)
