"""A profile: what happened at each instruction of a kernel, and so at each line of its source."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from fgpu.compiler.ir.module import Location
from fgpu.config import WAVEFRONT_SIZE, Config
from fgpu.probe import Bucket, WavefrontState

from .testbench.abi import ProfileEntry

__all__ = ["ENTRY", "LineProfile", "ListedLine", "Profile", "joined_profiles"]

ENTRY: Final = np.dtype(ProfileEntry)
"""The counters of one instruction (:class:`~fgpu.sim.testbench.abi.ProfileEntry`)."""

BUCKETS: Final = {bucket.name.lower(): bucket.value for bucket in Bucket if bucket is not Bucket.NO_WAVEFRONT}
"""What the cycles of a compute unit that belong to an instruction can be, by its place in ``cycles``."""
STATES: Final = {state.name.lower(): state.value for state in WavefrontState
                 if state not in (WavefrontState.FREE, WavefrontState.STOPPED)}
"""What a wavefront can wait for, by its place in ``waits``; ``ready``: for its turn."""


@dataclass(frozen=True, kw_only=True)
class LineProfile:
    """The sums of some instructions' counters: of a line's, or of one alone."""

    issues: int
    """Instructions of wavefronts."""
    work_items: int
    """The same, counted for each enabled work-item."""
    cycles: Mapping[str, int]
    """Cycles of compute units by what they did (:class:`~fgpu.probe.Bucket`): they executed an instruction of here,
    or their first wavefront that waited for that did so here."""
    waits: Mapping[str, int]
    """Cycles of wavefronts, each of which waits for something in most of its cycles, by what for
    (:class:`~fgpu.probe.WavefrontState`)."""
    phases: int
    """Accesses to global memory, counted for eight work-items at a time."""
    accesses: int
    """... and for each work-item."""
    lines: int
    """Lines of the cache that these phases were in, counted for each phase: one where neighbours are neighbours."""
    fills: int
    """Bursts that the cache read from memory for lines that an instruction of here was the last to access."""
    refills: int
    """Those of them for lines that had been read before in this launch: they did not stay in the cache."""

    @property
    def all_cycles(self) -> int:
        """Cycles of compute units that were spent here."""
        return sum(self.cycles.values())

    @property
    def occupancy(self) -> float:
        """Enabled work-items of an instruction, on average, of all that a wavefront has: 0 to 1."""
        return self.work_items / (WAVEFRONT_SIZE * self.issues) if self.issues else 0.0


class ListedLine(NamedTuple):
    """A line of a file, and what happened there, if anything did."""

    number: int
    text: str
    profile: LineProfile | None
    words: Sequence[int]
    """Its instructions, by their indices."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What happened at each instruction of a launch.

    The sums over all instructions are the totals of the launch, to the cycle: ``issues`` and ``work_items`` are the
    run's ``instructions`` and ``work_item_instructions``, ``fills`` the read bursts of all AXI ports, ``cycles``
    those of ``cu0.issue`` to ``cu0.barrier`` in its ``stats``, of all compute units, ``waits`` those of
    ``wavefront_cycles``.
    """

    kernel: str
    config: Config
    words: Sequence[int]
    """The program."""
    locations: Mapping[int, Location]
    """The source lines of its words, as far as they are known."""
    entries: np.ndarray
    """:data:`ENTRY` for each word, and one for what was behind them."""
    cycles: int
    """Of the launch."""
    stats: Mapping[str, int] = field(default_factory=dict)
    """The other counters of the launch."""

    @cached_property
    def total(self) -> LineProfile:
        """Of all instructions."""
        return self.of(range(len(self.entries)))

    def of(self, words: Sequence[int]) -> LineProfile:
        """Of some instructions, by their indices."""
        entries = self.entries[list(words)]

        def named(name: str, places: Mapping[str, int]) -> dict[str, int]:
            sums = entries[name].sum(axis=0, dtype=np.uint64)
            return {each: int(sums[place]) for each, place in places.items()}

        def summed(name: str) -> int:
            return int(entries[name].sum(dtype=np.uint64))

        return LineProfile(
            issues=summed("issues"), work_items=summed("work_items"), cycles=named("cycles", BUCKETS),
            waits=named("waits", STATES), phases=summed("phases"), accesses=summed("accesses"),
            lines=summed("lines"), fills=summed("fills"), refills=summed("refills"))

    @cached_property
    def lines(self) -> dict[Location | None, LineProfile]:
        """Of each source line that did something; ``None``: what has no line."""
        return {location: self.of(words) for location, words in self._words_of_lines.items()}

    @cached_property
    def _words_of_lines(self) -> dict[Location | None, list[int]]:
        words: dict[Location | None, list[int]] = {}
        for word in self.active:
            words.setdefault(self.locations.get(word), []).append(word)
        order = sorted(words, key=lambda at: ("", 0) if at is None else (at.file, at.line))
        return {location: words[location] for location in order}

    def listing(self, sources: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, list[ListedLine]]]:
        """The files, and their lines from the first to the last that did something; of a file that is not in
        ``sources``, which has the files' lines, those alone. What has no line is line 0 of the file ``""``."""
        files: dict[str, dict[int, Location | None]] = {}
        for at in self.lines:
            files.setdefault(at.file if at else "", {})[at.line if at else 0] = at
        for file, places in files.items():
            text = sources.get(file, ())
            numbers = range(min(places), max(places) + 1) if text else sorted(places)
            yield file, [
                ListedLine(number, text[number - 1] if 0 < number <= len(text) else "",
                           *((self.lines[places[number]], self._words_of_lines[places[number]])
                             if number in places else (None, ())))
                for number in numbers]

    @cached_property
    def active(self) -> list[int]:
        """The instructions at which a wavefront ever was."""
        plain = self.entries.view(np.uint64).reshape(len(self.entries), -1)
        return [int(word) for word in np.nonzero(plain.any(axis=1))[0]]

    def to_json(self) -> dict[str, Any]:
        """All of it in JSON's types."""
        return {
            "kernel": self.kernel, "cycles": self.cycles, "compute_units": self.config.compute_units,
            "total": _plain(self.total), "stats": dict(self.stats),
            "lines": [{"file": at.file if at else None, "line": at.line if at else None, **_plain(line)}
                      for at, line in self.lines.items()],
            "instructions": list(self._instructions()),
        }

    def _instructions(self) -> Iterator[dict[str, Any]]:
        from fgpu.compiler.assembler.disassembler import instruction_text  # needed for reports only

        for word in self.active:
            at = self.locations.get(word)
            text = instruction_text(int(self.words[word]), word) if word < len(self.words) else "behind the program"
            yield {"pc": word, "text": text, "file": at.file if at else None, "line": at.line if at else None,
                   **_plain(self.of([word]))}


def joined_profiles(profiles: Sequence[Profile]) -> Profile:
    """The profile of launches of one kernel, one after the other."""
    stats: Counter[str] = Counter()
    entries = np.zeros_like(profiles[0].entries)
    sums = entries.view(np.uint64)
    for profile in profiles:
        stats.update(profile.stats)
        sums += profile.entries.view(np.uint64)
    return replace(profiles[0], entries=entries, stats=dict(stats), cycles=sum(each.cycles for each in profiles))


def _plain(line: LineProfile) -> dict[str, Any]:
    return {"issues": line.issues, "work_items": line.work_items, "occupancy": round(line.occupancy, 4),
            "cycles": dict(line.cycles), "waits": dict(line.waits), "phases": line.phases,
            "accesses": line.accesses, "lines": line.lines, "fills": line.fills, "refills": line.refills}

