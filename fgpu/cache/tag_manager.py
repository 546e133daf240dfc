"""The tag managers: the lines on their way between cache and memory."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fgpu.axi.master import LineTransfer
from fgpu.config import Config

from .payloads import Allocation, tag_manager_bits

__all__ = ["TagManagers"]


class TagManagers(wiring.Component):
    """``config.tag_managers`` entries, each with the id of its number on the AXI port.

    An entry is taken by an allocation (its number is ``spare``, at most one a cycle) and is free again when
    the line it fills was ``filled`` by the data stage and the write-back of its victim was ``written``.
    From allocation until then ``conflict`` reports, in the same cycle, when ``line`` is that victim.
    ``evicted`` (the victim's bytes are in the write pipeline) requests the write burst, ``write_backs``.
    (Dissertation, section 3.5.3.)
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        number = stream.Signature(tag_manager_bits(config), always_ready=True)
        super().__init__({
            "allocations": In(stream.Signature(Allocation(config))),
            "spare": Out(tag_manager_bits(config)),
            "line": In(config.line_address_bits),
            "conflict": Out(1),
            "filled": In(number),
            "evicted": In(number),
            "written": In(number),
            "write_backs": Out(stream.Signature(LineTransfer(config), always_ready=True)),
            "idle": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        count = self._config.tag_managers
        filling = Signal(count)
        evicting = Signal(count)
        victims = [Signal(self._config.line_address_bits, name=f"victim_{n}") for n in range(count)]
        allocate = Signal()
        m.d.comb += [
            allocate.eq(self.allocations.valid & self.allocations.ready),
            self.conflict.eq(Cat(evicting[n] & (victims[n] == self.line) for n in range(count)).any()),
            self.idle.eq(~(filling | evicting).any()),
        ]
        for n in range(count):
            with m.If(allocate & (self.spare == n)):
                m.d.sync += [
                    filling[n].eq(self.allocations.payload.fill),
                    evicting[n].eq(self.allocations.payload.evict),
                    victims[n].eq(self.allocations.payload.victim),
                ]
            with m.Else():
                with m.If(self.filled.valid & (self.filled.payload == n)):
                    m.d.sync += filling[n].eq(0)
                with m.If(self.written.valid & (self.written.payload == n)):
                    m.d.sync += evicting[n].eq(0)

        # The spare entry is chosen one cycle ahead.
        free = Signal(count)
        m.d.comb += free.eq(~(filling | evicting) & ~Mux(self.allocations.ready, 1 << self.spare, 0))
        with m.If(allocate | ~self.allocations.ready):
            m.d.sync += self.allocations.ready.eq(free.any())
            for n in reversed(range(count)):
                with m.If(free[n]):
                    m.d.sync += self.spare.eq(n)

        # The victims a second time, in LUT RAM: cheaper than a multiplexer on the registers.
        m.submodules.addresses = addresses = Memory(shape=self._config.line_address_bits, depth=count, init=[],
                                                    attrs={"ram_style": "distributed"})
        write, read = addresses.write_port(), addresses.read_port(domain="comb")
        m.d.comb += [
            write.addr.eq(self.spare),
            write.data.eq(self.allocations.payload.victim),
            write.en.eq(allocate),
            read.addr.eq(self.evicted.payload),
            self.write_backs.valid.eq(self.evicted.valid),
            self.write_backs.payload.line.eq(read.data),
            self.write_backs.payload.id.eq(self.evicted.payload),
        ]
        return m
