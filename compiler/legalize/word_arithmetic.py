"""Arithmetic on integers of several words, in instructions on words."""

from ..ir.builder import Builder
from ..ir.module import Op
from ..ir.values import BOOL, WORD_BITS, Constant, Type, Value

__all__ = ["WordArithmetic", "is_wide", "word_count"]


def is_wide(type: Type) -> bool:
    """Whether ``type`` is an integer that does not fit a register."""
    return type.kind == "int" and type.bits > WORD_BITS


def word_count(type: Type) -> int:
    """Registers that an integer of ``type`` takes."""
    return -(-type.bits // WORD_BITS)


class WordArithmetic(Builder):
    """Builds what computes with lists of words."""

    # -- pieces ----------------------------------------------------------------------------------------

    @staticmethod
    def constant(value: int) -> Constant:
        """A word as the signed number that constants are."""
        value &= (1 << WORD_BITS) - 1
        return Constant(value - (1 << WORD_BITS) if value >> WORD_BITS - 1 else value)

    def intrinsic(self, name: str, *operands: Value) -> Value:
        """A call of ``llvm.NAME`` on words."""
        return self.call(f"llvm.{name}.i32", *operands)

    def routine(self, name: str, words: list[Value], results: int) -> list[Value]:
        """A call of a routine with one result or two."""
        first = self.call(name, *words)
        return [first, self.add(Op.SECOND, first)][:results]

    def is_zero(self, word: Value) -> bool:
        """Whether a value is known to be 0."""
        return word == Constant(0)

    # -- integers --------------------------------------------------------------------------------------

    def clean(self, words: list[Value], bits: int, is_signed: bool) -> list[Value]:
        """The same number with all bits of the last word as the type's sign tells."""
        spare = -bits % WORD_BITS
        if spare == 0:
            return words
        top = self.add(Op.SHL, words[-1], Constant(spare))
        return [*words[:-1], self.add(Op.ASHR if is_signed else Op.LSHR, top, Constant(spare))]

    def _carry(self, predicate: str, a: Value, b: Value) -> Value:
        return self.add(Op.ZEXT, self.icmp(predicate, a, b), types=[BOOL])

    def plus(self, x: Value, y: Value) -> Value:
        """The sum of two words, modulo 2**32."""
        return y if self.is_zero(x) else x if self.is_zero(y) else self.add(Op.ADD, x, y)

    def sum(self, a: list[Value], b: list[Value]) -> list[Value]:
        """The sum of two integers of equally many words."""
        result: list[Value] = []
        carry: Value = Constant(0)
        for number, (x, y) in enumerate(zip(a, b, strict=True)):
            part = self.plus(x, y)
            total = self.plus(part, carry)
            result.append(total)
            if number + 1 < len(a):
                carries = [] if self.is_zero(x) or self.is_zero(y) else [self._carry("ult", part, x)]
                if total not in (part, carry):
                    carries.append(self._carry("ult", total, part))
                carry = Constant(0) if not carries else carries[0] if len(carries) == 1 else self.add(Op.OR, *carries)
        return result

    def difference(self, a: list[Value], b: list[Value]) -> list[Value]:
        """The difference of two integers of equally many words."""
        result: list[Value] = []
        borrow: Value = Constant(0)
        for number, (x, y) in enumerate(zip(a, b, strict=True)):
            part = self.add(Op.SUB, x, y)
            total = part if self.is_zero(borrow) else self.add(Op.SUB, part, borrow)
            result.append(total)
            if number + 1 < len(a):
                borrows = [] if self.is_zero(y) else [self._carry("ult", x, y)]
                if total != part:
                    borrows.append(self._carry("ult", part, borrow))
                borrow = Constant(0) if not borrows else borrows[0] if len(borrows) == 1 \
                    else self.add(Op.OR, *borrows)
        return result

    def product(self, a: list[Value], b: list[Value]) -> list[Value]:
        """The lower half of the product: what the words' products add to each word of it."""
        count = len(a)
        result: list[Value] = [Constant(0)] * count
        for i, x in enumerate(a):
            for j, y in enumerate(b[:count - i]):
                if self.is_zero(x) or self.is_zero(y):
                    continue
                part: list[Value] = [Constant(0)] * count
                part[i + j] = self.add(Op.MUL, x, y)
                if i + j + 1 < count:
                    part[i + j + 1] = self.call("fgpu_high_product", x, y)
                result = self.sum(result, part)
        return result

    def either(self, a: list[Value], b: list[Value]) -> list[Value]:
        """The bitwise or of two integers of equally many words."""
        return [self.add(Op.OR, x, y) for x, y in zip(a, b, strict=True)]

    def choose(self, condition: Value, then: list[Value], other: list[Value]) -> list[Value]:
        """One of two integers, by a condition."""
        return [self.select(condition, x, y) if x != y else x
                for x, y in zip(then, other, strict=True)]

    def compare(self, predicate: str, a: list[Value], b: list[Value]) -> Value:
        """A condition; the last words must be clean."""
        if predicate in ("eq", "ne"):
            parts = [x if self.is_zero(y) else self.add(Op.XOR, x, y) for x, y in zip(a, b, strict=True)]
            while len(parts) > 1:
                parts[:2] = [self.add(Op.OR, *parts[:2])]
            return self.icmp(predicate, parts[0], Constant(0))
        ends = {"lt": [Constant(0)], "ge": [Constant(0)], "le": [Constant(-1)], "gt": [Constant(-1)]}[predicate[1:]]
        if b[:-1] == ends * (len(b) - 1):           # the lower words cannot make the difference
            return self.icmp(predicate, a[-1], b[-1])
        result: Value = Constant(0)
        for number, (x, y) in enumerate(zip(a, b, strict=True)):
            sign = predicate[0] if number + 1 == len(a) else "u"
            strict = sign + (predicate[1:] if number == 0 else predicate[1] + "t")
            test = self.icmp(strict, x, y)
            if number:
                equal = self.icmp("eq", x, y)
                test = self.select(equal, result, test, BOOL)
            result = test
        return result

    # -- shifts ----------------------------------------------------------------------------------------

    def shifted_by(self, op: Op, words: list[Value], amount: int) -> list[Value]:
        """A shift by a constant less than all bits."""
        skip, bits = divmod(amount, WORD_BITS)
        fill = self.add(Op.ASHR, words[-1], Constant(WORD_BITS - 1)) if op is Op.ASHR and amount else Constant(0)
        result: list[Value] = []
        for number in range(len(words)):
            if op is Op.SHL:
                upper, lower = self._at(words, number - skip, fill), self._at(words, number - skip - 1, fill)
                result.append(self._funnel("fshl", upper, lower, bits))
            else:
                upper, lower = self._at(words, number + skip + 1, fill), self._at(words, number + skip, fill)
                if op is Op.ASHR and bits and number + skip == len(words) - 1:
                    result.append(self.add(Op.ASHR, lower, Constant(bits)))
                else:
                    result.append(self._funnel("fshr", upper, lower, bits))
        return result

    @staticmethod
    def _at(words: list[Value], number: int, fill: Value) -> Value:
        return words[number] if 0 <= number < len(words) else Constant(0) if number < 0 else fill

    def _funnel(self, name: str, upper: Value, lower: Value, bits: int) -> Value:
        stays = upper if name == "fshl" else lower
        other = lower if name == "fshl" else upper
        if bits == 0:
            return stays
        if self.is_zero(other):
            return self.add(Op.SHL if name == "fshl" else Op.LSHR, stays, Constant(bits))
        return self.intrinsic(name, upper, lower, Constant(bits))

    def shifted(self, op: Op, words: list[Value], amount: Value) -> list[Value]:
        """A shift of two words by less than all bits. The machine's shifts look at five bits of the amount."""
        low, high = words
        far = self.add(Op.AND, amount, Constant(WORD_BITS))
        is_far = self.icmp("ne", far, Constant(0))
        if op is Op.SHL:
            moved = self.add(Op.SHL, low, amount)
            return self.choose(is_far, [Constant(0), moved], [moved, self._funnel_by("fshl", high, low, amount)])
        moved = self.add(op, high, amount)
        fill = self.add(Op.ASHR, high, Constant(WORD_BITS - 1)) if op is Op.ASHR else Constant(0)
        return self.choose(is_far, [moved, fill], [self._funnel_by("fshr", high, low, amount), moved])

    def _funnel_by(self, name: str, upper: Value, lower: Value, amount: Value) -> Value:
        if self.is_zero(lower if name == "fshl" else upper):
            return self.add(Op.SHL if name == "fshl" else Op.LSHR, upper if name == "fshl" else lower, amount)
        return self.intrinsic(name, upper, lower, amount)

    def divided_by_power(self, words: list[Value], bits: int) -> list[Value]:
        """A signed integer of two words divided by a power of two, rounded towards zero."""
        sign = self.add(Op.ASHR, words[-1], Constant(WORD_BITS - 1))
        rounding = self.shifted_by(Op.LSHR, [sign] * len(words), len(words) * WORD_BITS - bits)
        return self.shifted_by(Op.ASHR, self.sum(words, rounding), bits)

    def count(self, kind: str, words: list[Value], bits: int) -> Value:
        """ctpop, ctlz or cttz of two clean words that hold an integer of ``bits`` bits."""
        low, high = words
        if kind == "ctpop":
            return self.add(Op.ADD, self.intrinsic(kind, low), self.intrinsic(kind, high))
        first, then = (high, low) if kind == "ctlz" else (low, high)
        is_zero = self.icmp("eq", first, Constant(0))
        further = self.add(Op.ADD, self.intrinsic(kind, then), Constant(WORD_BITS))
        result = self.select(is_zero, further, self.intrinsic(kind, first))
        spare = -bits % WORD_BITS if kind == "ctlz" else 0
        return self.add(Op.SUB, result, Constant(spare)) if spare else result
