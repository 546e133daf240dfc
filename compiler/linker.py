"""The words of a program: its functions one after the other, and which of them may be called."""

from collections.abc import Iterable
from dataclasses import dataclass

from fgpu.config import Config

from .backend.emit import emit
from .backend.mir import Callee, MachineFunction
from .ir.module import Location
from .legalize.printf import FormatTable
from .legalize.tables import DataMark, DataSegment

__all__ = ["Linker", "Mark"]


@dataclass(frozen=True)
class Mark:
    """What a :class:`Linker` holds at some time."""

    words: int
    entries: int
    callees: dict[str, Callee]
    data: DataMark


class Linker:
    """Collects ``words``, the functions that others may call in ``callees``, the ``data`` that all of them
    read, and the ``formats`` that they print."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.words: list[int] = []
        self.lines: dict[int, Location] = {}
        """Where in the source the words are, of those that are somewhere."""
        self.data = DataSegment()
        self.formats = FormatTable()
        self.callees: dict[str, Callee] = {}
        self._entries: list[int] = []

    def start_source(self, kept: Iterable[str]) -> None:
        """What follows is another source, which may call only those functions that are ``kept``."""
        self.callees = {name: self.callees[name] for name in kept}
        self.data.start_source()

    def mark(self) -> Mark:
        """What :meth:`roll_back` comes back to."""
        return Mark(len(self.words), len(self._entries), dict(self.callees), self.data.mark())

    def roll_back(self, mark: Mark) -> None:
        """Forget what came after ``mark``."""
        del self.words[mark.words:]
        del self._entries[mark.entries:]
        self.lines = {word: line for word, line in self.lines.items() if word < mark.words}
        self.callees = dict(mark.callees)
        self.data.roll_back(mark.data)

    def forget_callers_of(self, register: int) -> None:
        """Let no function be called that changes ``register``."""
        self.callees = {name: callee for name, callee in self.callees.items() if register not in callee.clobbers}

    def place(self, function: MachineFunction) -> int:
        """Append the words of ``function``, whose registers are physical; returns the index of the first."""
        entry = len(self.words)
        self.words += emit(function, entry, self._entries, self.lines, scheme=self.config.divergence)
        return entry

    def define(self, name: str, entry: int, parameters: int, clobbers: frozenset[int], is_pure: bool,
               scratchpad: int, depth: int) -> Callee:
        """Let the function at ``entry`` be called by its name."""
        callee = self.callees[name] = Callee(len(self._entries), parameters, clobbers, is_pure, scratchpad, depth)
        self._entries.append(entry)
        return callee
