"""The frequency of each unit and of whole cores today, placed and routed, checked in."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from fgpu.config import Config
from fgpu.errors import LaunchError
from fgpu.tools.timing import Step, component_timing, tools
from fgpu.tools.units import TIMED

from .checked_in import read_figures, write_figures

__all__ = ["BASELINE", "MEASURED", "REWRITE", "core_frequency", "differences", "load", "measure", "save"]

BASELINE: Final = Path(__file__).parent / "timing.json"
REWRITE: Final = "fgpu synth --write-timing"
"""The command that measures the frequencies anew."""

MEASURED: Final = {name: (name, 1) for name in TIMED} | {"core_of_4": ("core", 4)}
"""What is measured, of the default configuration: a unit, and the number of compute units."""

Frequencies = dict[str, dict[str, Any]]


def measure(names: tuple[str, ...], seeds: int = 1, refine: bool = False,
            step: Step = lambda text: None) -> Frequencies:
    """Place and route units on an ECP5 of 85,000 LUTs and speed grade 6. ``step`` is told what begins.

    Of so many ``seeds`` the best as placed, ``seed``, was routed; ``placed`` is what was expected of it, ``least`` of
    the worst. The slowest path goes ``from`` a register ``to`` another; ``refined``: cells were moved after they had
    been placed. Raises :class:`~fgpu.errors.ToolError` when a tool fails.
    """
    found: Frequencies = {}
    used = ", ".join(map(str, tools()))
    for name in names:
        unit, count = MEASURED[name]
        timing = component_timing(TIMED[unit](Config(compute_units=count)), seeds=range(1, seeds + 1), refine=refine,
                                  step=partial(_of, step, name))
        least = min((frequency for _, frequency in timing.expected), default=timing.placed)
        found[name] = {
            "placed": timing.placed, "routed": timing.frequency, "least": least, "seed": timing.seed, "seeds": seeds,
            **({"refined": True} if refine else {}),
            "from": timing.path[0].signal, "to": timing.path[-1].signal, "by": used,
        }
    return found


def _of(step: Step, name: str, text: str) -> None:
    step(f"{name}, {text}")


def load() -> Frequencies:
    """The checked-in frequencies."""
    found: Frequencies = read_figures(BASELINE)
    return found


def core_frequency(compute_units: int) -> float:
    """MHz of the default core, routed, as it is checked in.

    Raises :class:`~fgpu.errors.LaunchError` if nobody has measured it.
    """
    found, core = load(), ("core", compute_units)
    for name, measured in MEASURED.items():
        if measured == core and name in found:
            return float(found[name]["routed"])
    names = [name for name, measured in MEASURED.items() if measured == core]
    how = (f"{REWRITE} --timing {names[0]} measures it" if names else
           f"fgpu synth --family ecp5 --timing core --cus {compute_units} measures it, for --mhz NUMBER")
    raise LaunchError(f"benchmarks/{BASELINE.name} has no clock of a core of {compute_units} compute unit(s): {how}, "
                      "where it fits into the device")


def save(frequencies: Frequencies) -> None:
    """Make these the baseline."""
    write_figures(BASELINE, frequencies)


def differences(baseline: Frequencies, frequencies: Frequencies) -> Iterator[str]:
    """What moved, for better or worse, a line each."""
    for name, now in frequencies.items():
        before = baseline.get(name)
        if before is None:
            yield f"{name}: {now['routed']:.1f} MHz routed, is new"
        elif before["routed"] != now["routed"]:
            yield f"{name}: {before['routed']:.1f} MHz routed became {now['routed']:.1f}"
