"""What a launch took."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .event_log import EventLog, joined_logs
from .profile import Profile, joined_profiles

__all__ = ["Run", "joined"]


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one launch took."""

    kernel: str
    engine: str
    cycles: int | None
    """Clock cycles from the write of the start register to the status bit; None on the functional engine."""
    instructions: int
    """Wavefront instructions."""
    work_item_instructions: int
    """Instructions counted once for each enabled work-item."""
    stats: dict[str, int] = field(default_factory=dict)
    """The engine's counters."""
    seconds: float = 0.0
    """Wall-clock time of the simulation proper."""
    local_size: tuple[int, ...] = ()
    """Work-items of a work-group, in each dimension; of those in the largest part if there are several."""
    local_bytes: int = 0
    """Local memory of each work-group, wherever it is: the kernel's variables and the launch's arguments."""
    parts: int = 1
    """How many launches of the hardware it was; the other figures are their sums."""
    profile: Profile | None = None
    """What happened at each instruction, where that was asked for."""
    events: EventLog | None = None
    """What happened in which cycle, where that was asked for."""

    @property
    def watched(self) -> int:
        """What ``max_cycles`` limits: cycles, or where there are none wavefront instructions."""
        return self.instructions if self.cycles is None else self.cycles

    @property
    def cycles_per_second(self) -> float | None:
        """Simulation speed; None where there are no cycles."""
        return self.cycles / self.seconds if self.cycles is not None and self.seconds > 0 else None


def joined(runs: Sequence[Run]) -> Run:
    """What launches one after the other took together; they are of one kernel."""
    if len(runs) == 1:
        return runs[0]
    stats: Counter[str] = Counter()
    for run in runs:
        deepest = max(stats["stack_entries"], run.stats.get("stack_entries", 0))
        stats.update(run.stats)
        if "stack_entries" in run.stats:        # a maximum, of the functional engine
            stats["stack_entries"] = deepest
    cycles = [run.cycles for run in runs if run.cycles is not None]
    profiles = [run.profile for run in runs if run.profile is not None]
    logs = [run.events for run in runs if run.events is not None]
    return replace(
        runs[0], cycles=sum(cycles) if cycles else None, instructions=sum(run.instructions for run in runs),
        work_item_instructions=sum(run.work_item_instructions for run in runs),
        stats=dict(stats), seconds=sum(run.seconds for run in runs), parts=len(runs),
        profile=joined_profiles(profiles) if profiles else None, events=joined_logs(logs) if logs else None)
