"""What LLVM writes in unusual ways: addresses in initial values and as numbers, accesses of three bytes; and sources
and options as they come from elsewhere."""

import json
from dataclasses import replace

import numpy as np
import pytest
from llvmlite import binding as llvm

from fgpu.compiler import Image, assemble, compile_opencl, disassemble, kernels
from fgpu.compiler.frontend.clang import Bitcode
from fgpu.config import Config
from fgpu.errors import CompileError, ImageError
from fgpu.sim import Device

from ..configurations import ATOMIC

ITEMS = 64
WORDS = ["one", "two", "three"]
PERMUTED = [5, 3, 1, 7, 2, 8, 6, 4]
COUNT = "int n = 0; while (p[n]) n++; o[i] = n * 256 + p[1];"
STRINGS = '__constant char *s[3] = {"one", "two", "three"}; '
TABLES = "__constant int ca[4] = {1, 2, 3, 4}; __constant int cb[8] = {5, 3, 1, 7, 2, 8, 6, 4};\n"
ADDRESS = 0x1000_0000


def lengths(i):
    return len(WORDS[i % 3]) * 256 + ord(WORDS[i % 3][1])


def odd(i):
    return i * 0x9E3779B1 % (1 << 32) | 1


def product(a, b):
    """Or 77 if it has more than 32 bits, as an int."""
    return a * b - (a * b >> 31 << 32) if a * b < 1 << 32 else 77


def sums_of_48(a, b):
    """Of the sum, the difference and the unsigned sum."""
    def limited(value):
        return min(max(value, -1 << 47), (1 << 47) - 1)

    whole = (1 << 48) - 1
    word = ((limited(a + b) >> 20) ^ (limited(a - b) >> 30) ^ (min((a & whole) + (b & whole), whole) >> 40) * 3)
    return (word + (1 << 31)) % (1 << 32) - (1 << 31)


