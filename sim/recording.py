"""Which events of a launch are recorded: of which cycles, and of which parts of the core."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fgpu.config import WAVEFRONTS, Config
from fgpu.errors import LaunchError

__all__ = ["CYCLES_END", "Parts", "Recording", "check_window"]

CYCLES_END: Final = (1 << 63) - 1
"""Behind every cycle."""


def check_window(window: tuple[int, int] | None) -> None:
    """Raises :class:`~fgpu.errors.LaunchError` for cycles that cannot be."""
    match window:
        case None:
            pass
        case (int() as first, int() as end) if 0 <= first < end <= CYCLES_END:
            pass
        case _:
            raise LaunchError(f"the window of a trace must be two cycles, 0 <= first < end, not {window!r}")


@dataclass(frozen=True)
class Parts:
    """Parts of a core that say what they do."""

    slots: Sequence[Sequence[int]]
    """Of each compute unit, its wavefront slots; work-groups, and what is counted of a compute unit, are of those
    that have all."""
    slices: Sequence[int]
    """Of the cache, with their tag managers."""
    ports: Sequence[int]
    """AXI ports."""

    @property
    def units(self) -> list[int]:
        """Compute units with wavefront slots among the parts."""
        return [unit for unit, slots in enumerate(self.slots) if slots]

    @property
    def wavefronts(self) -> list[tuple[int, int]]:
        """Compute units and slots."""
        return [(unit, slot) for unit, slots in enumerate(self.slots) for slot in slots]

    def has_all_of(self, unit: int) -> bool:
        """Whether the compute unit is there as a whole."""
        return len(self.slots[unit]) == WAVEFRONTS


@dataclass(frozen=True)
class Recording:
    """What to record. Raises :class:`~fgpu.errors.LaunchError` for a window that cannot be."""

    window: tuple[int, int] | None = None
    """These cycles only, from the first up to, but not including, the second; counted as
    :attr:`Run.cycles <fgpu.sim.run.Run.cycles>`."""
    units: Sequence[str] = ()
    """These parts only, called as the scopes of a waveform are: ``cu0``, ``cu0.wavefront3``, ``cache``,
    ``cache.slice1``, ``axi0``; ``cu`` and ``axi`` are all of a kind. None: everything."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", (self.units,) if isinstance(self.units, str) else tuple(self.units))
        check_window(self.window)

    @classmethod
    def of(cls, record: "bool | tuple[int, int] | Recording") -> "Recording | None":
        """What the option ``record`` of a launch says: all, some cycles, or nothing."""
        if isinstance(record, Recording):
            return record
        if isinstance(record, bool):
            return cls() if record else None
        return cls(record)

    @property
    def cycles(self) -> tuple[int, int]:
        """The window; without one, all cycles there are."""
        return self.window or (0, CYCLES_END)

    def parts(self, config: Config) -> Parts:
        """Of a core. Raises :class:`~fgpu.errors.LaunchError` for one that it does not have."""
        whole = [f"cu{unit}" for unit in range(config.compute_units)]
        slots = [f"{unit}.wavefront{slot}" for unit in whole for slot in range(WAVEFRONTS)]
        slices = [f"cache.slice{number}" for number in range(config.slices)]
        ports = [f"axi{number}" for number in range(config.axi_ports)]
        groups = {"cu": slots, "cache": slices, "axi": ports}
        groups |= {unit: [slot for slot in slots if slot.startswith(f"{unit}.")] for unit in whole}
        groups |= {name: [name] for name in (*slots, *slices, *ports)}
        for name in self.units:
            if name not in groups:
                there = [*whole, f"{whole[0]}.wavefront0 ...", "cache", *slices, *ports]
                raise LaunchError(f"there is no unit {name!r} to record; there are {', '.join(there)}")
        chosen = {part for name in self.units or ("cu", "cache", "axi") for part in groups[name]}

        def places(names: Sequence[str]) -> list[int]:
            return [place for place, name in enumerate(names) if name in chosen]

        return Parts([places(groups[unit]) for unit in whole], places(slices), places(ports))
