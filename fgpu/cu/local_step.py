"""From the banks of local memory to the crossbar, which they share with the rows of the cache."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import PE_COUNT, PHASE_BITS, WAVEFRONT_BITS
from fgpu.isa import REGISTER_BITS

from .register_file import Words

__all__ = ["LocalProbe", "LocalSteps"]


class LocalProbe(data.Struct):
    """Events of a cycle: the first lanes of a ``phase`` are served; some others of a load or store (``conflict``)."""

    phase: 1
    conflict: 1


class LocalSteps(wiring.Signature):
    """What is served together of a phase of local memory, as it comes to the crossbar.

    With ``go`` the step leaves: then output ``i`` of the crossbar takes word ``sources[i]``, of what was ``read`` for
    a ``load`` and otherwise of ``store_data``, where it has ``computed`` in place of word 0 if it ``computes``. Of a
    load only outputs ``served`` do, and the others keep theirs; if it ``returns``, register ``rd`` of ``lanes`` is
    written; ``last`` ends the instruction.
    Steps of a phase of loads come one after the other. After a cycle with ``pause`` no new phase begins.
    """

    def __init__(self) -> None:
        super().__init__({
            "valid": Out(1),
            "go": In(1),
            "pause": In(1),
            "load": Out(1),
            "returns": Out(1),
            "last": Out(1),
            "served": Out(PE_COUNT),
            "lanes": Out(PE_COUNT),
            "sources": Out(data.ArrayLayout(range(PE_COUNT), PE_COUNT)),
            "wavefront": Out(WAVEFRONT_BITS),
            "phase": Out(PHASE_BITS),
            "rd": Out(REGISTER_BITS),
            "read": Out(Words),
            "store_data": Out(Words),
            "computes": Out(1),
            "computed": Out(32),
        })
