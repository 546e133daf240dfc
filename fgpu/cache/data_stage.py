"""The data stage: serves the stations in order, one row a cycle."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.config import Config
from fgpu.gateware.choose import choose, lowest, number_of
from fgpu.interfaces.memory_bus import Responses, Row

from .atomic_unit import AtomicUnit
from .data_bank import DataBank
from .line_buffer import BufferedRow
from .payloads import Station, WriteRow, cu_bits, index_bits, row_bits, tag_manager_bits
from .write_pipeline import EvictedRows

__all__ = ["DataStage"]

_NEAR_BITS = 5
"""Of a line's place in the cache, those that are compared for a collision; a row has more."""


class _D0:
    """Step D0: the lowest row of a station that is still to do, in ``one`` as a bit and as a ``number``.

    ``wanted``: the station asks for it, so that it is not only walked over; ``go``: it is done in this cycle.
    ``begun``: it is not the station's first. The others were chosen a cycle before.
    """

    def __init__(self, config: Config, station: Any) -> None:
        self.station = station
        self.done, self.left, self.one = (
            Signal(config.line_rows, name=f"d0_{name}") for name in ("done", "left", "one"))
        self.number = Signal(row_bits(config), name="d0_number")
        self.begun, self.last, self.wanted, self.go = (
            Signal(name=f"d0_{name}") for name in ("begun", "last", "wanted", "go"))
        self.address = Signal(row_bits(config) + index_bits(config), name="d0_address")
        self.atomic = station.atomic if config.atomics else Const(0)


class _D1:
    """Step D1, which has the old row: what becomes of it, and who gets it.

    The new row is ``written`` or ``filled``, and the other is 0: so each is a register right behind the LUT RAM from
    which it comes, and what chooses between them is in the LUTs that it needs for the old row.

    What D0 asks for is there a second time, as the banks are far from it: ``spares`` is the opposite of ``write``,
    ``near`` the lowest bits of ``address``.
    """

    def __init__(self, config: Config) -> None:
        self.valid, self.last, self.go, self.write, self.replace, self.keep_dirty = (
            Signal(name=f"d1_{name}") for name in ("valid", "last", "go", "write", "replace", "keep_dirty"))
        self.clean, self.evict, self.respond = (Signal(name=f"d1_{name}") for name in ("clean", "evict", "respond"))
        self.address = Signal(row_bits(config) + index_bits(config), name="d1_address")
        # By what they are at first, synthesis knows them from the others.
        self.spares = Signal(init=1, name="d1_spares")
        self.near = Signal(min(len(self.address), row_bits(config) + _NEAR_BITS), init=-1, name="d1_near")
        self.written: Any = Signal(Row(config), name="d1_written")
        self.filled: Any = Signal(Row(config), name="d1_filled")
        self.strobe = Signal(config.row_words * 4, name="d1_strobe")
        self.cu = Signal(cu_bits(config), name="d1_cu")
        self.tag_manager = Signal(tag_manager_bits(config), name="d1_tag_manager")


