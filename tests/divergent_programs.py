"""Random OpenCL C programs whose work-items go ways of their own, and what each work-item does, by a model in Python.

Loops in loops, ``break``, ``continue``, ``switch``, ``goto`` forward, back and into a loop, ``return`` from within,
calls, and barriers at which all meet. Each work-item has eight words of ``o`` for itself, which tell in which order
it did what; at barriers it exchanges its number ``s`` with others.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

__all__ = ["GROUP", "INPUTS", "ITEMS", "Program", "random_program"]

ITEMS, GROUP = 128, 64
INPUTS = 256
"""Words of ``a``."""
_ENTRIES = 8        # words of a work-item in ``o``
_WORD = 0xFFFF_FFFF
_MOST = 30_000      # statements of all work-items, so that a simulation takes a moment
_LEAST = 3000


@dataclass(frozen=True)
class Program:
    """The source of a kernel ``k(__global uint *o, __global const uint *a)``, and what ``o`` has afterwards."""

    text: str
    expected: np.ndarray


class _Jump(Exception):
    """To a label, or to ``break``, ``continue`` or ``return``."""

    def __init__(self, to: str) -> None:
        self.to = to


class _WrongLength(Exception):
    """The program takes too many statements, or too few."""


@dataclass
class _Item:
    """A work-item: its numbers, what it may read, its words, and the statements that are left to all."""

    i: int
    s: int
    input: Sequence[int]
    left: Counter[str]
    out: list[int] = field(default_factory=lambda: [0] * _ENTRIES)
    turns: dict[str, int] = field(default_factory=dict)

    def change(self, value: int) -> None:
        self.s = value & _WORD
        self.left["statements"] -= 1
        if self.left["statements"] < 0:
            raise _WrongLength


_Run = Callable[[_Item], None]
_Statement = tuple[str, _Run]
"""Its text, and what it does."""
_Condition = tuple[str, Callable[[_Item], bool]]


def _caught(run: _Run, item: _Item, *labels: str) -> str:
    """Run to the end, or to a jump to one of ``labels``, which is returned."""
    try:
        run(item)
    except _Jump as jump:
        if jump.to not in labels:
            raise
        return jump.to
    return ""


@dataclass(frozen=True)
class _Place:
    """Where a statement is, and so where it may jump to."""

    depth: int
    leave: str = ""
    """What returns, if it may."""
    near: tuple[str, ...] = ()
    """Of ``break`` and ``continue``."""
    ahead: tuple[str, ...] = ()
    """Labels further on."""
    behind: tuple[str, ...] = ()
    """Counters of turns, with labels ``again_`` and that name."""

    def inside(self, *near: str, ahead: str = "", behind: str = "") -> "_Place":
        return replace(self, depth=self.depth - 1, near=near or self.near,
                       ahead=(*self.ahead, ahead) if ahead else self.ahead,
                       behind=(*self.behind, behind) if behind else self.behind)


class _Writer:
    """Writes one program."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._names = 0
        self.functions: list[tuple[str, _Run]] = []

    def _name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"

    def condition(self) -> _Condition:
        at, mask = self.rng.randrange(12), self.rng.choice([1, 3, 3, 7, 15])
        value = self.rng.randint(0, mask)
        conditions: list[_Condition] = [
            (f"(s >> {at} & {mask}u) == {value}u", lambda item: item.s >> at & mask == value),
            (f"(s >> {at} & {mask}u) <= {value}u", lambda item: item.s >> at & mask <= value),
            (f"(i + {at}u & {mask}u) != {value}u", lambda item: item.i + at & mask != value),
            (f"(a[s + {at}u & {INPUTS - 1}u] & {mask}u) >= {value}u",
             lambda item: item.input[item.s + at & INPUTS - 1] & mask >= value)]
        return self.rng.choice(conditions)

    # -- statements -------------------------------------------------------------------------------

    def mix(self, _: _Place) -> _Statement:
        factor, summand = self.rng.choice([3, 5, 0x9E3779B1]), self.rng.getrandbits(16)
        return f"s = s * {factor}u + {summand}u;", lambda item: item.change(item.s * factor + summand)

    def note(self, _: _Place) -> _Statement:
        def run(item: _Item) -> None:
            entry = item.s & _ENTRIES - 1
            item.out[entry] = item.out[entry] * 5 + item.s & _WORD
            item.change(item.s ^ item.s >> 7)
        own = f"o[(s & {_ENTRIES - 1}u) * {ITEMS}u + i]"
        return f"{own} = {own} * 5u + s; s ^= s >> 7;", run

    def jump(self, place: _Place) -> _Statement:
        """To somewhere that is not behind, if a condition holds."""
        labels = [*place.near, *place.ahead, *[place.leave] * (place.leave != "")]
        label, (text, holds) = self.rng.choice(labels), self.condition()

        def run(item: _Item) -> None:
            if holds(item):
                item.change(item.s + 1)
                raise _Jump(label.partition(" ")[0])
        goes = label if label in (*place.near, place.leave) else f"goto {label}"
        return f"if ({text}) {{ s++; {goes}; }}", run

    def turn_back(self, place: _Place) -> _Statement:
        counter, (text, holds) = self.rng.choice(place.behind), self.condition()

        def run(item: _Item) -> None:
            if holds(item) and item.turns[counter]:
                item.turns[counter] -= 1
                raise _Jump(counter)
        return f"if (({text}) && {counter}) {{ {counter}--; goto again_{counter}; }}", run

    def call(self, _: _Place) -> _Statement:
        name, body = self.rng.choice(self.functions)

        def run(item: _Item) -> None:
            before = item.s
            _caught(body, item, "return")
            item.change(before * 3 ^ item.s)
        return f"s = s * 3u ^ {name}(s, i, o, a);", run

    def conditional(self, place: _Place) -> _Statement:
        (text, holds), then, other = self.condition(), self.block(place.inside()), self.block(place.inside())
        if self.rng.random() < 0.4:
            other = ";", lambda item: None
        return (f"if ({text}) {{\n{then[0]}\n}} else {{\n{other[0]}\n}}",
                lambda item: (then if holds(item) else other)[1](item))

    def cases(self, place: _Place) -> _Statement:
        """Some go on with the next one. ``continue`` is of a loop around it, if there is one."""
        inner = place.inside("break", *[near for near in place.near if near == "continue"])
        parts = [(self.block(inner), self.rng.random() < 0.7) for _ in range(3)]
        text = "\n".join(f"case {number}: {{\n{block[0]}\n}} {'break;' * ends}"
                         for number, (block, ends) in enumerate(parts))

        def run(item: _Item) -> None:
            for (_, body), ends in parts[item.s & 3:]:
                if _caught(body, item, "break") or ends:
                    return
        return f"switch (s & 3u) {{\n{text}\n}}", run

    def counted(self, place: _Place) -> _Statement:
        """A loop, for each work-item of its own length."""
        at, most, name = self.rng.randrange(8), self.rng.choice([1, 3, 3, 7]), self._name("j")
        text, body = self.block(place.inside("break", "continue"))

        def run(item: _Item) -> None:
            for j in range(item.s >> at & most):
                item.change(item.s + j)
                if _caught(body, item, "break", "continue") == "break":
                    return
        return (f"for (uint {name} = 0, n{name} = s >> {at} & {most}u; {name} < n{name}; {name}++) {{\n"
                f"s += {name};\n{text}\n}}", run)

    def repeated(self, place: _Place) -> _Statement:
        (text, holds), most, name = self.condition(), self.rng.randint(1, 5), self._name("w")
        inner, body = self.block(place.inside("break", "continue"))

        def run(item: _Item) -> None:
            for _ in range(most):
                if _caught(body, item, "break", "continue") == "break" or not holds(item):
                    return
        return f"uint {name} = {most};\ndo {{\n{inner}\n}} while (({text}) && --{name});", run

    def ahead(self, place: _Place) -> _Statement:
        """A block that may be left from anywhere in it."""
        label = self._name("out")
        text, body = self.block(place.inside(ahead=label), least=2)

        def run(item: _Item) -> None:
            _caught(body, item, label)
        return f"{{\n{text}\n}}\n{label}: s += 7;", lambda item: (run(item), item.change(item.s + 7))[1]

    def again(self, place: _Place) -> _Statement:
        """A block that may be begun again from anywhere in it."""
        counter, most = self._name("turns"), self.rng.randint(1, 3)
        text, body = self.block(place.inside(behind=counter), least=2)

        def run(item: _Item) -> None:
            item.turns[counter] = most
            item.change(item.s + 9)
            while _caught(body, item, counter):
                item.change(item.s + 9)
        return f"uint {counter} = {most};\nagain_{counter}: s += 9;\n{text}", run

    def entered(self, place: _Place) -> _Statement:
        """A loop that has two entries."""
        (enter, enters), (end, ends) = self.condition(), self.condition()
        first, second, (back, goes_back) = self.block(place.inside()), self.block(place.inside()), self.condition()
        name, most = self._name("loop"), self.rng.randint(1, 4)

        def run(item: _Item) -> None:
            left, is_inside = most, enters(item)
            while True:
                if not is_inside:
                    first[1](item)
                    if ends(item):
                        break
                second[1](item)
                if not goes_back(item) or not left:
                    break
                is_inside, left = False, left - 1
            item.change(item.s + 5)
        return (f"uint {name} = {most};\nif ({enter}) goto inside_{name};\nhead_{name}: ;\n{{\n{first[0]}\n}}\n"
                f"if ({end}) goto behind_{name};\ninside_{name}: ;\n{{\n{second[0]}\n}}\n"
                f"if (({back}) && {name}) {{ {name}--; goto head_{name}; }}\nbehind_{name}: s += 5;", run)

    def block(self, place: _Place, least: int = 1) -> _Statement:
        """Some statements; the innermost ones nest no others."""
        statements = []
        for _ in range(self.rng.randint(least, 3)):
            nests = self.rng.random() < 0.6 and place.depth > 0
            kinds: list[Callable[[_Place], _Statement]] = [self.mix, self.note, self.note]
            if place.near or place.ahead or place.leave:
                kinds += [self.jump, self.jump]
            if place.behind:
                kinds.append(self.turn_back)
            if self.functions:
                kinds.append(self.call)
            if nests:
                kinds = [self.conditional, self.conditional, self.cases, self.counted, self.counted, self.repeated,
                         self.ahead, self.again, self.entered]
            statements.append(self.rng.choice(kinds)(place))

        def run(item: _Item) -> None:
            for _, each in statements:
                each(item)
        return "\n".join(text for text, _ in statements), run

    def function(self) -> str:
        name = self._name("f")
        text, body = self.block(_Place(depth=2, leave="return s"), least=2)
        self.functions.append((name, body))
        return (f"{'__attribute__((noinline)) ' * (self.rng.random() < 0.7)}uint {name}(uint s, uint i,\n"
                f"    __global uint *o, __global const uint *a)\n{{\n{text}\nreturn s;\n}}\n")


