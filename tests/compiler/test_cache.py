"""The cache of compiled programs, options, and several sources in an image."""

import multiprocessing
import subprocess

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.errors import CompileError, ToolError
from fgpu.files import cache_directory
from fgpu.sim import Device

SOURCE = "__constant int t[40] = {N, 2};\n__kernel void k(__global int *a) { a[0] = N + t[a[1]]; }\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache without programs, but with the compiled libraries."""
    for kind in ("builtins", "builtin-names", "routines"):
        libraries = cache_directory() / kind
        libraries.mkdir(parents=True, exist_ok=True)
        (tmp_path / kind).symlink_to(libraries)
    monkeypatch.setenv("FGPU_CACHE_DIR", str(tmp_path))
    return tmp_path


def no_clang(monkeypatch):
    def refuse(*arguments, **options):
        raise OSError("clang was started")
    monkeypatch.setattr(subprocess, "run", refuse)


def test_a_known_program_needs_no_clang(monkeypatch):
    image = compile_opencl(SOURCE, options=["-DN=3"])
    no_clang(monkeypatch)
    again = compile_opencl(SOURCE, options=["-DN=3"])
    assert again == image
    assert again.data == image.data != b""


@pytest.mark.parametrize("change", [{"options": ["-DN=4"]}, {"filename": "other.cl"},
                                    {"config": Config(cram_size=8)}, {"source": SOURCE + " "}, {"kernels": ["k"]}])
def test_what_makes_another_entry(change, monkeypatch):
    compile_opencl(SOURCE, options=["-DN=3"])
    no_clang(monkeypatch)
    arguments = {"source": SOURCE, "options": ["-DN=3"]} | change
    with pytest.raises(ToolError, match="clang was started"):
        compile_opencl(arguments.pop("source"), **arguments)


def test_a_broken_entry_is_made_again(folder):
    image = compile_opencl(SOURCE, options=["-DN=3"])
    entry, = (folder / "programs").iterdir()
    entry.write_text("{")
    assert compile_opencl(SOURCE, options=["-DN=3"]) == image
    assert entry.stat().st_size > 1


def test_programs_that_include_are_compiled_each_time(tmp_path):
    header = tmp_path / "value.h"
    source = '#include "value.h"\n__kernel void k(__global int *a) { a[0] = VALUE; }\n'
    images = []
    for value in (3, 5):
        header.write_text(f"#define VALUE {value}\n")
        images.append(compile_opencl(source, options=["-I", str(tmp_path)]))
    assert images[0].words != images[1].words


def _compile(number):
    return compile_opencl(SOURCE, options=[f"-DN={number % 2}"]).words


def test_parallel_use(folder):
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        results = pool.map(_compile, range(8))
    assert results == [_compile(number) for number in range(8)]
    assert len(list((folder / "programs").iterdir())) == 2


def test_several_sources():
    """Functions and tables of the same name in two sources are different ones."""
    def source(name, value):
        return f"__constant int t[40] = {{{value}, 7}};\n" \
               f"__attribute__((noinline)) int f(int x) {{ return x * {value}; }}\n" \
               f"__kernel void {name}(__global int *a) {{ a[0] = f(a[1]) + t[a[1]]; }}\n"
    image = compile_opencl({"a.cl": source("first", 3), "b.cl": source("second", 5)})
    results = []
    with Device(Config(), engine="functional") as device:
        for name in ("first", "second"):
            buffer = device.buffer(np.array([0, 1], np.int32))
            device.launch(image, name, global_size=1, args=[buffer])
            results.append(int(buffer.read()[0]))
    assert results == [10, 12]
    with pytest.raises(CompileError, match=r"b\.cl:1: there are two kernels 'k' in the image"):
        compile_opencl({"a.cl": "__kernel void k() {}", "b.cl": "__kernel void k() {}"})


@pytest.mark.parametrize("option", ["-cl-opt-disable", "-cl-finite-math-only", "-cl-single-precision-constant",
                                    "-cl-mad-enable", "-cl-denorms-are-zero", "-cl-strict-aliasing"])
def test_standard_options_are_accepted(option):
    compile_opencl("__kernel void k(__global float *a) { a[0] = a[1] * a[2] + 1.5; }", options=[option])


@pytest.mark.parametrize(("option", "value", "same"), [
    ("-cl-fast-relaxed-math", "(a[1] + a[2]) - a[1]", "a[2]"),
    ("-cl-unsafe-math-optimizations", "(a[1] + a[2]) - a[1]", "a[2]"),
    ("-cl-no-signed-zeros", "a[1] + 0.0f", "a[1]"),
    ("-cl-std=CL1.1", "__OPENCL_C_VERSION__", "110"),
])
def test_standard_options_have_an_effect(option, value, same):
    code = "__kernel void k(__global float *a) {{ a[0] = {}; }}"
    as_written = compile_opencl(code.format(value)).words
    assert compile_opencl(code.format(value), options=[option]).words == compile_opencl(code.format(same)).words
    assert as_written != compile_opencl(code.format(same)).words


def test_option_without_value():
    with pytest.raises(CompileError, match="option '-D' is not accepted"):
        compile_opencl(SOURCE, options=["-D"])
