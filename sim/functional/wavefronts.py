"""Control flow of many wavefronts: PCs, enabled work-items, the link and enable stacks, and barriers.

The masks of enabled work-items are 64-bit words, bit i for work-item i of the wavefront.
"""

import numpy as np

from fgpu.config import WAVEFRONT_SIZE

__all__ = ["FULL_MASK", "Destinations", "StackOverflow", "Wavefronts", "lanes_to_masks", "masks_to_lanes"]

FULL_MASK = np.uint64((1 << WAVEFRONT_SIZE) - 1)

Destinations = list[tuple[int, np.ndarray]]
"""PCs, each with the indices of the wavefronts that go on there; those that have retired or wait are absent."""

_RUNNING, _WAITING, _ENDED = range(3)


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
    """Masks and stacks of wavefronts that start with the given masks, ``per_group`` of them in each work-group.

    An entry of the stacks is a PC and a mask: the other path of a diverged branch, or the return address
    of a call with the mask at the call.
    """

    def __init__(self, masks: np.ndarray, stack_depth: int, per_group: int) -> None:
        self.masks = masks
        self.parked = np.zeros(len(masks), dtype=np.uint64)
        """Work-items that have come to a barrier."""
        self.resume = np.zeros(len(masks), dtype=np.int64)
        """Where those go on: behind the barrier to which the last ones came."""
        self._states = np.full(len(masks), _RUNNING, dtype=np.int8)
        self._per_group = per_group
        self._has_barriers = False
        self.depth = np.zeros(len(masks), dtype=np.intp)
        self.divergences = self.joins = self.join_items = 0
        self.deepest = 0
        self._stack_pc = np.zeros((len(masks), stack_depth), dtype=np.int64)
        self._stack_mask = np.zeros((len(masks), stack_depth), dtype=np.uint64)
        self._stack_is_branch = np.zeros((len(masks), stack_depth), dtype=bool)
        self._stack_depth = stack_depth

    @property
    def waiting(self) -> np.ndarray:
        """The wavefronts that have arrived whole at a barrier, where others are awaited."""
        return np.flatnonzero(self._states == _WAITING)

    def _push(self, wavefronts: np.ndarray, pcs: np.ndarray | int, masks: np.ndarray, is_branch: bool) -> None:
        depth = self.depth[wavefronts]
        if depth.max() >= self._stack_depth:
            raise StackOverflow(int(wavefronts[depth.argmax()]))
        self._stack_pc[wavefronts, depth] = pcs
        self._stack_mask[wavefronts, depth] = masks
        self._stack_is_branch[wavefronts, depth] = is_branch
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
            self._push(diverging, np.where(takers_first, following, target), np.where(takers_first, others, takers),
                       is_branch=True)
            self.masks[diverging] = np.where(takers_first, takers, others)
            go_to_target[mixed] = takers_first
            self.divergences += len(diverging)
        return [(target, wavefronts[go_to_target]), (following, wavefronts[~go_to_target])]

    def call(self, wavefronts: np.ndarray, target: int, following: int) -> Destinations:
        """Call a subroutine."""
        self._push(wavefronts, following, self.masks[wavefronts], is_branch=False)
        return [(target, wavefronts)]

    def ret(self, wavefronts: np.ndarray) -> Destinations:
        """Go on with the top of the stacks; a wavefront whose stacks are empty retires, or comes to its barrier."""
        retiring = self.depth[wavefronts] == 0
        if not retiring.any():
            return self._pop(wavefronts)
        last = wavefronts[retiring]
        self._end(last)
        return self._pop(wavefronts[~retiring]) + (self._release(last) if self._has_barriers else [])

    def sync(self, wavefronts: np.ndarray, following: int) -> Destinations:
        """Come to a barrier: other parts of the wavefront go on, or it waits as a whole.

        With the last of a work-group all its wavefronts go on, each as one.
        """
        self._park(wavefronts, following)
        depth = self.depth[wavefronts]
        is_part = (depth > 0) & self._stack_is_branch[wavefronts, depth - 1]
        whole = wavefronts[~is_part]
        self._wait(whole)
        return self._pop(wavefronts[is_part]) + self._release(whole)

    def meet(self, wavefronts: np.ndarray, place: int) -> None:
        """Those that part at the next branch meet at ``place``, where the scheme is one that is told."""

    def pass_branch(self, wavefronts: np.ndarray) -> None:
        """All work-items of each go the same way at a branch."""

    def stop(self, pc: int, wavefronts: np.ndarray, stop: int) -> int:
        """Up to where the wavefronts, which are at ``pc``, run on without a look at other paths; at most ``stop``."""
        return stop

    def settle(self, pc: int, wavefronts: np.ndarray) -> Destinations:
        """Where wavefronts that have come to ``pc`` go on: some may have other paths that are to run first."""
        return [(pc, wavefronts)]

    def _park(self, wavefronts: np.ndarray, following: int) -> None:
        self._has_barriers = True
        self.parked[wavefronts] |= self.masks[wavefronts]
        self.resume[wavefronts] = following

    def _wait(self, whole: np.ndarray) -> None:
        self._states[whole] = _WAITING

    def _end(self, last: np.ndarray) -> None:
        self._states[last] = np.where(self.parked[last] != 0, _WAITING, _ENDED)

    def _pop(self, wavefronts: np.ndarray) -> Destinations:
        if not len(wavefronts):
            return []
        depth = self.depth[wavefronts] - 1
        self.depth[wavefronts] = depth
        self.masks[wavefronts] = self._stack_mask[wavefronts, depth]
        return _at(self._stack_pc[wavefronts, depth], wavefronts)

    def _release(self, came: np.ndarray) -> Destinations:
        """Who goes on after some wavefronts have arrived or ended."""
        groups = np.unique(came // self._per_group)
        states = self._states.reshape(-1, self._per_group)[groups]
        complete = (states != _RUNNING).all(axis=1, keepdims=True)
        members = groups[:, np.newaxis] * self._per_group + np.arange(self._per_group)
        released = members[complete & (states == _WAITING)]
        self._states[released] = _RUNNING
        self.masks[released] = self.parked[released]
        self.parked[released] = 0
        return _at(self.resume[released], released)


def _at(pcs: np.ndarray, wavefronts: np.ndarray) -> Destinations:
    """The wavefronts by the PCs at which they are."""
    return [(int(pc), wavefronts[pcs == pc]) for pc in np.unique(pcs)]
