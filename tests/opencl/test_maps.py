"""Maps, buffers that use the host's memory, parts of buffers, callbacks at the end, images that there are not."""

import ctypes
import gc
import os
import threading
import time

import numpy as np
import pytest

from fgpu.opencl.devices import ALIGNMENT, memory
from fgpu.opencl.enums import MapFlags, MemFlags, MemInfo, MemObjectType, Status

from . import direct
from .direct import call, hold, info, sizes, status_of

_REGION = 0x1220


def _at(place, length):
    return np.frombuffer((ctypes.c_uint8 * length).from_address(place), np.uint8)


def _content(queue, buffer, length):
    found = np.zeros(length, np.uint8)
    call("clEnqueueReadBuffer", queue, buffer, 1, 0, length, found, 0, 0, 0)
    return list(found)


def _count(buffer):
    return info("clGetMemObjectInfo", buffer, MemInfo.MAP_COUNT, ctypes.c_uint32)


def test_what_the_host_writes_to_a_map_is_in_the_buffer(context, queue):
    buffer = call("clCreateBuffer", context, MemFlags.ALLOC_HOST_PTR | MemFlags.COPY_HOST_PTR, 8,
                  np.arange(8, dtype=np.uint8))
    first = call("clEnqueueMapBuffer", queue, buffer, 1, MapFlags.READ | MapFlags.WRITE, 2, 4, 0, 0, 0)
    again = call("clEnqueueMapBuffer", queue, buffer, 1, MapFlags.READ, 0, 8, 0, 0, 0)
    assert first == again + 2
    assert _count(buffer) == 2
    assert list(_at(first, 4)) == [2, 3, 4, 5]
    _at(first, 4)[:] = 9
    call("clEnqueueUnmapMemObject", queue, buffer, first, 0, 0, 0)
    assert _count(buffer) == 1
    assert status_of("clEnqueueUnmapMemObject", queue, buffer, first, 0, 0, 0) is Status.INVALID_VALUE
    call("clEnqueueUnmapMemObject", queue, buffer, again, 0, 0, 0)
    assert _count(buffer) == 0
    assert _content(queue, buffer, 8) == [0, 1, 9, 9, 9, 9, 6, 7]


@pytest.mark.parametrize("is_part", [False, True])
def test_memory_of_the_host_is_as_the_buffer_while_it_is_mapped(context, queue, is_part):
    host = np.arange(256, dtype=np.uint8)
    buffer = call("clCreateBuffer", context, MemFlags.USE_HOST_PTR, 256, host)
    begin = 0
    if is_part:
        begin = ALIGNMENT
        buffer = call("clCreateSubBuffer", buffer, 0, _REGION, sizes(begin, 128))
        assert info("clGetMemObjectInfo", buffer, MemInfo.HOST_PTR) == host.ctypes.data + begin
    call("clEnqueueFillBuffer", queue, buffer, np.array([77], np.uint8), 1, 0, 3, 0, 0, 0)
    place = call("clEnqueueMapBuffer", queue, buffer, 1, MapFlags.READ, 1, 4, 0, 0, 0)
    assert place == host.ctypes.data + begin + 1
    assert list(host[begin + 1:begin + 5]) == [77, 77, begin + 3, begin + 4]
    host[begin + 1] = 1     # what is mapped for reading only is not written back
    call("clEnqueueUnmapMemObject", queue, buffer, place, 0, 0, 0)
    assert _content(queue, buffer, 4) == [77, 77, 77, begin + 3]
    for flags in (MapFlags.WRITE, MapFlags.WRITE_INVALIDATE_REGION):
        place = call("clEnqueueMapBuffer", queue, buffer, 1, flags, 4, 2, 0, 0, 0)
        host[begin + 4:begin + 8] = flags
        call("clEnqueueUnmapMemObject", queue, buffer, place, 0, 0, 0)
        assert _content(queue, buffer, 8)[3:] == [begin + 3, flags, flags, begin + 6, begin + 7]


def test_memory_of_the_host_that_cannot_be_written_is_mapped_for_reading(context, queue, tmp_path):
    content = np.arange(4096, dtype=np.uint8)
    content.tofile(tmp_path / "content")
    host = np.memmap(tmp_path / "content", np.uint8, "r")
    buffer = call("clCreateBuffer", context, MemFlags.READ_ONLY | MemFlags.USE_HOST_PTR, 4096, host)
    place = call("clEnqueueMapBuffer", queue, buffer, 1, MapFlags.READ, 0, 4096, 0, 0, 0)
    assert place == host.ctypes.data
    assert np.array_equal(host, content)


