"""Buffers are made, asked, read and written."""

import ctypes
import gc
import threading

import numpy as np
import pytest

from fgpu.opencl.devices import memory
from fgpu.opencl.enums import MemFlags, MemInfo, MemObjectType, Status
from fgpu.opencl.objects import alive

from . import direct
from .direct import call, hold, info, status_of

_MIB = 1 << 20


def test_a_buffer_holds_what_is_written(context, queue):
    content = np.arange(1000, dtype=np.int32)
    found = np.zeros_like(content)
    buffer = call("clCreateBuffer", context, MemFlags.COPY_HOST_PTR, content.nbytes, content)
    call("clEnqueueReadBuffer", queue, buffer, 1, 0, found.nbytes, found, 0, 0, 0)
    assert np.array_equal(found, content)
    part = np.array([-1, -2, -3], np.int32)
    call("clEnqueueWriteBuffer", queue, buffer, 0, 40, 12, part, 0, 0, 0)
    call("clEnqueueReadBuffer", queue, buffer, 0, 36, 20, found, 0, 0, 0)
    call("clFinish", queue)
    assert list(found[:6]) == [9, -1, -2, -3, 13, 5]


def test_a_buffer_tells_what_it_is(context):
    content = np.zeros(100, np.uint8)
    buffer = call("clCreateBuffer", context, MemFlags.READ_ONLY | MemFlags.USE_HOST_PTR, 100, content)
    assert [info("clGetMemObjectInfo", buffer, name) for name in (
        MemInfo.FLAGS, MemInfo.SIZE, MemInfo.HOST_PTR, MemInfo.CONTEXT, MemInfo.ASSOCIATED_MEMOBJECT, MemInfo.OFFSET)
    ] == [MemFlags.READ_ONLY | MemFlags.USE_HOST_PTR, 100, content.ctypes.data, context, 0, 0]
    assert [info("clGetMemObjectInfo", buffer, name, ctypes.c_uint32) for name in (
        MemInfo.TYPE, MemInfo.MAP_COUNT, MemInfo.REFERENCE_COUNT)] == [MemObjectType.BUFFER, 0, 1]
    call("clRetainMemObject", buffer)
    assert info("clGetMemObjectInfo", buffer, MemInfo.REFERENCE_COUNT, ctypes.c_uint32) == 2
    call("clReleaseMemObject", buffer)
    call("clReleaseMemObject", buffer)
    assert status_of("clReleaseMemObject", buffer) is Status.INVALID_MEM_OBJECT


@pytest.mark.parametrize(("flags", "size", "has_pointer", "expected"), [
    (MemFlags.READ_ONLY | MemFlags.WRITE_ONLY, 4, False, Status.INVALID_VALUE),
    (MemFlags.READ_WRITE | MemFlags.WRITE_ONLY, 4, False, Status.INVALID_VALUE),
    (MemFlags.HOST_READ_ONLY | MemFlags.HOST_WRITE_ONLY, 4, False, Status.INVALID_VALUE),
    (MemFlags.HOST_READ_ONLY | MemFlags.HOST_NO_ACCESS, 4, False, Status.INVALID_VALUE),
    (MemFlags.USE_HOST_PTR | MemFlags.ALLOC_HOST_PTR, 4, True, Status.INVALID_VALUE),
    (MemFlags.USE_HOST_PTR | MemFlags.COPY_HOST_PTR, 4, True, Status.INVALID_VALUE),
    (MemFlags.ALLOC_HOST_PTR | MemFlags.COPY_HOST_PTR, 4, True, Status.SUCCESS),
    (1 << 6, 4, False, Status.INVALID_VALUE),
    (1 << 40, 4, False, Status.INVALID_VALUE),
    (0, 0, False, Status.INVALID_BUFFER_SIZE),
    (0, 256 * _MIB, False, Status.SUCCESS),
    (0, 256 * _MIB + 1, False, Status.INVALID_BUFFER_SIZE),
    (0, (1 << 64) - 1, False, Status.INVALID_BUFFER_SIZE),
    (0, 4, True, Status.INVALID_HOST_PTR),
    (MemFlags.ALLOC_HOST_PTR, 4, True, Status.INVALID_HOST_PTR),
    (MemFlags.COPY_HOST_PTR, 4, False, Status.INVALID_HOST_PTR),
    (MemFlags.USE_HOST_PTR, 4, False, Status.INVALID_HOST_PTR),
])
def test_what_cannot_be_made_is_refused(context, flags, size, has_pointer, expected):
    pointer = np.zeros(4, np.uint8) if has_pointer else 0
    if expected is Status.SUCCESS:
        call("clReleaseMemObject", call("clCreateBuffer", context, flags, size, pointer))
    else:
        assert status_of("clCreateBuffer", context, flags, size, pointer) is expected


