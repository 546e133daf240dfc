"""Kernels take arguments as bytes, answer questions, and are launched."""

import ctypes
import sys
import threading
import warnings

import numpy as np
import pytest

from fgpu.opencl.enums import (
    AccessQualifier,
    AddressQualifier,
    KernelArgInfo,
    KernelInfo,
    KernelWorkGroupInfo,
    MemFlags,
    Status,
    TypeQualifier,
)

from . import direct
from .direct import call, sizes, status_of, texts

_SOURCE = """
typedef struct { char a; int b; } S;
kernel void values(global int *p, char c, uchar d, short e, long f, float3 g, S s, half h) {
    p[0] = c; p[1] = d; p[2] = e; p[3] = f; p[4] = f >> 32; p[5] = g.z; p[6] = s.a; p[7] = s.b; p[8] = 2 * h;
}
kernel void pointers(global int *p, constant float *table, local int *a, local long *b, global const int *none) {
    a[0] = 1; b[0] = 2; p[0] = a[0] + b[0] + (none == 0) * 10 + table[1]; p[1] = (local char *)b - (local char *)a;
}
kernel void ids(global int *p) {
    size_t groups = get_num_groups(0);
    p[get_global_id(0) - get_global_offset(0)] = get_global_id(0) + 10000 * get_local_size(0) + 10000000 * groups;
}
kernel void plain(global int *p) { p[get_global_id(0)] = get_global_size(0); }
kernel __attribute__((reqd_work_group_size(8, 4, 1))) void demands(global int *p) {
    local int shared[100];
    shared[get_local_id(0)] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    p[get_global_id(0) + 16 * get_global_id(1) + 128 * get_global_id(2)] = shared[7 - get_local_id(0)];
}
kernel void says(int n) { printf("n = %d\\n", n); }
kernel void faults(global int *p) { *(global int *)0x40 = 1; }
"""


@pytest.fixture(scope="module")
def program(context):
    program = call("clCreateProgramWithSource", context, 1, texts(_SOURCE), 0)
    call("clBuildProgram", program, 0, 0, 0, 0, 0)
    return program


def kernel_of(program, name):
    return call("clCreateKernel", program, ctypes.create_string_buffer(name.encode()))


@pytest.fixture
def out(context):
    buffer = call("clCreateBuffer", context, MemFlags.COPY_HOST_PTR, 1 << 14, np.zeros(1 << 12, np.int32))
    yield buffer
    call("clReleaseMemObject", buffer)


def set_handle(kernel, index, handle):
    call("clSetKernelArg", kernel, index, 8, ctypes.c_size_t(handle))


def set_value(kernel, index, value):
    call("clSetKernelArg", kernel, index, value.nbytes, value)


def launch(queue, kernel, size, local=None, offset=None):
    call("clEnqueueNDRangeKernel", queue, kernel, len(size), sizes(*offset) if offset else 0, sizes(*size),
         sizes(*local) if local else 0, 0, 0, 0)


def content(queue, buffer, count):
    found = np.zeros(count, np.int32)
    call("clEnqueueReadBuffer", queue, buffer, 1, 0, found.nbytes, found, 0, 0, 0)
    return found.tolist()


def test_values_are_passed_as_bytes(program, queue, out):
    kernel = kernel_of(program, "values")
    set_handle(kernel, 0, out)
    struct = np.array([(-3, 70000)], np.dtype([("a", "i1"), ("b", "i4")], align=True))
    for index, value in enumerate([np.int8(-5), np.uint8(250), np.int16(-300), np.int64(-7 << 32 | 9),
                                   np.array([1, 2, 3, 4], np.float32), struct, np.float16(1.5)], 1):
        set_value(kernel, index, np.atleast_1d(value))
    call("clEnqueueTask", queue, kernel, 0, 0, 0)
    assert content(queue, out, 9) == [-5, 250, -300, 9, -7, 3, -3, 70000, 3]


