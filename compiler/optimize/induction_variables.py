"""Loop counters: one for each way of counting, compared with its bound for equality where that is enough."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..ir.cfg import Flow, Loop
from ..ir.inline import substitute
from ..ir.module import Definitions, Function, Instruction, Op
from ..ir.values import Constant, Local, Value

__all__ = ["compare_counters_for_equality", "count_once", "merge_counters"]

_NEGATED = {"slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt", "ult": "uge", "uge": "ult", "ugt": "ule",
            "ule": "ugt", "eq": "ne", "ne": "eq"}
_MIRRORED = {"slt": "sgt", "sgt": "slt", "sge": "sle", "sle": "sge", "ult": "ugt", "ugt": "ult", "uge": "ule",
             "ule": "uge", "eq": "eq", "ne": "ne"}


@dataclass(frozen=True)
class _Fact:
    """A comparison that is known to be true."""

    predicate: str
    left: Value
    right: Value

    def forms(self) -> Iterator["_Fact"]:
        yield self
        yield _Fact(_MIRRORED[self.predicate], self.right, self.left)


@dataclass(frozen=True)
class _Counter:
    """A variable of a loop that is ``start`` at first, and ``following``, ``step`` more, in each next round."""

    phi: Instruction
    start: Value
    following: Local
    step: int


def merge_counters(function: Function) -> None:
    """Let a loop count once where several variables start alike and grow alike: an unrolled one counts by itself."""
    flow = function.flow()
    definitions = function.definitions()
    same: dict[str, Value] = {}
    for loop in flow.loops:
        counters: dict[object, str] = {}
        header = function.blocks[loop.header]
        for phi in header.phis:
            sources = dict(zip(phi.blocks, phi.operands, strict=True))
            steps = {_step(sources.pop(latch), phi.name, definitions) for latch in loop.latches}
            if len(steps) == 1 and None not in steps:
                first = counters.setdefault((phi.type, steps.pop(), frozenset(sources.items())), phi.name)
                if first != phi.name:
                    same[phi.name] = Local(first)
        header.instructions = [i for i in header.instructions if i.name not in same]
    substitute(function.instructions(), same)


def count_once(function: Function) -> None:
    """Let a variable of the program tell a loop's end if it grows like a counter that is there for that alone."""
    flow = function.flow()
    definitions = function.definitions()
    home = {i.name: block.name for block in function.blocks.values() for i in block.instructions if i.name}
    users: dict[str, list[Instruction]] = {}
    for instruction in function.instructions():
        for operand in instruction.operands:
            if isinstance(operand, Local):
                users.setdefault(operand.name, []).append(instruction)
    for loop in flow.loops:
        if loop.preheader is None or len(loop.latches) != 1:
            continue
        counters = [_Counter(phi, start, following, step)
                    for phi in function.blocks[loop.header].phis
                    for start, following in [(phi.operands[phi.blocks.index(loop.preheader)],
                                              phi.operands[phi.blocks.index(loop.latches[0])])]
                    if isinstance(following, Local) and (step := _step(following, phi.name, definitions)) is not None]
        for counter in counters:
            tests = [user for user in users[counter.following.name] if user is not counter.phi]
            if counter.start != Constant(0) or len(users[counter.phi.name]) != 1 or len(tests) != 1 \
                    or tests[0].op is not Op.ICMP or tests[0].predicate not in ("eq", "ne"):
                continue
            block = function.blocks[home[tests[0].name]].instructions
            before = {i.name for i in block[:block.index(tests[0])]}
            other = next((other for other in counters if other is not counter and other.step == counter.step
                          and other.phi.type == counter.phi.type and other.following.name in before), None)
            following, bound = tests[0].operands
            is_known = not isinstance(bound, Local) or home.get(bound.name, "") not in loop.blocks
            if other is None or following != counter.following or not is_known:
                continue
            end = Instruction(Op.ADD, counter.phi.type, f"{counter.phi.name}.end", [other.start, bound],
                              [counter.phi.type] * 2, location=tests[0].location)
            function.blocks[loop.preheader].instructions.insert(-1, end)
            tests[0].operands = [other.following, Local(end.name)]
            break


