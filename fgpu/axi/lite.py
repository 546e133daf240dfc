"""AXI4-Lite slave: one access at a time on a simple register bus."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .signatures import AXI4LiteSignature, Response

__all__ = ["AXI4LiteSlave", "RegisterBusSignature"]


class RegisterBusSignature(wiring.Signature):
    """Word accesses, seen from the initiator.

    ``write`` is one pulse. ``read`` stays until ``read_done``, in whose cycle ``read_data`` is valid.
    ``mapped`` answers, combinationally, whether ``address`` (of words) exists.
    """

    def __init__(self, *, address_width: int) -> None:
        super().__init__({
            "address": Out(address_width), "mapped": In(1),
            "write": Out(1), "write_data": Out(32),
            "read": Out(1), "read_data": In(32), "read_done": In(1),
        })


class AXI4LiteSlave(wiring.Component):
    """Serves whole, aligned words; anything else is answered with SLVERR and has no effect.

    A write takes effect in the cycle in which its data and address are accepted, and reads and writes
    alternate when both wait. Latency: response 1 cycle after the access is done. ``refused`` tells, in the
    cycle after, that an access was answered with SLVERR.
    """

    def __init__(self, *, address_width: int) -> None:
        self._address_width = address_width
        super().__init__({
            "axi": In(AXI4LiteSignature(address_width=address_width)),
            "bus": Out(RegisterBusSignature(address_width=address_width - 2)),
            "refused": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        axi: Any = self.axi
        bus: Any = self.bus
        write_pending, read_pending = Signal(), Signal()
        prefer_read = Signal()
        m.d.comb += [
            write_pending.eq(axi.awvalid & axi.wvalid & (~axi.bvalid | axi.bready)),
            read_pending.eq(axi.arvalid & (~axi.rvalid | axi.rready)),
        ]
        with m.If(axi.bready):
            m.d.sync += axi.bvalid.eq(0)
        with m.If(axi.rready):
            m.d.sync += axi.rvalid.eq(0)

        m.d.sync += self.refused.eq(0)
        address = Signal(self._address_width)
        legal = Signal()
        m.d.comb += [
            bus.address.eq(address[2:]),
            bus.write_data.eq(axi.wdata),
            legal.eq(bus.mapped & (address[:2] == 0)),
        ]
        with m.If(write_pending & ~(read_pending & prefer_read)):
            m.d.comb += [
                address.eq(axi.awaddr), axi.awready.eq(1), axi.wready.eq(1),
                bus.write.eq(legal & axi.wstrb.all()),
            ]
            m.d.sync += [
                self.refused.eq(~bus.write),
                axi.bvalid.eq(1), axi.bresp.eq(Mux(bus.write, Response.OKAY, Response.SLVERR)), prefer_read.eq(1),
            ]
        with m.Elif(read_pending):
            m.d.comb += [address.eq(axi.araddr), bus.read.eq(legal)]
            with m.If(bus.read_done | ~legal):
                m.d.comb += axi.arready.eq(1)
                m.d.sync += [
                    self.refused.eq(~legal),
                    axi.rvalid.eq(1), axi.rdata.eq(bus.read_data),
                    axi.rresp.eq(Mux(legal, Response.OKAY, Response.SLVERR)), prefer_read.eq(0),
                ]
        return m
