"""The verifier: all that the passes leave keeps the IR's rules, and what breaks one is found."""

import re
from contextlib import suppress

import pytest

from fgpu.benchmarks import EVERY
from fgpu.compiler.ir.module import Module
from fgpu.compiler.ir.parser import parse_function, parse_module
from fgpu.compiler.ir.verifier import InvalidIRError, verify
from fgpu.config import ATOMICS, FLOAT_OPS, Config
from fgpu.errors import CompileError

from . import test_corpus
from .fuzz.case import make_case
from .ir_states import IR_PASSES, compile_and_look
from .test_ir_text import KERNELS

SOFT = Config(atomics=ATOMICS, cram_size=16)
HARD = SOFT.replace(float_ops=FLOAT_OPS)


def demand_rules(name, function, module):
    verify(function, module, legal=name == IR_PASSES[-1])


@pytest.mark.parametrize("name", KERNELS)
def test_benchmarks(name):
    benchmark = EVERY[name]
    compile_and_look({benchmark.source.name: benchmark.source.read_text()}, SOFT, demand_rules,
                     options=(*benchmark.element.options, *benchmark.options))


@pytest.mark.parametrize("group", [
    pytest.param(group, marks=[] if group in ("vectors", "memory", "language", "long 0") else pytest.mark.long)
    for group in test_corpus.GROUPS])
@pytest.mark.parametrize("config", [SOFT, pytest.param(HARD, marks=pytest.mark.long)], ids=["soft", "hard"])
def test_corpus_programs(group, config):
    compile_and_look({f"{group}.cl": test_corpus.source(group)}, config, demand_rules, options=["-w"])


def demand_rules_of_generated(seed):
    case = make_case(f"verifier {seed}")
    with suppress(CompileError):        # of those that are too large
        compile_and_look({"k.cl": case.program.text}, case.config, demand_rules)


@pytest.mark.parametrize("seed", range(4))
def test_generated_programs(seed):
    demand_rules_of_generated(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4, 100))
def test_many_generated_programs(seed):
    demand_rules_of_generated(seed)


def function(*lines, header="function i32 @f(i32 %a, i1 %c, ptr(1) %p, i64 %l, float %x, <2 x i32> %v)"):
    return parse_function("\n".join([header + " {", "^start:", *lines, "}"]))


