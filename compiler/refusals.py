"""What the compiler does not support (yet): every refusal names the construct and its source line."""

from fgpu.errors import CompileError

from .ir import Function, Instruction, Type
from .memory import GLOBAL_SPACES, PRIVATE_SPACE

__all__ = ["check_function", "describe", "refuse", "unsupported_call"]

_LOCAL_SPACE = 3
_KNOWN_CALLS = {
    "barrier": "barrier()",
    "printf": "printf()",
    "get_work_dim": "get_work_dim(): the hardware does not tell the number of dimensions; pass it as an argument",
    "asm": "inline assembly",
    "%": "a call through a function pointer",
}


def refuse(function: Function, at: Instruction | None, message: str) -> CompileError:
    """The error for a construct at an instruction of a function."""
    return function.error(message, at)


def describe(type: Type) -> str:
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
    return f"type {type.text or type.kind}"


def check_function(function: Function) -> None:
    """Refuse parameters and operations on types that do not fit a register."""
    for number, (_, type) in enumerate(function.parameters):
        what = f"parameter {number + 1} of kernel {function.name!r}"
        if type.kind == "ptr" and type.space == _LOCAL_SPACE:
            raise refuse(function, None, f"__local memory is not supported ({what})")
        if type.kind == "ptr" and type.space == PRIVATE_SPACE:
            raise refuse(function, None, f"a struct by value is not supported ({what})")
        _check_type(function, None, type, what)
    for instruction in function.instructions():
        for type in (*instruction.types, instruction.type):
            if type.kind != "void" and not (instruction.op == "call" and type.kind == "other"):
                _check_type(function, instruction, type, f"in {instruction.op}")


def _check_type(function: Function, at: Instruction | None, type: Type, where: str) -> None:
    if type.kind == "ptr" and type.space == _LOCAL_SPACE:
        raise refuse(function, at, "__local memory is not supported")
    if type.kind == "ptr" and type.space not in (*GLOBAL_SPACES, PRIVATE_SPACE):
        raise refuse(function, at, f"pointers to address space {type.space} are not supported")
    if not type.is_word and not (at is not None and at.op == "call" and type.bits == 64 and "llvm." in at.detail):
        raise refuse(function, at, f"{describe(type)} not supported: {where}")


def unsupported_call(function: Function, call: Instruction, name: str) -> CompileError:
    """The error for a call that was neither inlined nor is an instruction of the machine."""
    if name in _KNOWN_CALLS:
        return refuse(function, call, f"{_KNOWN_CALLS[name]} is not supported")
    if name.startswith(("atomic_", "atom_")):
        return refuse(function, call, f"atomic operations are not supported ({name})")
    if name.endswith("mem_fence"):
        return refuse(function, call, f"memory fences are not supported ({name})")
    return refuse(function, call, f"function {name!r} has no definition here (or is recursive)")
