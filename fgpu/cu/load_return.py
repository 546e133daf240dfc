"""From the cache's rows to registers (section 3.4.4)."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from fgpu.config import BANKS, PE_COUNT, PHASE_BITS, WAVEFRONT_BITS, Config
from fgpu.gateware.choose import choose
from fgpu.gateware.lut_ram import LutRam
from fgpu.interfaces.memory_bus import Row
from fgpu.isa import REGISTER_BITS

from .pipeline import BEAT_BITS, FLOAT_RESULT_STAGE, RESULT_STAGE, bank_shift
from .register_file import RegisterWrite, bank_address

__all__ = ["LoadReturn", "Station"]


class Station(data.StructLayout):
    """A row access of a load that waits for its row from a cache slice; stations are served in order."""

    def __init__(self, config: Config) -> None:
        super().__init__({
            "new_row": 1,
            "slice": config.slice_bits,
            "wavefront": WAVEFRONT_BITS,
            "phase": PHASE_BITS,
            "rd": REGISTER_BITS,
            "last": 1,
            "lanes": PE_COUNT,
            "words": data.ArrayLayout(exact_log2(config.row_words), PE_COUNT),
        })


class RowQueue(wiring.Component):
    """Rows from a cache slice; latency 1 cycle.

    ``valid``: there is a next row. ``row`` is the next one while ``look`` is high, and else the one before, which
    stays in the LUT RAM: so it needs no register, and its words no multiplexers.
    """

    def __init__(self, config: Config, depth: int) -> None:
        self._config = config
        self._depth = depth
        super().__init__({
            "input": In(stream.Signature(Row(config))),
            "valid": Out(1),
            "look": In(1),
            "take": In(1),
            "row": Out(Row(config)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.storage = storage = LutRam(Row(self._config), 2 * self._depth)
        write, read = storage.write_port(), storage.read_port()
        level = Signal(range(self._depth + 1))
        following = Signal.like(read.addr)
        before = Signal.like(read.addr)
        push = self.input.valid & self.input.ready
        m.d.comb += [
            self.input.ready.eq(level != self._depth),
            self.valid.eq(level != 0),
            write.data.eq(self.input.payload),
            write.en.eq(push),
            read.addr.eq(Mux(self.look, following, before)),
            self.row.eq(read.data),
        ]
        m.d.sync += level.eq(level + push - self.take)
        with m.If(push):
            m.d.sync += write.addr.eq(write.addr + 1)
        with m.If(self.take):
            m.d.sync += [before.eq(following), following.eq(following + 1)]
        return m


class LoadReturn(wiring.Component):
    """Hands rows to the waiting stations in order and writes registers; one phase a cycle, latency 1.

    Of the rows of each slice ``rows_depth`` find room before they are ``taken``. It keeps off the banks that the
    vector writes, and in the cycle after ``float_next`` the floating-point units (see
    :class:`~fgpu.cu.register_file.RegisterFile`). ``done`` names a wavefront whose load is complete.

    In the 512 cycles after a reset ``clear`` is high, ``load`` writes zero to each register of a bank, and no station
    may come: memories come up with anything, but r0 reads as zero because nothing else ever writes it.
    """

    def __init__(self, config: Config, rows_depth: int) -> None:
        self._config = config
        self._rows_depth = rows_depth
        members: dict[str, Any] = {
            "beat": In(BEAT_BITS),
            "stations": In(stream.Signature(Station(config))),
            "rows": In(stream.Signature(Row(config))).array(config.axi_ports),
            "taken": Out(config.axi_ports),
            "load": Out(RegisterWrite, init={"lanes": -1}),
            "clear": Out(1, init=1),
            "done": Out(1),
            "done_wavefront": Out(WAVEFRONT_BITS),
        }
        if config.float_ops:
            members["float_next"] = In(1)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        station: Any = self.stations.payload
        queues = [RowQueue(self._config, self._rows_depth) for _ in self.rows]
        if len(queues) == 1:
            row_valid, current = queues[0].valid, queues[0].row
        else:
            row_valid = choose([queue.valid for queue in queues], station.slice)
            current = choose([queue.row for queue in queues], station.slice)
        # The write happens in the next cycle, when the vector has the bank that is the number of the beat before.
        assert bank_shift(RESULT_STAGE - 1) == bank_shift(1)
        before = Signal(BEAT_BITS, init=BANKS - 1)
        m.d.sync += before.eq(self.beat)
        clear = station.phase[:BEAT_BITS] != before
        if self._config.float_ops:
            of_floats = (self.beat + bank_shift(FLOAT_RESULT_STAGE - 1))[:BEAT_BITS]
            clear &= ~(self.float_next & (station.phase[:BEAT_BITS] == of_floats))
        go = Signal()
        m.d.comb += [
            go.eq(self.stations.valid & clear & (~station.new_row | row_valid)),
            self.stations.ready.eq(go),
        ]
        for number, queue in enumerate(queues):
            m.submodules[f"rows{number}"] = queue
            connect(m, flipped(self.rows[number]), queue.input)
            m.d.comb += [
                self.taken[number].eq(go & station.new_row & (station.slice == number)),
                queue.look.eq(station.new_row),
                queue.take.eq(self.taken[number]),
            ]
        view = data.View(Row(self._config), current)
        # The address in a bank, which counts up while the registers are cleared.
        address = bank_address(self.load.register, self.load.phase, self.load.wavefront)
        following = Signal(len(address) + 1)
        clears = self.clear & ~following[-1]
        m.d.comb += following.eq(
            Mux(self.clear, address, bank_address(station.rd, station.phase, station.wavefront)) + self.clear)
        m.d.sync += [
            address.eq(following),
            self.clear.eq(clears),
            self.load.phase[:BEAT_BITS].eq(station.phase[:BEAT_BITS]),
            # Nothing else ever writes r0.
            self.load.lanes.eq(Mux(go & (station.rd != 0), station.lanes, clears.replicate(PE_COUNT))),
            self.done.eq(go & station.last),
            self.done_wavefront.eq(station.wavefront),
        ]
        for lane in range(PE_COUNT):
            m.d.sync += self.load.words[lane].eq(Mux(self.clear, 0, choose(list(view), station.words[lane])))
        return m
