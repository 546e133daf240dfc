"""Control interface: kernel descriptors, control registers, and the way to the code RAM (section 3.2)."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from .address_map import (
    CODE_BASE,
    CONTROL_BASE,
    CRAM_BASE,
    CRAM_WINDOW_WORDS,
    LRAM_WORDS,
    READABLE,
    WRITABLE,
    ControlRegister,
    Interrupts,
    control_address_bits,
)
from .axi.lite import AXI4LiteSlave
from .axi.signatures import AXI4LiteSignature
from .config import KERNEL_SLOTS, Config
from .fault import Fault, FaultCause

__all__ = ["ControlInterface"]


class ControlInterface(wiring.Component):
    """The AXI4-Lite slave's address space: LRAM, CRAM and the control registers (appendix B, and ours).

    ``pending`` has a bit for each kernel that waits to start; ``accepted`` and ``finished`` are one-hot answers of
    the dispatcher, ``running`` is, one-hot, the kernel that it runs. ``abort`` is high for one cycle when that one is
    to be stopped. ``lram_data`` follows ``lram_address`` by one cycle; the dispatcher's reads come before the host's.
    ``fault_seen`` is a fault of this cycle, or 0; the fault register keeps the first that stopped a kernel.
    ``irq`` is a register: high from the edge on at which an enabled interrupt happens until the last of them is
    acknowledged or disabled, which is before the response to that write.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._address_bits = control_address_bits(config.cram_words)
        super().__init__({
            "axi": In(AXI4LiteSignature(address_width=self._address_bits)),
            "code_address": Out(config.pc_bits),
            "code_write_address": Out(config.pc_bits),
            "code_write": Out(1),
            "code_write_data": Out(32),
            "code_read": Out(1),
            "code_read_data": In(32),
            "lram_address": In(range(LRAM_WORDS)),
            "lram_read": In(1),
            "lram_data": Out(32),
            "pending": Out(KERNEL_SLOTS),
            "accepted": In(KERNEL_SLOTS),
            "running": In(KERNEL_SLOTS),
            "finished": In(KERNEL_SLOTS),
            "status": Out(KERNEL_SLOTS),
            "clean_cache": Out(KERNEL_SLOTS),
            "initialize": Out(KERNEL_SLOTS),
            "abort": Out(1),
            "fault": Out(Fault),
            "fault_seen": In(Fault),
            "irq": Out(1),
            "interrupt_enable": Out(Interrupts),
            "interrupt_status": Out(Interrupts),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.slave = slave = AXI4LiteSlave(address_width=self._address_bits)
        connect(m, flipped(self.axi), slave.axi)
        bus: Any = slave.bus

        m.submodules.lram = lram = Memory(shape=unsigned(32), depth=LRAM_WORDS, init=[])
        lram_write, lram_read = lram.write_port(), lram.read_port()

        in_lram, in_code, _, readable = self._decode(m, bus.address, self.code_address, READABLE)
        writes_lram, writes_code, writes_registers, writable = self._decode(
            m, bus.write_address, self.code_write_address, WRITABLE)
        code_arrives = Signal()     # in the next cycle
        register, written = ControlRegister(bus.address[:3]), ControlRegister(bus.write_address[:3])
        m.d.comb += [
            bus.readable.eq(readable), bus.writable.eq(writable),
            bus.read_ready.eq(Mux(in_code, code_arrives, ~(in_lram & self.lram_read))),

            lram_write.addr.eq(bus.write_address), lram_write.data.eq(bus.write_data),
            lram_write.en.eq(bus.write & writes_lram),
            lram_read.addr.eq(Mux(self.lram_read, self.lram_address, bus.address)),
            self.lram_data.eq(lram_read.data),

            self.code_write_data.eq(bus.write_data), self.code_write.eq(bus.write & writes_code),
        ]
        m.d.sync += [
            self.code_read.eq(bus.read & in_code & ~self.code_read & ~code_arrives),
            code_arrives.eq(self.code_read),
        ]

        start, abort = Signal(KERNEL_SLOTS), Signal(KERNEL_SLOTS)
        forget = Signal()
        enable, acknowledge = Signal(Interrupts), Signal(Interrupts)
        m.d.comb += enable.eq(self.interrupt_enable)
        with m.If(bus.write & writes_registers):
            with m.Switch(written):
                with m.Case(ControlRegister.START):
                    m.d.comb += start.eq(bus.write_data)
                with m.Case(ControlRegister.CLEAN_CACHE):
                    m.d.sync += self.clean_cache.eq(bus.write_data)
                with m.Case(ControlRegister.INITIALIZE):
                    m.d.sync += self.initialize.eq(bus.write_data)
                with m.Case(ControlRegister.FAULT):
                    m.d.comb += forget.eq(1)
                with m.Case(ControlRegister.ABORT):
                    m.d.comb += abort.eq(bus.write_data)
                with m.Case(ControlRegister.INTERRUPT_ENABLE):
                    m.d.comb += enable.eq(bus.write_data)
                with m.Case(ControlRegister.INTERRUPT_STATUS):
                    m.d.comb += acknowledge.eq(bus.write_data)
        clear_fault = forget | (start.any() & ~self.running.any() & ~self.pending.any())
        ends = self._follow_kernels(m, start, abort)
        faults = self._keep_fault(m, clear_fault, slave.refused)
        happens = Mux(ends, Interrupts.KERNEL_END, 0) | Mux(faults, Interrupts.FAULT, 0)
        self._interrupt(m, happens, enable, acknowledge)

        value, from_lram, from_code = Signal(32), Signal(), Signal()
        m.d.sync += [from_lram.eq(in_lram), from_code.eq(in_code)]
        with m.Switch(register):
            with m.Case(ControlRegister.STATUS):
                m.d.sync += value.eq(self.status)
            with m.Case(ControlRegister.CLEAN_CACHE):
                m.d.sync += value.eq(self.clean_cache)
            with m.Case(ControlRegister.INITIALIZE):
                m.d.sync += value.eq(self.initialize)
            with m.Case(ControlRegister.INTERRUPT_ENABLE):
                m.d.sync += value.eq(self.interrupt_enable)
            with m.Case(ControlRegister.INTERRUPT_STATUS):
                m.d.sync += value.eq(self.interrupt_status)
            with m.Default():
                m.d.sync += value.eq(self.fault)
        m.d.comb += bus.read_data.eq(Mux(from_lram, lram_read.data, Mux(from_code, self.code_read_data, value)))
        return m

    def _decode(self, m: Module, word: Signal, code_address: Signal,
                registers: tuple[ControlRegister, ...]) -> tuple[Signal, Signal, Signal, Signal]:
        """Whether the address of a word is in LRAM, code RAM or among the registers, and whether it may be accessed:
        only some of the ``registers`` may. Where it is in the code RAM."""
        in_lram, in_code, in_registers = Signal(), Signal(), Signal()       # a cycle before the access
        window = min(self._config.cram_words, CRAM_WINDOW_WORDS)
        m.d.comb += [
            in_lram.eq(word < LRAM_WORDS),
            in_code.eq((word >= CRAM_BASE // 4) & (word < CRAM_BASE // 4 + window)),
            in_registers.eq(word[3:] == CONTROL_BASE // 4 >> 3),
            code_address.eq(word[:exact_log2(window)]),
        ]
        if self._config.cram_words > window:
            with m.If((word >= CODE_BASE // 4) & (word < CODE_BASE // 4 + self._config.cram_words)):
                m.d.comb += [in_code.eq(1), code_address.eq(word)]
        legal = in_lram | in_code | (in_registers & _among(ControlRegister(word[:3]), registers))
        known = [Signal(name=f"{name}_known") for name in ("in_lram", "in_code", "in_registers", "legal")]
        m.d.sync += [each.eq(here) for each, here in zip(known, (in_lram, in_code, in_registers, legal), strict=True)]
        return known[0], known[1], known[2], known[3]

    def _follow_kernels(self, m: Module, start: Signal, abort: Signal) -> Value:
        """Which kernels wait, which have ended since their last start, and when the running one is to be stopped.

        Returns whether the one that runs ends in this cycle, and does not wait to run again.
        """
        waits, goes_on = Signal(KERNEL_SLOTS), Signal(KERNEL_SLOTS)
        stop = Signal()
        m.d.comb += [
            waits.eq((self.pending & ~self.accepted & ~abort) | start),
            goes_on.eq(self.accepted | (self.running & ~self.finished)),
            self.abort.eq(stop & ~self.finished.any()),
        ]
        m.d.sync += [
            self.pending.eq(waits),
            # A kernel that waited, and neither waits nor runs now, was aborted.
            self.status.eq((self.status | self.finished | self.pending) & ~waits & ~goes_on),
            stop.eq((abort & goes_on).any()),
        ]
        return (self.finished & ~waits).any()

    def _keep_fault(self, m: Module, clear: Value, refused: Value) -> Value:
        """The fault register: what stopped a kernel replaces what did not, and is kept until it is cleared.

        Returns whether it takes such a fault in this cycle.
        """
        is_refusal = self.fault.valid & (self.fault.cause == FaultCause.CONTROL_ACCESS)
        takes = Signal()
        m.d.comb += takes.eq(clear | ~self.fault.valid | is_refusal)
        with m.If(takes):
            m.d.sync += self.fault.eq(self.fault_seen)
            with m.If(~clear & ~self.fault_seen.valid & (is_refusal | refused)):
                m.d.sync += [self.fault.valid.eq(1), self.fault.cause.eq(FaultCause.CONTROL_ACCESS)]
        return takes & self.fault_seen.valid

    def _interrupt(self, m: Module, happens: Value, enable: Signal, acknowledge: Signal) -> None:
        """The interrupt registers and the output."""
        status = Signal(Interrupts)
        # What happens in the cycle of its acknowledgement has happened again.
        m.d.comb += status.eq((self.interrupt_status & ~acknowledge) | happens)
        m.d.sync += [
            self.interrupt_enable.eq(enable),
            self.interrupt_status.eq(status),
            self.irq.eq((status & enable).any()),
        ]


def _among(register: Any, registers: tuple[ControlRegister, ...]) -> Value:
    return Cat(register == each for each in registers).any()
