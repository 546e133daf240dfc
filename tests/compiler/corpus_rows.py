"""The corpus, continued: cases that mix lanes, use memory, or are about the language rather than its functions."""

import math
import operator
import struct

from .corpus import Case, float32, limits, wrap


def _pack(lanes, source, target):
    """Lanes as another type's of the same bits."""
    codes = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "long": "q",
             "ulong": "Q"}
    lanes = lanes if isinstance(lanes, list) else [lanes]
    content = struct.pack(f"<{len(lanes)}{codes[source]}", *lanes)
    size = struct.calcsize(codes[target])
    result = list(struct.unpack(f"<{len(content) // size}{codes[target]}", content))
    return result if len(result) > 1 else result[0]


def _case(name, result, arguments, code, meaning, prelude="", **options):
    return Case(name, result, tuple(arguments.split()), code, meaning, True, prelude, **options)


def vector_cases():
    group = {"group": "vectors"}
    cases = [
        _case("swizzle", "int4", "int4 int4", "r = a.wzyx + b.s0213;",
              lambda a, b: [a[3] + b[0], a[2] + b[2], a[1] + b[1], a[0] + b[3]], **group),
        _case("swizzle_write", "short8", "short8 short4", "r = a; r.odd = b; r.s0 += r.s7; r.hi.xy = a.lo.zw;",
              lambda a, b: [a[0] + b[3], b[0], a[2], b[1], a[2], a[3], a[6], b[3]], **group),
        _case("halves", "char16", "char8 char8", "r.lo = a; r.hi = b; r.even = r.odd;",
              lambda a, b: [x for n in range(0, 16, 2) for x in [(a + b)[n + 1]] * 2], **group),
        _case("build", "uint8", "uint2 uint uint", "r = (uint8)(a, b, (uint2)(c), a.yx, 7u);",
              lambda a, b, c: [*a, b, c, c, a[1], a[0], 7], **group),
        _case("splat", "long4", "long", "r = (long4)(a) * (long4)(1, 2, 3, 4);",
              lambda a: [a * n for n in (1, 2, 3, 4)], **group),
        _case("index", "int", "int8 uint", "r = a[b & 7];", lambda a, b: a[b & 7], **group),
        _case("index_write", "char4", "char4 uint char", "r = a; r[b & 3] = c;",
              lambda a, b, c: [c if n == b & 3 else x for n, x in enumerate(a)], **group),
        _case("select_lanes", "int4", "int4 int4 int4", "r = select(a, b, c);",
              lambda a, b, c: [y if z < 0 else x for x, y, z in zip(a, b, c, strict=True)], **group),
        _case("ternary_lanes", "ushort3", "ushort3 ushort3", "r = a > b ? a : b;",
              lambda a, b: [max(p) for p in zip(a, b, strict=True)], **group),
        _case("any", "int", "char4 int3", "r = any(a) * 2 + any(b);",
              lambda a, b: any(x < 0 for x in a) * 2 + any(x < 0 for x in b), **group),
        _case("all", "int", "short2 long2", "r = all(a) * 2 + all(b);",
              lambda a, b: all(x < 0 for x in a) * 2 + all(x < 0 for x in b), **group),
        _case("shuffle", "int4", "int2 uint4", "r = shuffle(a, b);", lambda a, b: [a[n & 1] for n in b], **group),
        _case("shuffle_wide", "uchar8", "uchar4 uchar8", "r = shuffle(a, b);", lambda a, b: [a[n & 3] for n in b],
              **group),
        _case("shuffle2", "short4", "short4 short4 ushort4", "r = shuffle2(a, b, c);",
              lambda a, b, c: [(a + b)[n & 7] for n in c], **group),
        _case("upsample", "int2", "short2 ushort2", "r = upsample(a, b);",
              lambda a, b: [x << 16 | y for x, y in zip(a, b, strict=True)], **group),
        _case("upsample_long", "ulong", "uint uint", "r = upsample(a, b);", lambda a, b: a << 32 | b, **group),
        _case("mul24", "int4", "short4 short4 int4", "r = mad24(convert_int4(a), convert_int4(b), c);",
              lambda a, b, c: [x * y + z for x, y, z in zip(a, b, c, strict=True)], **group),
        _case("scalar_and_vector", "uchar4", "uchar4 uchar", "r = (a ^ b) + (uchar)3;",
              lambda a, b: [(x ^ b) + 3 for x in a], **group),
        _case("increment", "int3", "int3", "r = a++; r += a; r -= --a;", lambda a: [x + 1 for x in a], **group),
        _case("lanes_of_bool", "int4", "int4 int4", "r = !a | (a == b) | ~b;",
              lambda a, b: [-(not x) | -(x == y) | ~y for x, y in zip(a, b, strict=True)], **group),
    ]
    for source, target in (("int", "char4"), ("char8", "ulong"), ("short2", "uint"), ("long2", "int4"),
                           ("uchar16", "ushort8"), ("ulong", "short4"), ("int3", "uint3"), ("uint2", "long")):
        plain, to = source.rstrip("0123456789"), target.rstrip("0123456789")
        cases.append(_case(f"as_{target}_{source}", target, source, f"r = as_{target}(a);",
                           lambda a, s=plain, t=to: _pack(a, s, t), **group))
    return cases


