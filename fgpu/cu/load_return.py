"""From the cache's rows to registers (section 3.4.4)."""

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from fgpu.config import BANKS, PE_COUNT, PHASE_BITS, WAVEFRONT_BITS, Config
from fgpu.gateware.choose import choose
from fgpu.gateware.halved_ram import HalvedRam
from fgpu.interfaces.memory_bus import Responses, Row, rows_under_way
from fgpu.isa import REGISTER_BITS

from .local_step import LocalSteps
from .pipeline import BEAT_BITS, FLOAT_RESULT_STAGE, RESULT_STAGE, bank_shift
from .register_file import LoadWrite, Words, bank_address

__all__ = ["LoadReturn", "Station"]


class Station(data.StructLayout):
    """A row access of a load that waits for its row from a cache slice; stations are served in order.

    ``looks`` is ``new_row`` for each half of the rows' memory, of which one would be far from a single register.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "new_row": 1,
            "looks": 2,
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

    ``valid``: there is a next row. ``row`` is the next one while ``look`` is high, for each of its halves, and else
    the one before, which stays in the LUT RAM: so it needs no register, and its words no multiplexers.
    """

    def __init__(self, config: Config, depth: int) -> None:
        self._config = config
        self._depth = depth
        super().__init__({
            "input": In(Responses(config)),
            "valid": Out(1),
            "look": In(2),
            "take": In(1),
            "row": Out(Row(config)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        level = Signal(range(self._depth + 1))
        needed = rows_under_way(self._config)
        room = Signal(init=1)
        push = self.input.valid
        m.submodules.memory = memory = HalvedRam(Row(self._config), self._depth + 1, begun=False)
        m.d.comb += [
            memory.given.eq(self.input.payload), memory.write.eq(push), memory.push.eq(push),
            memory.look.eq(self.look), memory.step.eq(self.take), self.row.eq(memory.shown),
        ]
        m.d.sync += self.input.room.eq(room)
        # Whether it is empty, or nearly full, is kept beside the level: both steer much.
        with m.If(push & ~self.take):
            m.d.sync += [level.eq(level + 1), self.valid.eq(1), room.eq(level < self._depth - needed)]
        with m.Elif(self.take & ~push):
            m.d.sync += [level.eq(level - 1), self.valid.eq(level != 1), room.eq(level < self._depth - needed + 2)]
        return m


class CrossbarInputs(wiring.Component):
    """The words of a row, or of local memory: there ``select`` is 1 for what lanes store, 3 for what was read.

    Combinational. Where it would be 1 for word 0, ``select_first`` is 2 for ``computed``.

    A module of its own, because Yosys otherwise makes twice as many LUTs of it and the crossbar.
    """

    select: In(2)
    select_first: In(2)
    rows: In(Words)
    read: In(Words)
    store_data: In(Words)
    computed: In(32)
    words: Out(Words)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for number, word in enumerate(self.words):
            with m.Switch(self.select_first if number == 0 else self.select):
                with m.Case(3):
                    m.d.comb += word.eq(self.read[number])
                with m.Case(1):
                    m.d.comb += word.eq(self.store_data[number])
                if number == 0:
                    with m.Case(2):
                        m.d.comb += word.eq(self.computed)
                with m.Default():
                    m.d.comb += word.eq(self.rows[number])
        return m


@dataclass(frozen=True)
class _Arrival:
    """A phase's words on their way to the registers: of a row, or of local memory."""

    words: list[Any]
    sources: list[Any]
    """Of each lane, which of the words is its own."""
    wavefront: Value
    phase: Value
    rd: Value
    lanes: Value
    write: Value
    """It goes, and registers are written."""
    last: Value
    keeps: Value
    """Lanes that have collected theirs in a step before."""


def _halves(words: list[Any], source: Any) -> list[tuple[Value, Value]]:
    """The word in each half of the ``words`` that ``source`` may mean, and whether it means that half."""
    if len(words) == 1:
        return [(Value.cast(words[0]), Const(1))]
    middle, lower, upper = len(words) // 2, source[:-1], source[-1]
    return [(choose(words[:middle], lower), ~upper), (choose(words[middle:], lower), upper)]


class LoadReturn(wiring.Component):
    """Hands rows to the waiting stations in order and writes registers; one phase a cycle, latency 1.

    Of the rows of each slice ``rows_depth`` find room before they are ``taken``. It keeps off the banks that the
    vector writes, and in the cycle after ``float_next`` the floating-point units (see
    :class:`~fgpu.cu.register_file.RegisterFile`). ``done`` names a wavefront whose load is complete.

    With local memory its ``local`` steps take the same way; those that write no register go at any time. They go
    first, but ``pause`` between phases while a row could go. ``done_local``: the load is a local one.

    In the 512 cycles after a reset, and the 513 after ``clear_registers``, ``clear`` is high, ``load`` writes zero to
    each register of a bank, and no station may come: memories come up with anything, but r0 reads as zero because
    nothing else ever writes it.
    """

    def __init__(self, config: Config, rows_depth: int) -> None:
        self._config = config
        self._rows_depth = rows_depth
        members: dict[str, Any] = {
            "beat": In(BEAT_BITS),
            "stations": In(stream.Signature(Station(config))),
            "rows": In(Responses(config)).array(config.slices),
            "taken": Out(config.slices),
            "load": Out(LoadWrite, init={"lanes": -1}),
            "clear_registers": In(1),
            "clear": Out(1, init=1),
            "done": Out(1),
            "done_wavefront": Out(WAVEFRONT_BITS),
        }
        if config.float_ops:
            members["float_next"] = In(1)
        if config.local_memory:
            members |= {"local": In(LocalSteps()), "done_local": Out(1)}
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
        # The write happens in the next cycle, when the vector has the bank that is the number of the beat before. One
        # bit for each bank, or Yosys would take a register of the register file's, which is far away.
        assert bank_shift(RESULT_STAGE - 1) == bank_shift(1)
        left = Signal(BANKS, init=(1 << BANKS - 1) - 1)
        m.d.sync += left.eq(~(1 << self.beat))

        def clear_of_others(phase: Any) -> Any:
            bank = phase[:BEAT_BITS]
            clear = left.bit_select(bank, 1)
            if self._config.float_ops:
                of_floats = (self.beat + bank_shift(FLOAT_RESULT_STAGE - 1))[:BEAT_BITS]
                clear &= ~(self.float_next & (bank == of_floats))
            return clear

        go = Signal()
        able = clear_of_others(station.phase) & (~station.new_row | row_valid)
        m.d.comb += [self.stations.ready.eq(able), go.eq(self.stations.valid & self.stations.ready)]
        for number, queue in enumerate(queues):
            m.submodules[f"rows{number}"] = queue
            connect(m, flipped(self.rows[number]), queue.input)
            m.d.comb += [
                self.taken[number].eq(go & station.new_row & (station.slice == number)),
                queue.look.eq(station.looks),
                queue.take.eq(self.taken[number]),
            ]
        arrival = _Arrival(
            words=list(data.View(Row(self._config), current)), sources=list(station.words),
            wavefront=station.wavefront, phase=station.phase, rd=station.rd, lanes=station.lanes,
            write=go, last=station.last, keeps=Const(0, PE_COUNT))
        if self._config.local_memory:
            arrival = self._choose_local(m, arrival, able, clear_of_others(self.local.phase))
        # The address in a bank, which counts up while the registers are cleared.
        address = bank_address(self.load.register, self.load.phase, self.load.wavefront)
        following = Signal(len(address) + 1)
        clears = self.clear & ~following[-1]
        begins = Signal()       # to clear: what comes out of a reset is 0 already
        of_arrival = bank_address(arrival.rd, arrival.phase, arrival.wavefront)
        m.d.comb += following.eq(Mux(self.clear, address, of_arrival) + (self.clear & ~begins))
        m.d.sync += [
            address.eq(following),
            self.clear.eq(clears),
            self.load.phase[:BEAT_BITS].eq(arrival.phase[:BEAT_BITS]),
            # Nothing else ever writes r0.
            self.load.lanes.eq(Mux(arrival.write & (arrival.rd != 0), arrival.lanes, clears.replicate(PE_COUNT))),
            self.done.eq(arrival.write & arrival.last),
            self.done_wavefront.eq(arrival.wavefront),
        ]
        m.d.sync += begins.eq(self.clear_registers)
        with m.If(self.clear_registers):
            m.d.sync += [self.clear.eq(1), address.eq(0), self.load.lanes.eq(0)]
        for lane in range(PE_COUNT):
            for half, (first, selected) in enumerate(_halves(arrival.words, arrival.sources[lane])):
                # In this order Yosys resets the flip-flops, and needs no LUT for that.
                with m.If(~arrival.keeps[lane]):
                    m.d.sync += self.load.halves[half][lane].eq(first)
                with m.If(~arrival.keeps[lane] & (self.clear | ~selected)):
                    m.d.sync += self.load.halves[half][lane].eq(0)
        return m

    def _choose_local(self, m: Module, row: _Arrival, able: Value, is_clear: Value) -> _Arrival:
        """A step of local memory where there is one, or else the ``row``, which would be ``able`` to go.

        ``is_clear``: the step keeps off the banks of others.
        """
        local: Any = self.local
        turn = local.valid
        # What is collected of a phase stays: its steps come one after the other, and no row between them.
        m.d.comb += [
            local.go.eq(turn & (is_clear | ~local.returns)),
            self.stations.ready.eq(able & ~turn),
        ]
        m.d.sync += local.pause.eq(self.stations.valid & able & turn)
        m.submodules.inputs = chosen = CrossbarInputs()
        m.d.comb += [
            chosen.rows[number].eq(word) for number, word in enumerate(row.words)
        ]
        m.d.comb += [
            chosen.select.eq(Cat(turn, local.load)),
            chosen.select_first.eq(Cat(turn & ~local.computes, turn & (local.load | local.computes))),
            chosen.read.eq(local.read), chosen.store_data.eq(local.store_data),
            chosen.computed.eq(local.computed),
        ]
        m.d.sync += self.done_local.eq(turn)
        return _Arrival(
            words=list(chosen.words),
            sources=[Mux(turn, local.sources[lane], row.sources[lane]) for lane in range(PE_COUNT)],
            wavefront=Mux(turn, local.wavefront, row.wavefront), phase=Mux(turn, local.phase, row.phase),
            rd=Mux(turn, local.rd, row.rd), lanes=Mux(turn, local.lanes, row.lanes),
            write=Mux(turn, local.go & local.returns, row.write), last=Mux(turn, local.last, row.last),
            keeps=~local.served & (turn & local.load).replicate(PE_COUNT))
