"""The unit that decides which work-items of a wavefront run next: its ports, and the schemes that have hardware."""

from collections.abc import Callable
from typing import Final

from fgpu.config import Config
from fgpu.errors import ConfigError

from .interface import DivergenceUnit, FlowRequest, MaskWrite, Outcome, OutcomeKind
from .stack import DivergenceStack

__all__ = ["HARDWARE", "DivergenceUnit", "FlowRequest", "MaskWrite", "Outcome", "OutcomeKind", "divergence_unit"]

HARDWARE: Final[dict[str, Callable[[Config], DivergenceUnit]]] = {"stack": DivergenceStack}
"""By the names of the schemes (``fgpu.config.DIVERGENCE``): those that are more than models."""


def divergence_unit(config: Config) -> DivergenceUnit:
    """The unit of the configuration's scheme.

    Raises :class:`~fgpu.errors.ConfigError` for a scheme that only the functional engine has.
    """
    if config.divergence not in HARDWARE:
        raise ConfigError(f"divergence={config.divergence!r} has no hardware, only a model: use engine='functional', "
                          f"or one of {', '.join(map(repr, HARDWARE))}")
    return HARDWARE[config.divergence](config)
