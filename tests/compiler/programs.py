"""Random C expressions and statements: as source text, and as their own meaning in Python.

A node knows its C type and evaluates with C's rules (promotion, usual conversions, wrapping, OpenCL's
masked shift amounts), so a compiled program has an independent right answer.
"""

from dataclasses import dataclass

from hypothesis import strategies as st

TYPES = {"char": (8, True), "uchar": (8, False), "short": (16, True), "ushort": (16, False), "int": (32, True),
         "uint": (32, False), "long": (64, True), "ulong": (64, False)}
VALUES = [0, 1, -1, 2, 3, 5, 7, 8, 31, 32, 100, 127, 128, 255, 256, 1000, 8191, 8192, 16383, 16384, 32767, 32768,
          65535, 65536, 1 << 24, 0x7FFF_FFFF, -0x8000_0000, -2, -100, -8192, -8193, -32768, 0x1234_5678, 33, 63, 64,
          1 << 32, (1 << 32) - 1, -(1 << 32), (1 << 63) - 1, -(1 << 63), 1 << 53, 0x1234_5678_9ABC_DEF0]


def wrap(value, type):
    """``value`` converted to ``type``."""
    bits, is_signed = TYPES[type]
    value &= (1 << bits) - 1
    return value - (1 << bits) if is_signed and value >> (bits - 1) else value


def promoted(type):
    return type if TYPES[type][0] >= 32 else "int"


def common(a, b):
    """The type of an operation: the first of these that either operand has."""
    return next(type for type in ("ulong", "long", "uint", "int") if type in (promoted(a), promoted(b)))


def saturated(value, type):
    bits, is_signed = TYPES[type]
    low, high = (-1 << bits - 1, (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def rotated(a, b, type):
    bits = TYPES[type][0]
    mask = (1 << bits) - 1
    return wrap((a & mask) << b % bits | (a & mask) >> (bits - b % bits), type)


def truncated_division(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


ARITHMETIC = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "&": lambda a, b: a & b,
    "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
}
COMPARISON = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}
FUNCTIONS = {
    "min": lambda a, b, type: min(a, b), "max": lambda a, b, type: max(a, b),
    "add_sat": lambda a, b, type: saturated(a + b, type), "sub_sat": lambda a, b, type: saturated(a - b, type),
    "hadd": lambda a, b, type: a + b >> 1, "mul_hi": lambda a, b, type: a * b >> TYPES[type][0], "rotate": rotated,
}


@dataclass(frozen=True)
class Variable:
    name: str
    type: str

    def text(self):
        return self.name

    def value(self, env):
        return env[self.name]


@dataclass(frozen=True)
class Number:
    number: int
    type: str

    def text(self):
        if self.number == -1 << 63:
            return f"(({self.type})LONG_MIN)"
        suffix = "" if -2**31 < self.number < 2**31 else "ul" if self.number >= 2**63 else "l"
        return f"(({self.type})({self.number}{suffix}))"

    def value(self, env):
        return wrap(self.number, self.type)


@dataclass(frozen=True)
class Binary:
    op: str
    a: object
    b: object

    @property
    def type(self):
        if self.op in ("<<", ">>"):
            return promoted(self.a.type)
        return "int" if self.op in COMPARISON or self.op in ("&&", "||") else common(self.a.type, self.b.type)

    def text(self):
        b = self.b.text()
        if self.op in ("/", "%"):
            b = f"(({b}) & 1023 | 1)" if self.b.type != "ushort" else f"(ushort)({b} | 1)"
        return f"({self.a.text()} {self.op} {b})"

    def value(self, env):
        a, b, op = self.a.value(env), self.b.value(env), self.op
        if op in ("&&", "||"):
            return int(bool(a) and bool(b) if op == "&&" else bool(a) or bool(b))
        if op in ("<<", ">>"):
            b &= TYPES[self.type][0] - 1
            return wrap(a << b if op == "<<" else a >> b, self.type)
        type = common(self.a.type, self.b.type)
        if op in ("/", "%"):
            b = b & 1023 | 1 if self.b.type != "ushort" else b | 1
            a, b = wrap(a, type), wrap(b, type)
            quotient = truncated_division(a, b)
            return wrap(quotient if op == "/" else a - quotient * b, type)
        a, b = wrap(a, type), wrap(b, type)
        return int(COMPARISON[op](a, b)) if op in COMPARISON else wrap(ARITHMETIC[op](a, b), type)


@dataclass(frozen=True)
class Unary:
    op: str
    a: object

    @property
    def type(self):
        return "int" if self.op == "!" else promoted(self.a.type)

    def text(self):
        return f"({self.op}{self.a.text()})"

    def value(self, env):
        a = self.a.value(env)
        return int(not a) if self.op == "!" else wrap(-a if self.op == "-" else ~a, self.type)


@dataclass(frozen=True)
class Choice:
    condition: object
    a: object
    b: object

    @property
    def type(self):
        return common(self.a.type, self.b.type)

    def text(self):
        return f"({self.condition.text()} ? {self.a.text()} : {self.b.text()})"

    def value(self, env):
        return wrap((self.a if self.condition.value(env) else self.b).value(env), self.type)


@dataclass(frozen=True)
class Cast:
    type: str
    a: object

    def text(self):
        return f"(({self.type}){self.a.text()})"

    def value(self, env):
        return wrap(self.a.value(env), self.type)


@dataclass(frozen=True)
class Call:
    function: str
    type: str
    a: object
    b: object

    def text(self):
        return f"{self.function}(({self.type}){self.a.text()}, ({self.type}){self.b.text()})"

    def value(self, env):
        a, b = (wrap(operand.value(env), self.type) for operand in (self.a, self.b))
        return FUNCTIONS[self.function](a, b, self.type)


def numbers():
    return st.builds(lambda n, t: Number(wrap(n, t), t),
                     st.one_of(st.sampled_from(VALUES), st.integers(-2**31, 2**31 - 1),
                               st.integers(-2**63, 2**63 - 1)), st.sampled_from(list(TYPES)))


def expressions(variables, leaves=12):
    """Expressions over ``variables`` (name -> type)."""
    types = st.sampled_from(list(TYPES))
    leaf = st.one_of(st.sampled_from([Variable(name, type) for name, type in variables.items()]), numbers())

    def extend(inner):
        return st.one_of(
            st.builds(Binary, st.sampled_from([*ARITHMETIC, *ARITHMETIC, "<<", ">>", "&&", "||", "/", "%"]), inner,
                      inner),
            st.builds(Binary, st.sampled_from(list(COMPARISON)), inner, inner),
            st.builds(Unary, st.sampled_from("-~!"), inner),
            st.builds(Choice, inner, inner, inner),
            st.builds(Cast, types, inner),
            st.builds(Call, st.sampled_from(list(FUNCTIONS)), types, inner, inner),
        )
    return st.recursive(leaf, extend, max_leaves=leaves)
