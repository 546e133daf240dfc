"""Units of the core that are synthesized, placed and routed by themselves, by name."""

from collections.abc import Callable
from typing import Final

from amaranth.lib import wiring

from ..cache.cache import Cache
from ..config import Config
from ..control import ControlInterface
from ..core import FGPU
from ..cu.coalescer import Coalescer
from ..cu.compute_unit import ComputeUnit
from ..cu.divergence import divergence_unit
from ..cu.float.lane import Lane
from ..cu.float.operations import FloatOp
from ..cu.launcher import Launcher
from ..cu.memory_controller import MemoryController
from ..cu.pe import ProcessingElement
from ..cu.register_file import RegisterFile
from ..cu.scheduler import WavefrontScheduler
from ..cu.vector import ComputeVector
from ..dispatcher.dispatcher import Dispatcher
from ..dispatcher.local_ids import LocalIdGenerator

__all__ = ["TIMED", "UNITS"]

Component = Callable[[Config], wiring.Component]
UNITS: Final[dict[str, Component]] = {
    "pe": ProcessingElement,
    "coalescer": Coalescer,
    "divergence": divergence_unit,
    "launcher": lambda config: Launcher(),
    "control": ControlInterface,
    "scheduler": WavefrontScheduler,
    "memory_controller": MemoryController,
    "cache": Cache,
    "float_adder": lambda config: Lane(frozenset({FloatOp.FADD})),
    "local_ids": lambda config: LocalIdGenerator(),
    "dispatcher": Dispatcher,
    "register_file": lambda config: RegisterFile(),
}
"""Units of the default configuration, and the adder of a floating-point lane, each synthesized by itself for Xilinx 7
series, with all that is in it."""

TIMED: Final[dict[str, Component]] = {"compute_unit": ComputeUnit, **UNITS, "vector": ComputeVector, "core": FGPU}
"""What is placed and routed by itself."""
