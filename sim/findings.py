"""What a profile says in words: the few things that matter most, each by a rule."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from fgpu.compiler.ir.module import Location
from fgpu.config import PE_COUNT

from .places import Places
from .profile import LineProfile, Profile

__all__ = ["Finding", "findings"]

_MANY: Final = 0.1
"""A finding is worth telling from this share of the compute units' cycles on."""
_SPREAD: Final = 2.0
"""Lines of the cache for eight work-items from which on they count as far from each other."""
_REFILLED: Final = 0.5
"""Share of a line's fills that are not the first, from which on the cache is too small for what the kernel does."""
_FULL: Final = 0.5
"""Occupancy below which a line counts as divergent."""
_BOUND: Final = 0.75
"""Share of cycles with instructions from which on a kernel is bound by their number."""


@dataclass(frozen=True)
class Finding:
    """Something that costs time."""

    rule: str
    """Which rule found it: the name of its heading in ``docs/performance.md``."""
    location: Location | None
    """Where; None: it is about all of the kernel."""
    share: float
    """What part of all cycles of compute units it is about, 0 to 1."""
    text: str
    """A sentence or two for people."""

    def __str__(self) -> str:
        return f"{f'line {self.location.line}: ' if self.location else ''}{self.text}"


def findings(profile: Profile, most: int = 3) -> list[Finding]:
    """What costs most, at most so many, the greatest first."""
    every = profile.cycles * profile.config.compute_units
    found = [finding for rule in _RULES for finding in rule(profile, max(every, 1)) if finding.share >= _MANY]
    return sorted(found, key=lambda finding: -finding.share)[:most]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} percent of all cycles"


def _loads(profile: Profile, every: int) -> Iterator[Finding]:
    """Waiting for data is due to the line of the load, which may be another than that where its data are used."""
    places = Places(profile.words, profile.kernel, profile.locations)
    cycles: dict[Location | None, int] = {}
    loads: dict[Location | None, set[int]] = {}
    for word in profile.active:
        waited = profile.of([word]).cycles["memory_read"]
        load = places.awaited(word) if waited else None
        at = profile.locations.get(word if load is None else load)
        cycles[at] = cycles.get(at, 0) + waited
        loads.setdefault(at, set()).update(() if load is None else (load,))
    for at, waited in cycles.items():
        if waited:
            line = profile.of(sorted(loads[at]))
            share = waited / every
            yield Finding("waiting for data", at, share,
                          f"{_percent(share)} wait for what is loaded here{_spread(line)}{_again(line)}.")


def _spread(line: LineProfile) -> str:
    spread = line.lines / line.phases if line.phases else 0
    return (f"; {PE_COUNT} neighbouring work-items read {spread:.1f} lines of the cache: let neighbours read "
            "neighbouring addresses") if spread >= _SPREAD else ""


def _again(line: LineProfile) -> str:
    share = line.refills / line.fills if line.fills else 0
    return (f"; {100 * share:.0f} percent of what was read from memory for it had been in the cache before: smaller "
            "tiles stay there, or in local memory") if share >= _REFILLED else ""


def _scattered(profile: Profile, every: int) -> Iterator[Finding]:
    for at, line in profile.lines.items():
        spread = line.lines / line.phases if line.phases else 0
        share = line.cycles["write_pressure"] / every
        if share:
            text = f"{_percent(share)} wait until the memory controller takes an access of this line"
            if spread >= _SPREAD:
                text += f", whose {PE_COUNT} neighbouring work-items are in {spread:.1f} lines of the cache"
            yield Finding("accesses that queue", at, share, f"{text}.")


def _divergence(profile: Profile, every: int) -> Iterator[Finding]:
    for at, line in profile.lines.items():
        if line.issues and line.occupancy < _FULL:
            share = line.cycles["issue"] * (1 - line.occupancy) / every
            yield Finding("divergence", at, share,
                          f"of the instructions here only {100 * line.occupancy:.0f} percent of the work-items take "
                          f"part, which costs {_percent(share)}: work-items of a wavefront go different ways.")


def _branches(profile: Profile, every: int) -> Iterator[Finding]:
    for at, line in profile.lines.items():
        share = line.cycles["branch"] / every
        yield Finding("branches", at, share, f"{_percent(share)} wait until it is known where the branch here leads.")


def _barriers(profile: Profile, every: int) -> Iterator[Finding]:
    for at, line in profile.lines.items():
        share = line.cycles["barrier"] / every
        yield Finding("barriers", at, share, f"{_percent(share)} wait at the barrier here for the rest of the "
                      "work-group.")


def _fetches(profile: Profile, every: int) -> Iterator[Finding]:
    share = profile.total.cycles["fetch"] / every
    yield Finding("fetches", None, share, f"{_percent(share)} wait for instructions: few wavefronts, or many "
                  "branches.")


def _results(profile: Profile, every: int) -> Iterator[Finding]:
    share = profile.total.cycles["execute"] / every
    yield Finding("results", None, share, f"{_percent(share)} wait for results of instructions just issued: there "
                  "are too few wavefronts, or too few independent instructions in each.")


def _idle(profile: Profile, every: int) -> Iterator[Finding]:
    share = 1 - profile.total.all_cycles / every
    yield Finding("idle compute units", None, share, f"{_percent(share)} pass without work in a compute unit: there "
                  "are too few work-groups, they end at different times, or the cache is written back at the end.")


def _issue(profile: Profile, every: int) -> Iterator[Finding]:
    share = profile.total.cycles["issue"] / every
    if share >= _BOUND and profile.lines:
        at, line = max(profile.lines.items(), key=lambda item: item[1].cycles["issue"])
        here = line.cycles["issue"] / every
        where = f"; line {at.line} has most of them, {100 * here:.0f} percent" if at else ""
        yield Finding("instructions", None, share - _BOUND + _MANY, f"instructions are issued in {_percent(share)}: "
                      f"only fewer instructions make it faster{where}.")


_RULES: Final[tuple[Callable[[Profile, int], Iterator[Finding]], ...]] = (
    _loads, _scattered, _divergence, _branches, _barriers, _fetches, _results, _idle, _issue)