def test_wrong_arguments_are_refused(program, context, queue, out):
    kernel = kernel_of(program, "pointers")
    value, null = np.zeros(4, np.int32), ctypes.c_size_t(0)
    assert status_of("clSetKernelArg", 0, 0, 8, null) is Status.INVALID_KERNEL
    assert status_of("clSetKernelArg", kernel, 5, 8, null) is Status.INVALID_ARG_INDEX
    assert status_of("clSetKernelArg", kernel, 0, 4, null) is Status.INVALID_ARG_SIZE
    assert status_of("clSetKernelArg", kernel, 0, 8, ctypes.c_size_t(queue)) is Status.INVALID_MEM_OBJECT
    assert status_of("clSetKernelArg", kernel, 2, 8, value) is Status.INVALID_ARG_VALUE
    assert status_of("clSetKernelArg", kernel, 2, 0, 0) is Status.INVALID_ARG_SIZE
    other = direct.context()
    elsewhere = call("clCreateBuffer", other, 0, 4, 0)
    assert status_of("clSetKernelArg", kernel, 0, 8, ctypes.c_size_t(elsewhere)) is Status.INVALID_MEM_OBJECT
    assert status_of("clEnqueueTask", queue, kernel, 0, 0, 0) is Status.INVALID_KERNEL_ARGS
    values = kernel_of(program, "values")
    assert status_of("clSetKernelArg", values, 1, 4, value) is Status.INVALID_ARG_SIZE
    assert status_of("clSetKernelArg", values, 1, 1, 0) is Status.INVALID_ARG_VALUE


def test_pointers_local_memory_and_null(program, context, queue, out):
    kernel = kernel_of(program, "pointers")
    table = call("clCreateBuffer", context, 0, 64, 0)
    call("clEnqueueWriteBuffer", queue, table, 1, 0, 8, np.array([0, 100], np.float32), 0, 0, 0)
    set_handle(kernel, 0, out)
    set_handle(kernel, 1, table)
    call("clSetKernelArg", kernel, 2, 20, 0)
    call("clSetKernelArg", kernel, 3, 1000, 0)
    call("clSetKernelArg", kernel, 4, 8, 0)
    launch(queue, kernel, (64,), (64,))
    total, distance = content(queue, out, 2)
    assert total == 113
    assert distance >= 20
    assert distance % 8 == 0


def test_arguments_are_those_of_the_time_of_the_call(program, context, queue, out):
    kernel = kernel_of(program, "plain")
    gate = threading.Event()
    direct.hold(queue, gate)
    set_handle(kernel, 0, out)
    launch(queue, kernel, (64,))
    other = call("clCreateBuffer", context, 0, 4096, 0)
    set_handle(kernel, 0, other)
    launch(queue, kernel, (128,))
    call("clReleaseMemObject", other)
    call("clReleaseKernel", kernel)
    gate.set()
    assert content(queue, out, 64) == [64] * 64


def test_an_argument_holds_no_reference_and_a_launch_does(program, context, queue):
    kernel = kernel_of(program, "plain")
    buffer = call("clCreateBuffer", context, 0, 256, 0)
    set_handle(kernel, 0, buffer)
    gate = call("clCreateUserEvent", context)
    call("clEnqueueNDRangeKernel", queue, kernel, 1, 0, sizes(64), 0, 1, sizes(gate), 0)
    call("clReleaseMemObject", buffer)
    call("clRetainMemObject", buffer)       # is there as long as the launch is
    call("clReleaseMemObject", buffer)
    call("clSetUserEventStatus", gate, 0)
    call("clFinish", queue)
    assert status_of("clRetainMemObject", buffer) is Status.INVALID_MEM_OBJECT
    assert status_of("clEnqueueNDRangeKernel", queue, kernel, 1, 0, sizes(64), 0, 0, 0, 0) is \
        Status.INVALID_KERNEL_ARGS


