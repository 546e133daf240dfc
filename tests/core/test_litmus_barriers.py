"""Litmus tests of barriers: behind one, every work-item of a work-group sees what the others did before it, in global
and in local memory, and nothing of what they do behind it.

Wavefronts come to the barriers at random times, from memory that takes random times.
"""

import random

import numpy as np
import pytest

from fgpu.compiler import Image, compile_opencl
from fgpu.config import ATOMICS, Config
from fgpu.sim import Buffer, Device, MemoryTiming

from ..configurations import ATOMIC, SLICES, TWO_PORTS
from ..seeds import seed_of_test
from ..tiers import quick
from .test_litmus import LAUNCHES, N

CONFIGS = {
    "2 CUs": ATOMIC, "local memory": ATOMIC.replace(local_memory=64),
    "4 slices": SLICES, "2 ports": TWO_PORTS.replace(cram_size=8, atomics=ATOMICS),
    "4 ports": Config(compute_units=4, axi_ports=4, axi_data_width=32, cache_banks=2, cache_size=16, cache_line=64,
                      cache_ways=4, cu_stations=24, atomics=ATOMICS, local_memory=32)}
TIERS = {"2 CUs": [], "local memory": [pytest.mark.ci], "4 slices": [pytest.mark.ci],
         "2 ports": [pytest.mark.long], "4 ports": [pytest.mark.long]}
ROUNDS = 4

SOURCE = """
#define BOTH (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

// A wavefront's delay: the compiler must keep the loop.
int wait(int rounds) {
    int sum = 0;
    for (int i = 0; i < rounds; i++) sum ^= (sum << 3) + i;
    return sum == 0x13579BD ? 1 : 0;
}

// In each round, stores that others see behind the barrier; their loads see nothing of the next round.
#define MESSAGES(T) \\
__kernel void messages_##T(__global volatile T *x, __global uint *out, __global const int *delays, int rounds, \\
                           int distance) { \\
    __local volatile T t[512]; \\
    int i = get_global_id(0), l = get_local_id(0), n = get_local_size(0), first = i - l; \\
    uint wrong = 0; \\
    for (int r = 0; r < rounds; r++) { \\
        int late = wait(delays[i * 2 + (r & 1)]), other = (l + distance * (r + 1)) % n; \\
        x[i] = l + 3 * r + late; \\
        t[l] = 5 * l + r; \\
        barrier(BOTH); \\
        wrong |= x[first + other] != (T)(other + 3 * r); \\
        wrong |= (t[other] != (T)(5 * other + r)) << 1; \\
        barrier(BOTH); \\
    } \\
    out[i] = wrong; \\
}
MESSAGES(uchar) MESSAGES(ushort) MESSAGES(uint) MESSAGES(ulong)

// Loads whose data comes late, of what others overwrite behind the barrier.
__kernel void loads(__global volatile uint *x, __global uint *out, __global const int *delays, int rounds,
                    int distance) {
    int i = get_global_id(0), l = get_local_id(0), n = get_local_size(0), first = i - l;
    uint wrong = 0;
    x[i] = l;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (int r = 0; r < rounds; r++) {
        int a = (l + distance) % n, b = (l + 64) % n, c = n - 1 - l, d = (l + 1) % n;
        uint va = x[first + a], vb = x[first + b], vc = x[first + c], vd = x[first + d];
        barrier(CLK_GLOBAL_MEM_FENCE);
        x[i] = l + 1000 * (r + 1);
        wrong |= va != a + 1000 * r || vb != b + 1000 * r || vc != c + 1000 * r || vd != d + 1000 * r;
        wrong |= wait(delays[i * 2 + (r & 1)]);
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    out[i] = wrong;
}

// All operations before the barrier count behind it.
__kernel void atomics(__global volatile uint *x, __global uint *out, __global const int *delays, int rounds,
                      int distance) {
    __local volatile uint sum;
    int i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
    __global volatile uint *count = x + (i - l);
    uint wrong = 0, total = n * (n + 1) / 2;
    if (l == distance % n) sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = 0; r < rounds; r++) {
        int late = wait(delays[i * 2 + (r & 1)]);
        atomic_add(count, l + 1 + late);
        atomic_add(&sum, l + 1);
        barrier(BOTH);
        wrong |= *count != total * (r + 1);
        wrong |= (sum != total * (r + 1)) << 1;
        barrier(BOTH);
    }
    out[i] = wrong;
}
"""
KERNELS = ["messages_uchar", "messages_ushort", "messages_uint", "messages_ulong", "loads", "atomics"]


@pytest.fixture(scope="module", params=[pytest.param(name, marks=TIERS[name]) for name in CONFIGS])
def config(request: pytest.FixtureRequest) -> Config:
    return CONFIGS[request.param]


@pytest.fixture(scope="module")
def images(config: Config) -> dict[str, Image]:
    return {name: compile_opencl(SOURCE, config=config, kernels=[name]) for name in KERNELS}


def random_timing(rng: random.Random) -> MemoryTiming:
    low = rng.choice([0, 10, 60])
    return MemoryTiming(read_latency=(low, low + rng.randrange(40)), write_latency=(0, rng.choice([1, 20, 100])),
                        pause_probability=rng.choice([0.0, 0.2]), interleave=rng.random() < 0.5,
                        reorder=rng.random() < 0.5, seed=rng.randrange(1 << 30))


def delays(device: Device, rng: random.Random) -> Buffer:
    """Two for each work-item, those of a wavefront alike."""
    most = rng.choice([1, 10, 60])
    return device.buffer(np.repeat([rng.randrange(most) for _ in range(N // 32)], 64).astype(np.int32))


@pytest.mark.parametrize("kernel", quick(KERNELS, ["messages_uint"]))
def test_barriers(config: Config, images: dict[str, Image], kernel: str) -> None:
    for launch in range(LAUNCHES):
        rng = random.Random(f"{seed_of_test()} {launch}")
        group, distance = rng.choice([128, 256, 512]), rng.choice([1, 63, 64, 65, 127])
        with Device(config, memory_latency=random_timing(rng)) as device:
            x, out = device.buffer(np.zeros(2 * N, np.uint32)), device.buffer(np.ones(N, np.uint32))
            device.launch(images[kernel], kernel, global_size=N, local_size=group,
                          args=[x.address, out, delays(device, rng), ROUNDS, distance])
            wrong = out.read()
        memory = "global" if (wrong & 1).any() else "local"
        assert not wrong.any(), f"FGPU_SEED={seed_of_test()}, {launch}: {memory} memory, {np.flatnonzero(wrong)}"
