"""Accesses to global memory that may not be aligned, as packed structs need them: in pieces that are."""

import itertools
from collections.abc import Iterator

from .ir import Constant, Function, Instruction, Local, Type, Value, integer

__all__ = ["split_unaligned"]

_WORD = integer(32)
_BYTE = integer(8)
_BYTE_BITS = 8
_serial = itertools.count()


def split_unaligned(function: Function) -> None:
    """Rewrite the loads and stores of ``function`` whose alignment is less than their size."""
    for block in function.blocks.values():
        block.instructions = [new for old in block.instructions for new in _split(old)]


def _split(i: Instruction) -> Iterator[Instruction]:
    type = i.type if i.op == "load" else i.types[0] if i.op == "store" else integer(1)
    if i.op not in ("load", "store") or i.align >= type.size or not type.is_word or i.types[-1].space == 0:
        yield i
    elif i.op == "load":
        yield from _load(i)
    else:
        yield from _store(i)


def _new(op: str, type: Type, operands: list[Value], types: list[Type], like: Instruction, name: str = "",
         source: Type = _BYTE, align: int = 1) -> Instruction:
    return Instruction(op, type, name or f"unaligned{next(_serial)}", operands, types, source=source, align=align,
                       location=like.location)


def _load(load: Instruction) -> Iterator[Instruction]:
    pointer, space = load.operands[0], load.types[0]
    part, whole = integer(_BYTE_BITS * load.align), None
    for at in range(0, load.type.size, load.align):
        place = _new("getelementptr", space, [pointer, Constant(at)], [space, _WORD], load)
        loaded = _new("load", part, [Local(place.name)], [space], load, align=load.align)
        wide = _new("zext", _WORD, [Local(loaded.name)], [part], load)
        yield from (place, loaded, wide)
        if whole is None:
            whole = wide
            continue
        moved = _new("shl", _WORD, [Local(wide.name), Constant(_BYTE_BITS * at)], [_WORD] * 2, load)
        whole = _new("or", _WORD, [Local(whole.name), Local(moved.name)], [_WORD] * 2, load)
        yield from (moved, whole)
    assert whole is not None
    is_narrow = load.type.kind == "int" and load.type.bits < _WORD.bits
    op = "inttoptr" if load.type.kind == "ptr" else "trunc" if is_narrow else "freeze"
    yield _new(op, load.type, [Local(whole.name)], [_WORD], load, load.name)


def _store(store: Instruction) -> Iterator[Instruction]:
    value, type, space = store.operands[0], store.types[0], store.types[1]
    part = integer(_BYTE_BITS * store.align)
    if type != _WORD:
        wide = _new("ptrtoint" if type.kind == "ptr" else "zext", _WORD, [value], [type], store)
        value = Local(wide.name)
        yield wide
    for at in range(0, type.size, store.align):
        place = _new("getelementptr", space, [store.operands[1], Constant(at)], [space, _WORD], store)
        moved = _new("lshr", _WORD, [value, Constant(_BYTE_BITS * at)], [_WORD] * 2, store)
        narrow = _new("trunc", part, [Local(moved.name)], [_WORD], store)
        yield from (place, moved, narrow)
        yield Instruction("store", operands=[Local(narrow.name), Local(place.name)], types=[part, space],
                          align=store.align, location=store.location)
