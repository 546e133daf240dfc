"""Floats as integers of as many bits; binary32 then as instructions where the hardware has them, or as routines.

Results are those of IEEE 754 binary32 to the bit: each operation rounded to nearest even, subnormals in full,
every NaN 0x7FC00000. Conversions to integers truncate; out of range they give the nearest integer of the type, and
zero for a NaN.
"""

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, replace

from ..ir.builder import Builder, rewrite
from ..ir.module import Function, Instruction, Op
from ..ir.values import BOOL, WORD, Constant, Local, Type, Value, integer
from ..runtime_library.routines import PREFIX

__all__ = ["COMPARISONS", "expand_floats", "floats_as_words"]

_NAMES = ("half", "float", "double")
_SIGN = -1 << 31
_FLOAT_BITS = 32
_ARITHMETIC = {Op.FADD: "add", Op.FDIV: "div"}
_COMMUTATIVE = (f"{PREFIX}float_add", f"{PREFIX}float_mul")
COMPARISONS = {
    # For each predicate the routine, whether its operands are swapped, and whether its result is negated.
    "oeq": ("equal", False, False), "une": ("equal", False, True),
    "olt": ("less", False, False), "uge": ("less", False, True),
    "ogt": ("less", True, False), "ule": ("less", True, True),
    "ole": ("less_or_equal", False, False), "ugt": ("less_or_equal", False, True),
    "oge": ("less_or_equal", True, False), "ult": ("less_or_equal", True, True),
    "one": ("less_or_greater", False, False), "ueq": ("less_or_greater", False, True),
    "uno": ("unordered", False, False), "ord": ("unordered", False, True),
}
_OF_NUMBERS = {"less_or_equal": ("less", True, True), "less_or_greater": ("equal", False, True)}
"""What does where there are no NaN."""
_INFINITY = 0x7F80_0000
_LEAST_NORMAL = 0x0080_0000
_SIGN_BIT = 1 << 31
_BIAS = 127
_SCALE_LIMIT = 64
"""Powers of two that have a routine for products with them have an exponent that is less, without its sign."""


def floats_as_words(function: Function) -> None:
    """Let all numbers of type float be integers of 32 bits, doubles of 64 and halves of 16; the operations on them
    keep their names."""
    function.result = _integer_type(function.result)
    function.parameters = [(name, _integer_type(type)) for name, type in function.parameters]
    for instruction in function.instructions():
        instruction.types = [_integer_type(type) for type in instruction.types]
        instruction.type = _integer_type(instruction.type)
        instruction.source = _integer_type(instruction.source)


def _integer_type(type: Type) -> Type:
    if type.kind == "float":
        return integer(type.bits) if type.text in _NAMES else type
    if type.fields:
        return replace(type, fields=tuple(_integer_type(field) for field in type.fields))
    return type


def expand_floats(function: Function, hard: Set[str], subnormals: bool = True) -> None:
    """Rewrite the operations on floats that are not in ``hard`` as integer operations and calls of routines.

    Without ``subnormals``, those in ``hard`` take them for zeros; the routines never do.
    """
    flow = function.flow()
    depths = {parameter: 0 for parameter, _ in function.parameters}
    depths |= {i.name: flow.depth.get(name, 0) for name, block in function.blocks.items() for i in block.instructions}
    outside_of = {around: {local for local, depth in depths.items() if depth < around}
                  for around in {flow.depth.get(name, 0) for name in function.blocks}}
    outside = {i: outside_of[flow.depth.get(name, 0)] for name, block in function.blocks.items()
               for i in block.instructions}
    rewrite(function, lambda builder, old: _Expansion(builder, old, hard, subnormals, outside[old]).run())
    for block in function.blocks.values():
        _leave_results_in_place(block.instructions)


def _leave_results_in_place(instructions: Iterable[Instruction]) -> None:
    """Let sums and products take what was just returned as their first argument, which has the same register."""
    returned: Value | None = None
    for call in instructions:
        if call.op is not Op.CALL:
            continue
        if call.callee in _COMMUTATIVE and call.operands[1] == returned:
            call.operands.reverse()
        returned = Local(call.name)


def _number(value: Value) -> int | None:
    """The word of a constant that is no NaN."""
    if not isinstance(value, Constant) or value.value is None or value.lanes:
        return None
    word = value.value % (1 << _FLOAT_BITS)
    return word if word & ~_SIGN_BIT <= _INFINITY else None


