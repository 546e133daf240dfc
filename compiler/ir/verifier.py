"""Checks that a function's IR is well-formed, and, after legalization, that it is what instruction selection has."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from fgpu.config import FLOAT_OPS

from .cfg import Flow
from .module import FLOAT_PREDICATES, INTEGER_PREDICATES, Block, Definitions, Function, Instruction, Module, Op
from .printer import print_instruction, print_type
from .values import BOOL, VOID, WORD, WORD_BITS, Global, Local, Type, integer

__all__ = ["InvalidIRError", "verify"]

_FLOAT_BINARY = (Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV, Op.FREM)
_BINARY = (Op.ADD, Op.SUB, Op.MUL, Op.UDIV, Op.SDIV, Op.UREM, Op.SREM, Op.SHL, Op.LSHR, Op.ASHR, Op.AND,
           Op.OR, Op.XOR)
_LEGAL = frozenset((
    Op.ADD, Op.SUB, Op.MUL, Op.SHL, Op.LSHR, Op.ASHR, Op.AND, Op.OR, Op.XOR, Op.ICMP, Op.SELECT, Op.ZEXT, Op.SEXT,
    Op.TRUNC, Op.FREEZE, Op.BITCAST, Op.PTRTOINT, Op.INTTOPTR, Op.LOAD, Op.STORE, Op.GETELEMENTPTR, Op.ALLOCA,
    Op.CALL, Op.SECOND, Op.PHI, Op.BR, Op.CONDBR, Op.RET, Op.UNREACHABLE, *FLOAT_OPS))
"""The operations of instruction selection; those of the hardware's floats are on words."""
_OTHER_FLOATS = (16, 64)
_PREDICATES = {Op.ICMP: INTEGER_PREDICATES, Op.FCMP: FLOAT_PREDICATES}


class InvalidIRError(Exception):
    """A function that breaks the IR's rules, which is a defect of the pass before: a line for each of them."""


def verify(function: Function, module: Module | None = None, legal: bool = False) -> None:
    """Raise :class:`InvalidIRError` if ``function`` breaks a rule of the IR; one of ``module``, if that is given.

    ``legal``: only operations and types of instruction selection may be left.
    """
    problems = list(dict.fromkeys(_Verifier(function, module, legal).problems()))
    if problems:
        raise InvalidIRError("\n".join(f"@{function.name}: {problem}" for problem in problems))


def _scalar(type: Type) -> Type:
    return type.fields[0] if type.kind == "vector" else type


def _is_integer(type: Type) -> bool:
    return _scalar(type).kind == "int"


def _is_number(type: Type) -> bool:
    """Whether arithmetic on floats may have this type: integers, where they are integers already."""
    return _scalar(type).kind == "float" or _scalar(type) in (WORD, *map(integer, _OTHER_FLOATS))


def _lanes(type: Type) -> int:
    return type.count if type.kind == "vector" else 0


