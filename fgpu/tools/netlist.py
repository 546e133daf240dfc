"""Netlists of Yosys (JSON): who reads a net, and what a register is like."""

from typing import Any, Final

__all__ = ["REGISTER", "drivers_of", "readers_of", "register_kind"]

REGISTER: Final = "TRELLIS_FF"
"""An ECP5's register."""

Pins = dict[int, list[tuple[str, str]]]


def readers_of(module: Any) -> Pins:
    """Of each net the inputs that it drives, as cell and port; for a port of the module without a cell."""
    readers: Pins = {}
    for name, port in module["ports"].items():
        for bit in port["bits"]:
            readers.setdefault(bit, []).append(("", name))
    for bit, pin in _pins(module, "input"):
        readers.setdefault(bit, []).append(pin)
    return readers


def drivers_of(module: Any) -> dict[int, tuple[str, str]]:
    """Of each net the output that drives it, as cell and port; not those that a port of the module drives."""
    return dict(_pins(module, "output"))


def _pins(module: Any, direction: str) -> list[tuple[int, tuple[str, str]]]:
    return [(bit, (name, port)) for name, cell in module["cells"].items()
            for port, bits in cell["connections"].items() if cell["port_directions"][port] == direction
            for bit in bits]


def register_kind(register: Any) -> tuple[Any, Any] | None:
    """Clock and reset of a register that block RAM or a multiplier may have: without enable, and 0 after a reset."""
    parameters, wires = register["parameters"], register["connections"]
    enabled = parameters["CEMUX"].strip() == "1" or wires.get("CE") == ["1"]
    # One that nothing resets does not say how.
    synchronous = parameters.get("SRMODE", "LSR_OVER_CE") == "LSR_OVER_CE" and parameters["REGSET"] == "RESET"
    if not enabled or not synchronous or parameters["CLKMUX"] != "CLK" or parameters["LSRMUX"] != "LSR":
        return None
    return wires["CLK"][0], wires.get("LSR", ["0"])[0]
