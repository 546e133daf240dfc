"""Every error that a user of fgpu can cause, one class for each kind of bad input.

All errors derive from :class:`FgpuError`; the command line prints their message without a traceback.
"""

__all__ = [
    "AmbiguousRunsError", "AssemblyError", "BoardError", "CapacityError", "CompileError", "CompileWarning",
    "ConfigError", "DescriptorWarning", "DivergentBarrierWarning", "EncodingError", "FgpuError", "IRSyntaxError",
    "ImageError", "KernelAccessError", "KernelFault", "LaunchError", "MemoryAccessError",
    "MissingExtraError", "PerformanceWarning", "PrintfWarning", "SimulationError", "SimulationTimeout", "ToolError",
]


class FgpuError(Exception):
    """Base class of all errors with which fgpu answers bad input."""


class ConfigError(FgpuError, ValueError):
    """A hardware configuration that cannot be built."""


class EncodingError(FgpuError, ValueError):
    """An instruction, or an instruction word, that the instruction set does not have."""


class AssemblyError(FgpuError):
    """Assembly text that does not assemble; the message starts with ``file:line:``."""


class CompileError(FgpuError):
    """OpenCL C that does not compile; the message names the construct and its source line."""


class CapacityError(CompileError):
    """OpenCL C of which a kernel needs more than the hardware has: code RAM, local memory, scratchpad, registers."""


class IRSyntaxError(FgpuError, ValueError):
    """Text that is not the compiler's IR; the message starts with ``file:line:``."""


class ImageError(FgpuError, ValueError):
    """A program image that is empty, too large, malformed, or lacks the kernel asked for."""


class LaunchError(FgpuError, ValueError):
    """A launch whose sizes, arguments or descriptor are wrong."""


class AmbiguousRunsError(FgpuError, ValueError):
    """Runs that differ where a figure can show only one; the message names two of them, and how to choose."""


class MemoryAccessError(FgpuError, IndexError):
    """An access of the host outside global memory."""


class SimulationError(FgpuError, RuntimeError):
    """A simulation that cannot go on."""


class KernelFault(SimulationError):
    """A kernel that the hardware stopped; ``cause`` is the :class:`~fgpu.fault.FaultCause`."""

    def __init__(self, message: str, cause: object) -> None:
        super().__init__(message)
        self.cause = cause


class KernelAccessError(SimulationError):
    """An access of a kernel that simulation refuses: outside every buffer, at ``address``, or misaligned.

    ``pc`` is the index of the instruction's code word.
    """

    def __init__(self, message: str, *, address: int, pc: int) -> None:
        super().__init__(message)
        self.address = address
        self.pc = pc


class SimulationTimeout(SimulationError):
    """A kernel that did not finish within the caller's limit; the message says what each wavefront does."""


class ToolError(FgpuError, RuntimeError):
    """An external tool (clang, Verilator, the C++ compiler) that is missing or failed."""


class BoardError(FgpuError, ConnectionError):
    """A board that is not there, does not answer, or is another one."""


class MissingExtraError(FgpuError, ImportError):
    """What is asked for needs packages that ``pip install fgpu`` leaves out; the message says how to get them.

    ``extras`` names the extras of the package fgpu that bring them.
    """

    def __init__(self, message: str, extras: tuple[str, ...]) -> None:
        super().__init__(message)
        self.extras = extras


class DescriptorWarning(UserWarning):
    """A kernel descriptor whose words contradict each other; the kernel runs as on the hardware."""


class CompileWarning(UserWarning):
    """What a compiler of C warns of; the message starts with its ``file:line:column:``."""


class DivergentBarrierWarning(UserWarning):
    """A barrier to which only some of a work-group's work-items come; the message starts with its ``file:line:``."""


class PerformanceWarning(UserWarning):
    """A launch that takes several times the cycles that its work-items need."""


class PrintfWarning(UserWarning):
    """Output of a launch that is missing, as the buffer of printf was full."""
