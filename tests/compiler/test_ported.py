"""What kernels that were written for other devices do, beyond what the corpus has."""

import re
import struct

import numpy as np
import pytest

from fgpu.compiler import Image, compile_opencl, disassemble
from fgpu.compiler.frontend.clang import compile_to_bitcode, read_ir
from fgpu.config import Config
from fgpu.errors import LaunchError
from fgpu.sim import Device
from fgpu.sim.memory import GlobalMemory


def run(source, arrays, scalars=(), size=64, kernel="k", options=("-w",), config=None, **launch):
    """The arrays after a run of the kernel, which takes them and then ``scalars``."""
    with Device(config or Config(), engine="functional") as device:
        buffers = [device.buffer(array) for array in arrays]
        image = compile_opencl(source, options=options, **({"config": config} if config else {}))
        device.launch(image, kernel, global_size=size, args=[*buffers, *scalars], **launch)
        return [buffer.read() for buffer in buffers]


@pytest.mark.parametrize("absent", [False, True])
def test_a_buffer_that_may_be_null(absent):
    source = "kernel void k(global int *o, global const int *in, int otherwise) {\n" \
        "int i = get_global_id(0); o[i] = in ? in[i] : otherwise; }"
    numbers = np.arange(64, dtype=np.int32)
    with Device(Config(), engine="functional") as device:
        out, content = device.buffer(numbers * 0), device.buffer(numbers)
        device.launch(compile_opencl(source), "k", global_size=64, args=[out, 0 if absent else content, 5])
        assert out.read().tolist() == ([5] * 64 if absent else numbers.tolist())


def test_pointers_of_the_wrong_type_are_converted():
    """A warning elsewhere, too."""
    source = "kernel void k(global char *bytes) { global uint *words = bytes; words[get_global_id(0)] += 0x10203; }"
    got, = run(source, [np.zeros(256, np.uint8)])
    assert got.tolist() == [3, 2, 1, 0] * 64


def test_fences_keep_accesses_in_order():
    source = "kernel void k(volatile global int *a) { int i = get_global_id(0) * 2; a[i] = i; " \
        "mem_fence(CLK_GLOBAL_MEM_FENCE); a[i + 1] = a[i] + 1; write_mem_fence(CLK_LOCAL_MEM_FENCE); a[i] += 5; " \
        "read_mem_fence(CLK_GLOBAL_MEM_FENCE); a[i + 1] += a[i]; }"
    got, = run(source, [np.zeros(128, np.int32)])
    assert got.tolist() == [n for i in range(0, 128, 2) for n in (i + 5, 2 * i + 6)]


def test_constants_that_fit_no_integer_become_the_nearest():
    """As they do when the program runs."""
    source = "kernel void k(global int *o, float f) { o[0] = (int)-FLT_MAX; " \
        "o[1] = (uchar)300.5f; o[2] = (char)INFINITY; " \
        "o[3] = (uint)-1.5f; o[4] = (int)NAN; o[5] = (int)(-FLT_MAX * f); }"
    got, = run(source, [np.ones(64, np.int32)], [1.0])
    assert got[:6].tolist() == [-1 << 31, 255, 127, 0, 0, -1 << 31]



@pytest.mark.parametrize("count", [3, 40])
def test_structs_by_value_to_and_from_functions_that_are_not_inlined(count):
    """The function changes a copy of its own; a long one lies in the frame."""
    source = f"#define N {count}\ntypedef struct {{ char c; int a[N]; }} S;\n" \
        "__attribute__((noinline)) int sum(S s) { s.a[1] += 100; s.c *= 2; int r = s.c; " \
        "for (int n = 0; n < N; n++) r += s.a[n] * (n + 1); return r; }\n" \
        "__attribute__((noinline)) S twice(S s, int by) { for (int n = 0; n < N; n++) s.a[n] *= by; return s; }\n" \
        "kernel void k(global int *o, int by) { S s; s.c = 3; int i = get_global_id(0), r = 0;\n" \
        "for (int n = 0; n < N; n++) s.a[n] = n + i;\n" \
        "for (int m = 0; m < 3; m++) { S t = twice(s, m + by); r += sum(t) - t.a[1]; } o[i] = r + sum(s) - s.a[1]; }"
    got, = run(source, [np.zeros(64, np.int32)], [2])

    def total(a):
        return 6 + sum(x * (n + 1) for n, x in enumerate(a)) + 200 - a[1]
    assert got.tolist() == [sum(total([(n + i) * by for n in range(count)]) for by in (2, 3, 4, 1))
                            for i in range(64)]


