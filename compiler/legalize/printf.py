"""printf: each call writes a record to a buffer in global memory, which the host decodes (:mod:`fgpu.sim.printf`).

A record has, in words: the number of the format, from 1 on; the complement of the work-item's linear id; the
arguments as they are in memory, each from a word of its own on, a string as its number. The runtime library's
``printf.cl`` finds room for it and writes the first two.
"""

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ..format_strings import (
    HEADER_WORDS,
    STRING,
    Argument,
    Conversion,
    Format,
    FormatError,
    check_arguments,
    parse_format,
)
from ..ir.builder import Builder
from ..ir.module import Function, Instruction, Op, Variable
from ..ir.values import WORD, Constant, Global, Local, Type, Value

__all__ = ["PRINTF", "BufferWord", "FormatTable", "RegionWord", "expand_printf", "prints"]

PRINTF = "printf"
"""The function; and the parameter with the address of the buffer, which has one region for all work-items."""
_OWN_REGIONS = "printf_own"
"""That parameter, where each work-item has a region of its own."""
_BUFFER = Type("ptr", space=1)
_FLOAT = Type("float", bits=32, text="float")
_TEXT_SPACE = 2
_WORD_BYTES = 4
_CHOICES = (Op.SELECT, Op.PHI)
_INTEGERS = {8: "char", 16: "short", 32: "int", 64: "long"}
_FLOATS = {16: "half", 32: "float", 64: "double"}


class BufferWord(enum.IntEnum):
    """Words that a buffer begins with; regions follow."""

    SCRAP = 0
    """Address of a place for records that have none; as large as the largest."""
    ROOM = 1
    """Words for records in a region."""
    SHARE = 2
    """Words of a region, if each work-item has one."""
    FIRST = 3
    """Linear id, with the global offset in it, of the first work-item."""


class RegionWord(enum.IntEnum):
    """Words that a region begins with, 0 before the launch; records follow."""

    USED = 0
    """Words of records; more than there is room for, where not all found it."""
    LOST_CALLS = 1
    """Records that found no room."""
    LOST_WORDS = 2
    """And their words."""


class FormatTable:
    """Collects ``formats`` and ``strings``, which records name by their numbers.

    A kernel that is compiled once more, by another plan, has the same ones.
    """

    def __init__(self) -> None:
        self.formats: list[Format] = []
        self.strings: list[str] = []

    def format(self, format: Format) -> int:
        """The number of a format, from 0 on."""
        if format not in self.formats:
            self.formats.append(format)
        return self.formats.index(format)

    def string(self, text: str) -> int:
        """The number of a string, from 0 on."""
        if text not in self.strings:
            self.strings.append(text)
        return self.strings.index(text)


def prints(function: Function) -> bool:
    """Whether ``function`` calls printf."""
    return any(i.op is Op.CALL and i.callee == PRINTF for i in function.instructions())


def expand_printf(function: Function, variables: Mapping[str, Variable], table: FormatTable,
                  has_cursor: bool) -> str:
    """Replace the calls of printf by records; ``has_cursor`` says that the hardware can share one region.

    Returns the name of the parameter with the buffer's address, which the function, a kernel, gets.
    Raises :class:`~fgpu.errors.CompileError` for formats that are wrong or not known.
    """
    parameter = PRINTF if has_cursor else _OWN_REGIONS
    _Expansion(function, variables, table, parameter).run()
    function.parameters.append((parameter, _BUFFER))
    return parameter


