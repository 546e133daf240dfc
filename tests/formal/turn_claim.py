"""What the choice of the next wavefront promises."""

from amaranth.hdl import Cat, Module, Mux, Signal

from fgpu.config import WAVEFRONTS
from fgpu.cu.turn import _LONG_PATIENCE, _PATIENCE, WavefrontTurn

from .prover import Claim


def turn_claim(turn: type[WavefrontTurn] = WavefrontTurn, *, crowded: bool = False) -> Claim:
    """A ready wavefront is chosen if there is one; none waits for more than 7 * 64 instructions of others. Where the
    cache may be ``crowded``: 7 * 256; then only the first one loads, and one that is at a barrier is not for long."""
    dut = turn()
    claim = Claim(dut=dut)
    m: Module = claim.m
    claim.always(dut.valid == dut.ready.any())
    claim.always(~dut.valid | (dut.ready & dut.choice).any())
    claim.always((dut.choice & (dut.choice - 1)) == 0)

    patience = _LONG_PATIENCE if crowded else _PATIENCE
    loads = dut.load_turn
    if not crowded:
        claim.assume(~loads.crowded)
    who = claim.constant("who", range(WAVEFRONTS))
    mine = dut.ready.bit_select(who, 1)
    claim.assume(~mine | ~(dut.free | dut.arrived).bit_select(who, 1))
    bound = (WAVEFRONTS - 1) * patience
    waited = Signal(range(2 * bound))
    with m.If(~mine | (dut.accept & dut.choice.bit_select(who, 1))):
        m.d.sync += waited.eq(0)
    with m.Elif(dut.accept):
        m.d.sync += waited.eq(waited + 1)
    claim.always(waited <= bound)

    head, issued = claim.inside("dut.head", range(WAVEFRONTS)), claim.inside("dut.issued", range(_LONG_PATIENCE))
    behind = claim.inside("dut.behind", WAVEFRONTS)
    claim.invariant(Cat((behind == (1 << WAVEFRONTS) - (1 << n)) & (head == n) for n in range(WAVEFRONTS)).any())
    claim.invariant(issued < patience)
    ahead = Signal(range(WAVEFRONTS))       # wavefronts that come to the head before this one does
    m.d.comb += ahead.eq(who - head)
    claim.invariant(waited <= (WAVEFRONTS - 1 - ahead) * patience + issued)
    claim.invariant((ahead != 0) | (issued == 0) | (waited == 0))

    before = claim.past(head)
    begun = claim.past(1)
    told = Mux(claim.past(loads.crowded), claim.past(loads.unit) << before, -1)
    claim.always(~begun | (dut.may_load == told[:WAVEFRONTS]))
    stays = claim.past((dut.arrived & ~dut.free).bit_select(head, 1) & loads.crowded)
    claim.always(~begun | ~stays | (head != before))
    return claim
