"""An FGPU in a cocotb bench: its host, for the bench itself, and its simulator, for what starts the bench."""

from fgpu.extras import demand

demand("fgpu.cocotb", "cocotb", "sim")      # before a module fails to import what is missing

# ruff: noqa: E402
from .host import FgpuHost
from .simulators import build, run, sources

__all__ = ["FgpuHost", "build", "run", "sources"]
