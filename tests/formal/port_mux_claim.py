"""What the multiplexer of an AXI port promises."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal

from fgpu.cache.port_mux import PortMux
from fgpu.config import Config

from .prover import Claim

_DEPTH = 16


def port_mux_claim(config: Config, mux: type[PortMux] = PortMux) -> Claim:
    """Bursts and data come from the slice that their ids name, data in the order of the addresses; answers go there.

    Bit 0 of addresses and data is assumed to be the slice's number, which tells them apart.
    """
    dut = mux(config)
    claim = Claim(dut=dut)
    m: Module = claim.m
    axi: Any = dut.axi
    slices: list[Any] = list(dut.slices)
    assert len(slices) == 2
    for number, each in enumerate(slices):
        for valid, ready, payload, mark in [
                (each.arvalid, each.arready, Cat(each.araddr, each.arid, each.arlen), each.araddr[0]),
                (each.awvalid, each.awready, Cat(each.awaddr, each.awid, each.awlen), each.awaddr[0]),
                (each.wvalid, each.wready, Cat(each.wdata, each.wstrb, each.wlast), each.wdata[0])]:
            claim.assume(claim.stable(valid, ready, payload))
            claim.assume(mark == number)

    claim.always(claim.stable(axi.arvalid, axi.arready, Cat(axi.araddr, axi.arid, axi.arlen)))
    claim.always(claim.stable(axi.awvalid, axi.awready, Cat(axi.awaddr, axi.awid, axi.awlen)))
    claim.always(claim.stable(axi.wvalid, axi.wready, Cat(axi.wdata, axi.wstrb, axi.wlast)))
    claim.always(~axi.arvalid | (axi.arid[0] == axi.araddr[0]))
    claim.always(~axi.awvalid | (axi.awid[0] == axi.awaddr[0]))
    for number, each in enumerate(slices):
        for taken, left in [
                (each.arvalid & each.arready, axi.arvalid & axi.arready & (axi.arid[0] == number)),
                (each.awvalid & each.awready, axi.awvalid & axi.awready & (axi.awid[0] == number)),
                (each.wvalid & each.wready, axi.wvalid & axi.wready & (axi.wdata[0] == number))]:
            claim.always(claim.count(taken, left, 5) <= 2)      # in the skid buffer
        claim.always(each.rvalid == (axi.rvalid & (axi.rid[0] == number)))
        claim.always(~each.rvalid | ((each.rid == axi.rid[1:]) & (each.rdata == axi.rdata)))
        claim.always(each.bvalid == (axi.bvalid & (axi.bid[0] == number)))
        claim.always(~each.bvalid | (each.bid == axi.bid[1:]))

    # The slices whose data are owed, the next one first.
    owed, level = Signal(_DEPTH), Signal(range(_DEPTH + 1))
    asked = Cat(each.awvalid & each.awready for each in slices)
    done = Cat(each.wvalid & each.wready & each.wlast for each in slices).any()
    claim.always(asked != 3)
    left = Signal.like(level)       # without what is done
    m.d.comb += left.eq(level - done)
    kept = Mux(done, owed >> 1, owed) & ((1 << left) - 1)[:_DEPTH]
    m.d.sync += owed.eq(kept | asked[1] << left)
    m.d.sync += level.eq(level + asked.any() - done)
    for number, each in enumerate(slices):
        claim.always(~(each.wvalid & each.wready) | ((level != 0) & (owed[0] == number)))
    claim.reachable((level == 2) & (owed[:2] == 2) & done)
    return claim
