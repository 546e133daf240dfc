"""The math functions of OpenCL 1.2 (table 6.8), the errors that they may have (7.4), and what they should give."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy as np


def _each(function, count=1):
    """``function`` of Python numbers on arrays; what it refuses is NaN, what it cannot hold is infinite."""
    def one(*arguments):
        try:
            return float(function(*map(float, arguments)))
        except OverflowError:
            return math.inf
        except (ValueError, ZeroDivisionError):
            return math.nan
    return np.frompyfunc(one, count, 1)


def _array(function, count=1):
    elementwise = _each(function, count)
    return lambda *arguments: elementwise(*arguments).astype(np.float64)


def _pi(function):
    return lambda x: function(x) / np.pi


def _tanpi(x):
    if abs(x) % 1 == 0.5:
        return math.inf if x % 2 == 0.5 else -math.inf
    return mpmath.sinpi(x) / mpmath.cospi(x)


def _root(x, n):
    magnitude = np.abs(x) ** (1.0 / n)
    odd = n.astype(np.int64) & 1 == 1
    result = np.where(odd, np.copysign(magnitude, x), np.where(x < 0, np.nan, magnitude))
    return np.where(n == 0, np.nan, result)


def _pown(x, n):
    magnitude = np.abs(x) ** n
    return np.where(n.astype(np.int64) & 1 == 1, np.copysign(magnitude, x), magnitude)


def _gamma(x):
    if x == 0:
        return math.copysign(math.inf, x)
    if x < 0 and (math.isinf(x) or x == math.floor(x)):
        return math.nan
    return math.inf if x > 170 else 0.0 if x < -170 else math.gamma(x)


def _powr(x, y):
    result = np.power(np.abs(x), y)
    wrong = (x < 0) | ((x == 0) & (y == 0)) | (np.isinf(x) & (y == 0)) | ((x == 1) & np.isinf(y)) | np.isnan(x) \
        | np.isnan(y)
    return np.where(wrong, np.nan, result)


@dataclass(frozen=True)
class Function:
    """``limit`` in units of the last place; 0 means the result is the rounded exact one."""

    limit: float
    reference: Callable[..., np.ndarray]
    arguments: str = "f"        # f float, i int
    low: float = -1e30          # where most samples are
    high: float = 1e30
    outside: bool = True        # whether the reference knows numbers outside of that


FUNCTIONS = {
    "acos": Function(4, np.arccos, low=-1, high=1), "acosh": Function(4, np.arccosh, low=1),
    "acospi": Function(5, _pi(np.arccos), low=-1, high=1),
    "asin": Function(4, np.arcsin, low=-1, high=1), "asinh": Function(4, np.arcsinh),
    "asinpi": Function(5, _pi(np.arcsin), low=-1, high=1),
    "atan": Function(5, np.arctan), "atanh": Function(5, np.arctanh, low=-1, high=1),
    "atanpi": Function(5, _pi(np.arctan)),
    "atan2": Function(6, np.arctan2, "ff"), "atan2pi": Function(6, lambda y, x: np.arctan2(y, x) / np.pi, "ff"),
    "cbrt": Function(2, np.cbrt), "ceil": Function(0, np.ceil), "copysign": Function(0, np.copysign, "ff"),
    "cos": Function(4, np.cos, low=-100, high=100), "cosh": Function(4, np.cosh, low=-90, high=90),
    "cospi": Function(4, _array(mpmath.cospi), low=-100, high=100),
    "erfc": Function(16, _array(math.erfc), low=-5, high=11), "erf": Function(16, _array(math.erf), low=-5, high=5),
    "exp": Function(3, np.exp, low=-105, high=90), "exp2": Function(3, np.exp2, low=-151, high=129),
    "exp10": Function(3, lambda x: np.power(10.0, x), low=-46, high=39),
    "expm1": Function(3, np.expm1, low=-20, high=90), "fabs": Function(0, np.fabs),
    "fdim": Function(0, lambda x, y: np.where(np.isnan(x) | np.isnan(y), np.nan, np.where(x > y, x - y, 0.0)), "ff"),
    "floor": Function(0, np.floor), "fmod": Function(0, np.fmod, "ff", low=-1e6, high=1e6),
    "fmax": Function(0, np.fmax, "ff"), "fmin": Function(0, np.fmin, "ff"), "hypot": Function(4, np.hypot, "ff"),
    "ldexp": Function(0, lambda x, n: np.ldexp(x, np.clip(n, -400, 400).astype(int)), "fi", low=-200, high=200),
    "lgamma": Function(math.inf, _array(math.lgamma), low=0.1, high=100, outside=False),
    "log": Function(3, np.log, low=0), "log2": Function(3, np.log2, low=0), "log10": Function(3, np.log10, low=0),
    "log1p": Function(2, np.log1p, low=-1), "logb": Function(0, lambda x: np.where(
        x == 0, -np.inf, np.where(np.isfinite(x), np.frexp(x)[1] - 1.0, np.abs(x)))),
    "maxmag": Function(0, lambda x, y: np.where(abs(x) > abs(y), x, np.where(abs(y) > abs(x), y, np.fmax(x, y))),
                       "ff"),
    "minmag": Function(0, lambda x, y: np.where(abs(x) < abs(y), x, np.where(abs(y) < abs(x), y, np.fmin(x, y))),
                       "ff"),
    "pow": Function(16, np.power, "ff", low=0, high=50), "pown": Function(16, _pown, "fi", low=-50, high=50),
    "powr": Function(16, _powr, "ff", low=0, high=50), "rint": Function(0, np.rint),
    "remainder": Function(0, _array(math.remainder, 2), "ff", low=-1e6, high=1e6),
    "rootn": Function(16, _root, "fi", low=-100, high=100),
    "round": Function(0, lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x)),
    "rsqrt": Function(2, lambda x: 1 / np.sqrt(x), low=0), "sin": Function(4, np.sin, low=-100, high=100),
    "sinh": Function(4, np.sinh, low=-90, high=90), "sinpi": Function(4, _array(mpmath.sinpi), low=-100, high=100),
    "sqrt": Function(3, np.sqrt, low=0), "tan": Function(5, np.tan, low=-100, high=100),
    "tanh": Function(5, np.tanh, low=-10, high=10), "tanpi": Function(6, _array(_tanpi), low=-100, high=100),
    "tgamma": Function(16, _array(_gamma), low=-45, high=36), "trunc": Function(0, np.trunc),
}
HALF = ("cos", "exp", "exp2", "exp10", "log", "log2", "log10", "powr", "rsqrt", "sin", "sqrt", "tan")
"""Those with a form ``half_``, of which the limit is 8192, and a form ``native_``."""
NATIVE = ("exp", "exp2", "exp10", "log", "log2", "log10")
"""Those whose ``native_`` form is a function of its own, with errors in units in the last place of the result."""
NATIVE_ANGLES = ("cos", "sin")
"""Those whose ``native_`` form has errors in parts of 1."""
