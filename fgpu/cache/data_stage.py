"""The data stage: serves the stations in order, one row a cycle."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import Config
from fgpu.interfaces.memory_bus import Row

from .atomic_unit import AtomicUnit
from .data_bank import DataBank
from .line_buffer import BufferedRow
from .payloads import Station, WriteRow, cu_bits, index_bits, row_bits, tag_manager_bits
from .write_pipeline import EvictedRows

__all__ = ["DataStage"]


class DataStage(wiring.Component):
    """The data RAM (``cache_banks`` words wide) and the only unit that touches it.

    A station takes a cycle for each row: the rows it reads, the row it writes, or, for a walk, all rows of the
    line. Step D0 reads the old row; D1 has it, gives it to the write pipeline (evict), writes the row of the
    line buffer or of the write queue, and answers the compute unit if the row was asked for, one cycle later,
    from the walk's new row too: hence a read miss costs no more than its walk. D0 waits for

    - the row in the line buffer (fill), and room for a line in the write pipeline (first row of an evict),
    - D1, if that still writes the row it wants to read, or cannot deliver its response,
    - the atomic unit, if that still works on the row.

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
            "responses": Out(stream.Signature(Row(config))).array(config.compute_units),
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

        # D0: the lowest row still to do.
        d0 = self.stations.payload
        d0_done = Signal(config.line_rows)
        d0_left = Signal(config.line_rows)
        d0_one = Signal(config.line_rows)
        d0_number = Signal(row_bits(config))
        d0_last = Signal()
        d0_wanted = Signal()
        d0_address = Signal(row_bits(config) + index_bits(config))
        d0_go = Signal()
        d1_go = Signal()
        collision = Signal()
        atomic = AtomicUnit(config) if config.atomics else None
        d0_atomic = d0.atomic if config.atomics else Const(0)
        m.d.comb += [
            d0_left.eq((d0.rows | d0.walk.replicate(config.line_rows)) & ~d0_done),
            d0_one.eq(d0_left & -d0_left),
            d0_last.eq((d0_left & (d0_left - 1)) == 0),
            d0_wanted.eq((d0_one & d0.rows).any()),
            d0_address.eq(Cat(d0_number, d0.index)),
            self.buffer.tag_manager.eq(d0.tag_manager),
            self.buffer.number.eq(d0_number),
            d0_go.eq(self.stations.valid & d1_go & ~collision & (~d0.fill | self.buffer.arrived)
                     & (~d0.evict | d0_done.any() | self.evicted_rows.room)),
            self.evicted_rows.reserve.eq(d0_go & d0.evict & ~d0_done.any()),
            self.stations.ready.eq(d0_go & d0_last),
            self.writes.ready.eq(d0_go & d0_last & (d0.write | d0_atomic)),
            self.filled.valid.eq(d0_go & d0_last & d0.fill),
            self.filled.payload.eq(d0.tag_manager),
            self.busy.eq(d0_go),
        ]
        for bit in range(row_bits(config)):
            m.d.comb += d0_number[bit].eq(
                Cat(d0_one[row] for row in range(config.line_rows) if row >> bit & 1).any())
        with m.If(d0_go):
            m.d.sync += d0_done.eq(Mux(d0_last, 0, d0_done | d0_one))

        # D1: the old row is here.
        d1_valid = Signal()
        d1_last = Signal()
        d1_address = Signal.like(d0_address)
        d1_row = Signal(Row(config))
        d1_strobe = Signal(config.row_words * 4)
        d1_write = Signal()
        d1_replace = Signal()
        d1_keep_dirty = Signal()
        d1_clean = Signal()
        d1_evict = Signal()
        d1_respond = Signal()
        d1_cu = Signal(cu_bits(config))
        d1_tag_manager = Signal(tag_manager_bits(config))
        blocked = Signal()
        m.d.comb += [
            blocked.eq(Cat(response.valid & ~response.ready for response in self.responses).any()),
            d1_go.eq(~(d1_valid & d1_respond & blocked)),
            collision.eq(d1_valid & d1_write & (d1_address == d0_address) & ~(d0.write & ~d0.walk)),
        ]
        if atomic is not None:
            hold = atomic.valid & blocked
            m.d.comb += [
                d1_go.eq(~hold & ~(d1_valid & d1_respond & (blocked | atomic.valid))
                         & ~(d1_valid & d1_write & atomic.write.valid)),
                collision.eq((d1_valid & d1_write & (d1_address == d0_address) & ~(d0.write & ~d0.walk))
                             | (atomic.conflict & ~(d0_atomic & ~d0.walk))),
                atomic.load.eq(d0_go & d0_atomic & d0_wanted),
                atomic.request.eq(self.writes.payload),
                atomic.address.eq(d0_address),
                atomic.cu.eq(d0.cu),
                atomic.row.eq(Cat(bank.new for bank in banks)),
                atomic.go.eq(d1_go),
                atomic.hold.eq(hold),
            ]
            m.submodules.atomic = atomic
            for n, bank in enumerate(banks):
                m.d.comb += [
                    bank.late.eq(atomic.write.valid & (atomic.write.word == n)),
                    bank.late_word.eq(atomic.write.content),
                ]
        with m.If(d1_go):
            m.d.sync += d1_valid.eq(d0_go)
        with m.If(d0_go):
            m.d.sync += [
                d1_last.eq(d0_last),
                d1_address.eq(d0_address),
                d1_row.eq(Mux(d0.write, self.writes.payload.row.as_value(), self.buffer.row.as_value())),
                d1_strobe.eq(Mux(d0.write & d0_wanted, self.writes.payload.strobe, 0)),
                d1_write.eq(d0.write | d0.walk),
                d1_replace.eq(d0.walk & ~d0.keep),
                d1_keep_dirty.eq(d0.merge),
                d1_clean.eq(d0.keep),
                d1_evict.eq(d0.evict),
                d1_respond.eq(~d0.write & ~d0_atomic & d0_wanted),
                d1_cu.eq(d0.cu),
                d1_tag_manager.eq(d0.tag_manager),
            ]
        for n, bank in enumerate(banks):
            m.d.comb += [
                bank.enable.eq(d0_go),
                bank.address.eq(d0_address),
                bank.update.word.eq(d1_row[n]),
                bank.update.strobe.eq(d1_strobe.word_select(n, 4)),
                bank.update.replace.eq(d1_replace),
                bank.update.keep_dirty.eq(d1_keep_dirty),
                bank.update.clean.eq(d1_clean),
                bank.update_address.eq(d1_address if atomic is None else
                                       Mux(atomic.write.valid, atomic.write.address, d1_address)),
                bank.write.eq(d1_valid & d1_go & d1_write),
                self.evicted_rows.row[n].eq(bank.old),
            ]
        m.d.comb += [
            self.evicted_rows.push.eq(d1_valid & d1_go & d1_evict),
            self.evicted.valid.eq(d1_valid & d1_go & d1_evict & d1_last),
            self.evicted.payload.eq(d1_tag_manager),
        ]

        # One register serves all compute units: the others wait while one does not take its row.
        response = Signal(Row(config))
        with m.If(d1_valid & d1_respond & d1_go):
            m.d.sync += response.eq(Cat(bank.new for bank in banks))
        for cu, output in enumerate(self.responses):
            m.d.comb += output.payload.eq(response)
            with m.If(~blocked):
                m.d.sync += output.valid.eq(d1_valid & d1_respond & d1_go & (d1_cu == cu))
                if atomic is not None:
                    with m.If(atomic.valid & (atomic.old_cu == cu)):
                        m.d.sync += output.valid.eq(1)
        if atomic is not None:
            with m.If(atomic.valid & ~hold):
                m.d.sync += response[0].eq(atomic.old)
        m.d.comb += self.idle.eq(~self.stations.valid & ~d1_valid & (atomic.idle if atomic is not None else 1)
                                 & ~Cat(output.valid for output in self.responses).any())
        return m
