"""Reads the text that :mod:`fgpu.compiler.ir.printer` writes.

Blank lines and what follows ``;`` say nothing. Errors are :class:`~fgpu.errors.IRSyntaxError` and name the line.
"""

import json
import re
from collections.abc import Iterator

from fgpu.errors import IRSyntaxError

from .module import (
    FLOAT_PREDICATES,
    INTEGER_PREDICATES,
    VOID,
    Block,
    Constant,
    Function,
    Global,
    Instruction,
    Local,
    Location,
    Module,
    Op,
    Type,
    Value,
    Variable,
)
from .printer import NO_LOCATION

__all__ = ["parse_function", "parse_module"]

_TOKEN = re.compile(r"""
    (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<location>!(?:"(?:[^"\\]|\\.)*"|[\w./-]+):\d+)
  | (?P<name>[%@^](?:"(?:[^"\\]|\\.)*"|[\w.$]+))
  | (?P<node>!\d+)
  | (?P<arrow>->)
  | (?P<number>[+-]?\d+)
  | (?P<word>\w+)
  | (?P<mark><\{|\}>|[][(){}<>,:=])
  | (?P<comment>;.*)
  | (?P<space>\s+)
  | (?P<bad>.)
""", re.VERBOSE)
_FLOATS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}


class _Line:
    """The tokens of a line, and what is read of them."""

    def __init__(self, text: str, number: int, file: str) -> None:
        self.number, self.file = number, file
        self.tokens: list[tuple[str, str]] = []
        self.at = 0
        for match in _TOKEN.finditer(text):
            if match.lastgroup == "bad":
                raise self.error(f"{match[0]!r} is not of the syntax")
            if match.lastgroup not in ("space", "comment"):
                assert match.lastgroup is not None
                self.tokens.append((match.lastgroup, match[0]))

    def error(self, message: str) -> IRSyntaxError:
        return IRSyntaxError(f"{self.file}:{self.number}: {message}")

    # -- tokens ------------------------------------------------------------------------------------------

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ("end", "the end of the line")

    def next(self, kind: str) -> str:
        if self.peek()[0] != kind:
            raise self.error(f"expected a {kind}, not {self.peek()[1]}")
        self.at += 1
        return self.tokens[self.at - 1][1]

    def accept(self, text: str) -> bool:
        found = self.peek()[1] == text and self.peek()[0] in ("word", "mark", "arrow")
        self.at += found
        return found

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.error(f"expected {text!r}, not {self.peek()[1]}")

    def end(self) -> None:
        if self.at < len(self.tokens):
            raise self.error(f"expected the end of the line, not {self.peek()[1]}")

    def integer(self) -> int:
        return int(self.next("number"))

    def string(self) -> str:
        return self.decoded(self.next("string"))

    def decoded(self, token: str) -> str:
        """What a name or a string in quotes, or without, says."""
        try:
            return str(json.loads(token)) if token[0] == '"' else token
        except ValueError:
            raise self.error(f"{token} is no string") from None

    def name(self, sigil: str) -> str:
        """A name that ``sigil`` stands before, without that."""
        token = self.peek()[1]
        if self.peek()[0] != "name" or token[0] != sigil:
            raise self.error(f"expected a name that starts with {sigil!r}, not {token}")
        self.at += 1
        return self.decoded(token[1:])

    def address(self) -> Global:
        """A name and bytes beyond it."""
        name = self.name("@")
        return Global(name, self.integer() if self.peek()[0] == "number" else 0)

    def block(self) -> str:
        return self.name("^")

    def location(self) -> Location | None:
        if self.peek()[0] != "location":
            return None
        file, _, line = self.next("location")[1:].rpartition(":")
        return Location(self.decoded(file), int(line))

    # -- types and values --------------------------------------------------------------------------------

    def at_type(self) -> bool:
        kind, text = self.peek()
        if text == "<":                 # a vector's type or the lanes of a constant
            return self.peek(2)[1] == "x"
        return (kind == "word" and (text in ("void", "ptr", "align", "opaque") or text in _FLOATS
                                    or re.fullmatch(r"i\d+", text) is not None)) or text in ("[", "{", "<{")

    def type(self) -> Type:
        align = 1
        if self.accept("align"):
            self.expect("(")
            align = self.integer()
            self.expect(")")
        match self.peek():
            case "mark", "{" | "<{" as start:
                self.at += 1
                fields = self._types({"{": "}", "<{": "}>"}[start])
                return Type("struct", fields=fields, is_packed=start == "<{", least_align=align)
            case "mark", "[":
                return self._repeated("array", "]", align)
            case "mark", "<":
                return self._repeated("vector", ">", align)
            case "word", "void" | "label" | "metadata" | "token" as text:
                self.at += 1
                return Type(text, least_align=align)
            case "word", "ptr":
                return self._pointer(align)
            case "word", "opaque":
                self.at += 1
                return Type("other", text=self.string(), least_align=align)
            case "word", text if text in _FLOATS:
                self.at += 1
                return Type("float", bits=_FLOATS[text], text=text, least_align=align)
            case "word", text if re.fullmatch(r"i\d+", text):
                self.at += 1
                return Type("int", bits=int(text[1:]), least_align=align)
        raise self.error(f"expected a type, not {self.peek()[1]}")

    def _types(self, end: str) -> tuple[Type, ...]:
        fields: list[Type] = []
        while not self.accept(end):
            if fields:
                self.expect(",")
            fields.append(self.type())
        return tuple(fields)

    def _repeated(self, kind: str, end: str, align: int) -> Type:
        self.at += 1
        count = self.integer()
        self.expect("x")
        element = self.type()
        self.expect(end)
        return Type(kind, count=count, fields=(element,), least_align=align)

    def _pointer(self, align: int) -> Type:
        self.at += 1
        space = 0
        if self.accept("("):
            space = self.integer()
            self.expect(")")
        fields = (self.type(),) if self.accept("byval") else ()
        return Type("ptr", space=space, fields=fields, least_align=align)

    def value(self) -> Value:
        kind, text = self.peek()
        if kind == "number":
            return Constant(self.integer())
        if kind == "name" and text[0] == "%":
            return Local(self.name("%"))
        if kind == "name" and text[0] == "@":
            return self.address()
        if self.accept("undef"):
            return Constant(0, is_undefined=True)
        if self.accept("unknown"):
            return Constant(None, self.string())
        if self.accept("<"):
            lanes = [self.value()]
            while not self.accept(">"):
                self.expect(",")
                lanes.append(self.value())
            return Constant(None, lanes=tuple(lanes))
        raise self.error(f"expected a value, not {text}")


