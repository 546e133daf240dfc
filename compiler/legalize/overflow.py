"""Sums, differences and products of which a program asks whether they overflow.

clang makes them of comparisons such as ``mul_hi(a, b) != 0`` or ``a && a * b / a != b``, too.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from ..ir.module import Constant, Function, Instruction, Local, Type, Value, integer

__all__ = ["expand_overflow"]

_ASKS = re.compile(r"llvm\.([us])(add|sub|mul)\.with\.overflow\.")
_WORD_BITS = 32
_LONG_BITS = 64
_serial = itertools.count()


def expand_overflow(function: Function) -> None:
    """Replace what is taken of the results, the value or whether it overflows, by simple operations."""
    asked = {i.name: i for i in function.instructions() if i.op == "call" and _ASKS.match(i.detail)}
    for block in function.blocks.values():
        block.instructions = [new for old in block.instructions if old.name not in asked
                              for new in _expanded(old, asked)]


def _expanded(i: Instruction, asked: dict[str, Instruction]) -> Iterator[Instruction]:
    source = i.operands[0] if i.op == "extractvalue" else None
    call = asked.get(source.name) if isinstance(source, Local) else None
    if call is None:
        yield i
        return
    match = _ASKS.match(call.detail)
    assert match is not None
    steps = _Steps(call)
    if i.detail == "0":
        steps.result()
    else:
        steps.overflow(is_signed=match[1] == "s")
    steps.made[-1].name = i.name
    yield from steps.made


def _of_bits(type: Type, bits: int) -> Type:
    """The integer, or the vector of integers, of ``bits`` bits that is like ``type``."""
    return replace(type, fields=(integer(bits),)) if type.kind == "vector" else integer(bits)


class _Steps:
    """The operations that answer one question about ``call``, the last of which has the answer."""

    def __init__(self, call: Instruction) -> None:
        self.made: list[Instruction] = []
        self.call = call
        self.type = call.types[0]
        self.bits = self.type.fields[0].bits if self.type.kind == "vector" else self.type.bits
        match = _ASKS.match(call.detail)
        assert match is not None
        self.operation = match[2]

    def add(self, op: str, type: Type, operands: list[Value], types: list[Type], detail: str = "") -> Value:
        self.made.append(Instruction(op, type, f"overflow{next(_serial)}", operands, types, detail=detail,
                                     location=self.call.location))
        return Local(self.made[-1].name)

    def binary(self, op: str, a: Value, b: Value) -> Value:
        return self.add(op, self.type, [a, b], [self.type] * 2)

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        return self.add("icmp", _of_bits(self.type, 1), [a, b], [self.type] * 2, predicate)

    def result(self) -> Value:
        return self.binary(self.operation, *self.call.operands)

    def overflow(self, is_signed: bool) -> Value:
        a, b = self.call.operands
        if self.operation == "mul":
            return self.product_overflows(a, b, is_signed)
        if not is_signed:
            return self.compare("ult", self.result(), a) if self.operation == "add" else self.compare("ult", a, b)
        # A sum whose sign is neither that of a nor that of b; a difference of two signs whose own is not that of a.
        result = self.result()
        others = self.binary("xor", result, b) if self.operation == "add" else self.binary("xor", a, b)
        return self.compare("slt", self.binary("and", self.binary("xor", result, a), others), Constant(0))

    def product_overflows(self, a: Value, b: Value, is_signed: bool) -> Value:
        if self.bits > _WORD_BITS:
            return self.long_product_overflows(a, b, is_signed)
        wide = _of_bits(self.type, _WORD_BITS if 2 * self.bits <= _WORD_BITS else _LONG_BITS)
        extension = "sext" if is_signed else "zext"
        factors = [self.add(extension, wide, [factor], [self.type]) for factor in (a, b)]
        product = self.add("mul", wide, factors, [wide] * 2)
        upper = self.add("trunc", self.type, [self.add("lshr", wide, [product, Constant(self.bits)], [wide] * 2)],
                         [wide])
        signs = self.binary("ashr", self.result(), Constant(self.bits - 1)) if is_signed else Constant(0)
        return self.compare("ne", upper, signs)

    def long_product_overflows(self, a: Value, b: Value, is_signed: bool) -> Value:
        """Whether a product divided by one factor, not zero, is not the other one."""
        zero = self.compare("eq", a, Constant(0))
        divisor = self.add("select", self.type, [zero, Constant(1), a], [_of_bits(self.type, 1), *[self.type] * 2])
        quotient = self.binary("sdiv" if is_signed else "udiv", self.result(), divisor)
        factor = self.add("select", self.type, [zero, Constant(0), b], [_of_bits(self.type, 1), *[self.type] * 2])
        differs = self.compare("ne", quotient, factor)
        if not is_signed:
            return differs
        # The least number times -1 is itself again, and so is the quotient.
        minus = self.compare("eq", a, Constant(-1))
        least = self.compare("eq", b, Constant(-1 << self.bits - 1))
        flag = _of_bits(self.type, 1)
        both = self.add("and", flag, [minus, least], [flag] * 2)
        return self.add("or", flag, [differs, both], [flag] * 2)
