"""Which instruction a call of an atomic function is."""

import re

from fgpu.config import Config
from fgpu.isa import Opcode, by_opcode

from ..ir.module import LOCAL_SPACE, Function, Instruction

__all__ = ["atomic_name", "atomic_opcode"]

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
    opcode = _OPCODES[name][0 if call.callee.endswith("i") else 1]
    is_local = call.types[0].space == LOCAL_SPACE
    if is_local and config.local_memory:
        return Opcode[f"L{opcode.name}"]
    if config.lacks(by_opcode[opcode]) is not None:
        operation = by_opcode[opcode].atomic
        remedy = "add it to the configuration's atomics"
        if is_local:
            raise function.error(f"{name}() on __local memory, which is global memory with local_memory=0, needs "
                                 f"hardware with the atomic operation {operation!r}; {remedy}, or take "
                                 "local_memory=32", call)
        raise function.error(f"{name}() needs hardware with the atomic operation {operation!r}; {remedy}", call)
    return opcode
