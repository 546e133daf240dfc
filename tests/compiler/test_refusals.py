"""What the compiler refuses: always a CompileError with the place and the construct, never a traceback."""

import re

import pytest

from fgpu.benchmarks.registry import EVERY
from fgpu.compiler import compile_opencl
from fgpu.compiler.kernels import compile_sources
from fgpu.compiler.orders import Room
from fgpu.config import Config
from fgpu.errors import CapacityError, CompileError

from ..configurations import ATOMIC

BODY = "__kernel void k(__global int *a) {{\n    {}\n}}\n"


@pytest.mark.parametrize(("statement", "message"), [
    ("int n = a[0], t[n]; t[0] = 1;", "k.cl:2:21: error: variable length arrays are not supported"),
    ("int (*p)(int) = 0; a[0] = p(1);", "k.cl:2:10: error: pointers to functions are not allowed"),
    ("__attribute__((aligned(1))) static int s;", "error: variables in function scope cannot be declared static"),
    ("a[0] = __builtin_fmodf(a[1], a[2]);", "k.cl:2: floating point not supported: frem"),
    ('__asm__ volatile("nop");', "k.cl:2: inline assembly is not supported"),
    ("__local long t; atom_inc(&t);", "k.cl:2: atomics of 64 bits are not supported (atom_inc)"),
    ("__local int t = 3; a[0] = t;", "k.cl:2:17: error: '__local' variable cannot have an initializer"),
    ("atom_add((__global ulong *)a, 1ul);", "k.cl:2: atomics of 64 bits are not supported (atom_add)"),
    ("atom_cmpxchg((__global long *)a, 1l, 2l);", "k.cl:2: atomics of 64 bits are not supported (atom_cmpxchg)"),
    ("atomic_inc((__global float *)a);", "call to 'atomic_inc' is ambiguous; it takes a pointer to int or uint"),
    ("a[0] = (long long)a[1] * a[2] * a[3] * a[4] / a[5] >> 64;",
     "k.cl:2: sdiv of 128 bits is not supported; use long: long long has 128 bits"),
    ("a[0] = ;", "k.cl:2:12: error: expected expression"),
    ("a[0] = missing(1);", "k.cl:2:12: error: use of undeclared identifier 'missing'"),
])
def test_statements(statement, message):
    with pytest.raises(CompileError, match=re.escape(message)):
        compile_opencl(BODY.format(statement), filename="k.cl")


@pytest.mark.parametrize(("statement", "message"), [
    ("a[0] = (int)(a[1] * (double)a[2]);", "k.cl:2:26: error: use of type 'double' requires cl_khr_fp64 support"),
    ("half h = (half)a[0];", "k.cl:2:10: error: declaring variable of type '__private half' is not allowed"),
    ("__global half *h = (__global half *)a; h[0] = h[1] * h[2];",
     "error: loading directly from pointer to type '__global half' requires cl_khr_fp16"),
])
def test_numbers_of_other_widths_may_be_unwanted(statement, message):
    compile_opencl(BODY.format(statement), config=Config(cram_size=16))
    with pytest.raises(CompileError, match=re.escape(message)):
        compile_opencl(BODY.format(statement), filename="k.cl", options=["-Ucl_khr_fp64", "-U", "cl_khr_fp16"])


