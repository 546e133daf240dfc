"""Constant tables: small ones a kernel builds in its scratchpad, others it reads from memory.

The host puts the content of the others, the image's ``data``, into global memory, and tells the kernel where in a
parameter that its source does not have. A table may be in the scratchpad if all that is done with its address is to
read there: a pointer that is kept, passed on or the argument's elsewhere has to be one to memory.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..ir.module import Function, Instruction, Module, Op, Variable
from ..ir.values import BYTE, VOID, WORD, Constant, Global, Local, Type, Value

__all__ = ["LOCAL_WORDS", "DataMark", "DataSegment", "localize_tables", "reads_memory_tables", "reads_tables"]

_PRIVATE_POINTER = Type("ptr")
_CONSTANT_POINTER = Type("ptr", space=2)
LOCAL_WORDS = 16
"""Words of the scratchpad that the tables of a function may take."""
_ALIGN = 16
_DERIVED = (Op.GETELEMENTPTR, Op.PHI, Op.SELECT, Op.FREEZE, Op.BITCAST)
_ELSEWHERE = "*"


def _scalar_size(type: Type) -> int:
    return _scalar_size(type.fields[0]) if type.fields else min(type.size, WORD.size)


def _tables(function: Function, variables: Mapping[str, Variable], has_frame: bool = False) -> list[str]:
    """Variables that ``function`` reads at a place that is not known when it is compiled, or to fill what will be in
    a frame."""
    fills = () if has_frame else ("llvm.memcpy.p0.", "llvm.memset.p0.")
    return sorted({operand.name for i in function.instructions() for operand in i.operands
                   if isinstance(operand, Global) and operand.name in variables
                   and (variables[operand.name].pointers or not i.callee.startswith(fills))})


def _flows(i: Instruction) -> Iterator[Value | str]:
    """Pointers to what is in the scratchpad, all of it, or in memory: ``i`` makes one of them from another, or
    compares them. A place that LLVM computed is in memory."""
    pointers = [operand for operand, type in zip(i.operands, i.types, strict=True)
                if isinstance(operand, Global)
                or (type == _CONSTANT_POINTER and (isinstance(operand, Local) or operand.value is None))]
    is_read = i.op is Op.LOAD or i.callee.startswith(("llvm.memcpy.", "llvm.memmove."))
    if any(isinstance(pointer, Global) and pointer.offset for pointer in pointers) \
            or (pointers and not is_read and i.op not in (*_DERIVED, Op.ICMP)):
        yield _ELSEWHERE
    elif is_read:
        pointers = []
    yield from pointers
    if i.type == _CONSTANT_POINTER:
        yield Local(i.name) if i.op in _DERIVED else _ELSEWHERE
        yield Local(i.name)


def _escaping(function: Function, in_memory: Iterable[str]) -> set[str]:
    """Variables whose addresses are kept, passed on, or joined with others from elsewhere, as those ``in_memory``."""
    parents: dict[Value | str, Value | str] = {}

    def root(value: Value | str) -> Value | str:
        while (parent := parents.get(value, value)) != value:
            parents[value] = parents.get(parent, parent)
            value = parent
        return value

    for name, type in function.parameters:
        if type == _CONSTANT_POINTER:
            parents[Local(name)] = _ELSEWHERE
    for name in in_memory:
        parents[Global(name)] = _ELSEWHERE
    tables: set[Global] = set()
    for i in function.instructions():
        joined = [Global(value.name) if isinstance(value, Global) else value for value in _flows(i)]
        tables.update(value for value in joined if isinstance(value, Global))
        for value in joined[1:]:
            parents[root(value)] = root(joined[0])
    return {table.name for table in tables if root(table) == root(_ELSEWHERE)}


def _in_memory(function: Function, variables: Mapping[str, Variable], room: int, has_frame: bool = False) -> set[str]:
    """Those tables that stay in memory: all that escape, and the others unless they take ``room`` words at most."""
    used = _tables(function, variables, has_frame)
    with_pointers = _with_pointers(used, variables)
    escaping = _escaping(function, with_pointers) | with_pointers
    words = sum(-(-len(variables[name].content) // _scalar_size(variables[name].type)) for name in used
                if name not in escaping)
    return set(used) if words > room else escaping & set(used)


def _with_pointers(used: Iterable[str], variables: Mapping[str, Variable]) -> set[str]:
    """Those of the tables ``used`` that hold addresses, which are in memory, and all tables to which they lead."""
    found: set[str] = set()
    todo = [name for name in used if variables[name].pointers]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += [target.name for _, target in variables[name].pointers]
    return found


def reads_memory_tables(function: Function, variables: Mapping[str, Variable], room: int, has_frame: bool) -> bool:
    """Whether ``function`` needs the address of the image's data, with ``room`` words for tables; its own private
    memory will be in the scratchpad or, if it ``has_frame``, there."""
    return bool(_in_memory(function, variables, room, has_frame))


def reads_tables(function: Function, module: Module, has_frame: bool) -> bool:
    """Whether ``function``, or what it calls, reads tables; those that fill private variables are read if it
    ``has_frame``."""
    return any(_tables(reached, module.variables, has_frame) for reached in module.reached_from(function))


@dataclass(frozen=True)
class DataMark:
    """What a :class:`DataSegment` holds at some time."""

    content: int
    pointers: int
    places: dict[str, int]


class DataSegment:
    """Collects the content of the tables that stay in memory."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.pointers: list[int] = []
        """Where in the content words are that hold addresses, counted from its start."""
        self._places: dict[str, int] = {}

    def start_source(self) -> None:
        """Forget the names of the tables."""
        self._places.clear()

    def mark(self) -> DataMark:
        """What :meth:`roll_back` comes back to."""
        return DataMark(len(self.content), len(self.pointers), dict(self._places))

    def roll_back(self, mark: DataMark) -> None:
        """Forget what came after ``mark``."""
        del self.content[mark.content:]
        del self.pointers[mark.pointers:]
        self._places = dict(mark.places)

    def place(self, name: str, variables: Mapping[str, Variable]) -> int:
        """Where in the content the variable is."""
        if name not in self._places:
            variable = variables[name]
            self.content += bytes(-len(self.content) % max(variable.align, _ALIGN))
            start = self._places[name] = len(self.content)
            self.content += variable.content
            for at, target in variable.pointers:
                to = self.place(target.name, variables) + target.offset
                self.content[start + at:start + at + WORD.size] = (to % (1 << WORD.bits)).to_bytes(4, "little")
                self.pointers.append(start + at)
        return self._places[name]


