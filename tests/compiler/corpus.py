"""A corpus of small kernels, a construct each, with what they must give: tables of expressions.

A case is computed lane by lane in Python numbers, or row by row where it mixes the lanes.
"""

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass

TYPES = {"char": (8, True), "uchar": (8, False), "short": (16, True), "ushort": (16, False), "int": (32, True),
         "uint": (32, False), "long": (64, True), "ulong": (64, False)}
WIDTHS = ("", "2", "3", "4", "8", "16")
UNSIGNED = {"char": "uchar", "short": "ushort", "int": "uint", "long": "ulong"}


def limits(type):
    bits, is_signed = TYPES[type]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)


def wrap(value, type):
    bits, is_signed = TYPES[type]
    value &= (1 << bits) - 1
    return value - (1 << bits) if is_signed and value >> (bits - 1) else value


def saturate(value, type):
    low, high = limits(type)
    return min(max(value, low), high)


def float32(value):
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def divide(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


@dataclass(frozen=True)
class Case:
    """``code`` computes ``r`` of type ``result`` from a, b, c of the types ``arguments``.

    ``meaning`` gets numbers (each lane alone), or with ``rows`` lists of them for vectors, and returns such.
    """

    name: str
    result: str
    arguments: tuple[str, ...]
    code: str
    meaning: Callable
    rows: bool = False
    prelude: str = ""
    nonzero: bool = False       # no zeros in the second argument
    small: bool = False         # small floats only
    group: str = ""


def split(type):
    """Scalar type and number of lanes of a type by its name."""
    scalar = type.rstrip("0123456789")
    return scalar, int(type[len(scalar):] or 1)


def lane_cases():
    """Operators and integer functions on each type; widths take turns."""
    cases = []
    for number, (type, (bits, is_signed)) in enumerate(TYPES.items()):
        low, high = limits(type)
        utype = type if not is_signed else UNSIGNED[type]
        mask = (1 << bits) - 1
        table = {
            "add": ("a + b", 2, lambda a, b: a + b), "sub": ("a - b", 2, lambda a, b: a - b),
            "mul": ("a * b", 2, lambda a, b: a * b), "div": ("a / b", 2, divide),
            "rem": ("a % b", 2, lambda a, b: a - divide(a, b) * b),
            "shl": ("a << b", 2, lambda a, b, m=bits - 1: a << (b & m)),
            "shr": ("a >> b", 2, lambda a, b, m=bits - 1: a >> (b & m)),
            "logic": ("(a & b) ^ ~(a | b)", 2, lambda a, b: (a & b) ^ ~(a | b)),
            "negate": ("-a + (T)1", 1, lambda a: -a + 1),
            "clamp": ("clamp(a, min(b, c), max(b, c))", 3, lambda a, b, c: min(max(a, min(b, c)), max(b, c))),
            "add_sat": ("add_sat(a, b)", 2, lambda a, b, t=type: saturate(a + b, t)),
            "sub_sat": ("sub_sat(a, b)", 2, lambda a, b, t=type: saturate(a - b, t)),
            "hadd": ("hadd(a, b)", 2, lambda a, b: a + b >> 1),
            "rhadd": ("rhadd(a, b)", 2, lambda a, b: a + b + 1 >> 1),
            "clz": ("clz(a)", 1, lambda a, n=bits, m=mask: n - (a & m).bit_length()),
            "popcount": ("popcount(a)", 1, lambda a, m=mask: (a & m).bit_count()),
            "mul_hi": ("mul_hi(a, b)", 2, lambda a, b, n=bits: a * b >> n),
            "mad_hi": ("mad_hi(a, b, c)", 3, lambda a, b, c, n=bits: (a * b >> n) + c),
            "mad_sat": ("mad_sat(a, b, c)", 3, lambda a, b, c, t=type: saturate(a * b + c, t)),
            "rotate": ("rotate(a, b)", 2, lambda a, b, n=bits, m=mask: (a & m) << (b % n) | (a & m) >> (n - b % n) % n
                       if b % n else a),
            "bitselect": ("bitselect(a, b, c)", 3, lambda a, b, c: a & ~c | b & c),
            "abs": ("A(abs(a))", 1, abs), "abs_diff": ("A(abs_diff(a, b))", 2, lambda a, b: abs(a - b)),
        }
        for at, (name, (code, count, meaning)) in enumerate(table.items()):
            # The widest vectors need more registers than there are in the longer functions.
            long_ones = name in ("mad_sat", "mul_hi", "mad_hi", "div", "rem") or bits == 64
            widths = WIDTHS[:4] if long_ones else WIDTHS
            width = widths[(number + at) % len(widths)]
            vector = type + width
            # Shifts and arithmetic of narrow scalars are those of int.
            if not width and bits < 32 and name in ("shl", "shr"):
                meaning = (lambda a, b: a << (b & 31)) if name == "shl" else (lambda a, b: a >> (b & 31))
            code = code.replace("T", vector).replace("A(", f"as_{vector}(")
            cases.append(Case(f"{name}_{vector}", vector, (vector,) * count, f"r = {code};", meaning,
                              nonzero=name in ("div", "rem"), group=f"{type} {at % 3}"))
        widths = WIDTHS[1:5]
        for at, (name, op, meaning) in enumerate((
                ("less", "<", lambda a, b: a < b), ("equal", "==", lambda a, b: a == b),
                ("not_less", ">=", lambda a, b: a >= b), ("and", "&&", lambda a, b: bool(a) and bool(b)))):
            width = widths[(number + at) % 4]
            signed = next((s for s, u in UNSIGNED.items() if u == type), type)
            cases.append(Case(f"{name}_{type}{width}", signed + width, (type + width,) * 2, f"r = a {op} b;",
                              lambda a, b, f=meaning: -int(f(a, b)), group=f"{type} 3"))
            cases.append(Case(f"{name}_{type}", "int", (type,) * 2, f"r = a {op} b;",
                              lambda a, b, f=meaning: int(f(a, b)), group=f"{type} 3"))
        del utype, low, high
    return cases


def conversion_cases():
    cases = []
    names = list(TYPES)
    for number, source in enumerate(names):
        for at, to in enumerate(names):
            width = WIDTHS[(number + 2 * at) % 5]
            cases.append(Case(f"convert_{to}{width}_sat_{source}", to + width, (source + width,),
                              f"r = convert_{to}{width}_sat(a);", lambda a, t=to: saturate(a, t),
                              group=f"convert {source}"))
            plain = WIDTHS[(number + at) % 5]
            cases.append(Case(f"convert_{to}{plain}_{source}", to + plain, (source + plain,),
                              f"r = convert_{to}{plain}(a);", lambda a: a, group=f"convert {source}"))
        cases.append(Case(f"float_{source}", "float4", (source + "4",), "r = convert_float4(a);",
                          nearest, group=f"convert {source}"))
        for mode, rounding in (("rtz", towards_zero), ("rtp", upwards), ("rtn", downwards), ("rte", nearest)):
            cases.append(Case(f"float_{mode}_{source}", "float", (source,), f"r = convert_float_{mode}(a);",
                              rounding, group=f"round {mode}"))
    modes = {"": math.trunc, "_rtz": math.trunc, "_rte": round, "_rtp": math.ceil, "_rtn": math.floor}
    for number, to in enumerate(names):
        for at, (mode, rounding) in enumerate(modes.items()):
            width = WIDTHS[(number + at) % 4]
            cases.append(Case(
                f"convert_{to}{width}_sat{mode}_float", to + width, ("float" + width,),
                f"r = convert_{to}{width}_sat{mode}(a);",
                lambda a, t=to, f=rounding: 0 if a != a else limits(t)[a > 0] if math.isinf(a) else saturate(f(a), t),
                group=f"from float {number % 4}"))
    return cases


def nearest(value):
    """The nearest float, of two the even one, without the error of a double in between."""
    below, above = towards_zero(value), away(value)
    first, second = abs(value - int(below)), abs(int(above) - value)
    if first != second:
        return below if first < second else above
    return below if struct.unpack("<I", struct.pack("<f", below))[0] % 2 == 0 else above


def towards_zero(value):
    magnitude = abs(value)
    excess = max(0, magnitude.bit_length() - 24)
    return math.copysign(float(magnitude >> excess << excess), value)


def away(value):
    inner = towards_zero(value)
    if int(inner) == value:
        return inner
    excess = max(0, abs(value).bit_length() - 24)
    return inner + math.copysign(float(1 << excess), value)


def upwards(value):
    return away(value) if value > 0 else towards_zero(value)


def downwards(value):
    return away(value) if value < 0 else towards_zero(value)


def float_cases():
    def f(function):
        return lambda *arguments: float32(function(*arguments))

    table = {
        "degrees": ("degrees(a)", 1, f(lambda a: a * float32(180 / math.pi))),
        "radians": ("radians(a)", 1, f(lambda a: a * float32(math.pi / 180))),
        "step": ("step(a, b)", 2, lambda a, b: float(b >= a)),
        "sign": ("sign(a)", 1, lambda a: 0.0 if a == 0 else math.copysign(1, a)),
        "min": ("min(a, b)", 2, min), "max": ("max(a, b)", 2, max),
        "clamp": ("clamp(a, min(b, c), max(b, c))", 3, lambda a, b, c: min(max(a, min(b, c)), max(b, c))),
        "mix": ("mix(a, b, c)", 3, lambda a, b, c: float32(a + float32(float32(b - a) * c))),
        "select": ("select(a, b, isless(a, c))", 3, lambda a, b, c: b if a < c else a),
        "choice": ("a < b ? c : a", 3, lambda a, b, c: c if a < b else a),
        "negate": ("-a - b", 2, lambda a, b: float32(-a - b)),
        "quotient": ("a / b", 2, lambda a, b: float32(a / b)),
        "bits": ("as_floatN(as_uintN(a) ^ 0x80000000u)", 1, lambda a: -a),
    }
    cases = []
    for at, (name, (code, count, meaning)) in enumerate(table.items()):
        for width in (WIDTHS[at % 4], WIDTHS[(at + 2) % 4]):
            vector = f"float{width}"
            text = code.replace("N(", f"{width}(")
            cases.append(Case(f"{name}_{vector}", vector, (vector,) * count, f"r = {text};", meaning, small=True,
                              nonzero=name == "quotient", group=f"float {at % 2}"))
    relations = {"isequal": lambda a, b: a == b, "isnotequal": lambda a, b: a != b,
                 "isgreater": lambda a, b: a > b, "isgreaterequal": lambda a, b: a >= b, "isless": lambda a, b: a < b,
                 "islessequal": lambda a, b: a <= b, "islessgreater": lambda a, b: a < b or a > b,
                 "isordered": lambda a, b: a == a and b == b, "isunordered": lambda a, b: a != a or b != b}
    for name, meaning in relations.items():
        cases.append(Case(name, "int", ("float",) * 2, f"r = {name}(a, b);", lambda a, b, f=meaning: int(f(a, b)),
                          group="relations"))
        cases.append(Case(f"{name}_3", "int3", ("float3",) * 2, f"r = {name}(a, b);",
                          lambda a, b, f=meaning: -int(f(a, b)), group="relations"))
    tests = {"isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite,
             "isnormal": lambda a: math.isfinite(a) and abs(a) >= 2.0 ** -126,
             "signbit": lambda a: math.copysign(1, a) < 0}
    for name, meaning in tests.items():
        cases.append(Case(f"{name}_4", "int4", ("float4",), f"r = {name}(a);", lambda a, f=meaning: -int(f(a)),
                          group="relations"))
    return cases
