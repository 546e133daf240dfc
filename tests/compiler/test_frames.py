"""Private memory in frames: a plain model of a work-item's bytes, and where the frames of a launch lie."""

import math
import random
import re
import struct

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.compiler.backend.parser import parse_machine_function
from fgpu.compiler.backend.printer import print_op
from fgpu.compiler.fitting import Fitting
from fgpu.compiler.legalize.tables import LOCAL_WORDS
from fgpu.compiler.observers import Printer
from fgpu.compiler.passes import Plan
from fgpu.compiler.select.frame import set_frame_size
from fgpu.config import Config
from fgpu.sim import Device

from ..configurations import ATOMIC

SIZE = 48       # bytes of a union below
TYPES = {"c": ("char", "b"), "s": ("short", "h"), "i": ("int", "i"), "l": ("long", "q")}
UNION = f"typedef union {{ char c[{SIZE}]; short s[{SIZE // 2}]; int i[{SIZE // 4}]; long l[{SIZE // 8}]; " \
    f"uint4 v[{SIZE // 16}]; uchar4 b[{SIZE // 4}]; " \
    f"struct {{ char a; short m; int n; char z[4]; }} r[{SIZE // 12}]; }} U;\n"


def wrapped(value):
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


class Memory:
    """The two unions of a work-item, ``x``, and what each statement does to them."""

    def __init__(self, item):
        self.x = self.item = item
        self.unions = [bytearray(SIZE), bytearray(SIZE)]
        self.chosen = 0

    def bytes_of(self, name):
        return self.unions[{"t": 0, "u": 1, "p": self.chosen}[name[0]]]

    def load(self, name, code, at):
        return struct.unpack_from("<" + code, self.bytes_of(name), at)[0]

    def store(self, name, code, at, value):
        half = 1 << 8 * struct.calcsize(code) - 1
        struct.pack_into("<" + code, self.bytes_of(name), at, (value + half) % (2 * half) - half)

    def index(self, index, count):
        return {"x": (self.x & 0xFFFFFFFF) % count, "i": self.item % count}.get(index, index)


