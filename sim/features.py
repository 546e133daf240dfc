"""Whether a program keeps to the instructions that a configuration has in hardware."""

from functools import lru_cache

from fgpu.config import Config
from fgpu.errors import LaunchError
from fgpu.isa import Instruction, Opcode, Operands, Unit, decode

__all__ = ["check_built"]


@lru_cache(maxsize=256)
def check_built(words: tuple[int, ...], entry: int, config: Config) -> None:
    """Refuse a program that can come from ``entry`` to an instruction that ``config`` does not build.

    The hardware would hang or compute nonsense there. Raises :class:`~fgpu.errors.LaunchError`.
    """
    seen: set[int] = set()
    ahead = [entry]
    while ahead:
        pc = ahead.pop()
        if pc in seen or pc not in range(len(words)):
            continue
        seen.add(pc)
        row, operands = decode(words[pc])
        lacking = config.lacks(row)
        if lacking is not None:
            raise LaunchError(f"instruction {pc} ({row.mnemonic}) needs {lacking}, which this configuration lacks")
        ahead += _successors(pc, row, operands)


def _successors(pc: int, row: Instruction, operands: Operands) -> list[int]:
    if row.opcode is Opcode.RET:
        return []
    if row.unit is not Unit.CONTROL:
        return [pc + 1]
    if not row.is_branch:
        return [pc + operands.imm, pc + 1]
    taken, following = pc + 1 + operands.imm, pc + 1
    if operands.rd == operands.rs:  # a jump, or nothing at all
        return [taken] if row.mnemonic == "beq" else [following]
    return [taken, following]
