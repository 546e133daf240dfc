"""Memories and multipliers land in block RAM, LUT memory and DSP blocks where that is intended."""

import pytest

from fgpu.cache.data_bank import DataBank
from fgpu.config import Config
from fgpu.cu.memory_controller import MemoryController
from fgpu.cu.pe import ProcessingElement
from fgpu.cu.register_file import RegisterFile
from fgpu.synth import component_area

BLOCK_RAM_BITS = {"xc7": 36 * 1024, "ecp5": 18 * 1024}


@pytest.mark.parametrize("family", [pytest.param("xc7", marks=pytest.mark.long), "ecp5"])
def test_processing_element(family: str) -> None:
    """Four multipliers of 16 x 16 bits, and the scratchpad of 32 Kb."""
    area = component_area(ProcessingElement(Config()), family)
    assert area.dsps == 4
    assert area.block_rams == -(-32 * 1024 // BLOCK_RAM_BITS[family])
    assert area.lut_memories == 0


def test_no_scratchpad_no_block_ram() -> None:
    assert component_area(ProcessingElement(Config(scratchpad_size=0)), "ecp5").block_rams == 0


@pytest.mark.long
def test_register_file() -> None:
    """Four banks, each as wide as four block RAMs of 512 x 72 bits; the registers behind them are 3 x 256."""
    area = component_area(RegisterFile())
    assert area.block_rams == 4 * 4
    assert area.lut_memories == 0
    assert area.ffs <= 3 * 256
    assert area.dsps == 0


@pytest.mark.long
def test_memory_controller() -> None:
    """Its FIFOs have 32 phases of some 600 bits, 64 stations and 16 rows: far more than its flip-flops."""
    area = component_area(MemoryController(Config()))
    assert area.block_rams == 0
    assert area.lut_memories > 100
    assert area.ffs < 3000
    assert area.dsps == 0


@pytest.mark.parametrize(("family", "block_rams"), [pytest.param("xc7", 0.5, marks=pytest.mark.long), ("ecp5", 1)])
def test_cache_data_bank(family: str, block_rams: float) -> None:
    """512 words with their dirty bits, 18 Kb."""
    area = component_area(DataBank(Config()), family)
    assert area.block_rams == block_rams
    assert area.lut_memories == 0
