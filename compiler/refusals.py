"""What the compiler does not support (yet): every refusal names the construct and its source line."""

import re
from collections.abc import Container

from fgpu.errors import CompileError

from .ir import Constant, Function, Instruction, Local, Type, Value
from .memory import GLOBAL_SPACES, PRIVATE_SPACE

__all__ = ["check_function", "unsupported_call", "unsupported_instruction"]

_LOCAL_SPACE = 3
_COPIED_BITS = 64
_KNOWN_CALLS = {
    "barrier": "barrier() is not supported",
    "printf": "printf() is not supported",
    "get_work_dim": "get_work_dim() is not supported: the hardware does not know it; pass it as an argument",
    "asm": "inline assembly is not supported",
    "%": "a call through a function pointer is not supported",
}
_KNOWN_INSTRUCTIONS = (
    (re.compile(r"f(add|sub|mul|div|rem|neg|cmp|ptrunc|pext)|[us]itofp|fpto[us]i"), "floating point"),
    (re.compile(r"atomic.*|cmpxchg|fence"), "atomic operations"),
    (re.compile(r"(extract|insert)element|shufflevector"), "vector types"),
    (re.compile(r"(extract|insert)value"), "a struct or array by value"),
)


def _describe(type: Type) -> str:
    """A type in the words of its user."""
    match type.kind:
        case "float":
            return f"floating point ({type.text})"
        case "int":
            return "64-bit integers (long, ulong)" if type.bits == 64 else f"integers of {type.bits} bits"
        case "vector":
            return "vector types"
        case "struct" | "array":
            return "a struct or array by value"
    if type.text.startswith("spirv.Image"):
        return "an image"
    return f"type {type.text or type.kind}"


def check_function(function: Function) -> None:
    """Refuse parameters and operations on types that do not fit a register."""
    for number, (_, type) in enumerate(function.parameters):
        what = f"parameter {number + 1} of kernel {function.name!r}"
        if type.kind == "ptr" and type.space == _LOCAL_SPACE:
            raise function.error(f"__local memory is not supported ({what})")
        if type.kind == "ptr" and type.space == PRIVATE_SPACE:
            raise function.error(f"a struct by value is not supported ({what})")
        _check_type(function, None, type, what)
    copied = _only_copied(function)
    for instruction in function.instructions():
        types = [*instruction.types, instruction.type]
        if instruction.op == "store" and types[0].bits == _COPIED_BITS and instruction.operands[0] in copied:
            del types[0]
        elif instruction.op == "load" and Local(instruction.name) in copied:
            continue
        for type in types:
            if type.kind != "void" and not (instruction.op == "call" and type.kind == "other"):
                _check_type(function, instruction, type, f"in {instruction.op}")


def _only_copied(function: Function) -> set[Value]:
    """Integers of two words that go from memory to memory, or constants there: assignments of small structs."""
    loads: set[Value] = {Local(i.name) for i in function.instructions()
                         if i.op == "load" and i.type.kind == "int" and i.type.bits == _COPIED_BITS}
    for instruction in function.instructions():
        if instruction.op != "store":
            loads.difference_update(instruction.operands)
        elif isinstance(instruction.operands[0], Constant) and instruction.operands[0].value is not None:
            loads.add(instruction.operands[0])
    return loads


def _check_type(function: Function, at: Instruction | None, type: Type, where: str) -> None:
    if type.kind == "ptr" and type.space == _LOCAL_SPACE:
        raise function.error("__local memory is not supported", at)
    if type.kind == "ptr" and type.space not in (*GLOBAL_SPACES, PRIVATE_SPACE):
        raise function.error(f"pointers to address space {type.space} are not supported", at)
    if at is not None and at.detail.startswith("llvm.") and type.kind == "struct":
        raise function.error(f"{at.detail} is not supported", at)
    if not type.is_word and not (at is not None and at.op == "call" and type.bits == 64 and "llvm." in at.detail):
        raise function.error(f"{_describe(type)} not supported: {where}", at)


def unsupported_instruction(function: Function, at: Instruction) -> CompileError:
    """The error for an instruction that instruction selection does not know."""
    for pattern, what in _KNOWN_INSTRUCTIONS:
        if pattern.fullmatch(at.op):
            return function.error(f"{what} not supported: {at.op}", at)
    return function.error(f"instruction {at.op!r} is not supported", at)


def unsupported_call(function: Function, call: Instruction, name: str, defined: Container[str]) -> CompileError:
    """The error for a call that was neither inlined nor is an instruction of the machine.

    ``defined`` are the functions that have a body.
    """
    if call.detail in defined:
        return function.error(f"function {name!r} is recursive or marked noinline: not supported", call)
    if name in _KNOWN_CALLS:
        return function.error(_KNOWN_CALLS[name], call)
    if name.endswith("mem_fence"):
        return function.error(f"memory fences are not supported ({name})", call)
    if call.detail.startswith("llvm."):
        return function.error(f"{call.detail} is not supported", call)
    return function.error(f"function {name!r} has no definition in this program", call)
