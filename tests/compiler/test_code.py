"""Compiled kernels on the interpreter: memory, work-item functions, division, register pressure."""

import numpy as np
import pytest

from fgpu.compiler import compile_opencl, disassemble
from fgpu.config import Config
from fgpu.sim import Device

from .interpreter import run, signed
from .programs import VALUES, truncated_division

EDGES = np.array([v & 0xFFFF_FFFF for v in VALUES] + [0x8000_0001, 0xFFFF_FFFE], np.uint32)


@pytest.fixture
def random():
    return np.random.default_rng(3)


def compile_body(body, parameters, **options):
    return compile_opencl(f"__kernel void k({parameters}) {{ int i = get_global_id(0); {body} }}", **options)


TYPES = {"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32,
         "uint": np.uint32}


@pytest.mark.parametrize("target", ["char", "ushort", "int"])
@pytest.mark.parametrize("source", list(TYPES))
def test_loads_and_stores_of_all_sizes(random, source, target):
    image = compile_body("out[n - 1 - i] = in[i + 1] + in[i];",
                         f"__global const {source} *in, __global {target} *out, int n")
    data = random.integers(0, 256, 4 * 65, dtype=np.uint8).view(TYPES[source])[:65]
    out = np.zeros(64, TYPES[target])
    run(image, "k", 64, [data, out, 64])
    wide = data.astype(np.int64)
    assert (out[::-1] == (wide[1:] + wide[:-1]).astype(TYPES[target])).all()


def test_sub_word_loads_are_short():
    def length(type, cast):
        return len(compile_body(f"out[i] = ({cast})in[i];", f"__global {type} *in, __global int *out").words) - 5
    assert [length("uchar", "int"), length("char", "int"), length("ushort", "int"), length("short", "int")] == [
        4, 5, 6, 6]
    # An aligned element needs no shift.
    assert len(compile_body("out[i] = in[i].x & 0xff;", "__global struct { uchar x; int y; } *in, __global int *out"
                            ).words) <= 10


def test_booleans_and_structs(random):
    image = compile_opencl("""
        struct S { int a; short b; char c[2]; };
        __kernel void k(__global struct S *s, __global bool *flags, __global int *out) {
            int i = get_global_id(0);
            struct S v = s[i];
            bool flag = flags[i];
            out[i] = flag ? v.a + v.b * v.c[1] : s[i ^ 1].c[0];
            flags[i] = !flag;
            s[i].b = v.b + 1;
        }""")
    dtype = np.dtype([("a", "<i4"), ("b", "<i2"), ("c", "i1", 2)])
    s = np.frombuffer(random.bytes(8 * 16), dtype).copy()
    flags, out = random.integers(0, 2, 16).astype(bool), np.zeros(16, np.int32)
    before, old = flags.copy(), s.copy()
    run(image, "k", 16, [s, flags, out], local=(16,))
    expected = np.where(before, old["a"] + old["b"].astype(np.int32) * old["c"][:, 1],
                        old["c"][np.arange(16) ^ 1, 0])
    assert (out == expected).all()
    assert (flags == ~before).all()
    assert (s["b"] == old["b"] + np.int16(1)).all()


def test_struct_assignment_copies_words(random):
    image = compile_opencl("""struct S { int a, b, c; };
        __kernel void k(__global struct S *to, __global struct S *from)
        { int i = get_global_id(0); to[i] = from[i]; }""")
    source, out = random.integers(0, 99, (8, 3), dtype=np.int32), np.zeros((8, 3), np.int32)
    run(image, "k", 8, [out, source], local=(8,))
    assert (out == source).all()


QUERIES = ["get_global_id", "get_local_id", "get_group_id", "get_global_size", "get_local_size", "get_num_groups",
           "get_global_offset"]


