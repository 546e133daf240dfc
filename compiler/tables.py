"""Constant tables: the machine has no data segment, so a kernel builds those that it reads in the scratchpad."""

from collections.abc import Mapping
from dataclasses import replace

from .ir import VOID, Constant, Function, Global, Instruction, Local, Type, Variable, integer

__all__ = ["localize_tables"]

_PRIVATE_POINTER = Type("ptr")


def localize_tables(function: Function, variables: Mapping[str, Variable]) -> None:
    """Turn the constants that ``function`` reads by index into private arrays, filled at its start."""
    used = {operand.name for instruction in function.instructions() if instruction.op != "call"
            for operand in instruction.operands if isinstance(operand, Global) and operand.name in variables}
    start = []
    for name in sorted(used):
        local = Local(f"table.{name}")
        variable = variables[name]
        start += [
            Instruction("alloca", _PRIVATE_POINTER, local.name, source=variable.type, location=function.location),
            Instruction("call", VOID, "", [local, Global(name), Constant(len(variable.content))],
                        [_PRIVATE_POINTER, Type("ptr", space=2), integer(32)], detail="llvm.memcpy.p0.p2.i32",
                        location=function.location),
        ]
    private = {f"table.{name}" for name in used}
    for instruction in function.instructions():
        if instruction.op != "call":
            instruction.operands = [Local(f"table.{o.name}") if isinstance(o, Global) and o.name in used else o
                                    for o in instruction.operands]
    changed = bool(private)
    while changed:
        changed = False
        for instruction in function.instructions():
            if instruction.op not in ("getelementptr", "phi", "select", "freeze", "load"):
                continue
            types = [replace(type, space=0) if isinstance(o, Local) and o.name in private else type
                     for o, type in zip(instruction.operands, instruction.types, strict=True)]
            if types != instruction.types:
                instruction.types = types
                if instruction.op != "load":
                    instruction.type = _PRIVATE_POINTER
                    private.add(instruction.name)
                changed = True
    entry = next(iter(function.blocks.values()))
    entry.instructions[:0] = start
