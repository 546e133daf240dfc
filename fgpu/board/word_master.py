"""Accesses to words on AXI."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.axi import AXI4LiteSignature, AXI4Signature, Burst, MemoryType, Protection

from .words import WordBusSignature, WordRequest

__all__ = ["WordMaster"]


class WordMaster(wiring.Component):
    """A master on AXI4-Lite, or on AXI4 with bursts of one beat: one access to a word of 32 bits at a time.

    On a port of 64 bits words with odd addresses are in the upper half of their beat. An access is on AXI from the
    cycle after its request on, address and data of a write at once; AXI's response is the answer in the same cycle,
    an error for SLVERR and DECERR. The next request is taken from the cycle after that on.
    """

    def __init__(self, signature: AXI4LiteSignature | AXI4Signature) -> None:
        self._lanes = signature.data_width // 32 if isinstance(signature, AXI4Signature) else 1
        self._is_full = isinstance(signature, AXI4Signature)
        super().__init__({"words": In(WordBusSignature()), "axi": Out(signature)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        axi: Any = self.axi
        requests, answers = self.words.requests, self.words.answers
        request = Signal(WordRequest)
        waiting, addressed, written = Signal(), Signal(), Signal()
        lane = request.address[:exact_log2(self._lanes)]
        strobe = Cat(Cat(lane == number for _ in range(4)) for number in range(self._lanes))
        # Two bits more, for bytes; AXI4-Lite takes as many as it has.
        address = Cat(0, 0, request.address)
        m.d.comb += [
            requests.ready.eq(~waiting),
            axi.awvalid.eq(waiting & request.write & ~addressed), axi.awaddr.eq(address),
            axi.wvalid.eq(waiting & request.write & ~written),
            axi.wdata.eq(request.data.replicate(self._lanes)), axi.wstrb.eq(strobe),
            axi.arvalid.eq(waiting & ~request.write & ~addressed), axi.araddr.eq(address),
            answers.valid.eq(waiting & Mux(request.write, axi.bvalid, axi.rvalid)),
            answers.payload.data.eq(axi.rdata.word_select(lane, 32)),
            answers.payload.error.eq(Mux(request.write, axi.bresp.as_value()[1], axi.rresp.as_value()[1])),
            axi.bready.eq(waiting & request.write & answers.ready),
            axi.rready.eq(waiting & ~request.write & answers.ready),
        ]
        if self._is_full:
            for channel in ("aw", "ar"):
                m.d.comb += [
                    getattr(axi, f"{channel}size").eq(2), getattr(axi, f"{channel}burst").eq(Burst.INCR),
                    getattr(axi, f"{channel}cache").eq(MemoryType.NORMAL_NON_CACHEABLE_BUFFERABLE),
                    getattr(axi, f"{channel}prot").eq(Protection.UNPRIVILEGED_SECURE_DATA),
                ]
            m.d.comb += axi.wlast.eq(1)
        with m.If(requests.valid & requests.ready):
            m.d.sync += [request.eq(requests.payload), waiting.eq(1), addressed.eq(0), written.eq(0)]
        with m.If((axi.awvalid & axi.awready) | (axi.arvalid & axi.arready)):
            m.d.sync += addressed.eq(1)
        with m.If(axi.wvalid & axi.wready):
            m.d.sync += written.eq(1)
        with m.If(answers.valid & answers.ready):
            m.d.sync += waiting.eq(0)
        return m