RULES = [
    ("%a is defined twice", ["%a: i32 = add %a, 1", "ret i32 %a"]),
    ("%b is defined twice", ["%b: i32 = add %a, 1", "%b: i32 = add %a, 2", "ret i32 %b"]),
    ("%b is not defined", ["ret i32 %b"]),
    ("the definition of %b does not dominate this use", ["%d: i32 = add %b, 1", "%b: i32 = add %a, 1", "ret i32 %d"]),
    ("the definition of %b does not dominate this use",
     ["condbr i1 %c -> ^x, ^y", "^x:", "%b: i32 = add %a, 1", "br -> ^y", "^y:", "ret i32 %b"]),
    ("the definition of %b does not dominate this use",
     ["condbr i1 %c -> ^x, ^y", "^x:", "%b: i32 = add %a, 1", "br -> ^y", "^y:",
      "%d: i32 = phi [%a, ^x], [%b, ^start]", "ret i32 %d"]),
    ("the definition of %b does not dominate this use",
     ["ret i32 %b", "^unreachable:", "%b: i32 = add %a, 1", "br -> ^unreachable"]),
    ("%a is of type i32", ["%b: i8 = trunc i16 %a", "ret i32 %a"]),
    ("there is no @table", ["%b: i32 = load ptr(2) @table", "ret i32 %b"]),
    ("^start: there is no terminator at the end", ["%b: i32 = add %a, 1"]),
    ("^next: there is no terminator at the end", ["br -> ^next", "^next:"]),
    ("a terminator before the end", ["ret i32 %a", "ret i32 %a"]),
    ("there is no block ^nowhere", ["br -> ^nowhere"]),
    ("a phi behind other instructions",
     ["br -> ^x", "^x:", "%b: i32 = add %a, 1", "%d: i32 = phi [%a, ^start]", "ret i32 %d"]),
    ("its blocks are not the predecessors, ^start",
     ["br -> ^x", "^x:", "%b: i32 = phi [%a, ^start], [1, ^x]", "ret i32 %b"]),
    ("its blocks are not the predecessors, ^start, ^x",
     ["br -> ^x", "^x:", "%b: i32 = phi [%a, ^start]", "condbr i1 %c -> ^x, ^y", "^y:", "ret i32 %b"]),
    ("different values from one block",
     ["condbr i1 %c -> ^x, ^x", "^x:", "%b: i32 = phi [1, ^start], [2, ^start]", "ret i32 %b"]),
    ("its operands are of other types", ["br -> ^x", "^x:", "%b: i32 = phi [i8 1, ^start]", "ret i32 %b"]),
    ("a result without a name", ['%"": i32 = add %a, 1', "ret i32 %a"]),
    ("a name for no result", ["%b: void = store i32 1, ptr(1) %p", "ret i32 %a"]),
    ("takes two operands of the result's type", ["%b: i32 = add %a", "ret i32 %b"]),
    ("takes two operands of the result's type", ["%b: i32 = shl %a, i8 1", "ret i32 %b"]),
    ("does not compute in float", ["%b: float = add %x, 1", "ret i32 %a"]),
    ("does not compute in i8", ["%b: i8 = fadd 1, 1", "ret i32 %a"]),
    ("takes one operand of the result's type", ["%b: i32 = freeze i8 1", "ret i32 %b"]),
    ("takes two operands of one type", ["%b: i1 = icmp eq i32 %a, i8 1", "ret i32 %a"]),
    ("gives an i1 for each lane", ["%b: i32 = icmp eq %a, 1", "ret i32 %b"]),
    ("gives an i1 for each lane", ["%b: i1 = icmp eq <2 x i32> %v, %v", "ret i32 %a"]),
    ("does not compare float", ["%b: i1 = icmp eq float %x, %x", "ret i32 %a"]),
    ("does not compare i8", ["%b: i1 = fcmp oeq i8 1, 1", "ret i32 %a"]),
    ("takes an i1 and two operands of the result's type", ["%b: i32 = select i32 %a, %a, %a", "ret i32 %b"]),
    ("takes an i1 and two operands of the result's type", ["%b: i32 = select i1 %c, i32 %a, i8 1", "ret i32 %b"]),
    ("takes one operand of as many lanes as the result", ["%b: i64 = zext <2 x i32> %v", "ret i32 %a"]),
    ("does not convert i64 to i32", ["%b: i32 = zext i64 %l", "ret i32 %b"]),
    ("does not convert i32 to i32", ["%b: i32 = trunc %a", "ret i32 %b"]),
    ("does not convert i32 to ptr(1)", ["%b: i32 = ptrtoint %a", "%d: ptr(1) = ptrtoint i32 %a", "ret i32 %b"]),
    ("does not convert float to i32", ["%b: i32 = sext float %x", "ret i32 %b"]),
    ("takes one operand of as many bits as the result", ["%b: i64 = bitcast i32 %a", "ret i32 %a"]),
    ("takes a pointer and gives a value", ["%b: i32 = load %a", "ret i32 %b"]),
    ("takes a value and a pointer, and gives nothing", ["store i32 %a, %a", "ret i32 %a"]),
    ("takes a pointer to the address space of the result", ["%b: ptr = getelementptr i8, ptr(1) %p, i32 %a",
                                                            "ret i32 %a"]),
    ("takes integers behind the pointer", ["%b: ptr(1) = getelementptr i8, %p, float %x", "ret i32 %a"]),
    ("needs the type of an element", ["%b: ptr(1) = getelementptr %p, i32 %a", "ret i32 %a"]),
    ("takes a type and gives a pointer", ["%b: ptr = alloca", "ret i32 %a"]),
    ("calls nothing", ['%b: i32 = call @""(i32 1)', "ret i32 %a"]),
    ("takes one block", ["br -> ^x, ^x", "^x:", "ret i32 %a"]),
    ("takes an i1 and two blocks", ["condbr i1 %c -> ^x", "^x:", "ret i32 %a"]),
    ("takes an i1 and two blocks", ["condbr i32 %a -> ^x, ^x", "^x:", "ret i32 %a"]),
    ("takes an integer, a block, and for each value of it a block",
     ["switch float %x -> ^x, 1: ^x", "^x:", "ret i32 %a"]),
    ("takes a value of type i32", ["ret"]),
    ("takes a value of type i32", ["ret i64 %l"]),
    ("takes nothing", ["unreachable i32 %a"]),
    ("takes the words of an integer", ["%b: i64 = concat i32 %a", "ret i32 %a"]),
    ("takes an integer that has such a word", ["%b: i32 = extractword i64 %l [2]", "ret i32 %b"]),
    ("takes a call", ["%b: i32 = second i32 %a", "ret i32 %b"]),
    ("takes a vector of such elements and an index", ["%b: i8 = extractelement <2 x i32> %v, i32 0", "ret i32 %a"]),
    ("takes a vector, an element and an index", ["%b: <2 x i32> = insertelement %v, i8 0, i32 0", "ret i32 %a"]),
    ("takes two vectors and a mask of as many lanes as the result",
     ["%b: <2 x i32> = shufflevector %v, %v, <3 x i32> <0, 1, 2>", "ret i32 %a"]),
    ("takes a struct or an array", ["%b: i32 = extractvalue %a [0]", "ret i32 %b"]),
]


