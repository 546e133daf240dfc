"""The IR as text, close to LLVM's, that :mod:`fgpu.compiler.ir.parser` reads back to the same objects.

    kernel void @scale(ptr(1) %0, i32 %1) !scale.cl:1 {
    ^entry:
      %2: i32 = call @_Z13get_global_idj(i32 0) !scale.cl:2
      %3: ptr(1) = getelementptr i32, %0, i32 %2
      %4: i32 = load ptr(1) %3 align 4
      %5: i1 = icmp slt i32 %4, %1
      condbr i1 %5 -> ^less, ^end
    ...

A value's type is written before it, unless it is that of the value before it on the line, the result being the first.
"""

import json
import re
from collections.abc import Iterator

from .module import Function, Instruction, Location, Module, Op, Variable
from .values import VOID, Global, Local, Type, Value

__all__ = ["NO_LOCATION", "print_function", "print_instruction", "print_module", "print_type", "print_value"]

NO_LOCATION = Location("", 0)
"""Where a function is that is written without a place."""
_NAME = re.compile(r"[\w.$]+")
_FILE = re.compile(r"[\w./-]+")
_LINE_BYTES = 32


def _name(name: str) -> str:
    return name if _NAME.fullmatch(name) else json.dumps(name)


def print_type(type: Type) -> str:
    """A type, as ``i32``, ``ptr(1)``, ``[4 x i8]``, ``<4 x float>``, ``{i32, i8}`` or, packed, ``<{i32, i8}>``."""
    align = f"align({type.least_align}) " if type.least_align != 1 else ""
    return align + _unaligned_type(type)


def _unaligned_type(type: Type) -> str:
    fields = ", ".join(map(print_type, type.fields))
    match type.kind:
        case "int":
            return f"i{type.bits}"
        case "ptr":
            return (f"ptr({type.space})" if type.space else "ptr") + (f" byval {fields}" if fields else "")
        case "array":
            return f"[{type.count} x {fields}]"
        case "vector":
            return f"<{type.count} x {fields}>"
        case "struct":
            return f"<{{{fields}}}>" if type.is_packed else f"{{{fields}}}"
        case "float":
            return type.text
        case "other":
            return f"opaque {json.dumps(type.text)}"
    return type.kind


def print_value(value: Value) -> str:
    """An operand without its type."""
    match value:
        case Local():
            return f"%{_name(value.name)}"
        case Global():
            return f"@{_name(value.name)}" + (f"{value.offset:+}" if value.offset else "")
    if value.lanes:
        return f"<{', '.join(map(print_value, value.lanes))}>"
    if value.value is None:
        return f"unknown {json.dumps(value.text)}"
    return "undef" if value.is_undefined and value.value == 0 else f"{value.value}"


def _location(location: Location) -> str:
    file = location.file if _FILE.fullmatch(location.file) else json.dumps(location.file)
    return f" !{file}:{location.line}"


def _operands(i: Instruction) -> list[str]:
    """The operands, each with its type if that is not the one before it."""
    before = i.type
    written = []
    for number, operand in enumerate(i.operands):
        type = i.types[number] if number < len(i.types) else before
        written.append(print_value(operand) if type == before else f"{print_type(type)} {print_value(operand)}")
        before = type
    return written


def _cases(i: Instruction) -> str:
    """The targets of a switch: the default one first, then each with the value for it."""
    default, *targets = [f"^{_name(block)}" for block in i.blocks]
    return ", ".join([default, *(f"{print_value(value)}: {target}"
                                 for value, target in zip(i.operands[1:], targets, strict=True))])


def print_instruction(i: Instruction) -> str:
    """One instruction, without indentation."""
    result = f"%{_name(i.name)}: {print_type(i.type)} = " if i.name or i.type != VOID else ""
    words = [i.op.replace(" ", "_")]
    operands = _operands(i)
    end = ""
    fits = 0 < len(i.blocks) == len(i.operands)     # what is broken is printed, too, for the verifier to show
    match i.op:
        case Op.ICMP | Op.FCMP:
            words += (["nnan"] if i.no_nans else []) + [i.predicate]
        case Op.OR if i.is_disjoint:
            words.append("disjoint")
        case Op.EXTRACTVALUE | Op.EXTRACTWORD:
            end = f" [{i.index}]"
        case Op.PHI if fits:
            operands = [f"[{operand}, ^{_name(block)}]" for operand, block in zip(operands, i.blocks, strict=True)]
        case Op.SWITCH if fits:
            operands, end = operands[:1], f" -> {_cases(i)}"
        case _ if i.blocks:
            end = f" -> {', '.join(f'^{_name(block)}' for block in i.blocks)}"
    items = [print_type(i.source)] if i.source != VOID else []
    items += operands
    if i.op is Op.CALL:
        words.append(f"@{_name(i.callee)}({', '.join(items)})")
    elif items:
        words.append(", ".join(items))
    end += f" align {i.align}" if i.align != 1 else ""
    return result + " ".join(words) + end + (_location(i.location) if i.location is not None else "")


def _function(function: Function) -> Iterator[str]:
    parameters = ", ".join(f"{print_type(type)} %{_name(name)}" for name, type in function.parameters)
    yield (f"{'kernel' if function.is_kernel else 'function'} {print_type(function.result)} @{_name(function.name)}"
           f"({parameters}){_location(function.location) if function.location != NO_LOCATION else ''} {{")
    if function.frame is not None:
        yield f"  frame {function.frame}"
    if function.local_bytes:
        yield f"  local {function.local_bytes}"
    for name, node in function.metadata.items():
        yield f"  metadata {_name(name)} {node}"
    for block in function.blocks.values():
        yield f"^{_name(block.name)}:"
        for instruction in block.instructions:
            yield f"  {print_instruction(instruction)}"
    yield "}"


def print_function(function: Function) -> str:
    """A function as lines of text."""
    return "\n".join(_function(function)) + "\n"


def _variable(name: str, variable: Variable) -> Iterator[str]:
    pointers = "".join(f" {at}: {print_value(target)}" for at, target in variable.pointers)
    yield f"variable @{_name(name)} {print_type(variable.type)} align {variable.align}{pointers} {{"
    for at in range(0, len(variable.content), _LINE_BYTES):
        yield f"  {variable.content[at:at + _LINE_BYTES].hex(' ', 4)}"
    yield "}"


def print_module(module: Module) -> str:
    """A module: its variables, functions and metadata."""
    parts = ["\n".join(_variable(name, variable)) + "\n" for name, variable in module.variables.items()]
    parts += [f"local @{_name(name)} {print_type(variable.type)} align {variable.align}\n"
              for name, variable in module.local_variables.items()]
    parts += map(print_function, module.functions.values())
    if module.metadata:
        parts.append("".join(f"{node} = {json.dumps(values)}\n" for node, values in module.metadata.items()))
    return "\n".join(parts)
