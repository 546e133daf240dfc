"""Wavefronts whose work-items part and meet by one of the schemes."""

from collections.abc import Callable

import numpy as np

from fgpu.sim.functional.wavefronts import Destinations, StackOverflow, Wavefronts

from . import SCHEMES
from .interface import FullStack, Paths

__all__ = ["SchemeWavefronts"]


class SchemeWavefronts(Wavefronts):
    """:class:`~fgpu.sim.functional.wavefronts.Wavefronts`, each with paths of its own."""

    def __init__(self, scheme: str, masks: np.ndarray, stack_depth: int, per_group: int) -> None:
        super().__init__(masks, stack_depth, per_group)
        self._scheme = SCHEMES[scheme]
        self._paths = [self._scheme(int(mask), stack_depth) for mask in masks]

    def _each(self, wavefronts: np.ndarray, move: Callable[[int, Paths], int | None]) -> np.ndarray:
        """The PCs to which ``move`` leads each; -1: nobody goes on."""
        pcs = np.full(len(wavefronts), -1, dtype=np.int64)
        for at, wavefront in enumerate(wavefronts.tolist()):
            paths = self._paths[wavefront]
            paths.mask = int(self.masks[wavefront])
            try:
                pc = move(wavefront, paths)
            except FullStack:
                raise StackOverflow(wavefront) from None
            self.masks[wavefront] = paths.mask
            self.deepest = max(self.deepest, paths.deepest)
            pcs[at] = -1 if pc is None else pc
        return pcs

    def stop(self, pc: int, wavefronts: np.ndarray, stop: int) -> int:
        for wavefront in wavefronts.tolist():
            watch = self._paths[wavefront].watch
            if watch is not None and pc < watch < stop:
                stop = watch
        return stop

    def settle(self, pc: int, wavefronts: np.ndarray) -> Destinations:
        watched = [wavefront for wavefront in wavefronts.tolist() if self._paths[wavefront].is_due(pc)]
        if not watched:
            return [(pc, wavefronts)]
        before = [(self._paths[wavefront].joins, self._paths[wavefront].join_items) for wavefront in watched]
        moved = np.array(watched)
        found = self._at(self._each(moved, lambda _wavefront, paths: paths.settle(pc)), moved)
        for wavefront, (joins, items) in zip(watched, before, strict=True):
            self.joins += self._paths[wavefront].joins - joins
            self.join_items += self._paths[wavefront].join_items - items
        others = wavefronts[~np.isin(wavefronts, moved)]
        return [*([(pc, others)] if len(others) else []), *found]

    @property
    def joins_are_issued(self) -> bool:
        return self._scheme.joins_are_issued

    def branch(self, wavefronts: np.ndarray, taken: np.ndarray, target: int, following: int) -> Destinations:
        takes = dict(zip(wavefronts.tolist(), taken.tolist(), strict=True))

        def move(wavefront: int, paths: Paths) -> int:
            mine = takes[wavefront]
            if mine in (0, paths.mask):
                paths.place = None
                return target if mine else following
            self.divergences += 1
            return paths.branch(following - 1, mine, target, following)
        return self._at(self._each(wavefronts, move), wavefronts)

    def meet(self, wavefronts: np.ndarray, place: int) -> None:
        for wavefront in wavefronts.tolist():
            self._paths[wavefront].place = place

    def pass_branch(self, wavefronts: np.ndarray) -> None:
        for wavefront in wavefronts.tolist():
            self._paths[wavefront].place = None

    def call(self, wavefronts: np.ndarray, target: int, following: int) -> Destinations:
        return self._at(self._each(wavefronts, lambda _wavefront, paths: paths.call(target, following)), wavefronts)

    def ret(self, wavefronts: np.ndarray) -> Destinations:
        pcs = self._each(wavefronts, lambda _wavefront, paths: paths.ret())
        last = wavefronts[pcs < 0]
        self._end(last)
        return self._at(pcs, wavefronts) + (self._release(last) if self._has_barriers and len(last) else [])

    def sync(self, wavefronts: np.ndarray, following: int) -> Destinations:
        self._park(wavefronts, following)
        pcs = self._each(wavefronts, lambda _wavefront, paths: paths.park())
        whole = wavefronts[pcs < 0]
        self._wait(whole)
        return self._at(pcs, wavefronts) + self._release(whole)

    @staticmethod
    def _at(pcs: np.ndarray, wavefronts: np.ndarray) -> Destinations:
        return [(int(pc), wavefronts[pcs == pc]) for pc in np.unique(pcs[pcs >= 0])]
