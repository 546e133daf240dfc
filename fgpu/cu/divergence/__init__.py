"""The unit that decides which work-items of a wavefront run next: its ports, one for each scheme."""

from typing import Final

from fgpu.config import Config

from .counters import Counters
from .implicit import TwoStacks
from .interface import DivergenceUnit, FlowRequest, MaskWrite, Outcome, OutcomeKind
from .meetings import Ipdom, Tokens
from .min_pc import LowestPc
from .stack import DivergenceStack

__all__ = ["HARDWARE", "DivergenceUnit", "FlowRequest", "MaskWrite", "Outcome", "OutcomeKind", "divergence_unit",
           "meets", "stops_behind"]

HARDWARE: Final[dict[str, type[DivergenceStack | LowestPc | TwoStacks | Ipdom | Tokens | Counters]]] = {
    "stack": DivergenceStack, "min_pc": LowestPc, "implicit": TwoStacks, "ipdom": Ipdom, "tokens": Tokens,
    "counters": Counters}
"""By the names of the schemes (``fgpu.config.DIVERGENCE``)."""


def divergence_unit(config: Config) -> DivergenceUnit:
    """The unit of the configuration's scheme."""
    return HARDWARE[config.divergence](config)


def meets(config: Config) -> bool:
    """Whether paths of a wavefront meet between control instructions."""
    return HARDWARE[config.divergence].meets


def stops_behind(config: Config) -> bool:
    """Whether a path may not pass the PC at which another one waits; joins then are no instructions of programs."""
    unit = HARDWARE[config.divergence]
    return unit.meets and unit.stops_behind
