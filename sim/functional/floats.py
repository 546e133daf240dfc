"""What the floating-point instructions compute: IEEE 754 binary32, rounded to nearest even, with one NaN."""

from collections.abc import Callable

import numpy as np

from .operations import Operand, Operation, Words

__all__ = ["CANONICAL_NAN", "float_operations"]

CANONICAL_NAN = np.uint32(0x7FC0_0000)
"""The result where there is no number."""

_SIGN = np.uint32(0x8000_0000)
_EXPONENT = np.uint32(0x7F80_0000)
_TINY = 2.0**-126 * (1 - 2.0**-25)
"""What is smaller is below the normal numbers even when it is rounded to 24 bits."""
_Numbers = np.ndarray


def _truncated(numbers: _Numbers, dtype: type[np.integer]) -> Words:
    """The nearest integers towards zero that there are; 0 for a NaN."""
    limits = np.iinfo(dtype)
    exact = np.nan_to_num(np.trunc(numbers.astype(np.float64)), nan=0.0)
    return np.clip(exact, limits.min, limits.max).astype(np.int64).astype(np.uint32)


_TO_NUMBERS: dict[str, Callable[[_Numbers, _Numbers], _Numbers]] = {
    "fadd": lambda a, b: a + b,
    "fsub": lambda a, b: a - b,
    "fmul": lambda a, b: a * b,
    "fdiv": lambda a, b: a / b,
    "fsqrt": lambda a, b: np.sqrt(a),
}
_TO_INTEGERS: dict[str, Callable[[_Numbers, _Numbers], Words]] = {
    "fslt": lambda a, b: (a < b).astype(np.uint32),
    "fptosi": lambda a, b: _truncated(a, np.int32),
    "fptoui": lambda a, b: _truncated(a, np.uint32),
}
_FROM_INTEGERS: dict[str, Operation] = {
    "uitofp": lambda a, b, d: a.astype(np.float32).view(np.uint32),
    "itofp": lambda a, b, d: a.view(np.int32).astype(np.float32).view(np.uint32),
}


def _flushed(words: Words) -> Words:
    """Subnormals as zeros of the same sign."""
    return np.where(words & _EXPONENT == 0, words & _SIGN, words)


def _words(numbers: _Numbers) -> Words:
    return np.where(np.isnan(numbers), CANONICAL_NAN, numbers.view(np.uint32))


def float_operations(subnormals: bool) -> dict[str, Operation]:
    """By mnemonic: the new rd from the words of rs and rt.

    Without ``subnormals`` operands and results that are some are zeros of the same sign.
    """
    flushed: Callable[[Words], Words] = (lambda words: words) if subnormals else _flushed

    def numbers(words: Operand) -> _Numbers:
        return flushed(np.asarray(words)).view(np.float32)

    def to_numbers(compute: Callable[[_Numbers, _Numbers], _Numbers]) -> Operation:
        def operation(a: Words, b: Operand, d: Words) -> Words:
            with np.errstate(all="ignore"):
                x, y = numbers(a), numbers(b)
                result = _words(compute(x, y))
                if subnormals:
                    return result
                # What is that small is exact in 53 bits, or far enough from the limit.
                is_tiny = np.abs(compute(x.astype(np.float64), y.astype(np.float64))) < _TINY
                return np.where(is_tiny, result & _SIGN, result)
        return operation

    def to_integers(compute: Callable[[_Numbers, _Numbers], Words]) -> Operation:
        def operation(a: Words, b: Operand, d: Words) -> Words:
            with np.errstate(all="ignore"):
                return compute(numbers(a), numbers(b))
        return operation

    return (_FROM_INTEGERS | {name: to_numbers(compute) for name, compute in _TO_NUMBERS.items()}
            | {name: to_integers(compute) for name, compute in _TO_INTEGERS.items()})
