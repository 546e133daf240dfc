"""What the compiler does not support (yet): every refusal names the construct and its source line."""

import re
from collections.abc import Callable, Sequence

from fgpu.config import Config
from fgpu.errors import CompileError
from fgpu.isa import Opcode, by_opcode

from .frontend.bitcode import SAMPLER
from .frontend.reader import KERNEL_COPY
from .ir.module import Function, Instruction, Module, Op
from .ir.values import LOCAL_SPACE, PRIVATE_SPACE, Type
from .select.frame import FRAME_SPACE
from .select.memory import GLOBAL_SPACES

__all__ = ["check_callee", "check_function", "check_program", "plain_name", "short_store", "unsupported_call",
           "unsupported_instruction"]

_KNOWN_CALLS = {
    SAMPLER: "samplers are not supported",
    "asm": "inline assembly is not supported",
    "%": "a call through a function pointer is not supported",
}
_BUILT_IN = ("llvm.", "_Z", "fgpu_", "printf")
"""What the names of functions start with that have no body in a program but may be called."""
_WORD_BYTES = 4
_OPAQUE = {"spirv.Image": "images", "spirv.Sampler": "samplers"}
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
    for name, what in _OPAQUE.items():
        if type.text.startswith(name):
            return what
    return f"type {type.text or type.kind}"


def check_program(module: Module, kernels: Sequence[Function], config: Config) -> None:
    """Refuse what clang's output shows already to be unsupported, before anything takes time: calls,
    recursion and short stores in ``kernels`` and in what they call."""
    checked: set[str] = set()

    def check(function: Function, under_way: list[str]) -> None:
        checked.add(function.name)
        under_way.append(function.name)
        for instruction in function.instructions():
            if instruction.op is Op.CALL and (callee := module.functions.get(instruction.callee)) is not None:
                check_callee(function, instruction, callee, under_way)
                if callee.name not in checked:
                    check(callee, under_way)
            elif instruction.op is Op.CALL:
                _check_call(function, instruction)
            elif instruction.op is Op.STORE and config.lacks(by_opcode[Opcode.SB]) is not None:
                _check_store(function, instruction, config)
        _check_parameters(function, lambda type: type.kind == "other")
        under_way.pop()

    for kernel in kernels:
        check(kernel, [])


def _check_call(function: Function, call: Instruction) -> None:
    """Refuse a call of a function without a body that is neither built-in nor a routine."""
    name = plain_name(call.callee)
    is_known = name in _KNOWN_CALLS or "image" in name or not call.callee.startswith(_BUILT_IN)
    if is_known and name != SAMPLER:    # images say more
        raise unsupported_call(function, call, name)


def _check_store(function: Function, store: Instruction, config: Config) -> None:
    type, pointer = store.types
    is_global = pointer.space in GLOBAL_SPACES or (pointer.space == LOCAL_SPACE and not config.local_memory)
    if is_global and type.kind == "int" and type.size < _WORD_BYTES:
        raise short_store(function, "sb" if type.size == 1 else "sh", store)


def short_store(function: Function, mnemonic: str, at: Instruction | None = None) -> CompileError:
    """The error for a store of 8 or 16 bits where the hardware has none."""
    return function.error(f"{_kind(function)} {function.name!r} stores 8 or 16 bits ({mnemonic}), which needs "
                          "sub_integer_stores=True", at)


def _kind(function: Function) -> str:
    return "kernel" if function.is_kernel else "function"


def _check_parameters(function: Function, concerns: Callable[[Type], bool]) -> None:
    """Refuse parameters of types that do not fit a register, of those that are of interest."""
    for number, (_, type) in enumerate(function.parameters):
        what = f"parameter {number + 1} of {_kind(function)} {function.name!r}"
        if concerns(type):
            _check_type(function, None, type, what)


def check_function(function: Function) -> None:
    """Refuse parameters and operations on types that do not fit a register."""
    _check_parameters(function, lambda type: True)
    for instruction in function.instructions():
        for type in (*instruction.types, instruction.type):
            if type.kind != "void" and not (instruction.op is Op.CALL and type.kind == "other"):
                _check_type(function, instruction, type, f"in {instruction.op}")


def _check_type(function: Function, at: Instruction | None, type: Type, where: str) -> None:
    if type.kind == "ptr" and type.space not in (*GLOBAL_SPACES, LOCAL_SPACE, PRIVATE_SPACE, FRAME_SPACE):
        raise function.error(f"pointers to address space {type.space} are not supported", at)
    if at is not None and at.callee.startswith("llvm.") and type.kind == "struct":
        raise function.error(f"{at.callee} is not supported", at)
    if not type.is_word:
        raise function.error(f"{_describe(type)} not supported: {where}", at)


def unsupported_instruction(function: Function, at: Instruction) -> CompileError:
    """The error for an instruction that instruction selection does not know."""
    for pattern, what in _KNOWN_INSTRUCTIONS:
        if pattern.fullmatch(at.op):
            return function.error(f"{what} not supported: {at.op}", at)
    return function.error(f"instruction {at.op!r} is not supported", at)


def plain_name(mangled: str) -> str:
    """The name of a function as its user wrote it."""
    match = re.match(r"_Z(\d+)(\w+)", mangled)
    return match[2][:int(match[1])] if match else mangled.removeprefix(KERNEL_COPY)


def check_callee(function: Function, call: Instruction, callee: Function, under_way: Sequence[str]) -> None:
    """Refuse a call of a function of the program that cannot be a subroutine; ``under_way`` leads to the call."""
    name = plain_name(callee.name)
    if callee.name in under_way:
        raise function.error(f"function {name!r} is recursive: not supported", call)
    if callee.is_kernel:
        raise function.error(f"a call of the kernel {name!r} is not supported", call)


def unsupported_call(function: Function, call: Instruction, name: str) -> CompileError:
    """The error for a call that was neither inlined nor is an instruction of the machine."""
    if name in _KNOWN_CALLS:
        return function.error(_KNOWN_CALLS[name], call)
    if "image" in name:
        return function.error(f"images are not supported ({name})", call)
    if call.callee.startswith("llvm."):
        return function.error(f"{call.callee} is not supported", call)
    return function.error(f"function {name!r} has no definition in this program", call)
