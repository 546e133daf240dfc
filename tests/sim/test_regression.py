"""What every engine must compute; run on others than the functional one with FGPU_TEST_ENGINES."""

import numpy as np
import pytest

from fgpu import Config
from fgpu.benchmarks import BENCHMARKS, run_benchmark
from fgpu.compiler import compile_opencl

from . import kernels

SHAPES = [(64, 64), (1, 1), (7, 1), (256, 32), (96, 96), (512, 512), (130, 65), (600, 200), (21, 7)]


@pytest.mark.parametrize("size", [64, 256])
@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmark_result_is_right(engine, name, size):
    record = run_benchmark(name, size, engine=engine, seed=size)
    assert record.failure is None
    assert record.passed
    assert (record.cycles is None) == (engine == "functional")


def test_bitonic_sorts_in_groups_of_32(engine):
    record = run_benchmark("bitonic", 256, engine=engine, group_size=32)
    assert record.passed
    assert record.launches == 36


@pytest.mark.parametrize(("image", "golden"), [
    (kernels.LOOP, kernels.loop_golden),
    (kernels.CALLS, kernels.calls_golden),
    (kernels.TREE, kernels.tree_golden),
    (kernels.SCRATCHPAD, kernels.scratchpad_golden),
], ids=["loop", "calls", "tree", "scratchpad"])
@pytest.mark.parametrize(("global_size", "local_size"), SHAPES)
def test_control_flow(device, image, golden, global_size, local_size):
    out = device.buffer(global_size)
    device.launch(image, global_size=global_size, local_size=local_size, args=[out])
    assert np.array_equal(out.read(), golden(np.arange(global_size)))


def test_global_offset_shifts_the_ids(device):
    out = device.buffer(96)
    device.launch(kernels.LOOP, global_size=64, local_size=32, global_offset=32, args=[out])
    assert np.array_equal(out.read()[32:], np.arange(32, 96) & 15)
    assert not out.read()[:32].any()


@pytest.mark.parametrize(("global_size", "local_size"), [
    ((4, 6, 4), (2, 3, 2)), ((8, 8, 2), (4, 4, 1)), ((5, 5, 5), (5, 5, 5)),
])
def test_runtime_values(device, global_size, local_size):
    offset = (510, 20, 0x0FFF_FFFE)
    golden = kernels.runtime_golden(global_size, local_size, offset, 0xDEADBEEF)
    out = device.buffer(golden.shape, np.uint32)
    device.launch(kernels.RUNTIME, global_size=global_size, local_size=local_size, global_offset=offset,
                  args=[out, 0xDEADBEEF])
    assert np.array_equal(out.read(), golden)


@pytest.mark.parametrize(("global_size", "local_size"), SHAPES)
def test_stores_of_bytes_and_half_words(device, global_size, local_size):
    ids = np.arange(global_size)
    byte_buffer, half_buffer = device.buffer(global_size, np.uint8), device.buffer(global_size, np.uint16)
    device.launch(kernels.NARROW, global_size=global_size, local_size=local_size, args=[byte_buffer, half_buffer])
    assert np.array_equal(byte_buffer.read(), (ids ^ 5).astype(np.uint8))
    assert np.array_equal(half_buffer.read(), (3 * ids).astype(np.uint16))


def test_last_work_item_of_a_wavefront_wins_a_store_conflict(device):
    image = kernels.image(f"{kernels.GLOBAL_ID} lp r3, 0\n sw r1, r3[r0]\n ret")
    out = device.buffer(1)
    image = type(image).from_words(image.words, {"conflict": 0})
    device.launch(image, global_size=64, args=[out])
    assert out.read()[0] == 63


@pytest.mark.parametrize(("threshold", "last"), [(10, 2), (40, 1), (32, 1)])
def test_minority_path_runs_first_and_not_taken_at_a_tie(device, threshold, last):
    # Work-items below the threshold take the branch. Both paths end at a store to the same word.
    image = kernels.image(f"""
    .kernel paths
        lid   r1, 0
        lp    r3, 0
        slti  r2, r1, {threshold}
        bne   r2, r0, taken
        li    r4, 2
        sw    r4, r3[r0]
        ret
    taken:
        li    r4, 1
        sw    r4, r3[r0]
        ret
    """)
    out = device.buffer(1)
    device.launch(image, global_size=64, args=[out])
    assert out.read()[0] == last


def test_several_launches_keep_memory_in_the_cache(device):
    image = compile_opencl("""
        __kernel void twice(__global int *data, int plus)
        { size_t i = get_global_id(0); data[i] = 2 * data[i] + plus; }""")
    data = device.buffer(np.arange(256, dtype=np.int32))
    for turn in range(4):
        device.launch(image, global_size=256, args=[data, turn], initialize=turn == 0, clean=turn == 3)
    expected = np.arange(256)
    for turn in range(4):
        expected = 2 * expected + turn
    assert np.array_equal(data.read(), expected)


def test_host_writes_between_launches_are_seen(device):
    image = compile_opencl("__kernel void inc(__global int *data) { data[get_global_id(0)] += 1; }")
    data = device.buffer(np.zeros(64, np.int32))
    device.launch(image, global_size=64, args=[data])
    data.write(data.read() * 10)
    device.launch(image, global_size=64, args=[data])
    assert (data.read() == 11).all()


@pytest.mark.parametrize("slot", [0, 9, 15])
def test_every_slot_works(device, slot):
    out = device.buffer(64)
    device.launch(kernels.LOOP, global_size=64, args=[out], slot=slot)
    assert np.array_equal(out.read(), np.arange(64) & 15)


def test_sixteen_parameters_arrive(device):
    image = kernels.image(".kernel all\n lp r3, 0\n" + "".join(
        f" lp r4, {i}\n li r5, {i}\n sw r4, r3[r5]\n" for i in range(16)) + " ret")
    out = device.buffer(16, np.uint32)
    device.launch(image, global_size=1, args=[out, *range(1, 16)])
    assert np.array_equal(out.read(), [out.address, *range(1, 16)])


@pytest.mark.parametrize("compute_units", [1, 2])
def test_compute_units_share_the_work(make_device, compute_units):
    device = make_device(Config(compute_units=compute_units))
    out = device.buffer(1024)
    device.launch(kernels.TREE, global_size=1024, local_size=64, args=[out])
    assert np.array_equal(out.read(), kernels.tree_golden(np.arange(1024)))
