"""Pointers to private variables and to constant tables: what they hold can be told from null, is as aligned as C
promises, and leads to where the table is, wherever they were kept or passed."""

import struct

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.sim import Device

SMALL = Config(scratchpad_size=8)
CHECKED = Config(scratchpad_check=True)
WITHOUT = Config(scratchpad_size=0)
CONFIGS = {"16 words": Config(), "4 words": SMALL, "no words": WITHOUT, "checked": CHECKED}
ITEMS = 64
NODE = "typedef struct Node { int v; struct Node *next; } Node;\n"


def division(x, y):
    return x // y * 1000 + x % y


def chain(values, start, following):
    """What a walk from ``start`` gives."""
    total, at = 0, start
    while at is not None:
        total, at = total * 5 + values[at], following(at)
    return total


def tree(i):
    """Steps from the root, node 0, of a search tree of 3, 1, 5 to i % 6, or -1."""
    children = {3: (1, 5), 1: (None, None), 5: (None, None)}
    at, depth = 3, 0
    while at is not None and at != i % 6:
        at, depth = children[at][i % 6 > at], depth + 1
    return -1 if at is None else depth


# What stands before the kernel, its body, and what it stores.
NULL = {
    "found": ("", "int t[4] = {0, 1, 2, 3}; int *p = 0; for (int k = 0; k < 4; k++) if (t[k] == (i & 7)) "
              "{ p = &t[k]; break; } r = p ? (int)(p - t) : -1;", lambda i: i & 7 if i & 7 < 4 else -1),
    "found_char": ("", "char t[4]; for (int k = 0; k < n; k++) t[k] = k; char *p = 0; "
                   "for (int k = 0; k < 4; k++) if (t[k] == (i & 7)) p = &t[k]; r = p ? *p + 1 : -1;",
                   lambda i: (i & 7) + 1 if i & 7 < 4 else -1),
    "found_struct": ("typedef struct { char c; short s; } Two;\n",
                     "Two t[3]; for (int k = 0; k < 3; k++) { t[k].c = k; t[k].s = k * n; } short *p = 0; "
                     "for (int k = 0; k < 3; k++) if (t[k].c == (i & 3)) p = &t[k].s; r = p ? *p + 5 : -1;",
                     lambda i: (i & 3) * 4 + 5 if i & 3 < 3 else -1),
    "remainder": ("__attribute__((noinline)) int divided(int x, int y, int *rem) "
                  "{ int q = x / y; if (rem) *rem = x - q * y; return q; }\n",
                  "int m = 999; r = divided(i * 7, 3, i & 1 ? &m : 0) * 1000 + m;",
                  lambda i: division(i * 7, 3) if i & 1 else i * 7 // 3 * 1000 + 999),
    "list": (NODE, "Node t[4]; for (int k = 0; k < n; k++) { t[k].v = k * i + 1; t[k].next = k ? &t[k - 1] : 0; } "
             "r = 0; for (Node *p = &t[i & 3]; p; p = p->next) r = r * 5 + p->v;",
             lambda i: chain([k * i + 1 for k in range(4)], i & 3, lambda at: at - 1 if at else None)),
    "tree": ("typedef struct Tree { int v; struct Tree *side[2]; } Tree;\n",
             "Tree t[3] = {{3}, {1}, {5}}; t[0].side[0] = &t[1]; t[0].side[1] = &t[2]; for (int k = 1; k < 3; k++) "
             "t[k].side[0] = t[k].side[1] = 0; Tree *p = t; int d = 0; "
             "for (; p && p->v != i % 6; d++) p = p->side[i % 6 > p->v]; r = p ? d : -1;", tree),
    "pointers": ("", "int x = 3, y = 4; int *q[3]; q[i % 3] = 0; q[(i + 1) % 3] = &x; q[(i + 2) % 3] = &y; x += i; "
                 "r = 0; for (int k = 0; k < n - 1; k++) r = r * 100 + (q[k] ? *q[k] : 1);",
                 lambda i: sum(100 ** (2 - k) * (1, 3 + i, 4)[(k - i) % 3] for k in range(3))),
    "past_the_end": ("", "int t[16]; for (int k = 0; k < 4 * n; k++) t[k] = k; r = 0; int *p = t + (i & 15), *e = 0; "
                     "for (; p < t + 16; p++) if (*p == 9) { r += 100; } else { r++; e = p + 1; } r = e ? r : -r;",
                     lambda i: 115 - (i & 15) if i & 15 <= 9 else 16 - (i & 15)),
    "first_values": ("", "int t[8] = {3, i}; int *p = i & 8 ? &t[i & 7] : 0; r = p ? *p : -1;",
                     lambda i: ([3, i, 0, 0, 0, 0, 0, 0][i & 7]) if i & 8 else -1),
    "either": ("", "int x[2] = {i, n}, y[2] = {n, i}; int *p = i & 1 ? x : i & 2 ? y : 0; "
               "r = p == x ? 1 : p == y ? 2 : !p ? 3 : 4; if (p) r += 10 * p[i >> 2 & 1];",
               lambda i: (1 + 10 * (4 if i & 4 else i)) if i & 1 else (2 + 10 * (i if i & 4 else 4)) if i & 2 else 3),
    "as_number": ("__attribute__((noinline)) int through(uint p) { return p ? ++*(int *)p : -1; }\n"
                  "__attribute__((noinline)) int passed_on(uint p) { return through(p) * 3; }\n",
                  "int t[20]; for (int k = 0; k < 5 * n; k++) t[k] = k * i; "
                  "r = passed_on(i & 3 ? (uint)&t[i % 20] : 0) + t[i % 20];",
                  lambda i: 4 * (i % 20 * i + 1) if i & 3 else -3 + i % 20 * i),
}
ALIGNED = {
    "behind_words": ("", "int z[3] = {i, 2, 5}; uint4 t[2] = {(uint4)(1, 2, 3, 4), (uint4)(5, 6, 7, 8)}; "
                     "z[i % 3] = 9; r = ((uint *)((uintptr_t)t + 4 * (i & 3)))[z[1] & 1];",
                     lambda i: 1 + (i & 3) + (i % 3 == 1)),
    "rounded": ("", "int z[3] = {i, 2, 5}; uint4 t[2] = {(uint4)(1, 2, 3, 4), (uint4)(5, 6, 7, 8)}; z[i % 3] = 9; "
                "uint *p = &((uint *)t)[i & 7]; r = *(uint *)((uintptr_t)p & ~15) + z[0];",
                lambda i: (5 if i & 4 else 1) + (9 if i % 3 == 0 else i)),
    "longs": ("", "int z[1]; long t[3] = {1, 2, 3}; z[0] = i; int *p = (int *)&t[i % 3] + (i & 1); "
             "r = *(int *)((uintptr_t)p & ~7) + z[0] + ((int)(uintptr_t)t & 7);", lambda i: i % 3 + 1 + i),
    "declared": ("", "int z[3] = {i, 2, 5}; int t[2] __attribute__((aligned(32))) = {7, n}; z[i % 3] = 9; "
                 "r = (int)((uintptr_t)&t[i & 1] & 31) * 100 + *(int *)((uintptr_t)&t[i & 1] | 4) + z[0];",
                 lambda i: (i & 1) * 400 + 4 + (9 if i % 3 == 0 else i)),
    "page": ("", "int z[3] = {i, 2, 5}; int t[2] __attribute__((aligned(8192))) = {7, n}; z[i % 3] = 9; "
             "r = (int)((uintptr_t)&t[i & 1] & 8191) * 100 + *(int *)((uintptr_t)&t[i & 1] | 4) + z[0];",
             lambda i: (i & 1) * 400 + 4 + (9 if i % 3 == 0 else i)),
    "called": ("__attribute__((noinline)) int from(int x) { int z[3] = {x, 2, 5}; "
               "uint2 t[2] = {(uint2)(1, 2), (uint2)(3, 4)}; "
               "z[x % 3] = 9; return ((uint *)((uintptr_t)&t[x & 1] | 4))[0] * 10 + z[0]; }\n",
               "int z[3] = {i, 2, 5}; long t[2] = {7, n}; z[i % 3] = 9; "
               "r = from(i) + ((int *)((uintptr_t)&t[i & 1] | 4))[0] + z[0] + from(n);",     # behind seven words
               lambda i: (i & 1) * 20 + 20 + 2 * (9 if i % 3 == 0 else i) + 24),
}
FIRST, SECOND = [10, 20, 30, 40], [1, 2, 3, 4]
MANY, LONG = [5 * k + 1 for k in range(16)], [7 * k % 101 for k in range(200)]
ARGUMENT = [100, 101, 102, 103]
TABLES = "".join(f"constant int {name}[{len(values)}] = {{{', '.join(map(str, values))}}};\n" for name, values in {
    "first": FIRST, "second": SECOND, "many": MANY, "more": MANY[::-1], "large": LONG}.items()) \
    + "constant char text[3][4] = {\"one\", \"two\", \"six\"};\n" \
    "constant struct { short s; char c; int i; } records[3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};\n"
RECORDS = [123, 456, 789]


def walked(i):
    """A sum over four turns, in one of which the pointer goes from a table to the argument."""
    return sum((ARGUMENT if k > i % 6 else FIRST)[k] for k in range(4))


POINTED = {
    "or_null": ("", "constant int *p = i & 4 ? 0 : &first[i & 3]; r = p ? *p : -1;",
                lambda i: -1 if i & 4 else FIRST[i & 3]),
    "argument": ("", "constant int *p = i & 1 ? a : first; r = p[i & 3];",
                 lambda i: (ARGUMENT if i & 1 else FIRST)[i & 3]),
    "walking": ("", "constant int *p = first; r = 0; for (int k = 0; k < n; k++) { r += p[k]; "
                "if (k == i % 6) p = a; }", walked),
    "compared": ("", "constant int *p = i & 1 ? first : second; r = p[i & 3] + (p == a) + 2 * (p == second);",
                 lambda i: FIRST[i & 3] if i & 1 else SECOND[i & 3] + 2),
    "further": ("", "constant int *p = i & 1 ? first + 1 : second; r = p[i & 1];",
                lambda i: FIRST[2] if i & 1 else SECOND[0]),
    "kept": ("", "constant int *t[2]; t[i & 1] = first; t[~i & 1] = second; r = t[i >> 1 & 1][i >> 2 & 3];",
             lambda i: (FIRST if i >> 1 & 1 == i & 1 else SECOND)[i >> 2 & 3]),
    "in_struct": ("typedef struct { int x; constant int *p; } In;\n",
                  "In s[2]; s[i & 1].p = first; s[~i & 1].p = a; s[i >> 1 & 1].x = n; r = s[i >> 2 & 1].p[i & 3];",
                  lambda i: (FIRST if i >> 2 & 1 == i & 1 else ARGUMENT)[i & 3]),
    "passed": ("__attribute__((noinline)) int total(constant int *p, int n) "
               "{ int r = 0; for (int k = 0; k < n; k++) r = r * 3 + p[k]; return r; }\n",
               "r = total(i & 1 ? first : second, i & 3) - total(a, n - 2);",
               lambda i: horner((FIRST if i & 1 else SECOND)[:i & 3]) - horner(ARGUMENT[:2])),
    "strings": ("__attribute__((noinline)) int length(constant char *s) { int n = 0; while (s[n]) n++; return n; }\n",
                'r = length(i & 1 ? "ab" : "c") * 10 + length(&"four"[i & 3]);',
                lambda i: (20 if i & 1 else 10) + 4 - (i & 3)),
    "returned": ("__attribute__((noinline)) constant int *chosen(int x) "
                 "{ return x % 3 == 0 ? first : x % 3 == 1 ? second : 0; }\n",
                 "constant int *p = chosen(i); r = p ? p[i & 3] : -1;",
                 lambda i: (FIRST[i & 3], SECOND[i & 3], -1)[i % 3]),
    "both": ("__attribute__((noinline)) int many_at(int x) { return many[x & 15] * 3; }\n",
             "r = many_at(i) + more[i & 15];", lambda i: MANY[i & 15] * 3 + MANY[15 - (i & 15)]),
    "in_turn": ("typedef struct { int x[3]; } Three;\n"
                "__attribute__((noinline)) int inner(Three t, int x) { return large[x + t.x[x & 1]]; }\n"
                "__attribute__((noinline)) int outer(int x) "
                "{ Three t = {{x, 2 * x}}; return inner(t, x) * 2 + first[x & 3]; }\n",
                "r = outer(i) + outer(n);",
                lambda i: 2 * LONG[i + (2 * i if i & 1 else i)] + FIRST[i & 3] + 2 * LONG[8] + FIRST[0]),
    "dimensions": ("typedef struct { int x[2]; } Two_numbers;\n"
                   "__attribute__((noinline)) int asked(Two_numbers t) "
                   "{ return get_work_dim() * 100 + t.x[t.x[0] & 1]; }\n"
                   "__attribute__((noinline)) int asking(int x) { Two_numbers t = {{x, 7}}; return asked(t) * 2; }\n",
                   "r = asking(i) + asking(n);", lambda i: 200 + 2 * (7 if i & 1 else i) + 208),
    "letters": ("", "constant char *p = text[i % 3]; r = p[i & 1] * 100 + text[(i + 1) % 3][2];",
                lambda i: ("one", "two", "six")[i % 3].encode()[i & 1] * 100 + b"eox"[(i + 1) % 3]),
    "in_records": ("", "r = records[i % 3].s * 100 + records[i % 3].c * 10 + records[(i + n) % 3].i;",
                lambda i: RECORDS[i % 3] // 10 * 10 + RECORDS[(i + 4) % 3] % 10),
    "beside_variables": ("", "int t[12]; for (int k = 0; k < 3 * n; k++) t[k] = k * i; "
                         "r = many[i & 15] + t[i % 12] + second[i & 3];",
                         lambda i: MANY[i & 15] + i % 12 * i + SECOND[i & 3]),
    "beside_more": ("", "int t[20]; for (int k = 0; k < 5 * n; k++) t[k] = k * i; "
                    "r = many[i & 15] + t[i % 20] + many[i >> 2];",
                    lambda i: MANY[i & 15] + i % 20 * i + MANY[i >> 2]),
}


def horner(values):
    total = 0
    for value in values:
        total = total * 3 + value
    return total


def kernels(cases):
    """A program with a kernel for each of ``cases``."""
    return TABLES + "".join(f"{before}kernel void {name}(global int *o, constant int *a, int n) "
                            f"{{ int i = get_global_id(0), r; {body} o[i] = r; }}\n"
                            for name, (before, body, _) in cases.items())


def wrong(cases, config, engine="functional"):
    """What the kernels of ``cases`` stored, of those where that is wrong."""
    image = compile_opencl(kernels(cases), config=config)
    found = {}
    with Device(config, engine=engine) as device:
        argument = device.buffer(ARGUMENT)
        for name, (_, _, value) in cases.items():
            out = device.buffer(ITEMS)
            device.launch(image, name, global_size=ITEMS, args=[out, argument, 4])
            if out.read().tolist() != [value(i) for i in range(ITEMS)]:
                found[name] = out.read().tolist()
    return found


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_null_is_no_variable(config):
    assert wrong(NULL, config) == {}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_addresses_are_aligned(config):
    assert wrong(ALIGNED, config) == {}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_pointers_to_tables(config):
    """Tables that have no room in the scratchpad, or whose addresses are kept, are in global memory."""
    assert wrong(POINTED, config) == {}


def test_pointers_in_hardware():
    assert wrong(NULL | ALIGNED | POINTED, Config(), "verilator") == {}


def test_structs_by_value_are_as_aligned_as_declared():
    source = "typedef struct __attribute__((aligned(32))) { int a[3]; } S;\n" \
        "kernel void k(global int *o, S s) { int i = get_global_id(0), z[3] = {i, 2, 5}; z[i % 3] = 9; " \
        "s.a[i % 3] += 3; o[i] = *(int *)((uintptr_t)&s.a[z[1] & 1] & ~31) + z[0]; }"
    with Device(Config(), engine="functional") as device:
        out = device.buffer(ITEMS)
        device.launch(compile_opencl(source), "k", global_size=ITEMS,
                      args=[out, struct.pack("<3i20x", 10, 20, 30)])
        assert out.read().tolist() == [22 if i % 3 == 0 else 10 + i for i in range(ITEMS)]


def test_indices_far_from_the_variable():
    """No immediate has room for the distance."""
    source = "kernel void k(global int *o, int n) { int i = get_global_id(0), t[4]; char b[4]; " \
        "for (int k = 0; k < 4; k++) { t[k] = k * i; b[k] = k + i; } o[i] = t[n - 100000] + b[n + 20000 - 120000]; }"
    with Device(Config(), engine="functional") as device:
        out = device.buffer(ITEMS)
        device.launch(compile_opencl(source), "k", global_size=ITEMS, args=[out, 100003])
        assert (out.read() == np.arange(ITEMS) * 4 + 3).all()


def test_a_table_joined_with_one_that_others_lead_to():
    """A table of pointers leads to one of two that are joined: both are in memory."""
    source = "constant uint alone[3] = {305419896u, 1, 3}; constant uint listed[4] = {7, 8, 9, 10}; " \
        "constant uint *constant list[2] = {0, listed};\n" \
        "kernel void k(global uint *o, uint n) { uint i = get_global_id(0); constant uint *q = list[i & 1]; " \
        "constant uint *p = n & 4 ? &alone[i % 3] : listed + (n & 3); o[i] = *p * 16 + (q ? *q : 6); }"
    image = compile_opencl(source)
    with Device(Config(), engine="functional") as device:
        for n in (0, 2, 4):
            out = device.buffer(ITEMS)
            device.launch(image, "k", global_size=ITEMS, args=[out, n])
            expected = [((305419896, 1, 3)[i % 3] if n & 4 else 7 + n) * 16 + (7 if i & 1 else 6)
                        for i in range(ITEMS)]
            assert out.read().astype(np.uint32).tolist() == [value % (1 << 32) for value in expected]


@pytest.mark.parametrize(("body", "expected"), [
    ("half t[2]; t[0] = i; t[1] = i + 1; o[i] = vload_half(i & 1, t);", lambda i: i + (i & 1)),
    ("half t[4]; for (int j = 0; j < 4; j++) t[j] = i; o[i] = vload_half2(i & 1, t).y;", lambda i: i),
    ("float s = 0; b[i] = i; for (int j = 0; j < n; j++) { s += vload_half(i, b); b[i] = s; } o[i] = s;",
     lambda i: i * 16),
    ("float t[2]; t[0] = t[1] = 1; ((uint *)t)[i & 1] = i << 24; o[i] = as_uint(t[i & 1]) >> 24;", lambda i: i),
    ("long t[2]; t[0] = t[1] = 0; ((int *)t)[i & 3] = i; o[i] = (t[0] + t[1]) >> 32 * (i & 1);", lambda i: i)])
def test_memory_is_read_as_another_type_than_it_was_written(body, expected):
    """At a place that the compiler does not know."""
    source = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" \
        f"kernel void k(global float *o, global half *b, int n) {{ int i = get_global_id(0); {body} }}"
    with Device(Config(), engine="functional") as device:
        out = device.buffer(np.zeros(64, np.float32))
        halves = device.buffer(np.zeros(64, np.float16))
        device.launch(compile_opencl(source), "k", global_size=64, args=[out, halves, 5])
        assert out.read().tolist() == [expected(i) for i in range(64)]


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_an_access_begins_within_an_element(config):
    """At a byte that the compiler does not know, by one index from the variable on."""
    source = "kernel void k(global uint *o, uint n) { uint i = get_global_id(0), v, t[4] = {n, n, n, n}; ushort w, " \
        "s[8] = {n, n, n, n}; t[i & 1] = 0x04030201; s[i & 3] = 0x0605; " \
        "__builtin_memcpy(&v, (uchar *)t + (i & 7), 4); __builtin_memcpy(&w, (uchar *)s + (i & 7), 2); " \
        "__builtin_memcpy((uchar *)t + (i * 3 & 7), &w, 2); o[2 * i] = v; o[2 * i + 1] = t[i >> 3 & 3] ^ w << 16; }"

    def expected(i):
        words, halves = bytearray(16), bytearray(16)
        words[4 * (i & 1):4 * (i & 1) + 4], halves[2 * (i & 3):2 * (i & 3) + 2] = b"\1\2\3\4", b"\5\6"
        v, w = words[i & 7:(i & 7) + 4], halves[i & 7:(i & 7) + 2]
        words[i * 3 & 7:(i * 3 & 7) + 2] = w
        return [int.from_bytes(v, "little"), int.from_bytes(words[4 * (i >> 3 & 3):][:4], "little")
                ^ int.from_bytes(w, "little") << 16]

    with Device(config, engine="functional") as device:
        out = device.buffer(2 * ITEMS)
        device.launch(compile_opencl(source, config=config), "k", global_size=ITEMS, args=[out, 0])
        assert out.read().astype(np.uint32).tolist() == [word for i in range(ITEMS) for word in expected(i)]
