"""The area of each unit today, checked in: whoever moves one says so in the same commit."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final

from fgpu.config import Config
from fgpu.tools.area import component_area
from fgpu.tools.units import UNITS

from .checked_in import read_figures, write_figures

__all__ = ["BASELINE", "QUICK", "REWRITE", "UNITS", "differences", "load", "measure", "save"]

BASELINE: Final = Path(__file__).parent / "area.json"
REWRITE: Final = "fgpu synth --write-baseline"
"""The command that measures the areas anew."""

QUICK: Final = ("pe", "coalescer", "divergence", "launcher", "control", "scheduler", "memory_controller", "cache",
                "float_adder")
"""Those that every run of the tests measures; the others move seldom."""

Areas = dict[str, dict[str, float]]


def measure(names: tuple[str, ...] = tuple(UNITS),
            progress: Callable[[int, int], None] = lambda done, total: None) -> Areas:
    """Synthesize units. ``progress`` is told how many are done.

    Raises :class:`~fgpu.errors.ToolError` when Yosys fails.
    """
    areas: Areas = {}
    for name in names:
        areas[name] = asdict(component_area(UNITS[name](Config())))
        progress(len(areas), len(names))
    return areas


def load() -> Areas:
    """The checked-in areas."""
    areas: Areas = read_figures(BASELINE)
    return areas


def save(areas: Areas) -> None:
    """Make these the baselines."""
    write_figures(BASELINE, areas)


def differences(baseline: Areas, areas: Areas) -> Iterator[str]:
    """What moved, for better or worse, a line each."""
    for unit in areas:
        before = baseline.get(unit)
        if before is None:
            yield f"{unit} is new"
            continue
        for kind, now in areas[unit].items():
            if before.get(kind) != now:
                yield f"{unit}: {kind} {before.get(kind, 0):,} became {now:,}"
