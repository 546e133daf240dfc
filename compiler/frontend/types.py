"""LLVM's types as the compiler's."""

import re
from collections.abc import Iterable

from llvmlite import binding as llvm
from llvmlite.binding.typeref import TypeKind

from ..ir.values import VOID, WORD, Type, integer

__all__ = ["TypeReader", "first_item"]

_FLOATS = {TypeKind.half: 16, TypeKind.bfloat: 16, TypeKind.float: 32, TypeKind.double: 64}
_AGGREGATES = {TypeKind.array: "array", TypeKind.vector: "vector", TypeKind.struct: "struct"}

_EVENT = 'target("spirv.Event")'
"""Has nothing to tell (builtins/async_copy.cl), but is handed on and kept in variables: as a word."""
_PACKED = re.compile(r"(%.* = type )?<\{")


def first_item(text: str) -> str:
    """``text`` up to the first comma that is not in brackets."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character in "([{<") - (character in ")]}>")
        if depth == 0 and character == ",":
            return text[:at]
    return text


class TypeReader:
    """Converts types of one context; ``definitions`` are the lines of the printed module that define named ones."""

    def __init__(self, definitions: Iterable[str]) -> None:
        self._definitions = list(definitions)
        self._known: dict[llvm.TypeRef, Type] = {}

    def of(self, type: llvm.TypeRef) -> Type:
        """The compiler's form of a type."""
        known = self._known.get(type)
        if known is None:
            known = self._known[type] = self._converted(type)
        return known

    def _converted(self, type: llvm.TypeRef) -> Type:
        text = str(type)
        if text == _EVENT:
            return WORD
        if match := re.match(r'target\("([^"]*)"', text):      # images, samplers and other opaque things
            return Type("other", text=match[1])
        kind = type.type_kind
        if kind == TypeKind.void:
            return VOID
        if kind == TypeKind.integer:
            return integer(type.type_width)
        if kind == TypeKind.pointer:
            space = re.search(r"addrspace\((\d+)\)", text)
            return Type("ptr", space=int(space[1]) if space else 0)
        if kind in _FLOATS:
            return Type("float", bits=_FLOATS[kind], text=text)
        if kind in _AGGREGATES:
            fields = tuple(self.of(element) for element in type.elements)
            if kind == TypeKind.struct:
                return Type("struct", fields=fields, is_packed=_PACKED.match(text) is not None)
            return Type(_AGGREGATES[kind], count=type.element_count, fields=fields[:1])
        return Type("other", text=text)

    def spelled(self, spellings: Iterable[str]) -> dict[str, Type]:
        """Types that instructions mention only in their text, as LLVM reads them: as those of variables."""
        names = list(dict.fromkeys(spellings))
        if not names:
            return {}
        variables = [f"@t{number} = external global {name.replace(_EVENT, 'i32')}"
                     for number, name in enumerate(names)]
        with llvm.parse_assembly("\n".join([*self._definitions, *variables]), llvm.create_context()) as module:
            types = TypeReader(self._definitions)
            return {name: types.of(variable.global_value_type)
                    for name, variable in zip(names, module.global_variables, strict=True)}
