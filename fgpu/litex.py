"""The core as a peripheral of LiteX: ``FGPU(platform, config)``, and ``add_fgpu(soc, config)`` for a whole SoC.

``examples/litex`` has a SoC with a RISC-V processor whose program runs a kernel.
"""

from pathlib import Path
from typing import Any, Final

from .extras import demand

demand("fgpu.litex", "litex")

# ruff: noqa: E402
from litex.gen import ClockSignal, Instance, LiteXModule, ResetSignal
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect.axi import AXIInterface, AXILiteInterface
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel

from .axi.signatures import ID_BITS
from .config import Config
from .memory_map import control_bytes
from .tools.verilog import write_verilog
from .vivado.package import core_ports

__all__ = ["FGPU", "add_fgpu"]

_LITE: Final = {     # signals of a channel as the core's ports have them
    "aw": ("addr", "prot"), "w": ("data", "strb"), "b": ("resp",), "ar": ("addr", "prot"), "r": ("data", "resp"),
}
_FULL: Final = {
    "aw": ("id", "addr", "len", "size", "burst", "cache", "prot"), "w": ("data", "strb", "last"), "b": ("id", "resp"),
    "ar": ("id", "addr", "len", "size", "burst", "cache", "prot"), "r": ("id", "data", "resp", "last"),
}


class FGPU(LiteXModule):
    """A core. ``control`` is its AXI4-Lite slave, ``masters`` are its AXI4 ports; the event ``kernel`` is pending
    while an enabled interrupt of the core is.

    Parameters
    ----------
    platform
        LiteX's, which gets the core's Verilog.
    config
        The hardware. With ``axi_data_width`` as wide as the SoC's bus no converter is needed.
    verilog
        Where to write the Verilog; module ``fgpu``.
    """

    def __init__(self, platform: Any, config: Config, verilog: Path | str = "fgpu.v") -> None:
        self.config = config
        self.control = AXILiteInterface(data_width=32, address_width=32)
        self.masters = [AXIInterface(data_width=config.axi_data_width, address_width=32, id_width=ID_BITS)
                        for _ in range(config.axi_ports)]
        self.ev = EventManager()
        self.ev.kernel = EventSourceLevel()
        self.ev.finalize()
        ports = core_ports(config)
        buses = {"s_axi": (self.control, _LITE)} | {
            f"m{number}_axi": (master, _FULL) for number, master in enumerate(self.masters)}
        wires: dict[str, Any] = {"clk": ClockSignal("sys"), "rst": ResetSignal("sys"), "irq": self.ev.kernel.trigger}
        for bus, (interface, channels) in buses.items():
            for name, signals in channels.items():
                channel = getattr(interface, name)
                for signal in (*signals, "valid", "ready"):
                    port = f"{bus}_{name}{signal}"
                    wires[port] = getattr(channel, signal, None) if signal != "prot" or bus != "s_axi" else 0
                    if signal == "addr" and bus == "s_axi":
                        wires[port] = channel.addr[:ports[port].width]
        self.specials += Instance("fgpu", **{
            f"{'i' if ports[name].is_input else 'o'}_{name}": wire for name, wire in wires.items()})
        platform.add_source(str(write_verilog(config, verilog)))


def add_fgpu(soc: Any, config: Config, *, name: str = "fgpu", verilog: Path | str = "fgpu.v") -> FGPU:
    """Give a LiteX SoC a core: its control interface in the region ``name``, outside of the processor's caches, its
    ports as masters of the SoC's bus, its interrupt, if the processor takes interrupts."""
    core = FGPU(soc.platform, config, verilog)
    soc.add_module(name, core)
    soc.bus.add_slave(name, core.control, SoCRegion(size=control_bytes(config), cached=False))
    for number, master in enumerate(core.masters):
        soc.bus.add_master(f"{name}{number}", master=master)
    if soc.irq.enabled:
        soc.irq.add(name)
    return core
