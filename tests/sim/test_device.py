"""The device as a host program uses it: buffers, defaults, results."""

import threading
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from fgpu import Config
from fgpu.compiler import Image, Kernel, Parameter, assemble, compile_opencl
from fgpu.errors import ImageError, LaunchError, MemoryAccessError
from fgpu.sim import ENGINES, Device, GlobalMemory, KernelDescriptor, MemoryTiming
from fgpu.sim.device import memory_timing

from . import kernels


@pytest.fixture
def device():
    return Device(engine="functional")


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", ">i4", "bool"])
def test_buffer_holds_an_array(device, dtype):
    array = np.random.default_rng(0).integers(0, 2, (5, 7)).astype(dtype)
    buffer = device.buffer(array)
    assert buffer.address % 4096 == 0
    assert buffer.shape == (5, 7)
    assert np.array_equal(buffer.read(), array)
    assert device.memory.view(buffer.address, array.nbytes).tobytes() == array.astype(
        array.dtype.newbyteorder("<")).tobytes()


def test_buffer_of_a_shape_is_zero_even_where_another_was(device):
    first = device.buffer(np.ones(100, np.int32))
    first.free()
    second = device.buffer((10, 10), "uint16")
    assert second.address == first.address
    assert second.dtype == np.uint16
    assert not second.read().any()


def test_list_makes_int32(device):
    assert device.buffer([1, -2, 3]).dtype == np.int32


def test_buffers_do_not_overlap(device):
    fixed = device.buffer(1024, address=device.memory.base + 4096)
    ranges = sorted((b.address, b.address + b.nbytes) for b in [fixed, *(device.buffer(990) for _ in range(4))])
    assert all(end <= first for (_, end), (first, _) in pairwise(ranges))
    assert ranges[0][0] == device.memory.base


def test_non_contiguous_arrays_and_rewrites(device):
    array = np.arange(24, dtype=np.int32).reshape(4, 6)
    buffer = device.buffer(array[:, ::2])
    assert np.array_equal(buffer.read(), array[:, ::2])
    buffer.write(np.arange(12))
    assert np.array_equal(buffer.read(), np.arange(12).reshape(4, 3))


def test_buffers_are_indexed_as_arrays(device):
    array = np.arange(12, dtype=np.int16).reshape(3, 4)
    buffer = device.buffer(array)
    assert len(buffer) == 3
    assert buffer[1, 2] == 6
    assert np.array_equal(buffer[1:, ::2], array[1:, ::2])
    assert np.array_equal(buffer[array > 7], [8, 9, 10, 11])
    buffer[0] = -1
    buffer[:, 3] += 100
    array[0] = -1
    array[:, 3] += 100
    assert np.array_equal(buffer.read(), array)
    assert [row.tolist() for row in buffer] == array.tolist()
    buffer[...][0, 0] = 5       # a copy
    assert buffer[0, 0] == -1
    assert device.buffer(())[()] == 0
    with pytest.raises(TypeError, match="has no length"):
        len(device.buffer(()))


def test_numpy_takes_buffers(device):
    buffer = device.buffer([1, 2, 3])
    copy = np.asarray(buffer)
    assert (copy.dtype, copy.tolist()) == (np.int32, [1, 2, 3])
    copy[0] = 9
    assert np.asarray(buffer, np.float32).tolist() == [1, 2, 3]
    assert np.add(buffer, buffer).tolist() == [2, 4, 6]
    with pytest.raises(ValueError, match="is a copy"):
        np.array(buffer, copy=False)
    other = device.buffer(3, np.float32)
    other.write(buffer)
    assert other.read().tolist() == [1, 2, 3]
    assert device.buffer(buffer).dtype == np.int32


