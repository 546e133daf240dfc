"""The division of an index space into work-groups and launches where the host leaves it to the device."""

import math
import warnings

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.errors import PerformanceWarning, SimulationTimeout
from fgpu.sim import Device
from fgpu.sim.index_space import Part, divide, shortfall

WHERE = """
    __kernel void where_(__global uint *ids, __global uint *sizes) {
        size_t x = get_global_id(0), y = get_global_id(1), i = x + get_global_size(0) * y;
        ids[i] += 1000 * y + x + 1;
        sizes[i] = 10000 * get_global_size(1) + get_global_size(0);
    }"""
GROUPED = """
    __attribute__((noinline)) int place(int n) { return n + %s; }
    __kernel void grouped(__global int *o) { o[get_global_id(0)] = place(get_global_size(0)); }"""


@pytest.fixture
def device():
    return Device(engine="functional")


@pytest.mark.parametrize(("global_size", "local"), [
    ((1024,), (64,)), ((10,), (10,)), ((96,), (48,)), ((67,), (67,)), ((1000,), (125,)), ((16, 16), (8, 8)),
    ((6, 20), (6, 10)), ((1024, 1), (64, 1)), ((8, 8, 8), (4, 4, 4)), ((1021,), (1,)),
])
def test_local_size_of_one_launch(global_size, local):
    assert divide(global_size, 1, cut=False) == [Part((0,) * len(global_size), global_size, local)]


def test_sizes_without_good_divisors_are_cut():
    assert divide((1021,), 1, cut=True) == [Part((0,), (960,), (64,)), Part((960,), (61,), (61,))]
    assert divide((1000,), 1, cut=True) == divide((1000,), 1, cut=False)


def test_several_compute_units_get_a_work_group_each():
    assert divide((1000,), 8, cut=False)[0].local_size == (125,)
    assert divide((510,), 8, cut=False)[0].local_size == (51,)     # not one of eight wavefronts on one unit


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_parts_cover_all_work_items_once(dimensions):
    rng = np.random.default_rng(dimensions)
    for _ in range(20):
        size = tuple(int(extent) for extent in rng.integers(1, (3000, 90, 40)[dimensions - 1], dimensions))
        seen = np.zeros(size, int)
        parts = divide(size, 1, cut=True)
        for part in parts:
            assert all(extent % local == 0 for extent, local in zip(part.extents, part.local_size, strict=True))
            assert math.prod(part.local_size) <= 512
            seen[tuple(slice(first, first + extent)
                       for first, extent in zip(part.start, part.extents, strict=True))] += 1
        assert (seen == 1).all()
        assert shortfall(parts) < 3 or math.prod(size) < 2000


@pytest.mark.parametrize("size", [(1021,), (131, 67)])
def test_parts_look_like_one_launch(device, size):
    image = compile_opencl(WHERE)
    assert image.kernel("where_").splittable
    shape = (*size[1:], size[0])
    ids, sizes = device.buffer(shape, np.uint32), device.buffer(shape, np.uint32)
    run = device.launch(image, global_size=size, args=[ids, sizes])
    assert run.parts > 1
    y, x = np.mgrid[:shape[0], :shape[1]] if len(size) > 1 else np.mgrid[:1, :shape[0]]
    assert np.array_equal(ids.read().reshape(y.shape), 1000 * y + x + 1)
    assert (sizes.read() == 10000 * (size[1] if len(size) > 1 else 1) + size[0]).all()
    assert run.work_item_instructions == device.launch(
        image, global_size=size, local_size=(1,) * len(size), args=[ids, sizes]).work_item_instructions


def test_parts_keep_the_global_offset(device):
    ids = device.buffer(1100, np.uint32)
    run = device.launch(compile_opencl(WHERE), global_size=1021, global_offset=7, args=[ids, device.buffer(1100)])
    assert run.parts == 2
    assert np.array_equal(ids.read()[7:1028], np.arange(8, 1029))
    assert not ids.read()[:7].any()