def test_lines_of_headers_elsewhere(tmp_path, monkeypatch):
    """Their names are whole wherever the current directory is, and short in it."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / f"{folder.name}.h").write_text("\nvoid f(void) { __asm__(\"nop\"); }\n")
    monkeypatch.chdir(here)
    for folder, name in ((here, "here.h"), (there, f"{there}/there.h")):
        source = f'#include "{folder.name}.h"\n__kernel void k(__global int *a) {{ f(); a[0] = 1; }}'
        with pytest.raises(CompileError, match=f"^{re.escape(name)}:2: inline assembly"):
            compile_opencl(source, options=[f"-I{folder}"])


def test_a_sampler_that_nobody_reads_is_nothing():
    """Macros that stand for reading images or buffers have one for both."""
    image = compile_opencl("""
        int at(__global const int *a, sampler_t s, int i) { return a[i]; }
        __kernel void k(__global int *a) {
            const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
            a[0] = at(a, s, 1);
        }""")
    assert len(image.words) < 10


@pytest.mark.parametrize(("source", "message"), [
    ("", "k.cl: there is no __kernel function in this program"),
    ("int f(int x) { return x; }", "k.cl: there is no __kernel function in this program"),
    ("__kernel void k(read_only image2d_t a) {}", "k.cl:1: images not supported: parameter 1 of kernel 'k'"),
    ("__constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
     "__kernel void k(read_only image2d_t i, __global float4 *o) {\n o[0] = read_imagef(i, s, (int2)(0)); }",
     "k.cl:3: images are not supported (read_imagef)"),
    ("int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
     "__kernel void k(__global int *a) {\n a[0] = f(a[1]); }",
     "k.cl:1: function 'f' is recursive: not supported"),
    ("int g(int);\n__kernel void k(__global int *a) {\n a[0] = g(1); }",
     "k.cl:3: function 'g' has no definition in this program"),
    ("int f(int n) { return n; }\n__kernel void k(__global int *a) {\n int (*p)(int) = f; a[0] = p(1); }",
     "pointers to functions are not allowed"),
    ("int f(int n, ...);\n__kernel void k() {}", "k.cl:1:5: error: invalid prototype, variadic arguments"),
    ("__kernel void k(__global float4 *a, __read_only image2d_t i, sampler_t s) {\n"
     " a[0] = read_imagef(i, s, (int2)(0, 1)); }", "k.cl:2: images are not supported (read_imagef)"),
    ("int g(int n);\nint f(int n) { return n ? g(n / 3) * 5 + g(n - 1) : 1; }\n"
     "int g(int n) { return n > 4 ? f(n / 2) + n * f(n - 3) : 3; }\n__kernel void k(__global int *a) {\n"
     " a[0] = f(a[1]); }", "is recursive: not supported"),
    ("__kernel void k(__global int *a, int n) {\n if (n > 1) { k(a, n - 1); k(a + 1, n - 2); }\n a[n] += n; }",
     "function 'k' is recursive: not supported"),
    ("#error no\n", "k.cl:1:2: error: no"),
    ("int g(int);\n#ifdef cl_khr_3d_image_writes // no\n#if 0\n#endif\n__kernel void k() {}\n#endif",
     "k.cl: there is no __kernel function in this program; the first in its text, in line 5, is behind "
     "'#ifdef cl_khr_3d_image_writes' in line 2"),
    ("float w[3];\n__kernel void k() {}", "k.cl:1:7: error: program scope variable must reside in constant address "
     "space; declare it __constant, or give kernels a __global pointer"),
    ("__kernel void k(__global int *a) {\n a[0] = 1;\n // no end \\", "k.cl:3:28: error: expected '}'"),
])
def test_programs(source, message):
    with pytest.raises(CompileError, match=re.escape(message)):
        compile_opencl(source, filename="k.cl")


def test_of_many_candidates_the_first_is_shown():
    with pytest.raises(CompileError) as refusal:
        compile_opencl(BODY.format("a[0] = mad24(x, 1, 2);\n a[1] = dot(1.0f, a);").replace("a)", "a, float4 x)", 1),
                       filename="k.cl")
    lines = str(refusal.value).splitlines()
    assert [re.findall(r"error: no matching function for call to '(\w+)'|note: candidate .*\(first of (\d+) ", line)
            for line in lines] == [[("mad24", "")], [("", "12")], [("dot", "")], [("", "12")]], lines


def test_errors_come_before_warnings():
    with pytest.raises(CompileError) as refusal:
        compile_opencl(BODY.format("int b = a;\n a[0] = x; f(); int c = a;"), filename="k.cl")
    kinds = re.findall(r"(error|warning): ", str(refusal.value))
    assert kinds == sorted(kinds)
    assert str(refusal.value).startswith("k.cl:3:9: error: use of undeclared identifier 'x'")


@pytest.mark.parametrize(("config", "statement", "message"), [
    ({"sub_integer_stores": False}, "*(__global char *)a = 1;", "(sb), which needs sub_integer_stores=True"),
    ({"sub_integer_stores": False}, "__local char t[4]; t[a[0]] = 1; a[1] = t[a[2]];",
     "(sb), which needs sub_integer_stores=True"),
    ({"divergence": "min_pc"}, "__local int t; atomic_inc(&t); a[0] = t;", "atomic_inc() on __local memory, which is "
     "global memory with local_memory=0, needs hardware with the atomic operation 'add', or divergence='stack'"),
    ({"atomics": ()}, "__local int t; atomic_inc(a); a[1] = t;", "atomic_inc() needs hardware with the atomic "
     "operation 'add'"),
    ({"local_memory": 8}, "__local int t[2049]; t[a[0]] = 1; a[1] = t[a[2]];",
     "kernel 'k' has 8196 bytes of __local variables; there are 8192 (local_memory=8)"),
    ({"cram_size": 1}, "#pragma unroll\n for (int i = 0; i < 100; i++) a[a[i]] = i;",
     "the code RAM holds 256 (cram_size=1)"),
])
def test_configurations(config, statement, message):
    source = BODY.format(statement)
    compile_opencl(source)
    with pytest.raises(CompileError, match=re.escape(message)):
        compile_opencl(source, config=Config(**config))


def test_options_are_limited():
    source = BODY.format("a[0] = N;")
    compile_opencl(source, options=["-DN=3", "-Wno-everything"])
    for option in ("-o/tmp/x", "-Wp,-MD,/tmp/x", "-Wa,--x", "-Wl,--x"):
        with pytest.raises(CompileError, match=f"option '{option}' is not accepted"):
            compile_opencl(source, options=[option])


def test_options_and_kernels_may_be_one_text():
    source = BODY.format("a[0] = N;") + "__kernel void other(__global int *a) { __asm__(\"nop\"); }"
    image = compile_opencl(source, options="-D N=3 -Wno-everything", kernels="k")
    assert list(image.kernels) == ["k"]
    assert image == compile_opencl(source, options=["-DN=3"], kernels=["k"])


@pytest.mark.parametrize(("arguments", "message"), [
    ({"options": "-DX='1"}, "the options \"-DX='1\" are no words as for a shell"),
    ({"options": 3}, r"options must be a text or a list of texts, as \['-DN=4'\], not 3"),
    ({"options": ["-DN", 4]}, "options must be a text or a list of texts, .* not one with 4"),
    ({"kernels": [None]}, "kernels must be a text or a list of texts, .* not one with None"),
    ({"kernels": []}, "kernels is empty"),
    ({"kernels": "scale"}, "no kernel 'scale'; the kernels there are: k"),
])
def test_bad_options_and_kernels(arguments, message):
    with pytest.raises(CompileError, match=message):
        compile_opencl(BODY.format("a[0] = 1;"), **arguments)


@pytest.mark.ci
def test_a_program_that_is_much_too_large_is_refused_at_once():
    source = BODY.format("\n#pragma unroll\nfor (int i = 0; i < 1000; i++) a[a[i] & 255] = i;")
    with pytest.raises(CompileError, match=r"has at least \d+ instructions; the code RAM holds 1024") as refusal:
        compile_opencl(source, config=Config(cram_size=4))
    least = int(re.search(r"least (\d+)", str(refusal.value))[1])
    assert 2000 < least <= len(compile_opencl(source).words)


@pytest.mark.ci
def test_what_must_be_instructions_is_never_more_than_they_are(monkeypatch):
    """Nothing is refused that would fit: register allocation and all that follows keep every one of them."""
    bounds = {}
    selected = Room._selected

    def counted(self, *arguments):
        machine = selected(self, *arguments)
        bounds[machine.name] = sum(op.is_instruction for block in machine.blocks.values() for op in block.ops)
        return machine

    monkeypatch.setattr(Room, "_selected", counted)
    for source, benchmark in {benchmark.source: benchmark for benchmark in EVERY.values()}.items():
        options = (*benchmark.element.options, *benchmark.options)
        for kernel in benchmark.image(ATOMIC).kernels:
            bounds.clear()
            words = compile_sources({"k.cl": source.read_text()}, options, ATOMIC, [kernel]).words
            assert len(words) / 3 < sum(bounds.values()) <= len(words)


MANY = """__kernel void sum(__global int *a) { __asm__("nop"); }
__kernel void halve(__global int *a) { a[get_global_id(0)] /= 2; }
__kernel void large(__global int *a) { _Pragma("unroll") for (int i = 0; i < 100; i++) a[a[i]] = i; }
__kernel void next(__global int *a) { a[get_global_id(0)] += 1; }
"""


def test_only_the_wanted_kernels_have_to_be_supported_and_to_fit():
    config = Config(cram_size=1)
    assert set(compile_opencl(MANY, config=config, kernels=["next", "halve"]).kernels) == {"halve", "next"}
    for kernel, message in (("sum", "k.cl:1: inline assembly is not supported"),
                            ("large", "holds 256 (cram_size=1); compile fewer of its kernels with kernels=[...]"),
                            ("a b", "k.cl: there is no kernel 'a b'; the kernels there are: sum, halve"),
                            ("nxt", "k.cl: there is no kernel 'nxt'; the kernels there are: sum, halve, large")):
        with pytest.raises(CompileError, match=re.escape(message)):
            compile_opencl(MANY, filename="k.cl", config=config, kernels=[kernel, "next"])


def test_private_memory_beyond_all_addresses():
    with pytest.raises(CapacityError, match=re.escape("'k' has 67108868 bytes of private memory for each work-item")):
        compile_opencl("__kernel void k(__global int *o) { int a[1 << 24]; a[o[0] & 0xfffff] = o[1]; "
                       "o[2] = a[o[3] & 0xfffff]; }")


def test_a_text_that_was_read_with_another_encoding():
    with pytest.raises(CompileError, match=re.escape(r"k.cl: '\udce9' is no character; read the file with its ")):
        compile_opencl("// caf\udce9\n__kernel void k(__global int *o) { o[0] = 1; }", filename="k.cl")


def test_wanted_kernels_of_several_sources():
    """Of which neither has all of them, and which is found by a macro."""
    other = "#define NAME(x) x##er\nkernel void NAME(oth)(global int *o) { o[0] = 1; }\n" \
        "kernel void bad(global int *o) { __asm__(\"nop\"); }"
    image = compile_opencl({"a.cl": MANY, "b.cl": other}, kernels=["other", "next"])
    assert image.kernel("next").parameters[0].name == "a"
    assert set(image.kernels) == {"next", "other"}
