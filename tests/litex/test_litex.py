"""The core in a SoC of LiteX: its Verilog, and a program of its RISC-V processor that runs a kernel."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("litex", reason="needs LiteX: pip install 'fgpu[litex]'")

EXAMPLE = Path(__file__).parents[2] / "examples" / "litex"


@pytest.mark.ci
def test_its_processor_runs_a_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example, as a user runs it; with a bus of LiteX's that is as wide as the core's ports."""
    monkeypatch.setattr(sys, "path", [str(EXAMPLE), *sys.path])
    import soc

    from fgpu.config import Config

    printed = soc.main(tmp_path, Config.preset("tiny", axi_data_width=32, cache_line=64))
    assert printed.startswith("FGPU in LiteX: right 0")
