"""Copies of memory of known length, as assignments of structs make them: loads and stores, a piece at a time."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..ir.builder import Builder, rewrite
from ..ir.inline import inline_calls
from ..ir.module import Block, Function, Instruction, Location, Op, Variable
from ..ir.values import BOOL, BYTE, VOID, WORD, Constant, Global, Local, Value, integer

__all__ = ["expand_copies"]

_UNROLLED_UP_TO = 128
"""Bytes of the longest copy that is not a loop."""


def expand_copies(function: Function, variables: Mapping[str, Variable]) -> None:
    """Rewrite memcpy and memset of known length, but for what fills private memory with constants."""
    inline_calls(function, lambda call: _loop(call) if _is_long(call) else None)
    rewrite(function, lambda builder, call: _expand(builder, call, variables),
            lambda i: i.callee.startswith("llvm.mem"))


def _is_long(i: Instruction) -> bool:
    """Whether a loop does it in fewer instructions; what may overlap has to be read before anything is written."""
    length = i.operands[2] if i.callee.startswith(("llvm.memcpy.", "llvm.memset.")) else None
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
        Instruction(Op.PHI, WORD, place.name, [Constant(0), following], [WORD, WORD], ["entry", "loop"]),
        Instruction(Op.GETELEMENTPTR, call.types[0], "to.place", [Local("to"), place], [call.types[0], WORD],
                    source=BYTE),
        Instruction(Op.GETELEMENTPTR, call.types[1], "from.place", [Local("from"), place], [call.types[1], WORD],
                    source=BYTE),
        replace(call, operands=[Local("to.place"), Local("from.place"), Constant(size), Constant(0)],
                types=list(call.types)),
        Instruction(Op.ADD, WORD, following.name, [place, Constant(size)], [WORD, WORD]),
        Instruction(Op.ICMP, BOOL, more.name, [following, length], [WORD, WORD], predicate="ne"),
        Instruction(Op.CONDBR, operands=[more], types=[BOOL], blocks=["loop", "end"]),
    ]
    if call.callee.startswith("llvm.memset."):
        del step[2]
        step[2].operands[1] = Local("from")
    blocks = [Block("entry", [Instruction(Op.BR, blocks=["loop"])]), Block("loop", step),
              Block("end", [Instruction(Op.RET)])]
    names = ("to", "from", "length", "volatile")
    return Function("copy", VOID, list(zip(names, call.types, strict=True)), {block.name: block for block in blocks},
                    False, {}, call.location or Location("", 0))


def _expand(b: Builder, call: Instruction, variables: Mapping[str, Variable]) -> bool:
    kind = call.callee.split(".")[1]
    source, length = call.operands[1:3]
    is_private = call.types[0].space == 0
    is_known = isinstance(source, Constant)
    if kind != "memset":        # addresses are not known before the launch
        is_known = isinstance(source, Global) and not (source.name in variables and variables[source.name].pointers)
    if is_private and is_known:
        return False
    if not isinstance(length, Constant) or length.value is None:
        raise b.function.error(f"a copy of memory of variable length ({kind}) is not supported", call)
    if kind == "memset":
        _set(b, call, length.value)
    else:
        _copy(b, call, length.value)
    return True


def _pieces(length: int, align: int) -> Iterator[tuple[int, int]]:
    """Offsets and sizes: words as far as alignment and length let them be."""
    at = 0
    while at < length:
        size = next(size for size in (4, 2, 1) if size <= align and at + size <= length)
        yield at, size
        at += size


def _copy(b: Builder, call: Instruction, length: int) -> None:
    to, source = call.operands[:2]
    loads: list[tuple[int, int, Value]] = []
    for at, size in _pieces(length, call.align):
        place = b.offset(source, call.types[1], at)
        loads.append((at, size, b.load(integer(8 * size), place, call.types[1], size)))
        if "memcpy" in call.callee:         # does not overlap, so nothing need wait for all loads
            _store(b, call, to, loads)
            loads = []
    _store(b, call, to, loads)


def _store(b: Builder, call: Instruction, to: Value, pieces: list[tuple[int, int, Value]]) -> None:
    for at, size, value in pieces:
        b.store(value, integer(8 * size), b.offset(to, call.types[0], at), call.types[0], size)


def _set(b: Builder, call: Instruction, length: int) -> None:
    word = b.add(Op.MUL, b.add(Op.ZEXT, call.operands[1], types=[BYTE]), Constant(0x0101_0101))
    for at, size in _pieces(length, call.align):
        part = integer(8 * size)
        value = b.convert(Op.TRUNC, word, WORD, part)
        b.store(value, part, b.offset(call.operands[0], call.types[0], at), call.types[0], size)
