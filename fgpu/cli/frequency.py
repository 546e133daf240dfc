"""The maximum frequency of units on an ECP5, as ``fgpu synth`` reports it."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from amaranth.lib import wiring

from fgpu.config import Config
from fgpu.extras import demand, is_installed

from .baselines import progress_bar

if TYPE_CHECKING:
    from fgpu.tools.timing import Timing

__all__ = ["DEFAULT", "as_dict", "chosen", "measure", "report", "units"]

DEFAULT = "compute_unit"


def units() -> dict[str, Callable[[Config], wiring.Component]]:
    """What can be placed and routed by itself, by name."""
    from fgpu.core import FGPU
    from fgpu.cu.compute_unit import ComputeUnit
    from fgpu.tools.units import UNITS

    return {DEFAULT: ComputeUnit, **UNITS, "core": FGPU}


def chosen(family: str, names: tuple[str, ...] | None, without: bool) -> tuple[str, ...]:
    """The names of the units to measure; ``names`` is what was asked for, ``without`` asks for none.

    Unasked, it is a compute unit of an ECP5 where nextpnr is installed. Raises :class:`click.UsageError` for options
    that contradict each other and for unknown names, :class:`~fgpu.errors.MissingExtraError`
    without nextpnr.
    """
    if names is None:
        return (DEFAULT,) if family == "ecp5" and not without and is_installed("timing") else ()
    if without:
        raise click.UsageError("--timing and --no-timing exclude each other")
    if family != "ecp5":
        raise click.UsageError("--timing needs --family ecp5")
    known = units()
    for name in names:
        if name not in known:
            raise click.UsageError(f"--timing takes {', '.join(known)}, not {name!r}")
    demand("--timing", "timing")
    return names


def measure(name: str, config: Config, *, route: bool = True) -> list["Timing"]:
    """The timing of a unit, with a display while it is measured; without ``route`` for each module in it."""
    from fgpu.tools import timing

    unit = units()[name](config)
    if not route:
        with progress_bar(f"placing {name}"):
            return timing.placed_timings(unit)
    with progress_bar(f"placing and routing {name}"):
        return [timing.component_timing(unit)]


def as_dict(name: str, timings: list["Timing"], *, route: bool = True) -> dict[str, Any]:
    """For a JSON file."""
    found: dict[str, Any] = {"unit": name, **asdict(timings[0])}
    return found if route else {**found, "placed": [asdict(each) for each in timings]}


def report(name: str, timings: list["Timing"], *, route: bool = True) -> str:
    """A line, and the slowest path; without ``route`` also the slowest path into each of the other modules."""
    from fgpu.tools.timing import SPEED_GRADE

    slowest = timings[0]
    how = "nextpnr" if route else "nextpnr, placed, not routed"
    lines = [f"{name} by itself on an ECP5 of speed grade {SPEED_GRADE}: {slowest.frequency:.1f} MHz ({how}). "
             f"The slowest path takes {slowest.delay:.1f} ns:"]
    lines += [f"  {place.arrival:5.1f} ns  {place.signal}" for place in slowest.path]
    if len(timings) > 1:
        lines.append("Into other modules:")
        lines += [f"  {each.delay:5.1f} ns  {each.path[0].signal} -> {each.path[-1].signal}" for each in timings[1:]]
    return "\n".join(lines)