CASES = {       # before the kernel, in it, and what it writes for i
    "null pointers": ("", "int x = i; int *p[3] = {0, 0, 0}; p[i % 3] = &x; int r = 0; "
                      "for (int j = 0; j < 3; j++) if (p[j]) r += *p[j] + j; o[i] = r;", lambda i: i + i % 3),
    "a product of two that is checked": (
        "", "uint x = i * 0x9E3779B1u | 1, y = x >> 7 | 1, z; bool f; volatile uint v = i & 3, way; uint a = v; "
        "if (i % 5) { z = x * a; f = z / x != a; way = 1; } else { z = y * i; f = z / y != i; } o[i] = f ? 77 : z;",
        lambda i: product(odd(i), i & 3) if i % 5 else product(odd(i) >> 7 | 1, i)),
    "a power that is checked": (
        "", "volatile uint v = i, w = i & 14; uint x = v, n = w, power = 1; bool f = false; "
        "for (uint j = 0; j < n; j++) { f |= power > 0xffffffff / (x | 1); power *= x | 1; } "
        "if (!(i & 1)) ((global ulong *)o)[i / 2] = (ulong)f ? 77 : power;",
        lambda i: 0 if i & 1 else product(1, (i | 1) ** (i & 14))),
    "sums of 48 bits that saturate": (
        "", "_BitInt(48) a = (_BitInt(48))(i - 32) << 42, b = (_BitInt(48))(i * 7 - 200) << 38; "
        "unsigned _BitInt(48) c = a, d = b; "
        "o[i] = (int)(__builtin_elementwise_add_sat(a, b) >> 20) ^ (int)(__builtin_elementwise_sub_sat(a, b) >> 30)"
        " ^ (int)(__builtin_elementwise_add_sat(c, d) >> 40) * 3;",
        lambda i: sums_of_48((i - 32) << 42, (i * 7 - 200) << 38)),
    "null in a struct": ("struct N { int v; struct N *n; };", "struct N s = {0}, t = {i, 0}; if (i & 1) s.n = &t; "
                         "int r = 0; for (struct N *p = &s; p; p = p->n) r += p->v + 1; o[i] = r;",
                         lambda i: 2 + i if i & 1 else 1),
    "strings": ("", STRINGS + "__constant char *p = s[i % 3];" + COUNT, lengths),
    "strings that are exchanged": ("", STRINGS + "s[i & 1] = s[1 + (i >> 1 & 1)]; __constant char *p = s[0];" + COUNT,
                                   lambda i: lengths(0 if i & 1 else 1 + (i >> 1 & 1))),
    "a table of strings": ('__constant char *__constant s[3] = {"one", "two", "three"};',
                           "__constant char *p = s[i % 3]; " + COUNT, lengths),
    "a table of tables": (TABLES + "__constant int *__constant tb[2] = {ca, cb};", "o[i] = tb[i & 1][i & 3];",
                          lambda i: PERMUTED[i & 3] if i & 1 else 1 + (i & 3)),
    "pointers into tables": (TABLES + "struct E { int n; __constant int *p; };\n"
                             "__constant struct E tb[3] = {{1, ca + 2}, {2, 0}, {3, &ca[1]}};",
                             "__constant struct E *e = &tb[i % 3]; o[i] = e->p ? e->p[0] * e->n : -1;",
                             lambda i: [3, -1, 6][i % 3]),
    "a vector of addresses": (TABLES, "volatile uint2 v = (uint2)((uint)(uintptr_t)ca, (uint)(uintptr_t)(cb + 1)); "
                              "o[i] = ((__constant int *)(uintptr_t)(i & 1 ? v.y : v.x))[i & 3];",
                              lambda i: PERMUTED[1 + (i & 3)] if i & 1 else 1 + (i & 3)),
    "words by bytes that are parts of them": (
        "", "int a[8], r = 0; for (int j = 0; j < 8; j++) a[j] = i * j; int part = get_local_size(0) - 63; "
        "char *p = (char *)a + part; "
        "for (int j = 0; j < i % 7; j++) { r = r * 3 + *(int *)(p - part); p += 4; } o[i] = r;",
        lambda i: sum(i * j * 3 ** (i % 7 - 1 - j) for j in range(i % 7))),
    "comparisons in three ways": (
        "int order(int a, int b) { if (a < b) return -1; if (a > b) return 1; return 0; }\n",
        "int3 v = (int3)(i, 30, 20), w = (int3)(9, i, i); v = (v > w) - (v < w); "
        "o[i] = order(i, 11) * 27 - v.x * 9 - v.y * 3 - v.z;",
        lambda i: sum(f * ((x > y) - (x < y)) for f, x, y in ((27, i, 11), (9, i, 9), (3, 30, i), (1, 20, i)))),
    "structs with gaps": ("struct G { char c; int n; short h; long w; };\n__constant struct G tg[5] = {"
                          "{1, 70000, 3, 1L << 32}, {-5, 6, -7, -8}, {9, 8, 7, 6}, {0, 1, 0, 2}, {2, 2, 0, 0}};",
                          "__constant struct G *g = &tg[i % 5]; int w = g->w >> 1; "
                          "o[i] = g->c + 2 * g->n + 3 * g->h + w;",
                          lambda i: [1 + 140000 + 9 + (1 << 31) - (1 << 32), -18, 49, 3, 6][i % 5]),
    "tables in a circle": ("struct N { int v; __constant struct N *n; }; extern __constant struct N b;\n"
                           "__constant struct N a = {1, &b}; __constant struct N b = {2, &a};",
                           "__constant struct N *p = i & 1 ? &a : &b; for (int j = 0; j < i >> 1; j++) p = p->n; "
                           "o[i] = p->v;", lambda i: 1 + ((i & 1) + (i >> 1) + 1) % 2),
    "a pointer's difference": (TABLES, "__constant int *p = cb; while (*p != (i & 7) + 1) p++; o[i] = (int)(p - cb);",
                               lambda i: PERMUTED.index((i & 7) + 1)),
    "an address as a number": (TABLES, "uintptr_t u = (uintptr_t)cb; o[i] = *(__constant int *)(u + 4 * (i & 7));",
                               lambda i: PERMUTED[i & 7]),
    "one that comes by a branch": (TABLES, "uintptr_t u; if (o[i]) u = (uintptr_t)ca + 4; else u = (uintptr_t)cb; "
                                   "o[i] = *(__constant int *)(u + 4 * (i & 1));", lambda i: PERMUTED[i & 1]),
    "an address that the program names": ("", f"__global int *q = (__global int *){ADDRESS}; q[i + 64] = i; "
                                          f"*(__global int *){ADDRESS + 4 * 200} = 77; o[i] = q[i + 64] * 2;",
                                          lambda i: 2 * i),
}