@pytest.mark.parametrize(("values", "dtype"), [
    ([0, 255], np.uint8), ([2.0, -3.0], np.int32), ([True, False], np.int16), ([0.1, 1e-300], np.float32),
    ([np.inf, np.nan], np.float32), ([(1 << 64) - 1, 0], np.uint64), ([-(1 << 63), 5], np.int64), ([0.0, 1.0], bool),
    ([16777217, -1], np.float32), (np.array([2 ** 63 - 1, 0], np.uint64), np.int64),
])
def test_values_that_fit_are_converted(device, values, dtype):
    buffer = device.buffer(2, dtype)
    buffer.write(values)
    assert np.array_equal(buffer.read(), np.array(values, dtype), equal_nan=np.dtype(dtype).kind == "f")


def test_words(device):
    address = device.memory.base + 64
    device.write_word(address, 0xDEADBEEF)
    assert device.read_word(address) == 0xDEADBEEF
    device.write_word(address, -1)
    assert device.read(address, 1)[0] == -1
    device.write(address, np.array([1, 2], np.uint16))
    assert device.read_word(address) == 0x0002_0001


@pytest.mark.parametrize(("call", "message"), [
    (lambda d: d.buffer([1.5, 2.5]), "say of which type these numbers are, as with dtype=numpy.float32"),
    (lambda d: d.buffer(np.zeros(4, np.longdouble)), "no elements of type float128.*astype"),
    (lambda d: d.buffer(["a"]), "no elements of type <U1"),
    (lambda d: d.buffer([[1], [2, 3]]), "no array of numbers"),
    (lambda d: d.buffer(0), "at least one element"),
    (lambda d: d.buffer(-4), "cannot have the shape -4"),
    (lambda d: d.buffer(4, "complex64"), "no elements of type complex64"),
    (lambda d: d.buffer(1 << 28), "no room for a buffer of 1073741824 bytes"),
    (lambda d: d.buffer(4, address=2), "not a multiple of 4"),
    (lambda d: d.buffer(4, address=0), "0x00000000 is outside memory"),
    (lambda d: d.buffer(4, address=0x2000_0000), "outside memory, 0x10000000 to 0x1FFFFFFF"),
    (lambda d: [d.buffer(4, address=0x1000_0000), d.buffer(4, address=0x1000_000C)], "overlaps"),
    (lambda d: d.buffer(4).write(np.zeros(5, np.int32)), "5 elements do not fit this buffer of 4"),
    (lambda d: d.buffer(2, np.uint8).write([255, 300]), r"300 is no uint8; .*\.astype\(numpy.uint8\)"),
    (lambda d: d.buffer(2, np.uint8).write([0, -1]), "-1 is no uint8"),
    (lambda d: d.buffer(2).write([1.5, 1]), "1.5 is no int32"),
    (lambda d: d.buffer(1).write([np.nan]), "nan is no int32"),
    (lambda d: d.buffer(1, np.int64).write([2.0 ** 63]), "9.2.*e.18 is no int64"),
    (lambda d: d.buffer(1, np.uint64).write(np.array([-1])), "-1 is no uint64"),
    (lambda d: d.buffer(1, np.uint32).write([1 << 32]), "4294967296 is no uint32"),
    (lambda d: d.buffer(1, np.float32).write([1e300]), r"1e\+300 is no float32"),
    (lambda d: d.buffer(2, bool).write([0, 2]), "2 is no bool"),
    (lambda d: d.buffer([1 << 31]), "2147483648 is no int32"),
    (lambda d: d.buffer(np.array([-1]), np.uint16), "-1 is no uint16"),
    (lambda d: d.buffer((2, 3))[2], r"<Buffer of \(2, 3\) int32 at 0x10000000> has no 2: index 2 is out of bounds"),
    (lambda d: d.buffer(3)["a"], "has no 'a'"),
    (lambda d: d.buffer((2, 3)).__setitem__((0, 0), [1, 2]), r"takes no such values at \(0, 0\)"),
    (lambda d: d.buffer(3, np.uint8).__setitem__(0, 256), "256 is no uint8"),
    (lambda d: d.read_word(0x1000_0002), "0x10000002 is not a multiple of 4"),
    (lambda d: d.read_word(0x0FFF_FFFC), "outside memory"),
    (lambda d: d.write_word(0x1000_0000, 1 << 32), "not a 32-bit word"),
    (lambda d: d.write(0x1FFF_FFFC, [1, 2]), "outside memory"),
    (lambda d: d.read(0x1000_0000, 1, np.longdouble), "no elements of type float128"),
])
def test_bad_memory_use_is_refused(device, call, message):
    with pytest.raises(MemoryAccessError, match=message):
        call(device)


