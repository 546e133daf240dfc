"""The buses, clock, reset and interrupt of a core, as Vivado's IP Integrator wants to be told of them (AMD UG994)."""

import re
from collections.abc import Iterable

__all__ = ["interface_attributes"]

_AXI = re.compile(r"((?:s|m\d+)_axi)_(\w+)")
_PROTOCOLS = {"s": "PROTOCOL AXI4LITE", "m": "PROTOCOL AXI4, SUPPORTS_NARROW_BURST 0"}
_SIGNALS = {
    "clk": ("clock", "CLK", "ASSOCIATED_BUSIF {buses}, ASSOCIATED_RESET rst"),
    "rst": ("reset", "RST", "POLARITY ACTIVE_HIGH"),
    "irq": ("interrupt", "INTERRUPT", "SENSITIVITY LEVEL_HIGH"),
}


def interface_attributes(ports: Iterable[str]) -> dict[str, dict[str, str]]:
    """Verilog attributes of the ports of a core, by name: ``X_INTERFACE_INFO`` says which signal of which interface a
    port is, ``X_INTERFACE_PARAMETER``, at one port of each interface, what else is to be known of that.

    Ports that are part of no interface have none. Other tools ignore these attributes.
    """
    found: dict[str, dict[str, str]] = {}
    names = list(ports)
    buses = list(dict.fromkeys(match[1] for name in names if (match := _AXI.fullmatch(name))))
    for name in names:
        if match := _AXI.fullmatch(name):
            bus, signal = match.groups()
            found[name] = {"X_INTERFACE_INFO": f"xilinx.com:interface:aximm:1.0 {bus} {signal.upper()}"}
            if signal == "awaddr":
                found[name]["X_INTERFACE_PARAMETER"] = f"XIL_INTERFACENAME {bus}, {_PROTOCOLS[bus[0]]}"
        elif name in _SIGNALS:
            kind, signal, parameters = _SIGNALS[name]
            found[name] = {
                "X_INTERFACE_INFO": f"xilinx.com:signal:{kind}:1.0 {name} {signal}",
                "X_INTERFACE_PARAMETER": f"XIL_INTERFACENAME {name}, {parameters.format(buses=':'.join(buses))}",
            }
    return found
