"""The tag managers: the lines on their way between cache and memory."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import Config
from fgpu.gateware.choose import encode_lowest
from fgpu.gateware.lut_ram import LutRam

from .axi_master import LineTransfer
from .payloads import TagManagerPort, index_bits, tag_manager_bits

__all__ = ["TagManagers"]

class TagManagers(wiring.Component):
    """``config.slice_tag_managers`` entries, and some for early write-backs; the number of each is its AXI id.

    An entry is taken by an allocation of the ``tag_stage`` (its number is ``spare``, or ``spare_retirement`` for a
    ``retire``; at most one a cycle) and is free again when the line it fills was ``filled`` by the data stage and the
    write-back of its victim was ``written``. From allocation until a cycle after that ``conflict`` reports when
    ``line`` is that victim. ``evicted`` (the victim's bytes are in the write pipeline) requests the write burst,
    ``write_backs``. (Dissertation, section 3.5.3.)

    The early write-backs have their own entries, for they wait long for their turn at the data stage, and
    would leave the reads too few. ``retirable`` tells that one of these is free. Their lines may still be in the
    cache, each where it was: ``victim_conflict`` reports, a cycle later, that one was at ``index``. ``free`` counts
    the other entries, up to 4; ``filling`` those that fill a line, or did a cycle ago; ``demand`` tells that one of
    them is taken. ``pending``, for statistics: ``line`` is being filled.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        number = stream.Signature(tag_manager_bits(config), always_ready=True)
        members: dict[str, Any] = {
            "tag_stage": In(TagManagerPort(config)),
            "retirable": Out(1),
            "free": Out(3),
            "filling": Out(range(config.slice_tag_managers + 1)),
            "filled": In(number),
            "evicted": In(number),
            "written": In(number),
            "write_backs": Out(stream.Signature(LineTransfer(config), always_ready=True)),
            "demand": Out(1),
            "idle": Out(1),
        }
        if config.statistics:
            members["pending"] = Out(1)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        stage: Any = self.tag_stage
        allocation = stage.allocations.payload
        normal = self._config.slice_tag_managers
        count = normal + self._config.slice_retirements
        filling = Signal(normal)
        evicting = Signal(count)
        free = Signal(normal)
        matches = Signal(count)     # the entries whose victim is ``line``
        victims = [Signal(self._config.line_address_bits, name=f"victim_{n}") for n in range(count)]
        places = [Signal(index_bits(self._config), name=f"place_{n}") for n in range(normal, count)]
        allocate = Signal()
        taken = Signal(tag_manager_bits(self._config))
        spare_ready = Signal()
        # The entries that an allocation would take. What describes a line is written to them while they wait, again
        # and again, and counts only while it is evicted: whether there is an allocation is known late.
        spare = Signal(count)
        retire = allocation.retire
        m.d.comb += [
            allocate.eq(stage.allocations.valid & stage.allocations.ready),
            taken.eq(Mux(retire, stage.spare_retirement, stage.spare)),
            spare.eq(Cat(*(spare_ready & (stage.spare == n) for n in range(normal)),
                         *(self.retirable & (stage.spare_retirement == n) for n in range(normal, count)))),
            free.eq(~(filling | evicting[:normal])),
            self.free.eq(Mux(sum(free) > 4, 4, sum(free))),
            self.demand.eq(~free.all()),
        ]
        # A cycle late, but not where one is taken.
        m.d.sync += self.idle.eq(~filling.any() & ~evicting.any() & ~allocate)
        m.d.sync += stage.victim_conflict.eq(
            (evicting[normal:] & Cat(place == stage.index for place in places)).any())
        new_matches = Signal()
        m.d.comb += new_matches.eq(allocation.victim == stage.next_line)
        next_matches = Signal(count)        # those of ``next_line``, but for an entry that is taken now
        m.d.comb += next_matches.eq(Cat(victim == stage.next_line for victim in victims))
        with m.If(stage.step):
            for n in range(count):
                m.d.sync += matches[n].eq(Mux(spare[n], new_matches, next_matches[n]))
            # Found a cycle before T1 asks; that an entry became free shows a cycle later.
            m.d.sync += stage.conflict.eq(
                (evicting & next_matches).any() | (allocate & allocation.evict & new_matches))
        with m.Else():
            m.d.sync += stage.conflict.eq((evicting & matches).any())
        for n in range(count):
            with m.If(spare[n]):
                m.d.sync += victims[n].eq(allocation.victim)
            with m.If(allocate & (taken == n)):
                m.d.sync += evicting[n].eq(allocation.evict)
            with m.Elif(self.written.valid & (self.written.payload == n)):
                m.d.sync += evicting[n].eq(0)
        for n in range(normal, count):
            with m.If(spare[n]):
                m.d.sync += places[n - normal].eq(stage.index)
        ended = Signal()        # a cycle late: when a line is filled is known late
        m.d.sync += [
            ended.eq(self.filled.valid),
            self.filling.eq(self.filling + (allocate & allocation.fill) - ended),
        ]
        for n in range(normal):
            with m.If(allocate & (taken == n)):
                m.d.sync += filling[n].eq(allocation.fill)
            with m.Elif(self.filled.valid & (self.filled.payload == n)):
                m.d.sync += filling[n].eq(0)

        if self._config.statistics:
            fills = [Signal(self._config.line_address_bits, name=f"fill_{n}") for n in range(normal)]
            for n in range(normal):
                with m.If(allocate & (taken == n)):
                    m.d.sync += fills[n].eq(stage.line)
            m.d.comb += self.pending.eq(Cat(filling[n] & (fills[n] == stage.line) for n in range(normal)).any())

        m.d.comb += stage.allocations.ready.eq(Mux(retire, self.retirable, spare_ready))
        self._choose(m, stage.spare, spare_ready, free, 0, allocate & ~retire)
        self._choose(m, stage.spare_retirement, self.retirable, ~evicting[normal:], normal, allocate & retire)

        # The victims a second time, in LUT RAM: cheaper than a multiplexer on the registers.
        m.submodules.addresses = addresses = LutRam(self._config.line_address_bits, count)
        write, read = addresses.write_port(), addresses.read_port()
        m.d.comb += [
            write.addr.eq(taken),
            write.data.eq(allocation.victim),
            write.en.eq(stage.allocations.ready),
            read.addr.eq(self.evicted.payload),
            self.write_backs.valid.eq(self.evicted.valid),
            self.write_backs.payload.line.eq(read.data),
            self.write_backs.payload.id.eq(self.evicted.payload),
        ]
        return m

    @staticmethod
    def _choose(m: Module, spare: Signal, ready: Signal, free: Value, first: int, take: Value) -> None:
        """Chooses the ``spare`` entry, one cycle ahead, of those that are ``free``, which begin at ``first``."""
        others = Signal(len(free))
        for n in range(len(free)):
            m.d.comb += others[n].eq(free[n] & ~(ready & (spare == first + n)))
        with m.If(take | ~ready):
            m.d.sync += ready.eq(others.any())
            encode_lowest(m, spare, others, first=first, domain="sync")