class _InstructionReader:
    """Reads one instruction."""

    def __init__(self, line: _Line) -> None:
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
        lines = (_Line(line, number, file) for number, line in enumerate(text.splitlines(), 1))
        self.lines = [line for line in lines if line.tokens]
        self.last = _Line("", len(text.splitlines()), file)
        self.module = Module({}, {}, {})

    def run(self) -> Module:
        lines = iter(self.lines)
        for line in lines:
            match line.peek():
                case "word", "variable":
                    self.variable(line, lines)
                case "word", "kernel" | "function":
                    self.function(line, lines)
                case "node", node:
                    line.at += 1
                    line.expect("=")
                    self.module.metadata[node] = self.strings(line)
                    line.end()
                case _, text:
                    raise line.error(f"expected variable, function, kernel or metadata, not {text}")
        return self.module

    def strings(self, line: _Line) -> list[str]:
        line.expect("[")
        found: list[str] = []
        while not line.accept("]"):
            if found:
                line.expect(",")
            found.append(line.string())
        return found

    def body(self, lines: Iterator[_Line]) -> Iterator[_Line]:
        """The lines up to a closing brace."""
        for line in lines:
            if line.tokens == [("mark", "}")]:
                return
            yield line
        raise self.last.error("there is no closing brace at the end")

    def variable(self, line: _Line, lines: Iterator[_Line]) -> None:
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

    def function(self, line: _Line, lines: Iterator[_Line]) -> None:
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