def test_a_map_waits_for_what_is_before_it(context, queue):
    host = np.zeros(4, np.uint8)
    buffer = call("clCreateBuffer", context, MemFlags.USE_HOST_PTR, 4, host)
    hold(queue, gate := threading.Event())
    call("clEnqueueFillBuffer", queue, buffer, np.array([5], np.uint8), 1, 0, 4, 0, 0, 0)
    call("clEnqueueMapBuffer", queue, buffer, 0, MapFlags.READ, 0, 4, 0, 0, 0)
    assert list(host) == [0] * 4
    gate.set()
    call("clFinish", queue)
    assert list(host) == [5] * 4


def test_maps_are_checked(context, queue):
    buffer = call("clCreateBuffer", context, 0, 100, 0)
    elsewhere = call("clCreateBuffer", direct.context(), 0, 100, 0)
    kept = {flag: call("clCreateBuffer", context, flag, 100, 0) for flag in (
        MemFlags.HOST_WRITE_ONLY, MemFlags.HOST_READ_ONLY, MemFlags.HOST_NO_ACCESS)}
    for on, mem, flags, offset, size, expected in [
        (0, buffer, MapFlags.READ, 0, 1, Status.INVALID_COMMAND_QUEUE),
        (queue, 0, MapFlags.READ, 0, 1, Status.INVALID_MEM_OBJECT),
        (queue, elsewhere, MapFlags.READ, 0, 1, Status.INVALID_CONTEXT),
        (queue, buffer, MapFlags.READ, 0, 101, Status.INVALID_VALUE),
        (queue, buffer, MapFlags.READ, 0, 0, Status.INVALID_VALUE),
        (queue, buffer, 8, 0, 1, Status.INVALID_VALUE),
        (queue, buffer, MapFlags.WRITE | MapFlags.WRITE_INVALIDATE_REGION, 0, 1, Status.INVALID_VALUE),
        (queue, kept[MemFlags.HOST_WRITE_ONLY], MapFlags.READ, 0, 1, Status.INVALID_OPERATION),
        (queue, kept[MemFlags.HOST_READ_ONLY], MapFlags.WRITE, 0, 1, Status.INVALID_OPERATION),
        (queue, kept[MemFlags.HOST_READ_ONLY], MapFlags.WRITE_INVALIDATE_REGION, 0, 1, Status.INVALID_OPERATION),
        (queue, kept[MemFlags.HOST_READ_ONLY], MapFlags.READ, 0, 1, Status.SUCCESS),
        (queue, kept[MemFlags.HOST_NO_ACCESS], MapFlags.READ, 0, 1, Status.INVALID_OPERATION),
        (queue, kept[MemFlags.HOST_NO_ACCESS], MapFlags.WRITE, 0, 1, Status.INVALID_OPERATION),
    ]:
        assert status_of("clEnqueueMapBuffer", on, mem, 1, flags, offset, size, 0, 0, 0) is expected
    assert status_of("clEnqueueMapBuffer", queue, buffer, 1, MapFlags.READ, 0, 1, 1, 0, 0) \
        is Status.INVALID_EVENT_WAIT_LIST
    assert _count(buffer) == 0
    assert status_of("clEnqueueUnmapMemObject", queue, buffer, 0, 0, 0, 0) is Status.INVALID_VALUE
    assert status_of("clEnqueueUnmapMemObject", queue, queue, 0, 0, 0, 0) is Status.INVALID_MEM_OBJECT


