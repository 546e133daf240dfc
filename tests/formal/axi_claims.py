"""What the AXI ports promise."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.utils import exact_log2

from fgpu.axi.lite import AXI4LiteSlave
from fgpu.axi.master import AXIMaster
from fgpu.axi.signatures import Burst, Response
from fgpu.cache.payloads import tag_manager_bits
from fgpu.cache.write_pipeline import WritePipeline
from fgpu.config import Config

from .fifo import fifo, follow
from .prover import Claim

ADDRESS_BITS = 8


def addresses_claim(config: Config, *, contents: bool = False, master: type[AXIMaster] = AXIMaster) -> Claim:
    """Address channels: a legal burst for each line that is asked for, and no offer is withdrawn.

    With ``contents``: the lines and ids are those asked for, in order.
    """
    dut = master(config)
    claim = Claim(dut=dut)
    axi = dut.axi
    for path, request, valid, ready, address, number, length, size, burst in [
            ("dut.read_queue", dut.reads, axi.arvalid, axi.arready, axi.araddr, axi.arid, axi.arlen, axi.arsize,
             axi.arburst),
            ("dut.write_queue", dut.writes, axi.awvalid, axi.awready, axi.awaddr, axi.awid, axi.awlen, axi.awsize,
             axi.awburst)]:
        depth = 1 << tag_manager_bits(config)
        asked = Cat(request.payload.line, request.payload.id)
        sent = Cat(address[config.line_offset_bits:], number[:tag_manager_bits(config)])
        waiting = fifo(claim, path, request.valid, asked, valid & ready, valid, sent, depth=depth, contents=contents)
        # One burst at a time for each id.
        claim.assume(~request.valid | (waiting < depth))
        if contents:
            claim.always(claim.stable(valid, ready, Cat(address, number)))
        claim.always(claim.stable(valid, ready, Cat(length, size, burst)))
        beats, size_bytes = Value.cast(length) + 1, 1 << Value.cast(size)
        claim.always(~valid | claim.same(burst, Burst.INCR))
        claim.always(~valid | (size_bytes == config.axi_data_width // 8))
        claim.always(~valid | (beats * size_bytes == config.cache_line))
        claim.always(~valid | (address % config.cache_line == 0))
        claim.always(~valid | (address[:12] + beats * size_bytes <= 4096))
        claim.always(~valid | (number < depth))
    claim.always(axi.rready & axi.bready)
    return claim


def write_data_claim(config: Config, *, contents: bool = False, pipeline: type[WritePipeline] = WritePipeline,
                     master: type[AXIMaster] = AXIMaster) -> Claim:
    """Write data: bursts of whole lines with their last beat marked, none before its address was asked for.

    Rows are pushed only into room that is reserved, and the burst is requested with the last row, as the data
    stage does both. A burst that has begun does not pause.
    """
    source, sink = pipeline(config), master(config)
    claim = Claim(pipeline=source, master=sink)
    m: Module = claim.m
    axi, rows = sink.axi, source.input
    claim.drive(sink.write_beats.valid, source.beats.valid)
    claim.drive(sink.write_beats.payload, source.beats.payload)
    claim.drive(source.beats.ready, sink.write_beats.ready)
    line_rows, beats, lines = config.line_rows, config.burst_beats, 4

    owed = Signal(range(8 * lines * line_rows))     # rows that are reserved, but not pushed
    m.d.sync += owed.eq(owed + Mux(rows.reserve, line_rows, 0) - rows.push)
    claim.assume(~rows.reserve | rows.room)
    claim.assume(~rows.push | (owed != 0))
    row = Signal(range(line_rows))
    m.d.sync += row.eq(row + rows.push)
    claim.drive(sink.writes.valid, rows.push & row.all())

    sent = axi.wvalid & axi.wready
    position = Signal(range(beats))
    m.d.sync += position.eq(position + sent)
    unsent = claim.count(rows.push & row.all(), sent & axi.wlast, 4)      # bursts that are asked for
    claim.always(claim.stable(axi.wvalid, axi.wready, Cat(axi.wdata, axi.wstrb, axi.wlast)))
    claim.always(~axi.wvalid | (axi.wlast == position.all()))
    claim.always(~axi.wvalid | (unsent != 0))
    claim.always((position == 0) | axi.wvalid)

    # How these counts relate to those of the pipeline.
    slots = min(4, max(2, 32 * max(config.row_words, config.axi_words) // config.line_words))
    reserved, complete = (claim.inside(f"pipeline.{name}", range(slots + 1)) for name in ("reserved", "complete"))
    row_inside = claim.inside("pipeline.row", exact_log2(slots * line_rows))
    beat_inside = claim.inside("pipeline.beat", exact_log2(slots * beats))
    beat = beat_inside[:exact_log2(beats)]
    claim.invariant(row_inside[:exact_log2(line_rows)] == row)
    claim.invariant(reserved * line_rows == complete * line_rows + row + owed)
    claim.invariant(reserved <= slots)
    claim.invariant(unsent == complete + (axi.wvalid & axi.wlast))
    claim.invariant(beat == (position + axi.wvalid)[:len(beat)])
    claim.invariant((beat == 0) | ((complete != 0) & axi.wvalid))
    if not contents:
        return claim

    # Any part of a row that has the width of a beat, to its beat.
    parts = config.row_words // config.axi_words
    part = claim.constant("part", range(max(parts, 2)))
    claim.assume(part < parts)
    inside = Signal(8)
    m.d.sync += inside.eq(inside + Mux(rows.push, parts, 0) - sent)
    marked = list(rows.row)
    values = [Cat(*(word.word for word in words), *(word.dirty for word in words))
              for words in (marked[n:n + config.axi_words] for n in range(0, len(marked), config.axi_words))]
    value = Signal(len(values[0]))
    for n in range(parts):
        with m.If(part == n):
            m.d.comb += value.eq(values[n])
    it = follow(claim, rows.push, (inside - sent + part)[:8], value, sent, bits=8)
    claim.always(~it.active | (it.ahead != 0) | ~axi.wvalid | (Cat(axi.wdata, axi.wstrb) == it.value))
    return claim


def lite_claim(slave: type[AXI4LiteSlave] = AXI4LiteSlave) -> Claim:
    """AXI4-Lite: each request has one response, the right one; reads and writes take turns."""
    dut = slave(address_width=ADDRESS_BITS)
    claim = Claim(dut=dut)
    m: Module = claim.m
    axi, bus = dut.axi, dut.bus
    okay, error = Response.OKAY.value, Response.SLVERR.value
    claim.assume(claim.stable(axi.awvalid, axi.awready, axi.awaddr))
    claim.assume(claim.stable(axi.wvalid, axi.wready, Cat(axi.wdata, axi.wstrb)))
    claim.assume(claim.stable(axi.arvalid, axi.arready, axi.araddr))
    claim.assume(~bus.read_done | bus.read)

    # One response for each request, in the next cycle, until it is accepted.
    write, read = axi.awvalid & axi.awready, axi.arvalid & axi.arready
    claim.always(write == (axi.wvalid & axi.wready))
    claim.always(claim.count(write, axi.bvalid & axi.bready, 3) == axi.bvalid)
    claim.always(claim.count(read, axi.rvalid & axi.rready, 3) == axi.rvalid)
    claim.always(claim.stable(axi.bvalid, axi.bready, axi.bresp))
    claim.always(claim.stable(axi.rvalid, axi.rready, Cat(axi.rdata, axi.rresp)))

    # It says what happened, and only whole, aligned words that exist happen.
    write_legal = bus.mapped & (axi.awaddr[:2] == 0) & axi.wstrb.all()
    read_legal = bus.mapped & (axi.araddr[:2] == 0)
    claim.always(bus.write == (write & write_legal))
    claim.always(~write | ((bus.address == axi.awaddr[2:]) & (bus.write_data == axi.wdata)))
    claim.always(~claim.past(write) | claim.same(axi.bresp, Mux(claim.past(write_legal), okay, error)))
    claim.always(~bus.read | (axi.arvalid & read_legal & (bus.address == axi.araddr[2:]) & ~write))
    claim.always(~read | (bus.address == axi.araddr[2:]))
    claim.always(~(read & write) & (~read | ~bus.read | bus.read_done))
    claim.always(~claim.past(read) | claim.same(axi.rresp, Mux(claim.past(read_legal), okay, error)))
    claim.always(~claim.past(read & read_legal) | (axi.rdata == claim.past(bus.read_data)))

    # Nobody waits for more than one access of the other kind, and for nothing else.
    write_waits = axi.awvalid & axi.wvalid & (~axi.bvalid | axi.bready)
    read_waits = axi.arvalid & (~axi.rvalid | axi.rready)
    claim.always(~(write_waits & ~read_waits) | write)
    claim.always(~(read_waits & ~write) | bus.read | read)
    claim.always(~(bus.read & bus.read_done) | read)
    prefer_read = claim.inside("dut.prefer_read", 1)
    for waits, served, other, preferred in [(write_waits, write, read, ~prefer_read),
                                            (read_waits, read, write, prefer_read)]:
        passed = Signal(2)
        with m.If(~waits | served):
            m.d.sync += passed.eq(0)
        with m.Elif(other):
            m.d.sync += passed.eq(passed + 1)
        claim.always(passed <= 1)
        claim.invariant((passed == 0) | preferred)
    return claim
