"""AXI4-Lite slave: one access at a time on a simple register bus."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.gateware.half_buffer import HalfBuffer

from .signatures import AXI4LiteSignature, Response

__all__ = ["AXI4LiteSlave", "RegisterBusSignature"]


class RegisterBusSignature(wiring.Signature):
    """Word accesses, one a cycle, seen from the initiator.

    ``readable`` and ``writable`` answer, a cycle later, what may be done at ``address`` and ``write_address`` (of
    words), which are there in the cycle before an access already, and stay until the cycle after it. ``write`` is one
    pulse. A ``read``, which may be withdrawn, is accepted in a cycle with ``read_ready``, which may depend on the
    address; its ``read_data`` is there in the cycle after.
    """

    def __init__(self, *, address_width: int) -> None:
        super().__init__({
            "address": Out(address_width), "write_address": Out(address_width), "readable": In(1), "writable": In(1),
            "write": Out(1), "write_data": Out(32),
            "read": Out(1), "read_ready": In(1), "read_data": In(32),
        })


class WriteData(data.Struct):
    """The W channel."""

    data: 32
    strobe: 4


class AXI4LiteSlave(wiring.Component):
    """Serves whole, aligned words; anything else is answered with SLVERR and has no effect.

    Nothing goes through in one cycle: addresses and data are served from buffers. Reads and writes take turns when
    both wait. A write is on the bus three cycles after the later of its address and data was accepted, and its
    response is there a cycle later; a read's response four cycles after its address was accepted, if it need not wait
    for ``read_ready``. ``refused`` tells that an access is answered with SLVERR.
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
        m.submodules.write_addresses = write_addresses = HalfBuffer(self._address_width)
        m.submodules.write_words = write_words = HalfBuffer(WriteData)
        m.submodules.read_addresses = read_addresses = HalfBuffer(self._address_width)
        m.d.comb += [
            write_addresses.input.valid.eq(axi.awvalid), axi.awready.eq(write_addresses.input.ready),
            write_addresses.input.payload.eq(axi.awaddr),
            write_words.input.valid.eq(axi.wvalid), axi.wready.eq(write_words.input.ready),
            write_words.input.payload.data.eq(axi.wdata), write_words.input.payload.strobe.eq(axi.wstrb),
            read_addresses.input.valid.eq(axi.arvalid), axi.arready.eq(read_addresses.input.ready),
            read_addresses.input.payload.eq(axi.araddr),
        ]

        reading = Signal()          # the word arrives of the read that was served in the cycle before
        reading_legal = Signal()
        writing = Signal()          # likewise the response to a write
        writing_legal = Signal()
        wants_write, wants_read = Signal(), Signal()
        write_known = Signal()      # for a cycle, which decoding takes
        read_known = Signal()
        prefers_read = Signal()     # after a write
        write, read = Signal(), Signal()
        address, write_address = read_addresses.output.payload, write_addresses.output.payload
        readable, writable = Signal(), Signal()
        word = write_words.output.payload
        aligned = Signal()          # known when the access is
        whole = Signal()
        m.d.comb += [
            wants_write.eq(write_known & ~writing & (~axi.bvalid | axi.bready)),
            wants_read.eq(read_known & ~reading & (~axi.rvalid | axi.rready)),
            write.eq(wants_write & ~(wants_read & prefers_read)),
            readable.eq(bus.readable & aligned), writable.eq(bus.writable & whole),
            bus.address.eq(address[2:]), bus.write_address.eq(write_address[2:]),
            bus.write_data.eq(word.data),
            bus.write.eq(writing & writing_legal),
            bus.read.eq(wants_read & ~write & readable),
            read.eq(wants_read & ~write & (bus.read_ready | ~readable)),
            write_addresses.output.ready.eq(write), write_words.output.ready.eq(write),
            read_addresses.output.ready.eq(read),
        ]
        with m.If(axi.bready):
            m.d.sync += axi.bvalid.eq(0)
        with m.If(axi.rready):
            m.d.sync += axi.rvalid.eq(0)
        m.d.sync += [
            aligned.eq(address[:2] == 0), whole.eq((write_address[:2] == 0) & word.strobe.all()),
            self.refused.eq((write & ~writable) | (read & ~readable)),
            reading.eq(read), reading_legal.eq(readable),
            writing.eq(write), writing_legal.eq(writable),
            write_known.eq(write_addresses.output.valid & write_words.output.valid),
            read_known.eq(read_addresses.output.valid & ~read),
        ]
        with m.If(write):
            m.d.sync += prefers_read.eq(1)
        with m.If(read):
            m.d.sync += prefers_read.eq(0)
        with m.If(writing):
            m.d.sync += [axi.bvalid.eq(1), axi.bresp.eq(Mux(writing_legal, Response.OKAY, Response.SLVERR))]
        with m.If(reading):
            m.d.sync += [
                axi.rvalid.eq(1), axi.rdata.eq(bus.read_data),
                axi.rresp.eq(Mux(reading_legal, Response.OKAY, Response.SLVERR)),
            ]
        return m