class _Verifier:
    def __init__(self, function: Function, module: Module | None, legal: bool) -> None:
        self.function = function
        self.module = module
        self.legal = legal
        self.types: dict[str, Type] = {}
        self.home: dict[str, tuple[str, int]] = {}

    def problems(self) -> Iterator[str]:
        yield from self.names()
        structure = list(self.structure())
        yield from structure
        if structure:
            return              # no control flow to look at
        for name in self.flow.order:
            block = self.function.blocks[name]
            for at, i in enumerate(block.instructions):
                for problem in self.instruction(block, at, i):
                    yield f"^{name}: {print_instruction(i)}: {problem}"
        if self.legal:
            values = [(f"%{name}", type) for name, type in self.function.parameters]
            for name, type in [("the result", self.function.result), *values]:
                if type != VOID and not type.is_word:
                    yield f"{name} of type {print_type(type)} is not legal"

    # -- names, blocks -----------------------------------------------------------------------------------

    def names(self) -> Iterator[str]:
        for name, type in self.function.parameters:
            if name in self.types:
                yield f"%{name} is defined twice"
            self.types[name] = replace(type, fields=()) if type.is_by_value else type   # the address of the copy
        for block in self.function.blocks.values():
            for at, i in enumerate(block.instructions):
                if i.name in self.types:
                    yield f"%{i.name} is defined twice"
                if i.name:
                    self.types[i.name], self.home[i.name] = i.type, (block.name, at)

    def structure(self) -> Iterator[str]:
        """What control flow needs."""
        if not self.function.blocks:
            yield "there are no blocks"
        for name, block in self.function.blocks.items():
            if block.name != name:
                yield f"^{name} is called ^{block.name}"
            if not block.instructions or not block.instructions[-1].is_terminator:
                yield f"^{name}: there is no terminator at the end"
            elif (more := [i for i in block.instructions[:-1] if i.is_terminator]):
                yield f"^{name}: {print_instruction(more[0])}: a terminator before the end"
            for target in (target for i in block.instructions if i.is_terminator for target in i.blocks):
                if target not in self.function.blocks:
                    yield f"^{name}: there is no block ^{target}"
            if block.instructions[:len(block.phis)] != block.phis:
                yield f"^{name}: a phi behind other instructions"

    @cached_property
    def flow(self) -> Flow:
        return self.function.flow()

    @cached_property
    def definitions(self) -> Definitions:
        return self.function.definitions()

    @cached_property
    def predecessors(self) -> dict[str, list[str]]:
        return self.function.predecessors()

    # -- instructions ------------------------------------------------------------------------------------

    def instruction(self, block: Block, at: int, i: Instruction) -> Iterator[str]:
        if len(i.types) != len(i.operands):
            yield f"{len(i.operands)} operands with {len(i.types)} types"
            return
        if i.op is Op.PHI:
            yield from self.phi(block, i)
        else:
            for operand in i.operands:
                if isinstance(operand, Local):
                    yield from self.definition(operand, block.name, at)
        for operand, type in zip(i.operands, i.types, strict=True):
            if isinstance(operand, Local) and (defined := self.types.get(operand.name, type)) != type:
                yield f"%{operand.name} is of type {print_type(defined)}"
            if isinstance(operand, Global) and self.module is not None and operand.name not in {
                    **self.module.variables, **self.module.local_variables, **self.module.functions}:
                yield f"there is no @{operand.name}"
        if i.name and i.type == VOID:
            yield "a name for no result"
        elif i.type != VOID and not i.name and i.op is not Op.CALL:
            yield "a result without a name"
        rule = _RULES.get(i.op)
        if rule is not None:
            yield from rule(self, i)
        if self.legal:
            yield from self.legality(i)

    def definition(self, value: Local, block: str, at: int) -> Iterator[str]:
        """Whether ``value`` is there at place ``at`` of ``block``."""
        if value.name not in self.types:
            yield f"%{value.name} is not defined"
        elif value.name in self.home:
            where, place = self.home[value.name]
            is_above = where in self.flow.number and self.flow.dominates(where, block)
            if not (place < at if where == block else is_above):
                yield f"the definition of %{value.name} does not dominate this use"

    def phi(self, block: Block, phi: Instruction) -> Iterator[str]:
        sources = self.predecessors[block.name]
        if len(phi.blocks) != len(phi.operands):
            yield f"{len(phi.operands)} operands of {len(phi.blocks)} blocks"
            return
        if set(phi.blocks) != set(sources):
            yield f"its blocks are not the predecessors, {', '.join(f'^{name}' for name in sources)}"
        if len(set(zip(phi.blocks, phi.operands, strict=True))) != len(set(phi.blocks)):
            yield "different values from one block"
        for name, operand in zip(phi.blocks, phi.operands, strict=True):
            if isinstance(operand, Local) and name in self.flow.number:
                yield from self.definition(operand, name, len(self.function.blocks[name].instructions))
        if any(type != phi.type for type in phi.types):
            yield "its operands are of other types"

    def legality(self, i: Instruction) -> Iterator[str]:
        if i.op not in _LEGAL:
            yield f"{i.op} is not legal"
        if i.callee.startswith("llvm.") and any(t.kind == "other" for t in i.types):
            return                  # metadata of calls that do nothing
        for type in dict.fromkeys((i.type, *i.types)):
            if (type != VOID and not type.is_word) or type.kind == "float":
                yield f"type {print_type(type)} is not legal"

    # -- rules for operations ----------------------------------------------------------------------------

    @staticmethod
    def count(i: Instruction, *counts: int) -> bool:
        return len(i.operands) in counts

    def binary(self, i: Instruction) -> Iterator[str]:
        if i.types != [i.type] * 2:
            yield "takes two operands of the result's type"
        elif not (_is_number(i.type) if i.op in _FLOAT_BINARY else _is_integer(i.type)):
            yield f"does not compute in {print_type(i.type)}"

    def unary(self, i: Instruction) -> Iterator[str]:
        if i.types != [i.type]:
            yield "takes one operand of the result's type"

    def comparison(self, i: Instruction) -> Iterator[str]:
        if not self.count(i, 2) or i.types[0] != i.types[1]:
            yield "takes two operands of one type"
            return
        if _scalar(i.type) != BOOL or _lanes(i.type) != _lanes(i.types[0]):
            yield "gives an i1 for each lane"
        if i.predicate not in _PREDICATES[i.op]:
            yield f"does not have the predicate {i.predicate}"
        if not (_is_number(i.types[0]) if i.op is Op.FCMP else _is_integer(i.types[0])
                or _scalar(i.types[0]).kind == "ptr"):
            yield f"does not compare {print_type(i.types[0])}"

    def select(self, i: Instruction) -> Iterator[str]:
        if not self.count(i, 3) or i.types[1:] != [i.type] * 2 or _scalar(i.types[0]) != BOOL \
                or _lanes(i.types[0]) not in (0, _lanes(i.type)):
            yield "takes an i1 and two operands of the result's type"

    def conversion(self, i: Instruction) -> Iterator[str]:
        if not self.count(i, 1) or _lanes(i.type) != _lanes(i.types[0]):
            yield "takes one operand of as many lanes as the result"
            return
        source, result = _scalar(i.types[0]), _scalar(i.type)
        kinds = _CONVERSIONS[i.op]
        for type, kind in zip((source, result), kinds, strict=True):
            if not (_is_number(type) if kind == "number" else type.kind == kind):
                yield f"does not convert {print_type(i.types[0])} to {print_type(i.type)}"
                return
        if (i.op in (Op.ZEXT, Op.SEXT, Op.FPEXT) and source.bits >= result.bits) \
                or (i.op in (Op.TRUNC, Op.FPTRUNC) and source.bits <= result.bits):
            yield f"does not convert {print_type(i.types[0])} to {print_type(i.type)}"

    def bitcast(self, i: Instruction) -> Iterator[str]:
        def bits(type: Type) -> int:
            return max(1, _lanes(type)) * (WORD_BITS if _scalar(type).kind == "ptr" else _scalar(type).bits)

        if not self.count(i, 1) or bits(i.types[0]) != bits(i.type):
            yield "takes one operand of as many bits as the result"

    def load(self, i: Instruction) -> Iterator[str]:
        if not self.count(i, 1) or i.types[0].kind != "ptr" or i.type == VOID:
            yield "takes a pointer and gives a value"

    def store(self, i: Instruction) -> Iterator[str]:
        if not self.count(i, 2) or i.types[1].kind != "ptr" or i.type != VOID:
            yield "takes a value and a pointer, and gives nothing"

    def getelementptr(self, i: Instruction) -> Iterator[str]:
        if not i.operands or any(_scalar(type).kind != "ptr" for type in (i.type, i.types[0])) \
                or _scalar(i.types[0]).space != _scalar(i.type).space:
            yield "takes a pointer to the address space of the result"
        elif not all(map(_is_integer, i.types[1:])):
            yield "takes integers behind the pointer"
        elif i.source == VOID:
            yield "needs the type of an element"

    def alloca(self, i: Instruction) -> Iterator[str]:
        if not self.count(i, 0, 1) or i.type.kind != "ptr" or i.source == VOID:
            yield "takes a type and gives a pointer"

    def call(self, i: Instruction) -> Iterator[str]:
        if not i.callee:
            yield "calls nothing"
        callee = self.module.functions.get(i.callee) if self.module is not None else None
        parameters = [type for _, type in callee.parameters] if callee is not None else i.types
        words = sum(max(1, -(-type.bits // WORD_BITS)) for type in parameters)     # as legalization passes them
        if len(i.operands) not in (len(parameters), words):
            yield f"@{i.callee} takes {len(parameters)} arguments"

    def br(self, i: Instruction) -> Iterator[str]:
        if i.operands or len(i.blocks) != 1:
            yield "takes one block"

    def condbr(self, i: Instruction) -> Iterator[str]:
        if i.types != [BOOL] or len(i.blocks) != 2:
            yield "takes an i1 and two blocks"

    def switch(self, i: Instruction) -> Iterator[str]:
        if not i.operands or len(i.blocks) != len(i.operands) or len(set(i.types)) != 1 \
                or not _is_integer(i.types[0]):
            yield "takes an integer, a block, and for each value of it a block"

    def ret(self, i: Instruction) -> Iterator[str]:
        """An integer of several words is returned as these."""
        result = self.function.result
        words = [WORD] * len(i.operands)
        if i.types != ([] if result == VOID else [result]) and not (len(words) > 1 and i.types == words
                                                                    and result == words[0]):
            yield f"takes a value of type {print_type(result)}"

    def unreachable(self, i: Instruction) -> Iterator[str]:
        if i.operands or i.blocks:
            yield "takes nothing"

    def concat(self, i: Instruction) -> Iterator[str]:
        if not i.operands or set(i.types) != {WORD} or i.type.bits > WORD_BITS * len(i.operands) \
                or i.type.kind != "int":
            yield "takes the words of an integer"

    def extractword(self, i: Instruction) -> Iterator[str]:
        if not self.count(i, 1) or not _is_integer(i.types[0]) or i.type != WORD \
                or i.index * WORD_BITS >= i.types[0].bits:
            yield "takes an integer that has such a word"

    def second(self, i: Instruction) -> Iterator[str]:
        call = self.definitions.of(i.operands[0]) if self.count(i, 1) else None
        if call is None or call.op is not Op.CALL or i.type != WORD:
            yield "takes a call"

    def extractelement(self, i: Instruction) -> Iterator[str]:
        if not self.count(i, 2) or i.types[0].kind != "vector" or i.type != _scalar(i.types[0]):
            yield "takes a vector of such elements and an index"

    def insertelement(self, i: Instruction) -> Iterator[str]:
        if not self.count(i, 3) or i.types[0] != i.type or i.type.kind != "vector" or i.types[1] != _scalar(i.type):
            yield "takes a vector, an element and an index"

    def shufflevector(self, i: Instruction) -> Iterator[str]:
        if not self.count(i, 3) or i.types[0] != i.types[1] or any(t.kind != "vector" for t in (i.type, *i.types)) \
                or _scalar(i.type) != _scalar(i.types[0]) or i.types[2].count != i.type.count:
            yield "takes two vectors and a mask of as many lanes as the result"

    def extractvalue(self, i: Instruction) -> Iterator[str]:
        if not self.count(i, 1) or i.types[0].kind not in ("struct", "array"):
            yield "takes a struct or an array"


_CONVERSIONS = {
    Op.ZEXT: ("int", "int"), Op.SEXT: ("int", "int"), Op.TRUNC: ("int", "int"), Op.PTRTOINT: ("ptr", "int"),
    Op.INTTOPTR: ("int", "ptr"), Op.SITOFP: ("int", "number"), Op.UITOFP: ("int", "number"),
    Op.FPTOSI: ("number", "int"), Op.FPTOUI: ("number", "int"), Op.FPEXT: ("number", "number"),
    Op.FPTRUNC: ("number", "number"),
}
_Rule = Callable[[_Verifier, Instruction], Iterator[str]]


def _rules(*names: str) -> Mapping[Op, _Rule]:
    return {Op(name): getattr(_Verifier, name) for name in names}


def _all(rule: _Rule, names: Sequence[Op]) -> Mapping[Op, _Rule]:
    return dict.fromkeys(names, rule)


_RULES: Mapping[Op, _Rule] = {
    **_all(_Verifier.binary, (*_BINARY, *_FLOAT_BINARY)), **_all(_Verifier.unary, (Op.FREEZE, Op.FNEG)),
    **_all(_Verifier.comparison, (Op.ICMP, Op.FCMP)), **_all(_Verifier.conversion, tuple(_CONVERSIONS)),
    **_rules("select", "bitcast", "load", "store", "getelementptr", "alloca", "call", "br", "condbr", "switch", "ret",
             "unreachable", "concat", "extractword", "second", "extractelement", "insertelement", "shufflevector",
             "extractvalue"),
}
