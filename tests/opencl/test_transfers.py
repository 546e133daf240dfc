"""What moves the content of buffers, against NumPy."""

import ctypes

import numpy as np
import pytest

from fgpu.opencl.devices import ALIGNMENT
from fgpu.opencl.enums import MemFlags, MigrationFlags, Status
from fgpu.opencl.rectangles import Box, overlap
from tests.seeds import seed_of_test

from . import direct
from .direct import call, sizes, status_of


def _buffer(context, content):
    return call("clCreateBuffer", context, MemFlags.COPY_HOST_PTR, content.nbytes, content)


def _content(queue, buffer, length):
    found = np.zeros(length, np.uint8)
    call("clEnqueueReadBuffer", queue, buffer, 1, 0, length, found, 0, 0, 0)
    return found


def _random(seed, length):
    return np.random.default_rng(seed).integers(0, 256, length, np.uint8)


def test_copies_within_a_buffer_and_between_two(context, queue):
    content = _random(1, 1000)
    first = _buffer(context, content)
    second = _buffer(context, np.zeros(500, np.uint8))
    call("clEnqueueCopyBuffer", queue, first, second, 100, 50, 400, 0, 0, 0)
    call("clEnqueueCopyBuffer", queue, first, first, 0, 300, 300, 0, 0, 0)
    call("clEnqueueCopyBuffer", queue, first, first, 700, 600, 100, 0, 0, 0)
    assert np.array_equal(_content(queue, second, 500)[50:450], content[100:500])
    expected = content.copy()
    expected[300:600] = content[:300]
    expected[600:700] = content[700:800]
    assert np.array_equal(_content(queue, first, 1000), expected)


def test_copies_are_checked(context, queue):
    first = _buffer(context, np.zeros(1024, np.uint8))
    second = _buffer(context, np.zeros(512, np.uint8))
    elsewhere = _buffer(direct.context(), np.zeros(512, np.uint8))
    parts = [call("clCreateSubBuffer", first, 0, 0x1220, sizes(origin, 512)) for origin in (0, 256)]
    for source, destination, source_offset, destination_offset, size, expected in [
        (first, second, 1000, 0, 100, Status.INVALID_VALUE),
        (first, second, 0, 500, 100, Status.INVALID_VALUE),
        (first, second, 0, 0, 0, Status.INVALID_VALUE),
        (first, elsewhere, 0, 0, 4, Status.INVALID_CONTEXT),
        (elsewhere, second, 0, 0, 4, Status.INVALID_CONTEXT),
        (0, second, 0, 0, 4, Status.INVALID_MEM_OBJECT),
        (first, queue, 0, 0, 4, Status.INVALID_MEM_OBJECT),
        (first, first, 0, 99, 100, Status.MEM_COPY_OVERLAP),
        (first, first, 99, 0, 100, Status.MEM_COPY_OVERLAP),
        (first, first, 100, 0, 100, Status.SUCCESS),
        (*parts, 256, 0, 1, Status.MEM_COPY_OVERLAP),
        (*parts, 255, 0, 1, Status.SUCCESS),
        (parts[1], first, 0, 300, 100, Status.MEM_COPY_OVERLAP),
    ]:
        assert status_of("clEnqueueCopyBuffer", queue, source, destination, source_offset, destination_offset, size,
                         0, 0, 0) is expected


@pytest.mark.parametrize("length", [1, 2, 4, 8, 16, 32, 64, 128])
def test_patterns_fill(context, queue, length):
    content = _random(length, 4096)
    buffer = _buffer(context, content)
    pattern = _random(length + 1, length)
    call("clEnqueueFillBuffer", queue, buffer, pattern, length, 3 * length, 7 * length, 0, 0, 0)
    pattern[:] = 0      # it has been taken
    call("clEnqueueFillBuffer", queue, buffer, pattern, length, 0, 0, 0, 0, 0)
    expected = content.copy()
    expected[3 * length:10 * length] = np.tile(_random(length + 1, length), 7)
    assert np.array_equal(_content(queue, buffer, 4096), expected)


