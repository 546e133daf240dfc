"""What callers may give for a number: Python's and NumPy's, but no truth value."""

from typing import TypeGuard

import numpy as np

__all__ = ["is_integer", "is_number"]


def is_integer(value: object) -> TypeGuard[int]:
    """Whether a caller may mean an integer by it."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a caller may mean a real number by it."""
    return is_integer(value) or isinstance(value, float | np.floating)
