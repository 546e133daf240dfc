"""The AXI4 master of the cache: moves cache lines."""

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.axi.signatures import ID_BITS, AXI4Signature, Burst, MemoryType, Protection
from fgpu.config import Config
from fgpu.gateware.queue import Queue

from .payloads import tag_manager_bits

__all__ = ["AXIMaster", "BeatSpan", "LineTransfer", "ReadBeat", "WriteBeat", "turn_bits"]


def turn_bits(config: Config) -> int:
    """Bits of the count of a slice's read bursts by which those that are on their way differ."""
    return exact_log2(config.slice_tag_managers)


class LineTransfer(data.StructLayout):
    """A write burst to request: the address of its line, and the id (the tag manager in charge)."""

    def __init__(self, config: Config) -> None:
        super().__init__({"line": config.line_address_bits, "id": tag_manager_bits(config)})


class BeatSpan(data.StructLayout):
    """Some successive beats of a line."""

    def __init__(self, config: Config) -> None:
        bits = exact_log2(config.burst_beats)
        super().__init__({"first": bits, "last": bits})


class ReadBeat(data.StructLayout):
    """A beat of a read burst, and the burst's ``turn``. Bursts may interleave, beats of one come in order."""

    def __init__(self, config: Config) -> None:
        super().__init__({"data": config.axi_data_width, "turn": turn_bits(config)})


class WriteBeat(data.StructLayout):
    """A beat of a write burst."""

    def __init__(self, config: Config) -> None:
        super().__init__({"data": config.axi_data_width, "strobe": config.axi_data_width // 8, "last": 1})


class AXIMaster(wiring.Component):
    """Turns line transfers into INCR bursts on one AXI4 port: ``reads`` of a whole line, ``writes`` of the ``span``.

    At most one write burst may be outstanding for an id, and as many read bursts as there are tag managers: then the
    address queues (latency 1 cycle) always have room, and neither stream needs back-pressure. Read beats
    are passed on in the cycle in which they come: their buffer is reserved. Write data are independent of
    write addresses, so the bursts must be requested in the order of their data. ``written`` reports the id
    of a write burst that is in memory. An error response shows in ``error`` one cycle later.
    (Dissertation, section 3.5.2.)

    A read's id is the count of bursts, so that of an older one is lower (but where the count wraps): a memory that
    serves the lowest id first would else let new bursts pass old ones, for which the cache waits.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "axi": Out(AXI4Signature(data_width=config.axi_data_width)),
            "reads": In(stream.Signature(config.line_address_bits, always_ready=True)),
            "writes": In(stream.Signature(LineTransfer(config), always_ready=True)),
            "span": In(BeatSpan(config)),
            "read_beats": Out(stream.Signature(ReadBeat(config), always_ready=True)),
            "write_beats": In(stream.Signature(WriteBeat(config))),
            "written": Out(stream.Signature(tag_manager_bits(config), always_ready=True)),
            "error": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        axi = self.axi
        m.submodules.read_queue = reads = Queue(config.line_address_bits, depth=1 << tag_manager_bits(config))
        write = data.StructLayout({"transfer": LineTransfer(config), "span": BeatSpan(config)})
        m.submodules.write_queue = writes = Queue(write, depth=1 << tag_manager_bits(config))
        transfer, span = writes.output.payload.transfer, writes.output.payload.span
        size = exact_log2(config.axi_data_width // 8)
        count = Signal(ID_BITS - exact_log2(config.port_slices))
        with m.If(axi.arvalid & axi.arready):
            m.d.sync += count.eq(count + 1)
        m.d.comb += [
            reads.input.valid.eq(self.reads.valid),
            reads.input.payload.eq(self.reads.payload),
            axi.arvalid.eq(reads.output.valid),
            axi.araddr.eq(reads.output.payload << config.line_offset_bits),
            axi.arid.eq(count),
            axi.arlen.eq(config.burst_beats - 1), axi.arsize.eq(size), axi.arburst.eq(Burst.INCR),
            reads.output.ready.eq(axi.arready),

            axi.rready.eq(1),
            self.read_beats.valid.eq(axi.rvalid),
            self.read_beats.payload.data.eq(axi.rdata),
            self.read_beats.payload.turn.eq(axi.rid[:turn_bits(config)]),

            writes.input.valid.eq(self.writes.valid),
            writes.input.payload.transfer.eq(self.writes.payload),
            writes.input.payload.span.eq(self.span),
            axi.awvalid.eq(writes.output.valid),
            axi.awaddr.eq(Cat(Const(0, size), span.first, transfer.line)),
            axi.awid.eq(transfer.id),
            axi.awlen.eq(span.last - span.first), axi.awsize.eq(size), axi.awburst.eq(Burst.INCR),
            writes.output.ready.eq(axi.awready),

            axi.wvalid.eq(self.write_beats.valid),
            axi.wdata.eq(self.write_beats.payload.data),
            axi.wstrb.eq(self.write_beats.payload.strobe),
            axi.wlast.eq(self.write_beats.payload.last),
            self.write_beats.ready.eq(axi.wready),

            *(signal.eq(MemoryType.NORMAL_NON_CACHEABLE_BUFFERABLE) for signal in (axi.arcache, axi.awcache)),
            *(signal.eq(Protection.UNPRIVILEGED_SECURE_DATA) for signal in (axi.arprot, axi.awprot)),

            axi.bready.eq(1),
            self.written.valid.eq(axi.bvalid),
            self.written.payload.eq(axi.bid),
        ]
        # SLVERR and DECERR have the upper bit.
        read_error, write_error = Signal(2), Signal(2)
        m.d.comb += [read_error.eq(axi.rresp), write_error.eq(axi.bresp)]
        m.d.sync += self.error.eq((axi.rvalid & read_error[1]) | (axi.bvalid & write_error[1]))
        return m
