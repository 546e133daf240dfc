"""Accesses to memory in pieces: those to global memory that may not be aligned, as packed structs need them, and
those of three bytes, as clang makes them of the padding of structs, or of colours."""

import itertools
from collections.abc import Iterator

from ..ir.module import Constant, Function, Instruction, Local, Type, Value, integer

__all__ = ["split_unaligned"]

_WORD = integer(32)
_BYTE = integer(8)
_BYTE_BITS = 8
_serial = itertools.count()


def split_unaligned(function: Function) -> None:
    """Rewrite the loads and stores of ``function`` whose alignment is less than their size, or whose size is odd."""
    for block in function.blocks.values():
        block.instructions = [new for old in block.instructions for new in _split(old)]


def _split(i: Instruction) -> Iterator[Instruction]:
    type = i.type if i.op == "load" else i.types[0] if i.op == "store" else integer(1)
    is_aligned = i.align >= type.size or i.types[-1].space == 0
    if i.op not in ("load", "store") or not type.is_word or (is_aligned and not _is_odd(type)):
        yield i
    elif i.op == "load":
        yield from _load(i)
    else:
        yield from _store(i)


def _is_odd(type: Type) -> bool:
    """Whether no element of memory is as large."""
    return type.kind == "int" and type.bits % _BYTE_BITS == 0 and type.bits // _BYTE_BITS not in (1, 2, 4)


def _pieces(type: Type, align: int) -> Iterator[tuple[int, int]]:
    """Offsets and sizes of aligned parts of a value in memory."""
    at, end = 0, type.bits // _BYTE_BITS if _is_odd(type) else type.size
    while at < end:
        size = next(size for size in (4, 2, 1) if at % size == 0 and size <= align and at + size <= end)
        yield at, size
        at += size


def _new(op: str, type: Type, operands: list[Value], types: list[Type], like: Instruction, name: str = "",
         source: Type = _BYTE, align: int = 1) -> Instruction:
    return Instruction(op, type, name or f"unaligned{next(_serial)}", operands, types, source=source, align=align,
                       location=like.location)


def _load(load: Instruction) -> Iterator[Instruction]:
    pointer, space = load.operands[0], load.types[0]
    whole = None
    for at, size in _pieces(load.type, load.align):
        part = integer(_BYTE_BITS * size)
        place = _new("getelementptr", space, [pointer, Constant(at)], [space, _WORD], load)
        loaded = _new("load", part, [Local(place.name)], [space], load, align=size)
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
    if type != _WORD:
        wide = _new("ptrtoint" if type.kind == "ptr" else "zext", _WORD, [value], [type], store)
        value = Local(wide.name)
        yield wide
    for at, size in _pieces(type, store.align):
        part = integer(_BYTE_BITS * size)
        place = _new("getelementptr", space, [store.operands[1], Constant(at)], [space, _WORD], store)
        moved = _new("lshr", _WORD, [value, Constant(_BYTE_BITS * at)], [_WORD] * 2, store)
        narrow = _new("trunc", part, [Local(moved.name)], [_WORD], store)
        yield from (place, moved, narrow)
        yield Instruction("store", operands=[Local(narrow.name), Local(place.name)], types=[part, space],
                          align=size, location=store.location)
