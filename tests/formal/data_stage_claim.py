"""What the data stage promises: rows are read and written in the order of the stations."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.utils import exact_log2

from fgpu.cache.data_stage import DataStage
from fgpu.cache.payloads import MarkedWord
from fgpu.config import Config
from fgpu.gateware.choose import lowest, number_of

from .fifo import follow
from .prover import Claim

_MARKED = data.ArrayLayout(9, 4)        # bytes, each with its dirty bit


def _updated(m: Module, old: Value, word: Value, strobe: Value, replace: Value, keep_dirty: Value,
             clean: Value) -> Signal:
    """A word of marked bytes after what :class:`~fgpu.cache.data_bank.BankUpdate` says."""
    before, after = data.View(_MARKED, old), Signal(_MARKED)
    for n in range(4):
        dirty = before[n][8]
        take = strobe[n] | (replace & ~(keep_dirty & dirty))
        m.d.comb += after[n].eq(Cat(Mux(take, word.word_select(n, 8), before[n][:8]),
                                    Mux(take | clean, strobe[n], dirty)))
    return after


def _plain(marked: Value) -> Value:
    return Cat(data.View(_MARKED, marked)[n][:8] for n in range(4))


def data_stage_claim(config: Config, data_stage: type[DataStage] = DataStage) -> Claim:
    """A row has what the stations before left there: each answer and each evicted row has it, in their order.

    Stated for word 0 of any row of the cache; its bytes are of the last write or fill, fills leave dirty bytes
    alone where they must. Of a station, the rows that are due are served lowest first, each once. Answers come one
    for each row that is asked for, to the compute unit that asked, in order, and are begun only where that has room.
    Without atomics.

    The surroundings: stations and rows of writes stay until they are taken; only walks fill, evict or keep, and
    writes, which alone do not ``spare``, do not keep.
    """
    dut = data_stage(config)
    claim = Claim(dut=dut)
    m: Module = claim.m
    station, wanted_row = dut.stations.payload, dut.writes.payload
    waits = claim.past(dut.stations.valid & ~dut.stations.ready)
    claim.assume(~waits | (dut.stations.valid & claim.same(station, claim.past(station))))
    claim.assume(~waits | claim.same(wanted_row, claim.past(wanted_row)))
    all_rows = station.rows | station.walk.replicate(config.line_rows)
    claim.assume(station.first == number_of(lowest(all_rows)))
    claim.assume(station.single == ((all_rows & (all_rows - 1)) == 0))
    claim.assume(station.walk | ~(station.fill | station.merge | station.evict | station.keep))
    claim.assume(~(station.write & station.keep))
    claim.assume(station.spares == ~station.write)

    # The rows of a station.
    number, go = dut.buffer.number, dut.busy
    due, seen, below = (Signal(config.line_rows, name=name) for name in ("due", "seen", "below"))
    m.d.comb += [due.eq(all_rows), below.eq((1 << number) - 1)]
    claim.always(~go | ~seen.bit_select(number, 1))
    claim.always(~(go & due.any()) | (due.bit_select(number, 1) & ((due & below & ~seen) == 0)))
    claim.always((dut.stations.valid & dut.stations.ready) == (go & ((due & ~seen & ~(1 << number)) == 0)))
    with m.If(go):
        m.d.sync += seen.eq(Mux(dut.stations.ready, 0, seen | 1 << number))
    done = claim.inside("dut.d0_done", config.line_rows)
    claim.invariant((done == seen) & ((seen & ~due) == 0))
    left, following = due & ~seen, claim.inside("dut.following", len(number))
    claim.invariant(claim.inside("dut.d0_begun", 1) == (seen != 0))
    claim.invariant((seen == 0) | ((left & ((2 << following) - 1)) == (1 << following)))
    claim.invariant((seen == 0) | (claim.inside("dut.final", 1) == ((left & (left - 1)) == 0)))
    claim.invariant((seen == 0) | (claim.inside("dut.following_wanted", 1) == station.rows.bit_select(following, 1)))
    claim.invariant((seen == 0) | dut.stations.valid & (due != seen))
    claim.invariant((seen == 0) | claim.past(dut.stations.valid & ~dut.stations.ready))

    d1_row = claim.inside("dut.d1_address", len(station.index) + len(number))[:len(number)]
    claim.invariant((seen == 0) | ~claim.inside("dut.d1_write", 1) | seen.bit_select(d1_row, 1))

    # What is in word 0 of the row at one place, after all that D0 has let go.
    rows = config.slice_lines * config.line_rows
    place = claim.constant("place", range(rows))
    content = Signal(_MARKED)
    mine = go & (Cat(number, station.index) == place)
    asked = station.rows.bit_select(number, 1)
    strobe = Mux(station.write & asked, wanted_row.strobe[:4], 0)[:4]
    word = Mux(station.write, Value.cast(wanted_row.row[0]), Value.cast(dut.buffer.row[0]))
    becomes = _updated(m, content.as_value(), word, strobe, station.walk & ~station.keep, station.merge, station.keep)
    with m.If(mine & (station.write | station.walk)):
        m.d.sync += content.eq(becomes)

    # Answers: of any row, of those at the place the content.
    valid = Cat(response.valid for response in dut.responses)
    taken = valid.any()
    respond = go & ~station.write & asked
    claim.always((valid & (valid - 1)[:len(valid)]) == 0)
    claim.always(~respond | Cat(response.room for response in dut.responses).bit_select(station.cu, 1))
    inside = claim.count(respond, taken, 3)
    claim.always(inside <= 2)
    claim.always(~valid.any() | (inside != 0))
    claim.always(~dut.idle | (inside == 0))
    it = follow(claim, respond & mine, (inside - taken)[:3],
                Cat(station.cu, _plain(Mux(station.walk, becomes.as_value(), content.as_value()))), taken, bits=3)
    its_cu, its_word = it.value[:len(station.cu)], it.value[len(station.cu):]
    first = Value.cast(dut.responses[0].payload[0])     # one register for all
    claim.always(~(it.active & (it.ahead == 0) & valid.any())
                 | (valid.bit_select(its_cu, 1) & (first == its_word)))

    # Evicted rows.
    push = dut.evicted_rows.push
    evicts = claim.count(go & station.evict, push, 2)
    claim.always(evicts <= 1)
    claim.always(~push | (evicts == 1))
    gone = follow(claim, mine & station.evict, 0, content.as_value(), push, bits=1, name="evicted")
    old = data.View(MarkedWord, Value.cast(dut.evicted_rows.row[0]))
    content_of = data.View(_MARKED, gone.value)
    claim.always(~(gone.active & push) | ((old.word == _plain(gone.value))
                                          & (old.dirty == Cat(content_of[n][8] for n in range(4)))))

    # How all that relates to step D1 and the memory.
    def d1(name: str, width: int = 1) -> Signal:
        return claim.inside(f"dut.d1_{name}", width)

    d1_valid, d1_write, d1_respond, d1_evict = d1("valid"), d1("write"), d1("respond"), d1("evict")
    d1_address = d1("address", exact_log2(rows))
    d1_row = d1("written", 32 * config.row_words) | d1("filled", 32 * config.row_words)
    d1_strobe, d1_replace, d1_keep_dirty = d1("strobe", 4 * config.row_words), d1("replace"), d1("keep_dirty")
    d1_clean, d1_cu = d1("clean"), d1("cu", len(station.cu))
    ram = Signal(36)
    m.d.comb += ram.eq(Array(claim.inside(f"dut.bank_0.ram[{n}]", 36) for n in range(rows))[place])
    claim.assume(claim.past(1) | (ram == 0))     # at first
    read = Cat(Cat(old.word.word_select(n, 8), old.dirty[n]) for n in range(4))     # shows it in any cycle
    here = d1_valid & (d1_address == place)
    updates = d1_row[:32], d1_strobe[:4], d1_replace, d1_keep_dirty, d1_clean
    of_ram, of_read = _updated(m, ram, *updates), _updated(m, read, *updates)
    claim.invariant(content.as_value() == Mux(here & d1_write, of_ram.as_value(), ram))
    claim.invariant(~(here & (d1_respond | d1_evict | d1_replace | d1_clean)) | (read == ram))
    claim.invariant(d1("spares") == ~d1_write)
    claim.invariant(~d1_valid | (d1("near", len(d1_address)) == d1_address))    # of such a small cache all of it
    claim.invariant(d1_valid | ~(d1_write | d1_respond))
    claim.invariant(~d1_valid | d1_write | ~(d1_strobe.any() | d1_replace | d1_clean))
    claim.invariant(~d1_valid | d1_write | ~d1_evict)
    claim.invariant(~d1_valid | ~d1_clean | ~(d1_strobe.any() | d1_replace))
    claim.invariant(inside == valid.any() + (d1_valid & d1_respond))
    claim.invariant(evicts == (d1_valid & d1_evict))
    claim.invariant(~it.active | (it.ahead < inside))
    in_register = (it.ahead == 0) & valid.any()
    claim.invariant(~it.active | in_register
                    | (here & d1_respond & (d1_cu == its_cu) & (_plain(of_read.as_value()) == its_word)))
    claim.invariant(~gone.active | ((gone.ahead == 0) & here & d1_evict & (read == gone.value)))
    return claim
