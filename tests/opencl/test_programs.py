"""Programs are built, compiled, linked, kept as binaries, and asked."""

import ctypes
import re
import threading

import numpy as np
import pytest

from fgpu.compiler.units import Unit
from fgpu.errors import ToolError
from fgpu.opencl.entry import ENTRIES
from fgpu.opencl.enums import BinaryType, BuildInfo, BuildStatus, DeviceInfo, Partition, ProgramInfo, Status

from . import direct
from .direct import call, status_of, texts

_SOURCE = "kernel void k(global int *p) { p[get_global_id(0)] = N; }\nkernel void other() {}\n"
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


def made(context, *sources):
    return call("clCreateProgramWithSource", context, len(sources), texts(*sources), 0)


def options(*words):
    return ctypes.create_string_buffer(" ".join(words).encode())


def built(context, source, *words):
    program = made(context, source)
    call("clBuildProgram", program, 0, 0, options(*words), 0, 0)
    return program


def info(program, name, kind=None):
    return direct.text_info("clGetProgramInfo", program, name) if kind is None else \
        direct.info("clGetProgramInfo", program, name, kind)


def build_answer(program, name):
    """The bytes of an answer."""
    size = ctypes.c_size_t()
    call("clGetProgramBuildInfo", program, direct.device(), name, 0, 0, size)
    value = ctypes.create_string_buffer(size.value)
    call("clGetProgramBuildInfo", program, direct.device(), name, size.value, value, 0)
    return value


def build_info(program, name, kind=None):
    value = build_answer(program, name)
    return value.value.decode() if kind is None else kind.from_buffer(value).value


def result(context, queue, program, name="k"):
    """What ``k(p)`` of one work-item writes."""
    kernel = call("clCreateKernel", program, ctypes.create_string_buffer(name.encode()))
    buffer = call("clCreateBuffer", context, 0, 4, 0)
    call("clSetKernelArg", kernel, 0, 8, ctypes.c_size_t(buffer))
    call("clEnqueueTask", queue, kernel, 0, 0, 0)
    found = np.zeros(1, np.int32)
    call("clEnqueueReadBuffer", queue, buffer, 1, 0, 4, found, 0, 0, 0)
    call("clReleaseKernel", kernel)
    call("clReleaseMemObject", buffer)
    return int(found[0])


def binary_of(program):
    size = ctypes.c_size_t()
    call("clGetProgramInfo", program, ProgramInfo.BINARY_SIZES, ctypes.sizeof(size), size, 0)
    content = ctypes.create_string_buffer(size.value)
    call("clGetProgramInfo", program, ProgramInfo.BINARIES, 8, ctypes.c_size_t(ctypes.addressof(content)), 0)
    return content.raw


def from_binary(context, content):
    place = ctypes.create_string_buffer(content, len(content))
    status = ctypes.c_int32(99)
    try:
        program = call("clCreateProgramWithBinary", context, 1, ctypes.c_size_t(direct.device()),
                       ctypes.c_size_t(len(content)), ctypes.c_size_t(ctypes.addressof(place)), status)
    except direct.Failed:
        assert status.value == Status.INVALID_BINARY
        raise
    assert status.value == Status.SUCCESS
    return program


def test_a_program_is_built_with_options(context, queue):
    program = built(context, _SOURCE, "-DN=7", "-cl-mad-enable")
    assert build_info(program, BuildInfo.BUILD_STATUS, ctypes.c_int32) == BuildStatus.SUCCESS
    assert build_info(program, BuildInfo.BUILD_OPTIONS) == "-DN=7 -cl-mad-enable"
    assert build_info(program, BuildInfo.BINARY_TYPE, ctypes.c_int32) == BinaryType.EXECUTABLE
    assert info(program, ProgramInfo.KERNEL_NAMES) == "k;other"
    assert info(program, ProgramInfo.NUM_KERNELS, ctypes.c_size_t) == 2
    assert info(program, ProgramInfo.SOURCE) == _SOURCE
    assert result(context, queue, program) == 7
    call("clBuildProgram", program, 0, 0, options("-D", "N=8"), 0, 0)
    assert result(context, queue, program) == 8


