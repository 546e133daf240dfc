"""Ways out of loops that begin behind a branch at which work-items part: they lead out from where those meet again.

Work-items that leave a loop behind such a branch would never come to the place where the others meet, so there would
be none. Here they come to it, too, with a note of where they want to go.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fgpu.isa import Opcode

from ..ir.cfg import Flow, Loop
from .mir import ZERO, MachineBlock, MachineFunction, Op, Phi, Pseudo
from .uniformity import END, post_dominators

__all__ = ["unify_exits"]

_ROUNDS = 16
_MOST_TARGETS = 3


@dataclass(frozen=True)
class _Meeting:
    """Work-items that part in ``blocks`` would meet in ``end`` if some blocks did not leave the loop: ``exits`` are
    those and where they go."""

    end: str
    blocks: frozenset[str]
    exits: tuple[tuple[str, str], ...]


def unify_exits(function: MachineFunction) -> None:
    """Let work-items of ``function``, which is in SSA form, leave loops from where they meet."""
    for number in range(_ROUNDS):
        found = _meeting(function)
        if found is None:
            break
        _rewrite(function, *found, number)


def _meeting(function: MachineFunction) -> tuple[Flow, _Meeting] | None:
    flow = function.flow()
    after = post_dominators(flow)
    for loop in flow.loops:
        inside: Mapping[str, str] | None = None
        for name in flow.order:
            if name not in loop.blocks or not function.blocks[name].splits or after.get(name, END) in loop.blocks \
                    or not loop.blocks.issuperset(flow.successors[name]):
                continue
            inside = inside or _meetings_in(flow, loop)
            end = inside.get(name, END)
            if end == END or end in flow.successors[end]:
                continue
            parted = _parted(flow, loop, name, end)
            if parted is None:
                continue
            entry, blocks = parted
            if any(function.blocks[block].has_barrier for block in blocks):
                continue        # it would not become a subroutine
            exits = [(block, to) for block in sorted(blocks, key=flow.number.__getitem__)
                     for to in dict.fromkeys(flow.successors[block]) if to not in loop.blocks]
            if exits and len({to for _, to in exits}) <= _MOST_TARGETS and flow.dominates(entry, end):
                return flow, _Meeting(end, frozenset(blocks), tuple(exits))
    return None


def _parted(flow: Flow, loop: Loop, name: str, end: str) -> tuple[str, set[str]] | None:
    """The block of ``loop`` that dominates all on the ways from it to ``end``, ``name`` among them, and all these."""
    entry, blocks = name, flow.reached([name], end, loop.blocks)
    while not all(flow.dominates(entry, block) for block in blocks):
        for block in blocks:
            entry = flow.common_dominator(entry, block)
        if entry not in loop.blocks:
            return None
        blocks = flow.reached([entry], end, loop.blocks)
    return entry, blocks


def _meetings_in(flow: Flow, loop: Loop) -> Mapping[str, str]:
    """Post-dominators of the blocks of a loop, for the work-items that stay in it."""
    before: dict[str, Sequence[str]] = {END: loop.latches}
    for name in loop.blocks:
        before[name] = [p for p in flow.predecessors[name] if p in loop.blocks] if name != loop.header else []
    return Flow(before).idom


def _rewrite(function: MachineFunction, flow: Flow, meeting: _Meeting, number: int) -> None:
    blocks = function.blocks
    end = blocks[meeting.end]
    before = flow.predecessors[meeting.end]
    on = MachineBlock(f"{end.name}.on{number}", ops=end.ops, branch=end.branch, target=end.target, next=end.next,
                      splits=end.splits, location=end.location)
    for name in dict.fromkeys(on.successors):
        _rename(blocks[name], end.name, on.name)
    targets = list(dict.fromkeys(to for _, to in meeting.exits))
    leaving = _leave_by_end(function, meeting, targets, number)
    made = {op.dst for name in meeting.blocks for op in blocks[name].ops} \
        | {phi.dst for name in meeting.blocks for phi in blocks[name].phis}
    _keep(function, flow, made, meeting, on, before, leaving)

    def arriving(sources: dict[str, int]) -> int:
        end.phis.append(Phi(function.new_register(), sources))
        return end.phis[-1].dst

    wishes = arriving({**dict.fromkeys(before, ZERO),
                       **{block.name: block.ops[0].dst or ZERO for block in leaving.values()}})
    # Those who stay go on, and the others go where they want: each test sends those of one target there.
    way = MachineBlock(end.name, phis=end.phis, branch=Op(Opcode.BNE, rs=wishes), next=on.name, splits=True,
                       location=end.location)
    ways = [way]
    for at, to in enumerate(targets):
        if at == len(targets) - 1:
            ways[-1].target, source = (to, ways[-1].name) if at == 0 else (ways[-1].target, ways[-1].name)
            if at:
                ways[-1].next = to
        else:
            rest = function.new_register()
            test = MachineBlock(f"{end.name}.way{number}.{at}", ops=[Op(Opcode.ADDI, rest, rs=wishes, imm=-1 - at)],
                                branch=Op(Opcode.BEQ, rs=rest), target=to, splits=True, location=end.location)
            if at == 0:
                ways[-1].target = test.name
            else:
                ways[-1].next = test.name
            ways.append(test)
            source = test.name
        for phi in blocks[to].phis:
            values = {leaving[block, to].name: phi.sources.pop(block)
                      for block, other in meeting.exits if other == to}
            shared = set(values.values())
            phi.sources[source] = shared.pop() if len(shared) == 1 and not shared & made else arriving(values)
    new = {block.name: block for block in [*ways, on, *leaving.values()]}
    function.blocks = {**blocks, **new}
    _share(function, ways[0], [*before, *(block.name for block in leaving.values())])


def _leave_by_end(function: MachineFunction, meeting: _Meeting, targets: Sequence[str],
                  number: int) -> dict[tuple[str, str], MachineBlock]:
    """For each exit a block on its way to the meeting's end, which notes the number of its target, from 1."""
    leaving: dict[tuple[str, str], MachineBlock] = {}
    for at, (block, to) in enumerate(meeting.exits):
        wish = function.new_register()
        leaving[block, to] = MachineBlock(f"{meeting.end}.leave{number}.{at}", next=meeting.end,
                                          ops=[Op(Pseudo.CONST, wish, imm=1 + targets.index(to))],
                                          location=function.blocks[block].location)
        _redirect(function.blocks[block], to, leaving[block, to].name)
    return leaving


