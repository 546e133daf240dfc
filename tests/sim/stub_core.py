"""A tiny core with the ports of an FGPU: it adds a number to each word of some cache lines."""

from amaranth.hdl import Array, Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.axi.signatures import AXI4LiteSignature, AXI4Signature, Burst
from fgpu.cache.probe import CacheProbe
from fgpu.config import Config
from fgpu.probe import Bucket, ComputeUnitProbe, WavefrontState

__all__ = ["StubCore", "faulty"]


def faulty(fault: str):
    """A factory of stubs which break one rule."""
    def factory(config: Config) -> "StubCore":
        return StubCore(config, fault)
    return factory


class StubCore(wiring.Component):
    """Word 0 of the program is what to add; parameters 0, 1, 2 of slot 0: from, to, number of lines.

    ``fault`` breaks a rule: hang, early_last, changed_address, crossing, wrap, overlap, no_control.
    """

    def __init__(self, config: Config, fault: str = "") -> None:
        self.config = config
        self.fault = fault
        members = {
            "s_axi": In(AXI4LiteSignature(address_width=16)),
            "m_axi": Out(AXI4Signature(data_width=config.axi_data_width)).array(config.axi_ports),
            "kernel_status": Out(16),
        }
        if config.statistics:
            members["probe"] = Out(ComputeUnitProbe).array(config.compute_units)
            members["cache_probe"] = Out(CacheProbe)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config, axi = self.config, self.m_axi[0]
        beats = config.burst_beats
        add, start = Signal(32), Signal()
        parameters = [Signal(32, name=f"parameter{i}") for i in range(3)]
        source, target, lines = Signal(32), Signal(32), Signal(32)
        self._control(m, add, parameters, start)

        words = config.axi_words
        buffer = Array(Signal(config.axi_data_width, name=f"beat{i}") for i in range(beats))
        beat, tag = Signal(range(beats + 1)), Signal(6)
        size = Const(3 if config.axi_data_width == 64 else 2, 3)
        changed = Cat((buffer[beat].word_select(i, 32) + add)[:32] for i in range(words))
        m.d.comb += [
            axi.araddr.eq(source), axi.arid.eq(tag), axi.arlen.eq(beats - 1), axi.arsize.eq(size),
            axi.arburst.eq(Burst.INCR), axi.awaddr.eq(target), axi.awid.eq(tag), axi.awlen.eq(beats - 1),
            axi.awsize.eq(size), axi.awburst.eq(Burst.INCR), axi.wdata.eq(changed), axi.wstrb.eq(~0),
            axi.wlast.eq(beat == beats - (2 if self.fault == "early_last" else 1)),
        ]
        if self.fault == "crossing":
            m.d.comb += axi.araddr.eq(source + 4096 - 8)
        if self.fault == "wrap":
            m.d.comb += axi.arburst.eq(Burst.WRAP)
        if self.fault == "changed_address":
            wobble = Signal(32)
            m.d.sync += wobble.eq(wobble + 128)
            m.d.comb += axi.araddr.eq(wobble + source)

        with m.FSM() as fsm:
            with m.State("IDLE"), m.If(start):
                m.d.sync += self.kernel_status[0].eq(0)
                m.d.sync += [source.eq(parameters[0]), target.eq(parameters[1]), lines.eq(parameters[2])]
                m.next = "NEXT"
            with m.State("NEXT"):
                if self.fault == "hang":
                    m.next = "NEXT"
                else:
                    with m.If(lines == 0):
                        m.d.sync += self.kernel_status[0].eq(1)
                        m.next = "IDLE"
                    with m.Else():
                        m.next = "READ"
            with m.State("READ"):
                m.d.comb += axi.arvalid.eq(1)
                with m.If(axi.arready):
                    m.d.sync += beat.eq(0)
                    m.next = "FILL"
            with m.State("FILL"):
                m.d.comb += axi.rready.eq(1)
                if self.fault == "overlap":
                    m.d.comb += axi.awvalid.eq(1), axi.awaddr.eq(source)
                with m.If(axi.rvalid):
                    m.d.sync += [buffer[beat].eq(axi.rdata), beat.eq(beat + 1)]
                    with m.If(axi.rlast):
                        m.d.sync += beat.eq(0)
                        m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += axi.awvalid.eq(1)
                with m.If(axi.awready):
                    m.next = "DATA"
            with m.State("DATA"):
                m.d.comb += axi.wvalid.eq(1)
                with m.If(axi.wready):
                    m.d.sync += beat.eq(beat + 1)
                    with m.If(axi.wlast):
                        m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += axi.bready.eq(1)
                with m.If(axi.bvalid):
                    m.d.sync += [source.eq(source + config.cache_line), target.eq(target + config.cache_line),
                                 lines.eq(lines - 1), tag.eq(tag + 1)]
                    m.next = "NEXT"

        if config.statistics:
            for probe in self.probe:
                m.d.comb += [
                    probe.bucket.eq(Bucket.NO_WAVEFRONT), probe.lanes.eq(64),
                    probe.states[3].eq(WavefrontState.MEMORY_READ), probe.pcs[3].eq(17),
                ]
                with m.If(fsm.ongoing("NEXT")):
                    m.d.comb += [probe.bucket.eq(Bucket.ISSUE), probe.issue.eq(1)]
                with m.If(fsm.ongoing("FILL")):
                    m.d.comb += probe.bucket.eq(Bucket.MEMORY_READ)
            m.d.comb += [
                self.cache_probe.fill.eq(axi.arvalid & axi.arready),
                self.cache_probe.axi_read.eq(axi.rvalid & axi.rready),
            ]
        return m

    def _control(self, m: Module, add: Signal, parameters: list[Signal], start: Signal) -> None:
        lite = self.s_axi
        have_address, have_data, answer = Signal(), Signal(), Signal()
        address, data = Signal(16), Signal(32)
        m.d.comb += [
            lite.awready.eq(~have_address), lite.wready.eq(~have_data & have_address), lite.bvalid.eq(answer),
            lite.arready.eq(~lite.rvalid),
        ]
        if self.fault == "no_control":
            m.d.comb += lite.awready.eq(0)
        with m.If(lite.awvalid & lite.awready):
            m.d.sync += [have_address.eq(1), address.eq(lite.awaddr)]
        with m.If(lite.wvalid & lite.wready):
            m.d.sync += [have_data.eq(1), data.eq(lite.wdata)]
        with m.If(have_address & have_data & ~answer):
            m.d.sync += answer.eq(1)
            with m.Switch(address):
                for where, register in zip((0x4000, 0x40, 0x44, 0x48), (add, *parameters), strict=True):
                    with m.Case(where):
                        m.d.sync += register.eq(data)
                with m.Case(0x8004):
                    m.d.comb += start.eq(1)
        with m.If(answer & lite.bready):
            m.d.sync += [have_address.eq(0), have_data.eq(0), answer.eq(0)]
        with m.If(lite.arvalid & lite.arready):
            m.d.sync += [lite.rvalid.eq(1), lite.rdata.eq(lite.araddr ^ add)]
        with m.If(lite.rvalid & lite.rready):
            m.d.sync += lite.rvalid.eq(0)