@pytest.mark.parametrize(("message", "lines"), RULES)
def test_broken_rules(message, lines):
    with pytest.raises(InvalidIRError, match=re.escape(message)):
        verify(function(*lines), Module({}, {}, {}))


def test_number_of_types():
    broken = function("%b: i32 = add %a, 1", "ret i32 %b")
    broken.blocks["start"].instructions[0].types.pop()
    with pytest.raises(InvalidIRError, match="2 operands with 1 types"):
        verify(broken)


@pytest.mark.parametrize(("line", "message"), [
    ("%b: i32 = phi [%a, ^start]", "2 operands of 1 blocks"),
    ("switch i32 %a -> ^x, 1: ^x", "takes an integer, a block, and for each value of it a block")])
def test_numbers_of_blocks(line, message):
    lines = ["br -> ^x", "^x:", line] if "phi" in line else [line, "^x:"]
    broken = function(*lines, "ret i32 %a")
    instruction = next(i for i in broken.instructions() if i.op in ("phi", "switch"))
    instruction.operands.append(instruction.operands[0])
    instruction.types.append(instruction.types[0])
    with pytest.raises(InvalidIRError, match=message):
        verify(broken)


def test_names_of_blocks():
    broken = function("ret i32 %a")
    broken.blocks["start"].name = "other"
    with pytest.raises(InvalidIRError, match=re.escape("^start is called ^other")):
        verify(broken)


def test_predicates():
    broken = function("%b: i1 = icmp slt i32 %a, 1", "ret i32 %a")
    broken.blocks["start"].instructions[0].predicate = "olt"
    with pytest.raises(InvalidIRError, match="does not have the predicate olt"):
        verify(broken)


def test_number_of_arguments():
    module = parse_module("function void @g(i32 %a) {\n^x:\n  call @g(i32 %a, 1)\n  ret\n}")
    with pytest.raises(InvalidIRError, match="@g takes 1 arguments"):
        verify(module.functions["g"], module)


def test_structs_by_value_are_addresses():
    verify(function("%b: i32 = load ptr %s", "ret i32 %b", header="function i32 @f(ptr byval {i32} %s)"))


def test_all_that_is_broken_is_said():
    with pytest.raises(InvalidIRError) as error:
        verify(function("%b: i32 = add %a", "ret i32 %d"))
    assert str(error.value).splitlines() == [
        "@f: ^start: %b: i32 = add %a: takes two operands of the result's type",
        "@f: ^start: ret i32 %d: %d is not defined"]


LEGAL_HEADER = "function i32 @f(i32 %a, i1 %c, ptr(1) %p)"
ILLEGAL = [
    ("udiv is not legal", ["%b: i32 = udiv %a, 3", "ret i32 %b"]),
    ("switch is not legal", ["switch i32 %a -> ^x, 1: ^x", "^x:", "ret i32 %a"]),
    ("fcmp is not legal", ["%b: i1 = fcmp olt i32 %a, 1", "ret i32 %a"]),
    ("type i64 is not legal", ["%b: i64 = zext i32 %a", "ret i32 %a"]),
    ("type <2 x i32> is not legal", ["%b: <2 x i32> = load ptr(1) %p", "ret i32 %a"]),
    ("type float is not legal", ["%b: float = load ptr(1) %p", "ret i32 %a"]),
    ("type {i32} is not legal", ["store {i32} undef, ptr(1) %p", "ret i32 %a"]),
    ("extractvalue is not legal", ["%b: i32 = extractvalue {i32, i1} undef [0]", "ret i32 %b"]),
    ("concat is not legal", ["%b: i64 = concat i32 %a, %a", "ret i32 %a"]),
]


@pytest.mark.parametrize(("message", "lines"), ILLEGAL)
def test_legality(message, lines):
    given = function(*lines, header=LEGAL_HEADER)
    verify(given)
    with pytest.raises(InvalidIRError, match=re.escape(message)):
        verify(given, legal=True)


@pytest.mark.parametrize(("header", "message"), [("function i64 @f()", "the result of type i64"),
                                                 ("function void @f(<2 x i32> %v)", "%v of type <2 x i32>")])
def test_legal_signatures(header, message):
    given = function("unreachable", header=header)
    verify(given)
    with pytest.raises(InvalidIRError, match=f"{re.escape(message)} is not legal"):
        verify(given, legal=True)


def test_operations_on_words_are_legal():
    verify(function("%b: i32 = fadd %a, %a", "%d: i32 = call @llvm.umin.i32(%b, 3)",
                    "%e: ptr(1) = getelementptr i32, %p, i32 %d", "store i8 1, ptr(1) %e", "ret i32 %d",
                    header=LEGAL_HEADER), legal=True)