class Statements:
    """Makes random statements: of each its C, and a function that does the same to a :class:`Memory`."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.functions = []

    def name(self):
        return self.random.choice(["t.", "u.", "p->"])

    def index(self, count):
        """C of an index below ``count``, and what :meth:`Memory.index` makes it from."""
        kind = self.random.choice(["x", "i", self.random.randrange(count)])
        return {"x": f"(uint)x % {count}", "i": f"(uint)i % {count}"}.get(kind, str(kind)), kind

    def store(self):
        field = self.random.choice("csil")
        type, code = TYPES[field]
        size, name, by = struct.calcsize(code), self.name(), self.random.randrange(-99, 99)
        text, index = self.index(SIZE // size)

        def run(m):
            m.store(name, code, size * m.index(index, SIZE // size), wrapped(m.x * 3 + by))
        return f"{name}{field}[{text}] = ({type})(x * 3 + {by});", run

    def load(self):
        field = self.random.choice("csil")
        size, name, code = struct.calcsize(TYPES[field][1]), self.name(), TYPES[field][1]
        text, index = self.index(SIZE // size)

        def run(m):
            m.x = wrapped(m.x * 5 + m.load(name, code, size * m.index(index, SIZE // size)))
        return f"x = x * 5 + (int){name}{field}[{text}];", run

    def behind(self):
        """At a place known but for a number that may be negative."""
        name, field, middle = self.name(), self.random.choice("csi"), self.random.randrange(4, 8)
        code, size = TYPES[field][1], struct.calcsize(TYPES[field][1])

        def run(m):
            at = size * (middle + (wrapped(m.x << 27) >> 29))
            m.store(name, code, at, m.load(name, code, at) - m.x)
            m.x = wrapped(m.x - m.load(name, code, at))
        place = f"{name}{field}[{middle} + j]"
        return f"{{ int j = x << 27 >> 29; {place} -= x; x -= {place}; }}", run

    def record(self):
        """Members of different sizes, at places known modulo four."""
        name, (text, index) = self.name(), self.index(SIZE // 12)

        def run(m):
            at = 12 * m.index(index, SIZE // 12)
            m.store(name, "h", at + 2, m.x)
            m.store(name, "b", at + 9, m.x >> 3)
            m.x = wrapped(m.x + m.load(name, "b", at) - m.load(name, "h", at + 2) + m.load(name, "b", at + 11))
        return f"{{ int j = {text}; {name}r[j].m = x; {name}r[j].z[1] = x >> 3; " \
            f"x += {name}r[j].a - {name}r[j].m + {name}r[j].z[3]; }}", run

    def vector(self):
        name, (text, index) = self.name(), self.index(SIZE // 16)

        def run(m):
            at = 16 * m.index(index, SIZE // 16)
            for lane, value in enumerate((m.x, m.x + 1, m.x ^ 5, ~m.x)):
                m.store(name, "i", at + 4 * lane, value)
            m.x = wrapped(m.x + sum(m.load(name, "I", place) for place in range(0, SIZE, 16)))
        sums = " + ".join(f"{name}v[{n}].x" for n in range(SIZE // 16))
        return f"{name}v[{text}] = (uint4)(x, x + 1, x ^ 5, ~x); x += {sums};", run

    def narrow_vector(self):
        name, (text, index) = self.name(), self.index(SIZE // 4)

        def run(m):
            at = 4 * m.index(index, SIZE // 4)
            a, b, c, d = (m.load(name, "B", at + n) for n in range(4))
            for n, value in enumerate((d, a, m.x & 255, c)):
                m.bytes_of(name)[at + n] = value
            m.x = wrapped(m.x + b)
        return f"{{ int j = {text}; uchar4 b = {name}b[j]; {name}b[j] = (uchar4)(b.w, b.x, (uchar)x, b.z); " \
            "x += b.y; }", run

    def choose(self):
        how, by = self.random.randrange(3), self.random.randrange(7)

        def run(m):
            m.chosen = m.x >> by & 1
        return (f"p = x >> {by} & 1 ? &u : &t;", f"q[0] = &t; q[1] = &u; p = q[x >> {by} & 1];",
                f"if (x >> {by} & 1) p = &u; else p = &t;")[how], run

    def walk(self):
        """A pointer that a loop moves, up or down."""
        name, count, first = self.name(), self.random.randrange(1, 5), self.random.randrange(6, 12)
        field, step = self.random.choice("csi"), self.random.choice([1, -1])
        code, size = TYPES[field][1], struct.calcsize(TYPES[field][1])

        def run(m):
            for turn in range(count):
                at = size * (first + step * turn)
                m.store(name, code, at, m.load(name, code, at) + m.x + turn + 4 - count)
        first = min(first, SIZE // size - count if step > 0 else first)
        return f"{{ {TYPES[field][0]} *w = &{name}{field}[{first}]; " \
            f"for (int j = {4 - count}; j < n; j++, w += {step}) *w += x + j; }}", run

    def copy(self):
        """The whole, to and from what a pointer points to."""
        to, source = self.random.sample("tu", 2)

        def run(m):
            m.bytes_of(to)[:] = m.bytes_of(source)
        return f"{to} = {source};", run

    def repeat(self):
        """So often that only the launch tells."""
        body, count = self.several(3), self.random.randrange(1, 4)

        def run(m):
            for _ in range(4 - count):
                for _, statement in body:
                    statement(m)
                m.x = wrapped(m.x + 1)
        return f"for (int k = {count}; k < n; k++) {{ {' '.join(text for text, _ in body)} x++; }}", run

    def branch(self):
        body, mask = self.several(2), self.random.randrange(1, 16)

        def run(m):
            if m.x & mask:
                for _, statement in body:
                    statement(m)
        return f"if (x & {mask}) {{ {' '.join(text for text, _ in body)} }}", run

    def call(self):
        """A function that is given all of it by pointers, and has private memory of its own."""
        body, name = self.several(3), f"f{self.random.randrange(10 ** 9)}"

        def run(m):
            before = m.x
            for _, statement in body:
                statement(m)
            m.x = wrapped(m.x + (before ^ (m.x & 7) * 77))
        text = "\n".join(text for text, _ in body)
        for pattern, other in ((r"([tu]) = ([tu]);", r"*\1 = *\2;"), (r"\b([tu])\.", r"\1->"),
                               (r"&([tu])\b(?!->)", r"\1"), (r"\bp(?=->| = )", "(*at)"), (r"&p\b", "at")):
            text = re.sub(pattern, other, text)
        self.functions.append(
            f"__attribute__((noinline)) int {name}(U *t, U *u, U **at, int x, int i, int n) {{ U *q[2]; int own[8];\n"
            f"for (int j = 0; j < 8; j++) own[j] = x ^ j * 77;\n{text}\nreturn x + own[x & 7]; }}")
        return f"x = {name}(&t, &u, &p, x, i, n);", run

    def several(self, count):
        kinds = [self.store, self.store, self.load, self.load, self.behind, self.record, self.vector,
                 self.narrow_vector, self.choose, self.walk, self.copy, self.call]
        return [self.random.choice(kinds)() for _ in range(count)]

    def program(self):
        return [self.random.choice([lambda: self.several(1)[0], self.repeat, self.branch])() for _ in range(12)]


@pytest.fixture(params=[False, True], ids=["inlined", "subroutines"])
def observers(request, monkeypatch):
    """Functions that use private memory are inlined, or all of them are subroutines that use the frame."""
    if not request.param:
        return []
    monkeypatch.setattr(Fitting, "_plans", lambda *_: iter([Plan(LOCAL_WORDS, has_frame=True, has_calls=True)]))
    return [Printer(print)]     # prints nothing; what is observed is compiled anew


@pytest.mark.parametrize(("seed", "engine"), [
    (0, "functional"), (12, "verilator"),
    *(pytest.param(seed, "functional", marks=pytest.mark.ci) for seed in range(1, 12)),
    pytest.param(13, "verilator", marks=pytest.mark.ci)])
def test_random_accesses_to_private_memory(seed, engine, observers):
    made = Statements(seed)
    program = made.program()
    statements = "\n".join(text for text, _ in program)
    source = UNION + "\n".join(made.functions) + "\nkernel void k(global int *o, global U *g, int n) {\n" \
        "int i = get_global_id(0), x = i; U t, u, *p = &t, *q[2];\n" \
        f"for (int j = 0; j < 6; j++) t.l[j] = u.l[j] = 0;\n{statements}\n" \
        "o[i] = x; g[2 * i] = t; g[2 * i + 1] = u; }"
    image = compile_opencl(source, observers=observers)
    assert image.kernel("k").private_bytes >= 2 * SIZE
    with Device(Config(), engine=engine) as device:
        out, unions = device.buffer(64), device.buffer((128, SIZE), np.uint8)
        device.launch(image, "k", global_size=64, local_size=32, args=[out, unions, 4])
        for item, (x, got) in enumerate(zip(out.read().tolist(), unions.read().reshape(64, 2, SIZE), strict=True)):
            memory = Memory(item)
            for _, statement in program:
                statement(memory)
            assert (x, got.tobytes()) == (memory.x, b"".join(memory.unions)), source


def test_null_is_no_variable():
    """Not the first one either; distances count elements."""
    source = "kernel void k(global int *o, int n) { int i = get_global_id(0), t[40]; short s[20]; " \
        "for (int j = 0; j < n; j++) { t[j] = i * j; s[j % 20] = j; }\n" \
        "int *p = 0; short *q = s + 19; for (int j = 0; j < n; j++) { if (t[j] == 60) p = t + j; " \
        "if (s[j % 20] == i % 20 + 20) q = s + j % 20; }\n" \
        "o[i] = p ? (int)(p - t) * 1000 + (int)(q - s) + (p > t + 20) * 100 : -1; }"
    with Device(Config(), engine="functional") as device:
        out = device.buffer(64)
        device.launch(compile_opencl(source), "k", global_size=64, args=[out, 40])
        places = [next((j for j in reversed(range(40)) if i * j == 60), None) for i in range(64)]
        assert out.read().tolist() == [-1 if j is None else j * 1000 + i % 20 + (j > 20) * 100
                                       for i, j in enumerate(places)]


LAYOUT = "{}kernel void k(global int *o) {{ volatile int t[20]; int x = get_global_id(0), y = get_global_id(1), " \
    "z = get_global_id(2), i = x + 1000 * y + 100000 * z; for (int j = 0; j < 20; j++) t[j] = i * 32 + j;\n" \
    "int s = 0; for (int j = 0; j < 20; j++) s += t[j] * (j + 1);\n" \
    "o[((z - get_global_offset(2)) * get_global_size(1) + y - get_global_offset(1)) * get_global_size(0) + x - " \
    "get_global_offset(0)] = s; }}"
SHAPES = [((96,), (96,), (0,)), ((320,), (64,), (5,)), ((70,), (5,), (1000,)), ((1000,), (200,), (0,)),
          ((16, 24), (8, 8), (3, 7)), ((10, 9), (5, 3), (0, 1)), ((16, 8, 8), (4, 4, 8), (1, 2, 3)),
          ((6, 4, 4), (3, 2, 2), (0, 0, 9)), ((4, 2, 9), (1, 2, 3), (0, 0, 0))]


def ids(size, local, offset):
    """What ``LAYOUT`` calls i of all work-items: one work-group after the other, x first in both."""
    groups = [whole // part for whole, part in zip(size, local, strict=True)]
    return [sum((place * part + own + start) * factor for place, part, own, start, factor
                in zip(group[::-1], local, item[::-1], offset, (1, 1000, 100000), strict=False))
            for group in np.ndindex(*groups[::-1]) for item in np.ndindex(*local[::-1])]


def check_layout(device, size, local, offset, attribute=""):
    """Each work-item has its own frame, whose words lie 64 words apart, next to those of its neighbours."""
    image = compile_opencl(LAYOUT.format(attribute), config=device.config)
    count, kernel = math.prod(size), image.kernel("k")
    blocks = -(-count // 64)
    assert kernel.private_room(count) == blocks * 64 * 84
    out, room = device.buffer(count), device.buffer((blocks, 21, 64))
    room.free()     # the launch takes the same place
    device.launch(image, "k", global_size=size, local_size=local, global_offset=offset, args=[out])
    frames = device.read(room.address, blocks * 21 * 64).reshape(blocks, 21, 64)
    found = frames.transpose(0, 2, 1).reshape(-1, 21)
    numbers = ids(size, local, offset)
    assert sorted(numbers) == sorted(set(numbers))
    assert (found[:count, 1:] == np.array(numbers)[:, None] * 32 + np.arange(20)).all()
    assert not found[count:].any()
    assert not found[:, 0].any()
    sums = np.array(numbers) * 32 * 210 + sum(j * (j + 1) for j in range(20))
    assert (np.sort(out.read()) == np.sort(sums.astype(np.int32))).all()
    out.free()


@pytest.mark.parametrize(("size", "local", "offset"), SHAPES)
def test_frames_of_neighbours_are_interleaved(size, local, offset):
    with Device(Config(), engine="functional") as device:
        check_layout(device, size, local, offset)
        check_layout(device, size, local, offset,
                     f"__attribute__((reqd_work_group_size({', '.join(map(str, (*local, 1, 1)[:3]))}))) ")


@pytest.mark.parametrize("config", [Config(), pytest.param(ATOMIC, marks=pytest.mark.ci),
                                    pytest.param(Config(compute_units=4), marks=pytest.mark.long)],
                         ids=lambda config: str(config.compute_units))
def test_frames_in_hardware(config):
    """Wavefronts that run at once on all compute units keep out of each other's frames."""
    with Device(config, engine="verilator") as device:
        for shape in SHAPES:
            check_layout(device, *shape)


