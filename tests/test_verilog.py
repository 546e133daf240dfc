"""The generated Verilog."""

import re
from collections import Counter

import pytest

from fgpu.config import Config
from fgpu.cu.memory_controller import MemoryController
from fgpu.gateware.sharing import convert
from fgpu.tools.verilog import to_verilog, verilog_text

SMALL = Config.preset("tiny").replace(compute_units=2, axi_ports=2, tag_managers=2, float_ops=frozenset({"fslt"}))


@pytest.fixture(scope="module")
def text() -> str:
    return to_verilog(SMALL, name="gpu")


def test_alike_units_share_a_module(text: str) -> None:
    modules = re.findall(r"^module \\?(\S+?) ?\(", text, re.MULTILINE)
    assert len(modules) == len(set(modules))
    assert all(name == "gpu" or name.startswith("gpu.") for name in modules), "two cores may be in one project"
    instances = Counter(re.findall(r"^  \\gpu\.(\S+)  ?\\?\S+ \($", text, re.MULTILINE))
    assert {name: instances[name] for name in ("cu", "cache_slice", "pe", "wavefront", "float_lane")} == {
        "cu": 2, "cache_slice": 2, "pe": 8, "wavefront": 8, "float_lane": 8}


def test_size_does_not_grow_with_compute_units(text: str) -> None:
    assert len(to_verilog(SMALL.replace(compute_units=1), name="gpu")) > 0.9 * len(text)


def initial_values(text: str) -> tuple[set[bool], bool]:
    """Whether registers (but those that block RAM reads into) have initial values; whether memories have."""
    pattern = r"^  reg (?:signed )?(?:\[\d+:\d+\] )?(?!_)(\\\S+ |\w+);\n(  initial \1 = \S+;$)?"
    values = {bool(value) for _, value in re.findall(pattern, text, re.MULTILINE)}
    return values, bool(re.search(r"^  initial begin$", text, re.MULTILINE))


def test_initial_values(text: str) -> None:
    """Those of an FPGA, and of 4-state simulators, unless power-up is to be simulated."""
    assert initial_values(text) == ({True}, True)
    assert initial_values(verilog_text(convert(MemoryController(SMALL), "memory"), initial=False)) == ({False}, False)
