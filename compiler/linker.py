"""The words of a program: its functions one after the other, and which of them may be called.

A call reaches half of the largest code RAM. What is further away is called at an *island*: a jump to it, or to
another island, before a function behind which it would be too far, or halfway in one that calls it or that is
itself longer than a call reaches.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fgpu.config import Config

from .backend.emit import emit, jump
from .backend.layout import REACH, lay_out
from .backend.mir import Callee, MachineFunction, Op
from .ir.module import Location
from .legalize.printf import FormatTable
from .legalize.tables import DataMark, DataSegment

__all__ = ["Linker", "Mark"]

_SLACK = 64
"""Words by which calls may be further away than it seemed, by jumps within the function, two each."""


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
        self._entries: list[list[int]] = []     # of each function, and islands that lead there

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
        self._entries = [[entry for entry in entries if entry < mark.words]
                         for entries in self._entries[:mark.entries]]
        self.lines = {word: line for word, line in self.lines.items() if word < mark.words}
        self.callees = dict(mark.callees)
        self.data.roll_back(mark.data)

    def forget(self, is_useless: Callable[[str, Callee], bool]) -> None:
        """Let no function be called that ``is_useless``."""
        self.callees = {name: callee for name, callee in self.callees.items() if not is_useless(name, callee)}

    def place(self, function: MachineFunction) -> int:
        """Append the words of ``function``, whose registers are physical; returns the index of the first."""
        layout = lay_out(function, self.config.divergence)
        further_on = [(len(layout.ops), callee.number) for callee in self.callees.values()]
        for number in self._far(further_on, len(self.words)):
            here = len(self.words)
            if self._nearest(number, here) - here in REACH:
                self.words += emit([self._island(number, here)], here, self._nearest)
        at = len(self.words)
        halfway = {f"island.{number}": number for number in self._far([*layout.calls, *further_on], at)}
        if halfway:
            layout.add_jumps([*halfway], len(layout.ops) // 2)
        layout.resolve()
        for label, number in halfway.items():
            here = layout.labels[label]
            layout.ops[here] = self._island(number, at + here)
        self.words += emit(layout.ops, at, self._nearest)
        self.lines |= {index: op.location for index, op in enumerate(layout.ops, at)
                       if op.location is not None and op.location.line > 0}
        return at

    def _far(self, calls: Iterable[tuple[int, int]], at: int) -> list[int]:
        """The numbers of functions that some ``calls`` of a function at word ``at`` would not reach, or not if they
        were somewhat further on by jumps that are inserted."""
        slack = 2 * len(self._entries) + _SLACK
        near = range(REACH.start + slack, REACH.stop - slack)
        return sorted({number for index, number in calls
                       if self._nearest(number, at + index) - (at + index) not in near})

    def _island(self, number: int, here: int) -> Op:
        """The instruction at word ``here`` that is an island for a function."""
        op = jump(here, self._nearest(number, here))
        self._entries[number].append(here)
        return op

    def _nearest(self, number: int, here: int) -> int:
        """Where to call a function from word ``here``."""
        return min(self._entries[number], key=lambda entry: abs(entry - here))

    def define(self, name: str, entry: int, parameters: int, clobbers: frozenset[int], is_pure: bool,
               scratchpad: int, depth: int, frame: int) -> Callee:
        """Let the function at ``entry`` be called by its name."""
        callee = self.callees[name] = Callee(len(self._entries), parameters, clobbers, is_pure, scratchpad, depth,
                                             frame)
        self._entries.append([entry])
        return callee
