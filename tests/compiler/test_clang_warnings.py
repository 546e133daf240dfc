"""What clang warns of in programs that compile is told, each time."""

import warnings

import pytest

from fgpu.compiler import Image, compile_opencl
from fgpu.errors import CompileError, CompileWarning

PROGRAM = """kernel void k(global float *a, global int *b) {
    int unset;
    global int *c = a;
    if (b[0] = 3) c[0] = unset;
}
"""
TOLD = ["k.cl:3:17: incompatible pointer types initializing '__global int *__private' with an expression of type "
        "'__global float *__private' [-Wincompatible-pointer-types]",
        "k.cl:4:14: using the result of an assignment as a condition without parentheses [-Wparentheses]\n"
        "k.cl:4:14: note: place parentheses around the assignment to silence this warning\n"
        "k.cl:4:14: note: use '==' to turn this assignment into an equality comparison"]
WITH_ALL = [*TOLD, "k.cl:4:26: variable 'unset' is uninitialized when used here [-Wuninitialized]\n"
                   "k.cl:2:14: note: initialize the variable 'unset' to silence this warning"]


def told(options: list[str]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compile_opencl(PROGRAM, filename="k.cl", options=options)
    assert {each.category for each in caught} <= {CompileWarning}
    return [str(each.message) for each in caught]


@pytest.mark.parametrize(("options", "expected"), [([], TOLD), (["-Wall"], WITH_ALL), (["-w"], [])])
def test_each_time(options: list[str], expected: list[str]) -> None:
    """Of an image that was kept, too."""
    assert told(options) == expected
    assert told(options) == expected


@pytest.mark.parametrize("statement", [
    "global int *c = a;", "b[0] = \"x\";", "if (b[0] = 3) b[0] = 4;", "const n = 4; b[0] = n;", "return b[0];"])
def test_all_may_be_errors(statement: str) -> None:
    program = f"kernel void k(global float *a, global int *b) {{ {statement} }}"
    with pytest.warns(CompileWarning):
        compile_opencl(program)
    with pytest.raises(CompileError, match="error: "):
        compile_opencl(program, options=["-Werror"])


def test_images_keep_them() -> None:
    with pytest.warns(CompileWarning):
        image = compile_opencl(PROGRAM, filename="k.cl")
    assert Image.from_json(image.to_json()).clang_warnings == tuple(TOLD)


def test_two_programs() -> None:
    with pytest.warns(CompileWarning) as caught:
        compile_opencl({"k.cl": PROGRAM, "l.cl": PROGRAM.replace("k(", "l(")})
    assert [str(each.message)[:7] for each in caught] == ["k.cl:3:", "k.cl:4:", "l.cl:3:", "l.cl:4:"]


@pytest.mark.parametrize("options", [[], ["-Werror"]])
@pytest.mark.parametrize("extension", ["cl_khr_fp64", "cl_khr_fp16"])
def test_a_type_that_is_enabled_and_not_needed_is_nothing_to_warn_of(extension: str, options: list[str]) -> None:
    """It is announced, and there once a program needs it; without, 1.5 is a float."""
    enabled = f"#pragma OPENCL EXTENSION {extension} : enable\n"
    plain = "kernel void k(global float *a) { a[0] *= 1.5; }\n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compile_opencl(enabled + plain, options=options).words == compile_opencl(plain).words
        wide = {"cl_khr_fp64": "double", "cl_khr_fp16": "half"}[extension]
        compile_opencl(enabled + plain.replace("float", wide), options=options)
    with pytest.warns(CompileWarning, match="'cl_khr_fp128' unknown"):
        compile_opencl(enabled.replace(extension, "cl_khr_fp128") + plain)
