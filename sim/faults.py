"""Faults that the hardware reports, as exceptions that name the kernel's instruction."""

from fgpu.errors import KernelFault
from fgpu.fault import Fault, FaultCause

from .places import Places

__all__ = ["kernel_fault"]

_TEXTS = {
    FaultCause.ILLEGAL_INSTRUCTION: "this is no instruction of this configuration",
    FaultCause.INSTRUCTION_ADDRESS: "this is outside the code RAM",
    FaultCause.STACK_OVERFLOW: "the link stack overflows (link_stack_depth of the configuration)",
    FaultCause.SCRATCHPAD_BOUNDS:
        "this leaves the work-item's region of the scratchpad (scratchpad_size of the configuration)",
}


def kernel_fault(word: int, places: Places, slot: int | None = None, unmapped: str = "") -> KernelFault | None:
    """The exception for the content of the fault register; None if it tells of no fault.

    ``places`` are those of the program in the code RAM, of which the kernel in ``slot`` is the one that they name.
    ``unmapped``: the access that memory answered with an error, if there was one. Write-backs after the end of
    their kernel (which was launched with ``clean=False``) may not show in the register.
    """
    fault = Fault.from_bits(word)
    if not fault.valid:
        return KernelFault(f"global memory answered a late write-back with an error: {unmapped}",
                           FaultCause.BUS_ERROR) if unmapped else None
    cause = FaultCause(fault.cause)
    whose = f"{places.whose if fault.kernel == slot and places.kernel else 'kernel'} of slot {fault.kernel}"
    if cause is FaultCause.BUS_ERROR:
        return KernelFault(f"{whose}: global memory answered an access with an error"
                           + (f": {unmapped}" if unmapped else ""), cause)
    if cause is FaultCause.CONTROL_ACCESS:
        return KernelFault("the control interface refused a misaligned, unmapped or partial access", cause)
    if cause is FaultCause.ABORTED:
        return KernelFault(f"{whose}: the host aborted it", cause)
    return KernelFault(
        f"{whose}: {places.at(int(fault.pc))}: {_TEXTS[cause]}; "
        f"compute unit {fault.compute_unit}, wavefront {fault.wavefront}", cause)
