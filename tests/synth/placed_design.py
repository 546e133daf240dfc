"""A small design as nextpnr writes it when it has placed it: cells, and delays."""

import json
from typing import Any

import numpy as np

from fgpu.tools.placement import Placement
from fgpu.tools.slacks import wire_delay

__all__ = ["design", "lut", "sdf"]

CONTROL = {"CLK": [2], "LSR": [3]}


def cell(kind: str, place: str, *, mode: str = "LOGIC", outputs: tuple[str, ...] = (),
         **ports: int) -> dict[str, Any]:
    connections = {port: [bit] for port, bit in ports.items()}
    if kind == "TRELLIS_FF":
        connections |= CONTROL
        outputs = ("Q",)
    return {"type": kind, "parameters": {"MODE": mode}, "attributes": {"NEXTPNR_BEL": place, "BEL_STRENGTH": "1"},
            "connections": connections,
            "port_directions": {port: "output" if port in outputs else "input" for port in connections}}


def lut(place: str, **ports: int) -> dict[str, Any]:
    return cell("TRELLIS_COMB", place, outputs=("F", "OFX"), **ports)


def flip_flop(place: str, **ports: int) -> dict[str, Any]:
    return cell("TRELLIS_FF", place, **ports)


def spare(x: int, y: int) -> dict[str, dict[str, Any]]:
    """A tile in which sites are kept free."""
    return {f"spare{x},{y}{letter}{number}": cell("TRELLIS_COMB", f"X{x}/Y{y}/SLICE{letter}.K{number}")
            for letter in "ABCD" for number in range(2)}


def design() -> dict[str, dict[str, Any]]:
    """From one flip-flop through a LUT far away, and its flip-flop, to another one; a LUT of five inputs; a carry."""
    return {
        "from": flip_flop("X4/Y4/SLICEA.FF0", M=90, Q=10),
        "lut": lut("X60/Y60/SLICEB.K1", A=10, F=11), "between": flip_flop("X60/Y60/SLICEB.FF1", DI=11, Q=12),
        "to": flip_flop("X8/Y4/SLICEA.FF0", M=12, Q=13),
        "low": lut("X9/Y9/SLICEA.K0", A=13, F1=15, M=10, OFX=14), "high": lut("X9/Y9/SLICEA.K1", B=13, F=15),
        "carry": cell("TRELLIS_COMB", "X9/Y9/SLICEB.K0", mode="CCU2", outputs=("F",), A=14, F=16),
        **spare(6, 4), **spare(60, 61), **spare(9, 10),
    }


def sdf(cells: dict[str, dict[str, Any]]) -> str:
    """Delays as nextpnr expects them: a LUT takes 240 ps, a flip-flop 530 to change, and nothing before the clock."""
    places = Placement(json.loads(json.dumps(cells))).tiles
    drivers = {bits[0]: (name, port) for name, each in cells.items() for port, bits in each["connections"].items()
               if each["port_directions"][port] == "output"}
    lines = []
    for name, each in cells.items():
        for port, bits in each["connections"].items():
            if port in CONTROL or each["port_directions"][port] == "output" or bits[0] not in drivers:
                continue
            source, out = drivers[bits[0]]
            distance = np.abs(np.subtract(places[name], places[source])).astype(float)
            delay = 0 if (out, port) == ("F", "DI") else int(wire_delay(distance[:1], distance[1:])[0])
            both = 2 * f" ({delay}:{delay}:{delay})"
            lines.append(f"(INTERCONNECT {source}/{out} {name}/{port}{both})")
    for name, each in cells.items():
        ends = [port for port in each["connections"] if each["port_directions"][port] == "output"]
        starts = [port for port in each["connections"] if port not in CONTROL and port not in ends]
        lines.append(f"(INSTANCE {name})")
        if each["type"] == "TRELLIS_FF":
            lines.append("(IOPATH (posedge CLK) Q (530:530:530) (530:530:530))")
            lines += [f"(SETUPHOLD (posedge {port}) (posedge CLK) (0:0:0) (0:0:0))" for port in starts]
        else:
            lines += [f"(IOPATH {start} {end} (240:240:240) (240:240:240))" for start in starts for end in ends]
    return "\n".join(lines)
