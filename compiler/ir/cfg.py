"""Control flow of a function, whatever its blocks hold: order, dominators, loops."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

__all__ = ["Flow", "Loop"]


@dataclass(eq=False)
class Loop:
    """A natural loop; ``preheader`` is the only block outside that enters it, None if there are several."""

    header: str
    blocks: set[str] = field(default_factory=set)
    latches: list[str] = field(default_factory=list)
    preheader: str | None = None


class Flow:
    """Analysis of a graph of blocks given as name -> successors; the first name is the entry.

    ``order`` is a reverse post-order of the reachable blocks, ``idom`` the immediate dominators.
    """

    def __init__(self, successors: Mapping[str, Sequence[str]]) -> None:
        self.successors = successors
        self.entry = next(iter(successors))
        self.order = self._reverse_post_order()
        self.number = {name: at for at, name in enumerate(self.order)}
        self.predecessors: dict[str, list[str]] = {name: [] for name in self.order}
        for name in self.order:
            for successor in dict.fromkeys(successors[name]):
                self.predecessors[successor].append(name)
        self.idom = self._dominators()

    def _reverse_post_order(self) -> list[str]:
        finished: list[str] = []
        seen = {self.entry}
        stack = [(self.entry, iter(self.successors[self.entry]))]
        while stack:
            name, rest = stack[-1]
            for successor in rest:
                if successor not in seen:
                    seen.add(successor)
                    stack.append((successor, iter(self.successors[successor])))
                    break
            else:
                finished.append(name)
                stack.pop()
        return finished[::-1]

    def _dominators(self) -> dict[str, str]:
        """Cooper, Harvey and Kennedy's iteration."""
        idom = {self.entry: self.entry}
        changed = True
        while changed:
            changed = False
            for name in self.order[1:]:
                known = [p for p in self.predecessors[name] if p in idom]
                # The deepest first, as what they have in common is near them, and so on: many ways may join here.
                known.sort(key=lambda p: -self.number[idom[p]])
                new = known[0]
                for other in known[1:]:
                    new = self._common(idom, new, other)
                if idom.get(name) != new:
                    idom[name] = new
                    changed = True
        return idom

    def _common(self, idom: Mapping[str, str], a: str, b: str) -> str:
        while a != b:
            while self.number[a] > self.number[b]:
                a = idom[a]
            while self.number[b] > self.number[a]:
                b = idom[b]
        return a

    def common_dominator(self, a: str, b: str) -> str:
        """The last block that is on every path to ``a`` and on every path to ``b``."""
        while not self.dominates(a, b):
            a = self.idom[a]
        return a

    def dominates(self, a: str, b: str) -> bool:
        """Whether every path to ``b`` goes through ``a``."""
        first, last = self._spans[a]
        return first <= self._spans[b][0] <= last

    def span(self, name: str) -> tuple[int, int]:
        """A block's number in an order in which those that it dominates follow it, and the last number of those."""
        return self._spans[name]

    @cached_property
    def _spans(self) -> dict[str, tuple[int, int]]:
        dominated: dict[str, list[str]] = {name: [] for name in self.order}
        for name in self.order[1:]:
            dominated[self.idom[name]].append(name)
        spans: dict[str, tuple[int, int]] = {}
        above: list[tuple[str, int, Iterator[str]]] = [(self.entry, 0, iter(dominated[self.entry]))]
        count = 1
        while above:
            name, first, rest = above[-1]
            if (below := next(rest, None)) is None:
                spans[name] = first, count - 1
                above.pop()
            else:
                above.append((below, count, iter(dominated[below])))
                count += 1
        return spans

    @cached_property
    def depth(self) -> dict[str, int]:
        """The number of loops around each block."""
        depth = dict.fromkeys(self.order, 0)
        for loop in self.loops:
            for name in loop.blocks:
                depth[name] += 1
        return depth

    def reached(self, names: Iterable[str], end: str, within: Container[str] | None = None) -> set[str]:
        """The blocks to which ``names`` lead before ``end``, and those; only through blocks ``within``, if given."""
        return set(self.walk(names, end, within))

    def walk(self, names: Iterable[str], end: str, within: Container[str] | None = None) -> Iterator[str]:
        """The same blocks, one after the other."""
        found: set[str] = set()
        todo = list(names)
        while todo:
            name = todo.pop()
            if name != end and name not in found and (within is None or name in within):
                found.add(name)
                yield name
                todo += self.successors[name]

    @cached_property
    def loops(self) -> list[Loop]:
        """The natural loops, innermost first."""
        found: dict[str, Loop] = {}
        for name in self.order:
            for header in self.successors[name]:
                if self.dominates(header, name):
                    loop = found.setdefault(header, Loop(header, {header}))
                    loop.latches.append(name)
                    todo = [name]
                    while todo:
                        block = todo.pop()
                        if block not in loop.blocks:
                            loop.blocks.add(block)
                            todo += self.predecessors[block]
        for loop in found.values():
            outside = [p for p in self.predecessors[loop.header] if p not in loop.blocks]
            if len(outside) == 1:
                loop.preheader = outside[0]
        return sorted(found.values(), key=lambda loop: len(loop.blocks))
