"""Register allocation: Chaitin and Briggs's graph colouring, with aggressive coalescing."""

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from fgpu.errors import CapacityError
from fgpu.isa import REGISTER_COUNT

from ..select.frame import frame_register
from .liveness import live_out
from .mir import COLOURS, ZERO, MachineBlock, MachineFunction, Op, Pseudo
from .spill import spill

__all__ = ["allocate"]

_LOOP_WEIGHT = 10
_SAVED = 0.25
"""Of an operation, for one that goes away as its result is computed where it is read. With more of it, programs of
many blocks became longer."""
_ROUNDS = 20


def _equal_values(ops: Iterable[Op]) -> dict[Op, set[int]]:
    """For each move or constant of a block, the registers that have the same value then, if there are any.

    They may share a register with it as far as that place goes, and if the destination is among them the
    operation does nothing.
    """
    holders: dict[int | str, set[int]] = {}
    result = {}
    for op in ops:
        if op.dst is None:
            continue
        for register in op.clobbers if op.callee is not None else ():
            holders.pop(register, set()).discard(register)
        same: set[int] | None = None
        if op.opcode is Pseudo.MOVE:
            same = holders.setdefault(op.rs, {op.rs})
        elif op.is_cheap:
            same = holders.setdefault(f"{op.opcode.name} {op.imm}", set())
        if same:
            result[op] = set(same)
        if same is None or op.dst not in same:
            if op.dst in holders:
                holders.pop(op.dst).discard(op.dst)
            if same is not None:
                same.add(op.dst)
                holders[op.dst] = same
    return result


class _Graph:
    """Interference of the virtual registers of a function, and what each would cost to spill."""

    def __init__(self, function: MachineFunction) -> None:
        self.edges: defaultdict[int, set[int]] = defaultdict(set)
        self.moves: list[tuple[int, Op]] = []
        self.cost: dict[int, float] = {}
        flow = function.flow()
        out = live_out(function)
        for name, block in function.blocks.items():
            self._add(block, out[name], _LOOP_WEIGHT ** flow.depth[name])

    def _add(self, block: MachineBlock, out: set[int], weight: int) -> None:
        """Note what interferes in ``block``, whose ops are worth ``weight``, and after which ``out`` are live."""
        live = set(out)
        ops = [*block.reading()]
        equal = _equal_values(ops)
        defined: list[int] = []         # from the end of the block to where we are
        since = dict.fromkeys(live, 0)  # how much was defined when each became live; it interferes with the rest

        edges, cost = self.edges, self.cost

        def interferes(register: int) -> None:
            if since[register] < len(defined):
                edges[register].update(defined[since[register]:])

        for op in reversed(ops):
            uses = op.uses
            for register in uses:
                cost[register] = cost.get(register, 0) + weight
            if (dst := op.dst) is not None:
                cost[dst] = cost.get(dst, 0) + weight * (-_SAVED if not uses and op.is_cheap else 1)
                if dst in live:
                    live.discard(dst)
                    interferes(dst)
                same = equal[op] & live if op in equal else set()
                for register in same:
                    interferes(register)
                    since[register] = len(defined) + 1
                edges[dst] |= live - same if same else live
                defined.append(dst)
            if op.callee is not None:
                for register in op.clobbers:
                    edges[register] |= live
                defined += op.clobbers
            if op.opcode in (Pseudo.MOVE, Pseudo.FRAME):
                self.moves.append((weight, op))
            for register in uses:
                if register not in live:
                    live.add(register)
                    since[register] = len(defined)
        many = len(defined)
        for register, first in since.items() if many else ():
            if first < many and register in live:
                edges[register].update(defined[first:])

    def merge(self, a: int, b: int) -> int:
        """Make one node of two that do not interfere: the one with more edges, which is returned."""
        into, gone = (a, b) if len(self.edges[a]) >= len(self.edges[b]) else (b, a)
        for other in self.edges.pop(gone):
            self.edges[other].discard(gone)
            self.edges[other].add(into)
            self.edges[into].add(other)
        return into


