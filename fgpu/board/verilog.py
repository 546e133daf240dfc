"""The Verilog of a board's design for simulation: all that is built, but the pins, the PLL and the FPGA's buffers."""

from collections.abc import Callable
from typing import Any, Final

from amaranth.hdl import IOPort, Module
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import Config
from fgpu.core import FGPU
from fgpu.gateware.sharing import convert
from fgpu.tools.verilog import verilog_text

from .boards import Board
from .ecp5 import with_memory
from .litedram import MODULE, litedram
from .sdram import PINS
from .system import LEDS, System, SystemParameters

__all__ = ["TOP", "board_verilog"]

TOP: Final = "fgpu_board"


class _Simulated(wiring.Component):
    """A system with its SDRAM controller; the chip's pins are I/O ports."""

    def __init__(self, board: Board, parameters: SystemParameters,
                 core: Callable[[Config], wiring.Component]) -> None:
        self._board = board
        self._parameters = parameters
        self._core = core
        chip = board.chip
        widths = {"a": chip.row_bits, "ba": chip.bank_bits, "dm": chip.data_bits // 8, "dq": chip.data_bits}
        self.pins = {name: IOPort(widths.get(name, 1), name=f"sdram_{name}") for name in PINS}
        super().__init__({"rx": In(1, init=1), "tx": Out(1, init=1), "leds": Out(LEDS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        system = System(self._parameters, core=self._core)
        m.d.comb += [system.rx.eq(self.rx), self.tx.eq(system.tx), self.leds.eq(system.leds)]
        with_memory(m, system, self.pins, self._board, self._parameters)
        return m


def board_verilog(board: Board, parameters: SystemParameters, *,
                  core: Callable[[Config], wiring.Component] = FGPU) -> dict[str, str]:
    """Texts by file names; ``TOP`` is the top module, with the pins of line, LEDs and SDRAM.

    Raises as :func:`~fgpu.board.litedram.litedram`.
    """
    top = _Simulated(board, parameters, core)
    ports: dict[str, Any] = {
        "rx": (top.rx, PortDirection.Input), "tx": (top.tx, PortDirection.Output),
        "leds": (top.leds, PortDirection.Output),
        **{port.name: (port, PortDirection.Inout if name == "dq" else PortDirection.Output)
           for name, port in top.pins.items()},
    }
    controller = litedram(board.chip, board.device, clock=parameters.clock,
                          data_width=parameters.config.axi_data_width, id_bits=parameters.memory_id_bits)
    return {f"{TOP}.v": verilog_text(convert(top, TOP, ports)), f"{MODULE}.v": controller.verilog}