@pytest.mark.parametrize(("size", "local", "offset"), [
    ((61,), None, None), ((96,), None, (7,)), ((64,), (16,), (1000,)), ((2048,), (512,), None), ((1,), (1,), None),
])
def test_ids_are_those_of_the_launch(program, queue, out, size, local, offset):
    kernel = kernel_of(program, "ids")
    set_handle(kernel, 0, out)
    launch(queue, kernel, size, local, offset)
    found = content(queue, out, size[0])
    group = local[0] if local else found[0] // 10000 % 1000
    assert size[0] % group == 0
    expected = np.arange(size[0]) + (offset[0] if offset else 0) + 10000 * group + 10000000 * (size[0] // group)
    assert found == expected.tolist()


def test_launches_in_parts_have_one_size(program, queue, out):
    kernel = kernel_of(program, "plain")
    set_handle(kernel, 0, out)
    launch(queue, kernel, (1021,))
    assert content(queue, out, 1022) == [1021] * 1021 + [0]


def test_demanded_work_groups(program, queue, out):
    kernel = kernel_of(program, "demands")
    set_handle(kernel, 0, out)
    launch(queue, kernel, (16, 8, 1), (8, 4, 1))
    launch(queue, kernel, (16, 8, 2))       # as the conformance tests want it
    assert content(queue, out, 256) == [1] * 256

    def failure(*arguments):
        with pytest.raises(direct.Failed) as failed:
            launch(queue, kernel, *arguments)
        return failed.value.status

    assert failure((12, 8, 2)) is Status.INVALID_WORK_GROUP_SIZE
    assert failure((64,)) is Status.INVALID_WORK_GROUP_SIZE
    assert failure((16, 8, 2), (4, 8, 1)) is Status.INVALID_WORK_GROUP_SIZE


def test_wrong_launches_are_refused(program, queue, out):
    kernel = kernel_of(program, "plain")
    set_handle(kernel, 0, out)

    def failure(*arguments):
        with pytest.raises(direct.Failed) as failed:
            launch(queue, kernel, *arguments)
        return failed.value.status

    assert failure(()) is Status.INVALID_WORK_DIMENSION
    assert failure((1, 1, 1, 1)) is Status.INVALID_WORK_DIMENSION
    assert failure((0,)) is Status.INVALID_GLOBAL_WORK_SIZE
    assert failure((1 << 32,)) is Status.INVALID_GLOBAL_WORK_SIZE
    assert failure((64,), None, ((1 << 32) - 63,)) is Status.INVALID_GLOBAL_OFFSET
    assert failure((64,), (0,)) is Status.INVALID_WORK_GROUP_SIZE
    assert failure((64,), (48,)) is Status.INVALID_WORK_GROUP_SIZE
    assert failure((1024,), (1024,)) is Status.INVALID_WORK_ITEM_SIZE
    assert failure((64, 64), (64, 64)) is Status.INVALID_WORK_GROUP_SIZE
    assert status_of("clEnqueueNDRangeKernel", queue, kernel, 1, 0, 0, 0, 0, 0, 0) is Status.INVALID_GLOBAL_WORK_SIZE
    assert status_of("clEnqueueNDRangeKernel", queue, 0, 1, 0, sizes(1), 0, 0, 0, 0) is Status.INVALID_KERNEL
    assert status_of("clEnqueueNDRangeKernel", 0, kernel, 1, 0, sizes(1), 0, 0, 0, 0) is Status.INVALID_COMMAND_QUEUE
    other = direct.queue(direct.context())
    assert status_of("clEnqueueTask", other, kernel, 0, 0, 0) is Status.INVALID_CONTEXT


def test_kernels_are_described(program):
    kernel = kernel_of(program, "demands")
    assert direct.text_info("clGetKernelInfo", kernel, KernelInfo.FUNCTION_NAME) == "demands"
    assert direct.text_info("clGetKernelInfo", kernel, KernelInfo.ATTRIBUTES) == "reqd_work_group_size(8,4,1)"
    assert direct.info("clGetKernelInfo", kernel, KernelInfo.NUM_ARGS, ctypes.c_uint32) == 1
    assert direct.info("clGetKernelInfo", kernel, KernelInfo.PROGRAM) == program

    def work_group(name, count=1):
        value = (ctypes.c_size_t * count)()
        call("clGetKernelWorkGroupInfo", kernel, direct.device(), name, ctypes.sizeof(value), value, 0)
        return tuple(value)

    assert work_group(KernelWorkGroupInfo.COMPILE_WORK_GROUP_SIZE, 3) == (8, 4, 1)
    assert work_group(KernelWorkGroupInfo.WORK_GROUP_SIZE) == (512,)
    assert work_group(KernelWorkGroupInfo.PREFERRED_WORK_GROUP_SIZE_MULTIPLE) == (64,)
    assert work_group(KernelWorkGroupInfo.LOCAL_MEM_SIZE) == (400,)
    assert status_of("clGetKernelWorkGroupInfo", kernel, program, KernelWorkGroupInfo.WORK_GROUP_SIZE, 0, 0, 0) \
        is Status.INVALID_DEVICE


def test_arguments_are_described(program):
    kernel = kernel_of(program, "pointers")

    def about(index, name, kind):
        value = kind()
        call("clGetKernelArgInfo", kernel, index, name, ctypes.sizeof(kind), value, 0)
        return value.value

    spaces = [about(index, KernelArgInfo.ADDRESS_QUALIFIER, ctypes.c_uint32) for index in range(5)]
    assert spaces == [AddressQualifier.GLOBAL, AddressQualifier.CONSTANT, AddressQualifier.LOCAL,
                      AddressQualifier.LOCAL, AddressQualifier.GLOBAL]
    assert about(1, KernelArgInfo.TYPE_NAME, ctypes.c_char * 7) == b"float*"
    assert about(3, KernelArgInfo.NAME, ctypes.c_char * 2) == b"b"
    assert about(4, KernelArgInfo.TYPE_QUALIFIER, ctypes.c_uint64) == TypeQualifier.CONST
    assert about(0, KernelArgInfo.ACCESS_QUALIFIER, ctypes.c_uint32) == AccessQualifier.NONE
    assert status_of("clGetKernelArgInfo", kernel, 5, KernelArgInfo.NAME, 0, 0, 0) is Status.INVALID_ARG_INDEX


def test_all_kernels_at_once(program):
    count = ctypes.c_uint32()
    call("clCreateKernelsInProgram", program, 0, 0, count)
    assert count.value == _SOURCE.count("\nkernel")
    handles = sizes(*[0] * count.value)
    assert status_of("clCreateKernelsInProgram", program, 1, handles, 0) is Status.INVALID_VALUE
    call("clCreateKernelsInProgram", program, count.value, handles, 0)
    assert direct.text_info("clGetKernelInfo", handles[0], KernelInfo.FUNCTION_NAME) == "values"


def built_kernel(context, source, name):
    """A kernel of a program of its own."""
    program = call("clCreateProgramWithSource", context, 1, texts(source), 0)
    call("clBuildProgram", program, 0, 0, 0, 0, 0)
    return kernel_of(program, name)


def test_output_is_printed(program, queue, capfd):
    kernel = kernel_of(program, "says")
    for n in 1, 2:
        set_value(kernel, 0, np.array([n], np.int32))
        call("clEnqueueTask", queue, kernel, 0, 0, 0)
    call("clFinish", queue)
    assert capfd.readouterr().out == "n = 1\nn = 2\n"


@pytest.mark.parametrize("error", [OSError(28, "No space left"), ValueError("I/O operation on closed file")])
def test_a_kernel_ends_well_where_its_output_cannot_be_written(program, queue, capsys, monkeypatch, error):
    class Full:
        def write(self, text):
            raise error

    kernel = kernel_of(program, "says")
    set_value(kernel, 0, np.array([1], np.int32))
    event = direct.out()
    monkeypatch.setattr(sys, "stdout", Full())
    call("clEnqueueTask", queue, kernel, 0, 0, event)
    call("clWaitForEvents", 1, event)
    assert str(error) in capsys.readouterr().err


def test_bytes_are_printed_as_they_are(queue, context, capfdbinary):
    kernel = built_kernel(context, "kernel void k(int n) { printf(\"%c\\xE9|%s\\n\", n, \"\\u00e9\"); }", "k")
    set_value(kernel, 0, np.array([0xFF], np.int32))
    call("clEnqueueTask", queue, kernel, 0, 0, 0)
    call("clFinish", queue)
    assert capfdbinary.readouterr().out == b"\xff\xe9|" + "\u00e9\n".encode()


def test_output_without_room_is_a_line(queue, context, capfd):
    source = "kernel void many(int n) { for (int i = 0; i < n; i++) printf(\"%v16d\\n\", (int16)(i)); }"
    kernel = built_kernel(context, source, "many")
    set_value(kernel, 0, np.array([20_000], np.int32))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call("clEnqueueTask", queue, kernel, 0, 0, 0)
        call("clFinish", queue)
    out, err = capfd.readouterr()
    assert 0 < out.count("\n") < 20_000
    assert f"fgpu: kernel 'many': {20_000 - out.count(chr(10))} of 20000 calls of printf are not printed" in err


def test_a_fault_is_the_events_error_and_a_line(program, queue, out, capfd):
    kernel = kernel_of(program, "faults")
    set_handle(kernel, 0, out)
    event = direct.out()
    call("clEnqueueTask", queue, kernel, 0, 0, event)
    assert status_of("clWaitForEvents", 1, event) is Status.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
    assert "kernel 'faults'" in capfd.readouterr().err
