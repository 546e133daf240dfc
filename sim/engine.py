"""What a simulation engine is, and what passes between it and the device."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fgpu.compiler.ir.module import Location
from fgpu.errors import ConfigError

from .accesses import AccessCheck
from .places import Places

__all__ = ["Engine", "EngineResult", "Launch", "MemoryTiming"]


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
            least, greatest = getattr(self, name)
            if not 0 <= least <= greatest < 1 << 32:
                raise ConfigError(f"memory timing: {name} {least, greatest} must have 0 <= least <= greatest < 2**32")
        if not 0 <= self.pause_probability <= 1:
            raise ConfigError(f"memory timing: pause_probability must be from 0 to 1, not {self.pause_probability!r}")


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
    max_cycles: int = 10_000_000
    """The watchdog stops the simulation after so many cycles from the start register's write
    (for the functional engine: after so many wavefront instructions)."""
    check: AccessCheck | None = None
    """What is looked for in the kernel's accesses to global memory; it changes no cycle."""
    kernel: str = ""
    """The kernel's name, for messages."""
    lines: Mapping[int, Location] = field(default_factory=dict)
    """Source lines of the program's words, for messages."""

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


class Engine(Protocol):
    """A simulator of one FGPU with its global memory; its state survives from launch to launch."""

    name: str

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
