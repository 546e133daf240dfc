"""The list of passes: its order, who may look at it, and what is printed."""

import re
from pathlib import Path

import pytest

from fgpu.benchmarks.registry import EVERY
from fgpu.compiler import compile_opencl
from fgpu.compiler.backend.mir import ARGUMENTS, Callee, MachineBlock, MachineFunction, Op, Phi, Pseudo
from fgpu.compiler.backend.parser import parse_machine_function
from fgpu.compiler.backend.printer import print_machine_function
from fgpu.compiler.ir.module import Module, Variable
from fgpu.compiler.ir.parser import parse_function
from fgpu.compiler.ir.values import Global, Type, integer
from fgpu.compiler.ir.verifier import InvalidIRError
from fgpu.compiler.legalize.tables import DataSegment
from fgpu.compiler.linker import Linker
from fgpu.compiler.observers import Printer, Verifier, list_passes
from fgpu.compiler.passes import Context, Phase, Plan
from fgpu.compiler.pipeline import PASSES
from fgpu.config import ATOMICS, Config
from fgpu.errors import CompileError, IRSyntaxError
from fgpu.isa import Opcode

SOURCE = """__constant int table[3] = {5, 6, 7};
__attribute__((noinline)) int f(int x, int y) { if (x > y) x ^= y / 7; return x * 5 + table[x & 1]; }
__kernel void k(__global int *a, long n)
{ int i = get_global_id(0), t[9]; for (int j = 0; j < n; j++) t[a[j] % 9] = j; a[i] = f(t[a[i] & 7], i); }"""


def test_every_pass_gets_what_it_needs():
    holds = set()
    for step in PASSES:
        assert holds.issuperset(step.needs), step.name
        holds = (holds | set(step.leaves)) - set(step.breaks)


def test_phases_come_in_their_order():
    order = [list(Phase).index(step.phase) for step in PASSES]
    assert order == sorted(order)
    assert set(order) == set(range(len(Phase)))


class Seen:
    def __init__(self):
        self.passes = []

    def before(self, step, function, context):
        self.passes.append((function.name, step.name, "before"))

    def after(self, step, function, context):
        assert self.passes[-1][1:] == (step.name, "before")
        self.passes[-1] = (function.name, step.name)


def test_observers_see_each_pass_in_its_order():
    seen = Seen()
    compile_opencl(SOURCE, observers=[seen], config=Config(scratchpad_size=0))
    names = [step.name for step in PASSES]
    absent = {"place-local-variables", "local-to-global", "expand-printf", "split-aggregates", "merge-narrow-loads",
              "outline-repeats"}
    # No subroutine, as the table is in memory and there is room for the kernel, and nothing spills.
    assert {name for _, name in seen.passes} == set(names) - {"tail-calls", "schedule-pressure"} - absent
    by_kernel = [name for _, name in seen.passes]
    assert by_kernel[:3] == ["inline-calls", "expand-overflow", "expand-comparisons"]      # no frame at first
    last = len(by_kernel) - by_kernel[::-1].index("inline-calls") - 1
    assert by_kernel[last:last + 3] == ["inline-calls", "private-in-frame", "expand-overflow"]
    selected = by_kernel.index("select", last)
    legal = [step.name for step in PASSES if step.phase.is_ir and step.name not in absent]
    assert by_kernel[last:selected] == legal


@pytest.mark.parametrize("name", ["fir", "median", "bitonic", "nbody_float"])
def test_printing_changes_nothing(name):
    benchmark, printed = EVERY[name], []
    source, options = benchmark.source.read_text(), (*benchmark.element.options, *benchmark.options)
    config = Config(atomics=ATOMICS)
    assert compile_opencl(source, options=options, config=config, observers=[
        Printer(printed.append, ["all"], ["all"]), Verifier()]) == compile_opencl(source, options=options,
                                                                                  config=config)
    assert len(printed) > 60