def test_memory_may_be_elsewhere():
    device = Device(engine="functional", memory=GlobalMemory(base=0x4000_0000, size=1 << 16))
    out = device.buffer(64)
    assert out.address == 0x4000_0000
    device.launch(kernels.LOOP, global_size=64, args=[out])
    assert np.array_equal(out.read(), np.arange(64) & 15)


def test_run_tells_what_it_took(device):
    run = device.launch(kernels.LOOP, "loop", global_size=4, local_size=4, args=[device.buffer(4)])
    assert run.kernel == "loop"
    assert run.engine == "functional"
    assert run.cycles is None
    assert run.cycles_per_second is None
    # 6 before the loop, 4 instructions a turn, and at the end the branch, the store and ret.
    assert run.work_item_instructions == 4 * (6 + 3) + 4 * (0 + 1 + 2 + 3)
    assert run.stats["work_groups"] == run.stats["wavefronts"] == 1
    assert run.stats["divergent_branches"] == 3


def test_required_work_group_size_is_the_default(device):
    image = Image(kernels.LOOP.words, {"loop": Kernel("loop", 0, work_group_size=(16, 1, 1))})
    run = device.launch(image, global_size=64, args=[device.buffer(64)])
    assert run.stats["work_groups"] == 4
    with pytest.raises(LaunchError, match=r"demands the local size \(16, 1, 1\).*not \(32,\)"):
        device.launch(image, global_size=64, local_size=32, args=[device.buffer(64)])


def test_arguments_of_every_kind_become_words(device):
    types = ["int", "uint", "char", "uchar", "short", "ushort", "float", "int"]
    sizes = [4, 4, 1, 1, 2, 2, 4, 4]
    image = assemble(".kernel all\n lp r3, 8\n" + "".join(
        f" lp r4, {i}\n li r5, {i}\n sw r4, r3[r5]\n" for i in range(8)) + " ret")
    parameters = [Parameter(f"p{i}", "scalar", type, size)
                  for i, (type, size) in enumerate(zip(types, sizes, strict=True))]
    image = Image(image.words, {"all": Kernel("all", 0, (*parameters, Parameter("out", "pointer", "uint", 4)))})
    out = device.buffer(8, np.uint32)
    device.launch(image, global_size=1,
                  args=[-1, 0xFFFF_FFFF, -128, 255, np.int16(-2), 65535, 1.5, np.uint8(7), out.address])
    assert out.read().tolist() == [0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFF80, 255, 0xFFFFFFFE, 65535, 0x3FC00000, 7]


def test_raw_descriptor_runs(device):
    out = device.buffer(100)
    words = KernelDescriptor(entry=0, global_size=(100,), local_size=(50,), parameters=(out.address,)).words()
    run = device.launch_descriptor(kernels.LOOP, words, slot=3)
    assert run.kernel == "loop"
    assert np.array_equal(out.read(), np.arange(100) & 15)


def test_host_access_needs_a_clean_cache(device):
    out = device.buffer(64)
    device.launch(kernels.LOOP, global_size=64, args=[out], clean=False)
    for access in (out.read, lambda: out.write([0] * 64), lambda: out[0], lambda: out.__setitem__(0, 1),
                   lambda: np.asarray(out), lambda: device.read_word(out.address),
                   lambda: device.write_word(out.address, 0), lambda: device.buffer(4)):
        with pytest.raises(LaunchError, match="pass clean=True to the last launch"):
            access()
    device.launch(kernels.LOOP, global_size=64, args=[out], initialize=False)
    assert out.read().any()


