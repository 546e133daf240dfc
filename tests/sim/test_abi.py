"""The structures that Python and C++ share follow the core's signatures."""

import ctypes

import pytest

from fgpu.config import Config
from fgpu.core import FGPU
from fgpu.sim.testbench import ports
from fgpu.sim.testbench.header import Split, abi_header, binding_header
from fgpu.tools.verilog import ports as flat_ports

UNSEEN = {"kernel_fault", "irq"}      # of which the test bench knows nothing
LARGEST = Config(compute_units=ports.COMPUTE_UNITS, axi_ports=ports.PORTS, cache_slices=ports.SLICES, statistics=True)


def widths(config: Config) -> dict[str, int]:
    core = FGPU(config)
    core._MustUse__silence = True
    return {name: len(value) for name, (value, _) in flat_ports(core).items()}


def test_leaves_are_the_ports_of_the_core() -> None:
    """All of them, each once, and each has room."""
    leaves = [leaf for structure in (ports.PortsOut, ports.PortsIn) for leaf in ports.leaves(structure)]
    found = {leaf.port: 8 * leaf.size for leaf in leaves}
    assert len(found) == len(leaves)
    expected = {name: width for name, width in widths(LARGEST).items()
                if name not in UNSEEN and not name.startswith("cache_probe_")}
    assert set(found) - {"events"} == set(expected)
    assert not {name: (found[name], width) for name, width in expected.items() if found[name] < width}


@pytest.mark.parametrize("structure", [ports.PortsOut, ports.PortsIn])
def test_leaves_do_not_overlap(structure: type[ctypes.Structure]) -> None:
    end = 0
    for leaf in ports.leaves(structure):
        assert leaf.offset >= end
        end = leaf.offset + leaf.size
    assert end <= ctypes.sizeof(structure)


def test_binding_copies_the_ports_that_there_are() -> None:
    tiny = widths(Config.preset("tiny"))
    text = binding_header(tiny, [], trace=False)
    assert "out.axi[0].aw.cache = top.core.m0_axi_awcache;" in text
    assert "top.core.s_axi_awprot = in.lite.awprot;" in text
    assert "m1_axi" not in text
    assert "probe" not in text
    text = binding_header(widths(LARGEST), ["hit", "hit", "miss"], trace=False)
    assert ("out.events[0] = uint64_t(top.core.cache_probe_hit) << 0 | "
            "uint64_t(top.core.cache_probe_miss) << 2;") in text
    assert ("if (top.core.access7_starts) {\n"
            "        std::memcpy(out.access[7].offsets, top.core.access7_offsets.data()") in text


def test_binding_copies_between_the_core_and_compute_units() -> None:
    text = binding_header(widths(LARGEST), [], trace=False, split=Split(2, ["room"], ["cancel", "number"], 8))
    assert "case 1: return fgpu::copy(core.cu1_room, unit.room);" in text
    assert ("case 0: return fgpu::copy(unit.cancel, core.cu0_cancel) | fgpu::copy(unit.number, core.cu0_number);"
            in text)
    assert ("case 1: return fgpu::is_equal(unit.cancel, core.cu1_cancel) && "
            "fgpu::is_equal(unit.number, core.cu1_number);") in text
    assert "out.kernel_status = top.core.kernel_status;" in text
    assert "if (top.unit(7).access_starts) {" in text
    assert "out.probe[7].issue = top.unit(7).probe_issue;" in text


def test_header_asserts_the_layout() -> None:
    """C++ does not compile where its compiler lays out a structure otherwise than ctypes."""
    text = abi_header()
    for structure in (ports.PortsOut, ports.PortsIn, ports.AxiAddress):
        assert f"static_assert(sizeof({structure.__name__}) == {ctypes.sizeof(structure)});" in text
