"""What a host is told while a kernel runs, and which waveforms it gets."""

import re
from itertools import pairwise

import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.errors import LaunchError
from fgpu.sim import Device, Trace
from fgpu.sim.functional import engine as functional
from fgpu.sim.testbench import driver
from fgpu.sim.verilator import _path
from fgpu.sim.verilator_build import _units

SPIN = """
    __kernel void spin(__global int *out, int n) {
        size_t i = get_global_id(0);
        int sum = i;
        for (int k = 0; k < n; k++) sum = sum * 1664525 + out[(i + k) % 500];
        out[i] = sum;
    }"""


@pytest.fixture
def often(monkeypatch):
    """Progress is told whenever it can be."""
    monkeypatch.setattr(driver, "_SLICE_SECONDS", 0)
    monkeypatch.setattr(functional, "TOLD_SECONDS", 0)


@pytest.mark.parametrize("engine", ["functional", "verilator"])
def test_progress_of_a_launch_in_parts(often, engine):
    spin, told = compile_opencl(SPIN)["spin"], []
    with Device(engine=engine, progress=told.append) as device:
        run = spin(device.buffer(521), 5, global_size=521)
    assert run.parts == 2
    for one, other in pairwise(told):
        assert one.instructions <= other.instructions
        assert one.wavefronts <= other.wavefronts
        assert one.seconds < other.seconds
        assert engine == "functional" or one.cycles < other.cycles
    assert {progress.all_wavefronts for progress in told} == {9}
    assert 0 < told[0].wavefronts <= told[-1].wavefronts == 9
    assert 0 < told[-1].instructions <= run.instructions
    if engine == "verilator":
        assert len(told) >= run.cycles // 1000 - 1
        assert told[-1].cycles <= run.cycles
        with Device(engine=engine) as device:
            assert spin(device.buffer(521), 5, global_size=521).cycles == run.cycles


@pytest.mark.parametrize("engine", ["functional", "verilator"])
def test_an_exception_ends_the_launch(often, engine):
    def stop(progress):
        raise KeyboardInterrupt

    spin = compile_opencl(SPIN)["spin"]
    with Device(engine=engine, progress=stop) as device:
        with pytest.raises(KeyboardInterrupt):
            spin(device.buffer(500), 100, global_size=64)


@pytest.mark.parametrize("window", [(5, 5), (-1, 3), (1,), (0.5, 3), (0, 1 << 63)])
def test_bad_windows(window):
    with pytest.raises(LaunchError, match="window of a trace must be two cycles"):
        Trace("x.vcd", window=window)


@pytest.mark.parametrize("options", [{"window": (1, 2)}, {"units": "cu0"}])
def test_only_verilator_chooses_what_to_trace(tmp_path, options):
    with pytest.raises(LaunchError, match="need engine='verilator'"):
        Device(engine="pysim", trace=Trace(tmp_path / "x.vcd", **options))


VERILOG = r"""
module fgpu(clk);
  \fgpu.core  core (
    .clk(clk)
  );
module \fgpu.core (clk);
  \fgpu.cu  cu0 (
  \fgpu.cu  cu1 (
module \fgpu.cu (clk);
  \fgpu.cu.memory$86  \memory$86  (
"""


def test_units_are_named_as_in_the_design():
    there = _units(VERILOG)
    assert there == ["core", "core.cu0", "core.cu0.memory$86", "core.cu1", "core.cu1.memory$86"]
    assert _path("cu1.memory", there) == "core.cu1.memory$86"
    with pytest.raises(LaunchError, match=r"no unit 'cu2' to trace; there are cu0, cu1$"):
        _path("cu2", there)
    with pytest.raises(LaunchError, match=r"no unit 'cu0.x' to trace; there are cu0\.memory$"):
        _path("cu0.x", there)


@pytest.mark.ci
def test_waveforms_of_some_cycles_and_units(tmp_path):
    """A model with waveforms is built for it."""
    spin, path = compile_opencl(SPIN)["spin"], tmp_path / "x.vcd"
    with Device(Config.preset("tiny"), trace=Trace(path, window=(100, 150), units=("dispatcher",))) as device:
        cycles = [spin(device.buffer(500), 1, global_size=64).cycles for _ in range(2)]
    assert min(cycles) > 150
    text = path.read_text()
    assert "local_ids" in text
    assert 100 < text.count("$var") < 2000
    times = sorted({int(time) // 10 for time in re.findall(r"^#(\d+)", text, re.MULTILINE)})
    assert 90 <= len(times) <= 102
    jumps = [later - sooner for sooner, later in pairwise(times) if later - sooner > 1]
    assert len(jumps) == 1
