"""Numbers of type double, which are integers of 64 bits by now: calls of routines, with the results of binary64 to
the bit. Each operation is rounded to nearest even, and every NaN is 0x7FF8000000000000."""

from ..ir.builder import Builder, rewrite
from ..ir.module import Function, Instruction, Op
from ..ir.values import BOOL, WORD, Constant, Type, Value, integer
from ..runtime_library.routines import PREFIX
from .floats import COMPARISONS
from .narrow import extended

__all__ = ["expand_doubles"]

_LONG = integer(64)
_HALF_BITS = 16
_SIGN = -1 << 63
_ARITHMETIC = {Op.FADD: "add", Op.FMUL: "mul", Op.FDIV: "div"}
_CALLS = {"sqrt": "sqrt", "fma": "fma", "trunc": "trunc", "floor": "floor", "ceil": "ceil", "round": "round",
          "rint": "rint", "roundeven": "rint", "nearbyint": "rint", "minnum": "min", "maxnum": "max",
          "minimumnum": "min", "maximumnum": "max"}


def expand_doubles(function: Function) -> None:
    """Rewrite the operations on doubles as integer operations and calls of routines."""
    rewrite(function, lambda builder, old: _Expansion(builder, old).run(),
            lambda i: _LONG in (i.type, *i.types) and (i.op in _HANDLERS or i.callee.startswith("llvm.")))


class _Expansion:
    """What one instruction becomes."""

    def __init__(self, builder: Builder, old: Instruction) -> None:
        self.builder = builder
        self.old = old

    def run(self) -> Value | None:
        old = self.old
        if old.op is not Op.CALL:
            return _HANDLERS[old.op](self)
        name = old.callee.split(".")[1]
        if name in _CALLS:
            return self.call(_CALLS[name], *old.operands)
        handler = _INTRINSICS.get(name)
        return None if handler is None else handler(self)

    # -- pieces ------------------------------------------------------------------------------------------

    def add(self, op: Op, a: Value, b: Value) -> Value:
        return self.builder.add(op, a, b, type=_LONG)

    def call(self, name: str, *arguments: Value, type: Type = _LONG, of: Type = _LONG) -> Value:
        return self.builder.call(f"{PREFIX}double_{name}", *arguments, type=type, types=[of] * len(arguments))

    # -- instructions ------------------------------------------------------------------------------------

    def arithmetic(self) -> Value:
        return self.call(_ARITHMETIC[self.old.op], *self.old.operands)

    def fsub(self) -> Value:
        a, b = self.old.operands
        return self.call("add", a, self.add(Op.XOR, b, Constant(_SIGN)))

    def fneg(self) -> Value:
        return self.add(Op.XOR, self.old.operands[0], Constant(_SIGN))

    def fcmp(self) -> Value:
        predicate, (a, b) = self.old.predicate, self.old.operands
        if predicate in ("true", "false"):
            return self.builder.add(Op.OR, Constant(int(predicate == "true")), Constant(0), type=BOOL)
        name, is_swapped, is_negated = COMPARISONS[predicate]
        result = self.call(name, *((b, a) if is_swapped else (a, b)), type=WORD)
        result = self.builder.convert(Op.TRUNC, result, WORD, BOOL)
        return self.builder.add(Op.XOR, result, Constant(1), type=BOOL) if is_negated else result

    def from_integer(self) -> Value | None:
        """Exact from words; from what is longer, rounded."""
        source, is_signed = self.old.types[0], self.old.op is Op.SITOFP
        if self.old.type != _LONG or source.bits > _LONG.bits:
            return None             # the number is a float
        wide = source.bits > WORD.bits
        value = self.builder.convert(Op.SEXT if is_signed else Op.ZEXT, self.old.operands[0], source,
                                     _LONG if wide else WORD)
        name = f"from_{'' if is_signed else 'u'}{'long' if wide else 'int'}"
        return self.call(name, value, of=_LONG if wide else WORD)

    def to_integer(self) -> Value | None:
        """Truncation to any width; out of range, the nearest number there is."""
        if self.old.types[0] != _LONG:
            return None
        bits, is_signed, b = self.old.type.bits, self.old.op is Op.FPTOSI, self.builder
        type = _LONG if bits > WORD.bits else WORD
        sign = "s" if is_signed else "u"
        result = self.call(f"to_{'' if is_signed else 'u'}{'long' if type == _LONG else 'int'}", *self.old.operands,
                           type=type)
        if bits == type.bits:
            return result
        lowest, highest = (-1 << (bits - 1), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
        for name, limit in (("min", highest), *([("max", lowest)] if is_signed else [])):
            result = b.call(f"llvm.{sign}{name}.i{type.bits}", result, Constant(limit), type=type, types=[type] * 2)
        return b.convert(Op.TRUNC, result, type, self.old.type)

    def fpext(self) -> Value:
        value, b = self.old.operands[0], self.builder
        if self.old.types[0].bits == _HALF_BITS:
            value = b.call(f"{PREFIX}half_to_float", extended(b, value, self.old.types[0], is_signed=False))
        return self.call("from_float", value, of=WORD)

    def fptrunc(self) -> Value:
        """Rounded once, to halves, too."""
        if self.old.type == WORD:
            return self.call("to_float", *self.old.operands, type=WORD)
        result = self.call("to_half", *self.old.operands, type=WORD)
        return self.builder.convert(Op.TRUNC, result, WORD, self.old.type)

    # -- intrinsics --------------------------------------------------------------------------------------

    def fabs(self) -> Value:
        return self.add(Op.AND, self.old.operands[0], Constant(~_SIGN))

    def copysign(self) -> Value:
        magnitude, sign = self.old.operands
        return self.add(Op.OR, self.add(Op.AND, magnitude, Constant(~_SIGN)), self.add(Op.AND, sign, Constant(_SIGN)))

    def fmuladd(self) -> Value:
        """Product and sum, each rounded."""
        a, b, c = self.old.operands
        return self.call("add", self.call("mul", a, b), c)


_HANDLERS = {
    Op.FADD: _Expansion.arithmetic, Op.FMUL: _Expansion.arithmetic, Op.FDIV: _Expansion.arithmetic,
    Op.FSUB: _Expansion.fsub, Op.FNEG: _Expansion.fneg, Op.FCMP: _Expansion.fcmp,
    Op.UITOFP: _Expansion.from_integer, Op.SITOFP: _Expansion.from_integer,
    Op.FPTOUI: _Expansion.to_integer, Op.FPTOSI: _Expansion.to_integer,
    Op.FPEXT: _Expansion.fpext, Op.FPTRUNC: _Expansion.fptrunc,
}
_INTRINSICS = {"fabs": _Expansion.fabs, "copysign": _Expansion.copysign, "fmuladd": _Expansion.fmuladd}
