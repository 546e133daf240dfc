"""What the two halves of the scheduler, selector and issuer, tell each other in the cycles of a slot."""

from typing import Any

from amaranth.hdl import Mux
from amaranth.lib import data

from fgpu.config import WAVEFRONT_BITS, WAVEFRONT_SIZE, WAVEFRONTS
from fgpu.fault import FAULT_PC_BITS

from .wavefront import Commit

__all__ = ["AtVector", "Checked", "Committed", "Early", "Room", "Selected", "Watched"]


class Selected(data.Struct):
    """In slot cycle 1: the wavefront whose instruction is read, to be issued if ``valid``, to be looked at if
    ``check``, namely the one after that just issued if ``ahead``. If it ``joins``, two paths of the wavefront are to
    meet first."""

    valid: 1
    check: 1
    ahead: 1
    wavefront: WAVEFRONT_BITS
    # Both follow from the wavefront: with it between them, Verilator sees a loop in the port.
    pc: FAULT_PC_BITS
    joins: 1


class Checked(data.Struct):
    """In slot cycle 2: an instruction was looked at for the wavefront whose bit is set, and ``depends`` on what loads
    under way will write."""

    wavefronts: WAVEFRONTS
    depends: 1


class Committed(data.Struct):
    """In slot cycle 3: what becomes of the instruction that was selected for the wavefront whose bit is set, if any.

    ``next`` is the address behind it; it may be an access to ``local`` memory, a ``load`` from global memory, or be
    ``narrow``: for units that fewer lanes have."""

    wavefronts: WAVEFRONTS
    commit: Commit
    next: FAULT_PC_BITS
    local: 1
    load: 1
    narrow: 1


class Early(data.Struct):
    """From slot cycle 3 on: the wavefront whose bit is set was looked at ahead, and its instruction, which may be an
    ``access`` to memory, does not need the result of the one before it."""

    wavefronts: WAVEFRONTS
    access: 1


class AtVector(data.Struct):
    """The instruction at the vector: it is in its ``second_half``; its wavefront, whose bit is set, ``continues``
    without waiting for anybody but the vector."""

    continues: WAVEFRONTS
    second_half: 1


class Room(data.Struct):
    """Whether an access finds room, in either memory."""

    memory: 1
    local: 1

    def at(self, local: Any) -> Any:
        """Whether one that is ``local``, or not, does."""
        return Mux(local, self.local, self.memory)


class Watched(data.Struct):
    """In slot cycle 3, for simulators: the instruction that is committed, if ``valid``."""

    valid: 1
    issued: 1
    wavefront: WAVEFRONT_BITS
    pc: FAULT_PC_BITS
    mask: WAVEFRONT_SIZE
    joins: 1
    """It is none of the program's: paths of the wavefront meet."""
    load: 1
    """It is issued and will write a register with what it loads."""
