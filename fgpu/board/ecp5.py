"""What an ECP5 has around the design: PLL, reset, the SDRAM's clock, pins."""

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import ClockDomain, ClockSignal, Const, Instance, Module, ResetSignal, Signal
from amaranth.lib import io, wiring
from amaranth.lib.cdc import ResetSynchronizer

from fgpu.errors import ConfigError

from .boards import Board
from .litedram import litedram
from .sdram import PINS, SDRAM
from .system import System, SystemParameters

__all__ = ["PLL", "BoardTop", "with_memory"]

_PHASE_DETECTOR = (3.125e6, 400e6)
_VCO = (400e6, 800e6)
_DIVIDERS = range(1, 129)


@dataclass(frozen=True)
class PLL:
    """Dividers of an EHXPLLL whose feedback is its own output."""

    input: int
    feedback: int
    output: int

    @classmethod
    def of(cls, oscillator: float, clock: float) -> "PLL":
        """For exactly this clock, in Hz. Raises :class:`~fgpu.errors.ConfigError` if there is none."""
        for divider in _DIVIDERS:
            feedback = clock * divider / oscillator
            if feedback != round(feedback) or round(feedback) not in _DIVIDERS:
                continue
            if not _PHASE_DETECTOR[0] <= oscillator / divider <= _PHASE_DETECTOR[1]:
                continue
            # The fastest oscillation that can be, of an even divider: a quarter of it is a phase of 90 degrees.
            for output in reversed(_DIVIDERS):
                if output % 4 == 0 and _VCO[0] <= clock * output <= _VCO[1]:
                    return cls(divider, round(feedback), output)
        raise ConfigError(f"the PLL cannot make {clock / 1e6:g} MHz of {oscillator / 1e6:g} MHz; "
                          "multiples of 5 MHz from 10 to 100 MHz can be made")

    def instance(self, source: Any, clock: Any, delayed: Any, locked: Any) -> Instance:
        """The PLL: ``clock``, and the same a quarter of a period later."""
        phase = self.output - 1 + self.output // 4      # of the VCO's periods, from the edge of CLKOP
        return Instance(
            "EHXPLLL", i_CLKI=source, i_CLKFB=clock, i_RST=Const(0), i_STDBY=Const(0), i_PHASESEL0=Const(0),
            i_PHASESEL1=Const(0), i_PHASEDIR=Const(1), i_PHASESTEP=Const(1), i_PHASELOADREG=Const(1),
            i_PLLWAKESYNC=Const(0), i_ENCLKOP=Const(0),
            o_CLKOP=clock, o_CLKOS=delayed, o_LOCK=locked,
            p_CLKI_DIV=self.input, p_CLKFB_DIV=self.feedback, p_FEEDBK_PATH="CLKOP",
            p_CLKOP_ENABLE="ENABLED", p_CLKOP_DIV=self.output, p_CLKOP_CPHASE=self.output - 1, p_CLKOP_FPHASE=0,
            p_CLKOS_ENABLE="ENABLED", p_CLKOS_DIV=self.output, p_CLKOS_CPHASE=phase, p_CLKOS_FPHASE=0,
            a_ICP_CURRENT="12", a_LPF_RESISTOR="8", a_MFG_ENABLE_FILTEROPAMP="1", a_MFG_GMCREF_SEL="2")


def with_memory(m: Module, system: System, chip_pins: dict[str, Any], board: Board,
                parameters: SystemParameters) -> None:
    """Add a system and its SDRAM controller: what is built, and what is simulated."""
    config = parameters.config
    controller = litedram(board.chip, board.device, clock=parameters.clock, data_width=config.axi_data_width,
                          id_bits=parameters.memory_id_bits)
    m.submodules.system = system
    m.submodules.sdram = sdram = SDRAM(
        controller, chip_pins, size_bits=(board.chip.size - 1).bit_length(), clock=parameters.clock,
        data_width=config.axi_data_width, id_bits=parameters.memory_id_bits)
    wiring.connect(m, system.memory, sdram.axi)
    m.d.comb += system.memory_ready.eq(sdram.ready)


class BoardTop(wiring.Component):
    """The design with its pins, for a platform of :mod:`amaranth_boards`. ``pll`` makes its clock."""

    def __init__(self, board: Board, parameters: SystemParameters, pll: PLL) -> None:
        self._board = board
        self._parameters = parameters
        self._pll = pll
        super().__init__({})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        oscillator = platform.request(platform.default_clk, dir="-")
        m.submodules.oscillator = source = io.Buffer("i", oscillator)
        clock = Signal(attrs={"keep": 1})       # by this name the constraint finds it behind Yosys
        delayed = Signal()
        locked = Signal()
        m.domains.sync = ClockDomain()
        m.domains.release = ClockDomain(local=True)
        m.submodules.pll = self._pll.instance(source.i, clock, delayed, locked)
        m.submodules.reset = ResetSynchronizer(~locked, domain="release")
        # All leave the reset in the same cycle, wherever they are: by the wires of a clock.
        m.submodules.reset_buffer = Instance(
            "DCCA", i_CLKI=ResetSignal("release"), i_CE=Const(1), o_CLKO=ResetSignal())
        m.d.comb += [ClockSignal().eq(clock), ClockSignal("release").eq(clock)]
        platform.add_clock_constraint(clock, self._parameters.clock)

        uart = platform.request("uart", dir={"rx": "-", "tx": "-", "rts": "-", "dtr": "-"})
        m.submodules.rx = rx = io.Buffer("i", uart.rx)
        m.submodules.tx = tx = io.Buffer("o", uart.tx)
        system = System(self._parameters)
        m.d.comb += [system.rx.eq(rx.i), tx.o.eq(system.tx)]
        for number, led in enumerate(system.leds):
            m.submodules[f"led{number}"] = pin = io.Buffer("o", platform.request("led", number, dir="-"))
            m.d.comb += pin.o.eq(led)

        chip = platform.request("sdram", dir="-")
        names = {"cas_n": "cas", "cs_n": "cs", "ras_n": "ras", "we_n": "we", "cke": "clk_en", "dm": "dqm"}
        pins = {name: getattr(chip, names.get(name, name)).io for name in PINS}
        m.submodules.sdram_clock = sdram_clock = io.Buffer("o", chip.clk)
        m.submodules.sdram_clock_register = Instance(
            "ODDRX1F", i_SCLK=delayed, i_RST=Const(0), i_D0=Const(1), i_D1=Const(0), o_Q=sdram_clock.o)
        with_memory(m, system, pins, self._board, self._parameters)
        return m