def test_fills_are_checked(context, queue):
    buffer = _buffer(context, np.zeros(100, np.uint8))
    pattern = np.zeros(256, np.uint8)
    for mem, at, pattern_size, offset, size, expected in [
        (buffer, 0, 4, 0, 4, Status.INVALID_VALUE),
        (buffer, pattern, 0, 0, 4, Status.INVALID_VALUE),
        (buffer, pattern, 3, 0, 12, Status.INVALID_VALUE),
        (buffer, pattern, 256, 0, 0, Status.INVALID_VALUE),
        (buffer, pattern, 4, 2, 4, Status.INVALID_VALUE),
        (buffer, pattern, 4, 4, 6, Status.INVALID_VALUE),
        (buffer, pattern, 4, 96, 8, Status.INVALID_VALUE),
        (0, pattern, 4, 0, 4, Status.INVALID_MEM_OBJECT),
    ]:
        assert status_of("clEnqueueFillBuffer", queue, mem, at, pattern_size, offset, size, 0, 0, 0) is expected


def test_migration_is_checked_and_changes_nothing(context, queue):
    buffers = [_buffer(context, np.full(10, number, np.uint8)) for number in range(2)]
    assert status_of("clEnqueueMigrateMemObjects", queue, 2, sizes(*buffers), MigrationFlags.HOST, 0, 0, 0) \
        is Status.SUCCESS
    assert list(_content(queue, buffers[1], 10)) == [1] * 10
    for count, mems, flags, expected in [
        (0, sizes(*buffers), 0, Status.INVALID_VALUE), (2, 0, 0, Status.INVALID_VALUE),
        (2, sizes(*buffers), 4, Status.INVALID_VALUE), (2, sizes(buffers[0], 0), 0, Status.INVALID_MEM_OBJECT),
    ]:
        assert status_of("clEnqueueMigrateMemObjects", queue, count, mems, flags, 0, 0, 0) is expected


def _box(choose, limit):
    """The region of a random box, and functions for its origin and pitches in ``limit`` bytes."""
    depth, height = choose.integers(1, 5, 2)
    width = choose.integers(1, 40)

    def placed(fixed=None):
        if fixed is None:
            row = int(width + choose.choice((0, choose.integers(0, 20))))
            rows = int(height + choose.choice((0, choose.integers(0, 4))))
        else:
            row, rows = fixed
        origin = [int(choose.integers(0, row)), int(choose.integers(0, 3)), int(choose.integers(0, 3))]
        first = origin[0] + origin[1] * row + origin[2] * row * rows
        index = first + np.arange(depth)[:, None, None] * (row * rows) + np.arange(height)[:, None] * row \
            + np.arange(width)
        assert index.max() < limit
        pitches = [0 if row == width and choose.random() < 0.5 else row,
                   0 if rows == height and choose.random() < 0.5 else row * rows]
        return origin, pitches, index, (row, rows)

    return (int(width), int(height), int(depth)), placed


@pytest.mark.parametrize("number", range(40))
def test_random_boxes(context, queue, number):
    choose = np.random.default_rng([seed_of_test(), number])
    limit = 10_000
    content = _random(number, limit)
    host = _random(number + 1000, limit)
    buffer = _buffer(context, content)
    other = _buffer(context, host)

    region, placed = _box(choose, limit)
    origin, pitches, index, _ = placed()
    host_origin, host_pitches, host_index, _ = placed()
    found = host.copy()
    call("clEnqueueReadBufferRect", queue, buffer, 1, sizes(*origin), sizes(*host_origin), sizes(*region), *pitches,
         *host_pitches, found, 0, 0, 0)
    expected = host.copy()
    expected[host_index] = content[index]
    assert np.array_equal(found, expected)

    call("clEnqueueCopyBufferRect", queue, buffer, other, sizes(*origin), sizes(*host_origin), sizes(*region),
         *pitches, *host_pitches, 0, 0, 0)
    assert np.array_equal(_content(queue, other, limit), expected)

    call("clEnqueueWriteBufferRect", queue, buffer, number % 2, sizes(*origin), sizes(*host_origin), sizes(*region),
         *pitches, *host_pitches, host, 0, 0, 0)
    content[index] = host[host_index]
    assert np.array_equal(_content(queue, buffer, limit), content)


