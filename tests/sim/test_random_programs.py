"""Every engine against the scalar interpreter, on random programs."""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fgpu.compiler import Image
from fgpu.sim import Device, GlobalMemory, KernelDescriptor, MemoryTiming

from .random_programs import AREA, INPUT, INPUT_WORDS, programs
from .scalar import run_scalar

SHAPES = [((1,), 1), ((7,), 3), ((64,), 2), ((70,), 1), ((8, 8), 1), ((5, 3, 2), 2), ((130,), 1)]


latencies = st.tuples(st.integers(0, 30), st.integers(0, 60)).map(lambda pair: (pair[0], sum(pair)))
timings = st.builds(
    MemoryTiming, read_latency=latencies, write_latency=latencies, pause_probability=st.sampled_from([0.0, 0.1, 0.5]),
    interleave=st.booleans(), reorder=st.booleans(), seed=st.integers(0, 1000))


def memory_with_input(seed):
    memory = GlobalMemory(size=1 << 21)
    words = np.random.default_rng(seed).integers(0, 1 << 32, INPUT_WORDS, dtype=np.uint32)
    memory.view(INPUT, 4 * INPUT_WORDS)[:] = words.view(np.uint8)
    return memory


@pytest.mark.parametrize(("local_size", "groups"), SHAPES)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck),
          phases=[Phase.reuse, Phase.generate])  # shrinking such programs takes minutes
@given(data=st.data(), seed=st.integers(0, 1 << 31), timing=timings)
def test_engine_computes_what_the_scalar_interpreter_computes(engine, local_size, groups, data, seed, timing):
    program = data.draw(programs(local_size))
    descriptor = KernelDescriptor(
        entry=0, local_size=local_size, global_size=(local_size[0] * groups, *local_size[1:]),
        global_offset=tuple(range(3, 3 + len(local_size))), parameters=(AREA, INPUT, seed, 12))
    expected = memory_with_input(seed)
    instructions = run_scalar(program, descriptor, expected)
    runs = []
    # The wavefront instructions are the functional engine's: each engine diverges in the same way.
    for name in dict.fromkeys([engine, "functional"]):
        with Device(engine=name, memory=memory_with_input(seed), memory_latency=timing) as device:
            runs.append(device.launch_descriptor(Image.from_words(program), descriptor.words()))
            assert np.array_equal(device.memory.bytes, expected.bytes)
    assert {run.work_item_instructions for run in runs} == {instructions}
    assert len({run.instructions for run in runs}) == 1