def test_work_items_of_parts_have_private_memory_of_their_own(device):
    image = compile_opencl("""
        __kernel void turn(__global int *o, int n) {
            int a[80];
            int i = get_global_id(0) + get_global_size(0) * get_global_id(1);
            for (int k = 0; k < 80; k++) a[(k * 7 + n) % 80] = i * k;
            int sum = 0;
            for (int k = 0; k < 80; k++) sum += a[k];
            o[i] = sum;
        }""")
    assert image.kernel("turn").private_bytes
    out = device.buffer((67, 131))
    assert device.launch(image, global_size=(131, 67), args=[out, 3]).parts > 1
    assert np.array_equal(out.read().ravel(), np.arange(131 * 67) * (79 * 80 // 2))


@pytest.mark.parametrize("asked", [
    "get_local_id(0)", "get_group_id(0)", "get_local_size(0)", "get_num_groups(0)", "get_global_offset(0)"])
def test_kernels_that_ask_for_work_groups_are_not_cut(device, asked):
    image = compile_opencl(GROUPED % asked)
    assert not image.kernel("grouped").splittable
    message = (r"global size \(1021,\) runs in work-groups of 1, .* 64 times as many wavefronts .* asks for its "
               r"work-groups, .* up to \(1024,\)")
    for launch in (lambda out: device.launch(image, global_size=1021, args=[out]),
                   lambda out: image["grouped"](out, global_size=1021)):
        with pytest.warns(PerformanceWarning, match=message) as caught:
            run = launch(device.buffer(1021))
        assert [warning.filename for warning in caught] == [__file__]
        assert (run.parts, run.local_size) == (1, (1,))


def test_nobody_is_warned_of_little(device):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        device.launch(compile_opencl(GROUPED % "get_local_id(0)"), global_size=1000, args=[device.buffer(1000)])
        device.launch(compile_opencl(GROUPED % "get_local_id(0)"), global_size=11, args=[device.buffer(11)])
        device.launch(compile_opencl(WHERE), global_size=1021, args=[device.buffer(1021), device.buffer(1021)])


def test_a_local_size_that_is_given_is_kept(device):
    run = device.launch(compile_opencl(WHERE), global_size=1021, local_size=1,
                        args=[device.buffer(1021), device.buffer(1021)])
    assert (run.parts, run.local_size) == (1, (1,))


def test_1021_work_items_take_hardly_more_cycles_than_1024():
    image = compile_opencl("""
        __kernel void vec_add(__global const int *a, __global const int *b, __global int *out) {
            size_t i = get_global_id(0);
            out[i] = a[i] + b[i];
        }""")
    cycles = {}
    with Device() as device:
        for size in (1024, 1021):
            a, out = np.arange(size, dtype=np.int32), device.buffer(size)
            run = device.launch(image, global_size=size, args=[device.buffer(a), device.buffer(a), out])
            assert np.array_equal(out.read(), 2 * a)
            assert run.stats["cu0.instructions"] == run.instructions
            assert run.stats["cycles"] == run.cycles
            cycles[size] = run.cycles
    assert cycles[1021] < 1.15 * cycles[1024]


@pytest.mark.parametrize("engine", ["functional", "verilator"])
def test_the_watchdog_counts_all_parts_together(engine):
    image = compile_opencl(WHERE)
    with Device(engine=engine) as device:
        ids, sizes = device.buffer(1021), device.buffer(1021)
        run = device.launch(image, global_size=1021, args=[ids, sizes])
        assert run.parts == 2
        device.launch(image, global_size=1021, args=[ids, sizes], max_cycles=run.watched + 100)
        assert (ids.read() == 2 * np.arange(1, 1022)).all()
        for limit in (run.watched * 97 // 100, run.watched // 2):     # the first part alone would end within the one
            with pytest.raises(SimulationTimeout, match=f"did not finish within {limit} "):
                device.launch(image, global_size=1021, args=[ids, sizes], max_cycles=limit)
