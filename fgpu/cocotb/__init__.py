"""An FGPU in a cocotb bench: its host, for the bench itself, and its simulator, for what starts the bench."""

from fgpu.errors import MissingExtraError

try:
    from .host import FgpuHost
except ModuleNotFoundError as error:
    if (error.name or "").split(".")[0] not in ("cocotb", "cocotbext"):
        raise
    raise MissingExtraError(f"fgpu.cocotb needs {error.name}, not installed here: pip install 'fgpu[cocotb]'",
                            ("cocotb",)) from error
from .simulators import build, run, sources

__all__ = ["FgpuHost", "build", "run", "sources"]
