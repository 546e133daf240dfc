"""Models in parts: the same as in one piece, on parts of a few lines and on the FGPU itself."""

import hashlib
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fgpu.benchmarks.tree_reduction import TREE_REDUCTION
from fgpu.compiler import compile_opencl
from fgpu.config import ATOMICS, Config
from fgpu.core import FGPU
from fgpu.errors import KernelAccessError, SimulationTimeout
from fgpu.sim import Device, LocalMemory
from fgpu.sim.engines import memory_timing
from fgpu.sim.testbench import abi
from fgpu.sim.testbench.build import find_compiler
from fgpu.sim.verilator_build import build_model

from ..configurations import ATOMIC, LOCAL
from ..core.stepwise import ABORT, START, StepwiseEngine

_HEADER = (Path(__file__).parents[2] / "sim" / "testbench" / "split.h").read_text()
_PARTS = Path(__file__).with_name("split_parts.cpp")
_LEAST_REST = 25_000    # of 300,000 cycles of units


# As much of Verilator as the header wants; its own takes a second to compile.
_VERILATED = """
#include <cstddef>
#include <cstdint>
using EData = uint32_t;
class VerilatedContext;
template <std::size_t WORDS> struct VlWide { EData *data(); const EData *data() const; };
"""


def run_parts(folder: Path, header: str, loop_at: int = 0) -> str:
    (folder / "split.h").write_text(header)
    (folder / "verilated.h").write_text(_VERILATED)
    program = folder / "parts"
    find_compiler().compile([(_PARTS, ("-O1", "-Wall", "-Wextra"))], program, flags=[f"-I{folder}"])
    return subprocess.run([program, str(loop_at)], capture_output=True, text=True, check=True).stdout


def rested(output: str) -> int:
    found = re.fullmatch(r"equal, with (\d+) cycles of rest\n", output)
    assert found, output
    return int(found[1])


def test_parts_are_like_the_whole_and_rest(tmp_path):
    assert rested(run_parts(tmp_path, _HEADER)) > 5000


@pytest.mark.parametrize(("right", "wrong"), [
    ("round = 0; again; round++", "round = 0; again && round < 1; round++"),
    ("if (Binding::is_given(i, core, *part.unit) && part.unit->rst == core.rst)", "if (true)"),
    (" && part.unit->rst == core.rst", ""),
    ("part.missed % PERIOD", "0"),
    ("PERIOD = Binding::PERIOD", "PERIOD = Binding::PERIOD / 2"),
    ("std::memcmp(part.before.data(), state, sizeof(Root)) == 0", "true"),
    ("changed = Binding::see(*part.unit, part.seen)", "changed = false"),
], ids=["rounds", "inputs", "reset", "missed cycles", "period", "state", "observed"])
def test_faults_are_found(right, wrong, tmp_path):
    assert _HEADER.count(right) == 1
    with pytest.raises(AssertionError):
        assert rested(run_parts(tmp_path, _HEADER.replace(right, wrong))) > _LEAST_REST


def test_a_loop_through_both_sides_is_told(tmp_path):
    assert re.fullmatch(r"does not settle in cycle \d+\n", run_parts(tmp_path, _HEADER, loop_at=1000))


_SOURCE = """
kernel void turns(global int *out, int n) {
    int i = get_global_id(0), turns = 0;
    for (int k = i * 7 & 31; k > 0; k -= 1 + (k & i & 1)) turns += k & 1 ? 3 : n;
    out[i] = turns;
}
kernel void gather(global const int *in, global int *out, int n) {
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 4; k++) sum += in[i * 37 + k * 129 & n - 1];
    out[i] = sum;
}
kernel void stray(global int *out) { out[get_global_id(0) * 4096] = 1; }
"""
_FLOATS = """
kernel void floats(global const int *in, global float *out) {
    int i = get_global_id(0);
    float x = in[i];
    for (int k = 0; k < 3; k++) x = x * 0.5f + 3.0f / (x + 1.0f);
    out[i] = x;
}
"""
_ATOMIC = "kernel void count(global const int *in, global int *bins) { atomic_inc(&bins[in[get_global_id(0)] & 7]); }"
_FLOAT_OPS = frozenset({"fadd", "fmul", "fdiv"})
_ITEMS = 1024


