"""The line table: which source line each word is for."""

from pathlib import Path

import pytest

from fgpu import Config
from fgpu.compiler import Image, compile_opencl
from fgpu.compiler.frontend import clang
from fgpu.compiler.ir.module import Block, Function, Instruction, Location
from fgpu.compiler.ir.values import Constant, Type
from fgpu.compiler.kernels import compile_sources
from fgpu.compiler.select.locations import source_locations
from fgpu.isa import decode

SUM = """\
__kernel void sum(__global const int *a, __global int *o, int n)
{
    int total = 0;
    int i = 0;
    while (a[i] != n)
        total += a[i++] ^ n;
    o[get_global_id(0)] = total;
}
"""


def listed(image: Image) -> list[tuple[str, int]]:
    return [(decode(word)[0].mnemonic, image.lines[at].line) for at, word in enumerate(image.words)]


def test_words_of_a_loop() -> None:
    image = compile_opencl(SUM, filename="sum.cl")
    assert {location.file for location in image.lines.values()} == {"sum.cl"}
    found = listed(image)
    assert {line for mnemonic, line in found if mnemonic == "lp"} == {1}, "parameters are the kernel's"
    assert {line for mnemonic, line in found if mnemonic == "lwp"} == {5}, "an element is loaded once"
    assert {line for mnemonic, line in found if mnemonic in ("beq", "bne")} == {5}
    assert [line for mnemonic, line in found if mnemonic == "xor"][-1] == 6
    assert {line for mnemonic, line in found if mnemonic in ("swp", "gid")} == {7}
    assert found[-1] == ("ret", 8)


SPILLS = """\
__kernel void spills(__global int *a)
{
%s
    a[7] = 1;
%s
}
"""


def test_what_is_kept_in_the_scratchpad_is_for_what_needs_it() -> None:
    values = range(40)
    source = SPILLS % ("\n".join(f"    int v{n} = a[{n}];" for n in values),
                       "\n".join(f"    a[{n}] = v{n} * v{n * 7 % 40};" for n in values))
    image = compile_opencl(source, config=Config(scratchpad_size=32))
    found = listed(image)
    reloads = [at for at, (mnemonic, _) in enumerate(found) if mnemonic == "llwi"]
    kept = [at for at, (mnemonic, _) in enumerate(found) if mnemonic == "lswi"]
    assert reloads
    assert kept
    for at in reloads:
        assert found[at][1] == next(line for mnemonic, line in found[at:] if mnemonic != "llwi")
    for at in kept:
        assert found[at][1] == found[at - 1][1]


PARTING = """\
__kernel void parting(__global int *a, int n)
{
    int i = get_global_id(0);
    for (int k = 0; k < n; k++) {
        if (a[i + k] > 3)
            a[i] += a[a[i + k]];
        a[2 * i + k] = a[3 * i + k] + n;
    }
}
"""


def test_calls_of_regions_are_for_the_branch() -> None:
    found = listed(compile_opencl(PARTING))
    calls = [line for mnemonic, line in found if mnemonic == "jsub"]
    assert set(calls) == {5}


INLINED = """\
__attribute__((noinline)) int first(int *values, int n)
{
    int most = values[0];
    for (int i = 1; i < n; i++)
        most = max(most, values[i]);
    return most;
}
__kernel void k(__global int *a, int n)
{
    int values[4];
    for (int i = 0; i < 4; i++)
        values[i] = a[i * n];
    a[0] = first(values, n);
}
"""


@pytest.mark.parametrize("scratchpad", [0, 32])
def test_functions_that_cannot_be_subroutines_keep_their_lines(scratchpad: int) -> None:
    """Library code in them is of the line with the call."""
    lines = {line for _, line in listed(compile_opencl(INLINED, config=Config(scratchpad_size=scratchpad)))}
    assert {5, 12} <= lines
    assert lines <= set(range(1, 15))


def test_subroutines_of_the_library_have_their_own_lines() -> None:
    image = compile_opencl("__kernel void k(__global float *a, float b) {\n a[0] = a[1] + a[2] * a[3] + b;\n}")
    kernel = image.kernel("k")
    assert {image.lines[at].file for at in range(kernel.entry)} <= {
        f"fgpu/compiler/runtime_library/{name}" for name in ("float_arithmetic.cl", "float.h", "arithmetic.h")}
    assert {image.lines[at].line for at in range(kernel.entry, len(image.words))} == {1, 2, 3}


def test_names_are_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the program is compiled; a program of the same name as a file of ours is none of ours."""
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "h.h").write_text("int helper(__global int *a)\n{\n    return a[7];\n}\n")
    source = '#include "h.h"\n__kernel void k(__global int *a, int b)\n{\n    a[0] = helper(a) + abs(a[3]) + b;\n}\n'
    monkeypatch.chdir(tmp_path)
    for name, folder in ((str(tmp_path / "k.cl"), str(tmp_path / "inc")), ("integer.cl", "inc")):
        image = compile_opencl(source, filename=name, options=[f"-I{folder}"])
        lines = {(location.file, location.line) for location in image.lines.values()}
        assert lines == {(name, 2), (name, 4), (name, 5), (str(Path(folder) / "h.h"), 3)}


@pytest.mark.parametrize("source", [SUM, PARTING, INLINED], ids=["sum", "parting", "inlined"])
def test_lines_change_no_word(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    config = Config(scratchpad_size=8)
    told = compile_sources({"k.cl": source}, [], config)
    monkeypatch.setattr(clang, "_CLANG", tuple(option for option in clang._CLANG if option != "-gline-tables-only"))
    untold = compile_sources({"k.cl": source}, [], config)
    assert told.words == untold.words
    assert not untold.lines, "clang told of none"


def test_no_line_of_clang_is_the_line_of_what_is_next_to_it() -> None:
    def at(line: int) -> Location:
        return Location("x.cl", line)

    word = Type("int", bits=32)
    nowhere, second = Instruction("add", word, "a"), Instruction("add", word, "b", location=at(2))
    after, jump = Instruction("add", word, "c"), Instruction("br", blocks=["next"])
    empty, end = Instruction("br", blocks=["end"]), Instruction("ret", operands=[Constant(0)], location=at(9))
    function = Function("f", word, [], {
        "entry": Block("entry", [nowhere, second, after, jump]), "next": Block("next", [empty]),
        "end": Block("end", [end])}, False, {}, at(1))
    assert source_locations(function, function.flow()) == {
        nowhere: at(2), second: at(2), after: at(2), jump: at(2), empty: at(2), end: at(9)}
    for instruction in function.instructions():
        instruction.location = None
    assert set(source_locations(function, function.flow()).values()) == {at(1)}
