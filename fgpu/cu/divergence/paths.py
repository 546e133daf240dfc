"""What the schemes without annotations keep of a wavefront's paths."""

from typing import Any, Final

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.memory import Memory

from fgpu.config import WAVEFRONT_SIZE, WAVEFRONTS
from fgpu.fault import FAULT_PC_BITS

__all__ = ["ENTRY", "PATH", "Parked"]

PATH: Final = data.StructLayout({"pc": FAULT_PC_BITS, "mask": WAVEFRONT_SIZE})
"""Work-items that go on together, and where."""
ENTRY: Final = data.StructLayout({"pc": FAULT_PC_BITS, "mask": WAVEFRONT_SIZE, "is_call": 1})
"""Of a stack: a path, or a call below the paths inside it."""


class Parked:
    """Who came to the barrier, and where they go on, of each wavefront until all its paths have come or ended.

    ``is_parked``: some of the wavefront in ``work`` did, ``path``; assigned by the unit. ``came`` are they and those
    that run now, which ``put`` keeps.
    """

    def __init__(self, m: Module, work: Any) -> None:
        m.submodules.parked = parked = Memory(shape=PATH, depth=WAVEFRONTS, init=[])
        park, look_parked = parked.write_port(), parked.read_port(domain="comb")
        self.has_parked = Signal(WAVEFRONTS)
        self.is_parked = self.has_parked.bit_select(work.wavefront, 1)
        self.path, self.put = look_parked.data, park.en
        self.came = Signal(WAVEFRONT_SIZE)
        m.d.comb += [
            park.addr.eq(work.wavefront), look_parked.addr.eq(work.wavefront),
            self.came.eq(work.mask | Mux(self.is_parked, self.path.mask, 0)), park.data.mask.eq(self.came),
            park.data.pc.eq(work.next),
        ]
