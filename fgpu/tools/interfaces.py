"""The buses, clock, reset and interrupt of a core, as Vivado's IP Integrator wants to be told of them (AMD UG994)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Interface", "interface_attributes", "interfaces"]

_AXI = re.compile(r"((?:s|m\d+)_axi)_(\w+)")
_PROTOCOLS: Final[dict[str, dict[str, str]]] = {
    "s": {"PROTOCOL": "AXI4LITE"},
    "m": {"PROTOCOL": "AXI4", "SUPPORTS_NARROW_BURST": "0"},
}
_SIGNALS: Final[dict[str, tuple[str, str, bool, dict[str, str]]]] = {   # kind, signal, whether the core drives it
    "clk": ("clock", "CLK", False, {"ASSOCIATED_BUSIF": "{buses}", "ASSOCIATED_RESET": "rst"}),
    "rst": ("reset", "RST", False, {"POLARITY": "ACTIVE_HIGH"}),
    "irq": ("interrupt", "INTERRUPT", True, {"SENSITIVITY": "LEVEL_HIGH"}),
}


@dataclass
class Interface:
    """Ports that belong together."""

    name: str
    kind: str
    """Of Vivado's interfaces: ``aximm``, ``clock``, ``reset`` or ``interrupt``."""
    is_master: bool
    parameters: dict[str, str]
    ports: dict[str, str] = field(default_factory=dict)
    """The port of each signal of the interface."""

    @property
    def library(self) -> str:
        """Vivado's library with interfaces of this kind."""
        return "interface" if self.kind == "aximm" else "signal"


def interfaces(ports: Iterable[str]) -> list[Interface]:
    """The interfaces of a core with these ports, in the order of their first ports; others are in none."""
    found: dict[str, Interface] = {}
    names = list(ports)
    buses = ":".join(dict.fromkeys(match[1] for name in names if (match := _AXI.fullmatch(name))))
    for name in names:
        if match := _AXI.fullmatch(name):
            bus, signal = match.groups()
            found.setdefault(bus, Interface(bus, "aximm", bus[0] == "m", dict(_PROTOCOLS[bus[0]])))
            found[bus].ports[signal.upper()] = name
        elif name in _SIGNALS:
            kind, signal, is_master, parameters = _SIGNALS[name]
            given = {key: value.format(buses=buses) for key, value in parameters.items()}
            found[name] = Interface(name, kind, is_master, given, {signal: name})
    return list(found.values())


def interface_attributes(ports: Iterable[str]) -> dict[str, dict[str, str]]:
    """Verilog attributes of the ports of a core, by name: ``X_INTERFACE_INFO`` says which signal of which interface a
    port is, ``X_INTERFACE_PARAMETER``, at one port of each interface, what else is to be known of that.

    Ports that are part of no interface have none. Other tools ignore these attributes.
    """
    found: dict[str, dict[str, str]] = {}
    for each in interfaces(ports):
        for signal, port in each.ports.items():
            found[port] = {"X_INTERFACE_INFO": f"xilinx.com:{each.library}:{each.kind}:1.0 {each.name} {signal}"}
        teller = each.ports.get("AWADDR") or next(iter(each.ports.values()))
        parameters = ", ".join(f"{key} {value}" for key, value in each.parameters.items())
        found[teller]["X_INTERFACE_PARAMETER"] = f"XIL_INTERFACENAME {each.name}, {parameters}"
    return found
