"""The real core on both cycle-accurate engines: equal cycles and counters, and right results."""

from functools import partial

import numpy as np
import pytest

from fgpu.benchmarks.registry import BENCHMARKS
from fgpu.config import Config
from fgpu.core import FGPU
from fgpu.errors import KernelFault
from fgpu.sim.descriptor import KernelDescriptor
from fgpu.sim.device import Device
from fgpu.sim.engine import Launch, MemoryTiming
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.pysim import PysimEngine
from fgpu.sim.verilator import VerilatorEngine
from fgpu.tools.verilog import ports

from ..tiers import quick

TINY = Config.preset("tiny")


def hard(seed: int) -> MemoryTiming:
    return MemoryTiming(read_latency=(0, 60), write_latency=(0, 30), pause_probability=0.1, interleave=True,
                        reorder=True, seed=seed)


def run(engine: str, name: str, size: int, timing: MemoryTiming, config: Config = TINY):
    """Cycles and counters of every launch of a benchmark, whose result is checked."""
    benchmark = BENCHMARKS[name]
    problem, image = benchmark.problem(size), benchmark.image(config)
    with Device(config=config, engine=engine, memory_latency=timing) as device:
        buffers = {key: device.buffer(array) for key, array in problem.arrays.items()}
        runs = [device.launch(image, global_size=step.global_size, local_size=step.local_size,
                              args=[buffers[a] if isinstance(a, str) else a for a in step.args])
                for step in problem.steps]
        for key, array in problem.expected.items():
            np.testing.assert_array_equal(buffers[key].read(), array)
    return [(r.cycles, r.instructions, r.work_item_instructions, r.stats) for r in runs]


@pytest.mark.parametrize("timing", quick([MemoryTiming(), hard(1)], [hard(1)]), ids=["default", "random"])
def test_cycles_are_equal(timing):
    fast, exact = (run(engine, "vec_add", 64, timing) for engine in ("verilator", "pysim"))
    assert fast == exact


@pytest.mark.ci
def test_statistics_cost_no_cycle():
    """The core of a board, without them, takes as many cycles as the one that counts."""
    plain = FGPU(TINY.replace(statistics=False))
    launches = []
    for engine in (VerilatorEngine, partial(PysimEngine, core=lambda _: plain)):
        memory = GlobalMemory(0x1000_0000, 1 << 16)
        memory.words[:64] = np.arange(64)
        image = BENCHMARKS["copy"].image(TINY)
        descriptor = KernelDescriptor(entry=0, global_size=(64,), local_size=(64,),
                                      parameters=(0x1000_0000, 0x1000_1000))
        launch = Launch(program=image.words, descriptor=descriptor.words(), max_cycles=10_000)
        launches.append(engine(TINY, memory).launch(launch))
        assert list(memory.words[1024:1088]) == list(range(64))
    with_statistics, without = launches
    assert without.cycles == with_statistics.cycles
    assert without.instructions == 0 < with_statistics.instructions
    assert not any("probe" in name for name in ports(plain))


def test_buckets_add_up():
    for cycles, instructions, work_items, stats in run("verilator", "fir", 256, hard(2)):
        buckets = ("no_wavefront", "issue", "execute", "fetch", "branch", "memory_read", "write_pressure")
        assert sum(stats[f"cu0.{bucket}"] for bucket in buckets) == cycles
        assert work_items == 64 * instructions
        assert stats["cache.axi_read"] == stats["axi0.read_beats"]
        assert stats["cache.axi_write"] == stats["axi0.write_beats"]


@pytest.mark.parametrize("seed", range(5))
def test_random_memory_timing(seed):
    run("verilator", "bitonic", 256, hard(seed))


def test_access_outside_memory():
    with Device(config=TINY) as device:
        image = BENCHMARKS["copy"].image(TINY)
        target = device.buffer(64)
        with pytest.raises(KernelFault, match=r"0x40000000 .* is outside memory"):
            device.launch(image, global_size=64, args=[0x4000_0000, target])


@pytest.mark.long
@pytest.mark.parametrize("units", [1, 2])
@pytest.mark.parametrize("name", ["copy", "fir", "bitonic"])
def test_cycles_are_equal_at_length(name, units):
    config = Config(compute_units=units)
    fast, exact = (run(engine, name, 256, hard(units), config) for engine in ("verilator", "pysim"))
    assert fast == exact