def _share(function: MachineFunction, end: MachineBlock, arrivals: Sequence[str]) -> None:
    """One register for values of ``end`` of which each is known only where the other is not."""
    kept: list[Phi] = []
    shared: dict[int, int] = {}
    for phi in end.phis:
        other = next((other for other in kept if all(other.sources.get(name, source) == source
                                                     for name, source in phi.sources.items())), None)
        if other is None:
            kept.append(phi)
        else:
            other.sources |= phi.sources
            shared[phi.dst] = other.dst
    end.phis = kept
    for phi in kept:
        phi.sources = {name: phi.sources.get(name, ZERO) for name in arrivals}
    for block in function.blocks.values():
        for phi in block.phis:
            phi.sources = {name: shared.get(source, source) for name, source in phi.sources.items()}
        for op in block.reading():
            op.substitute(lambda register: shared.get(register, register))


def _rename(block: MachineBlock, old: str, new: str) -> None:
    for phi in block.phis:
        if old in phi.sources:
            phi.sources[new] = phi.sources.pop(old)


def _redirect(block: MachineBlock, old: str, new: str) -> None:
    block.target = new if block.target == old else block.target
    block.next = new if block.next == old else block.next


def _keep(function: MachineFunction, flow: Flow, made: set[int | None], meeting: _Meeting, on: MachineBlock,
          before: Sequence[str], leaving: Mapping[tuple[str, str], MachineBlock]) -> None:
    """Let what is computed in the blocks of ``meeting`` and read behind them come by its end."""
    end = function.blocks[meeting.end]
    own = {*meeting.blocks}
    renamed: dict[int, int] = {}
    home = {register: name for name in meeting.blocks
            for register in [*(phi.dst for phi in function.blocks[name].phis),
                             *(op.dst for op in function.blocks[name].ops if op.dst is not None)]}

    arrivals = [*((name, name) for name in before), *((block.name, name) for (name, _), block in leaving.items())]

    def behind(register: int) -> int:
        if register not in made or register not in home:
            return register
        if register not in renamed:
            known = {name: register for name, via in arrivals if flow.dominates(home[register], via)}
            if len(known) == len(arrivals):
                return register
            end.phis.append(Phi(function.new_register(), known))
            renamed[register] = end.phis[-1].dst
        return renamed[register]

    for name, block in [*function.blocks.items(), (on.name, on)]:
        if name != end.name:
            for phi in block.phis:
                phi.sources = {source: value if source in own else behind(value)
                               for source, value in phi.sources.items()}
            for op in block.reading() if name not in own else ():
                op.substitute(behind)
