"""Output registers of an ECP5's block RAM, which Yosys leaves in the fabric."""

from typing import Any

from .netlist import REGISTER, readers_of, register_kind

__all__ = ["take_output_registers"]

_RAM, _WIDE = "DP16KD", 36


def take_output_registers(module: Any) -> None:
    """Let registers that follow block RAM directly be those in it, in a module of ``synth_ecp5``'s netlist.

    That needs registers behind all bits that are read, with one clock and reset, no enable, and nobody else who reads
    these bits. A word then leaves block RAM 5 ns sooner.
    """
    cells, readers = module["cells"], readers_of(module)
    for ram in [cell for cell in cells.values() if cell["type"] == _RAM]:
        # A port of 36 bits reads at B, and its lower half comes at A.
        wide = int(ram["parameters"]["DATA_WIDTH_B"], 2) == _WIDE
        for clock, halves in [("B", "AB")] if wide else [("A", "A"), ("B", "B")]:
            outputs = [f"DO{half}{number}" for half in halves for number in range(18)]
            read = {port: bits[0] for port in outputs
                    if (bits := ram["connections"].get(port)) and readers.get(bits[0])}
            registers = {port: _register(cells, readers[bit]) for port, bit in read.items()}
            kinds = {register_kind(cells[name]) if name else None for name in registers.values()}
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
    return name if not others and name and cells[name]["type"] == REGISTER and port == "DI" else ""