def test_headings_tell_pass_function_and_plan():
    printed = []
    compile_opencl(SOURCE, observers=[Printer(printed.append, before=["select"], after=["allocate"])])
    headings = [text.splitlines()[0] for text in printed]
    assert headings[0].startswith("; before select: f (large, no frame, 16 words of tables")
    assert re.fullmatch(r"; after allocate: f \(large, .*, order of latency\)", headings[1])
    assert printed[0].splitlines()[1].startswith("function i32 @f(")
    assert printed[1].splitlines()[1].startswith("function @f")
    assert "%" not in printed[1].split("{", 1)[1]      # registers are physical


def test_unknown_passes_are_refused_with_those_like_them():
    for name, message in (("licn", "there is no pass 'licn'; the most alike: licm"),
                          ("?", "there is no pass '?'; the passes are inline-calls, .*, and all for every one")):
        with pytest.raises(CompileError, match=re.escape(message) if name != "?" else message.replace("?", r"\?")):
            Printer(print, after=["cse", name])


def test_the_list_has_every_pass():
    lines = list_passes().splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ")] == [step.name for step in PASSES]


def test_the_verifier_names_what_a_pass_broke():
    """Here the first pass leaves an operation that reads what is not there."""
    class Breaks:
        def before(self, step, function, context):
            pass

        def after(self, step, function, context):
            if step.name == "scalarize":
                next(iter(function.blocks.values())).instructions[-1].operands[:] = []

    with pytest.raises(InvalidIRError):
        compile_opencl(SOURCE, observers=[Breaks(), Verifier()])


def test_what_is_not_legal_is_found_where_it_is_selected():
    """What the source asks for and nobody supports is refused by instruction selection, in its own words."""
    function = parse_function("function void @f(i64 %a) {\n^b:\n  %c: i64 = add %a, 1\n  ret\n}\n")
    steps = {step.name: step for step in PASSES}
    verifier, context = Verifier(), Context(Config(), Module({}, {}, {}), Plan(16), DataSegment())
    verifier.after(steps["inline-routines"], function, context)
    with pytest.raises(InvalidIRError, match="i64 is not legal"):
        verifier.after(steps["select"], function, context)
    with pytest.raises(CompileError, match="frem"):
        compile_opencl("__kernel void k(__global float *a) { a[0] = __builtin_fmodf(a[1], a[2]); }",
                       observers=[Verifier()])


def test_machine_functions_as_text():
    callee = Callee(3, 2, frozenset({1, 9}), is_pure=False, scratchpad=2, depth=2)
    blocks = [
        MachineBlock("entry", ops=[Op(Opcode.LP, 33, imm=1), Op(Pseudo.CONST, 34, imm=-7),
                                   Op(Pseudo.CALL, 35, imm=3, callee=callee, arguments=(33, 0))], next="the loop"),
        MachineBlock("the loop", phis=[Phi(36, {"entry": 35, "the loop": 37})],
                     ops=[Op(Opcode.ADDI, 37, 36, imm=1), Op(Opcode.MACC, 38, 36, 37, 34),
                          Op(Opcode.LW, 39, 36, 33), Op(Opcode.SW, None, 36, 33, 39), Op(Opcode.LSWI, rd=39, imm=4)],
                     branch=Op(Opcode.BNE, rs=34, rd=37), target="the loop", next="end", splits=True),
        MachineBlock("end", ops=[Op(Pseudo.RESULT, rs=38, imm=1), Op(Pseudo.MOVE, ARGUMENTS[0], 38)]),
    ]
    function = MachineFunction("f", {block.name: block for block in blocks}, 2, 40, is_kernel=False)
    assert print_machine_function(function) == """function @f scratchpad 2 {
^entry:
  %33 = lp 1
  %34 = const -7
  %35 = call #3(%33, r0) depth 2 scratchpad 2 clobbers r1 r9
  go ^"the loop"
^"the loop":
  %36 = phi ^entry %35, ^"the loop" %37
  %37 = addi %36, 1
  %38 = macc %36, %37, %34
  %39 = lw %33[%36]
  sw %39, %33[%36]
  lswi %39, r0[4]
  bne %37, %34, ^"the loop" divergent
  go ^end
^end:
  result 1 %38, r0
  r1 = move %38
  ret
}
"""
    copied = print_machine_function(function)
    other = function.copy()
    other.blocks["entry"].ops[0].imm = 9
    other.blocks["the loop"].phis[0].sources["entry"] = 33
    other.blocks["end"].ops.pop()
    assert print_machine_function(function) == copied != print_machine_function(other)


