"""Models whose floating-point units have no clock while nothing is in them are like those with one clock."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.sim import Device
from fgpu.sim.engine import Trace
from fgpu.tools.verilog import to_verilog

WIDE = Config.preset("tiny", float_ops=frozenset({"fadd", "fmul", "fdiv"}))
NARROW = WIDE.replace(float_lanes={"fdiv": 1})
_ITEMS = 512
_TURNS = 300    # so long that nothing is left in the units
_SOURCE = """
kernel void pauses(global const float *in, global const uint *turns, global float *out) {
    size_t i = get_global_id(0);
    float x = in[i];
    for (int k = 0; k < 3; k++) {
        uint left = turns[(i >> 6) * 3 + k];
        while (left) left -= 1 + (left >> 31);
        x = k == 1 ? x * 0.75f : 1.0f / (x + 1.5f);
    }
    out[i] = x;
}
"""


def outcome(config: Config, folder: Path, turns: np.ndarray, *, gated: bool) -> list[Any]:
    """What comes of some launches: a model with waveforms has one clock."""
    rng = np.random.default_rng(7)
    trace = None if gated else Trace(folder / "floats.vcd", window=(0, 1), units=("dispatcher",))
    told: list[Any] = []
    with Device(config, engine="verilator", trace=trace) as device:
        image = compile_opencl(_SOURCE, config=config)
        numbers = rng.random(_ITEMS, np.float32)
        out = device.buffer(_ITEMS, np.float32)
        expected = np.float32(1) / (numbers + np.float32(1.5)) * np.float32(0.75)
        expected = np.float32(1) / (expected + np.float32(1.5))
        for items in (_ITEMS, 3, 64, _ITEMS):
            run = device.launch(image, "pauses", global_size=items, local_size=min(items, 64),
                                args=(device.buffer(numbers), device.buffer(turns), out))
            assert out[:items].tobytes() == expected[:items].tobytes()
            told.append((run.cycles, run.stats))
    return told


@pytest.mark.ci
@pytest.mark.parametrize("config", [WIDE, pytest.param(NARROW, marks=pytest.mark.long)], ids=["wide", "narrow"])
def test_cycles_and_results_are_those_of_one_clock(config: Config, tmp_path: Path) -> None:
    """Wavefronts compute at once, one after the other with others' operations before and behind, and alone."""
    turns = np.random.default_rng(5).choice([0, 1, 5, 20, 40, _TURNS], _ITEMS // 64 * 3).astype(np.uint32)
    assert outcome(config, tmp_path, turns, gated=True) == outcome(config, tmp_path, turns, gated=False)


@pytest.mark.ci
def test_only_models_are_gated() -> None:
    """Hardware has one clock."""
    assert "negedge" not in to_verilog(NARROW)
    assert "negedge" in to_verilog(NARROW, gated=True)
    assert "negedge" not in to_verilog(Config.preset("tiny"), gated=True)
