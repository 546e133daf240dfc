"""Addresses that are a constant away from others."""

from ..ir.module import Function, Instruction, Op
from ..ir.values import Constant, Local, Value

__all__ = ["Addresses"]


class Addresses:
    """Those of a function: ``pointers`` has, by name, from what each is a constant away, and how many bytes."""

    def __init__(self, function: Function) -> None:
        self.pointers: dict[str, tuple[Value, int]] = {}
        for i in function.instructions():
            if i.op is Op.GETELEMENTPTR and (offset := _constant_offset(i)) is not None:
                self.pointers[i.name] = i.operands[0], offset

    def root(self, value: Value) -> tuple[Value, int]:
        """The address from which ``value`` is a constant away, itself maybe, and how many bytes."""
        offset = 0
        while isinstance(value, Local) and value.name in self.pointers:
            value, more = self.pointers[value.name]
            offset += more
        return value, offset


def _constant_offset(gep: Instruction) -> int | None:
    """The bytes that a getelementptr adds, if that is known."""
    offset, type = 0, gep.source
    for position, index in enumerate(gep.operands[1:]):
        if not isinstance(index, Constant) or index.value is None:
            return None
        if position and type.kind == "struct":
            offset += type.offset(index.value)
            type = type.fields[index.value]
            continue
        if position:
            type = type.fields[0]
        offset += index.value * type.size
    return offset
