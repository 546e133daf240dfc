"""Sums, differences and products of which a program asks whether they overflow.

clang makes them of comparisons such as ``mul_hi(a, b) != 0`` or ``a && a * b / a != b``, too.
"""

import re

from ..ir.builder import Builder, rewrite
from ..ir.module import Function, Instruction, Op
from ..ir.values import WORD_BITS, Constant, Local, Value, integers_like

__all__ = ["expand_overflow"]

_ASKS = re.compile(r"llvm\.([us])(add|sub|mul)\.with\.overflow\.")
_LONG_BITS = 64


def expand_overflow(function: Function) -> None:
    """Replace what is taken of the results, the value or whether it overflows, by simple operations."""
    asked = {i.name: i for i in function.instructions() if _ASKS.match(i.callee)}

    def expand(builder: Builder, i: Instruction) -> Value | None:
        source = i.operands[0]
        call = asked.get(source.name) if isinstance(source, Local) else None
        if call is None:
            return None
        match = _ASKS.match(call.callee)
        assert match is not None
        steps = _Steps(builder, call, match[2])
        return steps.result() if i.index == 0 else steps.overflow(is_signed=match[1] == "s")

    rewrite(function, expand, lambda i: i.op is Op.EXTRACTVALUE)
    for block in function.blocks.values():
        block.instructions = [i for i in block.instructions if i.name not in asked]


class _Steps:
    """The operations that answer one question about ``call``, the last of which has the answer."""

    def __init__(self, builder: Builder, call: Instruction, operation: str) -> None:
        self.builder = builder
        self.call = call
        self.type = call.types[0]
        self.bits = self.type.fields[0].bits if self.type.kind == "vector" else self.type.bits
        self.operation = Op(operation)
        self.flag = integers_like(self.type, 1)
        builder.start(call)

    def binary(self, op: Op, a: Value, b: Value) -> Value:
        return self.builder.add(op, a, b, type=self.type)

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        return self.builder.icmp(predicate, a, b, self.type, self.flag)

    def result(self) -> Value:
        return self.binary(self.operation, *self.call.operands)

    def overflow(self, is_signed: bool) -> Value:
        a, b = self.call.operands
        if self.operation is Op.MUL:
            return self.product_overflows(a, b, is_signed)
        if not is_signed:
            return self.compare("ult", self.result(), a) if self.operation is Op.ADD else self.compare("ult", a, b)
        # A sum whose sign is neither that of a nor that of b; a difference of two signs whose own is not that of a.
        result = self.result()
        others = self.binary(Op.XOR, result, b) if self.operation is Op.ADD else self.binary(Op.XOR, a, b)
        return self.compare("slt", self.binary(Op.AND, self.binary(Op.XOR, result, a), others), Constant(0))

    def product_overflows(self, a: Value, b: Value, is_signed: bool) -> Value:
        if self.bits > WORD_BITS:
            return self.long_product_overflows(a, b, is_signed)
        wide = integers_like(self.type, WORD_BITS if 2 * self.bits <= WORD_BITS else _LONG_BITS)
        add = self.builder.add
        factors = [add(Op.SEXT if is_signed else Op.ZEXT, factor, type=wide, types=[self.type]) for factor in (a, b)]
        product = add(Op.MUL, *factors, type=wide)
        upper = add(Op.TRUNC, add(Op.LSHR, product, Constant(self.bits), type=wide), type=self.type, types=[wide])
        signs = self.binary(Op.ASHR, self.result(), Constant(self.bits - 1)) if is_signed else Constant(0)
        return self.compare("ne", upper, signs)

    def long_product_overflows(self, a: Value, b: Value, is_signed: bool) -> Value:
        """Whether a product divided by one factor, not zero, is not the other one."""
        zero = self.compare("eq", a, Constant(0))
        divisor = self.builder.select(zero, Constant(1), a, self.type, self.flag)
        quotient = self.binary(Op.SDIV if is_signed else Op.UDIV, self.result(), divisor)
        factor = self.builder.select(zero, Constant(0), b, self.type, self.flag)
        differs = self.compare("ne", quotient, factor)
        if not is_signed:
            return differs
        # The least number times -1 is itself again, and so is the quotient.
        minus = self.compare("eq", a, Constant(-1))
        least = self.compare("eq", b, Constant(-1 << self.bits - 1))
        both = self.builder.add(Op.AND, minus, least, type=self.flag)
        return self.builder.add(Op.OR, differs, both, type=self.flag)
