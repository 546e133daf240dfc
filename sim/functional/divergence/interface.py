"""What every scheme of divergence has in common: the paths of one wavefront, of which one runs.

A path is some work-items and the PC at which they go on. Masks are integers, bit i for work-item i.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

__all__ = ["FullStack", "Path", "Paths"]


class FullStack(Exception):
    """A wavefront needs more entries than it has."""


@dataclass
class Path:
    """Work-items that wait to go on at ``pc``."""

    pc: int
    mask: int


class Paths(ABC):
    """A wavefront, as a scheme sees it. ``mask`` are the work-items of the path that runs.

    It has ``depth`` entries for those that wait; ``deepest`` says how many it needed. ``place`` is where those who
    part at the next branch meet, if the program says so. ``joins`` counts how often paths met, or one went on for
    another; schemes that execute an instruction for that (``joins_are_issued``) have it among their instructions.
    """

    joins_are_issued: ClassVar[bool] = False
    stops_behind: ClassVar[bool] = True
    """A path does not pass the PC of :attr:`watch`."""

    def __init__(self, mask: int, depth: int) -> None:
        self.mask = mask
        self.depth = depth
        self.place: int | None = None
        self.deepest = self.joins = self.join_items = 0

    @property
    def watch(self) -> int | None:
        """The lowest PC at which :meth:`settle` may change something; None: nowhere."""
        return None

    def settle(self, pc: int) -> int:
        """Where the wavefront goes on when the path that runs has come to ``pc``."""
        while self.is_due(pc):
            self.joins += 1
            self.join_items += self.mask.bit_count()
            pc = self.join(pc)
        return pc

    def is_due(self, pc: int) -> bool:
        """Whether paths meet at ``pc``, or another one is to run first."""
        watch = self.watch
        return watch is not None and (watch <= pc if self.stops_behind else watch == pc)

    @abstractmethod
    def join(self, pc: int) -> int:
        """Where the wavefront goes on then: a step of :meth:`settle`."""

    def entries(self, count: int) -> None:
        """So many are needed now; raises :class:`FullStack` if there are fewer."""
        if count > self.depth:
            raise FullStack
        self.deepest = max(self.deepest, count)

    @abstractmethod
    def branch(self, pc: int, taken: int, target: int, following: int) -> int:
        """A branch at which work-items part; where to go on."""

    @abstractmethod
    def call(self, target: int, following: int) -> int:
        """All of the path that runs call a subroutine."""

    @abstractmethod
    def ret(self) -> int | None:
        """All of the path that runs return from a subroutine; or end, with no call left. Where others go on, or, if
        none is left, the work-items of the call; None: nobody goes on."""

    @abstractmethod
    def park(self) -> int | None:
        """All of the path that runs have come to a barrier. Where others go on; None: nobody goes on."""
