"""Random statements of C: as source text, and as what they do to a work-item's variables.

A program has the variables that it is made for, among them the ``int x``; four words each of global memory, the
``log``, and of private memory, ``t``; and the label ``done`` at its end.
"""

from dataclasses import dataclass

from hypothesis import strategies as st

from .programs import expressions, wrap

LOG_WORDS = 4
TABLE_WORDS = 4


class Next(Exception):
    """To the next round of the loop."""


class Last(Exception):
    """Out of the loop."""


class Done(Exception):
    """Out of the program."""


class TooLongError(Exception):
    """More rounds of loops than ``env["rounds"]`` allows."""


def text_of(block, indent):
    return "".join(statement.text(indent) for statement in block)


def run_all(block, env):
    for statement in block:
        statement.run(env)


@dataclass(frozen=True)
class Assign:
    name: str
    type: str
    expression: object

    def text(self, indent):
        return f"{indent}{self.name} = {self.expression.text()};\n"

    def run(self, env):
        env[self.name] = wrap(self.expression.value(env), self.type)


@dataclass(frozen=True)
class Record:
    """Adds to a word of global memory, which no two ways through a program can do as one."""

    index: object

    def text(self, indent):
        return f"{indent}log[{LOG_WORDS} * i + (({self.index.text()}) & {LOG_WORDS - 1})] += x;\n"

    def run(self, env):
        index = self.index.value(env) % LOG_WORDS
        env["log"][index] = wrap(env["log"][index] + env["x"], "int")


@dataclass(frozen=True)
class Swap:
    """Writes and reads a private array at an index that depends on data."""

    index: object
    other: object

    def text(self, indent):
        return f"{indent}t[({self.index.text()}) & {TABLE_WORDS - 1}] += x;\n"\
            f"{indent}x ^= t[({self.other.text()}) & {TABLE_WORDS - 1}];\n"

    def run(self, env):
        index = self.index.value(env) % TABLE_WORDS
        env["t"][index] = wrap(env["t"][index] + env["x"], "int")
        env["x"] = wrap(env["x"] ^ env["t"][self.other.value(env) % TABLE_WORDS], "int")


@dataclass(frozen=True)
class If:
    condition: object
    then: tuple
    other: tuple

    def text(self, indent):
        inner = indent + "    "
        return (f"{indent}if ({self.condition.text()}) {{\n{text_of(self.then, inner)}{indent}}} else {{\n"
                f"{text_of(self.other, inner)}{indent}}}\n")

    def run(self, env):
        run_all(self.then if self.condition.value(env) else self.other, env)


@dataclass(frozen=True)
class Leave:
    """Leaves a round, a loop or the program if ``condition`` holds."""

    condition: object
    to: type

    def text(self, indent):
        statement = {Next: "continue", Last: "break", Done: "goto done"}[self.to]
        return f"{indent}if ({self.condition.text()}) {statement};\n"

    def run(self, env):
        if self.condition.value(env):
            raise self.to


@dataclass(frozen=True)
class Loop:
    """Runs ``bound & most`` times, and as long as ``going_on``, if that is something, is true before a round."""

    bound: object
    most: int
    going_on: object
    body: tuple
    counter: str

    def text(self, indent):
        inner, i = indent + "    ", self.counter
        also = f" && ({self.going_on.text()})" if self.going_on else ""
        return (f"{indent}for (int {i} = 0, n{i} = ({self.bound.text()}) & {self.most}; {i} < n{i}{also}; {i}++) {{\n"
                f"{text_of(self.body, inner)}{inner}x += {i};\n{indent}}}\n")

    def run(self, env):
        for i in range(self.bound.value(env) & self.most):
            if self.going_on and not self.going_on.value(env):
                break
            env["rounds"] -= 1
            if env["rounds"] < 0:
                raise TooLongError
            try:
                run_all(self.body, env)
            except Next:
                continue
            except Last:
                break
            env["x"] = wrap(env["x"] + i, "int")


def evenly(*strategies):
    """One of them, each as often as another; ``st.one_of`` takes those with many branches more often."""
    return st.sampled_from(strategies).flatmap(lambda strategy: strategy)


def programs(variables, private=False):
    """Lists of statements that change ``variables``; ``x`` must be an int among them."""
    expression = expressions(variables, leaves=4)
    simple = st.one_of(
        st.builds(lambda item, e: Assign(*item, e), st.sampled_from(list(variables.items())), expression),
        st.builds(Record, expression),
        *([st.builds(Swap, expression, expression)] if private else []),
    )
    leave = st.builds(Leave, expression, st.sampled_from([Next, Last, Done]))
    counters = iter(f"i{n}" for n in range(10**9))

    def extend(inner):
        block = st.lists(inner, max_size=2).map(tuple)
        leaving = st.builds(lambda block, leave: (*block, leave), block, leave)
        in_loop = evenly(inner, leave, st.builds(If, expression, leaving, evenly(block, leaving)))
        return st.one_of(
            st.builds(If, expression, st.lists(inner, min_size=1, max_size=3).map(tuple), block),
            st.builds(lambda b, most, g, body: Loop(b, most, g, body, next(counters)), expression,
                      st.sampled_from([7, 31]), st.none() | expression,
                      evenly(*(st.lists(body, min_size=1, max_size=3).map(tuple) for body in (simple, in_loop)))),
        )
    return st.lists(st.recursive(simple, extend, max_leaves=6) | st.builds(Leave, expression, st.just(Done)),
                    min_size=1, max_size=5)