def _step(value: Value, counter: str, definitions: Definitions) -> int | None:
    """By which constant ``value`` is more than ``counter``."""
    add = definitions.of(value)
    if add is None or add.op is not Op.ADD or add.operands[0] != Local(counter):
        return None
    return add.operands[1].value if isinstance(add.operands[1], Constant) else None


def compare_counters_for_equality(function: Function) -> None:
    """Turn ``i + 1 < n`` at the end of loops into ``i + 1 != n`` where ``i`` starts below ``n``."""
    flow = function.flow()
    definitions = function.definitions()
    home = {i.name: block.name for block in function.blocks.values() for i in block.instructions if i.name}
    uses = [operand.name for i in function.instructions() for operand in i.operands if isinstance(operand, Local)]
    for loop in flow.loops:
        if loop.preheader is None or len(loop.latches) != 1:
            continue
        branch = function.blocks[loop.latches[0]].terminator
        test = definitions.of_condition(branch)
        if test is None or test.op is not Op.ICMP or uses.count(test.name) != 1 \
                or branch.blocks[0] == branch.blocks[1]:
            continue
        stays = branch.blocks[0] == loop.header
        predicate = test.predicate if stays else _NEGATED[test.predicate]
        for going_on in _Fact(predicate, *test.operands).forms():
            bound = going_on.right
            start = _start(going_on.left, loop, definitions, function)
            invariant = not isinstance(bound, Local) or home.get(bound.name, "") not in loop.blocks
            if going_on.predicate in ("slt", "ult") and start is not None and invariant \
                    and _is_below(start, bound, going_on.predicate, _facts(function, flow, loop, definitions)):
                test.predicate = "ne" if stays else "eq"


def _start(value: Value, loop: Loop, definitions: Definitions, function: Function) -> Value | None:
    """Where the counter starts whose increment by one ``value`` is."""
    add = definitions.of(value)
    if add is None or add.op is not Op.ADD or add.operands[1] != Constant(1) \
            or not isinstance(add.operands[0], Local):
        return None
    for phi in function.blocks[loop.header].phis:
        if phi.name == add.operands[0].name:
            incoming = dict(zip(phi.blocks, phi.operands, strict=True))
            if incoming.get(loop.latches[0]) == value and loop.preheader is not None:
                return incoming.get(loop.preheader)
    return None


def _facts(function: Function, flow: Flow, loop: Loop, definitions: Definitions) -> list[_Fact]:
    """Comparisons that hold when the loop is entered: the branches that lead there."""
    facts = []
    name, follower = loop.preheader, loop.header
    while name is not None:
        branch = function.blocks[name].terminator
        test = definitions.of_condition(branch)
        # The edge says something only if it is the only way into the block that follows.
        only_way = follower == loop.header or flow.predecessors[follower] == [name]
        if test is not None and test.op is Op.ICMP and only_way and branch.blocks[0] != branch.blocks[1] \
                and follower in branch.blocks:
            taken = branch.blocks[0] == follower
            facts.append(_Fact(test.predicate if taken else _NEGATED[test.predicate], *test.operands))
        name, follower = (None, name) if name == flow.entry else (flow.idom[name], name)
    return facts


def _is_below(start: Value, bound: Value, predicate: str, facts: list[_Fact]) -> bool:
    """Whether ``start predicate bound`` follows from ``facts`` (``predicate`` is slt or ult)."""
    greater = predicate.replace("lt", "g")
    first = start.value if isinstance(start, Constant) else None
    if first is not None and isinstance(bound, Constant) and bound.value is not None:
        return first < bound.value and (predicate == "slt" or first >= 0)
    for fact in (form for known in facts for form in known.forms()):
        if fact == _Fact(predicate, start, bound):
            return True
        if first is None or fact.left != bound or not isinstance(fact.right, Constant) or fact.right.value is None:
            continue
        limit = fact.right.value
        if predicate == "ult" and (limit < 0 or first < 0):
            continue
        if fact.predicate == greater + "t" and limit >= first:
            return True
        if fact.predicate == greater + "e" and limit > first:
            return True
        if predicate == "ult" and first == 0 and limit == 0 and fact.predicate == "ne":
            return True
    return False
