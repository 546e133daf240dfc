"""The unit that decides which work-items of a wavefront run next: its ports, and the schemes that have hardware."""

from typing import Final

from fgpu.config import Config
from fgpu.errors import ConfigError

from .interface import DivergenceUnit, FlowRequest, MaskWrite, Outcome, OutcomeKind
from .min_pc import LowestPc
from .stack import DivergenceStack

__all__ = ["HARDWARE", "DivergenceUnit", "FlowRequest", "MaskWrite", "Outcome", "OutcomeKind", "divergence_unit",
           "meets"]

HARDWARE: Final[dict[str, type[DivergenceStack | LowestPc]]] = {"stack": DivergenceStack, "min_pc": LowestPc}
"""By the names of the schemes (``fgpu.config.DIVERGENCE``): those that are more than models."""


def divergence_unit(config: Config) -> DivergenceStack | LowestPc:
    """The unit of the configuration's scheme.

    Raises :class:`~fgpu.errors.ConfigError` for a scheme that only the functional engine has.
    """
    if config.divergence not in HARDWARE:
        raise ConfigError(f"divergence={config.divergence!r} has no hardware, only a model: use engine='functional', "
                          f"or one of {', '.join(map(repr, HARDWARE))}")
    return HARDWARE[config.divergence](config)


def meets(config: Config) -> bool:
    """Whether paths of a wavefront meet between control instructions."""
    return config.divergence in HARDWARE and HARDWARE[config.divergence].meets