@pytest.mark.parametrize(("of", "flags", "origin", "size", "expected"), [
    (MemFlags.WRITE_ONLY, MemFlags.READ_WRITE, 0, 4, Status.INVALID_VALUE),
    (MemFlags.WRITE_ONLY, MemFlags.READ_ONLY, 0, 4, Status.INVALID_VALUE),
    (MemFlags.READ_ONLY, MemFlags.READ_WRITE, 0, 4, Status.INVALID_VALUE),
    (MemFlags.READ_ONLY, MemFlags.WRITE_ONLY, 0, 4, Status.INVALID_VALUE),
    (MemFlags.HOST_WRITE_ONLY, MemFlags.HOST_READ_ONLY, 0, 4, Status.INVALID_VALUE),
    (MemFlags.HOST_READ_ONLY, MemFlags.HOST_WRITE_ONLY, 0, 4, Status.INVALID_VALUE),
    (MemFlags.HOST_NO_ACCESS, MemFlags.HOST_WRITE_ONLY, 0, 4, Status.INVALID_VALUE),
    (0, MemFlags.USE_HOST_PTR, 0, 4, Status.INVALID_VALUE),
    (0, MemFlags.ALLOC_HOST_PTR, 0, 4, Status.INVALID_VALUE),
    (0, MemFlags.COPY_HOST_PTR, 0, 4, Status.INVALID_VALUE),
    (0, 0, 0, 0, Status.INVALID_BUFFER_SIZE),
    (0, 0, 0, 1001, Status.INVALID_VALUE),
    (0, 0, 1024, 4, Status.INVALID_VALUE),
    (0, 0, 64, 4, Status.MISALIGNED_SUB_BUFFER_OFFSET),
    (0, MemFlags.READ_ONLY | MemFlags.WRITE_ONLY, 0, 4, Status.INVALID_VALUE),
])
def test_parts_that_cannot_be_are_refused(context, of, flags, origin, size, expected):
    whole = call("clCreateBuffer", context, of, 1000, 0)
    assert status_of("clCreateSubBuffer", whole, flags, _REGION, sizes(origin, size)) is expected
    assert status_of("clCreateSubBuffer", whole, 0, _REGION + 1, sizes(0, 4)) is Status.INVALID_VALUE
    assert status_of("clCreateSubBuffer", whole, 0, _REGION, 0) is Status.INVALID_VALUE
    part = call("clCreateSubBuffer", whole, 0, _REGION, sizes(0, 400))
    assert status_of("clCreateSubBuffer", part, 0, _REGION, sizes(0, 4)) is Status.INVALID_MEM_OBJECT


def test_parts_tell_of_the_whole(context):
    host = np.zeros(1000, np.uint8)
    flags = MemFlags.READ_ONLY | MemFlags.USE_HOST_PTR | MemFlags.HOST_READ_ONLY
    whole = call("clCreateBuffer", context, flags, 1000, host)
    part = call("clCreateSubBuffer", whole, 0, _REGION, sizes(256, 100))
    assert [info("clGetMemObjectInfo", part, name) for name in (
        MemInfo.FLAGS, MemInfo.SIZE, MemInfo.HOST_PTR, MemInfo.CONTEXT, MemInfo.ASSOCIATED_MEMOBJECT, MemInfo.OFFSET)
    ] == [flags, 100, host.ctypes.data + 256, context, whole, 256]


def _destructor(seen):
    @ctypes.CFUNCTYPE(None, ctypes.c_size_t, ctypes.c_size_t)
    def called(buffer, user_data):
        seen.append((buffer, user_data, info("clGetMemObjectInfo", buffer, MemInfo.SIZE)))

    return called


def test_callbacks_at_the_end_come_last_one_first(context):
    seen = []
    function = _destructor(seen)
    address = ctypes.cast(function, ctypes.c_void_p).value
    whole = call("clCreateBuffer", context, 0, 1000, 0)
    part = call("clCreateSubBuffer", whole, 0, _REGION, sizes(0, 500))
    for data in (1, 2, 3):
        call("clSetMemObjectDestructorCallback", whole, address, data)
    call("clSetMemObjectDestructorCallback", part, address, 4)
    call("clReleaseMemObject", whole)
    assert seen == []       # the part needs it
    call("clReleaseMemObject", part)
    assert sorted(seen[:1]) == [(part, 4, 500)]
    assert seen[1:] == [(whole, 3, 1000), (whole, 2, 1000), (whole, 1, 1000)]
    assert status_of("clReleaseMemObject", whole) is Status.INVALID_MEM_OBJECT


def test_callbacks_at_the_end_wait_for_commands(context, queue):
    gc.collect()
    before = memory().allocator.ranges
    seen = []
    function = _destructor(seen)
    buffer = call("clCreateBuffer", context, 0, 1000, 0)
    call("clSetMemObjectDestructorCallback", buffer, ctypes.cast(function, ctypes.c_void_p).value, 1)
    hold(queue, gate := threading.Event())
    found = np.zeros(4, np.uint8)
    call("clEnqueueReadBuffer", queue, buffer, 0, 0, 4, found, 0, 0, 0)
    call("clReleaseMemObject", buffer)
    assert seen == []
    gate.set()
    call("clFinish", queue)
    for _ in range(100):
        if seen and memory().allocator.ranges == before:
            break
        time.sleep(0.02)
    assert seen == [(buffer, 1, 1000)]
    assert memory().allocator.ranges == before
    assert status_of("clSetMemObjectDestructorCallback", queue, 1, 0) is Status.INVALID_MEM_OBJECT


