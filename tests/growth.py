"""How the time of some work grows with its size: a ratio of one run, which a slow or busy machine does not change."""

import time
from collections.abc import Callable


def growth(work: Callable[[int], object], size: int, factor: int) -> float:
    """How many times the processor time of ``work(size)`` the work of ``factor`` times that size takes, about."""

    def least(size: int, tries: int) -> float:
        times = []
        for _ in range(tries):
            begin = time.process_time()
            work(size)
            times.append(time.process_time() - begin)
        return min(times)

    return least(factor * size, 2) / least(size, 5)