def test_work_item_functions():
    size, local, offset = (6, 4, 2), (3, 2, 1), (10, 20, 30)
    calls = [f"{name}({d})" for name in QUERIES for d in range(4)]
    lines = "".join(f"out[{n} * 48 + place] = {call};\n" for n, call in enumerate(calls))
    place = "(get_group_id(2) * 2 + get_group_id(1)) * 2 + get_group_id(0)"
    image = compile_opencl("__kernel void k(__global int *out) {"
                           f"int place = ({place}) * 6 + get_local_id(1) * 3 + get_local_id(0);\n{lines}}}")
    out = np.zeros((len(QUERIES), 4, 48), np.int32)
    run(image, "k", size, [out], local, offset=offset)
    got = {name: out[n] for n, name in enumerate(QUERIES)}
    for d in range(3):
        assert sorted(set(got["get_global_id"][d])) == list(range(offset[d], offset[d] + size[d]))
        start = got["get_group_id"][d] * local[d] + offset[d]
        assert (got["get_global_id"][d] == start + got["get_local_id"][d]).all()
        assert (got["get_global_size"][d] == size[d]).all()
        assert (got["get_local_size"][d] == local[d]).all()
        assert (got["get_num_groups"][d] == size[d] // local[d]).all()
        assert (got["get_global_offset"][d] == offset[d]).all()
    for name in QUERIES:
        assert (got[name][3] == (name in ("get_global_size", "get_local_size", "get_num_groups"))).all()


def test_unsigned_division(random):
    a, b = (x.ravel().copy() for x in np.meshgrid(EDGES, EDGES[EDGES != 0]))
    q, r, r2 = (np.zeros(a.size, np.uint32) for _ in range(3))
    image = compile_body("uint n = a[i], d = b[i]; q[i] = n / d; r[i] = n % d; r2[i] = (n ^ 1) % d;",
                         "__global uint *a, __global uint *b, __global uint *q, __global uint *r, __global uint *r2")
    assert run(image, "k", a.size, [a, b, q, r, r2]) < 500
    assert (q == a // b).all()
    assert (r == a % b).all()
    assert (r2 == (a ^ 1) % b).all()


def test_signed_division(random):
    edges = EDGES.view(np.int32)
    a, b = (x.ravel().copy() for x in np.meshgrid(edges, edges[edges != 0]))
    q, r = np.zeros(a.size, np.int32), np.zeros(a.size, np.int32)
    image = compile_body("q[i] = a[i] / b[i]; r[i] = a[i] % b[i];",
                         "__global int *a, __global int *b, __global int *q, __global int *r")
    run(image, "k", a.size, [a, b, q, r])
    expected = np.array([truncated_division(int(x), int(y)) for x, y in zip(a, b, strict=True)])
    assert (q == expected.astype(np.int32)).all()
    assert (r == (a - expected * b).astype(np.int32)).all()


DIVISORS = [1, 2, 3, 5, 6, 7, 10, 11, 12, 25, 100, 125, 641, 1000, 10007, 65535, 65537, 1 << 20, 0x7FFF_FFFF]


@pytest.mark.parametrize("type", ["uint", "int"])
def test_division_by_constants(random, type):
    divisors = [*DIVISORS, 0x8000_0000, 0x8000_0001, 0xFFFF_FFFF] if type == "uint" else [
        *DIVISORS, *(-d for d in DIVISORS), -2**31]
    suffix = "u" if type == "uint" else ""
    body = "".join(f"q[{2 * n} * n + i] = a[i] / ({type}){d}{suffix};\n"
                   f"q[{2 * n + 1} * n + i] = a[i] % ({type}){d}{suffix};\n" for n, d in enumerate(divisors))
    image = compile_body(body, f"__global {type} *a, __global {type} *q, int n")
    a = np.concatenate([EDGES, random.integers(0, 2**32, 30, dtype=np.uint32)]).view(TYPES[type])
    q = np.zeros((len(divisors), 2, a.size), TYPES[type])
    run(image, "k", a.size, [a, q, a.size])
    for n, d in enumerate(divisors):
        quotients = np.array([truncated_division(int(x), d) for x in a])
        assert (q[n, 0] == quotients.astype(TYPES[type])).all(), d
        assert (q[n, 1] == (a.astype(np.int64) - quotients * d).astype(TYPES[type])).all(), d


def test_shifts_of_long_integers_by_every_amount(random):
    body = "int j = i & 63; l[i] = a[i] << j; r[i] = a[i] >> j; s[i] = (long)a[i] >> j;"
    image = compile_body(body, "__global ulong *a, __global ulong *l, __global ulong *r, __global long *s")
    a = random.integers(0, 2**64, 128, dtype=np.uint64)
    left, right, signed_right = np.zeros_like(a), np.zeros_like(a), np.zeros(a.size, np.int64)
    run(image, "k", a.size, [a, left, right, signed_right])
    amounts = np.arange(a.size, dtype=np.uint64) % np.uint64(64)
    assert (left == a << amounts).all()
    assert (right == a >> amounts).all()
    assert (signed_right == a.view(np.int64) >> amounts.view(np.int64)).all()


def test_integer_functions():
    functions = {
        "popcount(x)": lambda x, y: x.bit_count(),
        "clz(x)": lambda x, y: 32 - x.bit_length(),
        "clz((ushort)x)": lambda x, y: 16 - (x & 0xFFFF).bit_length(),
        "rotate(x, y)": lambda x, y: (x << (y & 31) | x >> (-y & 31)) & 0xFFFF_FFFF,
        "rotate(x, 7u)": lambda x, y: (x << 7 | x >> 25) & 0xFFFF_FFFF,
        "(uint)rotate((uchar)x, (uchar)y)": lambda x, y: ((x & 255) << (y & 7) | (x & 255) >> (-y & 7)) & 255,
        "(uint)((ulong)x * y >> 32)": lambda x, y: x * y >> 32,
        "(uint)mul_hi((int)x, (int)y)": lambda x, y: signed(x) * signed(y) >> 32 & 0xFFFF_FFFF,
        "mul_hi(x, y)": lambda x, y: x * y >> 32,
        "abs_diff(x, y)": lambda x, y: abs(x - y),
        "clamp(x, 5u, y | 5u)": lambda x, y: min(max(x, 5), y | 5),
        "(x > y ? x - y : 0)": lambda x, y: max(x - y, 0),
        "(x + y < x ? 0xffffffffu : x + y)": lambda x, y: min(x + y, 0xFFFF_FFFF),
        "__builtin_bswap32(x)": lambda x, y: int.from_bytes(x.to_bytes(4, "little"), "big"),
        "__builtin_bitreverse32(x)": lambda x, y: int(f"{x:032b}"[::-1], 2),
        "__builtin_bitreverse8((uchar)x)": lambda x, y: int(f"{x & 255:08b}"[::-1], 2),
        "(ushort)((ushort)x << 8 | (ushort)x >> 8)": lambda x, y: (x & 255) << 8 | (x >> 8 & 255),
        "(uint)__builtin_ctz(x | 0x100)": lambda x, y: ((x | 256) & -(x | 256)).bit_length() - 1,
        "abs((int)x)": lambda x, y: min(x, 2**32 - x),
        "mad24(x, y, 3u)": lambda x, y: (x * y + 3) & 0xFFFF_FFFF,
    }
    body = "".join(f"out[{n} * n + i] = {text};" for n, text in enumerate(functions))
    image = compile_body(f"uint x = a[i], y = b[i]; {body}",
                         "__global uint *a, __global uint *b, __global uint *out, int n")
    a, b = (x.ravel().copy() for x in np.meshgrid(EDGES, EDGES))
    out = np.zeros((len(functions), a.size), np.uint32)
    run(image, "k", a.size, [a, b, out, a.size])
    for row, (text, function) in zip(out, functions.items(), strict=True):
        assert row.tolist() == [function(int(x), int(y)) for x, y in zip(a, b, strict=True)], text


def test_register_pressure_spills(random):
    """40 sums live at once through a loop: more than the registers, and the scratchpad has 16 words."""
    count = 40
    declare = "".join(f"int s{n} = a[i + {n}];" for n in range(count))
    update = "".join(f"s{n} += s{(n + 7) % count} * a[j];" for n in range(count))
    store = "".join(f"out[i * {count} + {n}] = s{n};" for n in range(count))
    image = compile_body(f"{declare} for (int j = 0; j < n; j++) {{ {update} }} {store}",
                         "__global int *a, __global int *out, int n")
    assert 0 < image.kernel("k").scratchpad_words <= 16
    assert "lswi" in disassemble(image)
    a, out = random.integers(-99, 99, 64, dtype=np.int32), np.zeros((4, count), np.int32)
    run(image, "k", 4, [a, out, 3], local=(4,))
    for i in range(4):
        s = [np.int64(a[i + n]) for n in range(count)]
        for j in range(3):
            for n in range(count):
                s[n] += s[(n + 7) % count] * a[j]
        assert (out[i] == np.array(s).astype(np.int32)).all()


def test_private_arrays_and_tables(random):
    image = compile_opencl("""
        __constant short table[5] = {-3, 100, 7, 0, 9};
        __kernel void k(__global int *a, __global int *out) {
            int i = get_global_id(0);
            int counts[4] = {0};
            char small[3] = {1, 2, 3};
            for (int j = 0; j < 8; j++) counts[a[i + j] & 3]++;
            small[a[i] & 1] += 120;
            int sum = 0;
            for (int j = 0; j < 4; j++) sum = sum * 10 + counts[(j + i) & 3];
            out[i] = sum + table[a[i] % 5] * 100000 + small[a[i + 1] & 1];
        }""")
    assert image.kernel("k").scratchpad_words <= 16
    a, out = random.integers(0, 99, 72, dtype=np.int32), np.zeros(64, np.int32)
    run(image, "k", 64, [a, out])
    for i in range(64):
        counts = np.bincount(a[i:i + 8] & 3, minlength=4)
        total = 0
        for j in range(4):
            total = total * 10 + counts[(j + i) & 3]
        small = np.array([1, 2, 3], np.int8)
        small[a[i] & 1] += np.int8(120)
        assert out[i] == total + [-3, 100, 7, 0, 9][a[i] % 5] * 100000 + small[a[i + 1] & 1]


def test_several_kernels_and_metadata():
    image = compile_opencl("""
        typedef uint word;
        __kernel void first(__global const ushort *a, __constant char *b, word n) {}
        __kernel __attribute__((reqd_work_group_size(8, 4, 1)))
        void second(__global uint *out, uchar x) { out[get_global_id(0)] = x + get_local_size(0); }""")
    first, second = image.kernel("first"), image.kernel("second")
    assert [(p.name, p.kind, p.type, p.size) for p in first.parameters] == [
        ("a", "pointer", "ushort", 2), ("b", "pointer", "char", 1), ("n", "scalar", "uint", 4)]
    assert (first.entry, first.instructions, first.work_group_size) == (0, 1, None)
    assert (second.entry, second.work_group_size) == (1, (8, 4, 1))
    out = np.zeros(64, np.uint32)
    run(image, "second", 64, [out, 0xABCD_EF05])    # only the low byte of a uchar counts
    assert (out == 69).all()


def test_constants_of_all_sizes(random):
    values = [*VALUES, 0xFFFF, 0x8000, -0x8001, 0x7FFF_0000, 0xFFFF_0000]
    body = "".join(f"out[{n} * 4 + i] = {v & 0xFFFF_FFFF}u ^ i;" for n, v in enumerate(values))
    out = np.zeros((len(values), 4), np.uint32)
    run(compile_body(body, "__global uint *out"), "k", 4, [out], local=(4,))
    assert (out == np.array([v & 0xFFFF_FFFF for v in values])[:, None] ^ np.arange(4)).all()


def test_tiny_configuration_is_enough_for_simple_kernels():
    compile_body("out[i] = i;", "__global int *out", config=Config.preset("tiny"))


def test_vectors(random):
    image = compile_opencl("""
        __kernel void k(__global int4 *a, __global uchar4 *b, __global char4 *c, __global short3 *d,
                        __global int2 *out, int n) {
            int i = get_global_id(0);
            int4 v = a[i] * a[i ^ 1] + (int4)(1, 2, 3, 4);
            v = v > 0 ? v.wzyx : -v;
            uchar4 bytes = b[i];
            char4 sum = 0;
            for (int j = 0; j < n; j++) sum += c[(i + j) & 7].yxwz;
            c[8 + i] = sum;
            short3 s = d[i];
            out[i] = (int2)(v.x - v.y * v.z + v.w, bytes.x + bytes.y * bytes.z - bytes.w + (s.x ^ s.z));
        }""")
    assert [p.type for p in image.kernel("k").parameters] == ["int4", "uchar4", "char4", "short3", "int2", "int"]
    assert [p.size for p in image.kernel("k").parameters] == [16, 4, 4, 8, 8, 4]
    a = random.integers(-2**31, 2**31, (8, 4)).astype(np.int32)
    b = random.integers(0, 256, (8, 4)).astype(np.uint8)
    c = random.integers(-128, 128, (16, 4)).astype(np.int8)
    d = random.integers(-2**15, 2**15, (8, 4)).astype(np.int16)
    out, old = np.zeros((8, 2), np.int32), c.copy()
    run(image, "k", 8, [a, b, c, d, out, 5], local=(8,))
    v = a * a[np.arange(8) ^ 1] + np.array([1, 2, 3, 4], np.int32)
    v = np.where(v > 0, v[:, ::-1], -v)
    assert (out[:, 0] == v[:, 0] - v[:, 1] * v[:, 2] + v[:, 3]).all()
    w, s = b.astype(np.int32), d.astype(np.int32)
    assert (out[:, 1] == w[:, 0] + w[:, 1] * w[:, 2] - w[:, 3] + (s[:, 0] ^ s[:, 2])).all()
    for i in range(8):
        total = sum(old[(i + j) & 7].astype(np.int32) for j in range(5))
        assert (c[8 + i] == total[[1, 0, 3, 2]].astype(np.int8)).all()


def test_a_vector_of_bytes_is_one_load():
    text = disassemble(compile_body("uchar4 v = in[i]; out[i] = v.x + v.y * v.z - v.w;",
                                    "__global uchar4 *in, __global int *out"))
    assert text.count("    lwp ") + text.count("    lbp ") == 1


@pytest.mark.ci
def test_functions_are_subroutines_where_there_is_no_room():
    source = "int f(int x, int y) { for (int n = 0; n < y; n++) x = (x ^ y) * 5 + n / 3; return x; }\n" \
             "__kernel void k(__global int *a) {\n" + "".join(
                 f"    a[{n}] = f(a[{n}], {n + 5}) - f(a[{n + 1}], a[{n}]);\n" for n in range(30)) + "}\n"
    large, small = (compile_opencl(source, config=Config(cram_size=size)) for size in (16, 2))
    assert len(large.words) > 2 * 512
    assert len(small.words) <= 512
    results = []
    for image in (large, small):
        values = np.arange(40, dtype=np.int32) * 7 - 100
        run(image, "k", 1, [values], local=(1,))
        results.append(values.tolist())
    assert results[0] == results[1]


@pytest.mark.parametrize("at", [0, 1, 2])
def test_operations_that_change_places_keep_the_order_of_memory(at):
    """A function that would spill is ordered anew; its stores may go where it loads from."""
    source = "#define MOVED s00123456789abcde\n__kernel void k(__global int16 *p, __global int16 *q) {\n" \
             "    q[0] = p[0].MOVED * 3 + p[1].MOVED + p[2].MOVED; }\n"
    image = compile_opencl(source)
    values = np.arange(48, dtype=np.int32) ** 2
    moved = values.reshape(3, 16)[:, [0, *range(15)]]
    with Device(Config(), engine="functional") as device:
        buffer = device.buffer(values)
        device.launch(image, "k", global_size=1, args=[buffer, buffer.address + at * 64])
        assert buffer.read().reshape(3, 16)[at].tolist() == (moved[0] * 3 + moved[1] + moved[2]).tolist()


def test_loads_overlap_with_what_does_not_need_them():
    def mnemonics(body, parameters):
        words = [line.split()[0] for line in disassemble(compile_body(body, parameters)).splitlines()]
        return ["lw" if word == "lwp" else word for word in words]

    loop = mnemonics("int sum = 0, j = 0; do { sum += a[i + j] * b[j]; j++; } while (j != n); out[i] = sum;",
                     "__global const int *a, __global const int *b, __global int *out, int n")
    at = loop.index("lw")
    # Of four rounds: those of the second do not wait for the sum of the first.
    assert loop[at:at + 5] == ["lw", "lw", "lw", "lw", "macc"]
    # The second address is computed under the first load, and nothing that needs data comes before the second load.
    straight = mnemonics("out[i] = (a[i] ^ 3) + (b[i * n] ^ 5);",
                         "__global const int *a, __global const int *b, __global int *out, int n")
    first, second = (at for at, name in enumerate(straight) if name == "lw")
    assert "xori" not in straight[:second]
    assert second - first <= 2