PACKED = "typedef struct __attribute__((packed)) { char c; int i; short s; long l; float f; uchar4 v; } S;\n"


def test_packed_structs():
    """In global memory, where accesses are not aligned, in private memory, and by value."""
    record = np.dtype([("c", "i1"), ("i", "<i4"), ("s", "<i2"), ("l", "<i8"), ("f", "<f4"), ("v", "u1", 4)])
    source = PACKED + "kernel void k(global int *o, global S *g, S given) { int i = get_global_id(0); S t[2];\n" \
        "t[i & 1] = g[i]; t[~i & 1] = given; t[0].i += 1; t[1].s -= 3; S *p = &t[i >> 1 & 1];\n" \
        "o[i] = p->c + p->i + p->s + (int)(p->l >> 30) + (int)p->f + p->v.y;\n" \
        "g[i].i *= 2; g[i].s += i; g[i].l -= 1L << 33; g[i].f *= 0.5f; g[i].v = g[i].v.wzyx; }"
    random = np.random.default_rng(5)
    content = np.frombuffer(random.bytes(64 * record.itemsize), record).copy()
    content["f"] = random.integers(-1000, 1000, 64) * 2
    given = np.array((1, -2, 3, -4 << 40, 5.0, (6, 7, 8, 9)), record)
    got, after = run(source, [np.zeros(64, np.int32), content.view(np.uint8)], [given.tobytes()])
    for i, old in enumerate(content):
        t = [None, None]
        t[i & 1], t[~i & 1] = old.copy(), given.copy()
        with np.errstate(over="ignore"):
            t[0]["i"] += np.int32(1)
            t[1]["s"] -= np.int16(3)
        p = t[i >> 1 & 1]
        wanted = sum(int(p[name]) for name in "cisf") + (int(p["l"]) >> 30) + int(p["v"][1])
        assert (int(got[i]) - wanted) % (1 << 32) == 0
    content["i"] *= np.int32(2)
    content["s"] += np.arange(64, dtype=np.int16)
    content["l"] -= 1 << 33
    content["f"] /= 2
    content["v"] = content["v"][:, ::-1].copy()
    assert after.tobytes() == content.tobytes()


def test_functions_that_no_kernel_calls_are_left_out():
    """They would be optimized for nothing: minutes, for libraries that programs include whole."""
    source = "int f(int x) { return x + 1; }\nint g(int x) { return f(x) * 2; }\nint h(int);\n" \
        "kernel void k(global int *a) { a[0] = g(a[1]); }\n__kernel void l(global int *a) { a[0] = f(a[1]); }"
    assert set(read_ir(compile_to_bitcode(source, "k.cl").code).functions) == {"k", "l"}


def test_inline_functions_have_a_body():
    """In C99 it would be another file's, where a function is inline and not extern."""
    source = "inline __attribute__((noinline)) int f(int x) { return x > 3 ? x * 5 : x - 7; }\n" \
        "kernel void k(global int *o) { int i = get_global_id(0); o[i] = f(i) + f(i * 2); }"
    got, = run(source, [np.zeros(64, np.int32)])

    def f(x):
        return x * 5 if x > 3 else x - 7
    assert got.tolist() == [f(i) + f(2 * i) for i in range(64)]


TABLE = "kernel void k(global int *o, int n) { int i = get_global_id(0) + 1000 * get_global_id(1), t[40], s = 0;\n" \
    "for (int j = 0; j < 40; j++) t[j] = j * i;\nfor (int j = 0; j < n; j++) s = s * 3 + t[(j * 7 + i) % 40];\n" \
    "o[get_global_id(0) - get_global_offset(0) + get_global_size(0) * " \
    "(get_global_id(1) - get_global_offset(1))] = s; }"