def _exchanged(items: Sequence[_Item], stride: int) -> None:
    before = [item.s for item in items]
    for item in items:
        first = item.i // GROUP * GROUP
        item.change(item.s + before[first + (item.i * stride + 1) % GROUP])


def _written(rng: random.Random, data: Sequence[int]) -> Program:
    writer = _Writer(rng)
    functions = [writer.function() for _ in range(rng.randint(0, 2))]
    stages = [(writer.block(_Place(depth=3), least=2), rng.randrange(GROUP)) for _ in range(rng.randint(1, 3))]
    last, rounds = writer.block(_Place(depth=3, leave="return"), least=2), rng.randint(1, 2)
    body = "\n".join(
        f"{{\n{text}\n}}\nl[i & {GROUP - 1}u] = s;\nbarrier(CLK_LOCAL_MEM_FENCE);\n"
        f"s += l[i * {stride}u + 1u & {GROUP - 1}u];\nbarrier(CLK_LOCAL_MEM_FENCE);" for (text, _), stride in stages)
    source = (f"{''.join(functions)}__kernel void k(__global uint *o, __global const uint *a)\n{{\n"
              f"__local uint l[{GROUP}];\nuint i = get_global_id(0), s = a[i];\n"
              f"for (uint round = 0; round < {rounds}; round++) {{\n{body}\n}}\n{last[0]}\n"
              f"o[(s & {_ENTRIES - 1}u) * {ITEMS}u + i] += s;\n}}\n")
    left = Counter(statements=_MOST)
    items = [_Item(i, data[i], data, left) for i in range(ITEMS)]
    for _ in range(rounds):
        for (_, run), stride in stages:
            for item in items:
                run(item)
            _exchanged(items, stride)
    for item in items:
        if not _caught(last[1], item, "return"):
            entry = item.s & _ENTRIES - 1
            item.out[entry] = item.out[entry] + item.s & _WORD
    if left["statements"] > _MOST - _LEAST:
        raise _WrongLength
    return Program(source, np.array([item.out for item in items], np.uint32).T.ravel())


def random_program(seed: str, data: Sequence[int]) -> Program:
    """The program of this seed, for ``data`` in ``a``: :data:`INPUTS` words."""
    rng = random.Random(seed)
    while True:
        try:
            return _written(rng, data)
        except _WrongLength:
            continue
