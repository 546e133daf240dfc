"""Area and clock of the units of the schemes of divergence, checked in, beside what the programs take."""

from dataclasses import asdict
from pathlib import Path
from typing import Final

from fgpu.config import DIVERGENCE, Config
from fgpu.cu.divergence import divergence_unit
from fgpu.tools.area import component_area
from fgpu.tools.timing import component_timing

from .checked_in import read_figures, write_figures

__all__ = ["UNITS", "load", "measure_area", "measure_clock", "save"]

UNITS: Final = Path(__file__).parent / "schemes.json"


def measure_area(scheme: str) -> dict[str, float]:
    """Of the unit by itself, for Xilinx 7 series."""
    return dict(asdict(component_area(divergence_unit(Config(divergence=scheme)))))


def measure_clock(scheme: str) -> float:
    """MHz of the unit by itself, placed and routed on an ECP5."""
    return round(component_timing(divergence_unit(Config(divergence=scheme))).frequency, 1)


def load() -> dict[str, dict[str, float]]:
    """By schemes: areas, and ``mhz``."""
    figures: dict[str, dict[str, float]] = read_figures(UNITS)
    return figures


def save(schemes: tuple[str, ...] = DIVERGENCE) -> None:
    """Measure them anew, and write that down."""
    write_figures(UNITS, {**(load() if UNITS.exists() else {}),
                          **{scheme: {**measure_area(scheme), "mhz": measure_clock(scheme)} for scheme in schemes}})
