"""The IR's textual form: what is printed is read back, to the last field; what is no IR is refused in one message."""

from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from textwrap import dedent

import pytest

from fgpu.benchmarks import EVERY
from fgpu.compiler.frontend.clang import Size, builtins, compile_to_bitcode, read_ir
from fgpu.compiler.ir.module import Block, Function, Instruction, Module, Op
from fgpu.compiler.ir.parser import parse_function, parse_module
from fgpu.compiler.ir.printer import print_function, print_module
from fgpu.compiler.ir.values import VOID, Constant, Global, Local, Type, integer
from fgpu.compiler.ir.verifier import verify
from fgpu.compiler.runtime_library.routines import routine
from fgpu.config import ATOMICS, Config
from fgpu.errors import CompileError, IRSyntaxError

from .fuzz.case import make_case
from .ir_states import IR_PASSES, compile_and_look


def demand_round_trip(module):
    text = print_module(module)
    again = parse_module(text)
    assert print_module(again) == text
    assert repr(again) == repr(module)      # with what does not count in a comparison, too


def of(function):
    return Module({function.name: function}, {}, {})


KERNELS = list({(benchmark.source, benchmark.element.is_float, benchmark.element.lanes): name
                for name, benchmark in EVERY.items()}.values())
"""Each kernel with integers, floats and vectors, as far as there are those."""


@pytest.mark.parametrize("name", KERNELS)
def test_benchmarks(name):
    """As clang leaves them, in vectors and floats, without vectors, and as instruction selection gets them."""
    benchmark = EVERY[name]
    source, options = benchmark.source.read_text(), (*benchmark.element.options, *benchmark.options)
    demand_round_trip(read_ir(compile_to_bitcode(source, benchmark.source.name, options, library=builtins(),
                                                 size=Size.LARGE).code))
    compile_and_look({benchmark.source.name: source}, Config(atomics=ATOMICS),
                     lambda _, function, __: demand_round_trip(of(function)), ("scalarize", IR_PASSES[-1]), options)


@pytest.mark.parametrize("seed", range(3))
def test_generated_programs(seed):
    """With structs by value, tables, private memory and 64-bit integers."""
    case = make_case(f"ir text {seed}")

    def look(_, function, module):
        demand_round_trip(Module({function.name: function}, module.metadata, module.variables))

    with suppress(CompileError):        # of those that are too large
        compile_and_look({"k.cl": case.program.text}, case.config, look,
                         ("inline-calls", "split-structs", "localize-tables", IR_PASSES[-1]))


def test_every_field():
    """What no program at hand has."""
    struct = Type("struct", fields=(integer(8), Type("array", count=3, fields=(integer(16),))), is_packed=True,
                  least_align=8)
    vector = Type("vector", count=2, fields=(Type("float", bits=16, text="half"),))
    instructions = [
        Instruction(Op.STORE, operands=[Constant(None, "", (Constant(1), Constant(0, is_undefined=True))),
                                       Global("a-4", -4)], types=[vector, Type("ptr", space=-1)], align=2),
        Instruction(Op.CALL, Type("other", text='spirv.Image "x"'), "odd name", [Constant(None, "a (b) ; c")],
                    [integer(3)], callee="%"),
        Instruction(Op.ATOMIC_LOAD, integer(8), "", [Local("odd name")], [Type("ptr")]),
        Instruction(Op.FCMP, integer(1), "b", [Constant(0), Constant(-5)], [integer(32)] * 2, predicate="true",
                    no_nans=True),
        Instruction(Op.OR, integer(8), "o", [Local("odd name"), Constant(2)], [integer(8)] * 2, is_disjoint=True),
        Instruction(Op.EXTRACTVALUE, integer(8), "e", [Constant(0)], [struct], index=1),
        Instruction(Op.SWITCH, operands=[Local("b"), Constant(-1)], types=[integer(1)] * 2, blocks=["x", "x"]),
    ]
    function = Function("f", VOID, [("s", Type("ptr", fields=(struct,)))],
                        {"x": Block("x", instructions)}, True, {"reqd_work_group_size": "!3"},
                        routine("fgpu_float_add").location, 8)
    demand_round_trip(Module({"f": function}, {"!3": ["1", 'a"b', "3"]}, {}))
    assert parse_function(print_function(function)).blocks["x"].instructions[1].operands[0].text == "a (b) ; c"


def test_comments_and_blank_lines():
    function = parse_function("""
        ; what it is about
        function void @f() {

        ^a:     ; the only block
          ret   ; and its end
        }
        """)
    assert print_function(function) == "function void @f() {\n^a:\n  ret\n}\n"


@pytest.mark.parametrize(("text", "message"), [
    ("kernel void @f() {", r"f.ir:1: there is no closing brace at the end"),
    ("kernel void @f() {\n}", r"f.ir:1: function @f has no blocks"),
    ("kernel void @f() {\n  ret\n}", r"f.ir:2: expected a block, not ret"),
    ("kernel void @f() {\n^a:\n  ret\n^a:\n  ret\n}", r"f.ir:4: there are two blocks \^a"),
    ("kernel void @f(i32 %0, %1) {\n^a:\n  ret\n}", r"f.ir:1: expected a type, not %1"),
    ("kernel void @f() {\n^a:\n  %1: i32 = add 1,\n}", r"f.ir:3: expected an operand, not the end of the line"),
    ("kernel void @f() {\n^a:\n  %1: i32 = add 1, 2 3\n}", r"f.ir:3: expected the end of the line, not 3"),
    ("kernel void @f() {\n^a:\n  %1 = add i32 1, 2\n}", r"f.ir:3: expected ':', not ="),
    ("kernel void @f() {\n^a:\n  %1: i1 = icmp lt i32 1, 2\n}", r"f.ir:3: 'lt' is no predicate of icmp"),
    ("kernel void @f() {\n^a:\n  %1: i32 = plus i32 1, 2\n}", r"f.ir:3: 'plus' is no operation"),
    ("kernel void @f() {\n^a:\n  br -> a\n}", r"f.ir:3: expected a name that starts with '\^', not a"),
    ("kernel void @f() {\n^a:\n  ret ~\n}", r"f.ir:3: '~' is not of the syntax"),
    ("variable @t [1 x i32] align 4 {\n  xyz\n}", r"f.ir:2: expected bytes in hexadecimal"),
    ("define void @f() {", r"f.ir:1: expected variable, local, function, kernel or metadata, not define"),
])
def test_syntax_errors(text, message):
    with pytest.raises(IRSyntaxError, match=f"^{message}$"):
        parse_module(text, "f.ir")


def test_all_fields_are_printed():
    """A field that is new has to be printed and read: this list is what is."""
    assert [field.name for field in fields(Instruction)] == [
        "op", "type", "name", "operands", "types", "blocks", "predicate", "callee", "index", "source", "align",
        "is_disjoint", "no_nans", "location"]


def test_the_manual_shows_this_syntax():
    manual = (Path(__file__).parents[2] / "docs" / "compiler.md").read_text(encoding="utf-8")
    example = dedent("\n".join(line for line in manual.splitlines() if line.startswith("    "))) + "\n"
    function = parse_function(example)
    verify(function)
    assert print_function(function) == example


def test_names_do_not_depend_on_what_was_compiled_before():
    case = make_case("ir text 1")
    runs = []
    for _ in range(2):
        texts = []
        compile_and_look({"k.cl": case.program.text}, case.config,
                         lambda _, function, __, texts=texts: texts.append(print_function(function)))
        runs.append(texts)
    assert len(runs[0]) > len(IR_PASSES) / 2
    assert runs[0] == runs[1]
