"""Reads the text that :mod:`fgpu.compiler.ir.printer` writes.

Blank lines and what follows ``;`` say nothing. Errors are :class:`~fgpu.errors.IRSyntaxError` and name the line.
"""

from collections.abc import Iterator

from fgpu.errors import IRSyntaxError

from .lexer import Line
from .module import (
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
from .printer import NO_LOCATION
from .values import VOID, Global, Type

__all__ = ["parse_function", "parse_module"]


class _InstructionReader:
    """Reads one instruction."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.result = Instruction(Op.UNREACHABLE)
        self.before = VOID

    def run(self) -> Instruction:
        line, i = self.line, self.result
        if line.peek()[1][0] == "%":
            i.name = line.name("%")
            line.expect(":")
            i.type = self.before = line.type()
            line.expect("=")
        word = line.next("word")
        try:
            i.op = Op(word.replace("_", " ") if word.startswith("atomic_") else word)
        except ValueError:
            raise line.error(f"{word!r} is no operation") from None
        self.words()
        if i.op is Op.CALL:
            i.callee = line.name("@")
            line.expect("(")
            self.items(")")
            line.expect(")")
        else:
            self.items("")
        self.blocks()
        if line.accept("["):
            i.index = line.integer()
            line.expect("]")
        if line.accept("align"):
            i.align = line.integer()
        i.location = line.location()
        line.end()
        return i

    def words(self) -> None:
        """What stands between the name of the operation and its operands."""
        line, i = self.line, self.result
        if i.op in (Op.ICMP, Op.FCMP):
            i.no_nans = line.accept("nnan")
            i.predicate = line.next("word")
            if i.predicate not in (INTEGER_PREDICATES if i.op is Op.ICMP else FLOAT_PREDICATES):
                raise line.error(f"{i.predicate!r} is no predicate of {i.op}")
        elif i.op is Op.OR:
            i.is_disjoint = line.accept("disjoint")

    def at_item(self) -> bool:
        line = self.line
        kind, text = line.peek()
        if text == "align":
            return line.peek(1)[1] == "("
        if text == "[":
            return self.result.op is Op.PHI or line.peek(2)[1] == "x"
        return line.at_type() or text in ("undef", "unknown", "<") or kind in ("number", "name")

    def items(self, end: str) -> None:
        """The element type, if there is one, and the operands."""
        line, first = self.line, True
        while self.at_item() and line.peek()[1] != end:
            if self.result.op is Op.PHI:
                line.expect("[")
                self.operand()
                line.expect(",")
                self.result.blocks.append(line.block())
                line.expect("]")
            elif first and line.at_type():
                type = line.type()
                if self.at_item() and line.peek()[1] != "[":
                    self.before = type
                    self.operand()
                else:
                    self.result.source = type
            else:
                self.operand()
            first = False
            if not line.accept(","):
                break
            if not self.at_item():
                raise line.error(f"expected an operand, not {line.peek()[1]}")

    def operand(self) -> None:
        if self.line.at_type():
            self.before = self.line.type()
        self.result.types.append(self.before)
        self.result.operands.append(self.line.value())

    def blocks(self) -> None:
        line, i = self.line, self.result
        if not line.accept("->"):
            return
        while True:
            if i.op is Op.SWITCH and i.blocks:
                i.operands.append(line.value())
                i.types.append(self.before)
                line.expect(":")
            i.blocks.append(line.block())
            if not line.accept(","):
                return


class _Parser:
    def __init__(self, text: str, file: str) -> None:
        lines = (Line(line, number, file) for number, line in enumerate(text.splitlines(), 1))
        self.lines = [line for line in lines if line.tokens]
        self.last = Line("", len(text.splitlines()), file)
        self.module = Module({}, {}, {})

    def run(self) -> Module:
        lines = iter(self.lines)
        for line in lines:
            match line.peek():
                case "word", "variable":
                    self.variable(line, lines)
                case "word", "local":
                    self.local_variable(line)
                case "word", "kernel" | "function":
                    self.function(line, lines)
                case "node", node:
                    line.at += 1
                    line.expect("=")
                    self.module.metadata[node] = self.strings(line)
                    line.end()
                case _, text:
                    raise line.error(f"expected variable, local, function, kernel or metadata, not {text}")
        return self.module

    def strings(self, line: Line) -> list[str]:
        line.expect("[")
        found: list[str] = []
        while not line.accept("]"):
            if found:
                line.expect(",")
            found.append(line.string())
        return found

    def body(self, lines: Iterator[Line]) -> Iterator[Line]:
        """The lines up to a closing brace."""
        for line in lines:
            if line.tokens == [("mark", "}")]:
                return
            yield line
        raise self.last.error("there is no closing brace at the end")

    def variable(self, line: Line, lines: Iterator[Line]) -> None:
        line.expect("variable")
        name, type = line.name("@"), line.type()
        line.expect("align")
        align = line.integer()
        pointers: list[tuple[int, Global]] = []
        while not line.accept("{"):
            at = line.integer()
            line.expect(":")
            pointers.append((at, line.address()))
        line.end()
        content = b""
        for inner in self.body(lines):
            try:
                content += bytes.fromhex("".join(text for _, text in inner.tokens))
            except ValueError:
                raise inner.error("expected bytes in hexadecimal") from None
        if name in self.module.variables:
            raise line.error(f"there are two variables @{name}")
        self.module.variables[name] = Variable(type, content, align, tuple(pointers))

    def local_variable(self, line: Line) -> None:
        line.expect("local")
        name, type = line.name("@"), line.type()
        line.expect("align")
        if name in self.module.variables or name in self.module.local_variables:
            raise line.error(f"there are two variables @{name}")
        self.module.local_variables[name] = LocalVariable(type, line.integer())
        line.end()

    def function(self, line: Line, lines: Iterator[Line]) -> None:
        is_kernel = line.next("word") == "kernel"
        result, name = line.type(), line.name("@")
        line.expect("(")
        parameters: list[tuple[str, Type]] = []
        while not line.accept(")"):
            if parameters:
                line.expect(",")
            type = line.type()
            parameters.append((line.name("%"), type))
        location = line.location()
        line.expect("{")
        line.end()
        if name in self.module.functions:
            raise line.error(f"there are two functions @{name}")
        function = Function(name, result, parameters, {}, is_kernel, {}, location or NO_LOCATION)
        block: Block | None = None
        for inner in self.body(lines):
            kind, text = inner.peek()
            if kind == "name" and text[0] == "^":
                block = Block(inner.block())
                inner.expect(":")
                inner.end()
                if block.name in function.blocks:
                    raise inner.error(f"there are two blocks ^{block.name}")
                function.blocks[block.name] = block
            elif block is not None:
                block.instructions.append(_InstructionReader(inner).run())
            elif inner.accept("frame"):
                function.frame = inner.integer()
                inner.end()
            elif inner.accept("local"):
                function.local_bytes = inner.integer()
                inner.end()
            elif inner.accept("metadata"):
                key = inner.string() if inner.peek()[0] == "string" else inner.next("word")
                function.metadata[key] = inner.next("node")
                inner.end()
            else:
                raise inner.error(f"expected a block, not {text}")
        if not function.blocks:
            raise line.error(f"function @{name} has no blocks")
        self.module.functions[name] = function


def parse_module(text: str, file: str = "<ir>") -> Module:
    """The module that ``text`` describes; ``file`` is its name in errors."""
    return _Parser(text, file).run()


def parse_function(text: str, file: str = "<ir>") -> Function:
    """The one function in ``text``."""
    functions = list(parse_module(text, file).functions.values())
    if len(functions) != 1:
        raise IRSyntaxError(f"{file}: expected one function, not {len(functions)}")
    return functions[0]