def results(image, engine):
    with Device(ATOMIC, engine=engine) as device:
        device.buffer(np.zeros(1024, np.int32), address=ADDRESS)
        out = device.buffer(np.zeros(ITEMS, np.int32))
        device.launch(image, "k", global_size=ITEMS, args=[out])
        return out.read().tolist()


def source(case):
    before, body, _ = CASES[case]
    return f"{before}\n__kernel void k(__global int *o) {{ int i = get_global_id(0); {body} }}"


@pytest.mark.parametrize("case", list(CASES))
def test_functional(case):
    assert results(compile_opencl(source(case)), "functional") == [CASES[case][2](i) for i in range(ITEMS)]


@pytest.mark.ci
@pytest.mark.parametrize("case", ["null pointers", "tables in a circle", "strings that are exchanged"])
def test_verilator(case):
    assert results(compile_opencl(source(case), config=ATOMIC), "verilator") == [CASES[case][2](i)
                                                                                 for i in range(ITEMS)]


def test_tables_of_pointers_travel_with_the_image(tmp_path):
    image = compile_opencl(source("pointers into tables"))
    assert len(image.pointers) == 2
    image.save(tmp_path / "k.json")
    again = Image.load(tmp_path / "k.json")
    assert again == image
    assert results(again, "functional") == [CASES["pointers into tables"][2](i) for i in range(ITEMS)]
    for at in image.pointers:
        word, moved = (int.from_bytes(data[at:at + 4], "little") for data in (image.data, image.data_at(0x2000_0000)))
        assert word < len(image.data)
        assert moved == 0x2000_0000 + word


def test_images_of_before_are_read(tmp_path):
    compiled = compile_opencl(source("a pointer's difference"))
    image = replace(compiled, kernels={name: replace(kernel, splittable=False)
                                       for name, kernel in compiled.kernels.items()})
    image.save(tmp_path / "k.json")
    content = json.loads((tmp_path / "k.json").read_text())
    assert content["version"] == 1
    del content["pointers"]
    (tmp_path / "old.json").write_text(json.dumps(content))
    assert Image.load(tmp_path / "old.json") == image
    for pointers, message in (([len(image.data)], "must be places of words"), (["x"], "numbers from 0"),
                              ([-4], "numbers from 0")):
        (tmp_path / "bad.json").write_text(json.dumps({**content, "version": 2, "pointers": pointers}))
        with pytest.raises(ImageError, match=message):
            Image.load(tmp_path / "bad.json")
    with pytest.raises(ImageError, match="must be places of words"):
        replace(image, pointers=(-1,))


PLAIN = "__kernel void k(__global int *o) { int i = get_global_id(0); o[i] = i; }"


@pytest.mark.parametrize("option", [
    "-cl-std=CL2.0", "-cl-std=CL3.0", "-g", "-O3", "-cl-uniform-work-group-size", "-cl-nv-maxrregcount=32"])
def test_options_that_change_nothing(option):
    assert compile_opencl(PLAIN, options=[option]).words == compile_opencl(PLAIN).words


def test_what_later_versions_have_is_refused_by_name():
    with pytest.raises(CompileError, match=r"k\.cl:1:.*'generic'|k\.cl:1:.*pipe"):
        compile_opencl("__kernel void k(read_only pipe int p) {}", filename="k.cl", options=["-cl-std=CL2.0"])


def test_a_byte_order_mark_is_no_character_of_the_source():
    assert compile_opencl("\ufeff" + PLAIN).words == compile_opencl(PLAIN).words
    with pytest.raises(CompileError, match=r"k\.cl:1:1: error"):
        compile_opencl("\ufeff}", filename="k.cl")


def test_a_kernel_without_parameters_may_be_wanted():
    program = "__kernel void k() {}\n__kernel void l(__global int *a) { a[0] = 1; }"
    assert list(compile_opencl(program, kernels=["k"]).kernels) == ["k"]
    assert set(compile_opencl(program, kernels=["l", "k"]).kernels) == {"k", "l"}
    assert set(compile_opencl(program, kernels=["l", "k", "l"]).kernels) == {"k", "l"}


