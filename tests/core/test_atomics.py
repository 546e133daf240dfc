"""Atomics from OpenCL C on the hardware, against NumPy: all operations, counters, histograms, exchanges."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import ATOMICS, Config
from fgpu.sim import Device, MemoryTiming

from ..configurations import ATOMIC

CONFIGS = [
    ATOMIC,
    pytest.param(Config(atomics=ATOMICS), marks=pytest.mark.long),
]
ITEMS, GROUP = 1024, 96
ITEMS -= ITEMS % GROUP


@pytest.fixture(params=CONFIGS, ids=["2 CUs", "1 CU"], scope="module")
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    timing = MemoryTiming(read_latency=(0, 60), write_latency=(0, 60), interleave=True, reorder=True, seed=1)
    with Device(request.param, memory_latency=timing) as device:
        yield device


def launch(device: Device, parameters: str, body: str, *arrays: np.ndarray, items: int = ITEMS) -> list[np.ndarray]:
    source = f"__kernel void k({parameters}) {{ uint i = get_global_id(0); {body} }}"
    buffers = [device.buffer(array) for array in arrays]
    device.launch(compile_opencl(source, config=device.config), global_size=items, local_size=GROUP, args=buffers)
    results = [buffer.read() for buffer in buffers]
    for buffer in buffers:
        buffer.free()
    return results


def words(seed: int, count: int, dtype: type = np.uint32) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 32, count, dtype=np.uint32).view(dtype)


Update = Callable[..., None]


@pytest.mark.parametrize("places", [1, 7, 400])
@pytest.mark.parametrize(("name", "dtype", "update"), [
    ("add", np.int32, np.add.at), ("sub", np.uint32, np.subtract.at), ("max", np.int32, np.maximum.at),
    ("max", np.uint32, np.maximum.at), ("min", np.int32, np.minimum.at), ("min", np.uint32, np.minimum.at),
    ("and", np.uint32, np.bitwise_and.at), ("or", np.int32, np.bitwise_or.at), ("xor", np.uint32, np.bitwise_xor.at),
])
def test_operations(device: Device, name: str, dtype: type, update: Update, places: int) -> None:
    """Every work-item on one of a few words, or of many lines of a small cache."""
    kind = "int" if dtype is np.int32 else "uint"
    table, operands = words(places, places, dtype), words(1, ITEMS, dtype)
    where = (words(2, ITEMS) % places).astype(np.int32)
    golden = table.copy()
    with np.errstate(over="ignore"):
        update(golden, where, operands)
    result = launch(device, f"__global {kind} *table, __global {kind} *operands, __global int *where",
                    f"atomic_{name}(table + where[i], operands[i]);", table, operands, where)[0]
    assert np.array_equal(result, golden)


def test_histogram(device: Device) -> None:
    """Counters of bytes, while the same kernel reads and writes the lines between them."""
    data = words(3, ITEMS)
    counts, copies, _ = launch(
        device, "__global uint *counts, __global uint *copies, __global uint *data",
        "uint x = data[i]; for (int n = 0; n < 4; n++) { atomic_inc(&counts[2 * (x & 255)]); x >>= 8; } "
        "copies[2 * i] = data[i];", np.zeros(512, np.uint32), np.zeros(2 * ITEMS, np.uint32), data)
    assert np.array_equal(counts[::2], np.bincount(data.view(np.uint8), minlength=256))
    assert not counts[1::2].any()
    assert np.array_equal(copies[::2], data)


def test_tickets(device: Device) -> None:
    """Each work-item gets another number, and within a wavefront they ascend."""
    tickets, counter = launch(device, "__global uint *tickets, volatile __global uint *counter",
                              "tickets[i] = atomic_inc(counter);", np.zeros(ITEMS, np.uint32), np.zeros(1, np.uint32))
    assert counter[0] == ITEMS
    assert np.array_equal(np.sort(tickets), np.arange(ITEMS))
    for group in tickets.reshape(-1, GROUP):
        assert (np.diff(group[:64].astype(int)) > 0).all()
        assert (np.diff(group[64:].astype(int)) > 0).all()


def test_exchange_loses_nothing(device: Device) -> None:
    """Every number that was put in is taken out by somebody, or is still there."""
    taken, cell = launch(device, "__global uint *taken, volatile __global uint *cell",
                         "taken[i] = atomic_xchg(cell, i + 1);", np.zeros(ITEMS, np.uint32), np.zeros(1, np.uint32))
    assert np.array_equal(np.sort(np.r_[taken, cell]), np.arange(ITEMS + 1))


def test_compare_and_exchange_until_it_succeeds(device: Device) -> None:
    """A saturating sum with nothing but cmpxchg; a work-item that fails tries again with what it saw."""
    operands = words(5, ITEMS) % 100
    cells, _ = launch(
        device, "volatile __global uint *cells, __global uint *operands",
        "volatile __global uint *cell = cells + (i & 3) * 9; uint old = *cell, seen; "
        "while ((seen = atomic_cmpxchg(cell, old, min(old + operands[i], 9000u))) != old) old = seen;",
        np.zeros(40, np.uint32), operands)
    sums = [int(operands[first::4].sum()) for first in range(4)]
    assert cells[:36:9].tolist() == [min(total, 9000) for total in sums]


def test_publication(device: Device) -> None:
    """Who takes the last ticket sees what all others stored before they took theirs."""
    values = words(6, ITEMS)
    total = launch(
        device, "__global uint *total, volatile __global uint *data, volatile __global uint *counter, "
                "__global uint *values",
        "data[i] = values[i]; if (atomic_inc(counter) == get_global_size(0) - 1) { uint sum = 0; "
        "for (uint n = 0; n < get_global_size(0); n++) sum += data[n]; total[0] = sum; }",
        np.zeros(1, np.uint32), np.zeros(ITEMS, np.uint32), np.zeros(1, np.uint32), values)[0]
    assert total[0] == values.sum(dtype=np.uint32)


def test_throughput(device: Device) -> None:
    """Increments of one word by all: the cache does one a cycle, a compute unit sends three in four cycles."""
    image = compile_opencl("__kernel void k(__global uint *a) { for (int n = 0; n < 8; n++) atomic_inc(a); }",
                           config=device.config)
    counter = device.buffer(1, np.uint32)
    cycles = [device.launch(image, global_size=size, local_size=512, args=[counter]).cycles or 0
              for size in (2048, 8192)]
    assert counter.read()[0] == 8 * (2048 + 8192)
    counter.free()
    rate = 8 * (8192 - 2048) / (cycles[1] - cycles[0])
    print(f"{rate:.3f} operations a cycle")
    assert rate > (0.94 if device.config.compute_units > 1 else 0.7)
