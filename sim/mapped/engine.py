"""The engine that is hardware beside this processor."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from fgpu.config import Config

from ..hardware import HardwareEngine
from .memory import MappedMemory

__all__ = ["Control", "Mapped", "MappedEngine"]


class Control(Protocol):
    """A control interface: words at byte addresses from 0 on. PYNQ's ``MMIO`` is one."""

    def read(self, offset: int) -> int:
        """A word."""
        ...

    def write(self, offset: int, word: int) -> object:
        """Write a word."""
        ...


def _nothing() -> None:
    pass


@dataclass
class Mapped:
    """A core and its memory, as this processor reaches them."""

    control: Control
    memory: MappedMemory
    clock: float = 50e6
    """Hz; only the limit of a launch depends on it."""
    close: Callable[[], None] = _nothing


class MappedEngine(HardwareEngine):
    """A core that is mapped. Nobody counts its cycles; a launch's limit is the time that they take."""

    name = "mapped"
    memory: MappedMemory

    def __init__(self, config: Config, mapped: Mapped) -> None:
        super().__init__(config)
        self.memory = mapped.memory
        self._mapped = mapped

    def read_word(self, address: int) -> int:
        """A word of the control interface."""
        return int(self._mapped.control.read(address))

    def write_words(self, address: int, words: Sequence[int]) -> None:
        """Write words of the control interface."""
        for index, word in enumerate(words):
            self._mapped.control.write(address + 4 * index, word)

    def take_memory(self) -> None:
        """Write back what this processor's caches hold."""
        self.memory.flush()

    def give_memory(self) -> None:
        """Forget what this processor's caches hold."""
        self.memory.invalidate()

    def cycles(self, seconds: float) -> int | None:
        """Unknown."""
        return None

    def is_late(self, max_cycles: int, seconds: float) -> bool:
        """By the clock's frequency."""
        return seconds * self._mapped.clock > max_cycles

    def close(self) -> None:
        """Unmap it."""
        self._mapped.close()