def table(i, n):
    s = 0
    for j in range(n):
        s = (s * 3 + (j * 7 + i) % 40 * i) & 0xFFFFFFFF
    return s


@pytest.mark.parametrize(("size", "offset"),
                         [((96,), (0,)), ((64,), (5,)), ((8, 6), (3, 7)), ((16, 2, 3), (1, 0, 0)),
                          ((32,), (3_000_000,))])
def test_private_arrays_beyond_the_scratchpad(size, offset):
    """Each work-item has its own, wherever the index space starts."""
    got, = run(TABLE, [np.zeros(96, np.uint32)], [30], size, global_offset=offset)
    (width, *rest), (x, *y) = size, (*offset, 0)
    wanted = [table(i % width + x + 1000 * (i // width + y[0]), 30) for i in range(width * (rest or [1])[0])]
    assert got[:len(wanted)].tolist() == wanted


def test_private_memory_is_asked_for_and_may_not_fit(tmp_path):
    compile_opencl(TABLE).save(tmp_path / "k.json")
    image = Image.load(tmp_path / "k.json")
    assert (image.kernel("k").private_bytes, image.kernel("k").scratchpad_words) == (164, 0)
    with Device(Config(), engine="functional", memory=GlobalMemory(0x1000, 1 << 16)) as device:
        out = device.buffer(256, np.int32)
        for _ in range(3):      # the room is given back
            device.launch(image, "k", global_size=256, args=[out, 3])
        with pytest.raises(LaunchError, match="'k' needs 164 bytes of private memory for each of 512 work-items"):
            device.launch(image, "k", global_size=512, args=[out, 3])


@pytest.mark.parametrize("scratchpad_size", [0, 32])
def test_private_structs_bytes_and_initial_values(scratchpad_size):
    """Loops copy what is long; bytes, halves and words share a frame; a small function has variables of its own."""
    source = "constant uchar first[50] = {1, 2, 3, 4, 5, 6, 7};\n" \
        "typedef struct { int a[60]; short b; char c[33]; } S;\n" \
        "__attribute__((noinline)) int sum(int x) { char v[5]; for (int n = 0; n < 5; n++) v[n] = x * n; " \
        "return v[x & 3] + v[4]; }\n" \
        "kernel void k(global int *o, global S *s, int n) { int i = get_global_id(0), t[100] = {1, 2, 3}, r = 0;\n" \
        "uchar u[201] = {[7] = 9, [150] = 3}; S q = s[0]; q.a[i % 60] += 5; q.c[i % 33] = i; q.b -= i;\n" \
        "s[1 + i] = q;\n" \
        "u[i] += first[i % 50]; for (int j = 0; j < 40; j++) t[j * 2] += j * i;\n" \
        "for (int j = 0; j < n; j++) r = r * 3 + t[(j * 7 + i) % 100] + u[(i + j) % 201];\no[i] = r + sum(i); }"
    record = np.dtype([("a", "<i4", 60), ("b", "<i2"), ("c", "i1", 33)], align=True)
    records = np.zeros(65, record)
    records["a"][0], records["b"][0], records["c"][0] = range(60), -7, range(33)
    got, copied = run(source, [np.zeros(64, np.uint32), records.view(np.uint8)], [30],
                      config=Config(scratchpad_size=scratchpad_size))
    wanted = np.repeat(records[:1], 64)
    for i in range(64):
        wanted["a"][i, i % 60] += 5
        wanted["c"][i, i % 33] = i
        wanted["b"][i] -= i
    assert all((copied.view(record)[1:][name] == wanted[name]).all() for name in record.names)

    def value(i):
        t, u, r = [1, 2, 3] + [0] * 97, [0] * 201, 0
        u[7], u[150] = 9, 3
        u[i] += i % 50 + 1 if i % 50 < 7 else 0
        for j in range(40):
            t[2 * j] += j * i
        for j in range(30):
            r = r * 3 + t[(j * 7 + i) % 100] + u[(i + j) % 201]
        return (r + sum((i * n + 128 & 255) - 128 for n in (i & 3, 4))) & 0xFFFFFFFF
    assert got.tolist() == [value(i) for i in range(64)]


def many_at_once(count):
    """C that makes ``result`` of 64 numbers from ``in`` on, with ``count`` variables that all live for long."""
    names = [f"s{n}" for n in range(count)]
    return "int " + ", ".join(f"{name} = in[{n}]" for n, name in enumerate(names)) + ";\n" \
        "for (int j = 0; j < 10; j++) { int x = in[j]; " \
        + " ".join(f"{name} = {name} * 3 + (x ^ {other});" for name, other in zip(names, names[1:] + names[:1],
                                                                               strict=True)) \
        + " }\nint result = " + " ^ ".join(names) + ";"


def made_of_many(count, numbers):
    """The results of 64 work-items, each a number further."""
    s = [numbers[n:n + 64].copy() for n in range(count)]
    for j in range(10):
        for n in range(count):
            s[n] = s[n] * 3 + (numbers[j:j + 64] ^ s[(n + 1) % count])
    return np.bitwise_xor.reduce(s)


@pytest.mark.parametrize(("count", "frame", "scratchpad_size"), [(34, False, 32), (90, True, 32), (60, True, 0)])
def test_more_registers_than_there_are(count, frame, scratchpad_size):
    """The scratchpad has the first that find no place, the frame the others."""
    source = f"kernel void k(global int *o, global int *in) {{ in += get_local_id(0); {many_at_once(count)}\n" \
        "o[get_global_id(0)] = result; }"
    config = Config(scratchpad_size=scratchpad_size)
    assert bool(compile_opencl(source, config=config).kernel("k").private_bytes) == frame
    numbers = np.random.default_rng(count).integers(0, 1 << 32, 256, np.uint32)
    got, _ = run(source, [np.zeros(64, np.uint32), numbers], config=config)
    assert (got == made_of_many(count, numbers)).all()


@pytest.mark.parametrize(("count", "scratchpad_size"), [(40, 8), (34, 0)])
def test_subroutines_that_leave_the_frame_no_room(count, scratchpad_size):
    """They need more of the scratchpad than there is, or all registers, one of which has the frame's address."""
    source = f"__attribute__((noinline)) int f(global int *in) {{ {many_at_once(count)}\nreturn result; }}\n" \
        "kernel void k(global int *o, global int *in) { int i = get_global_id(0), first = f(in + i); " \
        "o[i] = first * 5 + f(in + i + 1); }"
    config = Config(scratchpad_size=scratchpad_size)
    assert compile_opencl(source, config=config).kernel("k").private_bytes
    numbers = np.random.default_rng(count).integers(0, 1 << 32, 256, np.uint32)
    got, _ = run(source, [np.zeros(64, np.uint32), numbers], config=config)
    assert (got == made_of_many(count, numbers) * 5 + made_of_many(count, numbers[1:])).all()


def test_more_parameters_than_the_hardware_has():
    """Fifteen words and the address of the others: values of all sizes, and those that the source does not have."""
    source = "typedef struct { char c; int t[3]; } S; constant int big[20] = {1, 2, 3};\n" \
        "kernel void k(global int *o, int16 v, long l, S s, global int *p, float f, uchar2 c) {\n" \
        "int i = get_global_id(0), t[30]; for (int n = 0; n < 30; n++) t[n] = n * i;\n" \
        "o[i] = v.sf + v.s0 * (int)(l >> 32) + s.t[i % 3] * s.c + p[i] + (int)(f * 4) + c.y + t[(i * 7) % 30]" \
        " + big[i % 20] + get_work_dim(); }"
    image = compile_opencl(source)
    with Device(Config(), engine="functional") as device:
        out, other = device.buffer(64), device.buffer(np.arange(64, dtype=np.int32))
        device.launch(image, "k", global_size=64, args=[
            out, list(range(100, 116)), -3 << 32, struct.pack("<b3x3i", -2, 10, 20, 30), other, 2.5, [1, 250]])
        assert out.read().tolist() == [
            115 - 300 - 2 * (10, 20, 30)[i % 3] + i + 10 + 250 + i * 7 % 30 * i + ([1, 2, 3] + [0] * 17)[i % 20] + 1
            for i in range(64)]


def test_macros_tell_what_there_is():
    """Programs choose by them between ways to do a thing."""
    present = ["cl_khr_byte_addressable_store", "cl_khr_global_int32_base_atomics", "cles_khr_int64",
               "cl_khr_global_int32_extended_atomics", "cl_khr_local_int32_base_atomics",
               "cl_khr_local_int32_extended_atomics", "cl_khr_fp64", "cl_khr_fp16", "CL_VERSION_1_2",
               "__EMBEDDED_PROFILE__", "__ENDIAN_LITTLE__", "__kernel_exec", "kernel_exec"]
    absent = ["cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics",
              "cl_khr_3d_image_writes", "cl_khr_subgroups", "cl_amd_media_ops",
              "cl_amd_media_ops2", "cl_intel_subgroups", "__IMAGE_SUPPORT__", "__SPIR__", "__SPIRV__"]
    wrong = [f"#ifndef {name}\n#error {name}\n#endif\n" for name in present] + \
        [f"#ifdef {name}\n#error {name}\n#endif\n" for name in absent]
    compile_opencl("".join(wrong) + "__kernel_exec(64, int4) void k(global int *o) { o[0] = 1; }")


def test_constants_of_each_type():
    names = ["E", "LOG2E", "LOG10E", "LN2", "LN10", "PI", "PI_2", "PI_4", "1_PI", "2_PI", "2_SQRTPI", "SQRT2",
             "SQRT1_2"]
    right = [np.e, 1 / np.log(2), 1 / np.log(10), np.log(2), np.log(10), np.pi, np.pi / 2, np.pi / 4, 1 / np.pi,
             2 / np.pi, 2 / np.sqrt(np.pi), np.sqrt(2), np.sqrt(0.5)]
    source = "kernel void k(global half *h, global float *f) {" + "".join(
        f"h[{i}] = M_{name}_H; f[{i}] = M_{name}_F;" for i, name in enumerate(names)) + "}"
    halves, floats = run(source, [np.zeros(64, np.float16), np.zeros(64, np.float32)])
    assert halves[:13].tolist() == np.array(right, np.float16).tolist()
    assert floats[:13].tolist() == np.array(right, np.float32).tolist()


def test_the_fourth_word_of_a_vector_of_three_is_not_written():
    """It has no value: a store less, and what lies there stays."""
    source = "kernel void k(global float3 *f, global long3 *g, global char3 *c, float by) {\n" \
        "int i = get_global_id(0); f[i] = f[i] * by; g[i] = g[i] + 1; c[i] = (char3)(c[i].zy, 7); }"
    kinds = (np.float32, np.int64, np.int8)
    floats, longs, chars = (np.arange(64 * 4, dtype=kind).reshape(64, 4) for kind in kinds)
    got = run(source, [floats, longs, chars], [2.0])
    floats[:, :3] *= 2
    longs[:, :3] += 1
    assert (got[0] == floats).all()
    assert (got[1] == longs).all()
    assert (got[2][:, :3] == np.stack([chars[:, 2], chars[:, 1], np.full(64, 7)], 1)).all()
    config = Config.preset("float")
    stores = disassemble(compile_opencl("kernel void k(global float3 *f) { f[0] = f[1] * f[2]; }", config=config))
    assert len(re.findall(r" swp? ", stores)) == 3


def test_what_lies_behind_three_aligned_halves_stays():
    source = "kernel void k(global half *h, global const float *f) { int i = get_global_id(0);" \
        " vstorea_half3(vload3(i, f), i, h); }"
    got, _ = run(source, [np.full((64, 4), 7, np.float16), np.arange(192, dtype=np.float32)])
    assert got.reshape(64, 4)[:, :3].reshape(-1).tolist() == list(range(192))
    assert (got.reshape(64, 4)[:, 3] == 7).all()
