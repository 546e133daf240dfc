"""Accesses to memory in pieces: those to global memory that may not be aligned, as packed structs need them, and
those of three bytes, as clang makes them of the padding of structs, or of colours."""

from collections.abc import Iterator

from ..ir.builder import Builder, rewrite
from ..ir.module import Function, Instruction, Op
from ..ir.values import WORD, Constant, Type, Value, integer

__all__ = ["split_unaligned"]

_BYTE_BITS = 8


def split_unaligned(function: Function) -> None:
    """Rewrite the loads and stores of ``function`` whose alignment is less than their size, or whose size is odd."""
    rewrite(function, _split, lambda i: i.op in (Op.LOAD, Op.STORE))


def _split(b: Builder, i: Instruction) -> Value | bool:
    type = i.type if i.op is Op.LOAD else i.types[0]
    is_aligned = i.align >= type.size or i.types[-1].space == 0
    if not type.is_word or (is_aligned and not _is_odd(type)):
        return False
    return _load(b, i) if i.op is Op.LOAD else _store(b, i)


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


def _load(b: Builder, load: Instruction) -> Value:
    pointer, space = load.operands[0], load.types[0]
    whole: Value | None = None
    for at, size in _pieces(load.type, load.align):
        part = integer(_BYTE_BITS * size)
        loaded = b.load(part, b.offset(pointer, space, at), space, size)
        wide = b.add(Op.ZEXT, loaded, types=[part])
        whole = wide if whole is None else b.add(Op.OR, whole, b.add(Op.SHL, wide, Constant(_BYTE_BITS * at)))
    assert whole is not None
    is_narrow = load.type.kind == "int" and load.type.bits < WORD.bits
    op = Op.INTTOPTR if load.type.kind == "ptr" else Op.TRUNC if is_narrow else Op.FREEZE
    return b.add(op, whole, type=load.type, types=[WORD])


def _store(b: Builder, store: Instruction) -> bool:
    value, (type, space) = store.operands[0], store.types
    value = b.convert(Op.PTRTOINT if type.kind == "ptr" else Op.ZEXT, value, type, WORD)
    for at, size in _pieces(type, store.align):
        part = integer(_BYTE_BITS * size)
        place = b.offset(store.operands[1], space, at)
        narrow = b.add(Op.TRUNC, b.add(Op.LSHR, value, Constant(_BYTE_BITS * at)), type=part, types=[WORD])
        b.store(narrow, part, place, space, size)
    return True
