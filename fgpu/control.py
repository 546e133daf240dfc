"""Control interface: kernel descriptors, control registers, and the way to the code RAM (section 3.2)."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped

from .address_map import (
    CONTROL_ADDRESS_BITS,
    CONTROL_BASE,
    CRAM_BASE,
    LRAM_WORDS,
    ControlRegister,
)
from .axi.lite import AXI4LiteSlave
from .axi.signatures import AXI4LiteSignature
from .config import KERNEL_SLOTS, Config
from .fault import Fault, FaultCause

__all__ = ["ControlInterface"]


class ControlInterface(wiring.Component):
    """The AXI4-Lite slave's address space: LRAM, CRAM, four registers (appendix B) and the fault register.

    ``pending`` has a bit for each kernel that waits to start; ``accepted`` and ``finished`` are one-hot
    answers of the dispatcher. ``lram_data`` follows ``lram_address`` by one cycle; the dispatcher's reads
    come before the host's. ``fault_seen`` is a fault of this cycle; the fault register keeps the first.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "axi": In(AXI4LiteSignature(address_width=CONTROL_ADDRESS_BITS)),
            "code_address": Out(config.pc_bits),
            "code_write": Out(1),
            "code_write_data": Out(32),
            "code_read": Out(1),
            "code_read_data": In(32),
            "lram_address": In(range(LRAM_WORDS)),
            "lram_read": In(1),
            "lram_data": Out(32),
            "pending": Out(KERNEL_SLOTS),
            "accepted": In(KERNEL_SLOTS),
            "finished": In(KERNEL_SLOTS),
            "status": Out(KERNEL_SLOTS),
            "clean_cache": Out(KERNEL_SLOTS),
            "initialize": Out(KERNEL_SLOTS),
            "fault": Out(Fault),
            "fault_seen": In(Fault),
            "running": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        m.submodules.slave = slave = AXI4LiteSlave(address_width=CONTROL_ADDRESS_BITS)
        connect(m, flipped(self.axi), slave.axi)
        bus: Any = slave.bus

        m.submodules.lram = lram = Memory(shape=unsigned(32), depth=LRAM_WORDS, init=[])
        lram_write, lram_read = lram.write_port(), lram.read_port()

        word = bus.address
        in_lram, in_code, in_registers = Signal(), Signal(), Signal()
        m.d.comb += [
            in_lram.eq(word < LRAM_WORDS),
            in_code.eq((word >= CRAM_BASE // 4) & (word < CRAM_BASE // 4 + config.cram_words)),
            in_registers.eq((word >= CONTROL_BASE // 4) & (word < CONTROL_BASE // 4 + len(ControlRegister))),
            bus.mapped.eq(in_lram | in_code | in_registers),

            lram_write.addr.eq(word), lram_write.data.eq(bus.write_data), lram_write.en.eq(bus.write & in_lram),
            lram_read.addr.eq(Mux(self.lram_read, self.lram_address, word)),
            self.lram_data.eq(lram_read.data),

            self.code_address.eq(word), self.code_write_data.eq(bus.write_data),
            self.code_write.eq(bus.write & in_code),
            self.code_read.eq(bus.read & in_code),
        ]

        register = ControlRegister(word[:3])
        start = Signal(KERNEL_SLOTS)
        forget = Signal()
        with m.If(bus.write & in_registers):
            with m.Switch(register):
                with m.Case(ControlRegister.START):
                    m.d.comb += start.eq(bus.write_data)
                with m.Case(ControlRegister.CLEAN_CACHE):
                    m.d.sync += self.clean_cache.eq(bus.write_data)
                with m.Case(ControlRegister.INITIALIZE):
                    m.d.sync += self.initialize.eq(bus.write_data)
                with m.Case(ControlRegister.FAULT):
                    m.d.comb += forget.eq(1)
        m.d.sync += [
            self.pending.eq((self.pending & ~self.accepted) | start),
            self.status.eq((self.status | self.finished) & ~start),
        ]

        with m.If(forget | (start.any() & ~self.running & ~self.pending.any())):
            m.d.sync += self.fault.eq(0)
        with m.Elif(~self.fault.valid):
            with m.If(self.fault_seen.valid):
                m.d.sync += self.fault.eq(self.fault_seen)
            with m.Elif(slave.refused):
                m.d.sync += [self.fault.valid.eq(1), self.fault.cause.eq(FaultCause.CONTROL_ACCESS)]

        # A memory read takes one cycle more than a register; the dispatcher may delay one of LRAM.
        value = Signal(32)
        with m.Switch(register):
            with m.Case(ControlRegister.STATUS):
                m.d.comb += value.eq(self.status)
            with m.Case(ControlRegister.CLEAN_CACHE):
                m.d.comb += value.eq(self.clean_cache)
            with m.Case(ControlRegister.INITIALIZE):
                m.d.comb += value.eq(self.initialize)
            with m.Case(ControlRegister.FAULT):
                m.d.comb += value.eq(self.fault)
        looked_up = Signal()
        m.d.sync += looked_up.eq(bus.read & ~looked_up & ~(in_lram & self.lram_read))
        m.d.comb += [
            bus.read_done.eq(bus.read & (looked_up | in_registers)),
            bus.read_data.eq(Mux(in_lram, lram_read.data, Mux(in_code, self.code_read_data, value))),
        ]
        return m
