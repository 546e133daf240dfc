"""Constant expressions: what LLVM computes of addresses that only the device knows, and of those that the
program names. llvmlite shows them as text only."""

import re
from collections.abc import Callable

from ..ir.module import Op
from ..ir.values import Constant, Global, Type, Value, integer
from .metadata import unescaped

__all__ = ["Expression", "UnknownExpressionError"]

_TYPE = re.compile(r"(?:ptr(?: addrspace\((?P<space>\d+)\))?|i(?P<bits>\d+))")
_NAME = re.compile(r'@(?:([\w.$-]+)|"([^"]*)")')
_NUMBER = re.compile(r"-?\d+|true|false|null|zeroinitializer")
_OPERATION = re.compile(r"(\w+)(?: (?!\()[a-z_]+)* \(")
_SAME = ("inttoptr", "ptrtoint", "bitcast", "addrspacecast")
"""Casts that change no bit of a word."""
_CASTS = ("inttoptr", "ptrtoint")
_BINARY = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "xor": lambda a, b: a ^ b}
_Add = Callable[[Op, Type, list[Value], list[Type]], Value]


class UnknownExpressionError(Exception):
    """An expression, or a part of one, that the compiler has no use for."""


def _nothing(op: Op, type: Type, operands: list[Value], types: list[Type]) -> Value:
    """What has no instructions: only addresses that move nothing can be where one is."""
    if op in _SAME:
        return operands[0]
    raise UnknownExpressionError


class Expression:
    """Reads expressions from ``text``, of which ``rest`` is left. What is neither a number nor a variable's address
    becomes instructions: ``add`` appends one and returns its result; without it, there are none."""

    def __init__(self, text: str, add: _Add = _nothing) -> None:
        self.rest = text
        self._add = add

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self.rest)
        if match is None:
            raise UnknownExpressionError
        self.rest = self.rest[match.end():]
        return match

    def _skip(self, text: str) -> None:
        if not self.rest.startswith(text):
            raise UnknownExpressionError
        self.rest = self.rest[len(text):]

    def _type(self) -> Type:
        match = self._take(_TYPE)
        return integer(int(match["bits"])) if match["bits"] else Type("ptr", space=int(match["space"] or 0))

    def typed(self) -> tuple[Value, Type]:
        """A value that its type stands before."""
        type = self._type()
        self._skip(" ")
        return self.value(type), type

    def value(self, type: Type) -> Value:
        """A value of ``type``."""
        if match := _NAME.match(self.rest):
            self.rest = self.rest[match.end():]
            return Global(match[1] or unescaped(match[2]))
        if match := _NUMBER.match(self.rest):
            self.rest = self.rest[match.end():]
            return Constant(1 if match[0] == "true" else int(match[0]) if match[0].lstrip("-").isdigit() else 0)
        op = self._take(_OPERATION)[1]
        if op == "getelementptr":
            result = self._place(type)
        elif op in _BINARY:
            result = self._binary(op, type)
        elif op in _SAME:
            value, source = self.typed()
            self._skip(" to ")
            self._type()
            is_number = isinstance(value, Constant)
            if not is_number and op not in _CASTS:
                raise UnknownExpressionError
            result = value if is_number else self._add(Op(op), type, [value], [source])
        else:
            raise UnknownExpressionError
        self._skip(")")
        return result

    def _place(self, type: Type) -> Value:
        element = self._type()
        self._skip(", ")
        base, source = self.typed()
        self._skip(", ")
        index, by = self.typed()
        if element.kind != "int" or not isinstance(index, Constant) or index.value is None:
            raise UnknownExpressionError
        offset = index.value * element.size
        if isinstance(base, Global):
            return Global(base.name, base.offset + offset)
        if isinstance(base, Constant) and base.value is not None:
            return Constant(base.value + offset)
        return self._add(Op.GETELEMENTPTR, type, [base, Constant(offset)], [source, by])

    def _binary(self, op: str, type: Type) -> Value:
        a, _ = self.typed()
        self._skip(", ")
        b, _ = self.typed()
        if isinstance(a, Constant) and isinstance(b, Constant) and a.value is not None and b.value is not None:
            return Constant(_BINARY[op](a.value, b.value))
        return self._add(Op(op), type, [a, b], [type, type])
