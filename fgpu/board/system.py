"""A board's whole design between its pins: host, core and memory."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from fgpu.address_map import ControlRegister, control_address_bits, register_address
from fgpu.axi import AXI4LiteSignature, AXI4Signature
from fgpu.axi.arbiter import AXIArbiter
from fgpu.axi.signatures import ID_BITS
from fgpu.config import Config
from fgpu.core import FGPU

from .line import HostLine
from .protocol import (
    BOARD_BASE,
    BOARD_WORDS,
    BREAK_SECONDS,
    CONTROL_BASE,
    DEFAULT_BAUD,
    MEMORY_BASE,
    TIMEOUT_SECONDS,
    rate_of,
)
from .registers import BoardRegisters, KernelTimer
from .word_master import WordMaster
from .words import AddressRange, WordRouter

__all__ = ["LEDS", "System", "SystemParameters"]

LEDS = 8
_START_WORD = (CONTROL_BASE + register_address(ControlRegister.START)) // 4
_BLINK_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class SystemParameters:
    """What a board's design depends on."""

    clock: int
    """Hz, of everything."""
    memory_bytes: int
    config: Config = field(default_factory=Config)
    baud: float = DEFAULT_BAUD
    """Of the line at first."""
    timeout: float = TIMEOUT_SECONDS
    """Of the bridge, in seconds; less only where simulation would have to wait."""
    line_break: float = BREAK_SECONDS

    @property
    def masters(self) -> int:
        """Ports that share memory."""
        return self.config.axi_ports + 1

    @property
    def memory_id_bits(self) -> int:
        """Of ids at memory's port: these and the number of the port that asks."""
        return ID_BITS + (self.masters - 1).bit_length()


class System(wiring.Component):
    """Host's line, core and an arbiter before memory, which is a port: all but clock, pins and SDRAM controller.

    LEDs: 0 memory ready, 1 the host speaks, 2 a kernel runs, 3 the last one faulted, 7 blinks once a second.
    ``core`` makes the core; another one only in tests.
    """

    def __init__(self, parameters: SystemParameters, *, core: Callable[[Config], wiring.Component] = FGPU) -> None:
        self._parameters = parameters
        self._core = core
        super().__init__({
            "rx": In(1, init=1), "tx": Out(1, init=1), "leds": Out(LEDS),
            "memory": Out(AXI4Signature(data_width=parameters.config.axi_data_width,
                                        id_bits=parameters.memory_id_bits)),
            "memory_ready": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given = self._parameters
        config = given.config
        control_bits = control_address_bits(config.cram_words)
        m.submodules.core = core = self._core(config)
        first_rate = rate_of(given.baud, given.clock)
        m.submodules.line = line = HostLine(
            default_rate=first_rate, timeout_cycles=round(given.timeout * given.clock),
            break_cycles=round(given.line_break * given.clock))
        m.submodules.router = router = WordRouter([
            AddressRange(CONTROL_BASE, 1 << control_bits), AddressRange(BOARD_BASE, 4 * BOARD_WORDS),
            AddressRange(MEMORY_BASE, given.memory_bytes)])
        m.submodules.control = control = WordMaster(
            AXI4LiteSignature(address_width=control_bits))
        m.submodules.registers = registers = BoardRegisters(
            config, clock=given.clock, memory_bytes=given.memory_bytes, first_rate=first_rate)
        m.submodules.transfer = transfer = WordMaster(AXI4Signature(data_width=config.axi_data_width))
        m.submodules.arbiter = arbiter = AXIArbiter(
            given.masters, data_width=config.axi_data_width, base=MEMORY_BASE, size=given.memory_bytes)
        m.submodules.timer = timer = KernelTimer()

        connect(m, line.words, router.host)
        connect(m, router.targets[0], control.words)
        connect(m, router.targets[1], registers.words)
        connect(m, router.targets[2], transfer.words)
        connect(m, control.axi, core.s_axi)
        for port in range(config.axi_ports):
            connect(m, core.m_axi[port], arbiter.masters[port])
        connect(m, transfer.axi, arbiter.masters[-1])
        connect(m, arbiter.memory, wiring.flipped(self.memory))

        # Writes of the start register; the timer begins when they were answered, so that the status bits are down.
        starts = Signal()
        request: Any = line.words.requests
        with m.If(request.valid & request.ready):
            m.d.sync += [
                starts.eq(request.payload.write & (request.payload.address == _START_WORD)),
                timer.slots.eq(request.payload.data),
            ]
        m.d.comb += [
            timer.begin.eq(starts & line.words.answers.valid & line.words.answers.ready),
            timer.status.eq(core.kernel_status),
            line.rx.eq(self.rx), self.tx.eq(line.tx),
            line.set_rate.eq(registers.set_rate), line.new_rate.eq(registers.new_rate),
            registers.rate.eq(line.rate), registers.cycles.eq(timer.cycles),
            registers.memory_ready.eq(self.memory_ready),
        ]

        half_blink = round(_BLINK_SECONDS * given.clock / 2)
        blink, light = Signal(range(half_blink)), Signal()
        with m.If(blink == half_blink - 1):
            m.d.sync += [blink.eq(0), light.eq(~light)]
        with m.Else():
            m.d.sync += blink.eq(blink + 1)
        m.d.sync += self.leds.eq(Cat(
            self.memory_ready, line.active, timer.running, core.kernel_fault[-1], 0, 0, 0, light))
        return m
