"""Structs by value. Those that a kernel gets: their words are parameters.

Members that are read at a known place come straight from there. If the struct is written, or read at a place that is
not known, the kernel starts with a copy of it in private memory.
"""

from collections.abc import Mapping
from dataclasses import replace

from ..ir.builder import Builder, rewrite
from ..ir.inline import substitute
from ..ir.module import Function, Instruction, Op
from ..ir.values import BOOL, VOID, WORD, Constant, Local, Type, Value, integer

__all__ = ["copy_arguments", "split_structs"]

_PRIVATE = Type("ptr")


def copy_arguments(call: Instruction, callee: Function) -> None:
    """Let ``callee``, which is to be inlined at ``call``, start with copies of the structs that it gets by value."""
    copies: list[Instruction] = []
    builder = Builder(callee)
    for (name, type), given in zip(callee.parameters, call.types, strict=True):
        if type.is_by_value:
            copy, struct = Local(builder.name("copy")), type.fields[0]
            substitute(callee.instructions(), {name: copy})
            copies += [
                Instruction(Op.ALLOCA, _PRIVATE, copy.name, source=struct),
                Instruction(Op.CALL, VOID, "", [copy, Local(name), Constant(struct.size), Constant(0)],
                            [_PRIVATE, given, WORD, BOOL], callee="llvm.memcpy.p0.p0.i32",
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
        words = [f"{name}.word{number}" for number in range(-(-struct.size // WORD.size))]
        parameters += [(word, WORD) for word in words]
        reads = _known_reads(function, name)
        if reads is None:
            entry = next(iter(function.blocks.values()))
            entry.instructions[:0] = _copy(function, name, type, words)
        else:
            addresses = {i for i in reads if i.op is Op.GETELEMENTPTR}
            for block in function.blocks.values():
                block.instructions = [i for i in block.instructions if i not in addresses]
            _read(function, reads, words)
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
            if i.op is Op.GETELEMENTPTR and base in offsets and i.name not in offsets:
                offset = _offset(i)
                if offset is not None:
                    offsets[i.name] = reads[i] = offsets[base] + offset
        changed = len(offsets) > before
    for i in function.instructions():
        used = [o.name for o in i.operands if isinstance(o, Local) and o.name in offsets]
        if not used or i.name in offsets:
            continue
        if i.op is not Op.LOAD or not (i.type.is_word or i.type.kind in ("int", "vector")):
            return None
        reads[i] = offsets[used[0]]
        if i.type.size < WORD.size and reads[i] % i.type.size:
            return None
        if i.type.size >= WORD.size and reads[i] % WORD.size:
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


def _read(function: Function, reads: Mapping[Instruction, int], words: list[str]) -> None:
    """Take what ``reads`` load from ``words``."""
    rewrite(function, lambda builder, load: _part(builder, load.type, reads[load], [Local(word) for word in words]),
            lambda i: i in reads)


def _part(b: Builder, type: Type, offset: int, words: list[Value]) -> Value:
    """The value of ``type`` that is ``offset`` bytes behind the first of ``words``."""
    first = offset // WORD.size
    if type.size > WORD.size:
        count = type.size // WORD.size
        whole = integer(type.bits if type.kind == "int" else WORD.bits * count)
        parts = words[first:first + count]
        return b.convert(Op.BITCAST, b.add(Op.CONCAT, *parts, type=whole, types=[WORD] * count), whole, type)
    word = words[first]
    if offset % WORD.size:
        word = b.add(Op.LSHR, word, Constant(8 * (offset % WORD.size)))
    if type.kind == "vector":
        bits = integer(8 * type.size)
        return b.add(Op.BITCAST, b.convert(Op.TRUNC, word, WORD, bits), type=type, types=[bits])
    op = Op.INTTOPTR if type.kind == "ptr" else Op.TRUNC if type.bits < WORD.bits else Op.FREEZE
    return b.add(op, word, type=type, types=[WORD])


def _copy(function: Function, name: str, type: Type, words: list[str]) -> list[Instruction]:
    """A private variable of the parameter's name, of its ``type``, that starts with ``words``."""
    b = Builder(function)
    pointer = replace(type, fields=())
    b.start(Instruction(Op.ALLOCA, pointer, name, source=type.fields[0], align=WORD.size, location=function.location))
    b.append(b.like)
    for number, word in enumerate(words):
        b.store(Local(word), WORD, b.offset(Local(name), pointer, number * WORD.size), pointer, 4)
    return b.made
