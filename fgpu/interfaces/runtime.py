"""What the dispatcher and the launcher write to the runtime memories, and where the compute units find it."""

from typing import Any

from amaranth.hdl import C, Cat, Value
from amaranth.lib import data

from fgpu.config import DIMENSION_BITS, PE_COUNT, WAVEFRONT_BITS

__all__ = ["LOCAL_ID_BITS", "RUNTIME_WORDS", "WORK_GROUP_PAIRS", "LocalIds", "RuntimeAddress", "RuntimePair",
           "RuntimeWrite"]

LOCAL_ID_BITS = 9
"""Local ids are below ``WORK_GROUP_MAX`` in each dimension."""

RUNTIME_WORDS = 512
"""Words of a runtime memory."""
WORK_GROUP_PAIRS = 1 << (DIMENSION_BITS + WAVEFRONT_BITS)
"""Of these, pairs of work-group offset and id: a dimension of a wavefront slot each."""

LocalIds = data.ArrayLayout(LOCAL_ID_BITS, PE_COUNT)
"""Local ids, in one dimension, of the eight work-items of a phase."""


class RuntimePair(data.Struct):
    """Two words that are kept together: work-group offset and id, size and work-group size, or a parameter."""

    low: 32
    high: 32


class RuntimeAddress:
    """Where things are in the ``RUNTIME_WORDS`` words; each function returns an address."""

    @staticmethod
    def local_ids(dimension: Any, wavefront: Any, phase: Any) -> Value:
        """Local ids; ``wavefront`` (3 bits) is the number within the work-group."""
        return Cat(phase, wavefront, dimension, C(0, 1))

    @staticmethod
    def parameter(number: Any) -> Value:
        """Kernel parameter ``number`` (4 bits), in the low half of a pair."""
        return Cat(number, C(0b1_0000, 5))

    @staticmethod
    def size(dimension: Any) -> Value:
        """Pair of global size and work-group size."""
        return Cat(dimension, C(0b1_0001_00, 7))

    @staticmethod
    def work_group(dimension: Any, slot: Any) -> Value:
        """Pair of work-group offset and id, of the work-group that runs in wavefront slot ``slot`` (3 bits)."""
        return Cat(dimension, slot, C(0b1_100, 4))

    @staticmethod
    def is_work_group(address: Any) -> Value:
        """Whether it is one of a work-group; the lower bits say of which."""
        return address[DIMENSION_BITS + WAVEFRONT_BITS:] == 0b1_100


class RuntimeWrite(data.Struct):
    """One word written by the dispatcher or at the start of a wavefront."""

    valid: 1
    address: range(RUNTIME_WORDS)
    word: PE_COUNT * LOCAL_ID_BITS