def test_handles_of_other_kinds_are_no_buffers(context, queue):
    assert status_of("clCreateBuffer", queue, 0, 4, 0) is Status.INVALID_CONTEXT
    assert status_of("clCreateBuffer", 0, 0, 4, 0) is Status.INVALID_CONTEXT
    for handle in (0, context, queue, 12345):
        assert status_of("clRetainMemObject", handle) is Status.INVALID_MEM_OBJECT
        assert status_of("clReleaseMemObject", handle) is Status.INVALID_MEM_OBJECT
        assert status_of("clGetMemObjectInfo", handle, MemInfo.SIZE, 8, np.zeros(8, np.uint8), 0) \
            is Status.INVALID_MEM_OBJECT


def test_reads_and_writes_are_checked(context, queue):
    host = np.zeros(100, np.uint8)
    buffer = call("clCreateBuffer", context, 0, 100, 0)
    elsewhere = call("clCreateBuffer", direct.context(), 0, 100, 0)
    for name in ("clEnqueueReadBuffer", "clEnqueueWriteBuffer"):
        for on, mem, offset, size, pointer, expected in [
            (0, buffer, 0, 100, host, Status.INVALID_COMMAND_QUEUE),
            (queue, 0, 0, 100, host, Status.INVALID_MEM_OBJECT),
            (queue, queue, 0, 100, host, Status.INVALID_MEM_OBJECT),
            (queue, elsewhere, 0, 100, host, Status.INVALID_CONTEXT),
            (queue, buffer, 0, 0, host, Status.INVALID_VALUE),
            (queue, buffer, 0, 101, host, Status.INVALID_VALUE),
            (queue, buffer, 100, 1, host, Status.INVALID_VALUE),
            (queue, buffer, (1 << 64) - 1, 2, host, Status.INVALID_VALUE),
            (queue, buffer, 0, 100, 0, Status.INVALID_VALUE),
        ]:
            assert status_of(name, on, mem, 1, offset, size, pointer, 0, 0, 0) is expected
        assert status_of(name, queue, buffer, 1, 0, 100, host, 1, 0, 0) is Status.INVALID_EVENT_WAIT_LIST


@pytest.mark.parametrize(("flags", "name"), [
    (MemFlags.HOST_WRITE_ONLY, "clEnqueueReadBuffer"), (MemFlags.HOST_NO_ACCESS, "clEnqueueReadBuffer"),
    (MemFlags.HOST_READ_ONLY, "clEnqueueWriteBuffer"), (MemFlags.HOST_NO_ACCESS, "clEnqueueWriteBuffer")])
def test_the_host_keeps_to_what_it_said(context, queue, flags, name):
    buffer = call("clCreateBuffer", context, flags, 4, 0)
    assert status_of(name, queue, buffer, 1, 0, 4, np.zeros(4, np.uint8), 0, 0, 0) is Status.INVALID_OPERATION


def test_memory_is_given_back_when_the_last_command_is_over(context, queue):
    gc.collect()
    before = memory().allocator.ranges
    host = np.arange(1000, dtype=np.uint8)
    hold(queue, gate := threading.Event())
    buffer = call("clCreateBuffer", context, MemFlags.COPY_HOST_PTR, 1000, host)
    found = np.zeros_like(host)
    call("clEnqueueReadBuffer", queue, buffer, 0, 0, 1000, found, 0, 0, 0)
    call("clReleaseMemObject", buffer)
    assert memory().allocator.ranges != before
    gate.set()
    call("clFinish", queue)
    gc.collect()
    assert np.array_equal(found, host)
    assert memory().allocator.ranges == before


def test_no_more_memory_than_there_is(context):
    gc.collect()
    made = [call("clCreateBuffer", context, 0, 200 * _MIB, 0) for _ in range(4)]
    there = len(alive())
    assert status_of("clCreateBuffer", context, 0, 256 * _MIB, 0) is Status.MEM_OBJECT_ALLOCATION_FAILURE
    assert len(alive()) == there
    for buffer in made:
        call("clReleaseMemObject", buffer)
    assert status_of("clReleaseMemObject", call("clCreateBuffer", context, 0, 256 * _MIB, 0)) is Status.SUCCESS
