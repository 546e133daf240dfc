"""The engine that is hardware: launches on a board, over its serial line."""

import time
from collections.abc import Sequence

from fgpu.board.link import Link
from fgpu.board.protocol import CONTROL_BASE, BoardRegister
from fgpu.config import Config
from fgpu.errors import BoardError

from ..hardware import HardwareEngine
from .memory import BoardMemory

__all__ = ["BoardEngine", "config_of"]


def config_of(key: str) -> Config:
    """The configuration that has this ``key``. Raises :class:`~fgpu.errors.BoardError` for one of other versions."""
    try:
        return Config.from_key(key)
    except ValueError as error:
        raise BoardError(f"the board's core is of another version of fgpu: {key!r} ({error})") from None


class BoardEngine(HardwareEngine):
    """A core on a board. Cycles are those that the board has counted.

    ``config`` must be that of the board's core. Raises :class:`~fgpu.errors.BoardError` as
    :class:`~fgpu.board.link.Link` does, and for another core.
    """

    name = "board"
    memory: BoardMemory

    def __init__(self, config: Config, link: Link, memory: BoardMemory) -> None:
        super().__init__(config)
        self.link = link
        self.memory = memory
        self._counters: dict[str, int] = {}
        self._failures = 0      # before the launch

    def read_word(self, address: int) -> int:
        """A word of the control interface."""
        return self.link.read_word(CONTROL_BASE + address)

    def write_words(self, address: int, words: Sequence[int]) -> None:
        """Write words of the control interface; one by itself is written once, whatever the line does."""
        if len(words) == 1:
            self.link.write_word(CONTROL_BASE + address, words[0])
        else:
            self.link.write(CONTROL_BASE + address, b"".join(word.to_bytes(4, "little") for word in words))

    def take_memory(self) -> None:
        """Send what the host has written."""
        begin = time.perf_counter()
        self._failures = self.link.failures
        self._counters["line.bytes_sent"] = self.memory.send()
        self._counters["line.microseconds"] = round(1e6 * (time.perf_counter() - begin))
        self.memory.run()

    def counters(self) -> dict[str, int]:
        """What went over the line for a launch."""
        return self._counters | {"line.failures": self.link.failures - self._failures}

    def give_memory(self) -> None:
        """What the host looks at comes over the line then, unless others share the memory."""
        self.memory.receive()

    def cycles(self, seconds: float) -> int | None:
        """What the board has counted."""
        return self.link.read_register(BoardRegister.CYCLES)

    def is_late(self, max_cycles: int, seconds: float) -> bool:
        """By the board's count."""
        return self.link.read_register(BoardRegister.CYCLES) > max_cycles

    def close(self) -> None:
        """End the session with the board."""
        self.link.close()