def test_callbacks_at_the_end_come_in_a_fork_too(context, queue):
    seen = []
    function = _destructor(seen)
    buffer = call("clCreateBuffer", context, 0, 1000, 0)
    call("clSetMemObjectDestructorCallback", buffer, ctypes.cast(function, ctypes.c_void_p).value, 1)
    call("clFinish", queue)
    child = os.fork()
    if not child:
        hold(queue, gate := threading.Event())
        found = np.zeros(4, np.uint8)
        call("clEnqueueReadBuffer", queue, buffer, 0, 0, 4, found, 0, 0, 0)
        call("clReleaseMemObject", buffer)
        call("clFlush", queue)
        gate.set()
        for _ in range(250):
            if seen:
                os._exit(0)
            time.sleep(0.02)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert seen == []
    call("clReleaseMemObject", buffer)
    assert seen == [(buffer, 1, 1000)]


def test_there_are_no_images(context, queue):
    buffer = call("clCreateBuffer", context, 0, 1000, 0)
    place = sizes(0)
    assert status_of("clCreateImage", context, 0, place, place, 0) is Status.INVALID_OPERATION
    assert status_of("clCreateImage2D", context, 0, place, 4, 4, 0, 0) is Status.INVALID_OPERATION
    assert status_of("clCreateImage3D", context, 0, place, 4, 4, 4, 0, 0, 0) is Status.INVALID_OPERATION
    assert status_of("clCreateImage", queue, 0, place, place, 0) is Status.INVALID_CONTEXT
    assert status_of("clCreateSampler", context, 0, 0x1130, 0x1140) is Status.INVALID_OPERATION
    for name, arguments in [("clRetainSampler", ()), ("clReleaseSampler", ()), ("clGetSamplerInfo", (0, 0, 0, 0))]:
        assert status_of(name, buffer, *arguments) is Status.INVALID_SAMPLER
    assert status_of("clGetImageInfo", buffer, 0x1110, 0, 0, 0) is Status.INVALID_MEM_OBJECT
    three = sizes(1, 1, 1)
    for name, arguments in [
        ("clEnqueueReadImage", (buffer, 1, three, three, 0, 0, place)),
        ("clEnqueueWriteImage", (buffer, 1, three, three, 0, 0, place)),
        ("clEnqueueCopyImage", (buffer, buffer, three, three, three)),
        ("clEnqueueCopyImageToBuffer", (buffer, buffer, three, three, 0)),
        ("clEnqueueCopyBufferToImage", (buffer, buffer, 0, three, three)),
        ("clEnqueueMapImage", (buffer, 1, 1, three, three, place, place)),
        ("clEnqueueFillImage", (buffer, place, three, three)),
    ]:
        assert status_of(name, queue, *arguments, 0, 0, 0) is Status.INVALID_MEM_OBJECT
        assert status_of(name, 0, *arguments, 0, 0, 0) is Status.INVALID_COMMAND_QUEUE
    count = ctypes.c_uint32(9)
    call("clGetSupportedImageFormats", context, MemFlags.READ_ONLY, MemObjectType.IMAGE2D, 0, 0, count)
    assert count.value == 0
    for arguments in [(1 << 20, MemObjectType.IMAGE2D, 0, 0), (0, MemObjectType.BUFFER, 0, 0),
                      (0, MemObjectType.IMAGE2D, 0, place)]:
        assert status_of("clGetSupportedImageFormats", context, *arguments, 0) is Status.INVALID_VALUE


def test_ten_threads_use_one_context(context):
    wrong = []

    def work(number):
        queue = direct.queue(context)
        content = np.full(5000, number, np.uint8)
        for _ in range(20):
            buffer = call("clCreateBuffer", context, 0, 5000, 0)
            call("clEnqueueWriteBuffer", queue, buffer, 0, 0, 5000, content, 0, 0, 0)
            place = call("clEnqueueMapBuffer", queue, buffer, 1, MapFlags.READ, 0, 5000, 0, 0, 0)
            if not np.array_equal(_at(place, 5000), content):
                wrong.append(number)
            call("clEnqueueUnmapMemObject", queue, buffer, place, 0, 0, 0)
            call("clReleaseMemObject", buffer)
        call("clFinish", queue)
        call("clReleaseCommandQueue", queue)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
