"""New instructions for a function: with names that are free in it, and the source line of what they stand for."""

from collections.abc import Callable, Iterable, Sequence

from .module import Function, Instruction, Op
from .values import BOOL, BYTE, VOID, WORD, Constant, Local, Type, Value

__all__ = ["Builder", "rewrite"]


class Builder:
    """Collects instructions of ``function`` in ``made``.

    They have the location of ``like``, the instruction that they stand for, and its name with a number behind it:
    names depend on the function alone, and not on what was compiled before.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.made: list[Instruction] = []
        self.like = Instruction(Op.UNREACHABLE, location=function.location)
        self._numbers: dict[str, int] = {}
        self._taken: set[str] = set()
        for name in (*(name for name, _ in function.parameters), *function.blocks,
                     *(i.name for i in function.instructions())):
            while name and name not in self._taken:     # with what a name that is inlined starts with
                self._taken.add(name)
                name = name.rpartition(".")[0]

    def name(self, stem: str = "") -> str:
        """A name that neither a value nor a block has; like that of ``like`` unless a ``stem`` is given."""
        stem = stem or self.like.name or self.like.op
        number = self._numbers.get(stem, 0)
        while f"{stem}.{number}" in self._taken:
            number += 1
        self._numbers[stem] = number + 1
        self._taken.add(f"{stem}.{number}")
        return f"{stem}.{number}"

    def start(self, like: Instruction) -> None:
        """What is made from here on stands for ``like``."""
        self.like, self.made = like, []

    def append(self, instruction: Instruction) -> Value:
        """Append an instruction, which gets a name if it has a result but none, and a location if it has none."""
        if instruction.type != VOID and not instruction.name:
            instruction.name = self.name()
        if instruction.location is None:
            instruction.location = self.like.location
        self.made.append(instruction)
        return Local(instruction.name)

    # -- instructions ------------------------------------------------------------------------------------

    def add(self, op: Op, *operands: Value, type: Type = WORD, types: Sequence[Type] | None = None,
            index: int = 0) -> Value:
        """An operation, on operands of the result's type unless ``types`` says otherwise."""
        return self.append(Instruction(op, type, operands=list(operands),
                                       types=[type] * len(operands) if types is None else list(types), index=index))

    def convert(self, op: Op, value: Value, source: Type, type: Type) -> Value:
        """``value`` as ``type``, if it is not of that type already."""
        return value if source == type else self.add(op, value, type=type, types=[source])

    def icmp(self, predicate: str, a: Value, b: Value, of: Type = WORD, type: Type = BOOL) -> Value:
        """A comparison of two integers or pointers: a boolean."""
        return self.append(Instruction(Op.ICMP, type, operands=[a, b], types=[of, of], predicate=predicate))

    def select(self, condition: Value, then: Value, other: Value, type: Type = WORD, by: Type = BOOL) -> Value:
        """One of two values, by a condition."""
        return self.add(Op.SELECT, condition, then, other, type=type, types=[by, type, type])

    def call(self, callee: str, *arguments: Value, type: Type = WORD, types: Sequence[Type] | None = None) -> Value:
        """A call, by default of a function from words to a word."""
        return self.append(Instruction(Op.CALL, type, operands=list(arguments), callee=callee,
                                       types=[WORD] * len(arguments) if types is None else list(types)))

    def offset(self, pointer: Value, type: Type, offset: int) -> Value:
        """The address ``offset`` bytes behind ``pointer``, of ``type``."""
        return self.append(Instruction(Op.GETELEMENTPTR, type, operands=[pointer, Constant(offset)],
                                       types=[type, WORD], source=BYTE))

    def load(self, type: Type, pointer: Value, space: Type, align: int) -> Value:
        """What is at an address."""
        return self.append(Instruction(Op.LOAD, type, operands=[pointer], types=[space], align=align))

    def store(self, value: Value, type: Type, pointer: Value, space: Type, align: int) -> None:
        """Store a value at an address."""
        self.append(Instruction(Op.STORE, operands=[value, pointer], types=[type, space], align=align))


def rewrite(function: Function, expand: Callable[[Builder, Instruction], Value | bool | None],
            which: Callable[[Instruction], bool] = lambda instruction: True) -> None:
    """Replace the instructions of ``function`` for which ``expand`` makes others with the builder.

    It returns the result, which must be that of the last one made and gets the old name; True if there is none; and
    None or False, having made nothing, for what stays.
    """
    builder = Builder(function)
    for block in function.blocks.values():
        block.instructions = list(_rewritten(builder, expand, block.instructions, which))


def _rewritten(builder: Builder, expand: Callable[[Builder, Instruction], Value | bool | None],
               instructions: Sequence[Instruction], which: Callable[[Instruction], bool]) -> Iterable[Instruction]:
    for old in instructions:
        builder.start(old)
        result = expand(builder, old) if which(old) else None
        if result is None or result is False:
            assert not builder.made
            yield old
            continue
        if result is not True:
            assert builder.made
            assert result == Local(builder.made[-1].name)
            builder.made[-1].name = old.name
        yield from builder.made
