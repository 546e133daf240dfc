"""Writes compiler/frontend/builtins/coefficients.h: ``python -m tests.math.coefficients``.

Near-minimax polynomials (Chebyshev interpolation) in fixed point, for the functions of chapter 6.12.2.
"""

from pathlib import Path

from mpmath import atan, chebyfit, cos, erf, erfc, exp, floor, gamma, log, mp, mpf, pi, sin, sinh, sqrt

HEADER = Path(__file__).parents[2] / "compiler/frontend/builtins/coefficients.h"
mp.prec = 300


def even(function, derivative_at_zero):
    """``function(sqrt(z)) / sqrt(z)`` as a function of z, which is regular at zero."""
    return lambda z: function(sqrt(z)) / sqrt(z) if z > mpf(2) ** -60 else mpf(derivative_at_zero)


def exp2(f):
    return (mpf(2) ** f - 1) / f if f > mpf(2) ** -60 else log(2)


def log2(t):
    return log(1 + t, 2) / t if abs(t) > mpf(2) ** -60 else 1 / log(2)


def quarter_cosine(z):
    return (1 - cos(pi / 2 * sqrt(z))) / z if z > mpf(2) ** -60 else pi ** 2 / 8


QUARTER_SINE = even(lambda r: sin(pi / 2 * r), pi / 2)
NEAR_ONE = (1 / sqrt(2) - 1, sqrt(2) - 1)
# Name, function, interval, coefficients, fraction bits, what it is.
POLYNOMIALS = (
    ("EXP2", exp2, (0, 1), 7, 32, "(2^f - 1) / f"), ("NATIVE_EXP2", exp2, (0, 1), 6, 32, "the same to 26 bits"),
    ("FAST_EXP2", exp2, (0, 1), 3, 16, "the same in short"),
    ("LOG2", log2, NEAR_ONE, 12, 30, "log2(1 + t) / t"),
    ("NATIVE_LOG2", log2, NEAR_ONE, 9, 30, "the same to 24 bits"),
    ("FAST_LOG2", log2, NEAR_ONE, 7, 14, "the same in short"),
    ("SIN", QUARTER_SINE, (0, mpf(1) / 4), 5, 31, "sin(pi/2 r) / r, z = r^2"),
    ("FAST_SIN", QUARTER_SINE, (0, mpf(1) / 4), 3, 15, "the same in short"),
    ("NATIVE_SIN", QUARTER_SINE, (0, 1), 5, 31, "the same for all of a quarter turn"),
    ("COS", quarter_cosine, (0, mpf(1) / 4), 5, 31, "(1 - cos(pi/2 r)) / z, z = r^2"),
    ("FAST_COS", quarter_cosine, (0, mpf(1) / 4), 3, 15, "the same in short"),
    ("ATAN", lambda z: (1 - atan(sqrt(z)) / sqrt(z)) / z if z > mpf(2) ** -60 else mpf(1) / 3,
     (0, (sqrt(2) - 1) ** 2), 7, 32, "(1 - atan(t) / t) / z, z = t^2"),
    ("SINH", lambda z: (sinh(sqrt(z)) / sqrt(z) - 1) / z if z > mpf(2) ** -60 else mpf(1) / 6, (0, 1), 4, 32,
     "(sinh(x) / x - 1) / z, z = x^2"),
    ("ERF", even(erf, 2 / sqrt(pi)), (0, 1), 9, 30, "erf(x) / x, z = x^2"),
    ("ERFC", lambda t: exp((4 / t - 4) ** 2) * erfc(4 / t - 4) / t if t > mpf(2) ** -60 else 1 / (4 * sqrt(pi)),
     (mpf(4) / 15, mpf(4) / mpf("4.9")), 11, 27, "exp(x^2) erfc(x) / t, t = 4 / (4 + x)"),
    ("GAMMA", lambda u: gamma(1 + u), (0, 1), 12, 28, "gamma(1 + u)"),
)
TWO_OVER_PI_WORDS = 7


def words(value, count):
    """The first 32-bit words of a fraction."""
    found = []
    for _ in range(count):
        value *= 1 << 32
        found.append(int(floor(value)))
        value -= found[-1]
    return found


def text():
    lines = ["/* Coefficients in fixed point, the highest power first. Written by tests/math/coefficients.py. */",
             "#ifndef FGPU_COEFFICIENTS_H", "#define FGPU_COEFFICIENTS_H", ""]
    for name, function, interval, count, bits, what in POLYNOMIALS:
        coefficients, error = chebyfit(function, interval, count, error=True)
        lines.append(f"/* {what}: {bits} bits below the point, error {float(error):.1e}. */")
        signed = [int(mp.nint(c * 2 ** bits)) for c in coefficients]
        lines += [f"#define {name}_{count - 1 - at} {value}" for at, value in enumerate(signed)]
    lines.append("/* 2 / pi, a word at a time. */")
    lines += [f"#define TWO_OVER_PI_{at} {word:#010x}u" for at, word in enumerate(words(2 / pi, TWO_OVER_PI_WORDS))]
    for name, value, bits in (("LOG2_OF_E", 1 / log(2), 63), ("LOG2_OF_10", log(10, 2), 61)):
        lines.append(f"#define {name} {int(mp.nint(value * 2 ** bits)):#x}ul   /* {bits} bits below the point */")
    for name, value, bits in (("LN_2", log(2), 32), ("LOG10_2", log(2, 10), 33), ("ONE_OVER_PI", 1 / pi, 33),
                              ("QUARTER_PI", pi / 4, 60)):
        suffix = "ul" if bits > 33 else "u"
        number = int(mp.nint(value * 2 ** bits))
        lines.append(f"#define {name} {number:#x}{suffix}   /* {bits} bits below the point */")
    return "\n".join([*lines, "", "#endif", ""])


if __name__ == "__main__":
    HEADER.write_text(text(), encoding="utf-8")
