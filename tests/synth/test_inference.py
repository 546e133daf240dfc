"""Memories and multipliers land in block RAM, LUT memory and DSP blocks where that is intended.

For Xilinx 7 series the checked-in areas tell, which test_area holds against the design; for ECP5 Yosys does.
"""

import pytest
from amaranth.back import rtlil

from fgpu.benchmarks import area
from fgpu.cache.cache import Cache
from fgpu.config import Config
from fgpu.cu.divergence.stack import DivergenceStack
from fgpu.cu.pe import ProcessingElement
from fgpu.tools.area import Area, component_area, component_memories

FAMILIES = ["xc7", pytest.param("ecp5", marks=pytest.mark.long)]
BLOCK_RAM_BITS = {"xc7": 36 * 1024, "ecp5": 18 * 1024}
CACHE_BITS = 9 * 16 * 1024      # each byte with its dirty bit


def memories(unit: str, family: str) -> Area:
    """What a unit of the default configuration takes."""
    if family == "xc7":
        return Area(**area.load()[unit])
    return component_memories(area.UNITS[unit](Config()), family)


@pytest.mark.parametrize("family", FAMILIES)
def test_processing_element(family: str) -> None:
    """Four multipliers of 16 x 16 bits, and the scratchpad of 32 Kb."""
    found = memories("pe", family)
    assert found.dsps == 4
    assert found.block_rams == -(-32 * 1024 // BLOCK_RAM_BITS[family])
    assert found.lut_memories == 0


def test_sums_are_in_dsp_blocks() -> None:
    """Of the four sums of a multiplication, 33 to 35 bits each, one is in LUTs."""
    assert memories("pe", "xc7").luts < 300


@pytest.mark.parametrize("size", [0, 32])
def test_no_scratchpad_takes_no_memory(size: int) -> None:
    text = rtlil.convert(ProcessingElement(Config(scratchpad_size=size)), emit_src=False)
    assert ("cell $mem" in text) == bool(size)


@pytest.mark.parametrize("family", FAMILIES)
def test_memory_controller(family: str) -> None:
    """Its FIFOs have 32 phases of some 600 bits, 64 stations, 16 rows and 4 stores of some 320 bits: far more than
    its flip-flops."""
    found = memories("memory_controller", family)
    assert found.dsps == 0
    if family == "xc7":
        assert found.block_rams == 0
        assert 150 < found.lut_memories < 250


def check_cache(found: Area, family: str) -> None:
    """Data in block RAM, everything else in LUTs: tags, stations, lines under way."""
    assert found.block_rams == CACHE_BITS // BLOCK_RAM_BITS[family]
    assert found.lut_memories > 0
    assert found.dsps == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_cache(family: str) -> None:
    check_cache(memories("cache", family), family)


@pytest.mark.long
@pytest.mark.parametrize("family", ["xc7", "ecp5"])
def test_cache_of_one_bank(family: str) -> None:
    check_cache(component_memories(Cache(Config(cache_banks=1)), family), family)


@pytest.mark.parametrize("family", FAMILIES)
def test_register_file(family: str) -> None:
    """Four banks, each as wide as four block RAMs of 512 x 72 bits."""
    found = memories("register_file", family)
    assert found.block_rams == 4 * 4 * BLOCK_RAM_BITS["xc7"] // BLOCK_RAM_BITS[family]
    assert found.lut_memories == 0


@pytest.mark.long
def test_no_collision_logic() -> None:
    """Nothing compares the addresses of the stack's ports: 128 entries of 78 bits."""
    assert component_area(DivergenceStack(Config()), "ecp5").luts < 1200
