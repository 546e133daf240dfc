"""What the functional engine says of wavefronts in trouble."""

from collections.abc import Iterable

import numpy as np

from fgpu.config import Config
from fgpu.errors import KernelFault, SimulationTimeout
from fgpu.fault import FaultCause
from fgpu.sim.places import Places

from .workitems import WorkGroups

__all__ = ["no_instruction", "stack_overflow", "timeout", "wavefront_name"]

_WAVEFRONTS_NAMED = 4


def wavefront_name(groups: WorkGroups, wavefront: int) -> str:
    """A wavefront, by its number among those of ``groups``."""
    number = groups.first_wavefront + wavefront
    per_group = groups.descriptor.wavefronts
    return f"wavefront {number % per_group} of work-group {number // per_group}"


def no_instruction(places: Places, groups: WorkGroups, wavefront: int, fault: KernelFault) -> KernelFault:
    """The error for an instruction that ``fault`` says cannot run."""
    return KernelFault(f"{places.whose}: {wavefront_name(groups, wavefront)}: {fault}", fault.cause)


def stack_overflow(places: Places, groups: WorkGroups, wavefront: int, pc: int, config: Config) -> KernelFault:
    """The error for a branch or a call at ``pc``."""
    return KernelFault(
        f"{places.whose}: {wavefront_name(groups, wavefront)}: {places.at(pc)}: the stacks overflow; "
        f"they have {config.link_stack_depth} entries (link_stack_depth)", FaultCause.STACK_OVERFLOW)


def timeout(places: Places, groups: WorkGroups, limit: str, running: Iterable[tuple[int, int]], waiting: list[int],
            masks: np.ndarray, parked: np.ndarray, resume: np.ndarray) -> SimulationTimeout:
    """The error for a launch that takes longer than ``limit``.

    ``running`` are wavefronts, ascending, each with its PC, and ``waiting`` those that wait as a whole. For each
    wavefront the arrays tell its enabled work-items, those at a barrier, and where these go on.
    """
    def barrier(index: int) -> str:
        return places.at(int(resume[index]) - 1)

    items, kept = np.bitwise_count(masks), np.bitwise_count(parked)
    lines = [f"{wavefront_name(groups, index)} is at {places.at(pc)}, {items[index]} work-items enabled"
             + (f", {kept[index]} at the barrier {barrier(index)}" if kept[index] else "") for index, pc in running]
    waits = [f"{wavefront_name(groups, index)} waits at the barrier {barrier(index)}" for index in waiting]
    told = []
    for several, more in ((lines, "are running"), (waits, "wait at barriers")):
        told += several[:_WAVEFRONTS_NAMED]
        if len(several) > _WAVEFRONTS_NAMED:
            told.append(f"{len(several) - _WAVEFRONTS_NAMED} more {more}")
    return SimulationTimeout(
        f"{places.whose} did not finish within {limit}: {'; '.join(told)}")