def test_functions_that_take_many_registers_leave_one_to_kernels_with_frames():
    """Their bodies for each of sixteen elements would not fit the code RAM."""
    source = "kernel void k(global float *o, global const float *y, global const float *x) {\n" \
        "int i = get_global_id(0); vstore16(atan2(vload16(i, y), vload16(i, x)), i, o); }\n" \
        "kernel void l(global float *o, global const float *y, global const float *x) {\n" \
        "int i = get_global_id(0); o[i] = atan2(y[i], x[i]); }"
    image = compile_opencl(source)
    assert image.kernels["k"].private_bytes > 0
    assert image.kernels["l"].private_bytes == 0
    assert len(image.words) < 2500
    y, x = np.random.default_rng(2).normal(size=(2, 1024)).astype(np.float32)
    with Device(Config(), engine="functional") as device:
        for kernel, count in (("k", 1024), ("l", 64)):
            out, *given = [device.buffer(values) for values in (np.zeros(1024, np.float32), y, x)]
            device.launch(image, kernel, global_size=64, args=[out, *given])
            np.testing.assert_allclose(out.read()[:count], np.arctan2(y, x)[:count], rtol=1e-6)


def test_what_fills_variables_is_in_memory_where_the_scratchpad_has_no_room_for_it():
    """In a frame variables are filled from tables: one of a byte more than the scratchpad's words, and one that would
    be there beside what a routine of the library spills."""
    source = """
    typedef struct __attribute__((packed)) { int a; char b; } Row;
    kernel void bytes(global int *o) {
        int i = get_global_id(0), many[40];
        Row rows[13] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12}, {13, 14},
                        {15, 16}, {17, 18}, {19, 20}, {21, 22}, {23, 24}, {25, 26}};
        for (int j = 0; j < 40; j++) many[j] = i * j;
        rows[i % 13].a += many[i % 40];
        o[i] = rows[i / 5].a + rows[i % 7].b * 1000;
    }
    kernel void words(global int *o) {
        int i = get_global_id(0), many[40];
        int row[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
        for (int j = 0; j < 40; j++) many[j] = i * j;
        row[i % 16] += many[i % 40];
        o[i] = row[i / 5] + (int)fma((double)i, 3.0, 1.0) * 10000;
    }"""
    image = compile_opencl(source)
    assert all(kernel.private_bytes for kernel in image.kernels.values())
    i, digits = np.arange(64), np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3])
    added = i % 40 * i
    expected = {"bytes": i // 5 * 2 + 1 + np.where(i // 5 == i % 13, added, 0) + (i % 7 * 2 + 2) * 1000,
                "words": digits[i // 5] + np.where(i // 5 == i % 16, added, 0) + (3 * i + 1) * 10000}
    with Device(Config(), engine="functional") as device:
        for name, right in expected.items():
            out = device.buffer(64)
            device.launch(image, name, global_size=64, args=[out])
            np.testing.assert_array_equal(out.read(), right)


def test_kernels_with_and_without_frames_share_functions():
    """What was compiled for one kind is not called by the other, however they follow each other."""
    source = """
    __attribute__((noinline)) int mixed(int x) { int own[4]; for (int j = 0; j < 4; j++) own[j] = x * (j + 3);
        return own[x & 3] - own[x >> 2 & 3] * 5; }
    __attribute__((noinline)) double fused(double x) { return fma(x, 1.5, fma(x, x, -2.25)); }
    #define SMALL(name) kernel void name(global int *o) { int i = get_global_id(0); \
        o[i] = mixed(i) + (int)fused(i); }
    __attribute__((noinline)) void change(int *t, double *d, int x) {
        for (int j = 0; j < 40; j++) t[j] += mixed(j + x); *d = fused(*d) + fused(x); }
    SMALL(a)
    kernel void b(global int *o) { int i = get_global_id(0), t[40]; double d = i;
        for (int j = 0; j < 40; j++) t[j] = j * i;
        change(t, &d, i); o[i] = mixed(i) + t[i % 40] + t[(i + 7) % 40] + (int)d; }
    SMALL(c)"""

    def mixed(x):
        return x * ((x & 3) + 3) - x * ((x >> 2 & 3) + 3) * 5

    def fused(x):
        return x * 1.5 + x * x - 2.25

    small = [mixed(i) + int(fused(i)) for i in range(64)]
    tables = [[j * i + mixed(j + i) for j in range(40)] for i in range(64)]
    large = [mixed(i) + tables[i][i % 40] + tables[i][(i + 7) % 40] + int(2 * fused(i))
             for i in range(64)]
    config = Config()
    image = compile_opencl(source, config=config)
    assert [image.kernel(name).private_bytes > 0 for name in "abc"] == [False, True, False]
    with Device(config, engine="functional") as device:
        for name, expected in (("a", small), ("b", large), ("c", small)):
            out = device.buffer(64)
            device.launch(image, name, global_size=64, args=[out])
            assert out.read().tolist() == expected, name


def test_functions_with_private_pointers_are_subroutines_where_there_is_no_room_for_them_inlined():
    """Sixteen calls of a function of some hundred instructions."""
    steps = "".join(f"t[{k}] = t[{k}] * {k + 3} + (t[{(k + 5) % 16}] >> {k % 7 + 1}) + n;" for k in range(16)) * 8
    calls = "".join(f"step(t, {n});" for n in range(16))
    source = f"__attribute__((noinline)) void step(uint *t, uint n) {{ {steps} }}\n" \
        "kernel void k(global uint *o) { uint t[16], i = get_global_id(0);\n" \
        f"for (int j = 0; j < 16; j++) t[j] = i + j;\n{calls} for (int j = 0; j < 16; j++) o[16 * i + j] = t[j]; }}"
    t = [np.arange(64, dtype=np.uint32) + np.uint32(j) for j in range(16)]
    for n in range(16):
        for k in [*range(16)] * 8:
            t[k] = t[k] * np.uint32(k + 3) + (t[(k + 5) % 16] >> np.uint32(k % 7 + 1)) + np.uint32(n)
    config = Config(cram_size=8)
    image = compile_opencl(source, config=config)
    assert image.kernel("k").private_bytes > 0
    with Device(config, engine="functional") as device:
        out = device.buffer(np.zeros(1024, np.uint32))
        device.launch(image, "k", global_size=64, args=[out])
        assert (out.read().reshape(64, 16) == np.transpose(t)).all()


@pytest.mark.parametrize(("size", "expected"), [
    (200, ["r3 = const 12544", "r4 = mul r5, r3"]), (2052, ["r4 = slli r5, 17"]),
    (4, ["r3 = const 0", "r4 = mul r5, r3"])])
def test_the_size_of_frames_is_set_when_registers_are_allocated(size, expected):
    function = parse_machine_function(
        "kernel @k {\n^entry:\n r3 = framestep\n r4 = mul r5, r3\n r6 = frame r4\n ret\n}")
    set_frame_size(function, size)
    (block,) = function.blocks.values()
    assert [*map(print_op, block.ops)] == [*expected, "r6 = frame r4"]