def memory_cases():
    loads = {"group": "memory"}
    cases = []
    for number, type in enumerate(("char", "ushort", "int", "ulong", "float")):
        n = (2, 3, 4, 8, 2)[number]
        cases.append(_case(
            f"vload{n}_{type}", f"{type}{n}", f"{type}{n} {type}{n}",
            f"{type} t[{2 * n}]; vstore{n}(b, 1, t); vstore{n}(a, 0, t); r = vload{n}(1, t) ;"
            f"r.s0 = vload{n}(0, t + 1).s0;", lambda a, b: [a[1], *b[1:]], **loads))
    half = "half_bits"
    cases += [
        _case("half", "float", "ushort", "r = vload_half(0, (__private half *)&a);",
              lambda a: struct.unpack("<e", struct.pack("<H", a))[0], **loads),
        _case(f"{half}_store", "ushort", "float", "vstore_half_rte(a, 0, (__private half *)&r);", half_bits, **loads),
        _case(f"{half}_aligned", "ushort", "float", "half h; vstorea_half_rte(a, 0, &h);"
              "vstore_half(vloada_half(0, &h), 0, (__private half *)&r);", half_bits, **loads),
        _case("vload_half4", "float4", "ushort4", "r = vloada_half4(0, (__private half *)&a);",
              lambda a: [struct.unpack("<e", struct.pack("<H", x))[0] for x in a], **loads),
    ]
    return cases


def overflow_cases():
    """What clang makes operations with overflow of, and its functions for them."""
    group = {"group": "overflow"}
    cases = [
        _case("product_too_large", "int", "uint uint", "r = a && mul_hi(a, b);", lambda a, b: a * b >> 32 != 0,
              **group),
        _case("product_checked", "int", "ulong ulong", "r = a && a * b / a != b;", lambda a, b: a * b >> 64 != 0,
              **group),
        _case("products_too_large", "int4", "uint4 uint4", "r = mul_hi(a, b) != (uint4)0;",
              lambda a, b: [-(x * y >> 32 != 0) for x, y in zip(a, b, strict=True)], **group),
    ]
    operations = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
    for type in ("char", "ushort", "int", "uint", "long", "ulong"):
        low, high = limits(type)
        for name, operation in operations.items():
            def meaning(a, b, low=low, high=high, operation=operation):
                exact = operation(a, b)
                return exact if low <= exact <= high else ~exact
            cases.append(_case(f"{name}_overflow_{type}", type, f"{type} {type}",
                               f"{type} x; r = __builtin_{name}_overflow(a, b, &x) ? ~x : x;", meaning, **group))
    return cases


def half_bits(value):
    if value != value:
        return (struct.unpack("<I", struct.pack("<f", value))[0] >> 16 & 0x8000) | 0x7E00
    try:
        return struct.unpack("<H", struct.pack("<e", value))[0]
    except OverflowError:
        return 0xFC00 if value < 0 else 0x7C00


def _collatz(n):
    steps = 0
    while n != 1 and steps < 50:
        n = n // 2 if n % 2 == 0 else (3 * n + 1) & 0xFFFFFFFF
        steps += 1
    return steps


def _gcd(a, b):
    return math.gcd(a, b)


def _irreducible(a, b):
    x, total, inner = a & 7, 0, bool(b & 1)
    while True:
        if not inner:
            total += 3
            if x > 20:
                return total
        inner = False
        total += x
        x += 2
        if total > 100:
            return total


def _interpreter(a, b):
    x = 0
    for step in range(8):
        kind = a >> 3 * step & 7
        if kind == 0:
            x += b
        elif kind == 1:
            x ^= b << 1
        elif kind in (2, 3):
            x = (x << 1) + (3 if kind == 2 else 0)
        elif kind == 7:
            return wrap(x - 1, "int")
        else:
            x -= 5
        x = wrap(x, "int")
    return x


SWITCH = """r = 0; int done = 0;
    for (int step = 0; step < 8 && !done; step++) {
        switch (a >> 3 * step & 7) {
        case 0: r += b; break;
        case 1: r ^= b << 1; break;
        case 2: r += r + 3; break;
        case 3: r <<= 1; break;
        case 7: r -= 1; done = 1; break;
        default: r -= 5;
        }
    }"""