@dataclass
class _Expansion:
    """What one instruction becomes."""

    builder: Builder
    old: Instruction
    hard: Set[str]
    subnormals: bool
    outside: Set[str]
    """What is computed before the loop that the instruction is in."""

    def run(self) -> Value | None:
        old = self.old
        name = f"call_{old.callee.split('.')[1]}" if old.callee.startswith("llvm.") else f"on_{old.op}"
        handler: Callable[[], Value | None] | None = getattr(self, name, None)
        wide = any(type.kind in ("int", "float") and type.bits > _FLOAT_BITS for type in (*old.types, old.type))
        return handler() if handler is not None and not wide else None

    # -- pieces ------------------------------------------------------------------------------------------

    def add(self, op: Op, a: Value, b: Value, type: Type = WORD) -> Value:
        return self.builder.add(op, a, b, type=type)

    def convert(self, op: Op, value: Value, source: Type, type: Type) -> Value:
        return self.builder.convert(op, value, source, type)

    def call(self, name: str, *arguments: Value) -> Value:
        return self.builder.call(f"{PREFIX}float_{name}", *arguments)

    def hardware(self, op: Op, *arguments: Value) -> Value:
        return self.builder.add(op, *arguments)

    # -- instructions ------------------------------------------------------------------------------------

    def arithmetic(self) -> Value | None:
        op = self.old.op
        return None if op in self.hard else self.call(_ARITHMETIC[op], *self.old.operands)

    on_fadd = on_fdiv = arithmetic

    def on_fmul(self) -> Value | None:
        a, b = self.old.operands
        return None if "fmul" in self.hard else self.product(a, b)

    def product(self, a: Value, b: Value) -> Value:
        """Without hardware; squares and powers of two take less."""
        if a == b:
            return self.call("square", a)
        word = _number(b) or 0
        power = word // _LEAST_NORMAL - _BIAS
        if word % _LEAST_NORMAL == 0 and abs(power) < _SCALE_LIMIT:
            return self.call("scale", a, Constant(power))
        return self.call("mul", a, b)

    def on_fsub(self) -> Value | None:
        if "fsub" in self.hard:
            return None
        a, b = self.old.operands
        negated = self.add(Op.XOR, b, Constant(_SIGN))
        return self.hardware(Op.FADD, a, negated) if "fadd" in self.hard else self.call("add", a, negated)

    def on_fneg(self) -> Value:
        return self.add(Op.XOR, self.old.operands[0], Constant(_SIGN))

    def on_fcmp(self) -> Value | None:
        predicate, (a, b) = self.old.predicate, self.old.operands
        if predicate in ("true", "false"):
            return self.add(Op.OR, Constant(int(predicate == "true")), Constant(0), BOOL)
        name, is_swapped, is_negated = COMPARISONS[predicate]
        if self.old.no_nans:
            name, others, negates = _OF_NUMBERS.get(name, (name, False, False))
            is_swapped, is_negated = is_swapped ^ others, is_negated ^ negates
        if is_swapped:
            a, b = b, a
        if name == "equal" and (self.subnormals or "fslt" not in self.hard):
            result = self.equality(a, b)
        elif "fslt" in self.hard:
            result, is_complement = self.hard_comparison(name, a, b)
            is_negated ^= is_complement
        else:
            result = self.call(self.routine(name, a, b), a, b)
        result = self.convert(Op.TRUNC, result, WORD, BOOL)
        return self.add(Op.XOR, result, Constant(1), BOOL) if is_negated else result

    def routine(self, name: str, a: Value, b: Value) -> str:
        """The better of two for a comparison: one takes more a number, but once for what stays the same.

        With zero the other one has hardly anything left to do.
        """
        if name in ("less", "less_or_equal") and (self.is_fixed(a) or self.is_fixed(b)):
            return f"{name}_in_rank"
        return f"{name}_of_numbers" if name == "less" and self.old.no_nans else name

    def is_fixed(self, value: Value) -> bool:
        if isinstance(value, Local):
            return value.name in self.outside
        return (_number(value) or 0) & ~_SIGN_BIT != 0

    def equality(self, a: Value, b: Value) -> Value:
        """As integers it takes less than with comparisons, least with a constant."""
        word = _number(b)
        if word is None:
            return self.call("equal", a, b)
        if word & ~_SIGN_BIT == 0:
            a, b = self.add(Op.SHL, a, Constant(1)), Constant(0)
        return self.convert(Op.ZEXT, self.builder.icmp("eq", a, b), BOOL, WORD)

    def hard_comparison(self, name: str, a: Value, b: Value) -> tuple[Value, bool]:
        """A comparison, or its complement (then the second is true), by the one comparison that hardware has."""
        if name == "unordered":
            return self.call(name, a, b), False
        if name == "less":
            return self.hardware(Op.FSLT, a, b), False
        if name == "less_or_equal" and (bounds := self.strict_bounds(a, b)) is not None:
            return self.hardware(Op.FSLT, *bounds), False
        result = self.hardware(Op.FSLT, b, a)
        if name != "less_or_equal":
            result = self.add(Op.OR, result, self.hardware(Op.FSLT, a, b))
        if name == "less_or_greater":
            return result, False
        return self.add(Op.OR, result, self.call("unordered", a, b)), True

    def strict_bounds(self, a: Value, b: Value) -> tuple[Value, Value] | None:
        """What is less than the other exactly if ``a <= b``, which a constant's neighbour is."""
        word = _number(b)
        if word is not None and word != _INFINITY:
            return a, Constant(self.number_above(word))
        word = _number(a)
        if word is not None and word != _INFINITY | _SIGN_BIT:
            return Constant(self.number_above(word ^ _SIGN_BIT) ^ _SIGN_BIT), b
        return None

    def number_above(self, word: int) -> int:
        least = 1 if self.subnormals else _LEAST_NORMAL
        if word & ~_SIGN_BIT < least:
            return least
        return word - 1 if word & _SIGN_BIT else word + 1

    def on_uitofp(self) -> Value:
        value = self.convert(Op.ZEXT, self.old.operands[0], self.old.types[0], WORD)
        if "uitofp" in self.hard:
            return self.hardware(Op.UITOFP, value)
        if "itofp" in self.hard and self.old.types[0].bits < WORD.bits:
            return self.hardware(Op.ITOFP, value)
        return self.call(self.from_uint(), value)

    def from_uint(self) -> str:
        """The routine for unsigned integers of so many bits as are converted."""
        bits = self.old.types[0].bits
        return "from_uint" + ("8" if bits <= 8 else "16" if bits <= 16 else "")

    def on_sitofp(self) -> Value:
        value = self.convert(Op.SEXT, self.old.operands[0], self.old.types[0], WORD)
        if "itofp" in self.hard:
            return self.hardware(Op.ITOFP, value)
        if "uitofp" not in self.hard and self.from_uint() == "from_uint":
            return self.call("from_int", value)
        sign = self.add(Op.ASHR, value, Constant(WORD.bits - 1))
        magnitude = self.add(Op.SUB, self.add(Op.XOR, value, sign), sign)
        absolute = self.hardware(Op.UITOFP, magnitude) if "uitofp" in self.hard \
            else self.call(self.from_uint(), magnitude)
        return self.add(Op.OR, absolute, self.add(Op.AND, value, Constant(_SIGN)))

    def to_integer(self, is_signed: bool) -> Value:
        """Truncation to any width; out of range, the nearest number there is."""
        bits = self.old.type.bits
        lowest, highest = (-1 << (bits - 1), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
        # What is smaller than a word is between the bounds of a signed one.
        is_signed |= bits < WORD.bits and "fptosi" in self.hard and "fptoui" not in self.hard
        operation, routine = (Op.FPTOSI, "to_int") if is_signed else (Op.FPTOUI, "to_uint")
        operand = self.old.operands[0]
        result = self.hardware(operation, operand) if operation in self.hard else self.call(routine, operand)
        if bits == WORD.bits:
            return result
        prefix = "llvm.s" if is_signed else "llvm.u"
        result = self.bound(f"{prefix}min.i32", result, highest)
        if is_signed:
            result = self.bound(f"{prefix}max.i32", result, lowest)
        return self.convert(Op.TRUNC, result, WORD, self.old.type)

    def bound(self, intrinsic: str, value: Value, limit: int) -> Value:
        return self.builder.call(intrinsic, value, Constant(limit))

    def on_fptosi(self) -> Value:
        return self.to_integer(is_signed=True)

    def on_fptoui(self) -> Value:
        return self.to_integer(is_signed=False)

    # -- intrinsics --------------------------------------------------------------------------------------

    def call_fabs(self) -> Value:
        return self.add(Op.AND, self.old.operands[0], Constant(~_SIGN))

    def call_copysign(self) -> Value:
        magnitude, sign = self.old.operands
        return self.add(Op.OR, self.add(Op.AND, magnitude, Constant(~_SIGN)), self.add(Op.AND, sign, Constant(_SIGN)))

    def call_sqrt(self) -> Value:
        operand = self.old.operands[0]
        return self.hardware(Op.FSQRT, operand) if "fsqrt" in self.hard else self.call("sqrt", operand)

    def call_fmuladd(self) -> Value:
        """Product and sum, each rounded: what the program would compute without the contraction."""
        a, b, c = self.old.operands
        product = self.hardware(Op.FMUL, a, b) if "fmul" in self.hard else self.product(a, b)
        return self.hardware(Op.FADD, product, c) if "fadd" in self.hard else self.call("add", product, c)

    def rounded(self) -> Value:
        """The number itself, rounded to an integer."""
        name = self.old.callee.split(".")[1]
        return self.call({"roundeven": "rint", "nearbyint": "rint"}.get(name, name), *self.old.operands)

    call_trunc = call_floor = call_ceil = call_round = call_rint = call_roundeven = call_nearbyint = rounded

    def call_fma(self) -> Value:
        return self.call("fma", *self.old.operands)

    def call_minnum(self) -> Value:
        return self.call("min", *self.old.operands)

    def call_maxnum(self) -> Value:
        return self.call("max", *self.old.operands)

    call_minimumnum, call_maximumnum = call_minnum, call_maxnum
