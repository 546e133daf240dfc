"""Control flow of many wavefronts: PCs, enabled work-items and the link and enable stacks.

The masks of enabled work-items are 64-bit words, bit i for work-item i of the wavefront.
"""

import numpy as np

from fgpu.config import WAVEFRONT_SIZE

__all__ = ["FULL_MASK", "Destinations", "StackOverflow", "Wavefronts", "lanes_to_masks", "masks_to_lanes"]

FULL_MASK = np.uint64((1 << WAVEFRONT_SIZE) - 1)

Destinations = list[tuple[int, np.ndarray]]
"""PCs, each with the indices of the wavefronts that go on there; retired wavefronts are absent."""


def lanes_to_masks(lanes: np.ndarray) -> np.ndarray:
    """Masks of wavefronts from one truth value for each of their work-items."""
    return np.packbits(lanes.reshape(-1, WAVEFRONT_SIZE), axis=1, bitorder="little").view(np.uint64).ravel()


def masks_to_lanes(masks: np.ndarray) -> np.ndarray:
    """One truth value for each work-item, wavefront after wavefront; the inverse of :func:`lanes_to_masks`."""
    return np.unpackbits(masks.view(np.uint8), bitorder="little").view(bool)


class StackOverflow(Exception):
    """A wavefront needs more stack entries than it has."""

    def __init__(self, wavefront: int) -> None:
        super().__init__(wavefront)
        self.wavefront = wavefront


class Wavefronts:
    """Masks and stacks of wavefronts that start with the given masks.

    An entry of the stacks is a PC and a mask: the other path of a diverged branch, or the return address
    of a call with the mask at the call.
    """

    def __init__(self, masks: np.ndarray, stack_depth: int) -> None:
        self.masks = masks
        self.depth = np.zeros(len(masks), dtype=np.intp)
        self.divergences = 0
        self.deepest = 0
        self._stack_pc = np.zeros((len(masks), stack_depth), dtype=np.int64)
        self._stack_mask = np.zeros((len(masks), stack_depth), dtype=np.uint64)
        self._stack_depth = stack_depth

    def _push(self, wavefronts: np.ndarray, pcs: np.ndarray | int, masks: np.ndarray) -> None:
        depth = self.depth[wavefronts]
        if depth.max() >= self._stack_depth:
            raise StackOverflow(int(wavefronts[depth.argmax()]))
        self._stack_pc[wavefronts, depth] = pcs
        self._stack_mask[wavefronts, depth] = masks
        self.depth[wavefronts] = depth + 1
        self.deepest = max(self.deepest, int(depth.max()) + 1)

    def branch(self, wavefronts: np.ndarray, taken: np.ndarray, target: int, following: int) -> Destinations:
        """Branch; ``taken`` are masks of the work-items that do. The minority goes first, the rest is pushed.

        With equally many on both sides those that do not take the branch go first.
        """
        not_taken = self.masks[wavefronts] & ~taken
        go_to_target = not_taken == 0
        mixed = (taken != 0) & ~go_to_target
        if mixed.any():
            diverging, takers, others = wavefronts[mixed], taken[mixed], not_taken[mixed]
            takers_first = np.bitwise_count(takers) < np.bitwise_count(others)
            self._push(diverging, np.where(takers_first, following, target), np.where(takers_first, others, takers))
            self.masks[diverging] = np.where(takers_first, takers, others)
            go_to_target[mixed] = takers_first
            self.divergences += len(diverging)
        return [(target, wavefronts[go_to_target]), (following, wavefronts[~go_to_target])]

    def call(self, wavefronts: np.ndarray, target: int, following: int) -> Destinations:
        """Call a subroutine."""
        self._push(wavefronts, following, self.masks[wavefronts])
        return [(target, wavefronts)]

    def ret(self, wavefronts: np.ndarray) -> Destinations:
        """Go on with the top of the stacks; a wavefront whose stacks are empty retires."""
        depth = self.depth[wavefronts]
        retiring = depth == 0
        if retiring.any():
            wavefronts, depth = wavefronts[~retiring], depth[~retiring]
        if not len(wavefronts):
            return []
        depth = depth - 1
        self.depth[wavefronts] = depth
        self.masks[wavefronts] = self._stack_mask[wavefronts, depth]
        pcs = self._stack_pc[wavefronts, depth]
        return [(int(pc), wavefronts[pcs == pc]) for pc in np.unique(pcs)]
