"""Assembler: text with labels to an image."""

import re
from dataclasses import dataclass
from typing import Final

from fgpu.errors import AssemblyError, EncodingError, ImageError
from fgpu.isa import INSTRUCTION_BITS, Instruction, Operands, by_mnemonic, encode

from ..image import Image
from .syntax import OPERANDS, TARGET_BASE, pattern

__all__ = ["assemble"]

_COMMENT: Final = re.compile(r"(;|//|#).*")
_LABEL: Final = re.compile(r"\s*([A-Za-z_.$][\w.$]*)\s*:")
_NAME: Final = re.compile(r"[^\W\d]\w*")
_PATTERNS: Final = {format: pattern(format) for format in OPERANDS}


@dataclass
class _Line:
    """One word to be: its source line, and the instruction or the value of a ``.word``."""

    number: int
    row: Instruction | None
    fields: dict[str, str]


class _Assembler:
    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.number = 0
        self.lines: list[_Line] = []
        self.labels: dict[str, int] = {}
        self.kernels: dict[str, int] = {}

    def error(self, message: str, number: int | None = None) -> AssemblyError:
        return AssemblyError(f"{self.filename}:{number or self.number}: {message}")

    def read(self, text: str) -> None:
        for self.number, line in enumerate(text.splitlines(), start=1):
            line = _COMMENT.sub("", line)
            while match := _LABEL.match(line):
                self.define(self.labels, match[1], "label")
                line = line[match.end():]
            if line.strip():
                self.statement(*line.split(None, 1))

    def define(self, names: dict[str, int], name: str, what: str) -> None:
        if name in names:
            raise self.error(f"{what} {name!r} is defined twice")
        names[name] = len(self.lines)

    def statement(self, mnemonic: str, rest: str = "") -> None:
        rest = rest.strip()
        if mnemonic == ".kernel":
            if not _NAME.fullmatch(rest):
                raise self.error(f".kernel needs one name, not {rest!r}")
            self.define(self.kernels, rest, "kernel")
        elif mnemonic == ".word":
            self.lines.append(_Line(self.number, None, {"imm": rest}))
        elif mnemonic.startswith("."):
            raise self.error(f"unknown directive {mnemonic!r}; there are .kernel and .word")
        elif (row := by_mnemonic.get(mnemonic.lower())) is None:
            raise self.error(f"unknown instruction {mnemonic!r}")
        else:
            match = _PATTERNS[row.format].fullmatch(rest)
            if match is None:
                syntax = OPERANDS[row.format].replace("{", "").replace("}", "") or "nothing"
                raise self.error(f"{row.mnemonic} takes {syntax}, not {rest!r}")
            self.lines.append(_Line(self.number, row, match.groupdict()))

    def integer(self, text: str, line: _Line) -> int:
        try:
            return int(text, 0)
        except ValueError:
            raise self.error(f"expected a number, not {text!r}", line.number) from None

    def word(self, at: int, line: _Line) -> int:
        fields = line.fields
        if line.row is None:
            value = self.integer(fields["imm"], line)
            if value not in range(-(1 << INSTRUCTION_BITS - 1), 1 << INSTRUCTION_BITS):
                raise self.error(f".word {fields['imm']} does not fit in {INSTRUCTION_BITS} bits", line.number)
            return value % (1 << INSTRUCTION_BITS)
        numbers = {name: int(text) for name, text in fields.items() if name in ("rd", "rs", "rt")}
        if "imm" in fields:
            numbers["imm"] = self.immediate(line.row, self.integer(fields["imm"], line))
        elif "target" in fields:
            target = fields["target"]
            if target not in self.labels and not target.lstrip("-")[:1].isdigit():
                raise self.error(f"label {target!r} is not defined", line.number)
            index = self.labels[target] if target in self.labels else self.integer(target, line)
            numbers["imm"] = index - at - TARGET_BASE[line.row.format]
        try:
            return encode(line.row.opcode, Operands(**numbers))
        except EncodingError as error:
            raise self.error(str(error), line.number) from None

    @staticmethod
    def immediate(row: Instruction, value: int) -> int:
        """Bit patterns such as ``0xFFFF`` are fine where the instruction has a signed immediate as wide as that."""
        assert row.immediate is not None
        allowed = row.immediate_range
        if allowed[0] < 0 and allowed[-1] < value < 1 << row.immediate.width and row.immediate.width == 16:
            return value - (1 << row.immediate.width)
        return value


def assemble(text: str, filename: str = "<asm>") -> Image:
    """Assemble ``text``.

    One instruction a line, destination first, memory operands as ``base[index]``; ``name:`` is a label;
    ``.kernel NAME`` says that a kernel starts here, ``.word VALUE`` places a word; ``;``, ``//`` and ``#``
    start comments. A branch target is a label or the index of a word. Without ``.kernel`` the image has no
    kernel. Raises :class:`~fgpu.errors.AssemblyError` with ``file:line:`` in front.
    """
    assembler = _Assembler(filename)
    assembler.read(text)
    if not assembler.lines:
        raise AssemblyError(f"{filename}:{max(assembler.number, 1)}: there is no instruction in this text")
    words = [assembler.word(at, line) for at, line in enumerate(assembler.lines)]
    try:
        return Image.from_words(words, assembler.kernels)
    except ImageError as error:
        raise AssemblyError(f"{filename}:{assembler.number}: {error}") from None
