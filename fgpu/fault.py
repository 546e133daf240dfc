"""Faults: what stops a kernel, and the register that tells the host."""

from amaranth.lib import data, enum

from .config import WAVEFRONT_BITS

__all__ = ["FAULT_PC_BITS", "Fault", "FaultCause", "FaultReport"]

FAULT_PC_BITS = 15
"""Instruction addresses, as wavefronts keep them: wide enough for every branch target, modulo 2**15."""


class FaultCause(enum.Enum, shape=3):
    """Why a kernel was stopped (or, for ``CONTROL_ACCESS``, what the host did wrong)."""

    NONE = 0
    ILLEGAL_INSTRUCTION = 1
    """The word is no instruction of this configuration."""
    INSTRUCTION_ADDRESS = 2
    """The wavefront left the code RAM."""
    STACK_OVERFLOW = 3
    """More nested calls and divergent branches than the link stack holds."""
    SCRATCHPAD_BOUNDS = 4
    """An access beyond the work-item's region (with ``Config(scratchpad_check=True)``)."""
    BUS_ERROR = 5
    """Global memory answered with an error; which work-item asked is not known."""
    CONTROL_ACCESS = 6
    """A misaligned, unmapped or partial access of the control interface; stops nothing."""
    ABORTED = 7
    """The host stopped the kernel."""


class FaultReport(data.Struct):
    """A fault in a compute unit."""

    valid: 1
    cause: FaultCause
    wavefront: WAVEFRONT_BITS
    pc: FAULT_PC_BITS


class Fault(data.Struct):
    """The fault register: the first fault since it was cleared that stopped a kernel, else ``CONTROL_ACCESS`` or 0.

    It is cleared by a write to it and by the start of a kernel when none runs or waits.
    """

    pc: FAULT_PC_BITS
    wavefront: WAVEFRONT_BITS
    compute_unit: 3
    kernel: 4
    cause: FaultCause
    _unused: 3
    valid: 1
