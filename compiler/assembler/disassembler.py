"""Disassembler: words to text that assembles to the same words."""

from collections.abc import Iterable
from pathlib import PurePath

from fgpu.errors import EncodingError
from fgpu.isa import Instruction, Opcode, Operands, decode, encode

from ..image import Image
from ..ir.module import Location
from .source import Sources
from .syntax import OPERANDS, TARGET_BASE

__all__ = ["disassemble", "instruction_text"]

_MNEMONIC_WIDTH = 6
_SOURCE_COLUMN = 36


def disassemble(program: Image | Iterable[int], kernel: str | None = None, sources: Sources | None = None) -> str:
    """Text of an image or of bare words, with labels where branches go and a directive where kernels start.

    A word whose free bits are not zero comes out as ``.word``, with the instruction as a comment. ``kernel`` selects
    one kernel and the subroutines that it calls. With ``sources`` each instruction whose source line is not that of
    the one before it has that line beside it, as a comment; the first lines tell of sources that are not there.
    Raises :class:`~fgpu.errors.ImageError` if there is no such kernel.
    """
    image = program if isinstance(program, Image) else Image.from_words(program)
    decoded = [decode(word) for word in image.words]
    targets = {at: at + TARGET_BASE[row.format] + operands.imm
               for at, (row, operands) in enumerate(decoded) if row.format in TARGET_BASE}
    labels = {target: f"L{target}" for target in targets.values() if target in range(len(decoded))}
    shown = range(len(decoded)) if kernel is None else _reached(image.kernel(kernel).entry, decoded, targets)
    starts: dict[int, list[str]] = {}
    for name in image.kernels if kernel is None else [kernel]:
        starts.setdefault(image.kernels[name].entry, []).append(name)
    beside = _Beside(image, sources) if sources is not None else None
    lines = []
    for at in shown:
        row, operands = decoded[at]
        lines += [f".kernel {name}" for name in starts.get(at, ())]
        if at in labels:
            lines.append(f"{labels[at]}:")
        text = _text(row, operands, labels.get(targets.get(at, 0), str(targets.get(at, 0))))
        if encode(row.opcode, operands) != image.words[at]:
            text = f".word 0x{image.words[at]:08X}  ; {text}"
        source = beside.source(at, at in labels or at in starts) if beside is not None else ""
        lines.append(f"    {text:{_SOURCE_COLUMN}}; {source}" if source else f"    {text}")
    return "\n".join([*(beside.remarks() if beside is not None else []), *lines]) + "\n"


def instruction_text(word: int, pc: int) -> str:
    """Assembly text of one instruction at ``pc``; ``.word 0x...`` where the word is none."""
    try:
        row, operands = decode(word)
    except EncodingError:
        return f".word 0x{word:08X}"
    return _text(row, operands, str(pc + TARGET_BASE.get(row.format, 0) + operands.imm), width=0)


def _text(row: Instruction, operands: Operands, target: str, width: int = _MNEMONIC_WIDTH) -> str:
    text = OPERANDS[row.format].format(
        rd=f"r{operands.rd}", rs=f"r{operands.rs}", rt=f"r{operands.rt}", imm=operands.imm, target=target)
    return f"{row.mnemonic:{width}} {text}".rstrip()


def _reached(entry: int, decoded: list[tuple[Instruction, Operands]], targets: dict[int, int]) -> list[int]:
    """The words that a kernel may come to from its ``entry``."""
    found: set[int] = set()
    todo = [entry]
    while todo:
        at = todo.pop()
        if at in found or at not in range(len(decoded)):
            continue
        found.add(at)
        row, operands = decoded[at]
        if at in targets:
            todo.append(targets[at])
        is_jump = row.opcode is Opcode.BEQ and operands.rd == operands.rs
        if row.opcode is not Opcode.RET and not is_jump:
            todo.append(at + 1)
    return sorted(found)


class _Beside:
    """What stands beside the instructions of an image."""

    def __init__(self, image: Image, sources: Sources) -> None:
        self._image = image
        self._sources = sources
        self._last: Location | None = None
        files = dict.fromkeys(location.file for location in image.lines.values())
        names = {file: PurePath(file).name for file in files}
        is_unique = len(set(names.values())) == len(names)
        self._names = {file: _one_line(names[file] if is_unique else file) for file in files}

    def source(self, at: int, is_start: bool) -> str:
        """The source line of word ``at``, unless it is that of the word before and nothing but that leads there."""
        location, before = self._image.lines.get(at), self._last
        self._last = location
        if location is None:
            return "-" if before is not None else ""
        if location == before and not is_start:
            return ""
        return f"{self._names[location.file]}:{location.line}  {self._sources.line(location)}".rstrip()

    def remarks(self) -> list[str]:
        """What of the sources is not there, as comments."""
        if not self._image.lines:
            return ["; the image has no line table"]
        return [*(f"; {_one_line(file)} is not there: lines by their numbers only" for file in self._sources.missing),
                *(f"; {_one_line(file)} is newer than the image: its lines may be others" for file in
                  self._sources.newer)]


def _one_line(text: str) -> str:
    return " ".join(text.split())
