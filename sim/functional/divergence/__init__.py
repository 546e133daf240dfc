"""Schemes of divergence of the functional engine, in the same terms as the hardware's."""

from collections.abc import Mapping
from typing import Final

from .annotated import Counters, Ipdom, Tokens
from .implicit import Implicit
from .interface import Paths
from .min_pc import MinPc

__all__ = ["SCHEMES"]

SCHEMES: Final[Mapping[str, type[Paths]]] = {
    "min_pc": MinPc, "implicit": Implicit, "ipdom": Ipdom, "tokens": Tokens, "counters": Counters}
"""By the names of ``fgpu.config.DIVERGENCE``; ``stack`` is :class:`~fgpu.sim.functional.wavefronts.Wavefronts`."""
