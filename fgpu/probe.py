"""Events that simulators count and show; built only with ``Config(statistics=True)``."""

from amaranth.lib import data, enum

from .config import WAVEFRONTS

__all__ = ["Bucket", "ComputeUnitProbe", "WavefrontState"]


class Bucket(enum.Enum, shape=3):
    """What a compute unit did in a cycle; every cycle falls into exactly one."""

    NO_WAVEFRONT = 0
    ISSUE = 1
    EXECUTE = 2         # every wavefront waits for its previous instruction's result
    FETCH = 3
    BRANCH = 4
    MEMORY_READ = 5
    WRITE_PRESSURE = 6  # the memory controller takes no further access


class WavefrontState(enum.Enum, shape=3):
    """What a wavefront slot is doing."""

    FREE = 0
    STOPPED = 1         # by a fault
    FETCH = 2
    READY = 3
    EXECUTE = 4
    BRANCH = 5
    MEMORY_READ = 6
    WRITE_PRESSURE = 7


class ComputeUnitProbe(data.Struct):
    """One compute unit in one cycle."""

    bucket: Bucket
    issue: 1
    """An instruction is issued in this cycle."""
    lanes: 7
    """Enabled work-items of the issued instruction."""
    states: data.ArrayLayout(WavefrontState, WAVEFRONTS)
    pcs: data.ArrayLayout(16, WAVEFRONTS)
    """Instruction address of each wavefront slot."""
