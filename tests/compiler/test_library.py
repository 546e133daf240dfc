"""The built-in functions in parts, and how compilations take what they need of them."""

import gc
import re
import subprocess

import pytest

from fgpu.compiler import compile_opencl
from fgpu.compiler.collection import seldom_collected
from fgpu.compiler.frontend import clang
from fgpu.compiler.frontend.bitcode import SOURCES, functions
from fgpu.compiler.ir.printer import print_function
from fgpu.compiler.units import compile_unit
from fgpu.config import ATOMICS, Config

_ELSEWHERE = re.compile(r"fgpu_\w+|llvm\..*|_Z(12get_\w+|13get_\w+|14get_\w+|15get_\w+|7barrier)\w*")
"""What no part defines: our routines, LLVM's intrinsics, and what the compiler knows itself."""
_SOURCE = """
__kernel void k(__global float4 *a, __global int4 *b, __global double *c)
{
    size_t i = get_global_id(0);
    b[i] = convert_int4_sat_rte(a[i]) + convert_int4(convert_char4_sat(b[i])) + (int4)(int)mix(a[i].x, a[i].y, 0.5f);
    a[i] = sin(a[i]) + vload4(i, (__global float *)b);
    c[i] = hypot(c[i], fabs(c[i]));
}
"""


def test_nothing_lacks_in_the_library() -> None:
    library = clang.builtins()
    found = {path.stem: functions(path.read_bytes()) for path in library.paths}
    assert list(found) == list(SOURCES)
    defined = [name for there, _ in found.values() for name in there]
    assert len(defined) == len(set(defined)) > 6000
    for number, (part, (_, lacking)) in enumerate(found.items()):
        later = {name for there, _ in list(found.values())[number + 1:] for name in there}
        assert [name for name in lacking - later if not _ELSEWHERE.fullmatch(name)] == [], part


@pytest.mark.parametrize(("name", "parts"), [
    ("_Z20convert_int4_sat_rteDv4_f", ["conversion_int"]), ("_Z3absi", ["integer"]), ("_Z13get_global_idj", []),
    ("nobody", [])])
def test_one_function_needs_few_parts(name: str, parts: list[str]) -> None:
    assert [path.stem for path in clang.builtins().needed([name])] == parts


def test_functions_bring_what_they_call() -> None:
    library = clang.builtins()
    parts = library.needed(["_Z3sinDv2_d"])
    assert {path.stem for path in parts} >= {"double_trig", "double_wide"}
    assert parts == sorted(parts, key=library.paths.index)


def test_what_is_not_needed_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = compile_unit(_SOURCE)
    config = Config(atomics=ATOMICS)
    few = unit._compiled("k", config)
    linked: list[int] = []
    run = subprocess.run

    def counted(command: list[str], **options: object) -> object:
        linked.append(command.count("-mlink-builtin-bitcode"))
        return run(command, **options)      # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "run", counted)
    assert unit._compiled("k", config) == few
    assert 0 < linked[0] < len(SOURCES) / 2
    monkeypatch.setattr(clang.Library, "needed", lambda library, names: list(library.paths))
    assert unit._compiled("k", config) == few
    assert linked[-1] == len(SOURCES)


def test_the_front_door_links_few_parts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    linked: list[int] = []
    run = subprocess.run

    def counted(command: list[str], **options: object) -> object:
        linked.append(command.count("-mlink-builtin-bitcode"))
        return run(command, **options)      # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "run", counted)
    few = clang.compile_to_bitcode(_SOURCE, "k.cl", library=clang.builtins())
    assert linked[-2] == 0
    assert 0 < linked[-1] < len(SOURCES) / 2
    monkeypatch.setattr(clang.Library, "needed", lambda library, names: list(library.paths))
    every = clang.compile_to_bitcode(_SOURCE, "k.cl", library=clang.builtins())
    assert linked[-1] == len(SOURCES)
    kernels = [re.sub(r"!\d+", "!", print_function(clang.read_ir(made.code).functions["k"])) for made in (few, every)]
    assert kernels[0] == kernels[1]


@pytest.mark.parametrize("argument", ["(ushort)0", "0ul"])
def test_doubles_and_halves_that_a_program_does_not_name(argument: str) -> None:
    """Clang declares `nan` of such integers without a word of the type that it returns."""
    source = f'__kernel void k(void) {{ printf("%f", nan({argument})); }}'
    assert compile_unit(source).extensions == ()
    compile_unit(source).image("k", Config(atomics=ATOMICS))
    compile_opencl(source)


def test_libraries_are_checked_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    clang.builtins()
    monkeypatch.setattr(clang, "_bitcode_files", lambda: pytest.fail("checked again"))
    clang.builtins()


def test_garbage_is_collected_as_before_after_a_compilation() -> None:
    before = gc.get_threshold()
    try:
        gc.set_threshold(500, 9, 8)
        with seldom_collected():
            with seldom_collected():
                assert gc.get_threshold()[0] > 100_000
            assert gc.get_threshold()[0] > 100_000
        assert gc.get_threshold() == (500, 9, 8)
        gc.set_threshold(0)
        with seldom_collected():
            assert gc.get_threshold()[0] == 0
        compile_opencl(_SOURCE, options=["-DX"])
        assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)
