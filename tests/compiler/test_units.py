"""Programs whose sources are compiled separately, and each of whose kernels has an image of its own."""

import numpy as np
import pytest
from llvmlite.binding import create_context, parse_bitcode

from fgpu.compiler import compile_opencl
from fgpu.compiler.units import Unit, compile_unit, link_units
from fgpu.config import ATOMICS, Config
from fgpu.errors import CapacityError, CompileError
from fgpu.sim import Device

CONFIG = Config(atomics=ATOMICS)
SOURCE = """
constant float table[4] = {1, 2, 3, 4};
inline int twice(int x) { return 2 * x; }
typedef struct { int a; char b; } S;
kernel void add(global const float *a, global float *b) {
    size_t i = get_global_id(0);
    b[i] += native_sin(a[i]) + table[i & 3] + exp(b[i]);
}
kernel __attribute__((reqd_work_group_size(64, 1, 1), vec_type_hint(uint4)))
void mul(global float *restrict a, constant float4 *b, local int *l, S s, float3 f, uchar d,
         volatile global unsigned int *q) {
    l[d] = twice(s.a);
    barrier(1);
    a[get_global_id(0)] *= b->x + f.y + l[0];
}
"""


def test_an_image_is_that_of_the_whole_source():
    unit = compile_unit(SOURCE)
    assert list(unit.kernels) == ["add", "mul"]
    for name in unit.kernels:
        assert unit.image(name, CONFIG) == compile_opencl(SOURCE, kernels=[name], config=CONFIG)


def test_that_a_kernel_is_too_large_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("FGPU_CACHE_DIR", str(tmp_path))
    unit = compile_unit(
        "kernel void k(global int *p) { local int t[9000]; t[get_local_id(0)] = *p; barrier(1); *p = t[*p]; }")
    messages = []
    for _ in range(2):
        with pytest.raises(CapacityError) as caught:
            unit.image("k", Config(local_memory=8))
        messages.append(str(caught.value))
        monkeypatch.setattr("fgpu.compiler.kernels.compile_modules", lambda *_: pytest.fail("compiles again"))
    assert messages[0] == messages[1]
    assert "36000 bytes of __local variables" in messages[0]


def test_the_interface_is_as_declared():
    add, mul = compile_unit(SOURCE).kernels.values()
    assert (add.work_group_size, add.attributes) == (None, "")
    assert mul.work_group_size == (64, 1, 1)
    assert mul.attributes == "reqd_work_group_size(64,1,1) vec_type_hint(uint4)"
    assert [(p.name, p.type, p.kind, p.space) for p in mul.parameters] == [
        ("a", "float*", "pointer", "global"), ("b", "float4*", "pointer", "constant"),
        ("l", "int*", "local", "local"),
        ("s", "S", "value", "private"), ("f", "float3", "value", "private"), ("d", "uchar", "value", "private"),
        ("q", "uint*", "pointer", "global")]
    assert [p.size for p in mul.parameters if p.kind == "value"] == [8, 16, 1]
    assert [p.qualifiers for p in mul.parameters] == ["restrict", "const", "", "", "", "", "volatile"]


def run(unit, name="k", count=1):
    with Device(CONFIG, engine="functional") as device:
        out = device.buffer(np.zeros(count, np.int32))
        device.launch(unit.image(name, CONFIG)[name], global_size=count, args=[out])
        return out.read().tolist()


def test_units_are_linked():
    caller = compile_unit("int f(int x); kernel void k(global int *p) { *p = f(*p); }")
    called = compile_unit("int f(int x) { return x + 40; }")
    assert run(link_units([caller, called])) == [40]
    assert run(link_units([link_units([called], is_library=True), caller])) == [40]


def test_programs_with_doubles_are_linked_with_others():
    caller = compile_unit("int f(int x); kernel void k(global int *p) { *p = f(*p); }")
    called = compile_unit("int f(int x) { double y = x; return (int)(y + 1.5); }")
    assert run(link_units([caller, called])) == [1]