def _coalesce(function: MachineFunction, graph: _Graph) -> bool:
    """Give both ends of a move one register wherever they do not interfere, hottest moves first.

    Returns whether ``graph`` is not the function's any more.
    """
    merged: dict[int, int] = {}
    nodes: dict[int, int] = {}      # of registers that took others in

    def final(register: int) -> int:
        while (into := merged.get(register)) is not None:
            merged[register] = register = merged.get(into, into)
        return register

    for _, op in sorted(graph.moves, key=lambda item: -item[0]):
        assert op.dst is not None
        a, b = final(op.dst), final(op.rs)
        if b < REGISTER_COUNT:
            a, b = b, a
        node, other = nodes.get(a, a), nodes.get(b, b)
        if a != b and other not in graph.edges[node] and max(a, b) >= REGISTER_COUNT:
            nodes[a] = graph.merge(node, other)
            merged[b] = a
    is_changed = bool(merged)
    for block in function.blocks.values():
        if merged:
            for op in block.reading():
                op.substitute(final)
                if op.dst is not None:
                    op.dst = final(op.dst)
        equal = _equal_values(block.ops)
        kept = [op for op in block.ops if op.dst not in equal.get(op, ())]
        is_changed |= len(kept) < len(block.ops)
        block.ops = kept
    return is_changed


def _colour(graph: _Graph, temporaries: set[int], available: Sequence[int]) -> tuple[dict[int, int], list[int]]:
    """A colour of those ``available`` for each register, and the registers for which none was left."""
    degree = {register: len(others) for register, others in graph.edges.items()}
    todo = {register for register in degree if register >= REGISTER_COUNT}
    easy = sorted(register for register in todo if degree[register] < len(available))
    most = len(available) - 1
    stack = []
    hard: list[tuple[bool, float, int]] = []

    def rank(register: int) -> tuple[bool, float, int]:
        """What is spilled first. It only grows, as degrees only fall."""
        return register in temporaries, graph.cost.get(register, 0) / degree[register], register

    while todo:
        if easy:
            chosen = heapq.heappop(easy)
        else:
            if not hard:
                hard = sorted(map(rank, todo))
            before, chosen = hard[0], hard[0][-1]
            if chosen not in todo:
                heapq.heappop(hard)
                continue
            if (now := rank(chosen)) != before:
                heapq.heapreplace(hard, now)
                continue
            heapq.heappop(hard)
        todo.discard(chosen)
        stack.append(chosen)
        for other in graph.edges[chosen] & todo:
            degree[other] = left = degree[other] - 1
            if left == most:
                heapq.heappush(easy, other)
    colours = {register: register for register in range(REGISTER_COUNT)}
    failed = []
    for register in reversed(stack):
        taken = set(map(colours.get, graph.edges[register]))
        free = next((colour for colour in available if colour not in taken), None)
        if free is None:
            failed.append(register)
        else:
            colours[register] = free
    return colours, failed


def allocate(function: MachineFunction, room: int | None = None, frame_words: int = 0,
             available: Sequence[int] = COLOURS,
             after_spilling: Callable[[MachineFunction, int], None] = lambda _function, _words: None) -> int:
    """Replace virtual by physical registers; returns the words of scratchpad that the function needs.

    The registers are of those ``available``. What needs more than ``room`` words lies in the function's frame, from
    word ``frame_words`` of it on. ``after_spilling`` gets the function and the words after each round: what it raises
    ends the search.
    """
    temporaries: set[int] = set()
    words = function.private_words
    for _ in range(_ROUNDS):
        graph = _Graph(function)
        if _coalesce(function, graph):
            graph = _Graph(function)
        frame = frame_register(function) if room is not None else None
        colours, failed = _colour(graph, temporaries if frame is None else temporaries | {frame}, available)
        if not failed:
            _replace_registers(function, colours)
            _drop_repeated_constants(function)
            return words
        words, new = spill(function, failed, graph.edges, words, room, frame_words)
        temporaries |= new
        after_spilling(function, words)
    raise CapacityError(f"kernel {function.name!r} needs too many registers at once")


def _replace_registers(function: MachineFunction, colours: Mapping[int, int]) -> None:
    for block in function.blocks.values():
        for op in block.reading():
            op.substitute(colours.__getitem__)
            if op.dst is not None:
                op.dst = colours[op.dst]


def _drop_repeated_constants(function: MachineFunction) -> None:
    """Drop constants that are in their registers already: a loop and the way around it may start with the same."""
    flow = function.flow()
    known: dict[str, dict[int, int]] = {}       # at the ends of blocks
    for name in flow.order:
        before = flow.predecessors[name]
        here = dict(known.get(before[0], {})) if len(before) == 1 else {}
        kept = []
        for op in function.blocks[name].ops:
            if op.dst is not None and op.opcode is Pseudo.CONST:
                if here.get(op.dst) == op.imm:
                    continue
                here[op.dst] = op.imm
            else:
                for register in (op.dst, *op.clobbers):
                    here.pop(register or ZERO, None)
            kept.append(op)
        function.blocks[name].ops = kept
        known[name] = here