@pytest.mark.parametrize("number", range(60))
def test_random_boxes_of_one_buffer_that_overlap(context, queue, number):
    choose = np.random.default_rng([seed_of_test(), number, 1])
    limit = 10_000
    content = _random(number, limit)
    buffer = _buffer(context, content)
    region, placed = _box(choose, limit)
    origin, pitches, index, fixed = placed()
    to_origin, to_pitches, to_index, _ = placed(fixed)
    overlaps = len(np.intersect1d(index, to_index)) > 0
    assert status_of("clEnqueueCopyBufferRect", queue, buffer, buffer, sizes(*origin), sizes(*to_origin),
                     sizes(*region), *pitches, *to_pitches, 0, 0, 0) \
        is (Status.MEM_COPY_OVERLAP if overlaps else Status.SUCCESS)
    if not overlaps:
        content[to_index] = content[index]
    assert np.array_equal(_content(queue, buffer, limit), content)


def test_boxes_between_each_other_do_not_overlap():
    rows = Box(0, 4, 10, 3, 8, 80)
    assert not overlap(rows, rows._replace(offset=4))
    assert overlap(rows, rows._replace(offset=5))
    assert overlap(rows._replace(offset=3), rows)
    assert not overlap(rows, rows._replace(offset=240))
    assert overlap(rows, rows._replace(offset=232 - 160 + 3))


def test_boxes_are_checked(context, queue):
    buffer = _buffer(context, np.zeros(1000, np.uint8))
    second = _buffer(context, np.zeros(1000, np.uint8))
    host = np.zeros(1000, np.uint8)
    ten = [10, 10, 10]
    for origin, region, pitches, expected in [
        ([0, 0, 0], ten, (0, 0), Status.SUCCESS),
        ([1, 0, 0], ten, (0, 0), Status.INVALID_VALUE),
        ([0, 0, 1], ten, (0, 0), Status.INVALID_VALUE),
        ([0, 0, 0], [10, 10, 0], (0, 0), Status.INVALID_VALUE),
        ([0, 0, 0], [0, 10, 10], (0, 0), Status.INVALID_VALUE),
        ([0, 0, 0], [10, 1, 1], (9, 0), Status.INVALID_VALUE),
        ([0, 0, 0], [10, 2, 1], (20, 39), Status.INVALID_VALUE),
        ([0, 0, 0], [10, 2, 1], (20, 50), Status.INVALID_VALUE),
        ([0, 0, 0], [10, 2, 1], (20, 60), Status.SUCCESS),
        (None, ten, (0, 0), Status.INVALID_VALUE),
        ([0, 0, 0], None, (0, 0), Status.INVALID_VALUE),
    ]:
        at, of = (sizes(*numbers) if numbers else 0 for numbers in (origin, region))
        zero = sizes(0, 0, 0)
        for name in ("clEnqueueReadBufferRect", "clEnqueueWriteBufferRect"):
            assert status_of(name, queue, buffer, 1, at, zero, of, *pitches, 0, 0, host, 0, 0, 0) is expected
            assert status_of(name, queue, buffer, 1, at, zero, of, *pitches, 0, 0, 0, 0, 0, 0) is Status.INVALID_VALUE
            assert status_of(name, queue, queue, 1, at, zero, of, *pitches, 0, 0, host, 0, 0, 0) \
                is Status.INVALID_MEM_OBJECT
        for origins in [(at, zero, of, *pitches, 0, 0), (zero, at, of, 0, 0, *pitches)]:
            assert status_of("clEnqueueCopyBufferRect", queue, buffer, second, *origins, 0, 0, 0) is expected
    assert status_of("clEnqueueCopyBufferRect", queue, buffer, buffer, sizes(0, 0, 0), sizes(500, 0, 0),
                     sizes(10, 2, 2), 20, 40, 30, 60, 0, 0, 0) is Status.INVALID_VALUE
    for flags, name in [(MemFlags.HOST_WRITE_ONLY, "Read"), (MemFlags.HOST_READ_ONLY, "Write"),
                        (MemFlags.HOST_NO_ACCESS, "Read"), (MemFlags.HOST_NO_ACCESS, "Write")]:
        secret = call("clCreateBuffer", context, flags, 100, 0)
        assert status_of(f"clEnqueue{name}BufferRect", queue, secret, 1, sizes(0, 0, 0), sizes(0, 0, 0),
                         sizes(1, 1, 1), 0, 0, 0, 0, host, 0, 0, 0) is Status.INVALID_OPERATION


