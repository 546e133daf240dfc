"""fgpu: a soft GPU for FPGAs. The hardware, described in Amaranth."""

from .config import Config

__all__ = ["Config"]
