"""What a compute unit does, for simulators that keep a log of it."""

from amaranth.lib import data

from fgpu.config import DIMENSIONS, WAVEFRONT_BITS, WAVEFRONT_SIZE
from fgpu.interfaces.work_groups import GROUP_BITS

from .divergence import OutcomeKind

__all__ = ["UnitLog"]


class UnitLog(data.Struct):
    """One compute unit in one cycle, beyond :class:`~fgpu.probe.ComputeUnitProbe`, which tells of which wavefront and
    PC what is committed is. Meaningless in a cycle that is not ``valid``: then nothing of this happens."""

    valid: 1
    enabled: WAVEFRONT_SIZE
    """Enabled work-items of what is committed."""
    refused: 1
    """It is not issued: there is no room for it."""
    collides: 1
    """It is not issued: its result would meet another."""
    flow: 1
    """It is a control instruction, or a join: an outcome will follow."""
    load: 1
    """It is a load or an atomic operation."""
    load_local: 1
    """In local memory."""
    load_done: 1
    load_done_wavefront: WAVEFRONT_BITS
    load_done_local: 1
    outcome: 1
    """The divergence unit tells where a wavefront goes on."""
    outcome_kind: OutcomeKind
    outcome_wavefront: WAVEFRONT_BITS
    changes: 1
    """With other work-items than before: ``goes_on``."""
    goes_on: WAVEFRONT_SIZE
    group_begins: 1 << GROUP_BITS
    """The first wavefront of a work-group is about to start: a bit for its number."""
    group_ends: 1 << GROUP_BITS
    """The last one of a work-group has ended."""
    offsets: data.ArrayLayout(32, DIMENSIONS)
    """Global ids of the first work-item of the work-group that begins."""
