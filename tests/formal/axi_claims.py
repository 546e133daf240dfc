"""What the AXI ports promise."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.utils import exact_log2

from fgpu.axi.lite import AXI4LiteSlave
from fgpu.axi.signatures import Burst, MemoryType, Protection, Response
from fgpu.cache.axi_master import AXIMaster
from fgpu.cache.payloads import tag_manager_bits
from fgpu.cache.write_pipeline import WritePipeline
from fgpu.config import Config

from .fifo import fifo, follow
from .prover import Claim

ADDRESS_BITS = 8


def addresses_claim(config: Config, *, contents: bool = False, master: type[AXIMaster] = AXIMaster) -> Claim:
    """Address channels: a legal burst for each transfer that is asked for, and no offer is withdrawn.

    Reads are of whole lines. With ``contents``: lines, ids and spans are those asked for, in order.
    """
    dut = master(config)
    claim = Claim(dut=dut)
    axi = dut.axi
    beat_bits = exact_log2(config.axi_data_width // 8)
    for path, request, span, valid, ready, address, number, length, size, burst, cache, prot in [
            ("dut.read_queue", dut.reads, None, axi.arvalid, axi.arready, axi.araddr, axi.arid, axi.arlen, axi.arsize,
             axi.arburst, axi.arcache, axi.arprot),
            ("dut.write_queue", dut.writes, dut.span, axi.awvalid, axi.awready, axi.awaddr, axi.awid, axi.awlen,
             axi.awsize, axi.awburst, axi.awcache, axi.awprot)]:
        depth = 1 << tag_manager_bits(config)
        if span is None:
            asked, sent = request.payload, address[config.line_offset_bits:]
            # A read's id is the count of those before it.
            claim.always(number == claim.count(valid & ready, 0, len(number)))
        else:
            first = address[beat_bits:config.line_offset_bits]
            asked = Cat(request.payload.line, request.payload.id, span)
            sent = Cat(address[config.line_offset_bits:], number[:tag_manager_bits(config)],
                       first, (first + Value.cast(length))[:len(first)])
            claim.assume(span.first <= span.last)
            level, pointers = claim.inside(f"{path}.level", range(depth + 1)), exact_log2(depth)
            read = claim.inside(f"{path}.read__addr", pointers)
            for n in range(depth):
                kept = claim.inside(f"{path}.storage[{n}]", len(asked))
                claim.invariant(((n - read)[:pointers] >= level)
                                | (kept[-2 * len(first):-len(first)] <= kept[-len(first):]))
        waiting = fifo(claim, path, request.valid, asked, valid & ready, valid, sent, depth=depth, contents=contents)
        # One write burst at a time for each id, one read burst for each tag manager.
        claim.assume(~request.valid | (waiting < depth))
        if contents:
            claim.always(claim.stable(valid, ready, Cat(address, number)))
        claim.always(claim.stable(valid, ready, Cat(length, size, burst)))
        beats, size_bytes = Value.cast(length) + 1, 1 << Value.cast(size)
        claim.always(~valid | claim.same(burst, Burst.INCR))
        claim.always(~valid | claim.same(cache, MemoryType.NORMAL_NON_CACHEABLE_BUFFERABLE))
        claim.always(~valid | claim.same(prot, Protection.UNPRIVILEGED_SECURE_DATA))
        claim.always(~valid | (size_bytes == config.axi_data_width // 8))
        claim.always(~valid | (address % size_bytes == 0))
        if span is None:
            claim.always(~valid | (beats * size_bytes == config.cache_line))
            claim.always(~valid | (address % config.cache_line == 0))
        claim.always(~valid | (address[:12] + beats * size_bytes <= 4096))
        if span is not None:
            claim.always(~valid | (number < depth))
    claim.always(axi.rready & axi.bready)
    return claim


def write_data_claim(config: Config, *, contents: bool = False, pipeline: type[WritePipeline] = WritePipeline,
                     master: type[AXIMaster] = AXIMaster) -> Claim:
    """Write data: each burst as long as its span, the last beat marked, none before its address was asked for.

    Rows are pushed only into room that is reserved, and the burst is requested a cycle after the last row, as the
    cache does both. A burst that has begun does not pause.
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
    asked = claim.past(rows.push & row.all())
    claim.drive(sink.writes.valid, asked)

    sent = axi.wvalid & axi.wready
    position = Signal(range(beats))
    m.d.sync += position.eq(Mux(sent & axi.wlast, 0, position + sent))
    ended = sent & axi.wlast
    unsent = claim.count(asked, ended, 4)      # bursts that are asked for
    claim.always(claim.stable(axi.wvalid, axi.wready, Cat(axi.wdata, axi.wstrb, axi.wlast)))
    claim.always(~axi.wvalid | (unsent != 0))
    claim.always((position == 0) | axi.wvalid)
    claim.always(~asked | (source.span.first <= source.span.last))
    burst = follow(claim, asked, unsent - ended, Cat(source.span), ended, bits=4, name="burst")
    first, last = burst.value[:exact_log2(beats)], burst.value[exact_log2(beats):]
    mine = burst.active & (burst.ahead == 0)
    claim.always(~axi.wvalid | ~mine | (axi.wlast == (position == (last - first)[:len(position)])))

    # How all that relates to what the pipeline keeps.
    slots = min(4, max(2, 32 * max(config.row_words, config.axi_words) // config.line_words))
    pointers, span_bits = exact_log2(slots), len(burst.value)
    reserved, level = (claim.inside(f"pipeline.{name}", range(slots + 1)) for name in ("reserved", "spans.level"))
    read, write = (claim.inside(f"pipeline.spans.{port}__addr", pointers) for port in ("read", "write"))
    # Each span has a bit more there: it is one beat.
    words = Array(claim.inside(f"pipeline.spans.storage[{n}]", span_bits + 1) for n in range(slots))
    some_span = claim.inside("pipeline.spans.output__valid", 1)
    oldest_span = claim.inside("pipeline.spans.output__payload", span_bits + 1)
    row_inside = claim.inside("pipeline.row", exact_log2(slots * line_rows))
    begun, next_beat = claim.inside("pipeline.begun", 1), claim.inside("pipeline.next_beat", exact_log2(beats))
    some, so_far = claim.inside("pipeline.some", 1), claim.inside("pipeline.so_far", span_bits)
    ending = axi.wvalid & axi.wlast
    claim.invariant(row_inside[:exact_log2(line_rows)] == row)
    pushed = claim.inside("pipeline.pushed", 1)
    pushed_row = claim.inside("pipeline.pushed_row", exact_log2(line_rows))
    claim.invariant(asked == (pushed & pushed_row.all()))
    claim.invariant(~pushed | ((pushed_row + 1)[:len(row)] == row))
    seen = Mux(pushed, pushed_row, row)     # rows of the line of which it is known what is dirty
    claim.invariant(claim.inside("pipeline.spans.empty", 1) == (level == 0))
    claim.invariant(claim.inside("pipeline.spans.full", 1) == (level == slots))
    claim.invariant(some_span | (level == 0))
    claim.invariant(reserved * line_rows == (level + some_span + asked) * line_rows + row + owed)
    claim.invariant(reserved <= slots)
    claim.invariant(unsent == level + some_span + ending)
    claim.invariant((read + level)[:pointers] == write)
    claim.invariant(begun == (axi.wvalid & ~axi.wlast))
    claim.invariant(~begun | some_span)
    so_far_first, so_far_last = so_far[:span_bits // 2], so_far[span_bits // 2:]
    row_beats = max(1, config.row_words // config.axi_words)
    claim.invariant(Mux(some, (so_far_first <= so_far_last) & (so_far_last < seen * row_beats), so_far == 0))
    claim.invariant(~burst.active | ((burst.ahead < unsent) & (first <= last)))
    place = Signal(pointers)
    m.d.comb += place.eq(read + burst.ahead - ending - 1)       # behind the oldest, which is in a register
    claim.invariant(~burst.active | (burst.ahead < ending)
                    | (Mux(burst.ahead == ending, oldest_span, words[place])
                       == Cat(burst.value, first == last)))
    claim.invariant(~mine | ~begun | ((next_beat == first + position + 1) & (next_beat <= last)
                                      & (claim.inside("pipeline.next_last", 1) == (next_beat == last))))
    if not contents:
        return claim

    # Any beat of any line with a dirty byte comes, and where it belongs.
    chosen = claim.constant("chosen", range(beats))
    strobes = config.axi_words * 4
    value = Signal(config.axi_data_width + strobes)
    marked = list(rows.row)
    for n in range(row_beats):
        beat = marked[n * config.axi_words:(n + 1) * config.axi_words]
        with m.If(rows.push & (row * row_beats + n == chosen)):
            m.d.sync += value.eq(Cat(*(word.word for word in beat), *(word.dirty for word in beat)))
    it = Signal.like(value)
    with m.If(~burst.active):
        m.d.sync += it.eq(value)
    claim.always(~(burst.active & it[-strobes:].any()) | ((first <= chosen) & (chosen <= last)))
    claim.always(~axi.wvalid | ~mine | (first + position != chosen) | (Cat(axi.wdata, axi.wstrb) == it))
    return claim


def lite_claim(slave: type[AXI4LiteSlave] = AXI4LiteSlave) -> Claim:
    """AXI4-Lite: each request has one response, the right one; reads and writes take turns."""
    dut = slave(address_width=ADDRESS_BITS)
    claim = Claim(dut=dut)
    m: Module = claim.m
    axi, bus = dut.axi, dut.bus
    okay, error = Response.OKAY.value, Response.SLVERR.value
    started = Signal()
    m.d.sync += started.eq(1)

    # One address and one word wait at most, and are offered room again when they are served.
    new_b = axi.bvalid & ~claim.past(axi.bvalid & ~axi.bready)
    new_r = axi.rvalid & ~claim.past(axi.rvalid & ~axi.rready)
    went, left = Signal(), Signal()     # a write, a read was served in the cycle before
    m.d.comb += [went.eq(started & axi.awready & ~claim.past(axi.awready)),
                 left.eq(started & axi.arready & ~claim.past(axi.arready))]

    def kept(valid: Value, ready: Value, payload: Value, served: Value) -> Signal:
        """What was accepted last, and waits while there is no room for more."""
        waits, value = Signal(), Signal(len(payload))
        with m.If(valid & ready):
            m.d.sync += [waits.eq(1), value.eq(payload)]
        with m.Elif(served):
            m.d.sync += waits.eq(0)
        claim.always(ready == ~(waits & ~served))
        return value

    write_address = kept(axi.awvalid, axi.awready, axi.awaddr, went)
    write_word = kept(axi.wvalid, axi.wready, Cat(axi.wdata, axi.wstrb), went)
    read_address = kept(axi.arvalid, axi.arready, axi.araddr, left)
    claim.always(claim.stable(axi.bvalid, axi.bready, axi.bresp))
    claim.always(claim.stable(axi.rvalid, axi.rready, Cat(axi.rdata, axi.rresp)))

    # A response says what happened, and only whole, aligned words that exist happen.
    has_write, has_read = ~axi.awready & ~axi.wready, ~axi.arready
    write_legal = bus.writable & (write_address[:2] == 0) & write_word[32:].all()
    read_legal = bus.readable & (read_address[:2] == 0)
    claim.always(~bus.write | (went & (bus.write_address == write_address[2:])
                               & (bus.write_data == write_word[:32])))
    claim.always(~went | (claim.past(has_write) & (bus.write == claim.past(write_legal))
                          & claim.past(bus.write_address == write_address[2:])))
    claim.always(new_b == claim.past(went))
    claim.always(~new_b | claim.same(axi.bresp, Mux(claim.past(bus.write), okay, error)))
    taken = bus.read & bus.read_ready
    claim.always(~bus.read | (has_read & read_legal & (bus.address == read_address[2:])))
    claim.always(~claim.past(taken) | left)
    claim.always(~left | (claim.past(has_read) & (claim.past(taken) == claim.past(read_legal))
                          & claim.past(bus.address == read_address[2:])))
    claim.always(new_r == claim.past(left))
    claim.always(~new_r | claim.same(axi.rresp, Mux(claim.past(claim.past(taken)), okay, error)))
    claim.always(~new_r | (axi.rdata == claim.past(bus.read_data)))
    claim.always(~(went & left))

    # Nobody waits for more than one access of the other kind, and for nothing else.
    write_waits = has_write & claim.past(has_write) & ~went & (~axi.bvalid | axi.bready)
    read_waits = has_read & claim.past(has_read) & ~left & (~axi.rvalid | axi.rready)
    claim.always(~claim.past(write_waits & ~read_waits) | went)
    claim.always(~claim.past(read_waits) | went | claim.past(bus.read) | left)
    prefers_read = claim.inside("dut.prefers_read", 1)
    for waits, served, other, preferred in [(write_waits, went, left, ~prefers_read),
                                            (read_waits, left, went, prefers_read)]:
        passed = Signal(2)
        with m.If(~claim.past(waits) | served):
            m.d.sync += passed.eq(0)
        with m.Elif(other):
            m.d.sync += passed.eq(passed + 1)
        claim.always(passed <= 1)
        claim.invariant((passed == 0) | preferred | served)

    # What the registers inside have to do with all that.
    for name, is_ready, value in [("write_addresses", axi.awready, write_address),
                                  ("write_words", axi.wready, write_word),
                                  ("read_addresses", axi.arready, read_address)]:
        claim.invariant(claim.inside(f"dut.{name}.output__valid", 1) == ~is_ready)
        claim.invariant(is_ready | (claim.inside(f"dut.{name}.output__payload", len(value)) == value))
    claim.invariant(claim.inside("dut.write_known", 1) == (started & claim.past(has_write)))
    claim.invariant(claim.inside("dut.read_known", 1) == (started & claim.past(has_read) & ~left))
    claim.invariant(claim.inside("dut.writing", 1) == went)
    claim.invariant(claim.inside("dut.reading", 1) == left)
    for name, legal in [("write", claim.inside("dut.whole", 1) == ((write_address[:2] == 0) & write_word[32:].all())),
                        ("read", claim.inside("dut.aligned", 1) == (read_address[:2] == 0))]:
        claim.invariant(~claim.inside(f"dut.{name}_known", 1) | legal)
    claim.invariant(~left | (claim.inside("dut.reading_legal", 1) == claim.past(taken)))
    return claim
