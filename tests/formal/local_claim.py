"""What the arbitration of local memory's banks promises."""

from amaranth.hdl import Cat, Module, Mux, Signal

from fgpu.config import PE_COUNT
from fgpu.cu.local_arbiter import LANE_PAIRS, LocalArbiter

from .prover import Claim


def local_claim(arbiter: type[LocalArbiter] = LocalArbiter) -> Claim:
    """Each lane that waits is served, once; a cycle serves at most one word of each bank, and that to all its lanes.

    A bank with a lane that waits serves one. The highest lane of a word goes not after others. Of atomic operations
    the lowest lane goes alone.
    """
    dut = arbiter()
    claim = Claim(dut=dut)
    m: Module = claim.m
    # Banks and words of all lanes of a phase; two bits for what else is in an address.
    banks = [claim.constant(f"bank{lane}", 3) for lane in range(PE_COUNT)]
    rows = [claim.constant(f"row{lane}", 3) for lane in range(PE_COUNT)]
    lanes, atomic = claim.constant("lanes", PE_COUNT), claim.constant("atomic")
    left, started = Signal(PE_COUNT), Signal()
    wait = Mux(started, left, lanes)
    m.d.sync += [started.eq(1), left.eq(wait & ~dut.served)]
    words = [Cat(bank, row) for bank, row in zip(banks, rows, strict=True)]
    claim.drive(dut.wait, wait)
    claim.drive(dut.atomic, atomic)
    claim.drive(dut.same_bank, Cat(banks[one] == banks[other] for one, other in LANE_PAIRS))
    claim.drive(dut.same_word, Cat(words[one] == words[other] for one, other in LANE_PAIRS))

    served = Signal(PE_COUNT)       # before this cycle
    m.d.sync += served.eq(served | dut.served)
    claim.always((dut.served & served) == 0)
    claim.always((dut.served & ~lanes) == 0)
    claim.invariant(((left & served) == 0) & (started | (served == 0)))
    claim.always(~started | ((served | left) == lanes))
    claim.always((dut.served != 0) | (wait == 0))
    claim.always((dut.leaders & ~dut.served) == 0)
    for one, other in LANE_PAIRS:
        together = dut.served[one] & dut.served[other]
        same_bank, same_word = banks[one] == banks[other], words[one] == words[other]
        claim.always(~together | ~same_bank | same_word)
        claim.always(~(dut.leaders[one] & dut.leaders[other] & same_bank))
        # Of one word both are served in one cycle, and the higher one leads; of atomic operations none.
        claim.always(atomic | ~(wait[one] & wait[other] & same_word) | (dut.served[one] == dut.served[other]))
        claim.always(~together | ~same_word | (~dut.leaders[one] & ~atomic))
    for lane in range(PE_COUNT):
        same = Cat(banks[lane] == banks[other] for other in range(PE_COUNT))
        claim.always(atomic | ~wait[lane] | (same & dut.leaders).any())
    claim.always(~atomic | (dut.served == (wait & -wait)[:PE_COUNT]))
    return claim