def test_sources_are_one_text(context, queue):
    program = call("clCreateProgramWithSource", context, 2, texts("#define N 5", _SOURCE[:30]),
                   direct.sizes(0, 11))
    assert info(program, ProgramInfo.SOURCE) == "#define N 5" + _SOURCE[:11]
    assert status_of("clCreateProgramWithSource", context, 0, 0, 0) is Status.INVALID_VALUE
    assert status_of("clCreateProgramWithSource", context, 1, ctypes.c_size_t(0), 0) is Status.INVALID_VALUE


def test_sources_need_not_be_utf8(context, queue):
    source = ctypes.create_string_buffer(b"// \xe4\nkernel void k(global int *p) { *p = 3; }")
    program = call("clCreateProgramWithSource", context, 1, ctypes.c_size_t(ctypes.addressof(source)), 0)
    call("clBuildProgram", program, 0, 0, 0, 0, 0)
    assert result(context, queue, program) == 3
    call("clCompileProgram", made(context, '#include "h"'), 0, 0, 0, 1, ctypes.c_size_t(program), texts("h"), 0, 0)
    name = ctypes.create_string_buffer(b"\xe4.h")
    call("clCompileProgram", made(context, "kernel void k() {}"), 0, 0, 0, 1, ctypes.c_size_t(program),
         ctypes.c_size_t(ctypes.addressof(name)), 0, 0)


def test_errors_are_in_the_log_as_clang_words_them(context):
    program = made(context, "kernel void k(global int *p) { *p = a; }\nkernel void l() { b(); }\n")
    assert status_of("clBuildProgram", program, 0, 0, 0, 0, 0) is Status.BUILD_PROGRAM_FAILURE
    log = build_info(program, BuildInfo.BUILD_LOG)
    assert "<source>:1:37: error: use of undeclared identifier 'a'" in log
    assert "<source>:2:19: error:" in log
    assert build_info(program, BuildInfo.BUILD_STATUS, ctypes.c_int32) == BuildStatus.ERROR
    name = ctypes.create_string_buffer(b"k")
    assert status_of("clCreateKernel", program, name) is Status.INVALID_PROGRAM_EXECUTABLE


def test_what_is_not_defined_is_an_error_of_the_build(context):
    program = made(context, "int f(int); kernel void k(global int *p) { *p = f(*p); }")
    assert status_of("clBuildProgram", program, 0, 0, 0, 0, 0) is Status.BUILD_PROGRAM_FAILURE
    assert "undefined symbol 'f'" in build_info(program, BuildInfo.BUILD_LOG)


def test_a_program_without_kernels_is_built(context):
    program = built(context, "int f(int x) { return x; }")
    assert info(program, ProgramInfo.KERNEL_NAMES) == ""
    assert status_of("clCreateKernel", program, ctypes.create_string_buffer(b"f")) is Status.INVALID_KERNEL_NAME


def test_an_empty_source_is_a_program(context, queue):
    program = built(context, "")
    assert build_info(program, BuildInfo.BUILD_STATUS, ctypes.c_int32) == BuildStatus.SUCCESS
    assert info(program, ProgramInfo.SOURCE) == ""
    empty, other = made(context, ""), made(context, '#include "h"\n' + _SOURCE)
    call("clCompileProgram", empty, 0, 0, 0, 0, 0, 0, 0, 0)
    call("clCompileProgram", other, 0, 0, options("-DN=4"), 1, ctypes.c_size_t(empty), texts("h"), 0, 0)
    linked = call("clLinkProgram", context, 0, 0, 0, 2, direct.sizes(empty, other), 0, 0)
    assert result(context, queue, linked) == 4


