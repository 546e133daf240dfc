"""What the vector asks of local memory."""

from amaranth.lib import data
from amaranth.utils import exact_log2

from fgpu.config import LOCAL_ROW_BYTES, PE_COUNT, PHASE_BITS, WAVEFRONT_BITS, Config
from fgpu.interfaces.memory_bus import AtomicOp
from fgpu.isa import REGISTER_BITS

from .control_word import Width
from .register_file import Words

__all__ = ["LOCAL_BANKS", "LOCAL_BANK_BITS", "LocalAccess", "LocalAddress", "row_bits"]

LOCAL_BANKS = LOCAL_ROW_BYTES // 4
"""Banks of local memory, a word wide each."""
LOCAL_BANK_BITS = exact_log2(LOCAL_BANKS)
"""Bits of the number of such a bank."""


def row_bits(config: Config) -> int:
    """Bits of the number of a row of local memory."""
    return exact_log2(config.local_memory * 1024 // LOCAL_ROW_BYTES)


class LocalAddress(data.StructLayout):
    """An address in local memory: a byte of a word of a bank."""

    def __init__(self, config: Config) -> None:
        super().__init__({"byte": 2, "bank": LOCAL_BANK_BITS, "row": row_bits(config)})


class LocalAccess(data.StructLayout):
    """Accesses to local memory of the work-items of one phase; ``last``: of the last phase of the instruction.

    Addresses are those of the program, and count from row ``base``. A byte or half to store is the lowest one of its
    word of ``store_data``. An ``atomic`` operation is a ``load``, too, and as wide as a word; ``expected`` is
    for cmpxchg.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "load": 1,
            "atomic": 1,
            "operation": AtomicOp,
            "width": Width,
            "wavefront": WAVEFRONT_BITS,
            "phase": PHASE_BITS,
            "rd": REGISTER_BITS,
            "last": 1,
            "lanes": PE_COUNT,
            "base": row_bits(config),
            "addresses": data.ArrayLayout(LocalAddress(config), PE_COUNT),
            "store_data": Words,
            "expected": Words,
        })
