"""Kernel arguments of all kinds, the index space, tables in memory, functions of several values."""

import struct

import numpy as np
import pytest

from fgpu.compiler import Image, compile_opencl
from fgpu.config import Config
from fgpu.errors import LaunchError
from fgpu.sim import Device

STRUCT = "struct S { int a; char b; short c; long d; float2 f; uchar4 g; };\n"
CONTENT = struct.pack("<ibxhqff4B", -5, -2, 300, -(1 << 40), 1.5, 6.0, 1, 2, 3, 250) + bytes(4)


def launch(source, arguments, size=64, local=64, kernel="k"):
    """Run a kernel whose first argument is an output of ints."""
    with Device(Config(), engine="functional") as device:
        out = device.buffer(np.zeros(size if isinstance(size, int) else int(np.prod(size)), np.int32))
        device.launch(compile_opencl(source), kernel, global_size=size, local_size=local, args=[out, *arguments])
        return out.read().tolist()


def test_struct_by_value():
    source = STRUCT + "__kernel void k(__global int *o, struct S s) { o[0] = s.a; o[1] = s.b; o[2] = s.c; " \
        "o[3] = (int)(s.d >> 32); o[4] = (int)(s.f.x * s.f.y); o[5] = s.g.w + s.g.y; }"
    assert launch(source, [CONTENT], 8, 8)[:6] == [-5, -2, 300, -256, 9, 252]


@pytest.mark.parametrize("element", ["char", "short"])
def test_structs_by_value_of_parts_of_words(element):
    """Their copies are written by words, though what is in them may begin anywhere."""
    size = 1 if element == "char" else 2
    source = f"struct A {{ {element} x[{168 // size}]; }};\nstruct B {{ {element} y[{170 // size}]; }};\n" \
        "__kernel void k(__global int *o, struct A a, struct B b) { int i = get_global_id(0);\n" \
        "o[i] = i < 168 ? ((uchar *)&a)[i] : i < 338 ? ((uchar *)&b)[i - 168] : 0; }"
    content = bytes(j % 251 + 1 for j in range(168 + 170))
    assert bytes(launch(source, [content[:168], content[168:]], 384)) == content + bytes(384 - 338)


def test_struct_by_value_that_is_written_and_indexed():
    source = "struct S { int t[4]; short u[4]; };\n__kernel void k(__global int *o, struct S s, int n) {\n" \
        "int i = get_global_id(0); s.t[i & 3] += n; struct S *p = &s;\n" \
        "o[i] = p->t[(i + 1) & 3] + p->u[i & 3] + s.t[i & 3]; }"
    content = struct.pack("<4i4h", 10, 20, 30, 40, 1, 2, 3, -4)
    t, u = [10, 20, 30, 40], [1, 2, 3, -4]
    assert launch(source, [content, 100]) == [t[(i + 1) & 3] + u[i & 3] + t[i & 3] + 100 for i in range(64)]


def test_record_of_numpy_by_value():
    dtype = np.dtype([("x", "<i4"), ("y", "<f4")])
    source = "typedef struct { int x; float y; } T;\n__kernel void k(__global int *o, T t) { o[0] = t.x + (int)t.y; }"
    assert launch(source, [np.array([(3, 4.0)], dtype)[0]], 1, 1) == [7]


def test_vectors_and_long_integers_by_value():
    source = "__kernel void k(__global int *o, float3 v, char4 q, long l, ulong2 m, short2 s, uchar c) {\n" \
        "o[0] = (int)(v.x + v.y * v.z); o[1] = q.x * q.w; o[2] = (int)(l >> 33); o[3] = (int)(m.y >> 60);\n" \
        "o[4] = s.x - s.y; o[5] = c; }"
    got = launch(source, [(1.0, 2.0, 3.5), [1, 2, 3, -4], -(1 << 40), [1, (1 << 64) - 1], [-300, 7], 255], 8, 8)
    assert got[:6] == [8, -4, -128, 15, -307, 255]


