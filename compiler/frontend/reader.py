"""From clang's bitcode to :mod:`fgpu.compiler.ir.module`, through llvmlite's view of the module.

llvmlite shows functions, blocks, instructions with their opcodes, operands and types, and scalar constants.
It does not show predicates, flags, alignments, the element types of address arithmetic, the cases of a
switch, the masks of shuffles, calling conventions, the parts of constant aggregates, and metadata. Those are
looked up in the printed instruction, which stands in the printed module in the same order.

What the compiler does not know it keeps by name, so that a refusal can say which construct on which line.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from llvmlite import binding as llvm
from llvmlite.binding import ValueKind

from fgpu.errors import CompileError

from ..ir.module import (
    FLOAT_PREDICATES,
    INTEGER_PREDICATES,
    Block,
    Function,
    Instruction,
    LocalVariable,
    Module,
    Op,
    Variable,
)
from ..ir.values import LOCAL_SPACE, VOID, WORD, Constant, Global, Local, Type, Value, integer
from .constant_expressions import Expression, UnknownExpressionError
from .constants import float_word, initial_bytes, lanes
from .metadata import Metadata, unescaped
from .types import TypeReader, first_item

__all__ = ["KERNEL_COPY", "read_module", "structs_by_value"]

_UNDEFINED = {ValueKind.undef_value, ValueKind.poison_value}
_ZEROS = _UNDEFINED | {ValueKind.constant_pointer_null, ValueKind.constant_aggregate_zero,
                       ValueKind.constant_token_none}
_GLOBALS = {ValueKind.function, ValueKind.global_variable, ValueKind.global_alias}
_PREDICATES = {*INTEGER_PREDICATES, *FLOAT_PREDICATES}
_GEP_TYPE = re.compile(r"= getelementptr (?:(?:inbounds|nuw|nusw|inrange\(.*?\)) )*(.*)")
_VARIABLE_ALIGN = re.compile(r", align (\d+)(?:, !.*)?$")
_BY_VALUE = re.compile(r"byval\(")
_ALLOCA_TYPE = re.compile(r"alloca (?:inalloca )?(.*)")
_SHARED = (1, LOCAL_SPACE)
_ALL_MEMORY = 3
"""What is volatile stays behind a fence, so that no pass merges it or moves it before what was volatile earlier."""
_SATURATED = re.compile(r"llvm\.(fpto[su]i)\.sat\.")
"""What the instruction without saturation does here, too."""
_FILLS = ("llvm.memcpy.", "llvm.memmove.", "llvm.memset.")
"""Their lengths have 64 bits where LLVM made them of others, though no address has."""
KERNEL_COPY = "__clang_ocl_kern_imp_"
"""What the functions are called that clang makes of kernels for calls by other kernels."""


class _Reader:
    def __init__(self, module: llvm.ModuleRef, own: str | None) -> None:
        self.module = module
        self.lines = str(module).splitlines()
        self.metadata = Metadata(self.lines, own)
        self.types = TypeReader(line for line in self.lines if re.match(r"%.* = type ", line))
        self.headers: dict[str, str] = {}
        self.texts: dict[str, list[str]] = {}
        for header, statements in _printed_functions(self.lines):
            match = re.search(r'@([\w.$-]+|"[^"]*")', header)
            name = unescaped(match[1].strip('"')) if match else ""
            self.headers[name], self.texts[name] = header, statements

    def run(self) -> Module:
        functions = self.needed()
        spelled = (first_item(match[1]) for function in functions for text in self.texts[function.name]
                   if (match := _GEP_TYPE.search(text) or _ALLOCA_TYPE.search(text)))
        structs = (name for function in functions
                   for name, _ in structs_by_value(self.headers[function.name]) if name)
        self.spelled = self.types.spelled([*spelled, *structs])
        variables = {}
        local: dict[str, LocalVariable] = {}
        for variable in self.module.global_variables:
            type = variable.global_value_type
            if self.types.of(variable.type).space == LOCAL_SPACE:
                align = _VARIABLE_ALIGN.search(str(variable))
                local[variable.name] = LocalVariable(self.types.of(type), int(align[1]) if align else 1)
            elif (known := initial_bytes(str(variable), type, self.types.of(type))) is not None:
                content, pointers = known
                align = _VARIABLE_ALIGN.search(str(variable))
                variables[variable.name] = Variable(self.types.of(type), content, int(align[1]) if align else 1,
                                                    pointers)
        while unknown := [name for name, variable in variables.items()
                          if any(target.name not in variables for _, target in variable.pointers)]:
            for name in unknown:
                del variables[name]
        read = {function.name: self.function(function) for function in functions}
        metadata = self.metadata.values()
        used = dict.fromkeys(node for function in read.values() for node in function.metadata.values())
        return Module(read, {node: metadata[node] for node in used}, variables, local)

    def needed(self) -> list[llvm.ValueRef]:
        """All functions but the copies of kernels that nobody calls, as most are inlined."""
        defined = [function for function in self.module.functions if not function.is_declaration]
        called = {unescaped(name.strip('"')) for statements in self.texts.values() for text in statements
                  for name in re.findall(rf'@({KERNEL_COPY}[\w.$-]+|"{KERNEL_COPY}[^"]*")', text)}
        return [function for function in defined
                if not function.name.startswith(KERNEL_COPY) or function.name in called]

    def function(self, function: llvm.ValueRef) -> Function:
        header = self.headers[function.name]
        metadata = dict(re.findall(r"!(\w+) (!\d+)", header))
        names = (str(number) for number in range(1 << 30))
        arguments, blocks = list(function.arguments), list(function.blocks)
        self.names = {value: next(names) for value in [*arguments, *blocks]}
        for block in blocks:
            self.names |= {value: next(names) for value in block.instructions if self.types.of(value.type) != VOID}
        texts = iter(self.texts[function.name])
        self.count, self.made, self.at_ends = 0, list[Instruction](), list[tuple[str, list[Instruction]]]()
        result = {self.names[block]: Block(self.names[block], [
            made for instruction in block.instructions for made in self.with_constants(instruction, next(texts))])
            for block in blocks}
        for name, made in self.at_ends:
            result[name].instructions[-1:-1] = made
        by_value = [replace(self.spelled[name], least_align=align) if name else None
                    for name, align in structs_by_value(header)]
        parameters = [(self.names[argument], self.types.of(argument.type)) for argument in arguments]
        for number, (name, type) in enumerate(parameters):
            if number < len(by_value) and (struct := by_value[number]) is not None:
                parameters[number] = (name, replace(type, fields=(struct,)))
        location = self.metadata.scope(metadata.pop("dbg", ""))
        is_kernel = "kernel_arg_name" in metadata and not function.name.startswith(KERNEL_COPY)
        return Function(function.name, self.types.of(function.global_value_type.get_function_return()), parameters,
                        result, is_kernel, metadata, location)

    # -- instructions ------------------------------------------------------------------------------------

    def with_constants(self, value: llvm.ValueRef, text: str) -> list[Instruction]:
        """The instruction, and before it what computes its constant operands."""
        result = self.instruction(value, text)
        made, self.made = self.made, []
        for constant in made:
            constant.location = result.location
        return [*made, result]

    def instruction(self, value: llvm.ValueRef, text: str) -> Instruction:
        debug = re.search(r"!dbg (!\d+)", text)
        result = Instruction(Op(value.opcode), self.types.of(value.type), self.names.get(value, ""),
                             location=self.metadata.location(debug[1]) if debug else None)
        operands = list(value.operands)
        if result.op is Op.PHI:
            result.blocks = [self.names[block] for block in value.incoming_blocks]
        reader = getattr(self, f"read_{result.op}", None)
        if reader is None:
            self.add_operands(result, operands)
        else:
            reader(result, operands, text)
        return result

    def add_operands(self, into: Instruction, operands: Iterable[llvm.ValueRef]) -> None:
        for number, operand in enumerate(operands):
            into.types.append(self.types.of(operand.type))
            into.operands.append(self.value(operand))
            if into.op is Op.PHI and self.made:      # known where we came from
                self.at_ends.append((into.blocks[number], self.made))
                self.made = []

    def value(self, value: llvm.ValueRef) -> Value:
        """An operand that is not a block."""
        if value in self.names:
            return Local(self.names[value])
        try:
            kind = value.value_kind
        except ValueError:                      # of a type that llvmlite does not know, such as an event
            return Constant(0) if str(value).endswith(" zeroinitializer") else Constant(None, str(value))
        if kind == ValueKind.constant_int:
            bits = value.type.type_width
            number = int(value.get_constant_value()) & ((1 << bits) - 1)
            return Constant(number - (1 << bits) if bits > 1 and number >> (bits - 1) else number)
        if kind in _ZEROS:
            return Constant(0, is_undefined=kind in _UNDEFINED)
        if kind == ValueKind.constant_fp:
            return Constant(float_word(value.get_constant_value(round_fp=True), self.types.of(value.type).bits))
        if kind in _GLOBALS:
            return Global(value.name)
        is_vector = kind in (ValueKind.constant_data_vector, ValueKind.constant_vector)
        if is_vector and "@" not in str(value):
            return lanes(str(value), value.type, self.types.of(value.type))
        before = len(self.made)
        try:
            if is_vector:
                return self.vector_of_addresses(str(value), self.types.of(value.type))
            return Expression(str(value), self.computed).typed()[0]
        except UnknownExpressionError:
            del self.made[before:]
            return Constant(None, str(value))

    def vector_of_addresses(self, text: str, type: Type) -> Value:
        """A constant vector with expressions among its lanes, which are put into it one by one."""
        result: Value = Constant(0)
        rest = text.partition("> <")[2]
        for number in range(type.count):
            expression = Expression(rest, self.computed)
            lane, element = expression.typed()
            rest = expression.rest.removeprefix(", ")
            result = self.computed(Op.INSERTELEMENT, type, [result, lane, Constant(number)], [type, element, WORD])
        return result

    def computed(self, op: Op, type: Type, operands: list[Value], types: list[Type]) -> Value:
        """What a part of a constant expression makes."""
        self.count += 1
        self.made.append(Instruction(op, type, f"constant{self.count}", operands, types, source=integer(8)))
        return Local(self.made[-1].name)

    def read_br(self, into: Instruction, operands: list[llvm.ValueRef], text: str) -> None:
        """LLVM keeps the condition and then the targets, the one for false first."""
        blocks = [operand for operand in operands if operand.value_kind == ValueKind.basic_block]
        into.blocks = [self.names[block] for block in reversed(blocks)]
        if len(blocks) == 2:
            into.op = Op.CONDBR
            self.add_operands(into, operands[:1])

    def read_switch(self, into: Instruction, operands: list[llvm.ValueRef], text: str) -> None:
        self.add_operands(into, operands[:1])
        into.blocks = [self.names[block] for block in operands[1:] if block.value_kind == ValueKind.basic_block]
        cases = re.findall(r"i\d+ (-?\d+|true|false), label", text)[-(len(into.blocks) - 1):]
        into.operands += [Constant({"true": 1, "false": 0}.get(case) if case[0] in "tf" else int(case))
                          for case in cases]
        into.types += into.types[:1] * len(cases)

    def read_icmp(self, into: Instruction, operands: list[llvm.ValueRef], text: str) -> None:
        into.predicate = next(word for word in text.split() if word in _PREDICATES)
        self.add_operands(into, operands)

    def read_extractvalue(self, into: Instruction, operands: list[llvm.ValueRef], text: str) -> None:
        into.index = int(re.sub(r", !.*", "", text).rpartition(", ")[2])
        self.add_operands(into, operands)

    def read_fcmp(self, into: Instruction, operands: list[llvm.ValueRef], text: str) -> None:
        into.no_nans = " fcmp fast " in text or " nnan " in text
        self.read_icmp(into, operands, text)

    def read_or(self, into: Instruction, operands: list[llvm.ValueRef], text: str) -> None:
        into.is_disjoint = " or disjoint " in text
        self.add_operands(into, operands)

    def read_load(self, into: Instruction, operands: list[llvm.ValueRef], text: str) -> None:
        into.align = min(map(int, re.findall(r"\balign (\d+)", text)), default=1)
        is_volatile = f"{into.op} volatile " in text or f"{into.op} atomic volatile " in text
        if f" {into.op} atomic " in text:
            into.op = Op(f"atomic {into.op}")
        self.add_operands(into, operands)
        if is_volatile and into.types[-1].space in _SHARED:
            self.made.append(Instruction(Op.CALL, VOID, "", [Constant(_ALL_MEMORY)], [WORD], callee="_Z9mem_fencej"))

    read_store = read_load

    def read_getelementptr(self, into: Instruction, operands: list[llvm.ValueRef], text: str) -> None:
        match = _GEP_TYPE.search(text)
        assert match is not None
        into.source = self.spelled[first_item(match[1])]
        self.add_operands(into, operands)

    def read_alloca(self, into: Instruction, operands: list[llvm.ValueRef], text: str) -> None:
        match = _ALLOCA_TYPE.search(text)
        assert match is not None
        into.source = self.spelled[first_item(match[1])]
        into.align = min(map(int, re.findall(r"\balign (\d+)", text)), default=1)
        self.add_operands(into, [operand for operand in operands if not operand.is_constant])

    def read_shufflevector(self, into: Instruction, operands: list[llvm.ValueRef], text: str) -> None:
        self.add_operands(into, operands)
        mask = re.sub(r", !.*", "", text).rpartition(" x i32> ")[2]
        chosen = [Constant(int(lane)) if lane.isdigit() else Constant(0, is_undefined=True)
                  for lane in re.findall(r"i32 (\w+)", mask)]
        into.operands.append(Constant(None, "", tuple(chosen or [Constant(0)] * into.type.count)))
        into.types.append(Type("vector", count=into.type.count, fields=(WORD,)))

    def read_call(self, into: Instruction, operands: list[llvm.ValueRef], text: str) -> None:
        *arguments, callee = operands
        if callee.value_kind == ValueKind.function:
            into.callee = callee.name
            if match := _SATURATED.match(callee.name):
                into.op, into.callee = Op(match[1]), ""
            into.align = min(map(int, re.findall(r"\balign (\d+)", text)), default=1)
            self.add_operands(into, arguments)
            if into.callee.startswith(_FILLS):
                into.types[2] = WORD
        else:
            into.callee = "asm" if callee.value_kind == ValueKind.inline_asm else "%"


def structs_by_value(header: str) -> list[tuple[str, int]]:
    """For each parameter in a printed header the type that ``byval`` names, or nothing, and its alignment."""
    start = header.index("(", header.index("@")) + 1
    rest = header[start:]
    found: list[tuple[str, int]] = []
    while rest and rest[0] != ")":
        item = first_item(rest)
        at = _BY_VALUE.search(item)
        inner = item[at.end():] if at else ""
        depth, end = 1, 0
        while inner and depth:
            depth += (inner[end] in "([{<") - (inner[end] in ")]}>")
            end += 1
        align = re.search(r"\balign (\d+)", item)
        found.append((inner[:end - 1] if inner else "", int(align[1]) if align else 1))
        rest = rest[len(item):].lstrip(", ")
    return found


def _printed_functions(lines: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """The header and the statements of each function with a body; a switch takes several lines."""
    rest = iter(lines)
    for line in rest:
        if line.startswith("define "):
            statements: list[str] = []
            for inner in rest:
                if inner == "}":
                    break
                if re.match(r"  [^ \]]", inner):
                    statements.append(inner)
                elif inner.startswith("  ") and statements and not inner.lstrip().startswith("#dbg"):
                    statements[-1] += inner
            yield line, statements


def read_module(bitcode: bytes, own: str | None = None) -> Module:
    """Read a module. Locations in files whose names begin with ``own`` are replaced by those of their callers."""
    try:
        with llvm.parse_bitcode(bitcode, llvm.create_context()) as module:
            return _Reader(module, own).run()
    except (RuntimeError, ValueError, KeyError, StopIteration) as error:
        raise CompileError(f"cannot read the IR that clang made: {error!r}") from error
