"""The AXI4 master of the cache: moves cache lines."""

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.axi.signatures import ID_BITS, AXI4Signature, Burst, MemoryType, Protection
from fgpu.config import Config
from fgpu.gateware.lut_ram import LutRam
from fgpu.gateware.queue import Queue

from .payloads import tag_manager_bits

_COUNTED_BITS = 2
"""Bits of tag managers beside which ids count the reads."""

__all__ = ["AXIMaster", "BeatSpan", "LineTransfer", "ReadBeat", "WriteBeat"]


class LineTransfer(data.StructLayout):
    """A burst to request: the address of its line, and the id (the tag manager in charge)."""

    def __init__(self, config: Config) -> None:
        super().__init__({"line": config.line_address_bits, "id": tag_manager_bits(config)})


class BeatSpan(data.StructLayout):
    """Some successive beats of a line."""

    def __init__(self, config: Config) -> None:
        bits = exact_log2(config.burst_beats)
        super().__init__({"first": bits, "last": bits})


class ReadBeat(data.StructLayout):
    """A beat of a read burst. Bursts may interleave, beats of one id come in order."""

    def __init__(self, config: Config) -> None:
        super().__init__({"data": config.axi_data_width, "id": tag_manager_bits(config)})


class WriteBeat(data.StructLayout):
    """A beat of a write burst."""

    def __init__(self, config: Config) -> None:
        super().__init__({"data": config.axi_data_width, "strobe": config.axi_data_width // 8, "last": 1})


class AXIMaster(wiring.Component):
    """Turns line transfers into INCR bursts on one AXI4 port: of a whole line, or of the ``span`` to be written.

    At most one burst of each kind may be outstanding for an id: then the address queues (latency
    1 cycle) always have room, and ``reads`` and ``writes`` need no back-pressure. Read beats
    are passed on in the cycle in which they come: their buffer is reserved. Write data are independent of
    write addresses, so the bursts must be requested in the order of their data. ``written`` reports the id
    of a write burst that is in memory. An error response shows in ``error`` one cycle later.
    (Dissertation, section 3.5.2.)

    The upper bits of a read's id count bursts, so the id of an older burst is lower (but where the count wraps): a
    memory that serves the lowest id first would else let new bursts pass old ones, for which the cache waits.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        request = stream.Signature(LineTransfer(config), always_ready=True)
        super().__init__({
            "axi": Out(AXI4Signature(data_width=config.axi_data_width)),
            "reads": In(request),
            "writes": In(request),
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
        m.submodules.read_queue = reads = Queue(LineTransfer(config), depth=1 << tag_manager_bits(config))
        write = data.StructLayout({"transfer": LineTransfer(config), "span": BeatSpan(config)})
        m.submodules.write_queue = writes = Queue(write, depth=1 << tag_manager_bits(config))
        transfer, span = writes.output.payload.transfer, writes.output.payload.span
        size = exact_log2(config.axi_data_width // 8)
        read_id, reader = self._number_reads(m, reads.output.payload.id)
        m.d.comb += [
            reads.input.valid.eq(self.reads.valid),
            reads.input.payload.eq(self.reads.payload),
            axi.arvalid.eq(reads.output.valid),
            axi.araddr.eq(reads.output.payload.line << config.line_offset_bits),
            axi.arid.eq(read_id),
            axi.arlen.eq(config.burst_beats - 1), axi.arsize.eq(size), axi.arburst.eq(Burst.INCR),
            reads.output.ready.eq(axi.arready),

            axi.rready.eq(1),
            self.read_beats.valid.eq(axi.rvalid),
            self.read_beats.payload.data.eq(axi.rdata),
            self.read_beats.payload.id.eq(reader),

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

    def _number_reads(self, m: Module, tag_manager: Value) -> tuple[Value, Value]:
        """The id of the next read, which is of ``tag_manager``; and the tag manager that the beat at the port is for.

        Few tag managers leave enough bits to count with. Of many the ids are the count itself: lines are filled in
        the order in which they were asked for, so that what is outstanding is never further apart than there are tag
        managers, and a table of as many entries tells whose they are.
        """
        axi = self.axi
        bits = exact_log2(self._config.slice_tag_managers)      # the others do not read
        id_bits = ID_BITS - exact_log2(self._config.port_slices)
        sent = axi.arvalid & axi.arready
        count = Signal(id_bits if bits > _COUNTED_BITS else id_bits - bits)
        with m.If(sent):
            m.d.sync += count.eq(count + 1)
        if bits <= _COUNTED_BITS:
            return Cat(tag_manager[:bits], count), axi.rid[:bits]
        m.submodules.readers = readers = LutRam(bits, 1 << bits)
        write, read = readers.write_port(), readers.read_port()
        m.d.comb += [
            write.addr.eq(count[:bits]),
            write.data.eq(tag_manager),
            write.en.eq(sent),
            read.addr.eq(axi.rid[:bits]),
        ]
        return count, read.data
