"""The program as the functional engine runs it: decoded once, each instruction with its behaviour looked up."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fgpu.config import Config
from fgpu.errors import EncodingError, KernelFault, SimulationError
from fgpu.fault import FaultCause
from fgpu.isa import Immediate, Instruction, Operands, Space, Unit, decode
from fgpu.sim.places import Places

from .floats import float_operations
from .operations import OPERATIONS

__all__ = ["Program", "Step", "check_length"]


@dataclass(frozen=True)
class Step:
    """One decoded instruction at its place."""

    pc: int
    row: Instruction
    operands: Operands

    @cached_property
    def immediate(self) -> np.uint32:
        """The immediate as the 32-bit operand that the execution unit sees."""
        return np.uint32(self.operands.imm & 0xFFFF_FFFF)

    @cached_property
    def is_control(self) -> bool:
        """The instruction decides where its wavefront goes on."""
        return self.row.unit in (Unit.CONTROL, Unit.RETURN)

    @cached_property
    def is_local(self) -> bool:
        """The instruction accesses local memory."""
        return self.row.space is Space.LOCAL

    @cached_property
    def has_immediate(self) -> bool:
        """The second operand is the immediate."""
        return self.row.immediate_kind is not Immediate.NONE

    @property
    def target(self) -> int:
        """Where a taken branch or a call goes."""
        return self.pc + self.operands.imm + (1 if self.row.is_branch else 0)


def check_length(words: Sequence[int], config: Config) -> None:
    """Refuse a program for which the code RAM has no room."""
    if len(words) > config.cram_words:
        raise SimulationError(f"the program has {len(words)} words; this configuration's code RAM holds "
                              f"{config.cram_words} (cram_size={config.cram_size} KiB)")


class Program:
    """Instruction words at the start of the code RAM."""

    def __init__(self, places: Places, config: Config) -> None:
        words = places.words
        check_length(words, config)
        self.words = [int(word) for word in words]
        self.places = places
        self._config = config
        self.operations = OPERATIONS | float_operations(config.float_subnormals)
        """By mnemonic: what the register-to-register instructions compute."""
        self._steps: list[Step | None] = [None] * len(words)

    def __len__(self) -> int:
        return len(self.words)

    def step(self, pc: int) -> Step:
        """The instruction at ``pc``; raises :class:`KernelFault` if there is none that can run."""
        if pc not in range(len(self)):
            raise KernelFault(f"PC {pc} is outside the program of {len(self)} words", FaultCause.INSTRUCTION_ADDRESS)
        step = self._steps[pc]
        if step is None:
            step = self._steps[pc] = self._decoded(pc)
        return step

    def _decoded(self, pc: int) -> Step:
        try:
            row, operands = decode(self.words[pc])
        except EncodingError as error:
            raise KernelFault(f"PC {pc}: {error}", FaultCause.ILLEGAL_INSTRUCTION) from None
        lacking = self._config.lacks(row)
        if lacking is not None:
            raise KernelFault(f"{self.places.at(pc)}: this configuration lacks {lacking}",
                              FaultCause.ILLEGAL_INSTRUCTION)
        return Step(pc, row, operands)
