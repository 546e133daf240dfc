"""Disassembler: words to text that assembles to the same words."""

from collections.abc import Iterable

from fgpu.isa import Format, Operands, decode, encode

from ..image import Image
from .syntax import OPERANDS, TARGET_BASE

__all__ = ["disassemble"]

_MNEMONIC_WIDTH = 6


def disassemble(program: Image | Iterable[int]) -> str:
    """Text of an image or of bare words, with labels where branches go and a directive where kernels start.

    A word whose free bits are not zero comes out as ``.word``, with the instruction as a comment.
    """
    image = program if isinstance(program, Image) else Image.from_words(program)
    decoded = [decode(word) for word in image.words]
    targets = {at: at + TARGET_BASE[row.format] + operands.imm
               for at, (row, operands) in enumerate(decoded) if row.format in TARGET_BASE}
    labels = {target: f"L{target}" for target in targets.values() if target in range(len(decoded))}
    starts: dict[int, list[str]] = {}
    for kernel in image.kernels.values():
        starts.setdefault(kernel.entry, []).append(kernel.name)
    lines = []
    for at, (row, operands) in enumerate(decoded):
        lines += [f".kernel {name}" for name in starts.get(at, ())]
        if at in labels:
            lines.append(f"{labels[at]}:")
        text = f"{row.mnemonic:{_MNEMONIC_WIDTH}} {_operands(row.format, operands, at, targets, labels)}".rstrip()
        if encode(row.opcode, operands) != image.words[at]:
            text = f".word 0x{image.words[at]:08X}  ; {text}"
        lines.append(f"    {text}")
    return "\n".join(lines) + "\n"


def _operands(format: Format, operands: Operands, at: int, targets: dict[int, int], labels: dict[int, str]) -> str:
    target = targets.get(at, 0)
    return OPERANDS[format].format(
        rd=f"r{operands.rd}", rs=f"r{operands.rs}", rt=f"r{operands.rt}", imm=operands.imm,
        target=labels.get(target, str(target)),
    )
