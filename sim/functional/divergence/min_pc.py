"""The path with the lowest PC runs: paths meet wherever one comes to the PC of another.

They are kept as Simty's are (Collange, 2017): in order of calls and PCs, those of the innermost call on top and the
lowest PC first.
"""

from dataclasses import dataclass

from .interface import Path, Paths

__all__ = ["MinPc"]


@dataclass
class _Entry(Path):
    is_call: bool = False


class MinPc(Paths):
    """The hardware's: one stack, on which calls lie below the paths inside them."""

    def __init__(self, mask: int, depth: int) -> None:
        super().__init__(mask, depth)
        self._stack: list[_Entry] = []

    @property
    def _top(self) -> _Entry | None:
        """The path that runs next."""
        return self._stack[-1] if self._stack and not self._stack[-1].is_call else None

    @property
    def watch(self) -> int | None:
        """Of the path that runs next."""
        return self._top.pc if self._top is not None else None

    def _insert(self, pc: int, mask: int) -> None:
        at = len(self._stack)
        while at and not self._stack[at - 1].is_call and self._stack[at - 1].pc < pc:
            at -= 1
        if at and not self._stack[at - 1].is_call and self._stack[at - 1].pc == pc:
            self._stack[at - 1].mask |= mask
            return
        self.entries(len(self._stack) + 1)
        self._stack.insert(at, _Entry(pc, mask))

    def join(self, pc: int) -> int:
        """Meet the next path, or let it go first."""
        top = self._stack.pop()
        if top.pc == pc:
            self.mask |= top.mask
        else:
            self._insert(pc, self.mask)
            self.mask = top.mask
        return top.pc

    def branch(self, pc: int, taken: int, target: int, following: int) -> int:
        """The lower of both goes on."""
        others = self.mask & ~taken
        lower, higher = Path(following, others), Path(target, taken)
        if target < following:
            lower, higher = higher, lower
        self._insert(higher.pc, higher.mask)
        self.mask = lower.mask
        return lower.pc

    def call(self, target: int, following: int) -> int:
        self.entries(len(self._stack) + 1)
        self._stack.append(_Entry(following, self.mask, is_call=True))
        return target

    def ret(self) -> int | None:
        return self._pop() if self._stack else None

    def park(self) -> int | None:
        return self._pop() if self._top is not None else None

    def _pop(self) -> int:
        entry = self._stack.pop()
        self.mask = entry.mask
        return entry.pc
