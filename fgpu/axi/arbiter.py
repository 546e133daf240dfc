"""An AXI4 interconnect: several masters share one memory."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2, exact_log2

from fgpu.gateware.lut_ram import LutRam
from fgpu.gateware.round_robin import RoundRobin
from fgpu.gateware.skid_buffer import SkidBuffer

from .signatures import ID_BITS, AXI4Signature, Burst, MemoryType, Protection, Response

__all__ = ["AXIArbiter"]


class _Address(data.StructLayout):
    """What the AR or AW channel says of a burst; the rest is the same for all."""

    def __init__(self, id_bits: int) -> None:
        super().__init__({"id": id_bits, "address": 32, "beats_minus_1": 8, "size": 3})


class AXIArbiter(wiring.Component):
    """Leads the bursts of several masters to one memory, those of each kind in turn.

    The number of the master goes along in the upper bits of the ids. A master's write data wait for its turn, and are
    not interleaved with others'. Bursts that begin outside of ``size`` bytes from ``base`` on, a multiple of the
    size, change nothing and are answered with DECERR: memory sees them, too, without strobes, at whatever its address
    bits say. Latency 1 cycle for addresses, 0 for the rest.

    Parameters
    ----------
    masters : int
        Their number, at least 2. Of each kind one burst may be under way for each id.
    data_width : int
        Bits of a beat.
    base, size : int
        Where memory is, in bytes.
    """

    def __init__(self, masters: int, *, data_width: int, base: int, size: int) -> None:
        if base % size:
            raise ValueError(f"memory at 0x{base:08X} is not aligned to its size, 0x{size:X}")
        self._number_bits = ceil_log2(masters)
        self._base = base
        self._size_bits = exact_log2(size)
        self._id_bits = ID_BITS + self._number_bits
        self._data_width = data_width
        super().__init__({
            "masters": In(AXI4Signature(data_width=data_width)).array(masters),
            "memory": Out(AXI4Signature(data_width=data_width, id_bits=self._id_bits)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        read_outside = self._addresses(m, "ar")
        write_outside = self._addresses(m, "aw")
        self._write_data(m)
        memory: Any = self.memory
        rows = (("r", "rdata", "rlast"), read_outside), (("b",), write_outside)
        for (channel, *carried), outside in rows:
            number = getattr(memory, f"{channel}id")[ID_BITS:]
            response = Signal(Response)
            m.d.comb += response.eq(getattr(memory, f"{channel}resp"))
            with m.If(outside):
                m.d.comb += response.eq(Response.DECERR)
            for index, master in enumerate(self.masters):
                is_his = number == index
                m.d.comb += [
                    getattr(master, f"{channel}valid").eq(getattr(memory, f"{channel}valid") & is_his),
                    getattr(master, f"{channel}id").eq(getattr(memory, f"{channel}id")[:ID_BITS]),
                    getattr(master, f"{channel}resp").eq(response),
                    *(getattr(master, name).eq(getattr(memory, name)) for name in carried),
                ]
                with m.If(is_his):
                    m.d.comb += getattr(memory, f"{channel}ready").eq(getattr(master, f"{channel}ready"))
        return m

    def _addresses(self, m: Module, channel: str) -> Any:
        """Take addresses in turn, where ``taking`` allows it; whether the burst that is answered is outside."""
        m.submodules[f"{channel}_choice"] = choice = RoundRobin(len(self.masters))
        m.submodules[f"{channel}_buffer"] = buffer = SkidBuffer(_Address(self._id_bits))
        m.submodules[f"{channel}_outside"] = table = LutRam(1, 1 << self._id_bits)
        mark, marked = table.write_port(), table.read_port()
        memory: Any = self.memory
        taken = buffer.input.payload
        may_take = Signal(init=1, name=f"may_take_{channel}")
        is_outside = Signal(name=f"{channel}_is_outside")
        m.d.comb += [
            choice.requests.eq(Cat(getattr(master, f"{channel}valid") for master in self.masters)),
            buffer.input.valid.eq(choice.valid & may_take),
            choice.accept.eq(buffer.input.ready & may_take),
            is_outside.eq(taken.address[self._size_bits:] != self._base >> self._size_bits),
            mark.addr.eq(taken.id), mark.data.eq(is_outside), mark.en.eq(choice.valid & choice.accept),
            marked.addr.eq(memory.rid if channel == "ar" else memory.bid),
        ]
        for index, master in enumerate(self.masters):
            m.d.comb += getattr(master, f"{channel}ready").eq(choice.chosen[index] & choice.accept)
            with m.If(choice.chosen[index]):
                m.d.comb += [
                    taken.id.eq(Cat(getattr(master, f"{channel}id"), Const(index, self._number_bits))),
                    taken.address.eq(getattr(master, f"{channel}addr")),
                    taken.beats_minus_1.eq(getattr(master, f"{channel}len")),
                    taken.size.eq(getattr(master, f"{channel}size")),
                ]
        given = buffer.output.payload
        m.d.comb += [
            getattr(memory, f"{channel}valid").eq(buffer.output.valid),
            buffer.output.ready.eq(getattr(memory, f"{channel}ready")),
            getattr(memory, f"{channel}id").eq(given.id), getattr(memory, f"{channel}addr").eq(given.address),
            getattr(memory, f"{channel}len").eq(given.beats_minus_1),
            getattr(memory, f"{channel}size").eq(given.size),
            getattr(memory, f"{channel}burst").eq(Burst.INCR),
            getattr(memory, f"{channel}cache").eq(MemoryType.NORMAL_NON_CACHEABLE_BUFFERABLE),
            getattr(memory, f"{channel}prot").eq(Protection.UNPRIVILEGED_SECURE_DATA),
        ]
        if channel == "aw":
            self._write_turn = may_take, choice, is_outside
        return marked.data

    def _write_data(self, m: Module) -> None:
        """Data of the burst whose address was taken last; the next address is taken behind them."""
        memory: Any = self.memory
        may_take, choice, is_outside = self._write_turn
        writing = Signal()
        owner = Signal(len(self.masters))
        outside = Signal()
        m.d.comb += may_take.eq(~writing)
        with m.If(choice.valid & choice.accept):
            m.d.sync += [writing.eq(1), owner.eq(choice.chosen), outside.eq(is_outside)]
        with m.If(memory.wvalid & memory.wready & memory.wlast):
            m.d.sync += writing.eq(0)
        for index, master in enumerate(self.masters):
            with m.If(writing & owner[index]):
                m.d.comb += [
                    memory.wvalid.eq(master.wvalid), master.wready.eq(memory.wready),
                    memory.wdata.eq(master.wdata), memory.wlast.eq(master.wlast),
                ]
                with m.If(~outside):
                    m.d.comb += memory.wstrb.eq(master.wstrb)