def localize_tables(function: Function, variables: Mapping[str, Variable], segment: DataSegment,
                    room: int) -> str | None:
    """Turn the constants that ``function`` reads by index into private arrays, of ``room`` words together, or places
    of the data segment.

    Returns the name of the parameter with the segment's address, if the function, a kernel, got one.
    """
    in_memory = _in_memory(function, variables, room)
    assert function.is_kernel or not in_memory
    used = [name for name in _tables(function, variables) if name not in in_memory]
    start = []
    for name in used:
        local = Local(f"table.{name}")
        variable = variables[name]
        start += [
            Instruction(Op.ALLOCA, _PRIVATE_POINTER, local.name, source=variable.type, location=function.location),
            Instruction(Op.CALL, VOID, "", [local, Global(name), Constant(len(variable.content))],
                        [_PRIVATE_POINTER, _CONSTANT_POINTER, WORD], callee="llvm.memcpy.p0.p2.i32",
                        location=function.location),
        ]
    places: dict[Global, Value] = {Global(name): Local(f"table.{name}") for name in used}
    base = "constants" if in_memory else None
    if base is not None:
        function.parameters.append((base, _CONSTANT_POINTER))
    for i in function.instructions():
        for operand in i.operands:
            if isinstance(operand, Global) and operand.name in in_memory and operand not in places:
                offset = segment.place(operand.name, variables) + operand.offset
                places[operand] = Local(f"table.{operand.name}.{offset}")
                start.append(Instruction(Op.GETELEMENTPTR, _CONSTANT_POINTER, f"table.{operand.name}.{offset}",
                                         [Local("constants"), Constant(offset)], [_CONSTANT_POINTER, WORD],
                                         source=BYTE, location=function.location))
    for i in function.instructions():
        if not i.callee.startswith("llvm.memcpy.p0."):
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
            if i.op not in (*_DERIVED, Op.LOAD, Op.ICMP):
                continue
            if not any(isinstance(o, Local) and o.name in private for o in i.operands):
                continue
            types = [_PRIVATE_POINTER if type == _CONSTANT_POINTER else type for type in i.types]   # of null, too
            if types != i.types:
                i.types = types
                if i.op in _DERIVED:
                    i.type = _PRIVATE_POINTER
                    private.add(i.name)
                changed = True
