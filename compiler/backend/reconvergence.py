"""Reconvergence: divergent regions become subroutines; RET waits for every part.

A branch splits a wavefront for good, but the last part that returns from a call takes all that were called with it.
So a region of the control flow that has one way in and one way out, and in which work-items may part, becomes a part
of the program that ends with ``ret``, and where it was there is a ``jsub`` of it. Registers are what they were: both
instructions touch none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..ir.cfg import Flow
from .mir import MachineBlock, MachineFunction
from .uniformity import END, post_dominators

__all__ = ["reconverge"]

_WORTH = 16
"""Instructions behind a region that cost more, if each part executes them, than a call and a return."""


@dataclass(eq=False)
class _Region:
    """Blocks that are entered at ``entry`` only and left to ``end`` only; ``parent`` is the next larger region."""

    entry: str
    end: str
    blocks: frozenset[str]
    parent: "_Region | None" = None

    @property
    def level(self) -> int:
        return 1 + (self.parent.level if self.parent is not None else 0)

    @property
    def call(self) -> str:
        """The name of the block that calls it."""
        return f"{self.entry}.{self.end}.call"


def reconverge(function: MachineFunction, room: int) -> None:
    """Let work-items that may part in ``function`` meet where all go, if ``room`` return addresses are enough."""
    flow = function.flow()
    regions = _nested(_candidates(function, flow))
    while True:
        around = _place(regions)
        too_deep = [region for name, region in around.items()
                    if region.level + max((op.callee.depth for op in function.blocks[name].ops
                                           if op.callee is not None), default=0) > room]
        if not too_deep:
            break
        regions.remove(_outermost(too_deep[0]))
    if regions:
        _rewrite(function, flow, regions, around)


def _candidates(function: MachineFunction, flow: Flow) -> list[_Region]:
    after = post_dominators(flow)
    barriers = {name for name, block in function.blocks.items() if block.has_barrier}
    found: dict[tuple[str, str], _Region] = {}
    for name in flow.order:
        end = after.get(name, END)
        if not function.blocks[name].splits or end == END:
            continue
        entry, blocks = name, flow.reached(flow.successors[name], end) | {name}
        while not all(flow.dominates(entry, block) for block in blocks):
            for block in blocks:
                entry = flow.common_dominator(entry, block)
            blocks |= flow.reached([entry], end)
        if (entry, end) not in found and blocks.isdisjoint(barriers) \
                and (entry == name or blocks == flow.reached([entry], end)) \
                and all(block in after and flow.successors[block] for block in blocks) \
                and all(flow.predecessors[block][0] in blocks and blocks.issuperset(flow.predecessors[block])
                        for block in blocks if block != entry) \
                and _is_worth_it(function, flow, entry, end):
            found[entry, end] = _Region(entry, end, frozenset(blocks))
    return list(found.values())


def _is_worth_it(function: MachineFunction, flow: Flow, entry: str, end: str) -> bool:
    """Whether much follows: the next round of a loop, a loop, or some instructions."""
    if flow.depth[entry] and any(entry in loop.blocks and end in loop.blocks for loop in flow.loops):
        return True
    instructions = 0
    for name in flow.walk([end], END):
        instructions += sum(op.is_instruction for op in function.blocks[name].reading())
        if flow.depth[name] or instructions >= _WORTH:
            return True
    return False


def _nested(candidates: Sequence[_Region]) -> list[_Region]:
    """Regions of which any two are one inside the other or apart; the outermost of those that end at one block."""
    chosen: list[_Region] = []
    for region in sorted(candidates, key=lambda region: -len(region.blocks)):
        if all(region.blocks.isdisjoint(other.blocks) or (region.blocks < other.blocks and region.end != other.end)
               for other in chosen):
            chosen.append(region)
    return chosen


def _place(regions: Sequence[_Region]) -> dict[str, _Region]:
    """The innermost region of each block that is in one. ``regions`` are in order of their size, largest first."""
    around: dict[str, _Region] = {}
    for region in regions:
        region.parent = around.get(region.entry)
        around |= dict.fromkeys(region.blocks, region)
    return around


def _outermost(region: _Region) -> _Region:
    while region.parent is not None:
        region = region.parent
    return region


def _rewrite(function: MachineFunction, flow: Flow, regions: Sequence[_Region], around: dict[str, _Region]) -> None:
    def place(name: str | None, inside: _Region | None) -> str | None:
        """Where to go in order to come to ``name`` from a block of ``inside``; None is to return."""
        if name is None or (inside is not None and name not in inside.blocks):
            return None
        region, call = around.get(name), name
        while region is not inside:
            assert region is not None
            assert region.entry == name
            call, region = region.call, region.parent
        return call

    ends = []
    for name in flow.order:
        block, region = function.blocks[name], around.get(name)
        target, block.next = block.target, place(block.next, region)
        block.target = place(target, region)
        if target is not None and block.target is None:
            ends.append(MachineBlock(f"{name}.return", location=block.location))
            block.target = ends[-1].name
    calls = [MachineBlock(region.call, enter=place(region.entry, region), next=place(region.end, region.parent),
                          location=function.blocks[region.entry].location) for region in regions]
    first = place(flow.entry, None)
    blocks = {block.name: block for block in [*function.blocks.values(), *calls, *ends]}
    function.blocks = {name: blocks[name] for name in sorted(blocks, key=lambda name: name != first)}
