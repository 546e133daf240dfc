"""The time that runs take, at the clock that ``--mhz`` tells."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

import click

from fgpu.config import Config
from fgpu.errors import LaunchError

if TYPE_CHECKING:
    from fgpu.benchmarks import Record
    from fgpu.benchmarks.campaign import Point

__all__ = ["BASELINE", "Clock", "Megahertz", "clock_of"]

BASELINE: Final = "baseline"
_UNITS: Final = "compute_units"
Clock = Callable[["Record"], float | None]
"""MHz of the core that a run was on; None if nobody has said or measured it."""


class Megahertz(click.ParamType):
    """``59.1``; or ``baseline``, which stands for what is checked in."""

    name = "MHZ"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """The number of MHz, or the word."""
        if value == BASELINE or isinstance(value, float):
            return value
        try:
            mhz = float(value)
        except ValueError:
            mhz = 0.0
        if not 0 < mhz < float("inf"):
            self.fail(f"{value!r} must be a clock in MHz, as 59.1, or {BASELINE}", param, ctx)
        return mhz


def clock_of(mhz: float | str | None, points: "Sequence[Point]") -> Clock:
    """The clock of each run of ``points``: ``mhz``, or by ``baseline`` what was measured of the default core of as
    many compute units. The scalar processor, another design, has none.

    Raises :class:`~fgpu.errors.LaunchError` where ``baseline`` was not measured.
    """
    from fgpu.benchmarks.scalar import SCALAR

    if not isinstance(mhz, str):
        return lambda record: None if record.engine == SCALAR else mhz
    from fgpu.benchmarks.timing import core_frequency

    cores = {point.config for point in points if point.engine != SCALAR}
    for config in cores:
        default = Config(compute_units=config.compute_units)
        changed = [field.name for field in fields(Config)
                   if getattr(config, field.name) != getattr(default, field.name)]
        if changed:
            raise LaunchError(
                f"--mhz {BASELINE} knows the default core only, and this one has another {', '.join(changed)}: "
                "fgpu synth --family ecp5 --timing core measures it with the same options, for --mhz NUMBER")
    measured = {units: core_frequency(units) for units in sorted(config.compute_units for config in cores)}
    # A benchmark may have added what it needs to its core, such as atomic operations.
    return lambda record: None if record.engine == SCALAR or set(record.config) - {_UNITS} else measured[record.cus]
