"""Control without annotations (Collange, Daumas, Defour and Parello, 2009, section 5.2).

Two stacks, of those that wait at the targets of forward branches (I) and behind loops (L). The next PC is compared
with the tops: equal, both go on together; greater, they change places. The paper keeps the masks of all that part;
here these are the ones that wait, which is the same but says what becomes of those that return. What it leaves open
is completed: a path that passes the end of a loop by a ``break`` changes places with those that wait there, too, and
each call has stacks of its own.
"""

from dataclasses import dataclass, field

from .interface import Path, Paths

__all__ = ["Implicit"]


@dataclass
class _Level:
    """Both stacks of a call, and where it returns to."""

    back: Path | None = None
    forward: list[Path] = field(default_factory=list)
    loops: list[Path] = field(default_factory=list)

    @property
    def lowest(self) -> list[Path] | None:
        """The stack whose top has the lower PC."""
        stacks = [stack for stack in (self.forward, self.loops) if stack]
        return min(stacks, key=lambda stack: stack[-1].pc, default=None)


class Implicit(Paths):
    """Stacks I and L."""

    def __init__(self, mask: int, depth: int) -> None:
        super().__init__(mask, depth)
        self._levels = [_Level()]

    @property
    def watch(self) -> int | None:
        """Of the lower of both tops."""
        stack = self._levels[-1].lowest
        return stack[-1].pc if stack else None

    def join(self, pc: int) -> int:
        """Meet those on top, or change places with them."""
        stack = self._levels[-1].lowest
        assert stack is not None
        top = stack[-1]
        if top.pc == pc:
            self.mask |= stack.pop().mask
        else:
            stack[-1] = Path(pc, self.mask)
            self.mask = top.mask
        return top.pc

    def branch(self, pc: int, taken: int, target: int, following: int) -> int:
        """Forward: those that do not jump go on; backward: those that do."""
        others, level = self.mask & ~taken, self._levels[-1]
        if target > pc:
            level.forward.append(Path(target, taken))
            self.mask = others
        else:
            if level.loops and level.loops[-1].pc == following:
                level.loops[-1].mask |= others
            else:
                level.loops.append(Path(following, others))
            self.mask = taken
        self._count()
        return following if target > pc else target

    def _count(self) -> None:
        for kind in ("forward", "loops"):       # a call has an entry of each
            self.entries(sum(len(getattr(level, kind)) + 1 for level in self._levels) - 1)

    def call(self, target: int, following: int) -> int:
        self._levels.append(_Level(Path(following, self.mask)))
        self._count()
        return target

    def ret(self) -> int | None:
        pc = self.park()
        if pc is None and self._levels[-1].back is not None:
            back = self._levels.pop().back
            assert back is not None
            pc, self.mask = back.pc, back.mask
        return pc

    def park(self) -> int | None:
        stack = self._levels[-1].lowest
        if stack is None:
            return None
        path = stack.pop()
        self.mask = path.mask
        return path.pc
