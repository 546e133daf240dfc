"""Output registers of an ECP5's block RAM, which Yosys leaves in the fabric."""

import json
from typing import Any

__all__ = ["take_output_registers"]

_RAM, _REGISTER, _WIDE = "DP16KD", "TRELLIS_FF", 36


def take_output_registers(netlist: str) -> str:
    """A netlist of ``synth_ecp5`` in which registers that follow block RAM directly are those in the block RAM.

    That needs registers behind all bits that are read, with one clock and reset, no enable, and nobody else who reads
    these bits. A word then leaves block RAM 5 ns sooner.
    """
    design = json.loads(netlist)
    for module in design["modules"].values():
        _take(module["cells"], _readers(module))
    return json.dumps(design)


def _readers(module: Any) -> dict[int, list[tuple[str, str]]]:
    """Of each net the inputs that it drives, as cell and port; for a port of the module without a cell."""
    readers: dict[int, list[tuple[str, str]]] = {}
    for name, port in module["ports"].items():
        for bit in port["bits"]:
            readers.setdefault(bit, []).append(("", name))
    for name, cell in module["cells"].items():
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] == "input":
                for bit in bits:
                    readers.setdefault(bit, []).append((name, port))
    return readers


def _take(cells: dict[str, Any], readers: dict[int, list[tuple[str, str]]]) -> None:
    for ram in [cell for cell in cells.values() if cell["type"] == _RAM]:
        # A port of 36 bits reads at B, and its lower half comes at A.
        wide = int(ram["parameters"]["DATA_WIDTH_B"], 2) == _WIDE
        for clock, halves in [("B", "AB")] if wide else [("A", "A"), ("B", "B")]:
            outputs = [f"DO{half}{number}" for half in halves for number in range(18)]
            read = {port: bits[0] for port in outputs
                    if (bits := ram["connections"].get(port)) and readers.get(bits[0])}
            registers = {port: _register(cells, readers[bit]) for port, bit in read.items()}
            kinds = {_kind(cells[name]) if name else None for name in registers.values()}
            kind = kinds.pop() if len(kinds) == 1 else None
            if kind is None:
                continue
            edge, reset = kind
            if [edge] != ram["connections"][f"CLK{clock}"]:
                continue
            for half in halves:
                ram["parameters"][f"REGMODE_{half}"] = "OUTREG"
                ram["connections"] |= {f"OCE{half}": ["1"], f"RST{half}": [reset]}
            ram["parameters"]["RESETMODE"] = "SYNC"
            for port, name in registers.items():
                ram["connections"][port] = cells.pop(name)["connections"]["Q"]


def _register(cells: dict[str, Any], readers: list[tuple[str, str]]) -> str:
    """The register that alone reads a net, if one does."""
    (name, port), *others = readers
    return name if not others and name and cells[name]["type"] == _REGISTER and port == "DI" else ""


def _kind(register: Any) -> tuple[Any, Any] | None:
    """Clock and reset of a register that a block RAM may have at its output."""
    parameters, wires = register["parameters"], register["connections"]
    enabled = parameters["CEMUX"].strip() == "1" or wires.get("CE") == ["1"]
    synchronous = parameters["SRMODE"] == "LSR_OVER_CE" and parameters["REGSET"] == "RESET"
    if not enabled or not synchronous or parameters["CLKMUX"] != "CLK" or parameters["LSRMUX"] != "LSR":
        return None
    return wires["CLK"][0], wires.get("LSR", ["0"])[0]
