"""Structs by value. Those that a kernel gets: their words are parameters.

Members that are read at a known place come straight from there. If the struct is written, or read at a place that is
not known, the kernel starts with a copy of it in private memory.
"""

import itertools
from collections.abc import Iterator

from ..ir.inline import substitute
from ..ir.module import VOID, Constant, Function, Instruction, Local, Type, Value, integer

__all__ = ["copy_arguments", "split_structs"]

_WORD = integer(32)
_BYTE = integer(8)
_PRIVATE = Type("ptr")
_serial = itertools.count()


def copy_arguments(call: Instruction, callee: Function) -> None:
    """Let ``callee``, which is to be inlined at ``call``, start with copies of the structs that it gets by value."""
    copies: list[Instruction] = []
    for (name, type), given in zip(callee.parameters, call.types, strict=True):
        if type.is_by_value:
            copy, struct = Local(f"copy{next(_serial)}"), type.fields[0]
            substitute(callee.instructions(), {name: copy})
            copies += [
                Instruction("alloca", _PRIVATE, copy.name, source=struct),
                Instruction("call", VOID, "", [copy, Local(name), Constant(struct.size), Constant(0)],
                            [_PRIVATE, given, _WORD, integer(1)], detail="llvm.memcpy.p0.p0.i32",
                            align=min(struct.align, 4)),
            ]
    next(iter(callee.blocks.values())).instructions[:0] = copies


def split_structs(function: Function) -> None:
    """Replace the structs among the parameters of the kernel ``function`` by words."""
    parameters: list[tuple[str, Type]] = []
    for name, type in function.parameters:
        if not type.is_by_value:
            parameters.append((name, type))
            continue
        struct = type.fields[0]
        words = [f"{name}.word{number}" for number in range(-(-struct.size // _WORD.size))]
        parameters += [(word, _WORD) for word in words]
        reads = _known_reads(function, name)
        if reads is None:
            entry = next(iter(function.blocks.values()))
            entry.instructions[:0] = _copy(function, name, struct, words)
        else:
            for block in function.blocks.values():
                block.instructions = [new for old in block.instructions for new in _read(old, reads, words)]
    function.parameters = parameters


def _known_reads(function: Function, name: str) -> dict[Instruction, int] | None:
    """The struct's members' addresses and loads with their offsets in bytes; None if there is any other use."""
    offsets = {name: 0}
    reads: dict[Instruction, int] = {}
    changed = True
    while changed:
        before = len(offsets)
        for i in function.instructions():
            base = i.operands[0].name if i.operands and isinstance(i.operands[0], Local) else ""
            if i.op == "getelementptr" and base in offsets and i.name not in offsets:
                offset = _offset(i)
                if offset is not None:
                    offsets[i.name] = reads[i] = offsets[base] + offset
        changed = len(offsets) > before
    for i in function.instructions():
        used = [o.name for o in i.operands if isinstance(o, Local) and o.name in offsets]
        if not used or i.name in offsets:
            continue
        if i.op != "load" or not (i.type.is_word or i.type.kind in ("int", "vector")):
            return None
        reads[i] = offsets[used[0]]
        if i.type.size < _WORD.size and reads[i] % i.type.size:
            return None
        if i.type.size >= _WORD.size and reads[i] % _WORD.size:
            return None
    return reads


def _offset(gep: Instruction) -> int | None:
    """The constant number of bytes that ``gep`` adds."""
    offset, type = 0, gep.source
    for position, index in enumerate(gep.operands[1:]):
        if not isinstance(index, Constant) or index.value is None:
            return None
        if position == 0:
            offset += index.value * type.size
        elif type.kind == "struct":
            offset += type.offset(index.value)
            type = type.fields[index.value]
        else:
            type = type.fields[0]
            offset += index.value * type.size
    return offset


def _read(old: Instruction, reads: dict[Instruction, int], words: list[str]) -> Iterator[Instruction]:
    offset = reads.get(old)
    if offset is None:
        yield old
    if offset is None or old.op == "getelementptr":
        return

    def new(op: str, type: Type, operands: list[Value], types: list[Type], name: str = "") -> Instruction:
        return Instruction(op, type, name or f"{old.name}.part{next(_serial)}", operands, types,
                           location=old.location)

    first = offset // _WORD.size
    if old.type.size > _WORD.size:
        count = old.type.size // _WORD.size
        whole = integer(old.type.bits if old.type.kind == "int" else _WORD.bits * count)
        parts: list[Value] = [Local(word) for word in words[first:first + count]]
        if old.type.kind == "int":
            yield new("words", whole, parts, [_WORD] * count, old.name)
            return
        made = new("words", whole, parts, [_WORD] * count)
        yield made
        yield new("bitcast", old.type, [Local(made.name)], [whole], old.name)
        return
    word: Value = Local(words[first])
    if offset % _WORD.size:
        shift = new("lshr", _WORD, [word, Constant(8 * (offset % _WORD.size))], [_WORD] * 2)
        yield shift
        word = Local(shift.name)
    if old.type.kind == "vector":
        bits = integer(8 * old.type.size)
        if bits != _WORD:
            part = new("trunc", bits, [word], [_WORD])
            yield part
            word = Local(part.name)
        yield new("bitcast", old.type, [word], [bits], old.name)
    elif old.type.kind == "ptr":
        yield new("inttoptr", old.type, [word], [_WORD], old.name)
    else:
        yield new("trunc" if old.type.bits < _WORD.bits else "freeze", old.type, [word], [_WORD], old.name)


def _copy(function: Function, name: str, struct: Type, words: list[str]) -> Iterator[Instruction]:
    """A private variable of the parameter's name that starts with ``words``."""
    yield Instruction("alloca", _PRIVATE, name, source=struct, location=function.location)
    for number, word in enumerate(words):
        place = Instruction("getelementptr", _PRIVATE, f"{name}.place{number}",
                            [Local(name), Constant(number * _WORD.size)], [_PRIVATE, _WORD], source=_BYTE,
                            location=function.location)
        yield place
        yield Instruction("store", operands=[Local(word), Local(place.name)], types=[_WORD, _PRIVATE], align=4,
                          location=function.location)
