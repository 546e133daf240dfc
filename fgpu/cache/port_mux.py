"""Several slices of the cache on one AXI port."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.axi.signatures import ID_BITS, AXI4Signature
from fgpu.config import Config
from fgpu.gateware.choose import choose
from fgpu.gateware.queue import Queue
from fgpu.gateware.round_robin import RoundRobin
from fgpu.gateware.skid_buffer import SkidBuffer

__all__ = ["PortMux"]

_ADDRESS = ("id", "addr", "len", "size", "burst", "cache", "prot")
_WRITES = 8
"""Write bursts whose addresses have left, but not their data."""


class PortMux(wiring.Component):
    """Merges the AXI masters of ``config.port_slices`` slices, burst by burst, in turn.

    The lower bits of an id are the number of the slice: answers find their way by them, in the cycle in which they
    come. A slice has the other bits; what it gives as the upper ones is left out. Requests and data to be
    written take a cycle. Data leave in the order of their addresses: a slice waits for those that go before.
    """

    def __init__(self, config: Config) -> None:
        self._count = config.port_slices
        signature = AXI4Signature(data_width=config.axi_data_width)
        super().__init__({"slices": In(signature).array(self._count), "axi": Out(signature)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        axi: Any = self.axi
        slices: list[Any] = list(self.slices)
        bits = exact_log2(self._count)
        m.submodules.order = order = Queue(bits, depth=_WRITES)
        self._merge_addresses(m, "ar", None)
        self._merge_addresses(m, "aw", order)

        width, strobes = len(axi.wdata), len(axi.wstrb)
        m.submodules.beats = beats = SkidBuffer(width + strobes + 1)
        source = order.output.payload
        last = choose([each.wlast for each in slices], source)
        m.d.comb += [
            beats.input.valid.eq(order.output.valid & choose([each.wvalid for each in slices], source)),
            beats.input.payload.eq(Cat(choose([Cat(each.wdata, each.wstrb) for each in slices], source), last)),
            order.output.ready.eq(beats.input.valid & beats.input.ready & last),
            axi.wvalid.eq(beats.output.valid),
            Cat(axi.wdata, axi.wstrb, axi.wlast).eq(beats.output.payload),
            beats.output.ready.eq(axi.wready),
            axi.rready.eq(1),
            axi.bready.eq(1),
        ]
        for number, each in enumerate(slices):
            m.d.comb += [
                each.wready.eq(order.output.valid & (source == number) & beats.input.ready),
                each.rvalid.eq(axi.rvalid & (axi.rid[:bits] == number)),
                each.rid.eq(axi.rid[bits:]),
                each.rdata.eq(axi.rdata),
                each.rresp.eq(axi.rresp),
                each.rlast.eq(axi.rlast),
                each.bvalid.eq(axi.bvalid & (axi.bid[:bits] == number)),
                each.bid.eq(axi.bid[bits:]),
                each.bresp.eq(axi.bresp),
            ]
        return m

    def _merge_addresses(self, m: Module, channel: str, order: Queue | None) -> None:
        """``order`` takes the numbers of the slices whose bursts were chosen."""
        def wires(interface: Any, *names: str) -> list[Any]:
            return [getattr(interface, channel + name) for name in names]

        bits = exact_log2(self._count)
        m.submodules[f"{channel}_turn"] = turn = RoundRobin(self._count)
        shape = data.StructLayout({name: Value.cast(wire).shape()
                                   for name, wire in zip(_ADDRESS, wires(self.axi, *_ADDRESS), strict=True)})
        m.submodules[f"{channel}_buffer"] = buffer = SkidBuffer(shape)
        requests = [Signal(shape, name=f"{channel}{number}") for number in range(self._count)]
        for number, (request, each) in enumerate(zip(requests, self.slices, strict=True)):
            fields = dict(zip(_ADDRESS, wires(each, *_ADDRESS), strict=True))
            fields["id"] = Cat(Const(number, bits), fields["id"])[:ID_BITS]
            m.d.comb += [request[name].eq(value) for name, value in fields.items()]
        valid, ready = wires(self.axi, "valid", "ready")
        go = Signal(name=f"{channel}_go")
        m.d.comb += [
            turn.requests.eq(Cat(wires(each, "valid")[0] for each in self.slices)),
            go.eq(turn.valid & buffer.input.ready & (1 if order is None else order.input.ready)),
            turn.accept.eq(go),
            buffer.input.valid.eq(go),
            buffer.input.payload.eq(choose(requests, turn.choice)),
            valid.eq(buffer.output.valid),
            buffer.output.ready.eq(ready),
            *(wire.eq(buffer.output.payload[name])
              for name, wire in zip(_ADDRESS, wires(self.axi, *_ADDRESS), strict=True)),
        ]
        if order is not None:
            m.d.comb += [order.input.valid.eq(go), order.input.payload.eq(turn.choice)]
        for number, each in enumerate(self.slices):
            m.d.comb += wires(each, "ready")[0].eq(go & turn.chosen[number])
