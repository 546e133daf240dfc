"""Registers around multipliers become theirs, and what is computed stays the same."""

import json
import random
from functools import cache

import pytest
from amaranth.hdl import Module, Mux, Signal, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.extras import is_installed
from fgpu.tools.multiplier_registers import take_multiplier_registers

from .netlists import cells, changed, registers, synthesized

pytestmark = [pytest.mark.ci, pytest.mark.skipif(not is_installed("timing"), reason="needs fgpu[timing]")]
_FACTORS = 16 + 17


class Products(wiring.Component):
    """Two products of one unsigned and one signed factor, with registers around them, in one of several ways."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        super().__init__({"a": In(unsigned(16)), "b": In(signed(17)), "enable": In(1), "product": Out(signed(33)),
                          "square": Out(32), "also": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        a, b = Signal(unsigned(16), init=self._kind == "init"), Signal(signed(17))
        with m.If(self.enable if self._kind == "enable" else 1):
            m.d.sync += [a.eq(self.a), b.eq(self.b)]
        if self._kind == "also":
            m.d.comb += self.also.eq(a[3])
        m.d.sync += [
            self.product.eq(a * (self.b if self._kind == "unregistered" else b)),
            self.square.eq(Mux(self.enable, a * a, 0) if self._kind == "logic" else a * a),
        ]
        return m


@cache
def netlist(kind: str) -> str:
    return synthesized(Products(kind))


def simulated(text: str, inputs: list[dict[str, int]]) -> list[tuple[int, ...]]:
    """Outputs of a netlist of registers and multipliers, cycle by cycle."""
    module = json.loads(text)["modules"]["top"]
    ports = module["ports"]
    outputs = [name for name, port in ports.items() if port["direction"] == "output"]
    values: dict[object, int] = {"0": 0, "1": 1, "x": 0}
    inside: dict[tuple[str, str], int] = {}     # registers of multipliers, by cell and port or "P"

    def number(bits: list, is_signed: bool) -> int:
        word = sum(values.get(bit, 0) << at for at, bit in enumerate(bits))
        return word - (1 << len(bits)) if is_signed and values.get(bits[-1], 0) else word

    def factor(name: str, cell: dict, side: str) -> int:
        wires = [cell["connections"][f"{side}{bit}"][0] for bit in range(18)]
        return number(wires, values[cell["connections"][f"SIGNED{side}"][0]] == 1)

    found = []
    for row in inputs:
        for name, word in row.items():
            for at, bit in enumerate(ports[name]["bits"]):
                values[bit] = word >> at & 1
        following, follows_inside = {}, {}
        for name, cell in module["cells"].items():
            wires, parameters = cell["connections"], cell.get("parameters", {})
            if cell["type"] == "TRELLIS_FF":
                enabled = values[wires["CE"][0]] if parameters["CEMUX"] == "CE" else 1
                reset = values[wires["LSR"][0]] if "LSR" in wires else 0
                if reset or enabled:
                    following[wires["Q"][0]] = 0 if reset else values.get(wires["DI"][0], 0)
            elif cell["type"] == "MULT18X18D":
                reset = values[wires["RST0"][0]] if "RST0" in wires else 0
                factors = []
                for side in "AB":
                    word = factor(name, cell, side)
                    if parameters.get(f"REG_INPUT{side}_CLK", "NONE") != "NONE":
                        follows_inside[name, side] = 0 if reset else word
                        word = inside.get((name, side), 0)
                    factors.append(word)
                product = factors[0] * factors[1]
                if parameters.get("REG_OUTPUT_CLK", "NONE") != "NONE":
                    follows_inside[name, "P"] = 0 if reset else product
                    product = inside.get((name, "P"), 0)
                for bit in range(36):
                    if f"P{bit}" in wires:
                        values[wires[f"P{bit}"][0]] = product >> bit & 1
        # Registers behind multipliers read what was computed above.
        for cell in module["cells"].values():
            wires = cell["connections"]
            if cell["type"] == "TRELLIS_FF" and wires["Q"][0] in following and not values[wires["LSR"][0]]:
                following[wires["Q"][0]] = values.get(wires["DI"][0], 0)
        values |= following
        inside |= follows_inside
        found.append(tuple(number(ports[name]["bits"], False) for name in outputs))
    return found


def test_registers_around_multipliers_are_taken() -> None:
    """With the reset; a factor of two multipliers goes to both."""
    before = netlist("plain")
    after = changed(before, take_multiplier_registers)
    assert registers(before) == _FACTORS + 33 + 32
    assert registers(after) == 0
    for cell in cells(after):
        if cell["type"] == "MULT18X18D":
            parameters = cell["parameters"]
            assert {parameters[f"REG_{place}_CLK"] for place in ("INPUTA", "INPUTB", "OUTPUT")} == {"CLK0"}
            assert isinstance(cell["connections"]["RST0"][0], int)


def test_products_stay_the_same() -> None:
    """Over cycles with random factors and resets."""
    rng = random.Random(5)
    before = netlist("plain")
    words = [{"a": rng.getrandbits(16), "b": rng.getrandbits(17), "rst": rng.random() < 0.1, "enable": 1}
             for _ in range(200)]
    expected = simulated(before, words)
    assert len(set(expected)) > 100
    # Multipliers show what is in their registers a pass later than registers do.
    moved = simulated(changed(before, take_multiplier_registers), [*words, words[-1]])
    assert moved[1:] == expected


@pytest.mark.parametrize(("kind", "taken"), [
    ("enable", 65), ("also", _FACTORS - 1 + 65), ("init", 65), ("unregistered", 65), ("logic", _FACTORS + 33)])
def test_others_stay(kind: str, taken: int) -> None:
    """With an enable, or that come up with a one; of those before multipliers a bit that somebody else reads, and all
    that one without registers for its other factor reads; and if there is logic behind a product."""
    before = netlist(kind)
    assert registers(before) - registers(changed(before, take_multiplier_registers)) == taken
