"""A small design as nextpnr writes it when it has placed it: cells, and delays."""

import json
from collections import Counter
from math import log2
from typing import Any

from fgpu.tools.refine.placement import Placement

__all__ = ["block_ram", "clock_buffer", "design", "flip_flop", "lut", "sdf", "spare", "wire"]

DIRECT = {("F", "DI"): 130.0, ("F", "F1"): 0.0, ("FCO", "FCI"): 0.0, ("WDO0", "WD"): 100.0}
CLOCKED = ("TRELLIS_FF", "DP16KD")
CONTROL = {"CLK": [2], "LSR": [3]}


def cell(kind: str, place: str, *, mode: str = "LOGIC", outputs: tuple[str, ...] = (),
         **ports: int) -> dict[str, Any]:
    connections = {port: [bit] for port, bit in ports.items()}
    if kind in CLOCKED:
        connections |= CONTROL
        outputs = ("Q",)
    return {"type": kind, "parameters": {"MODE": mode}, "attributes": {"NEXTPNR_BEL": place, "BEL_STRENGTH": "1"},
            "connections": connections,
            "port_directions": {port: "output" if port in outputs else "input" for port in connections}}


def lut(place: str, **ports: int) -> dict[str, Any]:
    return cell("TRELLIS_COMB", place, outputs=("F", "OFX"), **ports)


def flip_flop(place: str, **ports: int) -> dict[str, Any]:
    return cell("TRELLIS_FF", place, **ports)


def block_ram(place: str, **ports: int) -> dict[str, Any]:
    return cell("DP16KD", place, **ports)


def clock_buffer(place: str, **ports: int) -> dict[str, Any]:
    return cell("DCCA", place, outputs=("CLKO",), **ports)


def spare(x: int, y: int) -> dict[str, dict[str, Any]]:
    """A tile in which sites are kept free."""
    return {f"spare{x},{y}{letter}{number}": cell("TRELLIS_COMB", f"X{x}/Y{y}/SLICE{letter}.K{number}")
            for letter in "ABCD" for number in range(2)}


def design() -> dict[str, dict[str, Any]]:
    """From one flip-flop through a LUT far away, and its flip-flop, to another one; a LUT of five inputs; a carry
    chain over two tiles; a memory."""
    return {
        "from": flip_flop("X4/Y4/SLICEA.FF0", M=90, Q=10),
        "lut": lut("X60/Y60/SLICEB.K1", A=10, F=11), "between": flip_flop("X60/Y60/SLICEB.FF1", DI=11, Q=12),
        "to": flip_flop("X8/Y4/SLICEA.FF0", M=12, Q=13),
        "low": lut("X9/Y9/SLICEA.K0", A=13, F1=15, M=10, OFX=14), "high": lut("X9/Y9/SLICEA.K1", B=13, F=15),
        "carry": cell("TRELLIS_COMB", "X9/Y9/SLICED.K0", mode="CCU2", outputs=("F", "FCO"), A=14, F=16, FCO=20),
        "carry1": cell("TRELLIS_COMB", "X9/Y9/SLICED.K1", mode="CCU2", outputs=("F", "FCO"), FCI=20, FCO=21),
        "carry2": cell("TRELLIS_COMB", "X10/Y9/SLICEA.K0", mode="CCU2", outputs=("F", "FCO"), FCI=21, F=22),
        "sum": flip_flop("X10/Y9/SLICEA.FF0", DI=22, Q=23),
        "write": cell("TRELLIS_RAMW", "X20/Y20/SLICEC.RAMW", outputs=("WDO0",), D0=23, WDO0=30),
        "block": cell("TRELLIS_COMB", "X20/Y20/SLICEC.K0", mode="RAMW_BLOCK"),
        "memory": cell("TRELLIS_COMB", "X20/Y20/SLICEA.K0", mode="DPRAM", outputs=("F",), WD=30, A=23, F=31),
        "read": flip_flop("X21/Y20/SLICEA.FF0", M=31, Q=32),
        **spare(6, 4), **spare(60, 61), **spare(9, 10),
    }


def wire(columns: int, rows: int, readers: int) -> float:
    """Picoseconds of a wire, as what refines expects it."""
    far = max(columns - 5, 0) + max(rows - 5, 0)
    return (470 + 170 * bool(columns or rows) + 95 * min(columns, 5) + 125 * min(rows, 5) + 61 * far
            + 43 * log2(min(readers, 64)) + 95 * log2(max(readers, 64) / 64))


def sdf(cells: dict[str, dict[str, Any]]) -> str:
    """Delays: a LUT takes 240 ps, a flip-flop 530 to change, and nothing before the clock."""
    places = Placement(json.loads(json.dumps(cells))).tiles
    drivers = {bits[0]: (name, port) for name, each in cells.items() for port, bits in each["connections"].items()
               if each["port_directions"][port] == "output"}
    wires = [(drivers[bits[0]], (name, port)) for name, each in cells.items()
             for port, bits in each["connections"].items()
             if port not in CONTROL and each["port_directions"][port] == "input" and bits[0] in drivers]
    readers = Counter(start for start, _ in wires)
    lines = []
    for (source, out), (name, port) in wires:
        (left, top), (right, bottom) = places[source], places[name]
        over = 0.0 if out == "CLKO" else wire(abs(right - left), abs(bottom - top), readers[source, out])
        delay = DIRECT.get((out, port), over)
        both = 2 * f" ({delay}:{delay}:{delay})"
        lines.append(f"(INTERCONNECT {source}/{out} {name}/{port}{both})")
    for name, each in cells.items():
        ends = [port for port in each["connections"] if each["port_directions"][port] == "output"]
        starts = [port for port in each["connections"] if port not in CONTROL and port not in ends]
        lines.append(f"(INSTANCE {name})")
        if each["type"] in CLOCKED:
            lines.append("(IOPATH (posedge CLK) Q (530:530:530) (530:530:530))")
            lines += [f"(SETUPHOLD (posedge {port}) (posedge CLK) (0:0:0) (0:0:0))" for port in starts]
        else:
            lines += [f"(IOPATH {start} {end} (240:240:240) (240:240:240))" for start in starts for end in ends]
    return "\n".join(lines)