@pytest.mark.parametrize(("arguments", "message"), [
    (([1, 2, 3], 0), r"argument 1 \(int4 v\) takes 4 numbers"),
    (([1, 2, 3, 1 << 40], 0), r"argument 1 .* is made of int, which 1099511627776 is not"),
    (([1, 2, 3, 4.5], 0), "which 4.5 is not"),
    (([1, 2, 3, 4], b"abc"), r"argument 2 \(struct S s\) has 32 bytes, not 3"),
    (([1, 2, 3, 4], 7), "must be given as its 32 bytes"),
    (("buffer", CONTENT), "argument 1 .* is a value, not a buffer"),
])
def test_bad_values(arguments, message):
    image = compile_opencl(STRUCT + "__kernel void k(__global int *o, int4 v, struct S s) { o[0] = v.x + s.a; }")
    with Device(Config(), engine="functional") as device:
        out = device.buffer(4)
        given = [out if argument == "buffer" else argument for argument in arguments]
        with pytest.raises(LaunchError, match=message):
            device.launch(image, "k", global_size=1, args=[out, *given])


def test_index_space_with_constant_and_variable_dimensions():
    queries = ("get_global_id", "get_local_id", "get_group_id", "get_global_size", "get_local_size", "get_num_groups")
    body = " ".join(f"r = r * 7 + (int){query}({{0}});" for query in queries)
    source = "__kernel void k(__global int *o, int d) { int r = 0; " \
        + body.format("1") + body.format("d") + body.format("d + 1") \
        + " o[get_global_id(0) + get_global_size(0) * get_global_id(1)] = r * 4 + get_work_dim(); }"

    def value(x, y):
        sizes, local, r = (8, 6), (4, 2), 0
        for dimension in (1, 0, 1):
            place = (x, y)[dimension]
            size, group = sizes[dimension], local[dimension]
            for number in (place, place % group, place // group, size, group, size // group):
                r = (r * 7 + number) & 0xFFFFFFFF
        r = (r * 4 + 2) & 0xFFFFFFFF
        return r - (1 << 32) if r >> 31 else r
    assert launch(source, [0], (8, 6), (4, 2)) == [value(x, y) for y in range(6) for x in range(8)]


def test_work_dimensions():
    source = "__kernel void k(__global int *o) { o[0] = get_work_dim(); }"
    assert [launch(source, [], (1,) * n, (1,) * n) for n in (1, 2, 3)] == [[1], [2], [3]]


def test_tables_travel_with_the_image(tmp_path):
    source = "__constant int t[100] = {" + ", ".join(str(n * n) for n in range(100)) + "};\n" \
        "__kernel void k(__global int *o) { int i = get_global_id(0); o[i] = t[99 - i]; }"
    image = compile_opencl(source)
    image.save(tmp_path / "k.json")
    again = Image.load(tmp_path / "k.json")
    assert again == image
    with Device(Config(), engine="functional") as device:
        for _ in range(2):
            out = device.buffer(np.zeros(64, np.int32))
            device.launch(again, "k", global_size=64, args=[out])
            assert out.read().tolist() == [(99 - i) ** 2 for i in range(64)]


def test_geometry():
    source = "__kernel void k(__global int *o, float4 a, float4 b) {\n" \
        "float3 c = cross(a.xyz, b.xyz); o[0] = c.x; o[1] = c.y; o[2] = c.z; o[3] = dot(a, b);\n" \
        "o[4] = length(a * 1e30f) * 1e-28f; o[5] = distance(a.xy, b.xy) * 100; float4 n = normalize(a * 1e-40f);\n" \
        "o[6] = n.x * 1000; o[7] = fast_length(a) * 100; }"
    a, b = np.array([1.0, 2, 3, 4]), np.array([5.0, -6, 7, 8])
    expected = [*np.cross(a[:3], b[:3]), a @ b, np.linalg.norm(a) * 100, np.linalg.norm(a[:2] - b[:2]) * 100,
                a[0] / np.linalg.norm(a) * 1000, np.linalg.norm(a) * 100]
    assert launch(source, [a.tolist(), b.tolist()], 8, 8) == [int(x) for x in expected]


def test_functions_with_pointers():
    source = "__kernel void k(__global int *o, float x) {\nint e, q; float c, w; __private float *p = &w;\n" \
        "o[0] = frexp(x, &e) * 1000; o[1] = e; o[2] = modf(x, p) * 1000; o[3] = w; o[4] = sincos(x, &c) * 1000;\n" \
        "o[5] = c * 1000; o[6] = remquo(x, 3.0f, &q) * 1000; o[7] = q; o[8] = fract(-x, &w) * 1000; o[9] = w;\n" \
        "o[10] = lgamma_r(-0.5f, &e) * 1000; o[11] = e; }"
    x = 10.75
    assert launch(source, [x], 12, 12) == [671, 4, 750, 10, int(np.sin(x) * 1000), int(np.cos(x) * 1000), -1250, 4,
                                           250, -11, 1265, -1]