@pytest.mark.parametrize("name", ["median", "nbody_float"])
def test_machine_ir_is_read_back(name):
    """With all that it has between the passes."""
    benchmark, read = EVERY[name], []

    class RoundTrip:
        def before(self, step, function, context):
            pass

        def after(self, step, function, context):
            if not step.phase.is_ir:
                text = re.sub("  ; .*", "", print_machine_function(function))     # no locations
                assert print_machine_function(parse_machine_function(text)) == text
                read.append(step.name)

    compile_opencl(benchmark.source.read_text(), options=(*benchmark.element.options, *benchmark.options),
                   config=Config(atomics=ATOMICS), observers=[RoundTrip()])
    assert set(read) >= {"select", "allocate", "reconvergence"}


@pytest.mark.parametrize(("line", "message"), [
    ("%33 = frobnicate %32", "there is no operation 'frobnicate'"), ("%33 = add %32", "'%32' is not understood"),
    ("%33 = call #2(%32)", "is not understood"), ("x = lp 0", "'x' is not understood"),
    ("%33 = const a", "'a' is not understood"),
])
def test_text_that_is_no_machine_ir_is_refused(line, message):
    with pytest.raises(IRSyntaxError, match=f"f.mir:3: .*{re.escape(message)}"):
        parse_machine_function(f"kernel @k {{\n^entry:\n  {line}\n  ret\n}}\n", "f.mir")
    with pytest.raises(IRSyntaxError, match="no function"):
        parse_machine_function("", "f.mir")


def test_what_is_linked_can_be_rolled_back():
    def function(name):
        return MachineFunction(name, {"a": MachineBlock("a", ops=[Op(Opcode.ADDI, 1, imm=5)])})

    linker = Linker(Config())
    variables = {"t": Variable(Type("array", count=2, fields=(integer(32),)), bytes(8), 4, ((4, Global("t")),)),
                 "u": Variable(integer(8), b"u")}
    linker.data.place("u", variables)
    linker.define("f", linker.place(function("f")), 1, frozenset({1}), True, 0, 1, 0)
    mark, words, data = linker.mark(), list(linker.words), bytes(linker.data.content)
    for _ in range(2):
        linker.data.place("t", variables)
        linker.define("g", linker.place(function("g")), 1, frozenset({2}), True, 0, 1, 0)
        assert (linker.callees["g"].number, len(linker.words), linker.data.pointers) == (1, 4, [20])
        linker.forget(lambda name, callee: 1 in callee.clobbers)
        assert set(linker.callees) == {"g"}
        linker.roll_back(mark)
        assert (linker.words, bytes(linker.data.content), linker.data.pointers) == (words, data, [])
        assert set(linker.callees) == {"f"}


def test_passes_on_the_command_line(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from fgpu.cli import main

    monkeypatch.chdir(tmp_path)
    Path("k.cl").write_text("__kernel void k(__global int *a) { a[get_global_id(0)] = 1; }")

    def fgpu(*arguments):
        return CliRunner().invoke(main, ["compile", *arguments])

    assert "  licm " in fgpu("--list-passes").output
    plain = fgpu("k.cl", "-o", "k.json")
    image = Path("k.json").read_text()
    printed = fgpu("k.cl", "-o", "k.json", "--print-before", "licm", "--print-after", "emit").output
    assert "there is no pass 'emit'" in printed
    printed = fgpu("k.cl", "-o", "k.json", "--print-before", "licm", "--print-after", "work-dim").output
    assert printed.index("; after work-dim: k") < printed.index("; before licm: k")
    assert printed.endswith(plain.output)
    assert Path("k.json").read_text() == image
