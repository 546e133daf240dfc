"""Atomic operations of many work-items at once: as if one after the other, in the order of their indices."""

from collections.abc import Callable

import numpy as np

from .operations import Words

__all__ = ["atomic"]

_SIGN = 0x8000_0000

_UPDATES: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda old, operand, expected: (old + operand) & 0xFFFF_FFFF,
    "max": lambda old, operand, expected: max(old, operand, key=_signed),
    "min": lambda old, operand, expected: min(old, operand, key=_signed),
    "umax": lambda old, operand, expected: max(old, operand),
    "umin": lambda old, operand, expected: min(old, operand),
    "and": lambda old, operand, expected: old & operand,
    "or": lambda old, operand, expected: old | operand,
    "xor": lambda old, operand, expected: old ^ operand,
    "xchg": lambda old, operand, expected: operand,
    "cmpxchg": lambda old, operand, expected: operand if old == expected else old,
}
"""By name: the new content of memory."""


def _signed(word: int) -> int:
    return word ^ _SIGN


def atomic(name: str, words: Words, indices: np.ndarray, operand: Words, expected: Words) -> Words:
    """Apply the operation ``name`` to ``words`` at ``indices``, first index first; returns the old contents."""
    if name == "add":
        return _add(words, indices, operand)
    update, old = _UPDATES[name], np.empty_like(operand)
    places = indices.tolist()
    for at, (index, value, compared) in enumerate(zip(places, operand.tolist(), expected.tolist(), strict=True)):
        content = int(words[index])
        old[at] = content
        words[index] = update(content, value, compared)
    return old


def _add(words: Words, indices: np.ndarray, operand: Words) -> Words:
    """Additions by running sums over each address: counters are what atomics are used for most."""
    order = np.argsort(indices, kind="stable")
    places, values = indices[order], operand[order]
    before = np.cumsum(values, dtype=np.uint32) - values
    first = np.flatnonzero(np.r_[True, places[1:] != places[:-1]])
    lengths = np.diff(np.r_[first, len(places)])
    before -= np.repeat(before[first], lengths)
    old = np.empty_like(operand)
    old[order] = words[places] + before
    last = first + lengths - 1
    words[places[last]] = old[order[last]] + values[last]
    return old
