"""Registers behind block RAM become its own."""

import json

import pytest
from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.extras import is_installed
from fgpu.gateware.block_ram import BlockRam
from fgpu.tools.output_registers import take_output_registers

from .netlists import cells, changed, registers, synthesized

pytestmark = [pytest.mark.ci, pytest.mark.skipif(not is_installed("timing"), reason="needs fgpu[timing]")]


class Reader(wiring.Component):
    """A block RAM with a register behind it, in one of several ways."""

    def __init__(self, width: int, kind: str) -> None:
        self._width, self._kind = width, kind
        super().__init__({"address": In(9), "data": In(width), "write": In(1), "enable": In(1), "out": Out(width),
                          "also": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.ram = ram = BlockRam(unsigned(self._width), 512)
        read, write = ram.read_port(), ram.write_port()
        m.d.comb += [read.addr.eq(self.address), write.addr.eq(self.address), write.data.eq(self.data),
                     write.en.eq(self.write)]
        word = Signal(self._width, init=self._kind == "init")
        with m.If(self.enable if self._kind == "enable" else 1):
            m.d.sync += word.eq(~read.data if self._kind == "logic" else read.data)
        if self._kind == "also":
            m.d.comb += self.also.eq(read.data[0])
        m.d.sync += self.out.eq(word)
        return m


def netlist(width: int, kind: str) -> str:
    return synthesized(Reader(width, kind))


@pytest.mark.parametrize("width", [16, 32])
def test_a_register_behind_block_ram_is_taken(width: int) -> None:
    """With its reset, and of wide ports both halves."""
    before = netlist(width, "plain")
    after = changed(before, take_output_registers)
    assert registers(before) - registers(after) == width
    ram, = (cell for cell in cells(after) if cell["type"] == "DP16KD")
    halves = "AB" if width == 32 else "B"
    readers = [half for half in "AB" if ram["parameters"][f"REGMODE_{half}"] == "OUTREG"]
    assert len(readers) == len(halves)
    assert all(isinstance(ram["connections"][f"RST{half}"][0], int) for half in readers)
    driven = {bit for cell in cells(after) for port, (bit, *_) in cell["connections"].items()
              if cell["port_directions"][port] == "output"}
    needed = {bit for cell in cells(after) if cell["type"] == "TRELLIS_FF" for bit in cell["connections"]["DI"]}
    inputs = {bit for port in json.loads(after)["modules"]["top"]["ports"].values() for bit in port["bits"]}
    assert needed <= driven | inputs


@pytest.mark.parametrize("kind", ["enable", "logic", "also", "init"])
def test_others_stay(kind: str) -> None:
    """Behind logic, with an enable, or that come up with a one; or if somebody else reads a bit."""
    before = netlist(16, kind)
    assert registers(changed(before, take_output_registers)) == registers(before)
