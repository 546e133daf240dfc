"""What the choice of the next wavefront promises."""

from amaranth.hdl import Cat, Module, Signal

from fgpu.config import WAVEFRONTS
from fgpu.cu.turn import _PATIENCE, WavefrontTurn

from .prover import Claim


def turn_claim(turn: type[WavefrontTurn] = WavefrontTurn) -> Claim:
    """A ready wavefront is chosen if there is one; none waits for more than 7 * 64 instructions of others."""
    dut = turn()
    claim = Claim(dut=dut)
    m: Module = claim.m
    claim.always(dut.valid == dut.ready.any())
    claim.always(~dut.valid | (dut.ready & dut.choice).any())
    claim.always((dut.choice & (dut.choice - 1)) == 0)

    who = claim.constant("who", range(WAVEFRONTS))
    mine = dut.ready.bit_select(who, 1)
    claim.assume(~mine | ~dut.free.bit_select(who, 1))
    bound = (WAVEFRONTS - 1) * _PATIENCE
    waited = Signal(range(2 * bound))
    with m.If(~mine | (dut.accept & dut.choice.bit_select(who, 1))):
        m.d.sync += waited.eq(0)
    with m.Elif(dut.accept):
        m.d.sync += waited.eq(waited + 1)
    claim.always(waited <= bound)

    head, issued = claim.inside("dut.head", range(WAVEFRONTS)), claim.inside("dut.issued", range(_PATIENCE))
    behind = claim.inside("dut.behind", WAVEFRONTS)
    claim.invariant(Cat((behind == (1 << WAVEFRONTS) - (1 << n)) & (head == n) for n in range(WAVEFRONTS)).any())
    ahead = Signal(range(WAVEFRONTS))       # wavefronts that come to the head before this one does
    m.d.comb += ahead.eq(who - head)
    claim.invariant(waited <= (WAVEFRONTS - 1 - ahead) * _PATIENCE + issued)
    return claim