class _Expansion:
    def __init__(self, function: Function, variables: Mapping[str, Variable], table: FormatTable,
                 parameter: str) -> None:
        self.function = function
        self.variables = variables
        self.table = table
        self.parameter = Local(parameter)
        self.begin = "fgpu_printf_begin" if parameter == PRINTF else "fgpu_printf_begin_own"
        self.builder = Builder(function)
        self.defined = function.definitions()
        self.used = {operand.name for i in function.instructions() for operand in i.operands
                     if isinstance(operand, Local)}
        self.behind: dict[str, list[Instruction]] = {}
        """What is to stand behind the instructions of these names."""
        self.obsolete: set[str] = set()
        """Instructions that choose between texts or promote floats: most are not needed any more."""

    def run(self) -> None:
        for block in self.function.blocks.values():
            made: list[Instruction] = []
            for i in block.instructions:
                if i.op is Op.CALL and i.callee == PRINTF:
                    self.builder.start(i)
                    self.call(i)
                    made += self.builder.made
                else:
                    made.append(i)
            block.instructions = made
        for block in self.function.blocks.values():
            block.instructions = [made for i in block.instructions for made in (i, *self.behind.get(i.name, ()))]
        self.drop_obsolete()

    def call(self, call: Instruction) -> None:
        b = self.builder
        values = list(map(self.before_promotion, call.operands[1:], call.types[1:]))
        arguments = self.arguments(call, [type for _, type in values])
        record = b.call(
            self.begin, self.parameter, Constant(HEADER_WORDS + sum(argument.words for argument in arguments)),
            self.number_of(call.operands[0], lambda text: 1 + self.table.format(Format(text, arguments)), call),
            type=_BUFFER, types=[_BUFFER, WORD, WORD])
        at = HEADER_WORDS
        for (value, type), argument in zip(values, arguments, strict=False):
            if argument.kind == STRING:
                value, type = self.number_of(value, self.table.string, call), WORD
            elif type.kind == "ptr":
                value, type = b.convert(Op.PTRTOINT, value, type, WORD), WORD
            elif type.kind == "vector":
                value, type = self.whole_words(value, type)
            b.store(value, type, b.offset(record, _BUFFER, _WORD_BYTES * at), _BUFFER, _WORD_BYTES)
            at += argument.words
        if call.name in self.used:
            scrap = b.load(WORD, b.offset(self.parameter, _BUFFER, _WORD_BYTES * BufferWord.SCRAP), _BUFFER,
                           _WORD_BYTES)
            is_lost = b.icmp("eq", b.convert(Op.PTRTOINT, record, _BUFFER, WORD), scrap)
            b.select(is_lost, Constant(-1), Constant(0))
            b.made[-1].name = call.name

    def whole_words(self, value: Value, type: Type) -> tuple[Value, Type]:
        """A vector, longer if need be: there may be no stores of less than words."""
        lanes = -(-type.count * type.fields[0].size // _WORD_BYTES) * _WORD_BYTES // type.fields[0].size
        if lanes <= type.count:
            return value, type
        taken = tuple(Constant(lane if lane < type.count else 0, is_undefined=lane >= type.count)
                      for lane in range(lanes))
        longer = replace(type, count=lanes)
        return self.builder.add(
            Op.SHUFFLEVECTOR, value, Constant(0, is_undefined=True), Constant(None, "", taken), type=longer,
            types=[type, type, Type("vector", count=lanes, fields=(WORD,))]), longer

    # -- what is printed ---------------------------------------------------------------------------------

    def before_promotion(self, value: Value, type: Type) -> tuple[Value, Type]:
        """An argument and its type. A float is a double only where the program has doubles, and prints the same."""
        made = self.defined.of(value)
        if made is not None and made.op is Op.FPEXT and made.types[0] == _FLOAT:
            self.obsolete.add(made.name)
            return made.operands[0], _FLOAT
        return value, type

    def arguments(self, call: Instruction, types: Sequence[Type]) -> tuple[Argument, ...]:
        """Those that the call's format prints, or the longest one that it may have; checked."""
        texts = self.texts(call.operands[0], call, "the format of printf must be a string literal, or chosen between "
                                                   "literals by ?:")
        try:
            formats = [parse_format(text) for text in texts]
            conversions = [[part for part in parts if isinstance(part, Conversion)] for parts in formats]
            printed = max(map(len, conversions))
            strings = {at for each in conversions for at, conversion in enumerate(each) if conversion.letter == "s"}
            arguments = tuple(self.argument(call, type, at in strings)
                              for at, type in enumerate(types[:printed]))
            for parts in formats:
                check_arguments(parts, arguments)
        except FormatError as error:
            raise self.function.error(f"printf: {error}", call) from None
        for at, argument in enumerate(arguments, start=1):
            if argument.kind == STRING:
                self.texts(call.operands[at], call, f"printf: argument {at}, which %s prints, must be a string "
                                                    "literal, or chosen between literals by ?:")
        return arguments

    def argument(self, call: Instruction, type: Type, is_string: bool) -> Argument:
        element = type.fields[0] if type.kind == "vector" else type
        lanes = type.count if type.kind == "vector" else 1
        if type.kind == "ptr" and not type.is_by_value:
            return Argument(STRING if is_string and type.space == _TEXT_SPACE else "pointer")
        names = {"int": _INTEGERS, "float": _FLOATS}.get(element.kind, {})
        if element.bits not in names:
            raise self.function.error("printf prints numbers, vectors of them, pointers and strings, but no value of "
                                      "another type", call)
        return Argument(names[element.bits], lanes)

    def texts(self, value: Value, call: Instruction, otherwise: str) -> list[str]:
        """The texts that ``value`` may be; the error says ``otherwise`` if they are not known."""
        found: dict[str, None] = {}
        seen: set[Value] = set()
        ahead = [value]
        while ahead:
            value = ahead.pop(0)
            if value in seen:
                continue
            seen.add(value)
            choice = self.defined.of(value)
            if isinstance(value, Global) and (text := self.text(value)) is not None:
                found[text] = None
            elif choice is not None and choice.op in _CHOICES:
                ahead += choice.operands[choice.op is Op.SELECT:]
            else:
                raise self.function.error(otherwise, call)
        return list(found)

    def text(self, address: Global) -> str | None:
        """The text at an address, as far as it is UTF-8; its other bytes are surrogates."""
        variable = self.variables.get(address.name)
        if variable is None or variable.pointers or not 0 <= address.offset < len(variable.content):
            return None
        content, end, _ = variable.content[address.offset:].partition(b"\0")
        return content.decode("utf-8", "surrogateescape") if end else None

    def number_of(self, value: Value, number: Callable[[str], int], call: Instruction) -> Value:
        """The ``number`` of the text that ``value`` is, chosen where and as that is."""
        if isinstance(value, Global):
            text = self.text(value)
            assert text is not None
            return Constant(number(text))
        numbers: dict[str, str] = {}        # names of choices of numbers by those of the choices of texts

        def of(value: Value) -> Value:
            if not isinstance(value, Local):
                return self.number_of(value, number, call)
            if value.name not in numbers:
                choice = self.defined[value.name]
                name = numbers[value.name] = self.builder.name(value.name)
                copy = replace(choice.copy(), name=name, type=WORD)
                self.behind.setdefault(value.name, []).append(copy)
                self.obsolete.add(value.name)
                condition = choice.operands[:choice.op is Op.SELECT]
                copy.operands = [*condition, *map(of, choice.operands[len(condition):])]
                copy.types = [*choice.types[:len(condition)], *[WORD] * (len(choice.operands) - len(condition))]
            return Local(numbers[value.name])

        return of(value)

    def drop_obsolete(self) -> None:
        """Remove what nobody needs any more: texts would take room as tables."""
        needed = {operand.name for i in self.function.instructions() if i.name not in self.obsolete
                  for operand in i.operands if isinstance(operand, Local)}
        ahead = list(needed & self.obsolete)
        while ahead:
            for operand in self.defined[ahead.pop()].operands:
                if isinstance(operand, Local) and operand.name in self.obsolete and operand.name not in needed:
                    needed.add(operand.name)
                    ahead.append(operand.name)
        dead = self.obsolete - needed
        for block in self.function.blocks.values():
            block.instructions = [i for i in block.instructions if i.name not in dead]
