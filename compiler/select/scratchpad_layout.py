"""How private variables lie in the scratchpad, which has words and no bytes.

Objects that one pointer may point to are of one *class*. If everything in a class has the same size, and is accessed
as a whole, each element has a word of its own, and addresses count elements. Otherwise (structs of several types,
arrays of small elements that need the room, pointers that are kept in memory) bytes are packed into words, and
addresses count bytes.
"""

from collections.abc import Iterator

from ..ir.module import Function, Instruction, Op
from ..ir.values import Constant, Local, Type, Value

__all__ = ["PACKED", "PrivateLayout"]

PACKED = 0
"""The unit of classes whose addresses count bytes; of the others it is the size of an element in bytes."""
_ELSEWHERE = "*"
_WORD = 4
_DERIVED = ("getelementptr", "freeze", "phi", "select", "bitcast")


def _scalars(type: Type) -> Iterator[int]:
    """Sizes of the scalars that make up ``type``, in accesses of at most a word."""
    if type.kind in ("array", "struct", "vector"):
        for member in type.fields:
            yield from _scalars(member)
    else:
        yield min(type.size, _WORD)


def _steps(gep: Instruction) -> Iterator[tuple[int, bool]]:
    """Of each index the bytes that it moves by, if that is constant, or else those that it counts; and whether it
    is."""
    type = gep.source
    for position, index in enumerate(gep.operands[1:]):
        number = index.value if isinstance(index, Constant) else None
        if position and type.kind == "struct":
            assert number is not None
            yield type.offset(number), True
            type = type.fields[number]
            continue
        if position:
            type = type.fields[0]
        yield type.size * (1 if number is None else number), number is not None


class PrivateLayout:
    """The units of all private pointers of ``function``, whose scratchpad has ``words`` words a work-item."""

    def __init__(self, function: Function, words: int) -> None:
        self._parents: dict[str, str] = {}
        self._sizes: dict[str, set[int]] = {}
        allocas = []
        for instruction in function.instructions():
            self._classify(instruction)
            if instruction.op is Op.ALLOCA:
                allocas.append(instruction)
        self._packed = {self._root(_ELSEWHERE)}
        for alloca in allocas:
            self._sizes.setdefault(self._root(alloca.name), set()).update(_scalars(alloca.source))
        for instruction in function.instructions():
            self._note_access(instruction)
        self._note_moves(function, {alloca.name for alloca in allocas})
        for root, sizes in self._sizes.items():
            if len({size for size in sizes if size > 0}) != 1 or min(sizes) < 0:
                self._packed.add(root)
        if sum(alloca.source.size // (self.unit(Local(alloca.name)) or _WORD) for alloca in allocas) > words:
            self._packed.update(self._root(alloca.name) for alloca in allocas
                                if self.unit(Local(alloca.name)) < _WORD)

    def unit(self, pointer: Value) -> int:
        """Bytes that an address counts: of an element, or :data:`PACKED`."""
        root = self._root(pointer.name) if isinstance(pointer, Local) else self._root(_ELSEWHERE)
        return PACKED if root in self._packed else max(self._sizes.get(root, {_WORD}))

    def alignment(self, alloca: Instruction) -> int:
        """Words that the number of a variable's first word has to be a multiple of: only the addresses of packed ones
        are looked at."""
        align = max(alloca.align, alloca.source.align, _WORD)
        return align // _WORD if self.unit(Local(alloca.name)) == PACKED else 1

    def _root(self, name: str) -> str:
        while (parent := self._parents.get(name, name)) != name:
            self._parents[name] = self._parents.get(parent, parent)
            name = parent
        return name

    def _join(self, a: str, b: Value | str) -> None:
        other = b.name if isinstance(b, Local) else b if isinstance(b, str) else None
        if other is not None:
            self._parents[self._root(a)] = self._root(other)

    def _classify(self, i: Instruction) -> None:
        if i.op in _DERIVED and i.type.is_private:
            for operand, type in zip(i.operands, i.types, strict=True):
                if type.is_private:
                    self._join(i.name, operand)
        elif i.op is Op.ICMP and i.types[0].is_private and isinstance(i.operands[0], Local):
            self._join(i.operands[0].name, i.operands[1])
        elif i.op is Op.PTRTOINT or (i.op is Op.CALL and not i.callee.startswith("llvm.")):
            for operand, type in zip(i.operands, i.types, strict=True):
                if type.is_private:
                    self._join(_ELSEWHERE, operand)
        elif i.op is Op.STORE and i.types[0].is_private:
            self._join(_ELSEWHERE, i.operands[0])
        if i.op in (Op.LOAD, Op.INTTOPTR, Op.CALL) and i.type.is_private:
            self._join(_ELSEWHERE, i.name)

    def _note_moves(self, function: Function, allocas: set[str]) -> None:
        """Moves by parts of elements have the size -1, too: only several of them together may make whole ones. Where
        one is all that is between a variable and an access, that access says that it does if it is aligned."""
        moved: set[Value] = set()       # pointers that are used for more than accesses
        aligned: dict[Value, int] = {}  # to so many bytes all accesses by a pointer are
        for i in function.instructions():
            is_access = i.op in (Op.LOAD, Op.STORE)
            moved.update(i.operands[:-1] if is_access else i.operands)
            if is_access:
                aligned[i.operands[-1]] = min(i.align, aligned.get(i.operands[-1], i.align))
        for i in function.instructions():
            sizes = self._sizes.get(self._root(i.name))
            if i.op is not Op.GETELEMENTPTR or not i.type.is_private or sizes is None:
                continue
            unit, base = max(sizes), i.operands[0]
            is_alone = isinstance(base, Local) and base.name in allocas and Local(i.name) not in moved \
                and aligned.get(Local(i.name), 0) >= unit
            if any(step % unit for step, is_constant in _steps(i) if is_constant or not is_alone):
                sizes.add(-1)

    def _note_access(self, i: Instruction) -> None:
        """Accesses of parts of elements have the size -1 here."""
        if i.op not in (Op.LOAD, Op.STORE) or not i.types[-1].is_private or not isinstance(i.operands[-1], Local):
            return
        size = i.type.size if i.op is Op.LOAD else i.types[0].size
        sizes = self._sizes.setdefault(self._root(i.operands[-1].name), {min(size, _WORD)})
        if any(known > 0 and size % known for known in sizes):
            sizes.add(-1)
