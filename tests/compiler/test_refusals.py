"""What the compiler refuses: always a CompileError with the place and the construct, never a traceback."""

import re

import pytest

from compiler import compile_opencl
from fgpu.config import Config
from fgpu.errors import CompileError

BODY = "__kernel void k(__global int *a) {{\n    {}\n}}\n"


@pytest.mark.parametrize(("statement", "message"), [
    ("a[0] = (int)(a[1] * (double)a[2]);", "k.cl:2: floating point (double) not supported"),
    ("a[0] = __builtin_fmodf(a[1], a[2]);", "k.cl:2: floating point not supported: frem"),
    ("long x = a[0]; a[2] = (int)((x * a[1] + 1) >> 7);", "k.cl:2: 64-bit integers (long, ulong) not supported"),
    ("a[0] = 1; barrier(CLK_LOCAL_MEM_FENCE); a[1] = 2;", "k.cl:2: barrier() is not supported"),
    ("a[0] = 1; mem_fence(CLK_GLOBAL_MEM_FENCE);", "k.cl:2: memory fences are not supported (mem_fence)"),
    ("__local int t; a[0] = atomic_add(&t, 1);", "k.cl:2: __local memory is not supported"),
    ("__local int t[4]; t[a[0]] = 1; a[1] = t[a[2]];", "k.cl:2: __local memory is not supported"),
    ("a[0] = get_global_id(a[1]);", "k.cl:2: the dimension of a work-item function must be a constant"),
    ("a[0] = get_work_dim();", "k.cl:2: get_work_dim() is not supported: the hardware does not know it"),
    ('__asm__ volatile("nop");', "k.cl:2: inline assembly is not supported"),
    ("int t[4]; t[a[0]] = 3; a[1] = (int)&t[a[2]]; a[3] = t[a[3]];", "k.cl:2: a private pointer as an integer"),
    ("struct { int x; char y; } t[2]; t[a[0]].x = 1; t[a[1]].y = 2; a[0] = t[a[2]].x;",
     "a private variable in memory must be an array of one integer type"),
    ("int t[17]; for (int i = 0; i < 17; i++) t[a[i] & 15] += a[i]; a[0] = t[a[20]];",
     "needs 17 words of scratchpad a work-item for private arrays and spilled registers; scratchpad_size=32"),
    ("printf(1);", "k.cl:2:5: error: use of undeclared identifier 'printf'"),
    ("a[0] = ;", "k.cl:2:12: error: expected expression"),
    ("a[0] = missing(1);", "k.cl:2:12: error: use of undeclared identifier 'missing'"),
    ("typedef double vector __attribute__((ext_vector_type(2))); *(__global vector *)a += 1;",
     "k.cl:2: vector types not supported"),
    ("((__global int4 *)a)[0][a[5]] = 1;", "k.cl:2: the index of a vector's element must be a constant"),
])
def test_statements(statement, message):
    with pytest.raises(CompileError, match=re.escape(message)):
        compile_opencl(BODY.format(statement), filename="k.cl")


@pytest.mark.parametrize(("source", "message"), [
    ("", "k.cl: there is no __kernel function in this program"),
    ("int f(int x) { return x; }", "k.cl: there is no __kernel function in this program"),
    ("__kernel void k(__global int *a, double x) {}", "k.cl:1:"),
    ("__kernel void k(__global int *a, long x) {}", "k.cl:1: 64-bit integers (long, ulong) not supported"),
    ("__kernel void k(__global int *a, __local int *b) {}", "k.cl:1: __local memory is not supported (parameter 2"),
    ("__kernel void k(read_only image2d_t a) {}", "k.cl:1: an image not supported: parameter 1 of kernel 'k'"),
    ("struct S { int a, b; };\n__kernel void k(struct S s) {}", "k.cl:2: a struct by value is not supported"),
    ("__kernel void k(" + ", ".join(f"int p{n}" for n in range(17)) + ") {}",
     "k.cl:1: kernel 'k' has 17 parameters; the hardware has room for 16"),
    ("int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
     "__kernel void k(__global int *a) {\n a[0] = f(a[1]); }",
     "k.cl:3: function 'f' is recursive or marked noinline: not supported"),
    ("int g(int);\n__kernel void k(__global int *a) {\n a[0] = g(1); }",
     "k.cl:3: function 'g' has no definition in this program"),
    ("int f(int n) { return n; }\n__kernel void k(__global int *a) {\n int (*p)(int) = f; a[0] = p(1); }",
     "pointers to functions are not allowed"),
    ("#error no\n", "k.cl:1:2: error: no"),
])
def test_programs(source, message):
    with pytest.raises(CompileError, match=re.escape(message)):
        compile_opencl(source, filename="k.cl")


@pytest.mark.parametrize(("config", "statement", "message"), [
    ({"scratchpad_size": 0}, "int t[4]; t[a[0]] = 1; t[a[3]] = 2; a[1] = t[a[2]];", "scratchpad_size=0 gives 0"),
    ({"sub_integer_stores": False}, "*(__global char *)a = 1;", "(sb), which needs sub_integer_stores=True"),
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
    with pytest.raises(CompileError, match="option '-o/tmp/x' is not accepted"):
        compile_opencl(source, options=["-o/tmp/x"])
