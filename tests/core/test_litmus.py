"""Litmus tests: each sentence of docs/memory-order.md, thousands of times with random delays.

``FGPU_SEED`` repeats a run, ``FGPU_LITMUS`` sets the number of launches of each test.
"""

import os
import random
from collections.abc import Iterator

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.sim import Device, MemoryTiming

from ..configurations import ATOMIC, SLICES
from ..seeds import seed_of_test

LAUNCHES = int(os.environ.get("FGPU_LITMUS") or 6)
N = 1024
GROUP = 64

SOURCE = """
// A work-item's delay: `rounds` passes of a loop that the compiler must keep.
int wait(int rounds) {
    int sum = 0;
    for (int i = 0; i < rounds; i++) sum ^= (sum << 3) + i;
    return sum == 0x13579BD ? 1 : 0;
}

__kernel void store_then_load(__global volatile int *x, __global int *out, __global const int *delays) {
    int i = get_global_id(0);
    x[i] = i;
    int a = x[i];
    x[i] = a + 1 + wait(delays[i]);
    int b = x[i];
    out[i] = b - a;
}

__kernel void overwrite(__global volatile int *x, __global const int *delays) {
    int i = get_global_id(0);
    for (int k = 0; k < 5; k++) x[i] = 10 * i + k;
}

__kernel void sub_word(__global volatile int *x, __global volatile short *h, __global volatile char *c,
                       __global int *out) {
    int i = get_global_id(0);
    x[i] = 0x11223344;
    h[2 * i + 1] = 0x5566;
    c[4 * i] = 0x77;
    int seen = x[i];
    h[2 * i] = -1;
    out[i] = seen ^ x[i];
}

__kernel void same_word(__global volatile int *x) {
    int i = get_global_id(0);
    x[i / 64 * 32] = i;
}

__kernel void message_passing(__global volatile int *data, __global volatile int *flag, __global int *out,
                              __global const int *delays, int pairs, int stride) {
    int i = get_global_id(0);
    int k = i % pairs * stride;
    int late = wait(delays[i]);
    if (i < pairs) {
        data[k] = 1 + late;
        flag[k] = 1;
    } else {
        int f = flag[k];
        int d = data[k];
        out[i - pairs] = f * 2 + d;
    }
}

__kernel void atomic_message(__global volatile int *data, __global volatile int *flag, __global int *out,
                             __global const int *delays, int pairs, int stride) {
    int i = get_global_id(0);
    int k = i % pairs * stride;
    int late = wait(delays[i]);
    if (i < pairs) {
        data[k] = 1 + late;
        atomic_xchg(&flag[k], 1);
    } else {
        int f = atomic_add(&flag[k], 0);
        int d = data[k];
        out[i - pairs] = f * 2 + d;
    }
}

__kernel void store_buffering(__global volatile int *x, __global volatile int *y, __global int *out,
                              __global const int *delays, int pairs, int stride) {
    int i = get_global_id(0);
    int k = i % pairs * stride;
    int late = wait(delays[i]);
    if (i < pairs) {
        x[k] = 1 + late;
        out[i] = y[k];
    } else {
        y[k] = 1 + late;
        out[i] = x[k];
    }
}

__kernel void atomic_counter(__global volatile int *count, __global int *tickets, __global const int *delays) {
    int i = get_global_id(0);
    int late = wait(delays[i]);
    tickets[i] = atomic_add(&count[0], 1 + late);
}

__kernel void increment(__global int *x) {
    x[get_global_id(0)] += 1;
}
"""


@pytest.fixture(scope="module")
def image() -> object:
    return compile_opencl(SOURCE, config=ATOMIC)


@pytest.fixture(params=range(LAUNCHES))
def rng(request: pytest.FixtureRequest) -> random.Random:
    seed = f"{seed_of_test()} {request.param}"
    print(f"FGPU_SEED={seed_of_test()}, launch {request.param}")
    return random.Random(seed)


