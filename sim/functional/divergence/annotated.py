"""Schemes by which work-items meet where the compiler says, with a ``meet`` before the branch.

A place at which nothing is to be done, as no work-items parted, counts nothing.
"""

from dataclasses import dataclass, field

from .interface import Path, Paths

__all__ = ["Counters", "Ipdom", "Tokens"]


@dataclass
class _Meeting:
    """Work-items that will meet at ``pc``: the paths that have still to come, and those that are there."""

    pc: int | None
    waiting: list[Path] = field(default_factory=list)
    there: int = 0


@dataclass
class _Level:
    """A call: where it returns to, and meetings, the innermost last. The first one is its end."""

    back: Path | None = None
    meetings: list[_Meeting] = field(default_factory=lambda: [_Meeting(None)])


class _Annotated(Paths):
    """A stack of meetings."""

    stops_behind = False

    def __init__(self, mask: int, depth: int) -> None:
        super().__init__(mask, depth)
        self._levels = [_Level()]

    @property
    def calls(self) -> int:
        """How many calls there are around the path that runs."""
        return len(self._levels) - 1

    def _taken_first(self, taken: int, others: int) -> bool:
        raise NotImplementedError

    @property
    def watch(self) -> int | None:
        """Of the innermost meeting."""
        return self._levels[-1].meetings[-1].pc

    def join(self, pc: int) -> int:
        """At the place of the innermost meeting: others come first, or all go on."""
        meetings = self._levels[-1].meetings
        meeting = meetings[-1]
        meeting.there |= self.mask
        if meeting.waiting:
            path = meeting.waiting.pop()
            self.mask = path.mask
            return path.pc
        meetings.pop()
        self.mask = meeting.there
        return pc

    def branch(self, pc: int, taken: int, target: int, following: int) -> int:
        """One side goes first, the other one waits."""
        meetings, place = self._levels[-1].meetings, self.place
        self.place = None
        if place is not None and meetings[-1].pc != place:
            meetings.append(_Meeting(place))
        first, second = Path(target, taken), Path(following, self.mask & ~taken)
        if not self._taken_first(taken, second.mask):
            first, second = second, first
        if second.pc == meetings[-1].pc:
            meetings[-1].there |= second.mask
        else:
            meetings[-1].waiting.append(second)
        self.mask = first.mask
        self._count()
        return first.pc

    def _count(self) -> None:
        inside = (sum(1 + len(meeting.waiting) for meeting in level.meetings) - 1 for level in self._levels)
        calls = sum(1 if level.meetings[-1].pc is None else 2 for level in self._levels[:-1])
        self.entries(sum(inside) + calls)

    def call(self, target: int, following: int) -> int:
        self._levels.append(_Level(Path(following, self.mask)))
        self._count()
        return target

    def ret(self) -> int | None:
        pc = self.park()
        if pc is None and (back := self._levels[-1].back) is not None:
            self._levels.pop()
            self.mask, pc = back.mask, back.pc
        return pc

    def park(self) -> int | None:
        meetings = self._levels[-1].meetings
        while meetings:
            meeting = meetings[-1]
            if meeting.waiting:
                path = meeting.waiting.pop()
                self.mask = path.mask
                return path.pc
            if meeting.pc is None:
                return None
            meetings.pop()
            if meeting.there:
                self.mask = meeting.there
                return meeting.pc
        raise AssertionError("a level has an end")


class Ipdom(_Annotated):
    """A branch pushes the place of the meeting and the larger part, as the cores Vortex and Ventus do. A path that
    comes to the place executes a ``join``."""

    joins_are_issued = True

    def _taken_first(self, taken: int, others: int) -> bool:
        return taken.bit_count() < others.bit_count()


class Tokens(_Annotated):
    """SYNC and DIV tokens (section 5.1 of the comparison of 2009, after NVIDIA's patent US 7,353,369): a branch
    pushes SYNC and DIV, those that jump go first, and each path that comes to a ``join`` executes it."""

    joins_are_issued = True

    def _taken_first(self, taken: int, others: int) -> bool:
        return True


class Counters(_Annotated):
    """If, else, endif, do, while and break, with a counter a lane (the same, Intel): the places are the ends of
    structures, to which who returns on the way does not count; the others meet there all the same. Calls have levels
    of their own, as AMD's. Each ``else`` and ``endif`` is an instruction."""

    joins_are_issued = True

    def _taken_first(self, taken: int, others: int) -> bool:
        return False
