"""What Yosys makes of the cache."""

import pytest

from fgpu.cache.cache import Cache
from fgpu.config import Config
from fgpu.synth import component_area


@pytest.mark.long
@pytest.mark.parametrize("banks", [1, 8])
def test_data_ram_is_block_ram(banks: int) -> None:
    """16 KiB and their dirty bits in block RAM, everything else in LUTs."""
    area = component_area(Cache(Config(cache_banks=banks)))
    print(f"{banks} banks: {area}")
    assert area.block_rams == 4
    assert area.luts + 4 * area.lut_memories < 4000
