"""SDRAM: LiteDRAM's controller, and what wakes the chip."""

from typing import Any, Final

from amaranth.hdl import Array, ClockSignal, Instance, Module, Mux, ResetSignal, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.axi import AXI4Signature

from .litedram import MODULE, LiteDRAM

__all__ = ["PINS", "SDRAM", "SDRAMInitializer"]

PINS: Final = ("a", "ba", "cas_n", "cke", "cs_n", "dm", "dq", "ras_n", "we_n")
"""Of the chip, without its clock, as LiteDRAM calls them."""
_POWER_UP_SECONDS: Final = 200e-6
_WAIT: Final = 15               # cycles behind a command: more than any takes at 100 MHz
_REFRESHES: Final = 8
_CAS_LATENCY: Final = 2
# LiteDRAM's bits: who drives the pins; command and its way.
_BY_HARDWARE, _CLOCK_ENABLE = 0x1, 0xE
_CS, _WE, _CAS, _RAS = 1, 2, 4, 8
_ALL_BANKS = 1 << 10


class SDRAMInitializer(wiring.Component):
    """Writes LiteDRAM's registers after a reset: clock enable, precharge, refreshes, mode. Then ``done``.

    ``registers`` are byte addresses by LiteDRAM's names, ``clock`` is in Hz. A write is one of Wishbone: ``address``
    of a word of 32 bits and ``data`` stay while ``strobe`` is high, up to the cycle of ``acknowledge``. Behind the
    first one come 200 µs, which the chip takes to power up, behind each other one 15 cycles.
    """

    def __init__(self, registers: dict[str, int], *, clock: float) -> None:
        self._power_up = round(_POWER_UP_SECONDS * clock)
        self._steps = list(_steps(registers))
        super().__init__({
            "address": Out(30), "data": Out(32), "strobe": Out(1), "acknowledge": In(1), "done": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        layout = data.StructLayout({"address": 30, "data": 32})
        steps = Array(data.Const(layout, address // 4 | value << 30) for address, value in self._steps)
        number = Signal(range(len(self._steps)))
        wait = Signal(range(self._power_up + 1))
        step: Any = Signal(layout)
        m.d.comb += [step.eq(steps[number]), self.address.eq(step.address), self.data.eq(step.data)]
        m.d.comb += self.strobe.eq(~self.done & (wait == 0))
        with m.If(wait != 0):
            m.d.sync += wait.eq(wait - 1)
        with m.Elif(self.strobe & self.acknowledge):
            m.d.sync += wait.eq(Mux(number == 0, self._power_up, _WAIT))
            with m.If(number == len(self._steps) - 1):
                m.d.sync += self.done.eq(1)
            with m.Else():
                m.d.sync += number.eq(number + 1)
        return m


def _steps(registers: dict[str, int]) -> Any:
    """Addresses and values to write. JEDEC's order for SDR SDRAM; bursts of one beat."""
    def command(bits: int, address: int = 0) -> Any:
        yield registers["sdram_dfii_pi0_address"], address
        yield registers["sdram_dfii_pi0_command"], bits
        yield registers["sdram_dfii_pi0_command_issue"], 1

    yield registers["sdram_dfii_control"], _CLOCK_ENABLE     # at once: else the controller refreshes
    yield registers["sdram_dfii_pi0_baddress"], 0
    yield from command(_CS | _RAS | _WE, _ALL_BANKS)
    for _ in range(_REFRESHES):
        yield from command(_CS | _RAS | _CAS)
    yield from command(_CS | _RAS | _CAS | _WE, _CAS_LATENCY << 4)
    yield registers["sdram_dfii_control"], _CLOCK_ENABLE | _BY_HARDWARE
    yield registers["ddrctrl_init_done"], 1


class SDRAM(wiring.Component):
    """Memory behind an AXI4 port of ``data_width`` bits: of a byte's address the lower ``size_bits`` count.

    ``pins`` are those of the chip, I/O ports by the names in ``PINS``; ``clock`` is in Hz. ``ready`` tells that it
    was initialized (see :class:`SDRAMInitializer`); bursts wait for that, and then pass to LiteDRAM's controller in
    the same cycle. How long it takes depends on its open rows and on refreshes.
    """

    def __init__(self, controller: LiteDRAM, pins: dict[str, Any], *, size_bits: int, clock: float, data_width: int,
                 id_bits: int) -> None:
        self._controller = controller
        self._pins = pins
        self._size_bits = size_bits
        self._clock = clock
        super().__init__({"axi": In(AXI4Signature(data_width=data_width, id_bits=id_bits)), "ready": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        axi: Any = self.axi
        m.submodules.initializer = first = SDRAMInitializer(self._controller.registers, clock=self._clock)
        if hasattr(platform, "add_file"):
            platform.add_file(f"{MODULE}.v", self._controller.verilog)
        valid, ready = Signal(2), Signal(2)
        ports: dict[str, Any] = {}
        for number, channel in enumerate(("aw", "ar")):
            for name in ("id", "len", "size", "burst"):
                ports[f"i_user_port_axi_{channel}{name}"] = getattr(axi, f"{channel}{name}")
            ports[f"i_user_port_axi_{channel}addr"] = getattr(axi, f"{channel}addr")[:self._size_bits]
            ports[f"i_user_port_axi_{channel}valid"] = valid[number]
            ports[f"o_user_port_axi_{channel}ready"] = ready[number]
            m.d.comb += [
                valid[number].eq(getattr(axi, f"{channel}valid") & self.ready),
                getattr(axi, f"{channel}ready").eq(ready[number] & self.ready),
            ]
        for name in ("wdata", "wstrb", "wlast", "wvalid", "bready", "rready"):
            ports[f"i_user_port_axi_{name}"] = getattr(axi, name)
        for name in ("wready", "bid", "bresp", "bvalid", "rid", "rdata", "rresp", "rlast", "rvalid"):
            ports[f"o_user_port_axi_{name}"] = getattr(axi, name)
        for name in PINS:
            ports[f"{'io' if name == 'dq' else 'o'}_sdram_{name}"] = self._pins[name]
        m.submodules.controller = Instance(
            MODULE, i_clk=ClockSignal(), i_rst=ResetSignal(), **ports,
            i_wb_ctrl_adr=first.address, i_wb_ctrl_dat_w=first.data, i_wb_ctrl_sel=0xF, i_wb_ctrl_we=1,
            i_wb_ctrl_cyc=first.strobe, i_wb_ctrl_stb=first.strobe, i_wb_ctrl_cti=0, i_wb_ctrl_bte=0,
            o_wb_ctrl_ack=first.acknowledge)
        m.d.comb += self.ready.eq(first.done)
        return m