def test_restrict_promises_nothing_where_another_source_has_barriers():
    promising = compile_unit("void wait(void); kernel void k(global int *restrict p, global int *restrict q) "
                             "{ p[get_local_id(0)] = 3; wait(); q[0] = p[2]; }")
    waiting = compile_unit("void wait(void) { barrier(CLK_GLOBAL_MEM_FENCE); }")
    plain = compile_unit("void wait(void) { }")

    def promises(unit: Unit) -> bool:
        with parse_bitcode(unit.bitcode, create_context()) as module:
            return " noalias " in str(next(iter(function for function in module.functions if function.name == "k")))

    assert promises(promising)
    assert promises(link_units([promising, plain]))
    linked = link_units([promising, waiting])
    assert not promises(linked)
    assert linked.kernels == promising.kernels      # which tell of the qualifier


def test_what_is_missing_or_there_twice_is_named():
    caller = compile_unit("int f(int x); kernel void k(global int *p) { *p = f(*p); }")
    called = compile_unit("int f(int x) { return x + 40; }")
    with pytest.raises(CompileError, match="undefined symbol 'f'"):
        link_units([caller])
    with pytest.raises(CompileError, match="'f' is defined more than once"):
        link_units([caller, called, called])
    with pytest.raises(CompileError, match=r"^error: symbol 'k' is defined more than once$"):
        link_units([caller, caller])


def test_headers_are_found_by_their_names():
    unit = compile_unit('#include "folder/n.h"\nkernel void k(global int *p) { *p = N; }', headers={
        "folder/n.h": '#include "m.h"\n#define N (M + 1)\n', "folder/m.h": "#define M 4\n"})
    assert run(unit) == [5]
    unit = compile_unit('#include "in/n.h"\nkernel void k(global int *p) { *p = N; }', headers={
        "in/n.h": '#include "../../m.h"\n#define N (M + 2)\n', "../m.h": "#define M 4\n"})
    assert run(unit) == [6]
    with pytest.raises(CompileError, match="outside"):
        compile_unit("kernel void k() {}", headers={"../" * 9 + "n.h": ""})


@pytest.mark.parametrize("directive", [
    "#include", "# /* of */ include", "%:include", "#inc\\\nlude", "#inc\\\r\nlude", "#inc\\ \nlude"])
def test_a_unit_that_includes_files_is_made_each_time(directive, tmp_path):
    for number in 3, 4:
        (tmp_path / "n.h").write_text(f"#define N {number}\n")
        source = f'{directive} "n.h"\nkernel void k(global int *p) {{ *p = N; }}'
        unit = compile_unit(source, options=[f"-I{tmp_path}"])
        assert run(unit) == [number]


def test_a_unit_is_bytes_and_back():
    unit = compile_unit(SOURCE, options=["-Wunused"])
    content = unit.to_bytes()
    assert Unit.from_bytes(content) == unit
    for wrong in b"", b"x", content[:-1], content.replace(b"add", b"sub"):
        with pytest.raises(CompileError):
            Unit.from_bytes(wrong)


def test_warnings_are_in_the_log():
    unit = compile_unit("kernel void k(global int *p) { int unused; *p = 1; }", "a.cl", ["-Wunused"])
    assert unit.log.startswith("a.cl:1:36: warning: unused variable 'unused'")


@pytest.mark.parametrize(("call", "is_wide"), [
    ('printf("%f", 1.5)', True), ('printf("%f", 1e3)', True), ('printf("%d %e", x, .25)', True),
    ('printf("%f", 1.5f)', False), ('printf("1.5")', False), ('printf("%d", 15)', False), ("x = 1.5", False),
])
def test_printed_numbers_are_doubles(call, is_wide):
    unit = compile_unit(f"kernel void k(float x) {{ {call}; }}")
    assert (unit.extensions == ("cl_khr_fp64",)) is is_wide
