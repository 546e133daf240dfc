"""Code RAM: the instructions of up to 16 kernels, fetched by all compute units (section 3.2.1)."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .config import WAVEFRONT_BITS, Config
from .gateware.round_robin import RoundRobin
from .interfaces.fetch import Fetched, FetchRequest

__all__ = ["CodeRam"]


class CodeRam(wiring.Component):
    """Serves one fetch, of two instructions, each cycle; a wavefront needs one in 16 cycles at most.

    A compute unit's ``fetched`` follows its request's acceptance by 2 cycles. The host's ``write``, at
    ``write_address``, and ``read`` come before fetches; ``read_data`` is there 2 cycles after ``read``, of the half
    that ``address`` names then.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "address": In(config.pc_bits),
            "write_address": In(config.pc_bits),
            "write": In(1),
            "write_data": In(32),
            "read": In(1),
            "read_data": Out(32),
            "fetch": In(stream.Signature(FetchRequest(config))).array(config.compute_units),
            "fetched": Out(Fetched).array(config.compute_units),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        pair = data.ArrayLayout(unsigned(32), 2)
        m.submodules.memory = memory = Memory(shape=pair, depth=self._config.cram_words // 2, init=[])
        write, read = memory.write_port(granularity=1), memory.read_port()
        m.d.comb += [
            write.addr.eq(self.write_address[1:]), write.data.eq(Cat(self.write_data, self.write_data)),
            write.en.eq(Mux(self.write, Mux(self.write_address[0], 0b10, 0b01), 0)),
        ]
        fetched_pair = Signal(pair)
        m.d.sync += fetched_pair.eq(read.data)
        m.d.comb += self.read_data.eq(fetched_pair[self.address[0]])

        m.submodules.turn = turn = RoundRobin(self._config.compute_units)
        wavefront = Signal(WAVEFRONT_BITS)
        m.d.comb += [
            turn.requests.eq(Cat(request.valid for request in self.fetch)),
            turn.accept.eq(~self.read),
            read.addr.eq(self.address[1:]),
        ]
        fetched: Any = self.fetched
        for number, request in enumerate(self.fetch):
            chosen = ~self.read & turn.valid & (turn.choice == number)
            m.d.comb += request.ready.eq(~self.read & turn.offered[number])
            with m.If(chosen):
                m.d.comb += read.addr.eq(request.payload.pair)
                m.d.sync += wavefront.eq(request.payload.wavefront)
            served = Signal(name=f"served{number}")
            m.d.sync += [
                served.eq(chosen),
                fetched[number].valid.eq(served),
                fetched[number].wavefront.eq(wavefront),
            ]
            m.d.comb += fetched[number].pair.eq(fetched_pair)
        return m
