"""The generated Verilog."""

import re
from collections import Counter
from pathlib import Path

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import Config
from fgpu.cu.memory_controller import MemoryController
from fgpu.gateware.sharing import convert
from fgpu.tools.verilog import to_verilog, verilog_text

SMALL = Config.preset("tiny").replace(compute_units=2, axi_ports=2, tag_managers=2, float_ops=frozenset({"fslt"}))


@pytest.fixture(scope="module")
def text() -> str:
    return to_verilog(SMALL, name="gpu")


def declared(text: str) -> dict[str, tuple[str, int]]:
    """Direction and width of each port of the module ``gpu``."""
    top = text[text.index("\nmodule gpu("):]
    found = re.findall(r"^  (in|out)put (?:\[(\d+):0\] )?(\w+);$", top[:top.index("\nendmodule")], re.MULTILINE)
    return {name: (direction, int(last or 0) + 1) for direction, last, name in found}


def test_documented_ports(text: str) -> None:
    """docs/control-interface.md has a table of all ports."""
    page = (Path(__file__).parents[1] / "docs" / "control-interface.md").read_text(encoding="utf-8")
    widths = {"`axi_data_width`": SMALL.axi_data_width, "`axi_data_width` / 8": SMALL.axi_data_width // 8}
    documented = {}
    for names, direction, bits in re.findall(r"^\| (`.*?`) \| (in|out) \| (.*?) \|", page, re.MULTILINE):
        for name in re.findall(r"`(\w+)`", names):
            copies = [re.sub("^m0", f"m{i}", name) for i in range(SMALL.axi_ports)]
            documented |= dict.fromkeys(copies, (direction, widths[bits] if bits in widths else int(bits)))
    assert documented == declared(text)


def test_vivado_sees_interfaces(text: str) -> None:
    """Buses, clock, reset and interrupt are described, at the top only, and the parameters of each once."""
    blocks = re.findall(r"((?:^  \(\* .* \*\)\n)+)  (?:in|out)put (?:\[.*?\] )?(\w+);$", text, re.MULTILINE)
    found = {name: dict(re.findall(r'X_INTERFACE_(\w+) = "(.*)"', block)) for block, name in blocks
             if "X_INTERFACE_" in block}
    assert text.count("X_INTERFACE_") == sum(map(len, found.values()))
    assert set(found) == set(declared(text)) - {"kernel_status", "kernel_fault"}
    assert found["clk"] == {
        "INFO": "xilinx.com:signal:clock:1.0 clk CLK",
        "PARAMETER": "XIL_INTERFACENAME clk, ASSOCIATED_BUSIF s_axi:m0_axi:m1_axi, ASSOCIATED_RESET rst"}
    assert found["rst"]["PARAMETER"] == "XIL_INTERFACENAME rst, POLARITY ACTIVE_HIGH"
    assert found["irq"]["PARAMETER"] == "XIL_INTERFACENAME irq, SENSITIVITY LEVEL_HIGH"
    assert found["m1_axi_awaddr"] == {
        "INFO": "xilinx.com:interface:aximm:1.0 m1_axi AWADDR",
        "PARAMETER": "XIL_INTERFACENAME m1_axi, PROTOCOL AXI4, SUPPORTS_NARROW_BURST 0"}
    assert found["s_axi_rdata"] == {"INFO": "xilinx.com:interface:aximm:1.0 s_axi RDATA"}
    interfaces = Counter(each["PARAMETER"].split(",")[0] for each in found.values() if "PARAMETER" in each)
    assert interfaces == {f"XIL_INTERFACENAME {name}": 1 for name in (
        "clk", "rst", "irq", "s_axi", "m0_axi", "m1_axi")}


def test_alike_units_share_a_module(text: str) -> None:
    modules = re.findall(r"^module \\?(\S+?) ?\(", text, re.MULTILINE)
    assert len(modules) == len(set(modules))
    assert all(name == "gpu" or name.startswith("gpu.") for name in modules), "two cores may be in one project"
    instances = Counter(re.findall(r"^  \\gpu\.(\S+)  ?\\?\S+ \($", text, re.MULTILINE))
    assert {name: instances[name] for name in ("cu", "cache_slice", "pe", "wavefront", "float_lane")} == {
        "cu": 2, "cache_slice": 2, "pe": 8, "wavefront": 8, "float_lane": 8}


@pytest.mark.ci
def test_size_does_not_grow_with_compute_units(text: str) -> None:
    assert len(to_verilog(SMALL.replace(compute_units=1), name="gpu")) > 0.9 * len(text)


def initial_values(text: str) -> tuple[set[bool], bool]:
    """Whether registers (but those that block RAM reads into) have initial values; whether memories have."""
    pattern = r"^  reg (?:signed )?(?:\[\d+:\d+\] )?(?!_)(\\\S+ |\w+);\n(  initial \1 = \S+;$)?"
    values = {bool(value) for _, value in re.findall(pattern, text, re.MULTILINE)}
    return values, bool(re.search(r"^  initial begin$", text, re.MULTILINE))


@pytest.mark.ci
def test_initial_values(text: str) -> None:
    """Those of an FPGA, and of 4-state simulators, unless power-up is to be simulated."""
    assert initial_values(text) == ({True}, True)
    assert initial_values(verilog_text(convert(MemoryController(SMALL), "memory"), initial=False)) == ({False}, False)


class _Nonzero(wiring.Component):
    """What Amaranth gives as a comparison with a constant without bits."""

    value: In(3)
    is_nonzero: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.is_nonzero.eq(self.value > 0)
        return m


def test_comparisons_with_zero() -> None:
    text = verilog_text(convert(_Nonzero(), "nonzero"))
    assert "value >" in text
    assert "[-1:0]" not in text     # which is a wire of two bits that nobody drives