def test_wrong_builds_are_refused(context):
    program = made(context, _SOURCE)
    device = ctypes.c_size_t(direct.device())
    assert status_of("clBuildProgram", 0, 0, 0, 0, 0, 0) is Status.INVALID_PROGRAM
    assert status_of("clBuildProgram", program, 1, 0, 0, 0, 0) is Status.INVALID_VALUE
    assert status_of("clBuildProgram", program, 0, device, 0, 0, 0) is Status.INVALID_VALUE
    assert status_of("clBuildProgram", program, 1, ctypes.c_size_t(context), 0, 0, 0) is Status.INVALID_DEVICE
    assert status_of("clBuildProgram", program, 0, 0, 0, 0, 1) is Status.INVALID_VALUE
    for wrong in "-nonsense", "-D", "'", "-cl-mad-enables":
        assert status_of("clBuildProgram", program, 0, 0, options(wrong), 0, 0) is Status.INVALID_BUILD_OPTIONS
        if wrong != "-cl-mad-enables":
            assert status_of("clCompileProgram", program, 0, 0, options(wrong), 0, 0, 0, 0, 0) \
                is Status.INVALID_COMPILER_OPTIONS
    assert "error: option '-cl-mad-enables' is not accepted; use -D" in build_info(program, BuildInfo.BUILD_LOG)
    assert info(program, ProgramInfo.SOURCE) == _SOURCE
    assert status_of("clGetProgramInfo", program, ProgramInfo.NUM_KERNELS, 8, ctypes.c_size_t(), 0) \
        is Status.INVALID_PROGRAM_EXECUTABLE


def test_programs_with_kernels_are_not_built_anew(context):
    program = built(context, _SOURCE, "-DN=1")
    kernel = call("clCreateKernel", program, ctypes.create_string_buffer(b"k"))
    assert status_of("clBuildProgram", program, 0, 0, 0, 0, 0) is Status.INVALID_OPERATION
    call("clReleaseKernel", kernel)
    call("clBuildProgram", program, 0, 0, options("-DN=2"), 0, 0)


def test_a_callback_tells_of_the_end_of_a_build(context, queue):
    program = made(context, _SOURCE)
    told, over = [], threading.Event()

    @_CALLBACK
    def notify(which, data):
        told.append((which, data))
        over.set()

    call("clBuildProgram", program, 0, 0, options("-DN=3"), ctypes.cast(notify, ctypes.c_void_p).value, 42)
    assert over.wait(60)
    assert told == [(program, 42)]
    assert result(context, queue, program) == 3


def test_binaries_are_loaded_again(context, queue):
    content = binary_of(built(context, _SOURCE, "-DN=9"))
    program = from_binary(context, content)
    name = ctypes.create_string_buffer(b"k")
    assert status_of("clCreateKernel", program, name) is Status.INVALID_PROGRAM_EXECUTABLE
    assert build_info(program, BuildInfo.BINARY_TYPE, ctypes.c_int32) == BinaryType.EXECUTABLE
    call("clBuildProgram", program, 0, 0, 0, 0, 0)
    assert binary_of(program)
    assert result(context, queue, program) == 9
    assert info(program, ProgramInfo.SOURCE) == ""
    with pytest.raises(direct.Failed, match="INVALID_BINARY"):
        from_binary(context, b"\x7fELF")


def test_binaries_are_refused_whichever_byte_is_damaged(context, queue):
    content = binary_of(built(context, _SOURCE, "-DN=9"))
    head = content.index(b"-DN=9") + 10
    for place in (*range(head), *range(head, len(content), 97), len(content) - 1):
        for bit in (1, 4):
            damaged = bytearray(content)
            damaged[place] ^= bit
            with pytest.raises(direct.Failed, match="INVALID_BINARY"):
                from_binary(context, bytes(damaged))
    for length in (*range(1, head), len(content) - 1):
        with pytest.raises(direct.Failed, match="INVALID_BINARY"):
            from_binary(context, content[:length])