THREE_BYTES = """target datalayout = "e-p:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512"
target triple = "spir-unknown-unknown"
declare spir_func i32 @_Z13get_global_idj(i32)
define spir_kernel void @k(ptr addrspace(1) align 4 %o) !kernel_arg_name !0 {
  %t = alloca [4 x { i8, i32 }], align 4
  %i = call spir_func i32 @_Z13get_global_idj(i32 0)
  %at = and i32 %i, 3
  %place = getelementptr { i8, i32 }, ptr %t, i32 %at
  %behind = getelementptr i8, ptr %place, i32 1
  %narrow = trunc i32 %i to i24
  %number = mul i24 %narrow, 70001
  store i24 %number, ptr %behind, align 1
  %to = getelementptr i8, ptr addrspace(1) %o, i32 1025
  %copy = getelementptr i32, ptr addrspace(1) %to, i32 %i
  %loaded = load i24, ptr %behind, align 1
  store i24 %loaded, ptr addrspace(1) %copy, align 1
  %again = load i24, ptr addrspace(1) %copy, align 1
  %wide = zext i24 %again to i32
  %result = getelementptr i32, ptr addrspace(1) %o, i32 %i
  store i32 %wide, ptr addrspace(1) %result, align 4
  ret void
}
!0 = !{!"o"}
"""


def test_accesses_of_three_bytes(monkeypatch):
    """As clang makes them of padding."""
    with llvm.parse_assembly(THREE_BYTES, llvm.create_context()) as module:
        bitcode = module.as_bitcode()
    monkeypatch.setattr(kernels, "compile_to_bitcode", lambda *arguments, **options: Bitcode(bitcode, ()))
    image = kernels.compile_sources({"k.cl": ""}, [], ATOMIC)
    with Device(ATOMIC, engine="functional") as device:
        out = device.buffer(np.zeros(1024, np.int32))
        device.launch(image, "k", global_size=ITEMS, args=[out])
        assert out.read()[:ITEMS].tolist() == [i * 70001 % (1 << 24) for i in range(ITEMS)]
        words = out.read()[256:256 + ITEMS].view(np.uint32)
        assert words.tolist() == [(i * 70001 % (1 << 24)) << 8 for i in range(ITEMS)]


def test_names_may_have_letters_beyond_ascii():
    """In printed IR they are escaped: names of kernels, parameters, functions, tables, local variables and files."""
    source = """__constant int größen[40] = {5, 6, 7};
    __attribute__((noinline)) int nächste(int x) { return größen[x] * x; }
    __kernel void zähle(__global int *é)
    {
        __local int ß[4];
        ß[get_local_id(0)] = nächste(get_local_id(0) + 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        é[get_local_id(0)] = ß[get_local_id(0) ^ 1];
    }
"""
    image = compile_opencl(source, filename="grün.cl", config=Config(local_memory=8))
    assert str(image["zähle"]) == "<kernel zähle(int *é)>"
    assert assemble(disassemble(image)).words == image.words
    assert {line.file for line in image.lines.values()} == {"grün.cl"}
    with Device(Config(local_memory=8), engine="functional") as device:
        out = device.buffer(2)
        image["zähle"](out, global_size=2, local_size=2)
        assert out.read().tolist() == [14, 6]


@pytest.mark.parametrize("attribute", ["", "__attribute__((noinline)) "])
def test_kernels_call_kernels(attribute):
    """Clang makes a function of a kernel for that, which may not be inlined."""
    source = attribute + "__kernel void innen_ä(__global int *o) { o[get_global_id(0)] += 1; }\n" + attribute + """
    __kernel void twice(__global int *out) { innen_ä(out); innen_ä(out + 2); }
    __kernel void outer(__global int *out)
    {
        twice(out);
        out[get_global_id(0) + 4] = 5;
    }
"""
    image = compile_opencl(source)
    assert list(image.kernels) == ["innen_ä", "twice", "outer"]
    with Device(Config(), engine="functional") as device:
        out = device.buffer(np.zeros(6, np.int32))
        for kernel, expected in (("outer", [1, 1, 1, 1, 5, 5]), ("innen_ä", [2, 2, 1, 1, 5, 5])):
            image[kernel](out, global_size=2, local_size=2)
            assert out.read().tolist() == expected
