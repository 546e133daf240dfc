"""Every launch that cannot be run is refused with one clear message, on every engine alike."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from fgpu import Config
from fgpu.compiler import Image, Kernel, Parameter, assemble, compile_opencl
from fgpu.errors import (
    ConfigError,
    FgpuError,
    ImageError,
    KernelFault,
    LaunchError,
    MemoryAccessError,
    SimulationError,
    SimulationTimeout,
)
from fgpu.isa import Opcode, encode
from fgpu.sim import Device
from fgpu.sim.engine import MemoryTiming

from . import kernels

PARAMETERS = (Parameter("data", "pointer", "int", 4), Parameter("n", "scalar", "int", 4),
              Parameter("c", "scalar", "uchar", 1))
TYPED = Image(kernels.LOOP.words, {"loop": Kernel("loop", 0, PARAMETERS)})
TWO = Image.from_words(kernels.LOOP.words, {"first": 0, "second": 0})
RET = encode(Opcode.RET)


@pytest.mark.parametrize(("image", "kernel", "error", "message"), [
    (kernels.LOOP, "lop", ImageError, "no kernel 'lop'; the kernels it has: loop"),
    (TWO, None, ImageError, "name the kernel to launch; the image has first, second"),
    (Image.from_words([RET]), None, ImageError, "the image names no kernel"),
    ([RET], None, LaunchError, "must be an Image, not list"),
    (Image((RET,), {"big": Kernel("big", 0, scratchpad_words=17)}), None, LaunchError,
     "needs 17 scratchpad words a work-item; this configuration has 16"),
    (assemble(".kernel f\n fadd r1, r1, r1\n ret"), None, LaunchError,
     r"instruction 0 \(fadd\) needs floating point"),
    (assemble(".kernel f\n nor r1, r1, r1\n aadd r1, r2[r0]\n ret"), None, LaunchError,
     r"instruction 1 \(aadd\) needs atomics"),
])
def test_bad_image_or_kernel(image, kernel, error, message):
    with pytest.raises(error, match=message):
        Device(engine="functional").launch(image, kernel, global_size=64)


def test_image_larger_than_the_code_ram():
    image = Image.from_words([RET] * 1025, {"k": 0})
    with pytest.raises(ImageError, match=r"1025 words; the code RAM holds 1024 \(cram_size=4 KiB\)"):
        Device(Config(cram_size=4), engine="functional").launch(image, global_size=1)


@pytest.mark.parametrize(("words", "message"), [
    ([], "the image is empty"),
    ([RET] * 16385, "16385 words; the code RAM holds at most 16384"),
    ([RET, 0xFF00_0000], "word 1: unknown opcode byte 0xFF"),
    ([1 << 32], "not a 32-bit unsigned integer"),
])
def test_bad_words_make_no_image(words, message):
    with pytest.raises(ImageError, match=message):
        Image.from_words(words)


@pytest.mark.parametrize(("sizes", "message"), [
    ({"global_size": 0}, "global size in dimension 0 is 0"),
    ({"global_size": (64, 0)}, "global size in dimension 1 is 0"),
    ({"global_size": -64}, "global size in dimension 0 is -64"),
    ({"global_size": 1 << 32}, "from 1 to 4294967295"),
    ({"global_size": ()}, "must have 1 to 3 dimensions"),
    ({"global_size": (1, 1, 1, 1)}, "must have 1 to 3 dimensions"),
    ({"global_size": 6.4}, "made of integers"),
    ({"global_size": "64"}, "made of integers"),
    ({"global_size": True}, "made of integers"),
    ({"global_size": 64, "local_size": 0}, "local size in dimension 0 is 0"),
    ({"global_size": 1024, "local_size": 1024}, "from 1 to 512"),
    ({"global_size": (64, 64), "local_size": (32, 32)}, "1024 work-items; a work-group holds at most 512"),
    ({"global_size": 100, "local_size": 64}, "100 in dimension 0 is not a multiple of the local size 64; .* to 128"),
    ({"global_size": (64, 10), "local_size": (8, 4)}, "10 in dimension 1 is not a multiple"),
    ({"global_size": (64, 64), "local_size": 64}, "give equally many"),
    ({"global_size": 64, "global_offset": (1, 2)}, "give equally many"),
    ({"global_size": 64, "global_offset": -1}, "global offset in dimension 0 is -1"),
    ({"global_size": 64, "slot": 16}, "slots 0 to 15"),
    ({"global_size": 64, "slot": 1.0}, "slot is 1.0; LRAM has the slots 0 to 15"),
    ({"global_size": 64, "slot": True}, "slot is True"),
    ({"global_size": 64, "max_cycles": True}, "max_cycles must be an integer from 1 to 2.63 - 1, not True"),
    ({"global_size": 64, "max_cycles": 0}, "max_cycles must be an integer from 1 to 2.63 - 1, not 0"),
    ({"global_size": 64, "max_cycles": None}, "max_cycles must be an integer from 1 to 2.63 - 1, not None"),
    ({"global_size": 64, "max_cycles": 1e6}, "max_cycles must be an integer"),
    ({"global_size": 64, "args": 5}, "args must be a list with an argument for each parameter, not 5"),
    ({"global_size": 64, "args": "ab"}, "args must be a list"),
    ({"global_size": None}, "made of integers, not None"),
    ({"global_size": 64, "args": [0] * 17}, "17 arguments are too many"),
])
def test_bad_sizes(sizes, message):
    with pytest.raises(LaunchError, match=message):
        Device(engine="functional").launch(kernels.LOOP, **sizes)


@pytest.mark.parametrize(("arguments", "message"), [
    ([], r"takes 3 arguments \(int \*data, int n, uchar c\), not 0"),
    ([0, 0, 0, 0], "takes 3 arguments"),
    ([np.zeros(4), 0, 0], r"argument 0 \(int \*data\) is a NumPy array or a list; put it .* device.buffer"),
    (["x", 0, 0], "argument 0 .* must be a buffer or an integer, not 'x'"),
    ([None, 0, 0], "must be a buffer or an integer"),
    ([-4, 0, 0], "argument 0 .* is -4, outside 0 to 4294967295"),
    ([0, 1 << 31, 0], r"argument 1 \(int n\) is 2147483648, outside -2147483648 to 2147483647"),
    ([0, 1.5, 0], "argument 1 .* floating-point number 1.5; pass an integer"),
    ([0, 0, 256], r"argument 2 \(uchar c\) is 256, outside 0 to 255"),
    ([0, 0, -1], "argument 2 .* outside 0 to 255"),
    ([0, "buffer", 0], "argument 1 .* is a number, not a buffer"),
    (["foreign", 0, 0], "buffer of another device"),
])
def test_bad_arguments(arguments, message):
    device, other = Device(engine="functional"), Device(engine="functional")
    made = {"buffer": device.buffer(4), "foreign": other.buffer(4)}
    arguments = [made.get(value, value) if isinstance(value, str) else value for value in arguments]
    with pytest.raises(LaunchError, match=message):
        device.launch(TYPED, global_size=64, args=arguments)


VALUES = compile_opencl(
    "__kernel void k(__global float *a, float f, float2 v, double d) { a[0] = f + v.x + (float)d; }")


@pytest.mark.parametrize(("place", "value", "message"), [
    (1, 1e39, r"argument 1 \(float f\) is beyond every float: 1e\+39; for infinity, give math.inf"),
    (1, 10**400, r"beyond every float: 10+\.\.\.0+; for infinity"),
    (1, -3.5e38, "beyond every float: -3.5e"), (2, (0, 1e39), r"argument 2 \(float2 v\) is beyond every float: 1e"),
    (3, 10**400, "argument 3 .* is beyond every double"),
    (3, np.array(3), r"argument 3 .* must be made of numbers, not array\(3\)"),
    (2, (0, 1j), "argument 2 .* must be made of numbers, not 1j"),
])
def test_numbers_that_a_type_has_no_room_for(place, value, message):
    device = Device(engine="functional")
    arguments = [device.buffer(1, np.float32), 3.4028235e38, (0.0, math.inf), 1e308]
    device.launch(VALUES, global_size=1, args=arguments)
    with pytest.raises(LaunchError, match=message):
        device.launch(VALUES, global_size=1, args=[*arguments[:place], value, *arguments[place + 1:]])


ELEMENTS = """typedef struct { int a; float b; } pair;
__kernel void k(__global int *w, __global const uint *u, __global long *l, __global char *c, __global ushort *h,
                __global float *f, __constant float3 *f3, __global uchar4 *c4, __global ulong2 *l2, __global half *x,
                __global pair *s, __global void *v, __global int (*a)[4], __global size_t *z) { w[0] = 1; }"""
TAKEN = {
    "w": "i4 u4", "u": "i4 u4", "l": "i8 u8", "c": "i1 u1 bool", "h": "i2 u2", "f": "f4 u4", "f3": "f4 u4",
    "c4": "i1 u1 bool u4", "l2": "i8 u8", "x": "f2 u2", "a": "i4 u4", "z": "i4 u4",
    "s": "bool i1 u1 i2 u2 i4 u4 i8 u8 f2 f4", "v": "bool i1 u1 i2 u2 i4 u4 i8 u8 f2 f4"}
"""Types of elements that each parameter takes."""


@pytest.fixture(scope="module")
def elements():
    return compile_opencl(ELEMENTS)


@pytest.mark.parametrize("dtype", TAKEN["v"].split())
def test_elements_are_what_the_parameter_points_to(elements, dtype):
    device = Device(engine="functional")
    parameters = elements.kernel("k").parameters
    assert {parameter.name for parameter in parameters} == set(TAKEN)
    given = device.buffer(np.zeros(64, dtype))
    for index, parameter in enumerate(parameters):
        arguments = [0] * len(parameters)
        arguments[0] = device.buffer(64)
        arguments[index] = given
        if dtype in TAKEN[parameter.name].split():
            device.launch(elements, global_size=1, args=arguments)
            continue
        what = re.escape(f"argument {index} ({parameter.type} *{parameter.name}) points to {parameter.type}")
        remedy = rf"has elements of type {np.dtype(dtype)}; convert the values, as with array.astype\(numpy.\w+\)"
        with pytest.raises(LaunchError, match=f"{what}, but the buffer {remedy}"):
            device.launch(elements, global_size=1, args=arguments)


def test_a_view_takes_the_same_bytes_as_other_elements():
    device = Device(engine="functional")
    bits = device.buffer(np.arange(128, dtype=np.float32).reshape(2, 64))
    words = bits.view(np.int32)
    device.launch(TYPED, global_size=64, args=[words, 0, 0])
    assert bits.read().view(np.int32)[0].tolist() == [i & 15 for i in range(64)]
    assert np.array_equal(words.view(np.uint8).read(), bits.read().view(np.uint8))
    assert words.view("i8").shape == (2, 32)
    with pytest.raises(MemoryAccessError, match=r"4 bytes, a row of <Buffer.*, are no whole elements of int64"):
        device.buffer(1).view(np.int64)
    with pytest.raises(MemoryAccessError, match="no elements of type complex64"):
        bits.view("complex64")
    bits.free()
    assert words.is_free
    with pytest.raises(MemoryAccessError, match="was freed"):
        words.read()


def test_a_buffer_that_was_freed():
    device, other = Device(engine="functional"), Device(engine="functional")
    freed = device.buffer(64)
    freed.free()
    heir = device.buffer(64)
    assert heir.address == freed.address
    for use in (freed.read, lambda: freed.write([0] * 64), freed.free, lambda: device.release(freed),
                lambda: device.launch(TYPED, global_size=64, args=[freed, 0, 0])):
        with pytest.raises(MemoryAccessError, match=r"at 0x10000000> was freed; make another with device.buffer\(\)"):
            use()
    with pytest.raises(MemoryAccessError, match="is no buffer of this device"):
        other.release(heir)
    assert device.buffer(64).address != heir.address, "nobody gave the other buffer's memory away"


@pytest.mark.parametrize(("access", "message"), [
    (lambda device: device.read("x", 4), "addresses and lengths are integers, not 'x'"),
    (lambda device: device.read(0x1000_0000, 1.5), "integers, not 6.0"),
    (lambda device: device.read(0x1000_0000, 4, "x"), "'x' is no type of elements"),
    (lambda device: device.read_word("x"), "integers, not 'x'"),
    (lambda device: device.write_word(0x1000_0000, "x"), "'x' is not a 32-bit word"),
    (lambda device: device.write_word(0x1000_0000, 1.5), "1.5 is not a 32-bit word"),
    (lambda device: device.buffer(4, address="x"), "integers, not 'x'"),
    (lambda device: device.buffer(4, address=0x1000_0002), "0x10000002 is not a multiple of 4"),
])
def test_bad_access_of_the_host(access, message):
    with pytest.raises(MemoryAccessError, match=message):
        access(Device(engine="functional"))


def test_a_closed_device():
    with Device(engine="functional") as device:
        out = device.buffer(64)
    assert not out.read().any()
    with pytest.raises(LaunchError, match="the device was closed; launch in the `with` block"):
        device.launch(kernels.LOOP, global_size=64, args=[out])


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Device("tiny"), "config must be a Config, not 'tiny'; Config.preset"),
    (lambda: compile_opencl("__kernel void k() {}", config="tiny"), "config must be a Config, not 'tiny'"),
    (lambda: Device(engine="verilator", trace=5), "a trace is written to a file, not to 5"),
    (lambda: Device(memory=5), "memory must be a GlobalMemory, not 5"),
    (lambda: compile_opencl(None), "the source must be a text, or texts by their file names, not None"),
    (lambda: compile_opencl(Path("scale.cl")), "; of a file, give its read_text()"),
    (lambda: MemoryTiming(read_latency=(5, 1)), r"read_latency must be two integers, 0 <= least <= .*, not \(5, 1\)"),
    (lambda: MemoryTiming(read_latency=5), "read_latency must be two integers, .*, not 5"),
    (lambda: MemoryTiming(pause_cycles=(1, 2, 3)), r"pause_cycles must be two integers, .*, not \(1, 2, 3\)"),
    (lambda: MemoryTiming(write_latency=(0.5, 1)), r"write_latency must be two integers, .*, not \(0.5, 1\)"),
    (lambda: MemoryTiming(pause_probability=2), "pause_probability must be from 0 to 1, not 2"),
    (lambda: MemoryTiming(pause_probability="x"), "pause_probability must be from 0 to 1, not 'x'"),
    (lambda: MemoryTiming(seed=-1), r"seed must be an integer from 0 to 2\*\*64 - 1, not -1"),
])
def test_what_nothing_can_be_made_of(make, message):
    with pytest.raises(FgpuError, match=message):
        make()


def test_arguments_of_unknown_parameters_are_words():
    with pytest.raises(LaunchError, match="argument 0 is 4294967296, outside -2147483648 to 4294967295"):
        Device(engine="functional").launch(kernels.LOOP, global_size=64, args=[1 << 32])


def test_stores_that_are_not_built():
    device = Device(Config(sub_integer_stores=False), engine="functional")
    with pytest.raises(LaunchError, match=r"\(sb\) needs stores of 8 and 16 bits \(sub_integer_stores=True\)"):
        device.launch(kernels.NARROW, global_size=64, args=[device.buffer(64), device.buffer(64)])


def test_scratchpad_that_is_not_built():
    device = Device(Config(scratchpad_size=0), engine="functional")
    with pytest.raises(LaunchError, match="needs a scratchpad"):
        device.launch(kernels.SCRATCHPAD, global_size=64, args=[device.buffer(64)])


def test_unbuilt_instructions_out_of_reach_do_no_harm():
    image = assemble(".kernel k\n beq r0, r0, end\n fadd r1, r1, r1\nend:\n bne r1, r1, 1\n ret\n fadd r1, r1, r1")
    Device(engine="functional").launch(image, global_size=1)


@pytest.mark.parametrize(("name", "value"), [("compute_units", 3), ("cram_size", 128), ("scratchpad_size", -1)])
def test_bad_configuration(name, value):
    with pytest.raises(ConfigError, match=name):
        Config(**{name: value})


@pytest.mark.parametrize(("access", "message"), [
    ("lw r2, r1[r0]", r"PC 1: lw r2, r1\[r0\]: load from 0x0FFFFFFC by work-item 0 is outside memory"),
    ("sw r2, r1[r0]", r"store to 0x0FFFFFFC by work-item 0"),
])
def test_kernel_outside_memory(access, message):
    image = assemble(f".kernel k\n lp r1, 0\n {access}\n ret")
    with pytest.raises(KernelFault, match=message):
        Device(engine="functional", check_accesses=False).launch(image, global_size=64, args=[0x0FFF_FFFC])


def test_kernel_outside_memory_names_the_work_item():
    image = assemble(f".kernel k\n{kernels.GLOBAL_ID}\n lid r4, 1\n slli r4, r4, 20\n lp r3, 0\n add r4, r4, r1\n"
                     " sw r1, r3[r4]\n ret")
    device = Device(engine="functional")
    with pytest.raises(KernelFault, match=r"PC 7: sw r1, r3\[r4\]: store to 0x20200000 by work-item \(0, 1\)"):
        device.launch(image, global_size=(2, 2), args=[0x1FE0_0000])


@pytest.mark.parametrize(("text", "message"), [
    ("nor r1, r1, r1", "wavefront 0 of work-group 0: PC 1 is outside the program of 1 words"),
    ("beq r0, r0, -3", "PC -3 is outside the program"),
])
def test_program_counter_outside_the_program(text, message):
    with pytest.raises(SimulationError, match=message):
        Device(engine="functional").launch(assemble(f".kernel k\n {text}"), global_size=64)


@pytest.mark.parametrize("depth", [8, 16, 32])
def test_endless_recursion_overflows_the_stacks(depth):
    image = assemble(".kernel k\n wgid r1, 0\nself:\n beq r1, r0, end\n jsub self\nend:\n ret")
    device = Device(Config(link_stack_depth=depth), engine="functional")
    message = f"wavefront 0 of work-group 1: PC 2: jsub 1: the stacks overflow; they have {depth}"
    with pytest.raises(SimulationError, match=message):
        device.launch(image, global_size=128, local_size=64)


def test_endless_loop_times_out():
    image = assemble(f".kernel k\n{kernels.GLOBAL_ID}\n slti r2, r1, 5\nself:\n bne r2, r0, self\n ret")
    message = (r"within 1000 wavefront instructions: wavefront 0 of work-group 0 is at PC 4: bne r2, r0, 4, "
               r"5 work-items enabled$")
    with pytest.raises(SimulationTimeout, match=message):
        Device(engine="functional").launch(image, global_size=256, max_cycles=1000)
    with pytest.raises(SimulationTimeout, match=r"; 6 more are running$"):
        Device(engine="functional").launch(assemble(".kernel k\n beq r0, r0, 0"), global_size=640, max_cycles=100)


def test_device_works_after_a_failure():
    device = Device(engine="functional")
    out = device.buffer(64)
    with pytest.raises(SimulationTimeout):
        device.launch(kernels.LOOP, global_size=64, args=[out], max_cycles=10, clean=False)
    device.launch(kernels.LOOP, global_size=64, args=[out])
    assert np.array_equal(out.read(), np.arange(64) & 15)
