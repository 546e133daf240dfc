"""What is known of kernels before their code is made: none that is refused later is passed."""

import pytest

from fgpu import Config
from fgpu.compiler.estimate import estimates
from fgpu.compiler.units import code_key, compile_unit, link_units
from fgpu.config import PRESETS

FULL = Config(atomics="all", float_ops="all", local_memory=32, cram_size=64)
_SAFE = {
    "copy": "kernel void k(global float *a, global float *b) { a[get_global_id(0)] = b[get_global_id(0)]; }",
    "local": "kernel void k(global int *a) { local int l[16][16]; l[a[0]][1] = 2; barrier(1); a[1] = l[0][1]; }",
    "atomics": "kernel void k(global int *a, local uint *b) { atomic_add(a, 1); atom_inc(b); atomic_xchg(a, 2); }",
    "calls": "int f(int x) { return x + 1; } kernel void k(global int *a) { a[0] = f(f(f(a[1]))); }",
    "math": "kernel void k(global float4 *a) { a[0] = sin(a[1]) * pow(a[2], a[3]) / a[4]; }",
    "double": "kernel void k(global double *a) { a[0] = sin(a[1]); }",
    "private": "kernel void k(global int *a) { int l[20000]; l[a[0]] = 2; a[1] = l[a[2]]; }",
    "vectors": "kernel void k(global int3 *a) { local int3 l[512]; l[a[0].x] = a[1]; barrier(1); a[1] = l[3]; }",
}
_DOUBTFUL = {
    "recursive": "int f(int x) { return x > 1 ? f(x / 2) + x : 1; } kernel void k(global int *a) { a[0] = f(a[1]); }",
    "image": "kernel void k(read_only image2d_t i, global int *a) { a[0] = 1; }",
    "sampler": "kernel void k(sampler_t s, global int *a) { a[0] = 1; }",
    "read_image": "kernel void k(read_only image2d_t i, global float4 *a) { a[0] = read_imagef(i, 0, (int2)(0)); }",
    "long atomics": "kernel void k(global long *a) { atom_add(a, 1L); }",
    "assembly": 'kernel void k(global int *a) { __asm__ volatile("nop"); }',
    "printf": 'kernel void k(global int *a) { printf("%n", a[0]); }',
    "subroutine": "__attribute__((noinline)) int f(int x) { return x / 3; } "
                  "kernel void k(global int *a) { a[0] = f(a[1]); }",
    "local memory": "kernel void k(global int *a) { local int l[8193]; l[a[0]] = 2; barrier(1); a[1] = l[0]; }",
    "structs": "typedef struct { int x[5000]; } S; "
               "kernel void k(global int *a) { local S l[2]; l[a[0]].x[2] = 2; barrier(1); a[1] = l[0].x[2]; }",
    "statements": "kernel void k(global int *a) { int b = a[0]; " + "b = b / a[b] + a[b & 7]; " * 150 + "a[0] = b; }",
    "inlined": "int f(int x) { return x / 3 + x / 5 + x % 7; } int g(int x) { return f(x) + f(x + 1) + f(x + 2) "
               "+ f(x + 3) + f(x + 4); } int h(int x) { return g(x) + g(x + 1) + g(x + 2) + g(x + 3) + g(x + 4); } "
               "kernel void k(global int *a) { a[0] = h(a[1]) + h(a[2]); }",
    "double16": "kernel void k(global double16 *a) { a[0] = pow(a[0], a[1]) + sin(a[2]) + tgamma(a[3]); }",
    "unrolled": "kernel void k(global int *a) {\n#pragma unroll\nfor (int i = 0; i < 512; i++) { "
                + "a[i] = a[i + 1] / a[i + 2]; " * 13 + "} }",
}


@pytest.mark.parametrize("name", _SAFE)
def test_plain_kernels_are_not_doubted(name):
    assert compile_unit(_SAFE[name], "k.cl").doubtful(FULL) == []


@pytest.mark.parametrize("name", _DOUBTFUL)
def test_what_may_be_refused_is_doubted(name):
    source = _DOUBTFUL[name] + "\nkernel void other(global int *a) { a[0] = 1; }"
    assert compile_unit(source, "k.cl").doubtful(FULL) == ["k"]


def test_a_configuration_that_lacks_something_doubts_all():
    unit = compile_unit(_SAFE["copy"], "k.cl")
    assert unit.doubtful(Config(local_memory=32)) == ["k"]
    assert unit.doubtful(FULL.replace(cram_size=1)) == []
    large = compile_unit(_SAFE["double"], "k.cl")
    assert large.doubtful(FULL.replace(cram_size=4)) == ["k"]


def test_sources_that_were_linked_are_estimated_together():
    one = compile_unit("int f(int x);\nint g(int x) { return f(x); }\nkernel void k(global int *a) { a[0] = g(1); }")
    other = compile_unit("int g(int x);\nint f(int x) { return x > 2 ? g(x / 2) + x : 1; }")
    assert not one.doubtful(FULL)
    linked = link_units([one, other])
    assert linked.doubtful(FULL) == ["k"]
    assert type(linked).from_bytes(linked.to_bytes()).doubtful(FULL) == ["k"]


def test_estimates_grow_with_lanes_and_widths():
    def words(type):
        return compile_unit(f"kernel void k(global {type} *a) {{ a[0] = a[1] + a[2]; }}").estimates["k"]

    assert words("int") < words("int4") < words("int16") < words("long16")
    assert estimates("", ["k"]) == {"k": None}


def test_code_is_the_same_for_any_number_of_compute_units():
    assert code_key(FULL) == code_key(FULL.replace(compute_units=4))
    assert len({code_key(FULL), code_key(FULL.replace(cram_size=16)), *map(code_key, PRESETS.values())}) > 3
