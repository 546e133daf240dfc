"""Copies of memory of known length, as assignments of structs make them: loads and stores, a piece at a time."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..ir.inline import inline_calls
from ..ir.module import (
    VOID,
    Block,
    Constant,
    Function,
    Global,
    Instruction,
    Local,
    Location,
    Type,
    Value,
    Variable,
    integer,
)

__all__ = ["expand_copies"]

_WORD = integer(32)
_BYTE = integer(8)
_UNROLLED_UP_TO = 128
"""Bytes of the longest copy that is not a loop."""
_serial = itertools.count()


def expand_copies(function: Function, variables: Mapping[str, Variable]) -> None:
    """Rewrite memcpy and memset of known length, but for what fills private memory with constants."""
    inline_calls(function, lambda call: _loop(call) if _is_long(call) else None)
    for block in function.blocks.values():
        block.instructions = [new for old in block.instructions for new in _expanded(function, old, variables)]


def _is_long(i: Instruction) -> bool:
    """Whether a loop does it in fewer instructions; what may overlap has to be read before anything is written."""
    length = i.operands[2] if i.op == "call" and i.detail.startswith(("llvm.memcpy.", "llvm.memset.")) else None
    return isinstance(length, Constant) and length.value is not None and length.value > _UNROLLED_UP_TO \
        and i.types[0].space != 0


def _loop(call: Instruction) -> Function:
    """A function that does what ``call`` does, a piece a turn."""
    length = call.operands[2]
    assert isinstance(length, Constant)
    assert length.value is not None
    size = next(size for size in (4, 2, 1) if size <= call.align and length.value % size == 0)
    place, following, more = Local("place"), Local("following"), Local("more")
    step = [
        Instruction("phi", _WORD, place.name, [Constant(0), following], [_WORD, _WORD], ["entry", "loop"]),
        Instruction("getelementptr", call.types[0], "to.place", [Local("to"), place], [call.types[0], _WORD],
                    source=_BYTE),
        Instruction("getelementptr", call.types[1], "from.place", [Local("from"), place], [call.types[1], _WORD],
                    source=_BYTE),
        replace(call, operands=[Local("to.place"), Local("from.place"), Constant(size), Constant(0)],
                types=list(call.types)),
        Instruction("add", _WORD, following.name, [place, Constant(size)], [_WORD, _WORD]),
        Instruction("icmp", integer(1), more.name, [following, length], [_WORD, _WORD], detail="ne"),
        Instruction("condbr", operands=[more], types=[integer(1)], blocks=["loop", "end"]),
    ]
    if call.detail.startswith("llvm.memset."):
        del step[2]
        step[2].operands[1] = Local("from")
    blocks = [Block("entry", [Instruction("br", blocks=["loop"])]), Block("loop", step),
              Block("end", [Instruction("ret")])]
    names = ("to", "from", "length", "volatile")
    return Function("copy", VOID, list(zip(names, call.types, strict=True)), {block.name: block for block in blocks},
                    False, {}, call.location or Location("", 0))


def _expanded(function: Function, i: Instruction, variables: Mapping[str, Variable]) -> Iterator[Instruction]:
    kind = i.detail.split(".")[1] if i.op == "call" and i.detail.startswith("llvm.mem") else ""
    if not kind:
        yield i
        return
    source, length = i.operands[1:3]
    is_private = i.types[0].space == 0
    is_known = isinstance(source, Constant)
    if kind != "memset":        # addresses are not known before the launch
        is_known = isinstance(source, Global) and not (source.name in variables and variables[source.name].pointers)
    if is_private and is_known:
        yield i
        return
    if not isinstance(length, Constant) or length.value is None:
        raise function.error(f"a copy of memory of variable length ({kind}) is not supported", i)
    if kind == "memset":
        yield from _set(i, length.value)
    else:
        yield from _copy(i, length.value)


def _pieces(length: int, align: int) -> Iterator[tuple[int, int]]:
    """Offsets and sizes: words as far as alignment and length let them be."""
    at = 0
    while at < length:
        size = next(size for size in (4, 2, 1) if size <= align and at + size <= length)
        yield at, size
        at += size


def _place(pointer: Value, type: Type, offset: int, like: Instruction) -> Instruction:
    return Instruction("getelementptr", type, f"piece{next(_serial)}", [pointer, Constant(offset)], [type, _WORD],
                       source=_BYTE, location=like.location)


def _copy(call: Instruction, length: int) -> Iterator[Instruction]:
    to, source = call.operands[:2]
    stores = []
    for at, size in _pieces(length, call.align):
        place = _place(source, call.types[1], at, call)
        load = Instruction("load", integer(8 * size), f"piece{next(_serial)}", [Local(place.name)], [call.types[1]],
                           align=size, location=call.location)
        yield place
        yield load
        stores.append((at, load))
        if "memcpy" in call.detail:         # does not overlap, so nothing need wait for all loads
            yield from _stores(call, to, stores)
            stores = []
    yield from _stores(call, to, stores)


def _stores(call: Instruction, to: Value, loads: list[tuple[int, Instruction]]) -> Iterator[Instruction]:
    for at, load in loads:
        place = _place(to, call.types[0], at, call)
        yield place
        yield Instruction("store", operands=[Local(load.name), Local(place.name)], types=[load.type, call.types[0]],
                          align=load.align, location=call.location)


def _set(call: Instruction, length: int) -> Iterator[Instruction]:
    wide = Instruction("zext", _WORD, f"piece{next(_serial)}", [call.operands[1]], [_BYTE], location=call.location)
    word = replace(wide, op="mul", name=f"piece{next(_serial)}", operands=[Local(wide.name), Constant(0x0101_0101)],
                   types=[_WORD, _WORD])
    yield wide
    yield word
    for at, size in _pieces(length, call.align):
        value: Value = Local(word.name)
        if size < _WORD.size:
            part = replace(wide, op="trunc", type=integer(8 * size), name=f"piece{next(_serial)}", operands=[value],
                           types=[_WORD])
            yield part
            value = Local(part.name)
        place = _place(call.operands[0], call.types[0], at, call)
        yield place
        yield Instruction("store", operands=[value, Local(place.name)], types=[integer(8 * size), call.types[0]],
                          align=size, location=call.location)
