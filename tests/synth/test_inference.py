"""Memories and multipliers land in block RAM, LUT memory and DSP blocks where that is intended."""

import pytest

from fgpu.cache.cache import Cache
from fgpu.config import Config
from fgpu.cu.divergence import DivergenceUnit
from fgpu.cu.memory_controller import MemoryController
from fgpu.cu.pe import ProcessingElement
from fgpu.cu.register_file import RegisterFile
from fgpu.synth import component_area, component_memories

FAMILIES = ["xc7", pytest.param("ecp5", marks=pytest.mark.long)]
BLOCK_RAM_BITS = {"xc7": 36 * 1024, "ecp5": 18 * 1024}
CACHE_BITS = 9 * 16 * 1024      # each byte with its dirty bit


@pytest.mark.parametrize("family", FAMILIES)
def test_processing_element(family: str) -> None:
    """Four multipliers of 16 x 16 bits, and the scratchpad of 32 Kb."""
    area = component_memories(ProcessingElement(Config()), family)
    assert area.dsps == 4
    assert area.block_rams == -(-32 * 1024 // BLOCK_RAM_BITS[family])
    assert area.lut_memories == 0


def test_sums_are_in_dsp_blocks() -> None:
    """Of the four sums of a multiplication, 33 to 35 bits each, one is in LUTs."""
    area = component_area(ProcessingElement(Config(scratchpad_size=0)))
    assert area.luts < 300
    assert area.block_rams == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_memory_controller(family: str) -> None:
    """Its FIFOs have 32 phases of some 600 bits, 64 stations and 16 rows: far more than its flip-flops."""
    area = component_memories(MemoryController(Config()), family)
    assert area.dsps == 0
    if family == "xc7":
        assert area.block_rams == 0
        assert 100 < area.lut_memories < 200


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("banks", [8, pytest.param(1, marks=pytest.mark.long)])
def test_cache(family: str, banks: int) -> None:
    """Data in block RAM, everything else in LUTs: tags, stations, lines under way."""
    area = component_memories(Cache(Config(cache_banks=banks)), family)
    assert area.block_rams == CACHE_BITS // BLOCK_RAM_BITS[family]
    assert area.lut_memories > 0
    assert area.dsps == 0


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_register_file(family: str) -> None:
    """Four banks, each as wide as four block RAMs of 512 x 72 bits."""
    area = component_memories(RegisterFile(), family)
    assert area.block_rams == 4 * 4 * BLOCK_RAM_BITS["xc7"] // BLOCK_RAM_BITS[family]
    assert area.lut_memories == 0


@pytest.mark.long
def test_no_collision_logic() -> None:
    """Nothing compares the addresses of the stack's ports: 128 entries of 78 bits."""
    assert component_area(DivergenceUnit(Config()), "ecp5").luts < 1200
