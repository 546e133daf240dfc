"""Faults that the hardware reports, as exceptions that name the kernel's instruction."""

from collections.abc import Sequence

from fgpu.errors import KernelFault
from fgpu.fault import Fault, FaultCause

__all__ = ["kernel_fault"]

_TEXTS = {
    FaultCause.ILLEGAL_INSTRUCTION: "is no instruction of this configuration",
    FaultCause.INSTRUCTION_ADDRESS: "is outside the code RAM",
    FaultCause.STACK_OVERFLOW: "overflows the link stack (link_stack_depth of the configuration)",
    FaultCause.SCRATCHPAD_BOUNDS:
        "leaves the work-item's region of the scratchpad (scratchpad_size of the configuration)",
}


def kernel_fault(word: int, program: Sequence[int], unmapped: str = "") -> KernelFault | None:
    """The exception for the content of the fault register; None if it tells of no fault.

    ``unmapped``: the access that memory answered with an error, if there was one. Write-backs after the end of
    their kernel (which was launched with ``clean=False``) may not show in the register.
    """
    from fgpu.compiler import disassemble  # needed in trouble only

    fault = Fault.from_bits(word)
    if not fault.valid:
        return KernelFault(f"global memory answered a late write-back with an error: {unmapped}",
                           FaultCause.BUS_ERROR) if unmapped else None
    cause = FaultCause(fault.cause)
    if cause is FaultCause.BUS_ERROR:
        return KernelFault(f"kernel of slot {fault.kernel}: global memory answered an access with an error"
                           + (f": {unmapped}" if unmapped else ""), cause)
    if cause is FaultCause.CONTROL_ACCESS:
        return KernelFault("the control interface refused a misaligned, unmapped or partial access", cause)
    if cause is FaultCause.ABORTED:
        return KernelFault(f"kernel of slot {fault.kernel}: the host aborted it", cause)
    pc = int(fault.pc)
    if pc < len(program):
        try:
            text = f" ({disassemble([program[pc]]).strip()})"
        except ValueError:
            text = f" (0x{program[pc]:08X})"
    else:
        text = ""
    return KernelFault(
        f"kernel of slot {fault.kernel}: instruction {pc}{text} {_TEXTS[cause]}; "
        f"compute unit {fault.compute_unit}, wavefront {fault.wavefront}", cause)