IRREDUCIBLE = """uint x = a & 7; r = 0;
    if (b & 1) goto inside;
    again: r += 3; if (x > 20) goto end;
    inside: r += x; x += 2; if (r > 100) goto end; goto again;
    end: ;"""
STRUCT = "typedef struct { int x; char c; short s[3]; union { uint u; uchar b[4]; } n; long l; } record;\n"
TABLES = ("__constant uchar big[300] = {" + ", ".join(str(n * n % 251) for n in range(300)) + "};\n"
          "__constant int small[4] = {3, -1, 4, -15};\n__constant long longs[3] = {1, -1, 0x123456789abcdefL};\n"
          "enum colour { RED = 3, GREEN, BLUE = -7 };\n")


def language_cases():
    group = {"group": "language"}
    cases = [
        _case("while", "int", "ushort", "uint n = a | 1u; r = 0; while (n != 1 && r < 50) "
              "{ n = n & 1 ? 3 * n + 1 : n / 2; r++; }", lambda a: _collatz(a | 1), **group),
        _case("do", "uint", "uint uint", "uint x = a, y = b | 1, t; do { t = x % y; x = y; y = t; } while (y); "
              "r = x;",
              lambda a, b: _gcd(a, b | 1), **group),
        _case("switch", "int", "uint int", SWITCH, _interpreter, **group),
        _case("irreducible", "uint", "uint uint", IRREDUCIBLE, _irreducible, **group),
        _case("continue", "int", "uint", "r = 0; for (int n = 0; n < 20; n++) { if (a >> n & 1) continue; r += n; "
              "if (r > 60) break; }", lambda a: _continue(a), **group),
        _case("comma", "int", "int int", "int t; r = (t = a + 1, t * 2), r ^= b;", lambda a, b: (a + 1) * 2 ^ b,
              **group),
        _case("short_circuit", "int", "int int", "r = 5; if (a > 3 && r++ && b < 7 || (r += 2, 0)) r *= 3;",
              lambda a, b: 18 if a > 3 and b < 7 else 8 if a > 3 else 7, **group),
        _case("helper", "long", "long int", "r = m(a, b) - m(b, 3);", lambda a, b: a * b + 3 - (b * 3 + 3),
              prelude="__attribute__((noinline)) long m(long a, int b) { return a * b + 3; }\n", **group),
        _case("nested_helpers", "int", "int int", "r = g(a) + g(b) + f(r = 3);",
              lambda a, b: 3 * a + 3 * b + 2 + 4,
              prelude="__attribute__((noinline)) int f(int x) { return x + 1; }\n"
                      "__attribute__((noinline)) int g(int x) { return f(x) + 2 * x; }\n", **group),
        _case("vector_helper", "int4", "int4 int4", "r = h(a, b);", lambda a, b: [x - y for x, y in
              zip(a, b, strict=True)], prelude="__attribute__((noinline)) int4 h(int4 a, int4 b) { return a - b; }\n",
              **group),
        _case("early_return", "int", "int", "r = e(a);", lambda a: 1 if a < 0 else 2 if a < 1000 else a ^ 5,
              prelude="int e(int x) { if (x < 0) return 1; if (x < 1000) return 2; return x ^ 5; }\n", **group),
        _case("out_parameter", "int", "int int", "int t; split(a, &t, &r); r += t * b;",
              lambda a, b: (a & 15) + (a >> 4) * b,
              prelude="void split(int x, int *high, int *low) { *high = x >> 4; *low = x & 15; }\n", **group),
        _case("struct", "int", "int int", "record t[2]; for (int n = 0; n < 2; n++) { t[n].x = a + n; t[n].c = b; "
              "t[n].n.u = a; for (int m = 0; m < 3; m++) t[n].s[m] = a * m + n; } record *p = &t[b & 1]; "
              "p->s[a & 1] += 7; r = p->x + p->c + p->s[b >> 1 & 1] + p->n.b[a & 3];", _struct, prelude=STRUCT,
              **group),
        _case("struct_copy", "int", "int int", "record s = {a, 1, {2, 3, 4}, {5}, 6}, t = s; t.s[1] = b; s = t; "
              "r = s.x + s.s[1] * 2 + (int)s.l;", lambda a, b: a + wrap(b, "short") * 2 + 6, prelude=STRUCT, **group),
        _case("array_2d", "int", "int uint", "int t[3][4]; for (int n = 0; n < 12; n++) t[n / 4][n % 4] = a + n * n; "
              "r = t[b % 3][b >> 8 & 3];", lambda a, b: a + (b % 3 * 4 + (b >> 8 & 3)) ** 2, **group),
        _case("char_array", "int", "uint uint", "uchar t[24]; for (int n = 0; n < 24; n++) t[n] = a >> (n & 15); "
              "t[b % 24] ^= 0x55; r = 0; for (int n = 0; n < 24; n++) r = r * 3 + t[n];", _char_array, **group),
        _case("pointers", "int", "int int", "int x = a, y = b; int *p[2] = {&x, &y}; *p[a & 1] += 7; "
              "int **q = p + (b & 1); r = **q * 3 + x;", _pointers, **group),
        _case("pointer_walk", "int", "int int", "int t[6]; int *p = t; while (p != t + 6) "
              "{ *p = a + (int)(p - t); p++; } "
              "int *q = b & 1 ? t + 1 : t + 4; r = q[1] * (int)(p - q);",
              lambda a, b: (a + 2) * 5 if b & 1 else (a + 5) * 2, **group),
        _case("long_array", "long", "long uint", "long t[4]; for (int n = 0; n < 4; n++) t[n] = a * n; r = t[b & 3];",
              lambda a, b: a * (b & 3), **group),
        _case("vector_array", "int4", "int4 uint", "int4 t[2]; t[0] = a; t[1] = a.wzyx; r = t[b & 1];",
              lambda a, b: a[::-1] if b & 1 else a, **group),
        _case("tables", "int", "uint uint", "r = big[a % 300] + small[b & 3] + BLUE + GREEN;",
              lambda a, b: (a % 300) ** 2 % 251 + (3, -1, 4, -15)[b & 3] - 7 + 4, prelude=TABLES, **group),
        _case("long_table", "long", "uint", "r = longs[a % 3];", lambda a: (1, -1, 0x123456789ABCDEF)[a % 3],
              prelude=TABLES, **group),
        _case("sizeof", "uint", "uint", "r = sizeof(record) + sizeof(int3) * a + sizeof(long);",
              lambda a: 24 + 16 * a + 8, prelude=STRUCT, **group),
        _case("casts", "int", "int float", "r = (char)a + (ushort)a + (int)(uchar)(a >> 3) + (a > 3);",
              lambda a, b: wrap(a, "char") + wrap(a, "ushort") + wrap(a >> 3, "uchar") + (a > 3), **group),
        _case("float_to_long", "long", "float", "r = (long)(a * 0x1p33f);",
              lambda a: wrap(int(float32(a * 2 ** 33)), "long"), small=True, **group),
        _case("long_to_float", "float", "int", "r = (float)((long)a << 20) * 0x1p-20f;", lambda a: float32(a),
              **group),
        _case("long_loop", "ulong", "uint", "r = 1; for (long n = -5; n < (long)(a & 15); n++) "
              "r = r * 6364136223846793005L + n;", _long_loop, **group),
        _case("long_switch", "int", "int", "switch ((long)(a & 3) << 33) { case 0: r = 5; break; case 1L << 33: "
              "r = 6; break; case 3L << 33: r = 9; break; default: r = a; }",
              lambda a: {0: 5, 1: 6, 3: 9}.get(a & 3, a), **group),
        _case("chosen_constants", "int4", "int int", "r.x = a > b ? -4 : 0; r.y = a > b ? 4 : 0; "
              "r.z = a > b ? -1 : 0; r.w = a > b ? INT_MIN : 0;",
              lambda a, b: [-4, 4, -1, -1 << 31] if a > b else [0, 0, 0, 0], **group),
        _case("bool", "int", "int int", "bool p = a > b, q = a; r = p + q * 2 + (p ^ q) * 4 + !q;",
              lambda a, b: (a > b) + bool(a) * 2 + ((a > b) != bool(a)) * 4 + (not a), **group),
        _case("macros", "int", "int", "r = TWICE(a + 1) + __OPENCL_VERSION__ - CL_VERSION_1_2 + __LINE__ * 0;",
              lambda a: 2 * (a + 1), prelude="#define TWICE(x) ((x) + (x))\n", **group),
    ]
    return cases


def _continue(a):
    total = 0
    for n in range(20):
        if not a >> n & 1:
            total += n
            if total > 60:
                break
    return total


def _struct(a, b):
    at = b & 1
    s = [wrap(a * m + at, "short") for m in range(3)]
    s[a & 1] = wrap(s[a & 1] + 7, "short")
    return a + at + wrap(b, "char") + s[b >> 1 & 1] + ((a & 0xFFFFFFFF) >> 8 * (a & 3) & 255)


def _char_array(a, b):
    t = [a >> (n & 15) & 255 for n in range(24)]
    t[b % 24] ^= 0x55
    r = 0
    for value in t:
        r = wrap(r * 3 + value, "int")
    return r


def _pointers(a, b):
    values = [a, b]
    values[a & 1] = wrap(values[a & 1] + 7, "int")
    return values[b & 1] * 3 + values[0]


def _long_loop(a):
    r = 1
    for n in range(-5, a & 15):
        r = wrap(r * 6364136223846793005 + n, "ulong")
    return r
