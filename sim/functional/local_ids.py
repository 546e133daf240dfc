"""Local ids as the hardware counts them, for every content of the descriptor."""

from functools import lru_cache

import numpy as np

from fgpu.config import PE_COUNT, PHASES
from fgpu.interfaces.runtime import LOCAL_ID_BITS

__all__ = ["local_ids"]

_ID_MASK = (1 << LOCAL_ID_BITS) - 1


@lru_cache(maxsize=64)
def local_ids(extents: tuple[int, ...], dimensions: int, wavefronts: int) -> np.ndarray:
    """The ids of a work-group's work-items, a row for each of ``dimensions``.

    They are the digits of the work-item's number to the base of ``extents`` (three, 1 in dimensions that there are
    not). Where the extents do not make the work-group's wavefronts, they are what
    :class:`~fgpu.dispatcher.local_ids.LocalIdGenerator` counts: it adds the digits of 8 from phase to phase.
    """
    digits = [0, 0, 0]
    first = []
    for _ in range(PE_COUNT):
        first.append(list(digits))
        wraps0, wraps1 = (digits[index] + 1 == extents[index] for index in range(2))
        digits[0] = 0 if wraps0 else digits[0] + 1
        if wraps0:
            digits[1] = 0 if wraps1 else digits[1] + 1
            digits[2] += wraps1
    phases = wavefronts * PHASES
    found = np.empty((dimensions, phases * PE_COUNT), dtype=np.uint32)
    for lane, numbers in enumerate(first):
        carries = [0] * phases
        for dimension in range(dimensions):     # numbers of few bits: faster than arrays of eight
            step, extent, number = digits[dimension], extents[dimension], numbers[dimension]
            row = []
            for phase, carry in enumerate(carries):
                row.append(number)
                number += step + carry
                carries[phase] = carry = number >= extent
                number = (number - extent if carry else number) & _ID_MASK
            found[dimension, lane::PE_COUNT] = row
    return found
