"""Structs that are values: phis, selects and freezes of them become ones of their members."""

from dataclasses import replace

from ..ir.builder import Builder
from ..ir.module import Function, Instruction, Op
from ..ir.values import Constant, Local, Value

__all__ = ["chooses_aggregates", "split_aggregates"]

_CHOICES = (Op.PHI, Op.SELECT, Op.FREEZE)


def chooses_aggregates(function: Function) -> bool:
    """Whether there is a phi, select or freeze of structs."""
    return any(map(_is_choice, function.instructions()))


def split_aggregates(function: Function) -> None:
    """Choose and freeze members instead of structs of which nothing but members is used.

    LLVM has such structs where it takes the results of a call, as of one that tells overflow, behind a join.
    """
    choices = _choices(function)
    definitions = {i.name: i for i in function.instructions() if i.name}
    sources = [value.name for i in choices.values() for value in _structs(i) if isinstance(value, Local)]
    builder = Builder(function)
    members: dict[str, list[str]] = {}
    for name in dict.fromkeys([*choices, *sources]):
        builder.like = definitions[name]
        members[name] = [builder.name() for _ in definitions[name].type.fields]
    taken: dict[str, Value] = {}        # what extractvalue of a choice gave
    for block in function.blocks.values():
        made: list[Instruction] = []
        for i in block.instructions:
            of = i.operands[0] if i.op is Op.EXTRACTVALUE else None
            if isinstance(of, Local) and of.name in choices:
                taken[i.name] = Local(members[of.name][i.index])
            elif i.name in choices:
                made += _split(i, members)
            else:
                made.append(i)
                if i.name in members:
                    made += [Instruction(Op.EXTRACTVALUE, field, members[i.name][index], [Local(i.name)], [i.type],
                                         index=index, location=i.location)
                             for index, field in enumerate(i.type.fields)]
        block.instructions = made
    for i in function.instructions():
        i.operands = [taken.get(value.name, value) if isinstance(value, Local) else value for value in i.operands]


def _is_choice(i: Instruction) -> bool:
    return i.op in _CHOICES and i.type.kind == "struct"


def _structs(choice: Instruction) -> list[Value]:
    """The operands that are chosen from."""
    return [value for value, type in zip(choice.operands, choice.types, strict=True) if type == choice.type]


def _choices(function: Function) -> dict[str, Instruction]:
    """By name those that can be split: of results of instructions and of zeros, for members or others of them."""
    results = {i.name for i in function.instructions() if i.name and i.op is not Op.PHI}
    found = {i.name: i for i in function.instructions() if _is_choice(i)}

    def has_members(value: Value) -> bool:
        return value == Constant(0) or (isinstance(value, Local) and (value.name in found or value.name in results))

    while True:
        whole = {value.name for i in function.instructions() if i.op is not Op.EXTRACTVALUE and i.name not in found
                 for value in i.operands if isinstance(value, Local)}
        kept = {name: i for name, i in found.items() if name not in whole and all(map(has_members, _structs(i)))}
        if len(kept) == len(found):
            return found
        found = kept


def _split(choice: Instruction, members: dict[str, list[str]]) -> list[Instruction]:
    def member(value: Value, index: int) -> Value:
        return Local(members[value.name][index]) if isinstance(value, Local) and value.name in members else value

    return [replace(choice, name=name, type=field, blocks=list(choice.blocks),
                    operands=[member(value, index) for value in choice.operands],
                    types=[field if type == choice.type else type for type in choice.types])
            for index, (field, name) in enumerate(zip(choice.type.fields, members[choice.name], strict=True))]
