"""The functional engine: executes instructions, not cycles; the oracle for the hardware."""

from .engine import FunctionalEngine

__all__ = ["FunctionalEngine"]
