"""Constant tables: small ones a kernel builds in its scratchpad, others it reads from memory.

The host puts the content of the others, the image's ``data``, into global memory, and tells the kernel where in a
parameter that its source does not have.
"""

from collections.abc import Mapping
from dataclasses import replace

from .ir import VOID, Constant, Function, Global, Instruction, Local, Type, Value, Variable, integer

__all__ = ["DataSegment", "localize_tables", "reads_memory_tables"]

_PRIVATE_POINTER = Type("ptr")
_CONSTANT_POINTER = Type("ptr", space=2)
_WORD = integer(32)
_LOCAL_WORDS = 16
_ALIGN = 16


def _scalar_size(type: Type) -> int:
    return _scalar_size(type.fields[0]) if type.fields else min(type.size, _WORD.size)


def _tables(function: Function, variables: Mapping[str, Variable]) -> list[str]:
    """Variables that ``function`` reads at a place that is not known when it is compiled."""
    fills = ("llvm.memcpy.p0.", "llvm.memset.p0.")
    return sorted({operand.name for i in function.instructions() if not i.detail.startswith(fills)
                   for operand in i.operands if isinstance(operand, Global) and operand.name in variables})


def _in_memory(function: Function, variables: Mapping[str, Variable]) -> set[str]:
    """Those tables that stay in memory: all, unless they take little room in the scratchpad."""
    used = _tables(function, variables)
    words = sum(len(variables[name].content) // _scalar_size(variables[name].type) for name in used)
    needs_address = {o.name for i in function.instructions() for o in i.operands
                     if isinstance(o, Global) and o.offset} & set(used)
    return set(used) if words > _LOCAL_WORDS else needs_address


def reads_memory_tables(function: Function, variables: Mapping[str, Variable]) -> bool:
    """Whether ``function`` needs the address of the image's data."""
    return bool(_in_memory(function, variables))


class DataSegment:
    """Collects the content of the tables that stay in memory."""

    def __init__(self) -> None:
        self.content = bytearray()
        self._places: dict[str, int] = {}

    def start_source(self) -> None:
        """Forget the names of the tables."""
        self._places.clear()

    def place(self, name: str, variable: Variable) -> int:
        """Where in the content the variable is."""
        if name not in self._places:
            self.content += bytes(-len(self.content) % _ALIGN)
            self._places[name] = len(self.content)
            self.content += variable.content
        return self._places[name]


def localize_tables(function: Function, variables: Mapping[str, Variable], segment: DataSegment) -> str | None:
    """Turn the constants that ``function`` reads by index into private arrays or places of the data segment.

    Returns the name of the parameter with the segment's address, if the function got one.
    """
    in_memory = _in_memory(function, variables)
    used = [name for name in _tables(function, variables) if name not in in_memory]
    start = []
    for name in used:
        local = Local(f"table.{name}")
        variable = variables[name]
        start += [
            Instruction("alloca", _PRIVATE_POINTER, local.name, source=variable.type, location=function.location),
            Instruction("call", VOID, "", [local, Global(name), Constant(len(variable.content))],
                        [_PRIVATE_POINTER, _CONSTANT_POINTER, _WORD], detail="llvm.memcpy.p0.p2.i32",
                        location=function.location),
        ]
    places: dict[Global, Value] = {Global(name): Local(f"table.{name}") for name in used}
    base = "constants" if in_memory else None
    if base is not None:
        function.parameters.append((base, _CONSTANT_POINTER))
    for i in function.instructions():
        for operand in i.operands:
            if isinstance(operand, Global) and operand.name in in_memory and operand not in places:
                offset = segment.place(operand.name, variables[operand.name]) + operand.offset
                places[operand] = Local(f"table.{operand.name}.{offset}")
                start.append(Instruction("getelementptr", _CONSTANT_POINTER, f"table.{operand.name}.{offset}",
                                         [Local("constants"), Constant(offset)], [_CONSTANT_POINTER, _WORD],
                                         source=integer(8), location=function.location))
    for i in function.instructions():
        if not i.detail.startswith("llvm.memcpy.p0."):
            i.operands = [places.get(o, o) if isinstance(o, Global) else o for o in i.operands]
    _make_private(function, {f"table.{name}" for name in used})
    entry = next(iter(function.blocks.values()))
    entry.instructions[:0] = start
    return base


def _make_private(function: Function, private: set[str]) -> None:
    """Let the types of all pointers that derive from those of the set ``private`` say so."""
    changed = bool(private)
    while changed:
        changed = False
        for i in function.instructions():
            if i.op not in ("getelementptr", "phi", "select", "freeze", "load"):
                continue
            types = [replace(type, space=0) if isinstance(o, Local) and o.name in private else type
                     for o, type in zip(i.operands, i.types, strict=True)]
            if types != i.types:
                i.types = types
                if i.op != "load":
                    i.type = _PRIVATE_POINTER
                    private.add(i.name)
                changed = True