def everything(config: Config, *, split: bool, power_up: int) -> tuple[list[Any], int]:
    """All that can be known of some launches, and for how many cycles compute units rested meanwhile."""
    told: list[Any] = []
    parts = {_SOURCE: True, _FLOATS: bool(config.float_ops), _ATOMIC: bool(config.atomics),
             TREE_REDUCTION: bool(config.local_memory)}
    with Device(config, engine="verilator") as device:
        engine = StepwiseEngine(config, device.memory, memory_timing((10, 60)), split=split, power_up=power_up)
        device._engine = engine
        image = compile_opencl("".join(text for text, there in parts.items() if there), config=device.config)
        numbers = device.buffer(np.random.default_rng(1).integers(0, 1000, _ITEMS, dtype=np.int32))
        out = device.buffer(_ITEMS)

        def held() -> str:
            return hashlib.sha256(device.memory.bytes).hexdigest()

        def launch(kernel: str, items: int, *arguments: Any, local: int = 64, **options: Any) -> None:
            run = device.launch(image, kernel, global_size=items, local_size=local, args=arguments, profile=True,
                                record=True, **options)
            assert run.profile is not None
            assert run.events is not None
            told.append((kernel, run.cycles, run.stats, run.profile.entries.tobytes(), run.events.entries.tobytes(),
                         held()))

        launch("turns", _ITEMS, out, 5)
        launch("gather", 64, numbers, out, _ITEMS)              # one compute unit works
        launch("gather", _ITEMS, numbers, out, _ITEMS, clean=False)
        launch("turns", 70, out, 9, local=35, initialize=True)
        if config.float_ops:
            launch("floats", _ITEMS // 2, numbers, device.buffer(_ITEMS, np.float32))
        if config.atomics:
            launch("count", _ITEMS, numbers, out)
        if config.local_memory:
            launch("reduce", _ITEMS // 2, numbers, out, LocalMemory(512), local=128)
        for words in ((abi.OP_START, START, 1), (abi.OP_WRITE, ABORT, 1)):      # of the launch before, once more
            engine.run_for(700, words)
            told.append(held())
        engine.run_for(5000)
        engine.run_for(600, (abi.OP_START, START, 1))
        engine.reset()                                          # in mid-launch
        engine._written.clear()
        launch("turns", _ITEMS, out, 3)
        with pytest.raises(SimulationTimeout) as late:
            launch("turns", _ITEMS, out, 5, max_cycles=900)
        with pytest.raises(KernelAccessError) as stray:
            launch("stray", _ITEMS, out)
        told += [str(late.value), str(stray.value)]
        launch("turns", 64, out, 7)                             # after a power cycle
        assert engine._model is not None
        return told, engine._library.model_rested(engine._model)


@pytest.mark.ci
@pytest.mark.parametrize("config", [
    ATOMIC.replace(float_ops=_FLOAT_OPS, float_lanes={"fdiv": 1}), LOCAL,
    pytest.param(Config(compute_units=8, local_memory=8), marks=pytest.mark.long),
    pytest.param(Config(compute_units=8, local_memory=8, atomics=ATOMICS, float_ops=_FLOAT_OPS),
                 marks=pytest.mark.long),
], ids=["2 CUs, floats", "1 CU", "8 CUs", "8 CUs, floats"])
def test_split_is_like_whole(config: Config) -> None:
    """Cycles, counters, profiles, events, memory and messages, with compute units that rest and wake."""
    for power_up in (0, 9):
        split, rested = everything(config, split=True, power_up=power_up)
        whole, never = everything(config, split=False, power_up=power_up)
        assert rested > 0
        assert never == 0
        assert split == whole


def test_only_the_fgpu_can_be_split() -> None:
    for options in ({"core": FGPU}, {"trace": True}):
        with pytest.raises(ValueError, match="only the FGPU itself, without waveforms"):
            build_model(Config(compute_units=2), split=True, **options)


def test_a_fork_runs_a_model_of_its_own():
    """The threads of a model stay behind in a fork: to run it there, or to end it, would wait for them forever."""
    image = compile_opencl("kernel void add(global int *p, int n) { p[get_global_id(0)] += n; }")
    with Device(ATOMIC, engine="verilator") as device:
        out = device.buffer(np.zeros(256, np.int32))
        device.launch(image, "add", global_size=256, args=(out, 3))
        child = os.fork()
        if not child:
            signal.alarm(60)
            status = 1
            try:
                device.launch(image, "add", global_size=256, args=(out, 4))
                device.close()
                status = 0 if (out.read() == 7).all() else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        device.launch(image, "add", global_size=256, args=(out, 5))
        assert (out.read() == 8).all()