def test_programs_are_compiled_with_headers_and_linked(context, queue):
    caller = made(context, '#include <inc/h.h>\nint f(int x);\nkernel void k(global int *p) { *p = f(H); }')
    called = made(context, "int f(int x) { return x + 1; }")
    header = made(context, "#define H 20\n")
    call("clCompileProgram", caller, 0, 0, 0, 1, ctypes.c_size_t(header), texts("inc/h.h"), 0, 0)
    call("clCompileProgram", called, 0, 0, 0, 0, 0, 0, 0, 0)
    assert build_info(called, BuildInfo.BINARY_TYPE, ctypes.c_int32) == BinaryType.COMPILED_OBJECT
    device = ctypes.c_size_t(direct.device())

    def linked(*programs, words=""):
        return call("clLinkProgram", context, 1, device, options(words), len(programs), direct.sizes(*programs), 0, 0)

    assert result(context, queue, linked(caller, called)) == 21
    library = linked(called, words="-create-library")
    assert build_info(library, BuildInfo.BINARY_TYPE, ctypes.c_int32) == BinaryType.LIBRARY
    loaded = from_binary(context, binary_of(library))
    assert result(context, queue, linked(caller, loaded)) == 21
    for wrong, why in (((caller,), "LINK_PROGRAM_FAILURE"), ((caller, called, called), "LINK_PROGRAM_FAILURE"),
                       ((caller, header), "INVALID_OPERATION"), ((), "INVALID_VALUE")):
        with pytest.raises(direct.Failed, match=why):
            linked(*wrong)
    with pytest.raises(direct.Failed, match="INVALID_VALUE"):
        call("clCompileProgram", caller, 0, 0, 0, 1, ctypes.c_size_t(header), texts(""), 0, 0)
    with pytest.raises(direct.Failed, match="INVALID_LINKER_OPTIONS"):
        linked(caller, called, words="-DN=1")


