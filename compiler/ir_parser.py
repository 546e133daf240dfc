"""Reader of LLVM's textual representation, as far as :mod:`compiler.ir` goes.

What it does not know it keeps by name, so that the refusal can say which construct, on which source line.
"""

import re
from dataclasses import replace

from fgpu.errors import CompileError

from . import ir
from .ir import VOID, Block, Constant, Function, Global, Instruction, Local, Location, Module, Type, Value, integer
from .tokens import Tokens

__all__ = ["parse_module"]

_COMMENT = re.compile(r'^((?:[^";]|"[^"]*")*);.*')
_BINARY = {"add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor"}
_CASTS = {"zext", "sext", "trunc", "bitcast", "ptrtoint", "inttoptr", "addrspacecast"}
_FLOATS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
_ZEROS = {"null", "undef", "poison", "zeroinitializer", "false", "none"}
_LOCATION = re.compile(r"!DILocation\(line: (\d+).*?scope: (!\d+)(?:, inlinedAt: (!\d+))?")


class _Parser:
    def __init__(self, text: str) -> None:
        self.metadata_text: dict[str, str] = {}
        self.named_types: dict[str, Type] = {}
        self.locations: dict[str, Location | None] = {}
        self.lines = text.splitlines()

    def module(self, own_headers: tuple[str, ...]) -> Module:
        self.own_headers = own_headers
        variables = {}
        for line in self.lines:
            if match := re.match(r"(!\d+) = (?:distinct )?(.*)", line):
                self.metadata_text[match[1]] = match[2]
            elif match := re.match(r"%(\S+) = type (.*)", line):
                self.named_types[match[1]] = self.type(Tokens(match[2]))
            elif match := re.match(r"@(\S+) = .*?\b(?:constant|global) (.*)", line):
                tokens = Tokens(match[2])
                type = self.type(tokens)
                content = self.initial(tokens, type)
                if content is not None:
                    variables[match[1]] = ir.Variable(type, content)
        functions = {}
        lines = iter(self.lines)
        for line in lines:
            if line.startswith("define "):
                body = []
                for inner in lines:
                    if inner == "}":
                        break
                    body.append(inner)
                function = self.function(line, body)
                functions[function.name] = function
        metadata = {name: re.findall(r'"([^"]*)"|i32 (-?\d+)', text) for name, text in self.metadata_text.items()}
        return Module(functions, {n: [a or b for a, b in items] for n, items in metadata.items()}, variables)

    # -- types and values --------------------------------------------------------------------------

    def type(self, tokens: Tokens) -> Type:
        token = tokens.next()
        if re.fullmatch(r"i\d+", token):
            return integer(int(token[1:]))
        if token == "void":
            return VOID
        if token == "ptr":
            space = 0
            if tokens.accept("addrspace"):
                tokens.next()
                space = int(tokens.next())
                tokens.next()
            return Type("ptr", space=space)
        if token in "[<" and tokens.peek() != "{":
            count = int(tokens.next())
            tokens.next()
            element = self.type(tokens)
            tokens.next()
            return Type("array" if token == "[" else "vector", count=count, fields=(element,))
        if token in "{<":
            if token == "<":
                tokens.next()
            fields = []
            while not tokens.accept("}"):
                fields.append(self.type(tokens))
                tokens.accept(",")
            if token == "<":
                tokens.next()
            return Type("struct", fields=tuple(fields))
        if token.startswith("%"):
            return self.named_types.get(token[1:], Type("other", text=token))
        if token in _FLOATS:
            return Type("float", bits=_FLOATS[token], text=token)
        if token == "target":                   # images, samplers and other opaque things
            tokens.next()
            token = tokens.peek().strip('"')
            tokens.close(")")
        return Type("other", text=token)

    def value(self, tokens: Tokens) -> Value:
        token = tokens.next()
        if token[:1] == "%":
            return Local(token[1:])
        if token[:1] == "@":
            return Global(token[1:])
        if re.fullmatch(r"-?\d+", token):
            return Constant(int(token))
        if token == "true":
            return Constant(1)
        if token in _ZEROS:
            return Constant(0)
        if token == "<":
            items = Instruction("vector")
            self.separated(tokens, items, ">")
            tokens.next()
            return Constant(None, token, tuple(items.operands))
        if token == "splat":
            items = Instruction("vector")
            tokens.next()
            self.typed(tokens, items)
            tokens.next()
            return items.operands[0]
        if token in ("[", "{"):
            tokens.close({"[": "]", "{": "}"}[token])
        elif tokens.peek() in ("(", "inbounds", "nuw", "nusw"):
            tokens.skip_to({"("})
        return Constant(None, token)

    def typed(self, tokens: Tokens, into: Instruction) -> None:
        into.types.append(self.type(tokens))
        while re.fullmatch(r"[a-z]\w*", tokens.peek()) and tokens.peek() not in _ZEROS | {"true", "splat"}:
            tokens.next()                       # attributes of an argument
            if tokens.accept("("):
                tokens.close(")")
            elif tokens.peek().isdigit() and tokens.tokens[tokens.at - 1] == "align":
                tokens.next()
        into.operands.append(self.value(tokens))

    def initial(self, tokens: Tokens, type: Type) -> bytes | None:
        """The bytes of an initial value of integers; None for anything else."""
        token = tokens.next()
        if token in _ZEROS:
            return bytes(type.size)
        if re.fullmatch(r"-?\d+", token) and type.kind == "int":
            return (int(token) % (1 << type.bits)).to_bytes(type.size, "little")
        if token.startswith('c"'):
            text = re.sub(r"\\([0-9A-Fa-f]{2})", lambda m: chr(int(m[1], 16)), token[2:-1])
            return text.encode("latin-1")
        if token not in ("[", "{"):
            return None
        content, number = bytearray(), 0
        while not tokens.accept("]", "}"):
            part = self.initial(tokens, self.type(tokens))
            if part is None:
                return None
            content += bytes(type.offset(number) - len(content)) if token == "{" else b""
            content += part
            number += 1
            tokens.accept(",")
        return bytes(content).ljust(type.size, b"\0")

    # -- functions -----------------------------------------------------------------------------------

    def function(self, header: str, body: list[str]) -> Function:
        tokens = Tokens(header)
        is_kernel = "spir_kernel" in tokens.tokens
        name_at = next(i for i, token in enumerate(tokens.tokens) if token[0] == "@")
        name = tokens.tokens[name_at][1:]
        tokens.at = name_at - 1
        if tokens.peek() == ")":
            tokens.at -= 4                      # ptr addrspace(n)
        result = self.type(tokens)
        tokens.at = name_at + 2
        parameters = []
        while not tokens.accept(")"):
            arguments = Instruction("parameter")
            self.typed(tokens, arguments)
            value = arguments.operands[0]
            parameters.append((value.name if isinstance(value, Local) else "", arguments.types[0]))
            tokens.accept(",")
        metadata = dict(re.findall(r"!(\w+) (!\d+)", header))
        location = self.scope_location(metadata.get("dbg", ""))
        function = Function(name, result, parameters, {}, is_kernel, metadata, location)
        block = Block(str(len(parameters)))     # the unnamed first block takes the number after the parameters
        function.blocks[block.name] = block
        pending = ""
        for line in body:
            line = _COMMENT.sub(r"\1", line)
            if match := re.match(r'([\w.$-]+|"[^"]*"):\s*$', line):
                if not block.instructions:
                    del function.blocks[block.name]
                block = function.blocks[match[1]] = Block(match[1])
                continue
            pending += line
            if pending.strip() and not (" switch " in pending and "]" not in pending):
                block.instructions.append(self.instruction(pending))
                pending = ""
            elif not pending.strip():
                pending = ""
        return function

    def instruction(self, text: str) -> Instruction:
        location = self.location(match[1]) if (match := re.search(r"!dbg (!\d+)", text)) else None
        text = re.sub(r",? !\w[\w.]* !\d+", "", text)
        tokens = Tokens(text)
        name = ""
        if tokens.peek()[:1] == "%" and tokens.tokens[1:2] == ["="]:
            name = tokens.next()[1:]
            tokens.next()
        while tokens.accept("tail", "musttail", "notail"):
            pass
        op = tokens.next()
        instruction = Instruction(op, name=name, location=location)
        if op in _BINARY:
            self.binary(tokens, instruction)
        elif op in _CASTS or op == "freeze":
            self.skip_flags(tokens)
            self.typed(tokens, instruction)
            instruction.type = self.type(tokens) if tokens.accept("to") else instruction.types[0]
        elif (reader := getattr(self, f"read_{op}", None)) is not None:
            reader(tokens, instruction)
        else:
            self.unknown(tokens, instruction)
        return instruction

    def skip_flags(self, tokens: Tokens) -> None:
        while tokens.accept("nuw", "nsw", "exact", "disjoint", "nneg", "samesign", "inbounds", "nusw", "volatile",
                            "fast", "nnan", "ninf", "nsz", "arcp", "contract", "reassoc", "afn"):
            pass

    def unknown(self, tokens: Tokens, into: Instruction) -> None:
        into.detail = " ".join(tokens.tokens[tokens.at:])

    def binary(self, tokens: Tokens, into: Instruction) -> None:
        if tokens.peek() == "disjoint":
            into.detail = "disjoint"
        self.skip_flags(tokens)
        self.typed(tokens, into)
        tokens.next()
        into.type = into.types[0]
        into.types.append(into.type)
        into.operands.append(self.value(tokens))

    def read_icmp(self, tokens: Tokens, into: Instruction) -> None:
        self.skip_flags(tokens)
        into.detail = tokens.next()
        self.binary(tokens, into)
        into.type = integer(1) if into.type.kind != "vector" else replace(into.type, fields=(integer(1),))

    def read_select(self, tokens: Tokens, into: Instruction) -> None:
        self.skip_flags(tokens)
        self.separated(tokens, into)
        into.type = into.types[1]

    def separated(self, tokens: Tokens, into: Instruction, end: str = "") -> None:
        while tokens.peek() and tokens.peek() != end and tokens.peek() not in ("align", "addrspace"):
            self.typed(tokens, into)
            if not tokens.accept(","):
                break

    def read_phi(self, tokens: Tokens, into: Instruction) -> None:
        self.skip_flags(tokens)
        into.type = self.type(tokens)
        while tokens.accept("["):
            into.operands.append(self.value(tokens))
            into.types.append(into.type)
            tokens.next()
            into.blocks.append(tokens.next()[1:])
            tokens.next()
            tokens.accept(",")

    def read_extractelement(self, tokens: Tokens, into: Instruction) -> None:
        self.separated(tokens, into)
        into.type = into.types[0].fields[0]

    def read_insertelement(self, tokens: Tokens, into: Instruction) -> None:
        self.separated(tokens, into)
        into.type = into.types[0]

    def read_shufflevector(self, tokens: Tokens, into: Instruction) -> None:
        self.separated(tokens, into)
        into.type = replace(into.types[0], count=into.types[2].count)

    def alignment(self, tokens: Tokens, into: Instruction) -> None:
        if "align" in tokens.tokens:
            into.align = int(tokens.tokens[tokens.tokens.index("align") + 1])

    def read_load(self, tokens: Tokens, into: Instruction) -> None:
        if tokens.peek() == "atomic":
            into.op = "atomic load"
            return
        self.skip_flags(tokens)
        into.type = self.type(tokens)
        tokens.next()
        self.separated(tokens, into)
        self.alignment(tokens, into)

    def read_store(self, tokens: Tokens, into: Instruction) -> None:
        if tokens.peek() == "atomic":
            into.op = "atomic store"
            return
        self.skip_flags(tokens)
        self.separated(tokens, into)
        self.alignment(tokens, into)

    def read_getelementptr(self, tokens: Tokens, into: Instruction) -> None:
        self.skip_flags(tokens)
        into.source = self.type(tokens)
        tokens.next()
        self.separated(tokens, into)
        into.type = into.types[0]

    def read_alloca(self, tokens: Tokens, into: Instruction) -> None:
        into.source = self.type(tokens)
        if tokens.accept(","):
            self.separated(tokens, into)
        into.type = Type("ptr")

    def read_call(self, tokens: Tokens, into: Instruction) -> None:
        while re.fullmatch(r"spir_\w+|fastcc|ccc|noundef|zeroext|signext|range|nnan|ninf|nsz|arcp|contract|afn"
                           r"|reassoc|nonnull|align|\d+|\(|\)|,", tokens.peek()) and tokens.peek():
            if tokens.accept("("):
                tokens.close(")")
            else:
                tokens.next()
        into.type = self.type(tokens)
        if tokens.accept("("):                  # the type of a variadic function
            tokens.close(")")
        callee = tokens.next()
        into.detail = callee[1:] if callee[:1] == "@" else {"%": "%", "asm": "asm"}.get(callee[:1] or callee, callee)
        if callee[:1] == "@":
            tokens.next()
            into.align = min(map(int, re.findall(r"align (\d+)", " ".join(tokens.tokens))), default=1)
            self.separated(tokens, into, ")")

    def read_br(self, tokens: Tokens, into: Instruction) -> None:
        if not tokens.accept("label"):
            into.op = "condbr"
            self.typed(tokens, into)
            tokens.next()
            tokens.next()
        into.blocks.append(tokens.next()[1:])
        if tokens.accept(","):
            tokens.next()
            into.blocks.append(tokens.next()[1:])

    def read_switch(self, tokens: Tokens, into: Instruction) -> None:
        self.typed(tokens, into)
        tokens.at += 2
        into.blocks.append(tokens.next()[1:])
        tokens.next()
        while not tokens.accept("]"):
            self.typed(tokens, into)
            tokens.at += 2
            into.blocks.append(tokens.next()[1:])

    def read_ret(self, tokens: Tokens, into: Instruction) -> None:
        if tokens.peek() != "void":
            self.typed(tokens, into)

    # -- source locations ------------------------------------------------------------------------------

    def location(self, node: str) -> Location | None:
        """Where the user wrote it: the outermost call in the user's own file, for what our header inlines."""
        if node not in self.locations:
            location = None
            if match := _LOCATION.match(self.metadata_text.get(node, "")):
                location = Location(self.file(match[2]), int(match[1]))
                if match[3] and (location.line == 0 or location.file.endswith(self.own_headers)):
                    location = self.location(match[3])
            self.locations[node] = location
        return self.locations[node]

    def scope_location(self, node: str) -> Location:
        match = re.search(r"line: (\d+)", self.metadata_text.get(node, ""))
        return Location(self.file(node), int(match[1]) if match else 0)

    def file(self, scope: str) -> str:
        match = re.search(r"file: (!\d+)", self.metadata_text.get(scope, ""))
        name = re.search(r'filename: "([^"]*)"', self.metadata_text.get(match[1], "")) if match else None
        return name[1] if name else "<opencl>"


def parse_module(text: str, own_headers: tuple[str, ...] = ()) -> Module:
    """Read a module. Locations in files named like one of ``own_headers`` are replaced by those of their callers."""
    try:
        return _Parser(text).module(own_headers)
    except (IndexError, ValueError, StopIteration) as error:
        raise CompileError(f"cannot read the IR that clang printed: {error!r}") from error