@pytest.fixture(params=[ATOMIC, pytest.param(SLICES, marks=pytest.mark.ci)], ids=["slice", "4 slices"])
def device(rng: random.Random, request: pytest.FixtureRequest) -> Iterator[Device]:
    low = rng.randrange(20)
    timing = MemoryTiming(
        read_latency=(low, low + rng.randrange(40)), write_latency=(0, rng.randrange(40)),
        pause_probability=rng.choice([0.0, 0.2]), interleave=rng.random() < 0.5, reorder=rng.random() < 0.5,
        seed=rng.randrange(1 << 30))
    with Device(request.param, memory_latency=timing) as device:
        yield device


class Setup:
    """A device with arrays: zeros, and random delays of the work-items."""

    def __init__(self, device: Device, image: object, rng: random.Random) -> None:
        self.device, self.image, self.rng = device, image, rng

    def zeros(self, size: int) -> object:
        return self.device.buffer(np.zeros(size, dtype=np.int32))

    def delays(self, size: int) -> object:
        most = self.rng.choice([1, 4, 30])
        return self.device.buffer(np.array([self.rng.randrange(most) for _ in range(size)], dtype=np.int32))

    def launch(self, name: str, size: int, *args: object, **options: object) -> None:
        self.device.launch(self.image, name, global_size=(size,), local_size=(GROUP,), args=list(args), **options)


@pytest.fixture
def setup(device: Device, image: object, rng: random.Random) -> Setup:
    return Setup(device, image, rng)


def test_store_then_load(setup: Setup) -> None:
    x, out = setup.zeros(N), setup.zeros(N)
    setup.launch("store_then_load", N, x, out, setup.delays(N))
    assert (out.read() == 1).all()


def test_overwrite(setup: Setup) -> None:
    x = setup.zeros(N)
    setup.launch("overwrite", N, x, setup.delays(N))
    assert (x.read() == 10 * np.arange(N) + 4).all()


def test_sub_word(setup: Setup) -> None:
    x, out = setup.zeros(N), setup.zeros(N)
    setup.launch("sub_word", N, x, x.view(np.int16), x.view(np.int8), out)
    assert (x.read() == 0x5566FFFF).all()
    assert (out.read() == 0x55663377 ^ 0x5566FFFF).all()


def test_same_word(setup: Setup) -> None:
    x = setup.zeros(N)
    setup.launch("same_word", N, x)
    assert (x.read()[:N // 64 * 32:32] == np.arange(63, N, 64)).all()


@pytest.mark.parametrize("kernel", ["message_passing", "atomic_message"])
def test_message_passing(setup: Setup, kernel: str) -> None:
    pairs, stride = N // 2, setup.rng.choice([1, 3, 32])
    data, flag, out = setup.zeros(pairs * stride), setup.zeros(pairs * stride), setup.zeros(pairs)
    setup.launch(kernel, N, data, flag, out, setup.delays(N), pairs, stride)
    seen = out.read()
    assert set(seen) <= {0, 1, 3}, "a flag was seen without its data"


def test_store_buffering(setup: Setup) -> None:
    pairs, stride = N // 2, setup.rng.choice([1, 3, 32])
    x, y, out = setup.zeros(pairs * stride), setup.zeros(pairs * stride), setup.zeros(N)
    setup.launch("store_buffering", N, x, y, out, setup.delays(N), pairs, stride)
    seen = out.read()
    assert (seen[:pairs] + seen[pairs:] >= 1).all(), "both loads overtook the other's store"


def test_atomic_counter(setup: Setup) -> None:
    count, tickets = setup.zeros(32), setup.zeros(N)
    setup.launch("atomic_counter", N, count, tickets, setup.delays(N))
    assert count.read()[0] == N
    assert (np.sort(tickets.read()) == np.arange(N)).all()


def test_host_before_and_after_and_kernel_to_kernel(setup: Setup) -> None:
    x = setup.zeros(N)
    expected = np.zeros(N, dtype=np.int32)
    for step in range(6):
        clean = step % 3 == 2
        setup.launch("increment", N, x, clean=clean)
        expected = expected + 1
        if clean:
            assert (x.read() == expected).all()
            expected = np.array([setup.rng.randrange(1 << 30) for _ in range(N)], dtype=np.int32)
            x.write(expected)