def test_a_header_comes_before_a_file_of_its_name(context, queue, tmp_path, monkeypatch):
    """Which is found all the same where no header has that name, and by paths that begin here."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "h.h").write_text("#define H 9900\n")
    (tmp_path / "here.h").write_text("#define HERE 7\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "there.h").write_text("#define THERE 5\n")
    program = made(context, '#include "h.h"\n#include "here.h"\n#include "there.h"\n'
                            "kernel void k(global int *p) { *p = H + HERE + THERE; }")
    header = made(context, "#define H 100\n")
    call("clCompileProgram", program, 0, 0, options("-I", "folder"), 1, ctypes.c_size_t(header), texts("h.h"), 0, 0)
    assert result(context, queue, call("clLinkProgram", context, 0, 0, 0, 1, direct.sizes(program), 0, 0)) == 112


def test_without_a_list_programs_are_linked_for_the_devices_that_they_were_compiled_for():
    parts = (ctypes.c_size_t * 2)()
    call("clCreateSubDevices", direct.device(), (ctypes.c_ssize_t * 3)(Partition.EQUALLY, 2, 0), 2, parts, 0)
    context = call("clCreateContext", 0, 2, parts, 0, 0)
    one, both, none = (made(context, f"kernel void {name}(global int *p) {{ *p = 3; }}") for name in "kbn")
    call("clCompileProgram", one, 1, (ctypes.c_size_t * 1)(parts[0]), 0, 0, 0, 0, 0, 0)
    call("clCompileProgram", both, 0, 0, 0, 0, 0, 0, 0, 0)

    def linked(*programs):
        return call("clLinkProgram", context, 0, 0, 0, len(programs), direct.sizes(*programs), 0, 0)

    assert info(linked(one), ProgramInfo.NUM_DEVICES, ctypes.c_uint32) == 1
    assert result(context, call("clCreateCommandQueue", context, parts[0], 0), linked(one)) == 3
    assert info(linked(both), ProgramInfo.NUM_DEVICES, ctypes.c_uint32) == 2
    for wrong in ((one, both), (none,)):
        with pytest.raises(direct.Failed, match="INVALID_OPERATION"):
            linked(*wrong)


def test_options_may_be_any_bytes(context, queue):
    """As a path in another encoding; they are returned as they came, and kept in binaries."""
    program, given = made(context, _SOURCE), b"-DN=4 -I/tmp/\xe9"
    call("clBuildProgram", program, 0, 0, ctypes.create_string_buffer(given), 0, 0)
    for each in (program, from_binary(context, binary_of(program))):
        assert build_answer(each, BuildInfo.BUILD_OPTIONS).value == given
    assert result(context, queue, program) == 4


@pytest.mark.parametrize(("define", "words"), [
    ("#define restrict __restrict__\n", ()), ("", ("-Drestrict=__restrict",))])
def test_a_program_may_define_restrict_where_warnings_are_errors(context, queue, define, words):
    source = define + "kernel void k(global int *restrict p) { *p = 1; barrier(1); *p += 4; }"
    assert result(context, queue, built(context, source, "-Werror", *words)) == 5


def test_there_are_no_built_in_kernels(context):
    device = ctypes.c_size_t(direct.device())
    name = ctypes.create_string_buffer(b"k")
    assert status_of("clCreateProgramWithBuiltInKernels", context, 1, device, name) is Status.INVALID_VALUE


def test_a_sub_device_has_what_was_built_for_its_parent():
    parts = (ctypes.c_size_t * 2)()
    call("clCreateSubDevices", direct.device(), (ctypes.c_ssize_t * 3)(Partition.EQUALLY, 2, 0), 2, parts, 0)
    devices = (ctypes.c_size_t * 2)(parts[0], direct.device())
    context = call("clCreateContext", 0, 2, devices, 0, 0)
    program = made(context, _SOURCE)
    call("clBuildProgram", program, 1, (ctypes.c_size_t * 1)(direct.device()), options("-D", "N=5"), 0, 0)
    status = ctypes.c_int32()
    call("clGetProgramBuildInfo", program, parts[0], BuildInfo.BUILD_STATUS, 4, status, 0)
    assert status.value == BuildStatus.SUCCESS
    queue = call("clCreateCommandQueue", context, parts[0], 0)
    assert result(context, queue, program) == 5


_RECURSIVE = """
int f(int x);
int g(int x) { return x ? f(x - 1) + x : 0; }
int f(int x) { return x ? g(x / 2) * 3 + x : 1; }
"""
_CALLS = "int f(int x);\nkernel void {name}(global int *p) {{ *p = f(*p); }}"
_BARRIER = "kernel void odd(global int *p) { if (get_local_id(0) < 3) barrier(1); p[get_global_id(0)] = 7; }"


def test_a_kernel_that_cannot_be_compiled_is_an_error_of_the_build(context, queue, capfd):
    program = made(context, "kernel void k(global int *p) { *p = 6; }" + _RECURSIVE
                   + _CALLS.format(name="one") + "\nkernel void two(global int *p) { printf(\"%n\", *p); }")
    assert status_of("clBuildProgram", program, 0, 0, 0, 0, 0) is Status.BUILD_PROGRAM_FAILURE
    assert build_info(program, BuildInfo.BUILD_STATUS, ctypes.c_int32) == BuildStatus.ERROR
    log = build_info(program, BuildInfo.BUILD_LOG)
    assert "<source>:3: error: function 'f' is recursive: not supported\n" in log
    assert "<source>:7: error: printf: '%n'" in log
    name = ctypes.create_string_buffer(b"k")
    assert status_of("clCreateKernel", program, name) is Status.INVALID_PROGRAM_EXECUTABLE
    assert not capfd.readouterr().err
    assert result(context, queue, built(context, "kernel void k(global int *p) { *p = 6; }")) == 6


def test_a_tool_that_fails_is_told_in_the_log_as_it_says_itself(context, capfd, monkeypatch):
    def image(*_):
        raise ToolError("clang was killed")

    monkeypatch.setattr(Unit, "image", image)
    program = made(context, _RECURSIVE + _CALLS.format(name="one"))
    assert status_of("clBuildProgram", program, 0, 0, 0, 0, 0) is Status.BUILD_PROGRAM_FAILURE
    assert build_info(program, BuildInfo.BUILD_LOG) == "clang was killed\n"
    assert not capfd.readouterr().err


_LARGE = """
kernel void large(global int *p) {{
    local int t[{words}];
    t[get_local_id(0)] = *p; barrier(CLK_LOCAL_MEM_FENCE); p[get_global_id(0)] = t[get_local_id(0) ^ 1];
}}"""


def test_a_kernel_that_needs_more_than_there_is_does_not_stand_in_the_way_of_others(context, queue, capfd):
    """Programs have kernels for larger devices, which they do not call."""
    words = direct.info("clGetDeviceInfo", direct.device(), DeviceInfo.LOCAL_MEM_SIZE, ctypes.c_uint64) // 4
    source = "kernel void k(global int *p) { *p = 6; }"
    program = built(context, source + _LARGE.format(words=words + 1))
    log = build_info(program, BuildInfo.BUILD_LOG)
    assert f"<source>:2: error: kernel 'large' has {4 * words + 4} bytes of __local variables" in log
    assert result(context, queue, program) == 6
    assert not capfd.readouterr().err
    with pytest.raises(direct.Failed, match="OUT_OF_RESOURCES"):
        result(context, queue, program, "large")
    assert "kernel 'large' has" in capfd.readouterr().err
    assert result(context, queue, built(context, source + _LARGE.format(words=words)), "large") == 0
    alone = made(context, _LARGE.format(words=words + 1))
    assert status_of("clBuildProgram", alone, 0, 0, 0, 0, 0) is Status.BUILD_PROGRAM_FAILURE
    assert "kernel 'large' has" in build_info(alone, BuildInfo.BUILD_LOG)


def test_recursion_over_two_sources_is_an_error_of_the_linker(context):
    sources = [_CALLS.format(name="k") + "\nint g(int x) { return f(x); }",
               "int g(int x);\nint f(int x) { return x > 2 ? g(x / 2) * 3 + g(x / 3) : 1; }"]
    compiled = [made(context, source) for source in sources]
    for program in compiled:
        call("clCompileProgram", program, 0, 0, 0, 0, 0, 0, 0, 0)
    status, inputs = ctypes.c_int32(), (ctypes.c_size_t * 2)(*compiled)
    linked = ENTRIES["clLinkProgram"](context, 0, 0, 0, 2, ctypes.addressof(inputs), 0, 0, ctypes.addressof(status))
    assert status.value == Status.LINK_PROGRAM_FAILURE
    assert "is recursive: not supported" in build_info(linked, BuildInfo.BUILD_LOG)


@pytest.mark.parametrize("option", ["", "-Werror"])
def test_numbers_of_programs_without_doubles_are_no_warnings(context, queue, option):
    program = built(context, "kernel void k(global int *p) { float x = *p == -1; *p = (x + 1.25) * 4.0; }",
                    option)
    assert build_info(program, BuildInfo.BUILD_LOG) == ""
    assert result(context, queue, program) in (5, 9)


def test_barriers_that_some_work_items_reach_are_warnings_in_the_log(context, queue):
    program = built(context, _BARRIER)
    assert build_info(program, BuildInfo.BUILD_LOG) == ""       # its code is made when it is needed
    assert result(context, queue, program, "odd") == 7
    assert re.fullmatch(r"<source>:1: warning: .*barrier.*\n", build_info(program, BuildInfo.BUILD_LOG))


def test_the_macro_of_the_embedded_profile_is_for_devices_of_that(context, queue):
    source = """#ifdef __EMBEDDED_PROFILE__
                #define N 1
                #else
                #define N 2
                #endif
                kernel void k(global int *p) { *p = N; }"""
    full = direct.text_info("clGetDeviceInfo", direct.device(), DeviceInfo.PROFILE) == "FULL_PROFILE"
    assert result(context, queue, built(context, source)) == 1 + full
    assert full
