"""Local memory of a launch: what the host gives for ``__local`` parameters, and where everything lies."""

from collections.abc import Sequence
from dataclasses import dataclass

from fgpu.compiler.image import Kernel
from fgpu.config import LOCAL_BASE, LOCAL_ROW_BYTES, WAVEFRONTS, Config
from fgpu.errors import LaunchError

from .numbers import is_integer

__all__ = ["LocalMemory", "LocalRoom"]

_REGION_ALIGNMENT = 128
_KIB = 1024


@dataclass(frozen=True)
class LocalMemory:
    """What a launch takes for a ``__local`` pointer: so many bytes of local memory for each work-group.

    Raises :class:`~fgpu.errors.LaunchError` for other than a number from 1.
    """

    bytes: int

    def __post_init__(self) -> None:
        if not is_integer(self.bytes) or self.bytes <= 0:
            raise LaunchError(f"local memory has a number of bytes from 1, not {self.bytes!r}")
        object.__setattr__(self, "bytes", int(self.bytes))


@dataclass(frozen=True, kw_only=True)
class LocalRoom:
    """The local memory of each work-group of a launch."""

    bytes: int
    """From the kernel's first variable to the end of the last argument."""
    addresses: tuple[int, ...]
    """The parameter words of the arguments."""
    rows: int = 0
    """In the hardware's local memory."""
    groups: int = 0
    """Work-groups for which a compute unit has room; 0: eight."""
    regions: int = 0
    """In global memory, where the kernel was compiled for hardware without local memory: how many, and"""
    region_bytes: int = 0
    """how many bytes each has."""

    @classmethod
    def of(cls, kernel: Kernel, arguments: Sequence[object], config: Config) -> "LocalRoom":
        """For the :class:`LocalMemory` among the arguments.

        Raises :class:`~fgpu.errors.LaunchError` where there is not so much.
        """
        asked = [argument.bytes for argument in arguments if isinstance(argument, LocalMemory)] \
            if isinstance(arguments, Sequence) else []
        begins, total = kernel.local_layout(asked)
        if any(parameter.kind == "implicit" and parameter.name == "local" for parameter in kernel.parameters or ()):
            return cls(bytes=total, addresses=begins, regions=WAVEFRONTS * config.compute_units,
                       region_bytes=max(1, -(-total // _REGION_ALIGNMENT)) * _REGION_ALIGNMENT)
        there = config.local_memory * _KIB
        if total > there:
            raise LaunchError(_too_much(kernel, total, config))
        rows = -(-total // LOCAL_ROW_BYTES)
        groups = there // (rows * LOCAL_ROW_BYTES) if rows else WAVEFRONTS
        return cls(bytes=total, addresses=tuple((LOCAL_BASE + begin) % (1 << 32) for begin in begins), rows=rows,
                   groups=groups if groups < WAVEFRONTS else 0)


def _too_much(kernel: Kernel, total: int, config: Config) -> str:
    needs = f"kernel {kernel.name!r} needs {total:,} bytes of local memory for each work-group"
    if total != kernel.local_bytes and kernel.local_bytes:
        needs += f", {kernel.local_bytes:,} of them for its variables"
    enough = [size for size in (8, 16, 32, 64) if size * _KIB >= total]
    if not config.local_memory:
        return (f"{needs}; this configuration has none (local_memory=0). Compile it for this configuration, and it "
                "is in global memory" + (f"; or use Config(local_memory={enough[0]})" if enough else ""))
    remedy = f"use Config(local_memory={enough[0]})" if enough else \
        "no configuration has so much; Config(local_memory=0) has it in global memory"
    return (f"{needs}; a compute unit of this configuration has {config.local_memory * _KIB:,} "
            f"(local_memory={config.local_memory}). Ask for less, or {remedy}")
