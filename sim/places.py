"""What messages say of the places in a program: of which kernel, the source line, the instruction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fgpu.compiler.ir.module import Location
from fgpu.errors import EncodingError
from fgpu.isa import Unit, decode

__all__ = ["Places"]


@dataclass(frozen=True)
class Places:
    """The code ``words`` of a program, of which ``kernel`` runs, and the source ``lines`` of those that have one."""

    words: Sequence[int]
    kernel: str = ""
    lines: Mapping[int, Location] = field(default_factory=dict)

    @property
    def whose(self) -> str:
        """The kernel."""
        return f"kernel {self.kernel!r}" if self.kernel else "the kernel"

    def at(self, pc: int) -> str:
        """``k.cl:12: PC 7: sw r1, r2[r3]``; without the line if there is none."""
        from fgpu.compiler.assembler.disassembler import instruction_text  # needed in trouble only

        if pc not in range(len(self.words)):
            return f"PC {pc}, behind the program of {len(self.words)} words"
        text = f"PC {pc}: {instruction_text(int(self.words[pc]), pc)}"
        return f"{self.lines[pc]}: {text}" if pc in self.lines else text

    def named(self, pc: int) -> str:
        """The same behind the name of the kernel."""
        return f"{self.whose}{', ' if pc in self.lines else ': '}{self.at(pc)}"

    def awaited(self, pc: int) -> int | None:
        """The load for whose data the instruction at ``pc`` waits, as far as it is known: of those since the last
        branch the last that brings a register of it, or the last one."""
        try:
            _, wanting = decode(int(self.words[pc]))
            loads = []
            for before in range(pc - 1, -1, -1):
                row, operands = decode(int(self.words[before]))
                if row.unit in (Unit.CONTROL, Unit.RETURN):
                    break
                if row.is_load or row.atomic is not None:
                    loads.append((before, operands.rd))
        except (IndexError, EncodingError):
            return None
        return next((at for at, register in loads if register in (wanting.rd, wanting.rs, wanting.rt)),
                    loads[0][0] if loads else None)
