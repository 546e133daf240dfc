"""The control interface: addresses and the kernel descriptor (``docs/control-interface.md``).

Host code packs descriptors and the dispatcher unpacks them through the same layouts.
"""

from typing import Final

from amaranth.lib import data, enum

from .config import KERNEL_SLOTS

__all__ = [
    "CODE_BASE", "CONTROL_ADDRESS_BITS", "CONTROL_ADDRESS_BITS_MAX", "CONTROL_BASE", "CRAM_BASE", "CRAM_WINDOW_WORDS",
    "DESCRIPTOR_WORDS", "LRAM_BASE", "LRAM_WORDS", "READABLE", "WRITABLE",
    "ControlRegister", "DescriptorWord", "EntryWord", "Interrupts", "ShapeWord", "SizeWord", "code_address",
    "control_address_bits", "register_address",
]

CONTROL_ADDRESS_BITS: Final = 16
CONTROL_ADDRESS_BITS_MAX: Final = 17
"""Of cores whose code RAM is larger than its window."""
LRAM_BASE: Final = 0x0000
CRAM_BASE: Final = 0x4000
"""Of the code RAM's window: the first ``CRAM_WINDOW_WORDS`` instructions."""
CONTROL_BASE: Final = 0x8000
CODE_BASE: Final = 0x1_0000
"""Of the whole code RAM, in cores where it is larger than the window."""
CRAM_WINDOW_WORDS: Final = (CONTROL_BASE - CRAM_BASE) // 4

DESCRIPTOR_WORDS: Final = 32
LRAM_WORDS: Final = KERNEL_SLOTS * DESCRIPTOR_WORDS


class ControlRegister(enum.Enum, shape=3):
    """Word index in the control register region; bit i of the first four and of ``ABORT`` is of slot i's kernel."""

    STATUS = 0
    START = 1
    CLEAN_CACHE = 2
    INITIALIZE = 3
    FAULT = 4
    """Ours: :class:`fgpu.fault.Fault`."""
    ABORT = 5
    """Ours: stops kernels."""
    INTERRUPT_ENABLE = 6
    """Ours: :class:`Interrupts` for which the port ``irq`` is high."""
    INTERRUPT_STATUS = 7
    """Ours: :class:`Interrupts` that have happened and were not acknowledged."""


READABLE: Final = (
    ControlRegister.STATUS, ControlRegister.CLEAN_CACHE, ControlRegister.INITIALIZE, ControlRegister.FAULT,
    ControlRegister.INTERRUPT_ENABLE, ControlRegister.INTERRUPT_STATUS)
"""Control registers that the host may read."""
WRITABLE: Final = (
    ControlRegister.START, ControlRegister.CLEAN_CACHE, ControlRegister.INITIALIZE, ControlRegister.FAULT,
    ControlRegister.ABORT, ControlRegister.INTERRUPT_ENABLE, ControlRegister.INTERRUPT_STATUS)
"""Control registers that the host may write. A write of any value clears ``FAULT``; one of ``INTERRUPT_STATUS``
clears the bits that are 1 in it."""


class Interrupts(enum.IntFlag, shape=2):
    """What the host may be interrupted for: bits of ``INTERRUPT_ENABLE`` and ``INTERRUPT_STATUS``."""

    KERNEL_END = 1
    """A kernel that ran has ended, whether finished, faulted or aborted, and its bit of ``STATUS`` rises."""
    FAULT = 2
    """``FAULT`` takes a fault that stops kernels, so any but a refused access of the control interface."""


class DescriptorWord(enum.IntEnum, shape=5):
    """Word index in a kernel descriptor; per-dimension words are followed by those of dimensions 1 and 2."""

    ENTRY = 0
    GLOBAL_SIZE = 1
    GLOBAL_OFFSET = 4
    SHAPE = 7
    WORK_GROUPS = 8
    SIZE = 11
    PARAMETERS = 16


class EntryWord(data.Struct):
    """Word 0: where the code starts and how many wavefronts a work-group has."""

    entry: 14
    _unused: 14
    wavefronts_minus_1: 4


class ShapeWord(data.Struct):
    """Word 7: extents of a work-group and number of dimensions."""

    work_group_size: data.ArrayLayout(10, 3)
    dimensions_minus_1: 2


class SizeWord(data.Struct):
    """Word 11: what a work-group needs, and the number of parameters."""

    work_items: 10
    local_rows: 12
    """Rows of ``config.LOCAL_ROW_BYTES`` bytes of local memory of each work-group."""
    local_groups: 3
    """Work-groups that a compute unit may hold at a time, so that their local memory fits; 0: eight."""
    place: 1
    """``wgoff rd, 3`` reads a number of the work-group's own among those that run: eight times its compute unit's
    number, and its number there. It costs a cycle for each wavefront to start."""
    _unused: 2
    parameters: 4


def code_address(word: int) -> int:
    """Byte address of an instruction."""
    return (CRAM_BASE if word < CRAM_WINDOW_WORDS else CODE_BASE) + 4 * word


def control_address_bits(cram_words: int) -> int:
    """Bits of the control interface's byte addresses in a core with so many words of code RAM."""
    return CONTROL_ADDRESS_BITS if cram_words <= CRAM_WINDOW_WORDS else CONTROL_ADDRESS_BITS_MAX


def register_address(register: ControlRegister) -> int:
    """Byte address of a control register."""
    return CONTROL_BASE + 4 * register.value
