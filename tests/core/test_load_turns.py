"""Loads in turn, where wavefronts take each other's lines out of the cache: programs that read rows."""

from collections.abc import Iterator

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.sim import Device, Run

WORDS = 64
"""Of a row; each work-item reads its own."""
SOURCE = """
kernel void sums(global const int *a, global int *y) {
    int i = get_global_id(0), sum = 0;
    for (int j = 0; j < WORDS; j++) sum += a[i * WORDS + j];
    y[i] = sum;
}

kernel void scans(global const int *a, global int *y) {     // with a barrier for each word
    local int last;
    int i = get_global_id(0), sum = 0;
    for (int j = 0; j < WORDS; j++) {
        int word = a[i * WORDS + j];
        if (get_local_id(0) == (j * 37) % get_local_size(0)) last = word;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += word ^ last;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[i] = sum;
}

kernel void waits(global const int *a, global int *y, volatile global int *flags) {
    int i = get_global_id(0), sum = 0, group = get_group_id(0);     // the first wavefront waits for the last one
    if (get_local_id(0) < 64) while (!flags[32 * group]) sum = 0;
    for (int j = 0; j < WORDS; j++) sum += a[i * WORDS + j];
    y[i] = sum;
    if (get_local_id(0) == get_local_size(0) - 1) flags[32 * group] = 1;
}

kernel void streams(global const int *a, global int *y, int words, int rounds) {    // rows, then whole lines
    int i = get_global_id(0), sum = 0;
    for (int j = 0; j < words; j++) sum += a[i * words + j];
    for (int j = 0; j < rounds; j++) sum += a[j * get_global_size(0) + i];
    y[i] = sum;
}
""".replace("WORDS", str(WORDS))


CONFIGS = [
    Config(),
    # Its cache has lines for two wavefronts, or barely: one unit loads at a time.
    pytest.param(Config(compute_units=2, cache_size=16), marks=pytest.mark.ci),
]


@pytest.fixture(params=CONFIGS, ids=["1 CU", "2 CUs"], scope="module")
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    with Device(request.param, memory_latency=(0, 20)) as device:
        yield device


def run(device: Device, kernel: str, rows: int, local_size: int) -> tuple[Run, np.ndarray, np.ndarray]:
    """The launch, what was read, and what came out."""
    a = np.random.default_rng(rows).integers(-1 << 20, 1 << 20, (rows, WORDS), dtype=np.int32)
    y, buffers = device.buffer(rows), [device.buffer(a)]
    buffers += [device.buffer(32 * (rows // local_size))] if kernel == "waits" else []
    launched = device.launch(compile_opencl(SOURCE, config=device.config)[kernel], global_size=rows,
                             local_size=local_size, args=[buffers[0], y, *buffers[1:]])
    out = y.read()
    for buffer in (y, *buffers):
        buffer.free()
    return launched, a, out


@pytest.mark.parametrize("local_size", [64, 96, 384])
def test_lines_stay_until_they_are_used_up(device: Device, local_size: int) -> None:
    """Without turns every second word costs a line, or each."""
    launched, a, out = run(device, "sums", 1920 - 1920 % local_size, local_size)
    assert np.array_equal(out, a.sum(axis=1, dtype=np.int32))
    assert launched.stats is not None
    assert launched.stats["cache.read_miss"] < a.size / 5


@pytest.mark.parametrize("local_size", [64, 192, 512])
def test_barriers(device: Device, local_size: int) -> None:
    """Who waits at one gives its turn to those that it waits for."""
    _, a, out = run(device, "scans", 1536, local_size)
    lasts = np.array([a.reshape(-1, local_size, WORDS)[:, j * 37 % local_size, j] for j in range(WORDS)]).T
    golden = (a.reshape(-1, local_size, WORDS) ^ lasts[:, None, :]).sum(axis=2, dtype=np.int32)
    assert np.array_equal(out, golden.ravel())


def test_who_spins_gives_its_turn_up(device: Device) -> None:
    """A wavefront that reads a flag again and again, until another one has read its rows."""
    _, a, out = run(device, "waits", 2048, 256)
    assert np.array_equal(out, a.sum(axis=1, dtype=np.int32))


def test_who_reads_whole_lines_later_loads_with_all_others(device: Device) -> None:
    """Rounds of such reads cost little more than without rows before them."""
    rows = 512
    a = np.random.default_rng(rows).integers(-1 << 20, 1 << 20, (256, rows), dtype=np.int32)
    source, y = device.buffer(a), device.buffer(rows)
    kernel = compile_opencl(SOURCE, config=device.config)["streams"]
    cycles = {}
    for words in (0, WORDS):
        for rounds in (64, 256):
            launched = device.launch(kernel, global_size=rows, local_size=64, args=[source, y, words, rounds])
            cycles[words, rounds] = launched.cycles
            golden = a.ravel()[:rows * words].reshape(rows, words).sum(axis=1) + a[:rounds].sum(axis=0)
            assert np.array_equal(y.read(), golden)
    for buffer in (source, y):
        buffer.free()
    assert cycles[WORDS, 256] - cycles[WORDS, 64] < 1.2 * (cycles[0, 256] - cycles[0, 64])


@pytest.mark.ci
def test_streams_never_take_turns() -> None:
    """Their loads are of parts of lines, too, where wavefronts read half a line, or stations are full; and of one
    word, which mostly misses, where 64 words begin anywhere."""
    source = """
    kernel void adds(global const int *a, global const int *b, global int *c) {
        int i = get_global_id(0);
        c[i] = a[i] + b[i];
    }
    kernel void copies(global const char *a, global char *b) { int i = get_global_id(0); b[i] = a[i]; }
    kernel void filters(global const int *a, global int *b) {
        int i = get_global_id(0), sum = 0;
        for (int j = 0; j < 12; j++) sum += a[i + j];
        b[i] = sum;
    }
    """
    words = np.random.default_rng(1).integers(-1 << 30, 1 << 30, 1 << 15, dtype=np.int32)
    chars = words.view(np.int8)[:1 << 16]
    many = np.tile(words, 2)
    golden = np.lib.stride_tricks.sliding_window_view(many, 12).sum(axis=1, dtype=np.int32)[:many.size - 64]
    cycles = []
    for config in (Config(), Config(cache_conscious=False)):
        program = compile_opencl(source, config=config)
        with Device(config) as device:
            sums, copy = device.buffer(np.zeros_like(words)), device.buffer(np.zeros_like(chars))
            filtered = device.buffer(golden.size)
            launches = [
                device.launch(program["adds"], global_size=words.size, local_size=64,
                              args=[device.buffer(words), device.buffer(words), sums]),
                device.launch(program["copies"], global_size=chars.size, local_size=64,
                              args=[device.buffer(chars), copy]),
                device.launch(program["filters"], global_size=golden.size, local_size=64,
                              args=[device.buffer(many), filtered]),
            ]
            assert np.array_equal(sums.read(), 2 * words)
            assert np.array_equal(copy.read(), chars)
            assert np.array_equal(filtered.read(), golden)
        cycles.append([launch.cycles for launch in launches])
    assert cycles[0] == cycles[1]