class DataStage(wiring.Component):
    """The data RAM (``cache_banks`` words wide) and the only unit that touches it.

    A station takes a cycle for each row: the rows it reads, the row it writes, or, for a walk, all rows of the
    line. Step D0 reads the old row; D1 has it, gives it to the write pipeline (evict), writes the row of the
    line buffer or of the write queue, and answers the compute unit if the row was asked for, one cycle later,
    from the walk's new row too: hence a read miss costs no more than its walk. D0 waits for

    - the row in the line buffer (fill; the station's first cycle is too early), and room for a line in the write
      pipeline (first row of an evict),
    - D1, if that still writes the row it wants to read, or stands aside,
    - the atomic unit, if that still works on the row,
    - ``room`` at the compute unit that asked for the row: so nothing behind D0 waits for one.

    D1 stands aside for a cycle where the atomic unit answers or writes in its place.
    Latency 2 cycles from a station to its first response.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        number = stream.Signature(tag_manager_bits(config), always_ready=True)
        super().__init__({
            "stations": In(stream.Signature(Station(config))),
            "writes": In(stream.Signature(WriteRow(config))),
            "buffer": Out(BufferedRow(config)),
            "evicted_rows": Out(EvictedRows(config)),
            "responses": Out(Responses(config)).array(config.compute_units),
            "filled": Out(number),
            "evicted": Out(number),
            "busy": Out(1),
            "idle": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        banks = [DataBank(config) for _ in range(config.cache_banks)]
        for n, bank in enumerate(banks):
            m.submodules[f"bank_{n}"] = bank
        d0, d1 = _D0(config, self.stations.payload), _D1(config)
        collision = Signal()
        self._choose_row(m, d0, d1, collision)
        # A station's rows differ: its first may be the one before it, of another station. Or one that is alike in the
        # lowest bits: then a cycle is lost.
        same_row = ~d0.begun & (d1.near == Cat(d0.station.first, d0.station.index)[:len(d1.near)])
        m.d.comb += [
            d1.go.eq(1),
            collision.eq(~d1.spares & same_row & ~(d0.station.write & ~d0.station.walk)),
        ]
        atomic = self._add_atomic_unit(m, d0, d1, banks, collision, same_row) if config.atomics else None
        self._pass_on(m, d0, d1)
        self._update(m, d0, d1, banks, atomic)
        self._respond(m, d1, banks, atomic)
        m.d.comb += self.idle.eq(~self.stations.valid & ~d1.valid & (atomic.idle if atomic is not None else 1)
                                 & ~Cat(output.valid for output in self.responses).any())
        return m

    def _choose_row(self, m: Module, d0: _D0, d1: _D1, collision: Signal) -> None:
        """Step D0."""
        config, station = self._config, d0.station
        due = station.rows | station.walk.replicate(config.line_rows)
        waited = Signal()       # the station was here in the cycle before
        m.d.sync += waited.eq(self.stations.valid & ~self.stations.ready)
        following, rest = Signal.like(d0.number, name="following"), Signal(config.line_rows)
        final = Signal()                # the following is the last
        room = choose([response.room for response in self.responses], station.cu[:exact_log2(config.compute_units)])
        following_wanted = Signal()     # the station asks for it
        able = Signal()                 # nothing that a station's row waits for is missing
        m.d.comb += [
            d0.left.eq(due & ~d0.done),
            d0.number.eq(Mux(d0.begun, following, station.first)),
            d0.last.eq(Mux(d0.begun, final, station.single)),
            d0.one.eq(1 << d0.number),
            d0.wanted.eq(Mux(d0.begun, following_wanted, station.rows[0] | station.first.any())),
            rest.eq(d0.left & ~d0.one),
            d0.address.eq(Cat(d0.number, station.index)),
            self.buffer.number.eq(d0.number),
            self.buffer.step.eq(d0.go),
            self.buffer.last.eq(self.filled.valid),
            able.eq(d1.go & ~collision & (~station.fill | (waited & self.buffer.arrived))
                    & (~station.evict | d0.begun | self.evicted_rows.room)
                    & (station.write | ~d0.wanted | room)),
            d0.go.eq(self.stations.valid & able),
            self.evicted_rows.reserve.eq(d0.go & station.evict & ~d0.begun),
            self.stations.ready.eq(able & d0.last),
            self.writes.ready.eq(d0.go & d0.last & (station.write | d0.atomic)),
            self.filled.valid.eq(d0.go & d0.last & station.fill),
            self.filled.payload.eq(station.tag_manager),
            self.busy.eq(d0.go),
        ]
        with m.If(d0.go):
            m.d.sync += [
                d0.done.eq(Mux(d0.last, 0, d0.done | d0.one)),
                d0.begun.eq(~d0.last),
                following.eq(number_of(lowest(rest))),
                final.eq((rest & (rest - 1)) == 0),
                following_wanted.eq((lowest(rest) & station.rows).any()),
            ]

    def _add_atomic_unit(self, m: Module, d0: _D0, d1: _D1, banks: list[DataBank], collision: Signal,
                         same_row: Value) -> AtomicUnit:
        """The atomic unit, which D1 stands aside for."""
        m.submodules.atomic = atomic = AtomicUnit(self._config)
        m.d.comb += [
            d1.go.eq(~(d1.respond & atomic.valid) & ~(d1.write & atomic.write.valid)),
            collision.eq((~d1.spares & same_row & ~(d0.station.write & ~d0.station.walk))
                         | (atomic.conflict & ~(d0.atomic & ~d0.station.walk))),
            atomic.load.eq(d0.go & d0.atomic & d0.wanted),
            atomic.request.eq(self.writes.payload),
            atomic.address.eq(d0.address),
            atomic.cu.eq(d0.station.cu),
            atomic.row.eq(Cat(bank.new for bank in banks)),
            atomic.go.eq(d1.go),
        ]
        for n, bank in enumerate(banks):
            m.d.comb += [
                bank.late.eq(atomic.write.valid & (atomic.write.word == n)),
                bank.late_word.eq(atomic.write.content),
            ]
        return atomic

    def _pass_on(self, m: Module, d0: _D0, d1: _D1) -> None:
        """From step D0 to D1."""
        station = d0.station
        # Whether D0 goes is known late: what D1 has without it is of no use, but takes its place. What steers D1 and
        # D0 in turn tells of it.
        with m.If(d1.go):
            m.d.sync += [
                d1.valid.eq(d0.go),
                d1.last.eq(d0.last),
                d1.address.eq(d0.address),
                d1.written.eq(self.writes.payload.row),
                d1.filled.eq(self.buffer.row),
                d1.strobe.eq(self.writes.payload.strobe),
                d1.write.eq(d0.go & (station.write | station.walk)),
                d1.spares.eq(~(d0.go & (station.write | station.walk))),
                d1.near.eq(d0.address),
                d1.replace.eq(station.walk & ~station.keep),
                d1.keep_dirty.eq(station.merge),
                d1.clean.eq(station.keep),
                d1.evict.eq(station.evict),
                d1.respond.eq(d0.go & ~station.write & ~d0.atomic & d0.wanted),
                d1.cu.eq(station.cu),
                d1.tag_manager.eq(station.tag_manager),
            ]
        # Not within the other condition: so Yosys resets flip-flops instead of taking LUTs.
        with m.If(d1.go & ~station.spares):
            m.d.sync += d1.filled.eq(0)
        with m.If(d1.go & station.spares):
            m.d.sync += d1.written.eq(0)
        with m.If(d1.go & ~(station.write & d0.wanted)):
            m.d.sync += d1.strobe.eq(0)

    def _update(self, m: Module, d0: _D0, d1: _D1, banks: list[DataBank], atomic: AtomicUnit | None) -> None:
        """Step D1: the new row, and the old one to the write pipeline."""
        for n, bank in enumerate(banks):
            m.d.comb += [
                bank.enable.eq(d1.go),
                bank.address.eq(d0.address),
                bank.update.words[0].eq(d1.written[n]),
                bank.update.words[1].eq(d1.filled[n]),
                bank.update.strobe.eq(d1.strobe.word_select(n, 4)),
                bank.update.replace.eq(d1.replace),
                bank.update.keep_dirty.eq(d1.keep_dirty),
                bank.update.clean.eq(d1.clean),
                bank.update_address.eq(d1.address if atomic is None else
                                       Mux(atomic.write.valid, atomic.write.address, d1.address)),
                bank.write.eq(d1.go & d1.write),
                self.evicted_rows.row[n].eq(bank.old),
            ]
        m.d.comb += [
            self.evicted_rows.push.eq(d1.valid & d1.go & d1.evict),
            self.evicted.valid.eq(d1.valid & d1.go & d1.evict & d1.last),
            self.evicted.payload.eq(d1.tag_manager),
        ]

    def _respond(self, m: Module, d1: _D1, banks: list[DataBank], atomic: AtomicUnit | None) -> None:
        """One register serves all compute units."""
        response: Any = Signal(Row(self._config))
        m.d.sync += response.eq(Cat(bank.new for bank in banks))
        for cu, output in enumerate(self.responses):
            m.d.comb += output.payload.eq(response)
            m.d.sync += output.valid.eq(d1.respond & d1.go & (d1.cu == cu))
            if atomic is not None:
                with m.If(atomic.valid & (atomic.old_cu == cu)):
                    m.d.sync += output.valid.eq(1)
        if atomic is not None:
            with m.If(atomic.valid):
                m.d.sync += response[0].eq(atomic.old)
