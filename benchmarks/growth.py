"""How a benchmark's work grows with its size ``n``, but for a factor: see :attr:`.benchmark.Benchmark.growth`."""

from math import log2

__all__ = ["passes", "sides", "sorting", "squared"]


def squared(n: int) -> float:
    """Each element with each other."""
    return float(n) * n


def passes(n: int) -> float:
    """All elements in each of log2(n) passes."""
    return n * log2(n)


def sorting(n: int) -> float:
    """All elements in each of the passes of a sorting network."""
    return n * log2(n) ** 2


def sides(n: int) -> float:
    """Each of n elements of a square with a row or a column of it."""
    return n ** 1.5
