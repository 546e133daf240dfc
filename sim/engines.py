"""Engines by their names, and the timing of the memory that they simulate."""

from pathlib import Path
from typing import TYPE_CHECKING

from fgpu.config import Config
from fgpu.engines import BOARD, ENGINES, MAPPED
from fgpu.errors import LaunchError

from .engine import Engine, MemoryTiming, Trace
from .memory import GlobalMemory
from .numbers import is_integer

if TYPE_CHECKING:
    from fgpu.board.link import Link

    from .hardware import HardwareEngine
    from .mapped.engine import Mapped

__all__ = ["Latency", "hardware_engine", "make_engine", "memory_timing"]

Latency = int | tuple[int, int] | MemoryTiming
"""Memory latency in cycles: fixed, a uniformly drawn range (least, greatest), or everything about the memory."""


def memory_timing(latency: Latency | None) -> MemoryTiming:
    """The timing of the memory model with a latency in cycles; None: no added latency."""
    if latency is None:
        return MemoryTiming()
    if isinstance(latency, MemoryTiming):
        return latency
    bounds = latency if isinstance(latency, tuple | list) else (latency, latency)
    if len(bounds) != 2 or not all(map(is_integer, bounds)):
        raise LaunchError("memory_latency must be cycles, a pair (least, greatest) or a MemoryTiming, "
                          f"not {latency!r}")
    least, greatest = int(bounds[0]), int(bounds[1])
    if not 0 <= least <= greatest:
        raise LaunchError(f"memory_latency {latency!r} must have 0 <= least <= greatest")
    return MemoryTiming(read_latency=(least, greatest), write_latency=(least, greatest))


def make_engine(name: str, config: Config, memory: GlobalMemory, latency: Latency | None,
                trace: str | Path | Trace | None) -> Engine:
    """The engine of a name; its module is imported only then."""
    timing = memory_timing(latency)
    if trace is not None and not isinstance(trace, Trace):
        trace = Trace(trace)
    if name == "functional":
        from .functional import functional_engine
        if trace is not None:
            raise LaunchError("the functional engine has no signals to trace; use engine='verilator'")
        return functional_engine(config, memory)
    if name == "verilator":
        from .verilator import VerilatorEngine
        return VerilatorEngine(config, memory, timing, trace=trace)
    if name == "pysim":
        from .pysim import PysimEngine
        if trace is not None and (trace.window is not None or trace.units):
            raise LaunchError("pysim traces all signals in all cycles; a window or units need engine='verilator'")
        return PysimEngine(config, memory, timing, vcd=None if trace is None else trace.path)
    raise LaunchError(f"there is no engine {name!r}; choose from {', '.join([*ENGINES, BOARD, MAPPED])}")


def hardware_engine(name: str, port: "str | Link | Mapped | None", config: Config | None,
                    memory: GlobalMemory | None, latency: Latency | None,
                    trace: str | Path | Trace | None) -> "HardwareEngine":
    """The hardware at a port. Raises :class:`~fgpu.errors.LaunchError` for what only simulators have."""
    if port is None:
        raise LaunchError("engine='board' needs port, the serial port of the board, as port='/dev/ttyUSB0'"
                          if name == BOARD else "engine='mapped' needs port, the device, as port='/dev/uio0'")
    for what, value in (("memory", memory), ("memory_latency", latency), ("trace", trace)):
        if value is not None:
            raise LaunchError(f"{what} is for simulators; a board has its own")
    if name == MAPPED:
        from .mapped.engine import Mapped, MappedEngine
        from .mapped.uio import open_uio

        if not isinstance(port, str | Path | Mapped):
            raise LaunchError(f"port={port!r} is for engine={BOARD!r}")
        return MappedEngine(config or Config(), port if isinstance(port, Mapped) else open_uio(port))
    from fgpu.board.link import Link

    from .board.open import open_board

    if not isinstance(port, str | Link):
        raise LaunchError(f"port={port!r} is for engine={MAPPED!r}")
    return open_board(port, config)
