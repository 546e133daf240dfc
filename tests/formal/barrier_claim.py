"""What the barrier unit promises to wavefronts that wait for each other."""

from amaranth.hdl import Cat, Module, Signal

from fgpu.config import WAVEFRONTS
from fgpu.cu.barrier import Barrier
from fgpu.interfaces.work_groups import GROUP_BITS

from .prover import Claim

_PATIENCE = 2
"""Cycles for which all must have arrived before they are released."""


def barrier_claim(barrier: type[Barrier] = Barrier) -> Claim:
    """Nobody passes a barrier before all of the work-group have come or ended, started or not; then all do, at once.

    Assuming of the launcher that it starts one work-group at a time, whose number nobody has, and of wavefronts that
    they are free until they start and after they end, that they arrive 2 cycles after their start or their last
    release at the earliest, and then wait. A cancelled kernel is not looked at.
    """
    dut = barrier()
    claim = Claim(dut=dut)
    m: Module = claim.m
    arrived = dut.arrived
    released = arrived & dut.release
    group = claim.constant("group", GROUP_BITS)     # all that is said is of this one
    starts = dut.groups.starting.bit_select(group, 1)
    members = Cat(dut.groups.members[slot].bit_select(group, 1) for slot in range(WAVEFRONTS))
    free, start = claim.free("free", WAVEFRONTS), claim.free("start", WAVEFRONTS)

    # The launcher.
    for slot in range(WAVEFRONTS):
        other = dut.groups.members[slot] & ~(1 << group)
        claim.assume(~members[slot] | (other == 0))
    claim.assume((start == 0) | starts)
    claim.assume(members == ((claim.past(members) & ~claim.past(free)) | claim.past(start)))
    claim.assume(~starts | claim.past(starts) | (members == 0))

    # Wavefronts.
    mine = members & ~free
    claim.assume((claim.past(start) & free) == 0)
    claim.assume((claim.past(members & free & ~start) & members) == 0)
    claim.assume((members & arrived & free) == 0)
    recently = claim.past(start | released)
    claim.assume((members & arrived & (recently | claim.past(recently))) == 0)
    claim.assume((claim.past(members & arrived & ~released) & ~arrived) == 0)

    whole = ((mine & ~arrived) == 0) & ~starts & (mine != 0)
    claim.always(((mine & released) == 0) | (whole & ((mine & ~released) == 0)))
    waited = Signal(range(_PATIENCE + 2))
    with m.If(whole & ((mine & released) == 0)):
        m.d.sync += waited.eq(waited + 1)
    with m.Else():
        m.d.sync += waited.eq(0)
    claim.always(waited <= _PATIENCE)
    claim.reachable(((mine & released) == 0b0101) & ((arrived & ~released) == 0b0010))
    return claim
