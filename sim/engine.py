"""What a simulation engine is, and what passes between it and the device."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from fgpu.compiler.ir.module import Location
from fgpu.errors import ConfigError, LaunchError

from .accesses import AccessCheck
from .numbers import is_integer, is_number
from .places import Places
from .recording import Recording, check_window

if TYPE_CHECKING:
    from .event_log import EventLog

__all__ = ["Engine", "EngineResult", "Launch", "MemoryTiming", "OutOfTime", "Progress", "Trace"]


class OutOfTime(Exception):
    """What a launch's ``progress`` raises to end it as a time-out: the text is the time, with its unit. Engines raise
    :class:`~fgpu.errors.SimulationTimeout`."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a launch is. Simulators tell it several times a second; that costs no cycle."""

    cycles: int | None
    """Cycles so far; None on the functional engine."""
    instructions: int
    """Wavefront instructions issued so far."""
    wavefronts: int
    """Wavefronts that have started; 0 throughout where accesses are not checked."""
    all_wavefronts: int
    """Wavefronts of the whole launch."""
    seconds: float
    """Wall-clock time so far."""


@dataclass(frozen=True)
class Trace:
    """Waveforms to write. Raises :class:`~fgpu.errors.LaunchError` for a path or a window that cannot be."""

    path: str | Path
    """A VCD file."""
    window: tuple[int, int] | None = None
    """Only these cycles of each launch, from the first up to, but not including, the second; counted as
    :attr:`Run.cycles <fgpu.sim.run.Run.cycles>`. None: everything from power-up on."""
    units: tuple[str, ...] = ()
    """Only these parts of the core and what is in them, such as ``cu0.scheduler``; none: all."""

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | PathLike):
            raise LaunchError(f"a trace is written to a file, not to {self.path!r}")
        object.__setattr__(self, "units", (self.units,) if isinstance(self.units, str) else tuple(self.units))
        check_window(self.window)


@dataclass(frozen=True, kw_only=True)
class MemoryTiming:
    """Timing of the AXI memory model (dissertation, section 5.1.1). All times in cycles.

    Raises :class:`~fgpu.errors.ConfigError` for one that cannot be.

    The default is the memory on which the reference design was measured: no added latency.
    """

    read_latency: tuple[int, int] = (0, 0)
    """Least and greatest response time of a read burst, drawn uniformly for each; equal: fixed."""
    write_latency: tuple[int, int] = (0, 0)
    """Least and greatest response time between the last write beat and B, beyond the least of 2."""
    pause_probability: float = 0.0
    """Chance, for each beat, that a burst pauses before it."""
    pause_cycles: tuple[int, int] = (1, 8)
    """Least and greatest length of such a pause."""
    interleave: bool = False
    """Interleave the beats of read bursts with different ids."""
    reorder: bool = False
    """Answer bursts with different ids in random order instead of lowest id first."""
    seed: int = 0
    """Seed of everything random above."""

    def __post_init__(self) -> None:
        for name in ("read_latency", "write_latency", "pause_cycles"):
            match getattr(self, name):
                case (least, greatest) if is_integer(least) and is_integer(greatest) and (
                        0 <= least <= greatest < 1 << 32):
                    pass
                case value:
                    raise ConfigError(f"memory timing: {name} must be two integers, 0 <= least <= greatest < 2**32, "
                                      f"not {value!r}")
        if not is_number(self.pause_probability) or not 0 <= self.pause_probability <= 1:
            raise ConfigError(f"memory timing: pause_probability must be from 0 to 1, not {self.pause_probability!r}")
        if not is_integer(self.seed) or not 0 <= self.seed < 1 << 64:
            raise ConfigError(f"memory timing: seed must be an integer from 0 to 2**64 - 1, not {self.seed!r}")


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One kernel launch as the control interface sees it."""

    program: Sequence[int]
    """Instruction words, loaded at the start of CRAM."""
    descriptor: Sequence[int]
    """The 32 words of an LRAM slot."""
    slot: int = 0
    initialize: bool = True
    clean: bool = True
    write_back: bool = False
    """Whether memory gets what the kernel has stored, even if the launch fails."""
    max_cycles: int = 10_000_000
    """The watchdog stops the simulation after so many cycles from the start register's write
    (for the functional engine: after so many wavefront instructions)."""
    spent: int = 0
    """How many of them the parts that were launched before took, where a launch has several."""
    progress: Callable[[Progress], None] | None = None
    """Is told now and then how far the launch is; an exception from it ends the launch, :class:`OutOfTime` as
    a time-out."""
    profile: bool = False
    """Whether to count what happens at each instruction; it changes no cycle."""
    record: Recording | None = None
    """Which events to record, if any; it changes no cycle."""
    check: AccessCheck | None = None
    """What is looked for in the kernel's accesses to global memory; it changes no cycle."""
    kernel: str = ""
    """The kernel's name, for messages."""
    lines: Mapping[int, Location] = field(default_factory=dict)
    """Source lines of the program's words, for messages."""

    @property
    def limit(self) -> int:
        """What is left of ``max_cycles``."""
        return self.max_cycles - self.spent

    @property
    def places(self) -> Places:
        """What messages say of the program."""
        return Places(self.program, self.kernel, self.lines)


@dataclass(frozen=True, kw_only=True)
class EngineResult:
    """What one launch took."""

    cycles: int | None
    """Cycles from the write of the start register to the status bit; None if the engine has no clock."""
    instructions: int
    """Wavefront instructions issued."""
    work_item_instructions: int
    """The same, each counted once for each enabled work-item."""
    stats: dict[str, int] = field(default_factory=dict)
    """Engine-specific counters."""
    seconds: float = 0.0
    """Wall-clock time of the simulation proper, without building or loading a model."""
    events: "EventLog | None" = None
    """If asked for."""
    profile: np.ndarray | None = None
    """If asked for: an entry for each word of the program, as :data:`fgpu.sim.profile.ENTRY`, and one for what was
    behind them."""


class Engine(Protocol):
    """A simulator of one FGPU with its global memory; its state survives from launch to launch."""

    name: str

    def build(self) -> None:
        """Make now what the first launch would wait for, if there is such a thing.

        Raises :class:`~fgpu.errors.ToolError`.
        """
        ...

    def launch(self, launch: Launch) -> EngineResult:
        """Run one kernel until its status bit rises.

        Raises :class:`~fgpu.errors.SimulationTimeout` when the limit passes,
        :class:`~fgpu.errors.KernelFault` for what stops a kernel, such as an access outside memory, and
        :class:`~fgpu.errors.KernelAccessError` for what ``launch.check`` refuses.
        """
        ...

    def close(self) -> None:
        """Give back what the engine holds."""
        ...
