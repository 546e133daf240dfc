"""Tells when wavefronts take each other's lines out of the cache."""

from typing import Final

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import Config
from fgpu.interfaces.memory_bus import Loading

__all__ = ["ReuseMonitor"]

_LOOK: Final = 4
"""Reads of parts of lines, for each line of the cache, after which it is decided, while all load: a program that
begins misses less than three of eight of them."""
_MOST_TRIALS: Final = 64
"""Of the longest time until all may load again (a power of two)."""
_STREAM: Final = 64
"""Reads of whole lines, beyond those of parts, that tell that a program streams (a power of two)."""


def _trial(config: Config) -> int:
    """The same while not all load: more than were on their way before."""
    return 2 * _LOOK if config.compute_units == 1 else 4 * _LOOK


class ReuseMonitor(wiring.Component):
    """Says who shall load (``loading``), so that lines stay in the cache until they are used up.

    A wavefront whose work-items each read an array of their own, word after word, needs 64 lines until it has read
    all their words. Eight such wavefronts need more lines than the cache has. If they take turns, each finds its
    lines gone, and every word costs a line; one after the other, each line comes once.

    What counts is the reads of a part of a line, ``partial``, that the tag stage ``passes`` on, and which of them are
    a ``miss``: at first those that are ``scattered``, too, with one work-item for each row. If three of eight are,
    one wavefront of each compute unit loads at a time, and from then on all misses count. Where half as many still
    miss, it is one wavefront of one compute unit; where three quarters do even so, the program reads like that, and
    all load, for long. The first reads of each attempt are not counted. Where one helps, all may load again after a
    while, too, until as many miss as before; then the next while is twice as long. Once the program reads ``whole``
    lines instead, at which one wavefront is slow, all load, and it begins anew. ``restart`` (a pulse): the kernel has
    ended.

    After T. G. Rogers, M. O'Connor and T. M. Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "passes": In(1),
            "scattered": In(1),
            "partial": In(1),
            "whole": In(1),
            "miss": In(1),
            "restart": In(1),
            "loading": Out(Loading),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        passes, scattered, partial, whole, miss = Signal(), Signal(), Signal(), Signal(), Signal()
        m.d.sync += [passes.eq(self.passes), scattered.eq(self.scattered), partial.eq(self.partial),
                     whole.eq(self.whole), miss.eq(self.miss)]
        counts, counts_miss, restrains, anew, early = Signal(), Signal(), Signal(), Signal(), Signal()
        trials = Signal(range(_MOST_TRIALS + 1), init=1)            # of the next while
        settles = Signal()                                          # in the first trial of an attempt
        m.d.comb += [
            counts.eq(passes & partial),
            counts_miss.eq(miss & (scattered | restrains)),
            restrains.eq(self.loading != Loading.ALL),
            anew.eq(self.restart | self._streams(m, restrains, passes & partial, passes & whole)),
            early.eq(Mux(restrains, ~settles, ~trials[0])),         # many misses decide before all reads came
        ]
        base = Signal(range(_LOOK * self._config.slice_lines + 1))  # misses when not all began to load
        decides, many, misses = self._count(m, counts, counts_miss, restrains, early, anew, base)

        helps = Signal(Loading, init=Loading.ONE_WAVEFRONT)         # or is tried first
        left = Signal(range(self._pause + 1))                       # decisions that are not taken
        with m.If(decides):
            with m.If(settles):
                m.d.sync += settles.eq(0)
            with m.Elif(restrains & many):
                with m.If(self.loading == self._strongest):
                    m.d.sync += [self.loading.eq(Loading.ALL), helps.eq(Loading.ONE_WAVEFRONT), trials.eq(1),
                                 left.eq(self._pause)]
                with m.Else():
                    m.d.sync += [self.loading.eq(self._strongest), helps.eq(self._strongest), left.eq(trials),
                                 settles.eq(1)]
            with m.Elif(left != 0):
                m.d.sync += left.eq(left - 1)
            with m.Elif(restrains):
                m.d.sync += self.loading.eq(Loading.ALL)
                with m.If(~trials[-1]):
                    m.d.sync += trials.eq(trials << 1)
            with m.Elif(many):
                m.d.sync += [self.loading.eq(helps), left.eq(trials), settles.eq(1)]
                with m.If(~early):
                    m.d.sync += base.eq(misses)
            with m.Else():
                m.d.sync += [helps.eq(Loading.ONE_WAVEFRONT), trials.eq(1)]
        with m.If(anew):
            m.d.sync += [self.loading.eq(Loading.ALL), helps.eq(Loading.ONE_WAVEFRONT), trials.eq(1), left.eq(0),
                         settles.eq(0)]
        return m

    @property
    def _strongest(self) -> Loading:
        return Loading.ONE_WAVEFRONT if self._config.compute_units == 1 else Loading.ONE_UNIT

    @property
    def _pause(self) -> int:
        """Decisions that are not taken where nothing helps."""
        return _MOST_TRIALS * _trial(self._config) // _LOOK

    @staticmethod
    def _streams(m: Module, restrains: Value, partial: Value, whole: Value) -> Value:
        """Whether more whole lines were read than parts of lines since not all load."""
        beyond = Signal(range(_STREAM + 1))
        streams = beyond[-1]
        with m.If(whole):
            m.d.sync += beyond.eq(beyond + 1)
        with m.Elif(partial & beyond.any()):
            m.d.sync += beyond.eq(beyond - 1)
        with m.If(~restrains | streams):
            m.d.sync += beyond.eq(0)
        return streams

    def _count(self, m: Module, counts: Signal, miss: Signal, restrains: Signal, early: Signal, anew: Signal,
               base: Signal) -> tuple[Signal, Signal, Signal]:
        """When as many reads were counted as a decision takes, whether too many of them missed, and how many."""
        look, trial = (times * self._config.slice_lines for times in (_LOOK, _trial(self._config)))
        reads, misses = Signal(range(trial)), Signal(range(trial))
        decides, many = Signal(), Signal()
        few = look * 3 // 8
        most = Signal(range(trial + 1), init=few)
        before = trial // look * base       # of so many reads, while all loaded
        m.d.sync += most.eq(Mux(self.loading == self._strongest, before - (before >> 2),
                                Mux(restrains, before >> 1, few)))
        m.d.sync += decides.eq((counts & (reads == Mux(restrains, trial - 1, look - 1))) | (early & many))
        with m.If(counts):
            m.d.sync += [reads.eq(reads + 1), misses.eq(misses + miss)]
        with m.If(misses == most):
            m.d.sync += many.eq(1)
        with m.If(decides | anew):
            m.d.sync += [reads.eq(0), misses.eq(0), many.eq(0), decides.eq(0)]
        return decides, many, misses
