"""The maximum frequency of units, as ``fgpu synth`` reports it."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from fgpu.config import Config

from .baselines import steps

if TYPE_CHECKING:
    from fgpu.tools.timing import Timing

__all__ = ["DEFAULT", "UNASKED", "as_dict", "check_refine", "chosen", "measure", "report"]

DEFAULT = "compute_unit"
UNASKED = "ecp5"
"""The family whose frequency is told without being asked for."""


def check_refine(family: str, placed: bool) -> None:
    """Raises :class:`click.UsageError` where cells cannot be moved between placing and routing."""
    from fgpu.tools.families import TIMED_FAMILIES

    able = [name for name, each in TIMED_FAMILIES.items() if each.device is not None and each.device.fixed]
    if family not in able:
        raise click.UsageError(f"--refine needs --family {' or '.join(able)}")
    if placed:
        raise click.UsageError("--refine and --placed exclude each other: cells are moved for routing")


def chosen(family: str, names: tuple[str, ...] | None, without: bool) -> tuple[str, ...]:
    """The names of the units to measure; ``names`` is what was asked for, ``without`` asks for none.

    Unasked, it is a compute unit, of an ECP5 where its nextpnr is installed. Raises :class:`click.UsageError` for
    options that contradict each other and for unknown names, :class:`~fgpu.errors.MissingExtraError` without nextpnr.
    """
    from fgpu.tools import timing
    from fgpu.tools.families import TIMED_FAMILIES
    from fgpu.tools.units import TIMED

    if names is None:
        return (DEFAULT,) if family == UNASKED and not without and timing.is_installed(family) else ()
    if without:
        raise click.UsageError("--timing and --no-timing exclude each other")
    if family not in TIMED_FAMILIES:
        raise click.UsageError(f"--timing needs --family {' or '.join(TIMED_FAMILIES)}")
    for name in names:
        if name not in TIMED:
            raise click.UsageError(f"--timing takes {', '.join(TIMED)}, not {name!r}")
    timing.tools(family)
    return names


def measure(name: str, config: Config, family: str, *, route: bool = True, seeds: int = 1,
            refine: bool = False) -> list["Timing"]:
    """The timing of a unit, with a display while it is measured; without ``route`` that of each module in it."""
    from fgpu.tools import timing
    from fgpu.tools.units import TIMED

    unit = TIMED[name](config)
    if not route:
        with steps(name) as step:
            return timing.placed_timings(unit, family, step=step)
    with steps(name) as step:
        return [timing.component_timing(unit, family, seeds=range(1, seeds + 1), refine=refine, step=step)]


def as_dict(name: str, timings: list["Timing"], *, route: bool = True) -> dict[str, Any]:
    """For a JSON file."""
    found: dict[str, Any] = {"unit": name, **asdict(timings[0])}
    return found if route else {**found, "placed": [asdict(each) for each in timings]}


def report(name: str, timings: list["Timing"], family: str, *, route: bool = True) -> str:
    """A line, and the slowest path; without ``route`` also the slowest path into each of the other modules."""
    from fgpu.tools.families import FAMILIES
    from fgpu.tools.timing import tools

    slowest = timings[0]
    device = FAMILIES[family].device
    assert device is not None
    yosys, nextpnr = tools(family)
    how = "routed" if route else "placed, not routed"
    expected = f", {slowest.placed:.1f} expected when placed" if slowest.placed is not None else ""
    lines = [f"{name} by itself on {device.title}: {slowest.frequency:.1f} MHz {how}{expected} "
             f"({yosys}, {nextpnr}). The slowest path takes {slowest.delay:.1f} ns:"]
    lines += [f"  {place.arrival:5.1f} ns  {place.signal}" for place in slowest.path]
    if slowest.expected:
        best = sorted(slowest.expected, key=lambda each: -each[1])
        lines.append(f"The best of {len(best)} seeds, as placed, was routed: " + ", ".join(
            f"{frequency:.1f} (seed {seed})" for seed, frequency in best))
    elif len(timings) > 1:
        lines.append("Into other modules:")
        lines += [f"  {each.delay:5.1f} ns  {each.path[0].signal} -> {each.path[-1].signal}" for each in timings[1:]]
    return "\n".join([*lines, *([device.remark] if device.remark else [])])
