"""Arithmetic on integers of several words, in instructions on words."""

import itertools

from ..ir.module import Constant, Instruction, Local, Type, Value, integer

__all__ = ["WORD", "WORD_BITS", "WordArithmetic", "is_wide", "word_count"]

WORD_BITS = 32
WORD = integer(WORD_BITS)
_BOOL = integer(1)
_serial = itertools.count()


def is_wide(type: Type) -> bool:
    """Whether ``type`` is an integer that does not fit a register."""
    return type.kind == "int" and type.bits > WORD_BITS


def word_count(type: Type) -> int:
    """Registers that an integer of ``type`` takes."""
    return -(-type.bits // WORD_BITS)


class WordArithmetic:
    """Appends to ``made``; ``like`` is the instruction that is rewritten."""

    def __init__(self) -> None:
        self.made: list[Instruction] = []
        self.like = Instruction("")

    # -- pieces ----------------------------------------------------------------------------------------

    @staticmethod
    def constant(value: int) -> Constant:
        """A word as the signed number that constants are."""
        value &= (1 << WORD_BITS) - 1
        return Constant(value - (1 << WORD_BITS) if value >> WORD_BITS - 1 else value)

    def name(self) -> str:
        return f"{self.like.name or self.like.op}.wide{next(_serial)}"

    def add(self, op: str, *operands: Value, type: Type = WORD, types: list[Type] | None = None,
            detail: str = "") -> Value:
        """Append an instruction, on words unless ``types`` says otherwise."""
        self.made.append(Instruction(op, type, self.name(), list(operands), types or [WORD] * len(operands),
                                     detail=detail, location=self.like.location))
        return Local(self.made[-1].name)

    def intrinsic(self, name: str, *operands: Value) -> Value:
        return self.add("call", *operands, detail=f"llvm.{name}.i32")

    def routine(self, name: str, words: list[Value], results: int) -> list[Value]:
        """A call of a routine with one result or two."""
        first = self.add("call", *words, detail=name)
        return [first, self.second(first)][:results]

    def second(self, call: Value) -> Value:
        """The second result of a call."""
        return self.add("second", call)

    def is_zero(self, word: Value) -> bool:
        return word == Constant(0)

    # -- integers --------------------------------------------------------------------------------------

    def clean(self, words: list[Value], bits: int, is_signed: bool) -> list[Value]:
        """The same number with all bits of the last word as the type's sign tells."""
        spare = -bits % WORD_BITS
        if spare == 0:
            return words
        top = self.add("shl", words[-1], Constant(spare))
        return [*words[:-1], self.add("ashr" if is_signed else "lshr", top, Constant(spare))]

    def _carry(self, predicate: str, a: Value, b: Value) -> Value:
        test = self.add("icmp", a, b, type=_BOOL, types=[WORD, WORD], detail=predicate)
        return self.add("zext", test, types=[_BOOL])

    def plus(self, x: Value, y: Value) -> Value:
        return y if self.is_zero(x) else x if self.is_zero(y) else self.add("add", x, y)

    def sum(self, a: list[Value], b: list[Value]) -> list[Value]:
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
                carry = Constant(0) if not carries else carries[0] if len(carries) == 1 else self.add("or", *carries)
        return result

    def difference(self, a: list[Value], b: list[Value]) -> list[Value]:
        result: list[Value] = []
        borrow: Value = Constant(0)
        for number, (x, y) in enumerate(zip(a, b, strict=True)):
            part = self.add("sub", x, y)
            total = part if self.is_zero(borrow) else self.add("sub", part, borrow)
            result.append(total)
            if number + 1 < len(a):
                borrows = [] if self.is_zero(y) else [self._carry("ult", x, y)]
                if total != part:
                    borrows.append(self._carry("ult", part, borrow))
                borrow = Constant(0) if not borrows else borrows[0] if len(borrows) == 1 \
                    else self.add("or", *borrows)
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
                part[i + j] = self.add("mul", x, y)
                if i + j + 1 < count:
                    part[i + j + 1] = self.add("call", x, y, detail="fgpu_high_product")
                result = self.sum(result, part)
        return result

    def either(self, a: list[Value], b: list[Value]) -> list[Value]:
        return [self.add("or", x, y) for x, y in zip(a, b, strict=True)]

    def choose(self, condition: Value, then: list[Value], other: list[Value]) -> list[Value]:
        return [self.add("select", condition, x, y, types=[_BOOL, WORD, WORD]) if x != y else x
                for x, y in zip(then, other, strict=True)]

    def compare(self, predicate: str, a: list[Value], b: list[Value]) -> Value:
        """A condition; the last words must be clean."""
        if predicate in ("eq", "ne"):
            parts = [x if self.is_zero(y) else self.add("xor", x, y) for x, y in zip(a, b, strict=True)]
            while len(parts) > 1:
                parts[:2] = [self.add("or", *parts[:2])]
            return self.add("icmp", parts[0], Constant(0), type=_BOOL, types=[WORD, WORD], detail=predicate)
        ends = {"lt": [Constant(0)], "ge": [Constant(0)], "le": [Constant(-1)], "gt": [Constant(-1)]}[predicate[1:]]
        if b[:-1] == ends * (len(b) - 1):           # the lower words cannot make the difference
            return self.add("icmp", a[-1], b[-1], type=_BOOL, types=[WORD, WORD], detail=predicate)
        result: Value = Constant(0)
        for number, (x, y) in enumerate(zip(a, b, strict=True)):
            sign = predicate[0] if number + 1 == len(a) else "u"
            strict = sign + (predicate[1:] if number == 0 else predicate[1] + "t")
            test = self.add("icmp", x, y, type=_BOOL, types=[WORD, WORD], detail=strict)
            if number:
                equal = self.add("icmp", x, y, type=_BOOL, types=[WORD, WORD], detail="eq")
                test = self.add("select", equal, result, test, type=_BOOL, types=[_BOOL] * 3)
            result = test
        return result

    # -- shifts ----------------------------------------------------------------------------------------

    def shifted_by(self, op: str, words: list[Value], amount: int) -> list[Value]:
        """A shift by a constant less than all bits."""
        skip, bits = divmod(amount, WORD_BITS)
        fill = self.add("ashr", words[-1], Constant(WORD_BITS - 1)) if op == "ashr" and amount else Constant(0)
        result: list[Value] = []
        for number in range(len(words)):
            if op == "shl":
                upper, lower = self._at(words, number - skip, fill), self._at(words, number - skip - 1, fill)
                result.append(self._funnel("fshl", upper, lower, bits))
            else:
                upper, lower = self._at(words, number + skip + 1, fill), self._at(words, number + skip, fill)
                if op == "ashr" and bits and number + skip == len(words) - 1:
                    result.append(self.add("ashr", lower, Constant(bits)))
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
            return self.add("shl" if name == "fshl" else "lshr", stays, Constant(bits))
        return self.intrinsic(name, upper, lower, Constant(bits))

    def shifted(self, op: str, words: list[Value], amount: Value) -> list[Value]:
        """A shift of two words by less than all bits. The machine's shifts look at five bits of the amount."""
        low, high = words
        far = self.add("and", amount, Constant(WORD_BITS))
        is_far = self.add("icmp", far, Constant(0), type=_BOOL, types=[WORD, WORD], detail="ne")
        if op == "shl":
            moved = self.add("shl", low, amount)
            return self.choose(is_far, [Constant(0), moved], [moved, self._funnel_by("fshl", high, low, amount)])
        moved = self.add(op, high, amount)
        fill = self.add("ashr", high, Constant(WORD_BITS - 1)) if op == "ashr" else Constant(0)
        return self.choose(is_far, [moved, fill], [self._funnel_by("fshr", high, low, amount), moved])

    def _funnel_by(self, name: str, upper: Value, lower: Value, amount: Value) -> Value:
        if self.is_zero(lower if name == "fshl" else upper):
            return self.add("shl" if name == "fshl" else "lshr", upper if name == "fshl" else lower, amount)
        return self.intrinsic(name, upper, lower, amount)

    def divided_by_power(self, words: list[Value], bits: int) -> list[Value]:
        """A signed integer of two words divided by a power of two, rounded towards zero."""
        sign = self.add("ashr", words[-1], Constant(WORD_BITS - 1))
        rounding = self.shifted_by("lshr", [sign] * len(words), len(words) * WORD_BITS - bits)
        return self.shifted_by("ashr", self.sum(words, rounding), bits)

    def count(self, kind: str, words: list[Value], bits: int) -> Value:
        """ctpop, ctlz or cttz of two clean words that hold an integer of ``bits`` bits."""
        low, high = words
        if kind == "ctpop":
            return self.add("add", self.intrinsic(kind, low), self.intrinsic(kind, high))
        first, then = (high, low) if kind == "ctlz" else (low, high)
        is_zero = self.add("icmp", first, Constant(0), type=_BOOL, types=[WORD, WORD], detail="eq")
        further = self.add("add", self.intrinsic(kind, then), Constant(WORD_BITS))
        result = self.add("select", is_zero, further, self.intrinsic(kind, first), types=[_BOOL, WORD, WORD])
        spare = -bits % WORD_BITS if kind == "ctlz" else 0
        return self.add("sub", result, Constant(spare)) if spare else result