def test_native_kernels_get_the_memory_of_buffers(context, queue):
    buffers = [_buffer(context, np.full(4, number, np.uint8)) for number in (7, 0)]
    copied = []

    @ctypes.CFUNCTYPE(None, ctypes.c_size_t)
    def work(arguments):
        factor, source, destination, nothing = (ctypes.c_size_t * 4).from_address(arguments)
        copied.append(nothing)
        ctypes.c_uint8.from_address(destination + 1).value = factor * ctypes.c_uint8.from_address(source + 3).value

    arguments = sizes(3, 0, 0, 99)
    places = sizes(*(ctypes.addressof(arguments) + 8 * index for index in (1, 2, 3)))
    function = ctypes.cast(work, ctypes.c_void_p).value
    call("clEnqueueNativeKernel", queue, function, arguments, 32, 3, sizes(*buffers, 0), places, 0, 0, 0)
    arguments[0] = 0    # it has been copied
    assert list(_content(queue, buffers[1], 4)) == [0, 21, 0, 0]
    assert copied == [0]
    for what, at, size, count, mems, where, expected in [
        (0, arguments, 32, 0, 0, 0, Status.INVALID_VALUE),
        (function, 0, 32, 0, 0, 0, Status.INVALID_VALUE),
        (function, arguments, 0, 0, 0, 0, Status.INVALID_VALUE),
        (function, 0, 0, 1, sizes(*buffers), places, Status.INVALID_VALUE),
        (function, arguments, 32, 1, 0, places, Status.INVALID_VALUE),
        (function, arguments, 32, 1, sizes(*buffers), 0, Status.INVALID_VALUE),
        (function, arguments, 32, 0, sizes(*buffers), 0, Status.INVALID_VALUE),
        (function, arguments, 32, 1, sizes(queue), places, Status.INVALID_MEM_OBJECT),
    ]:
        assert status_of("clEnqueueNativeKernel", queue, what, at, size, count, mems, where, 0, 0, 0) is expected


def test_parts_of_buffers(context, queue):
    content = _random(3, 1024)
    whole = _buffer(context, content)
    part = call("clCreateSubBuffer", whole, 0, 0x1220, sizes(ALIGNMENT, 300))
    assert np.array_equal(_content(queue, part, 300), content[ALIGNMENT:ALIGNMENT + 300])
    call("clReleaseMemObject", whole)       # lives on for the part
    call("clEnqueueWriteBuffer", queue, part, 1, 299, 1, np.array([5], np.uint8), 0, 0, 0)
    assert _content(queue, whole, 1024)[ALIGNMENT + 299] == 5
    assert status_of("clEnqueueReadBuffer", queue, part, 1, 0, 301, content, 0, 0, 0) is Status.INVALID_VALUE
