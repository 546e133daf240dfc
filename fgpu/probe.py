"""Events that simulators count and show; built only with ``Config(statistics=True)``."""

from amaranth.lib import data, enum

from .config import DIMENSIONS, PE_COUNT, PHASE_BITS, WAVEFRONT_BITS, WAVEFRONTS

__all__ = ["OBSERVED", "AccessProbe", "Bucket", "ComputeUnitProbe", "WavefrontState"]

OBSERVED = ("probe", "access", "log")
"""Outputs of a compute unit that are for simulators alone."""


class Bucket(enum.Enum, shape=3):
    """What a compute unit did in a cycle; every cycle falls into exactly one."""

    NO_WAVEFRONT = 0
    ISSUE = 1
    EXECUTE = 2         # every wavefront waits for its previous instruction's result
    FETCH = 3
    BRANCH = 4
    MEMORY_READ = 5
    WRITE_PRESSURE = 6  # the memory controller takes no further access, or others load now
    BARRIER = 7         # every wavefront waits for others of its work-group


class WavefrontState(enum.Enum, shape=4):
    """What a wavefront slot is doing."""

    FREE = 0
    STOPPED = 1         # by a fault
    FETCH = 2
    READY = 3
    EXECUTE = 4
    BRANCH = 5
    MEMORY_READ = 6
    WRITE_PRESSURE = 7
    BARRIER = 8


class ComputeUnitProbe(data.Struct):
    """One compute unit in one cycle."""

    bucket: Bucket
    issue: 1
    """An instruction is issued in this cycle."""
    lanes: 7
    """Enabled work-items of the issued instruction."""
    issued_pc: 16
    """Its address."""
    issued_wavefront: WAVEFRONT_BITS
    """The slot of its wavefront."""
    executed_pc: 16
    """Address of the instruction whose phases the processing elements get in a cycle of :attr:`Bucket.ISSUE`."""
    states: data.ArrayLayout(WavefrontState, WAVEFRONTS)
    pcs: data.ArrayLayout(16, WAVEFRONTS)
    """Instruction address of each wavefront slot."""
    local_phase: 1
    """Local memory serves the first work-items of a phase."""
    local_conflict: 1
    """It serves others of a phase of loads or stores, which met the first ones in a bank."""


class AccessProbe(data.Struct):
    """What a phase of eight work-items of a compute unit asks of a memory, and which wavefronts start.

    A wavefront's first access comes at least 9 cycles after its start, the last of the one before it in its slot may
    come later than that.
    """

    valid: 1
    local: 1
    """Of local memory, not of global memory. ``addresses`` are those of the program."""
    load: 1
    """Atomic operations are loads, too."""
    atomic: 1
    width: 2
    """Bytes of each access, as a power of two."""
    wavefront: WAVEFRONT_BITS
    number: WAVEFRONT_BITS
    """The wavefront's number within its work-group."""
    phase: PHASE_BITS
    lanes: PE_COUNT
    pc: 16
    addresses: data.ArrayLayout(32, PE_COUNT)
    starts: WAVEFRONTS
    """Slots in which a wavefront starts in this cycle."""
    offsets: data.ArrayLayout(32, DIMENSIONS)
    """Global ids of the first work-item of the starting wavefront's work-group, in each dimension."""
