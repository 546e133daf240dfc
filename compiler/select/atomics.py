"""Which instruction a call of an atomic function is."""

import re

from fgpu.config import Config
from fgpu.isa import Opcode, by_opcode

from ..ir.module import Function, Instruction, Module, Op
from ..ir.values import LOCAL_SPACE

__all__ = ["atomic_name", "atomic_opcode", "has_locks", "local_atomic"]

_OPCODES = {  # for int and for uint
    "atomic_add": (Opcode.AADD, Opcode.AADD), "atomic_sub": (Opcode.AADD, Opcode.AADD),
    "atomic_inc": (Opcode.AADD, Opcode.AADD), "atomic_dec": (Opcode.AADD, Opcode.AADD),
    "atomic_max": (Opcode.AMAX, Opcode.AUMAX), "atomic_min": (Opcode.AMIN, Opcode.AUMIN),
    "atomic_and": (Opcode.AAND, Opcode.AAND), "atomic_or": (Opcode.AOR, Opcode.AOR),
    "atomic_xor": (Opcode.AXOR, Opcode.AXOR), "atomic_xchg": (Opcode.AXCHG, Opcode.AXCHG),
    "atomic_cmpxchg": (Opcode.ACMPXCHG, Opcode.ACMPXCHG),
}


def atomic_name(call: Instruction) -> str | None:
    """The name of the atomic function that ``call`` calls, in OpenCL since 1.1; None of another function."""
    match = re.match(r"_Z(\d+)(\w+)", call.callee)
    name = re.sub("^atom_", "atomic_", match[2][:int(match[1])]) if match else ""
    return name if name in _OPCODES else None


def atomic_opcode(function: Function, call: Instruction, name: str, config: Config) -> Opcode:
    """The instruction for ``call``, of the atomic function ``name``, in the memory to which its pointer points."""
    if call.callee.endswith(("l", "m")):
        match = re.match(r"_Z(\d+)(\w+)", call.callee)
        spelled = match[2][:int(match[1])] if match else name
        raise function.error(f"atomics of 64 bits are not supported ({spelled})", call)
    opcode = _opcode(call, name)
    is_local = call.types[0].space == LOCAL_SPACE
    if is_local and config.local_memory:
        return Opcode[f"L{opcode.name}"]
    if config.lacks(by_opcode[opcode]) is not None:
        operation = by_opcode[opcode].atomic
        remedy = "add it to the configuration's atomics"
        if is_local:
            raise function.error(f"{name}() on __local memory, which is global memory with local_memory=0, needs "
                                 f"hardware with the atomic operation {operation!r}, or divergence='stack'; "
                                 f"{remedy}, or take local_memory=32", call)
        raise function.error(f"{name}() needs hardware with the atomic operation {operation!r}; {remedy}", call)
    return opcode


def _opcode(call: Instruction, name: str) -> Opcode:
    return _OPCODES[name][0 if call.callee.endswith("i") else 1]


def local_atomic(i: Instruction) -> Opcode | None:
    """The instruction for ``i`` in global memory, if it is an atomic operation on a word of local memory."""
    name = atomic_name(i) if i.op is Op.CALL else None
    if name is None or i.types[0].space != LOCAL_SPACE or i.callee.endswith(("l", "m")):
        return None
    return _opcode(i, name)


def has_locks(module: Module, config: Config) -> bool:
    """Whether routines do the atomic operations on local memory, in global memory, under a lock: all of them, if the
    hardware lacks one. The lock wants the parts of a wavefront to run one after the other."""
    if config.local_memory or config.divergence != "stack":
        return False
    found = {opcode for function in module.functions.values() for i in function.instructions()
             if (opcode := local_atomic(i)) is not None}
    return any(config.lacks(by_opcode[opcode]) is not None for opcode in found)
