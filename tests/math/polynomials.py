"""Writes compiler/frontend/builtins/polynomials.h: ``python -m tests.math.polynomials``.

Near-minimax polynomials (Chebyshev interpolation) in 64-bit fixed point, for the functions of doubles.
"""

from pathlib import Path

from mpmath import atan, chebyfit, erf, erfc, exp, gamma, linspace, mp, mpf, pi, sinh, sqrt

HEADER = Path(__file__).parents[2] / "compiler/frontend/builtins/polynomials.h"
TINY = mpf(2) ** -80
mp.prec = 300
PREAMBLE = """\
/* Polynomials in 64-bit fixed point. Written by tests/math/polynomials.py.

   The argument has 64 bits below the point. In no step is the value below zero. */"""
# Name, function, interval, coefficients, fraction bits, what it is.
POLYNOMIALS = (
    ("atan_series", lambda z: (1 - atan(sqrt(z)) / sqrt(z)) / z if z > TINY else mpf(1) / 3,
     (0, (sqrt(2) - 1) ** 2), 13, 64, "(1 - atan(t) / t) / z, z = t^2"),
    ("sinh_series", lambda z: sinh(sqrt(z)) / sqrt(z) if z > TINY else mpf(1), (0, 1), 9, 62, "sinh(x) / x, z = x^2"),
    ("erf_series", lambda z: erf(sqrt(z)) / sqrt(z) if z > TINY else 2 / sqrt(pi), (0, 1), 14, 62,
     "erf(x) / x, z = x^2"),
    ("gamma_series", lambda u: 1 / gamma(2 + u), (0, 1), 16, 63, "1 / gamma(2 + u)"),
    ("erfc_series", lambda t: exp((4 / t - 4) ** 2) * erfc(4 / t - 4) / t if t > TINY else 1 / (4 * sqrt(pi)),
     (mpf(4) / 31, mpf(4) / mpf("4.9")), 22, 63, "exp(x^2) erfc(x) / t, t = 4 / (4 + x)"),
)
# As before, but the argument may be below zero, and its coefficients are all positive.
SIGNED = (("expm1_series", lambda x: (exp(x) - 1) / x if abs(x) > TINY else mpf(1), (-mpf(1) / 4, mpf(1) / 4), 11, 63,
           "(exp(x) - 1) / x"),)


def sign(values):
    """The sign that all have."""
    found = {value > 0 for value in values}
    if len(found) != 1:
        raise ValueError("a step has no sign: use another variable")
    return found.pop()


def steps(name, coefficients, interval, bits):
    """Horner's scheme on magnitudes, of values that never change their sign."""
    points = linspace(*interval, 33)
    values = [coefficients[0]] * len(points)
    positive = sign(values)
    lines = [f"    ulong p = {magnitude(coefficients[0], bits)};"]
    for c in coefficients[1:]:
        values = [c + x * value for x, value in zip(points, values, strict=True)]
        before, positive = positive, sign(values)
        if max(map(abs, values)) * 2 ** bits >= 2 ** 64:
            raise ValueError(f"{name} does not fit: use fewer bits")
        number, factor = magnitude(c, bits), "high_product(z, p)"
        if (c > 0) == positive:
            lines.append(f"    p = {number} {'+' if before == positive else '-'} {factor};")
        else:
            lines.append(f"    p = {factor} - {number};")
    if not positive:
        raise ValueError(f"{name} is below zero")
    return lines


def magnitude(value, bits):
    return f"{int(mp.nint(abs(value) * 2 ** bits)):#018x}ul"


def text():
    lines = [PREAMBLE, "#ifndef FGPU_POLYNOMIALS_H", "#define FGPU_POLYNOMIALS_H", "",
             "#include \"wide_long.h\"", ""]
    for name, function, interval, count, bits, what in POLYNOMIALS:
        coefficients, error = chebyfit(function, interval, count, error=True)
        lines += [f"/* {what}: {bits} bits below the point, error {float(error):.1e}. */",
                  f"INLINE ulong {name}(ulong z)", "{", *steps(name, coefficients, interval, bits), "    return p;",
                  "}", ""]
    for name, function, interval, count, bits, what in SIGNED:
        coefficients, error = chebyfit(function, interval, count, error=True)
        lines += [f"/* {what}, below zero if `negative` is all ones: {bits} bits below the point, error "
                  f"{float(error):.1e}. */", f"INLINE ulong {name}(ulong size, ulong negative)", "{",
                  f"    ulong p = {magnitude(coefficients[0], bits)};",
                  *(f"    p = {magnitude(c, bits)} + ((high_product(size, p) ^ negative) - negative);"
                    for c in coefficients[1:]), "    return p;", "}", ""]
    return "\n".join([*lines, "#endif", ""])


if __name__ == "__main__":
    HEADER.write_text(text(), encoding="utf-8")