@pytest.mark.parametrize(("latency", "bounds"), [(None, (0, 0)), (7, (7, 7)), ((3, 9), (3, 9))])
def test_latency_becomes_memory_timing(latency, bounds):
    timing = memory_timing(latency)
    assert timing.read_latency == timing.write_latency == bounds
    timing = MemoryTiming(seed=5)
    assert memory_timing(timing) is timing


@pytest.mark.parametrize("latency", [-1, (5, 3), (1, 2, 3), "fast", 1.5])
def test_bad_latency_is_refused(latency):
    with pytest.raises(LaunchError, match="memory_latency"):
        Device(engine="functional", memory_latency=latency)


def test_unknown_engine_is_refused():
    with pytest.raises(LaunchError, match=f"no engine 'modelsim'; choose from {', '.join(ENGINES)}"):
        Device(engine="modelsim")


def test_compiled_kernel_end_to_end():
    image = compile_opencl("""
        __kernel void saxpy(__global const int *x, __global int *y, int a)
        { size_t i = get_global_id(0); y[i] = a * x[i] + y[i]; }""")
    x, y = np.arange(256, dtype=np.int32), np.arange(256, dtype=np.int32)[::-1]
    with Device(Config(compute_units=2), engine="functional") as device:
        out = device.buffer(y)
        device.launch(image, "saxpy", global_size=(256,), local_size=(64,), args=[device.buffer(x), out, -3])
        assert np.array_equal(out.read(), -3 * x + y)


def test_kernels_are_called(device):
    image = compile_opencl("""
        __kernel void scale(__global const int *in, __global int *out, int factor) {
            size_t i = get_global_id(0);
            out[i] = factor * in[i];
        }
        __kernel void nothing(int a) {}""")
    scale = image["scale"]
    assert repr(scale) == "<kernel scale(int *in, int *out, int factor)>"
    assert (list(image), "scale" in image, "scal" in image) == (["scale", "nothing"], True, False)
    out = device.buffer(100)
    run = scale(device.buffer(np.arange(100).astype(np.int32)), out, 3, global_size=100, local_size=10)
    assert (run.kernel, run.local_size) == ("scale", (10,))
    assert np.array_equal(out, 3 * np.arange(100))
    assert device.launch(scale, global_size=100, args=[out, out, 2]).instructions == run.instructions // 5
    assert np.array_equal(out, 6 * np.arange(100))
    with pytest.raises(LaunchError, match=r"<kernel nothing\(int a\)> was called without a buffer"):
        image["nothing"](1, global_size=1)
    with pytest.raises(LaunchError, match="is already a kernel; give no name, 'scale', with it"):
        device.launch(scale, "scale", global_size=1)
    with pytest.raises(ImageError, match="no kernel 'scal'; the kernels it has: scale, nothing"):
        image["scal"]
    with pytest.raises(LaunchError, match=r"'scale' takes 3 arguments \(int \*in, int \*out, int factor\), not 1"):
        scale(out, global_size=1)
    assert repr(kernels.LOOP["loop"]) == "<kernel loop(...)>"


def test_threads_share_a_device():
    """Each launches and checks its own; the engine, the allocator and the cache's state are one for all."""
    image, failures = kernels.LOOP, []

    def work(device, number):
        try:
            for turn in range(6):
                size = 64 * (1 + (number + turn) % 3)
                out = device.buffer(np.full(size, -1, np.int32))
                device.launch(image, global_size=size, args=[out])
                assert np.array_equal(out.read(), np.arange(size) & 15)
                out.free()
        except BaseException as error:
            failures.append(error)

    with Device(Config.preset("tiny")) as device:
        threads = [threading.Thread(target=work, args=(device, number)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures


def test_a_thread_may_hold_a_device():
    device = Device(engine="functional")
    out = device.buffer(64)
    with device.lock:
        launch = partial(device.launch, kernels.LOOP, global_size=64, args=[out])
        other = threading.Thread(target=launch)
        other.start()
        other.join(0.2)
        assert other.is_alive()
        assert not out.read().any()
    other.join()
    assert out.read().any()
