"""Lines of textual IR: their tokens, and the names, types and values that these spell."""

import json
import re

from fgpu.errors import IRSyntaxError

from .module import Location
from .values import Constant, Global, Local, Type, Value

__all__ = ["Line"]

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


class Line:
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
        """The error for what is wrong in this line."""
        return IRSyntaxError(f"{self.file}:{self.number}: {message}")

    # -- tokens ------------------------------------------------------------------------------------------

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        """Kind and text of a token ahead, which stays; of kind ``end`` behind the last."""
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ("end", "the end of the line")

    def next(self, kind: str) -> str:
        """Take a token, which must be of this kind; its text."""
        if self.peek()[0] != kind:
            raise self.error(f"expected a {kind}, not {self.peek()[1]}")
        self.at += 1
        return self.tokens[self.at - 1][1]

    def accept(self, text: str) -> bool:
        """Take the next token if it is this one; whether it was."""
        found = self.peek()[1] == text and self.peek()[0] in ("word", "mark", "arrow")
        self.at += found
        return found

    def expect(self, text: str) -> None:
        """Take the next token, which must be this one."""
        if not self.accept(text):
            raise self.error(f"expected {text!r}, not {self.peek()[1]}")

    def end(self) -> None:
        """Demand that nothing follows."""
        if self.at < len(self.tokens):
            raise self.error(f"expected the end of the line, not {self.peek()[1]}")

    def integer(self) -> int:
        """Take a decimal number."""
        return int(self.next("number"))

    def string(self) -> str:
        """Take a quoted text; what it means."""
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
        """Take a block's name."""
        return self.name("^")

    def location(self) -> Location | None:
        """Take a place in the source, if there is one."""
        if self.peek()[0] != "location":
            return None
        file, _, line = self.next("location")[1:].rpartition(":")
        return Location(self.decoded(file), int(line))

    # -- types and values --------------------------------------------------------------------------------

    def at_type(self) -> bool:
        """Whether a type comes next."""
        kind, text = self.peek()
        if text == "<":                 # a vector's type or the lanes of a constant
            return self.peek(2)[1] == "x"
        return (kind == "word" and (text in ("void", "ptr", "align", "opaque") or text in _FLOATS
                                    or re.fullmatch(r"i\d+", text) is not None)) or text in ("[", "{", "<{")

    def type(self) -> Type:
        """Take a type."""
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
        """Take an operand of a type."""
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
