"""A random kernel under construction: its text, its arguments, and what statements are made of.

All work-items compute in the unsigned integers ``x0`` to ``x3``, which go to memory at the end. A statement ends
with :meth:`Program.mix`, so that whatever it found reaches the result. Integers are unsigned wherever they may
overflow, and addresses matter only as far as C says what they are.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["STATEMENTS", "TOGETHER", "Array", "Parameter", "Program", "Source", "random_program", "statement"]

OWN_WORDS = 8
"""Words of global memory that each work-item has for itself."""
INPUT_WORDS, ARGUMENT_WORDS = 64, 16
X = ("x0", "x1", "x2", "x3")
_QUALIFIERS = {"private": "", "global": "__global ", "input": "__global const ", "constant": "__constant ",
               "local": "__local const "}
_NUMBERS = [0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 100, 255, 256, 8191, 8192, 32767, 32768, 65535, 65536, 1 << 24,
            0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xFFFF_8000, 0xFFFF_FFFE, 0xFFFF_FFFF, 0x1234_5678]

T = TypeVar("T")
Statement = Callable[["Program"], None]
STATEMENTS: dict[str, tuple[Statement, int]] = {}
_NESTING: set[str] = set()
TOGETHER: set[str] = set()
_NESTED_MOST = 2


def statement(weight: int = 2, *, nests: bool = False, together: bool = False) -> Callable[[Statement], Statement]:
    """Registers a function that writes one statement; it comes ``weight`` times as often as one of weight 1.

    Those that ``nests`` have others in them. Those that ``together`` have barriers: a whole work-group comes there.
    """
    def register(function: Statement) -> Statement:
        name = function.__name__
        assert name not in STATEMENTS
        STATEMENTS[name] = function, weight
        if nests:
            _NESTING.add(name)
        if together:
            TOGETHER.add(name)
        return function
    return register


@dataclass(frozen=True)
class Array:
    """``length`` unsigned integers in one of the address spaces; ``name`` decays to a pointer to the first."""

    name: str
    length: int
    space: str

    @property
    def pointer(self) -> str:
        """The type of a pointer to an element, up to and with its ``*``."""
        return f"{_QUALIFIERS[self.space]}uint *"

    @property
    def is_writable(self) -> bool:
        return self.space in ("private", "global")


@dataclass(frozen=True)
class Parameter:
    """A parameter of the kernel and its argument: a buffer's content, or a value's bytes."""

    type: str
    name: str
    content: bytes
    is_buffer: bool = False
    is_result: bool = False
    is_local: bool = False
    """A buffer in local memory: of ``content`` only the length counts."""


@dataclass(frozen=True)
class Source:
    """A program as others need it: OpenCL C, what the file declares, and the launch of its kernel ``k``."""

    text: str
    names: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    items: int
    group: int = 1
    """Work-items that meet at barriers."""
    is_left: bool = False
    """Whether work-items go to the end, barriers or not."""

    def results(self, contents: Sequence[bytes]) -> list[bytes]:
        """Those of all parameters' ``contents`` that C says everything of: not the padding of structs."""
        return [content for each, content in zip(self.parameters, contents, strict=True) if each.is_result]


class Program:
    """One kernel ``k``, for ``items`` work-items; ``floats`` says whether there may be any.

    With a ``group`` its work-items meet at barriers, so many at each.
    """

    def __init__(self, rng: random.Random, items: int = 64, floats: bool = True, group: int = 1) -> None:
        self.rng, self.items, self.floats, self.group = rng, items, floats, group
        self.top: list[str] = []
        self.names = ["k"]
        """What the file declares."""
        self.functions: list[str] = []
        """Functions of two unsigned integers."""
        self._numbers: dict[str, int] = {}
        self._nested = 0
        self.is_uniform = group > 1
        """Whether all work-items of a work-group come to what is being written."""
        self.uniform = ["g", "n"]
        """Unsigned integers that are the same for a work-group."""
        self.in_use: set[str] = set()
        """Local arrays that somebody may still read, if no barrier comes."""
        self.may_leave = group == 1 or rng.random() < 0.2
        self.is_left = False
        """Whether there is a ``goto done``."""
        self.parameters = [
            Parameter("__global uint *", "out", bytes(4 * len(X) * items), True, True),
            Parameter("__global const uint *", "in", self.words(INPUT_WORDS), True),
            Parameter("__global uint *", "work", self.words(OWN_WORDS * items), True, True),
            Parameter("__constant uint *", "arg", self.words(ARGUMENT_WORDS), True),
            Parameter("uint ", "n", self.words(1))]
        # What is being written: the kernel, or a function.
        self.locals: list[str] = []
        self.lines: list[str] = []
        self.depth = 1
        self.state: Sequence[str] = X
        self.scope = [*X, "i", "n"]
        """Unsigned integers that can be read."""
        self.arrays = [Array("own", OWN_WORDS, "global"), Array("in", INPUT_WORDS, "input"),
                       Array("arg", ARGUMENT_WORDS, "constant")]
        if group > 1:
            self.scope += ["l", "g"]

    def source(self) -> Source:
        """The program as it is now."""
        parameters = ", ".join(f"{each.type}{each.name}" for each in self.parameters)
        start = ["uint i = get_global_id(0);", f"__global uint *own = work + {OWN_WORDS} * i;",
                 f"uint x0 = in[i & {INPUT_WORDS - 1}], x1 = i * 0x9e3779b9u, x2 = n, x3 = i;"]
        if self.group > 1:
            start.append("uint l = get_local_id(0), g = get_group_id(0);")
        end = ["done:;"] * self.is_left + [f"out[{len(X)} * i + {number}] = {x};" for number, x in enumerate(X)]
        body = [*(f"    {line}" for line in (*start, *self.locals)), *self.lines, *(f"    {line}" for line in end)]
        text = "\n".join([*self.top, f"__kernel void k({parameters})", "{", *body, "}", ""])
        return Source(text, tuple(self.names), tuple(self.parameters), self.items, self.group, self.is_left)

    # -- choices ----------------------------------------------------------------------------------

    def choose(self, *choices: T) -> T:
        return self.rng.choice(choices)

    def chance(self, probability: float = 0.5) -> bool:
        return self.rng.random() < probability

    def word(self) -> int:
        return self.choose(self.choose(*_NUMBERS), self.rng.getrandbits(32), self.rng.randint(0, 9))

    def words(self, count: int) -> bytes:
        return b"".join(self.word().to_bytes(4, "little") for _ in range(count))

    # -- text -------------------------------------------------------------------------------------

    def name(self, prefix: str) -> str:
        """A new name."""
        number = self._numbers[prefix] = self._numbers.get(prefix, 0) + 1
        return f"{prefix}_{number}"

    def file_name(self, prefix: str) -> str:
        """A new name for what the file declares."""
        self.names.append(self.name(prefix))
        return self.names[-1]

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, head: str = "") -> Iterator[None]:
        """A block after ``head``, with names of its own."""
        self.line(f"{head} {{".lstrip())
        scope, self.depth = self.scope[:], self.depth + 1
        yield
        self.scope, self.depth = scope, self.depth - 1
        self.line("}")

    @contextmanager
    def loop(self, rounds: int | str) -> Iterator[str]:
        """A loop; gives the name of its counter."""
        counter = self.name("j")
        with self.block(f"for (uint {counter} = 0; {counter} < {rounds}; {counter}++)"):
            self.scope.append(counter)
            yield counter

    @contextmanager
    def function(self, head: str, integers: Sequence[str], arrays: Sequence[Array] = (),
                 inlined: float = 0.2) -> Iterator[None]:
        """A function for the file: ``head`` has its result, name and parameters, some of which are ``integers`` that
        can be read and written, and ``arrays``. What is written in the context is its body."""
        outside = self.lines, self.locals, self.depth, self.state, self.scope, self.arrays, self.functions
        tables = self._tables()
        self.lines, self.locals, self.depth = [], [], 1
        self.state, self.scope, self.arrays = integers, [*integers], [*tables, *arrays]
        self.functions = self.functions if self.chance(0.3) else []
        yield
        attribute = "" if self.chance(inlined) else "__attribute__((noinline)) "
        self.top += [f"{attribute}{head}", "{", *(f"    {line}" for line in self.locals), *self.lines, "}"]
        new = [array for array in self._tables() if array not in tables]
        self.lines, self.locals, self.depth, self.state, self.scope, self.arrays, self.functions = outside
        self.arrays += new

    def _tables(self) -> list[Array]:
        """Those that the whole file knows."""
        return [array for array in self.arrays if array.name.strip("(&)") in self.names]

    @property
    def is_function(self) -> bool:
        """Whether a function is being written."""
        return self.state is not X

    def mix(self, expression: str) -> None:
        """Makes the result depend on an integer."""
        x = self.choose(*self.state)
        self.line(self.choose(
            f"{x} = {x} * 33 + (uint)({expression});", f"{x} ^= (uint)({expression});",
            f"{x} += (uint)({expression});", f"{x} = ({x} << 5 | {x} >> 27) - (uint)({expression});"))

    # -- expressions ------------------------------------------------------------------------------

    def number(self) -> str:
        return f"{self.word()}u"

    def uint(self, depth: int = 2) -> str:
        """An expression of type uint."""
        if depth <= 0 or self.chance(0.15):
            leaves = [self.choose(*self.scope), self.choose(*self.scope), self.number()]
            if not self.is_function:
                leaves.append(f"in[{self.index(INPUT_WORDS, 0)}]")
            return self.choose(*leaves)
        a, b = self.uint(depth - 1), self.uint(depth - 1)
        ways = [f"({a} {op} {b})" for op in ("+", "-", "*", "&", "|", "^", "+", "-", "*", "&", "|", "^")]
        ways += [f"({a} << ({b} & 31))", f"({a} >> ({b} & 31))", f"(uint)((int){a} >> ({b} & 31))", f"(~{a})",
                 f"({self.condition(depth - 1)} ? {a} : {b})", f"(uint)({self.condition(depth - 1)})",
                 f"(uint)({self.choose('char', 'uchar', 'short', 'ushort')}){a}", f"({a} / ({b} & 1023 | 1))",
                 f"({a} % ({b} | 1))", f"(uint)((int){a} / (int)({b} & 1023 | 1))",
                 f"(uint)(((ulong){a} * {b}) >> {self.choose(0, 16, 32)})"]
        if self.functions:
            ways += [f"{self.choose(*self.functions)}({a}, {b})"] * 2
        return self.choose(*ways)

    def condition(self, depth: int = 1) -> str:
        """Something that work-items often disagree about."""
        a = self.choose(*self.scope)
        return self.choose(
            f"{a} & {self.choose(1, 2, 4, 5)}", f"({a} & {self.choose(1, 3, 7)}) == {self.choose(0, 1)}",
            f"{self.uint(depth)} {self.choose('<', '>', '<=', '>=', '==', '!=')} {self.uint(depth)}",
            f"(int){self.uint(depth)} {self.choose('<', '>')} (int){self.uint(depth)}")

    def index(self, length: int, depth: int = 1) -> str:
        """A number below ``length``."""
        if length == 1:
            return "0"
        way = self.rng.random()
        if way < 0.15:
            return str(self.rng.randrange(length))
        value = self.choose(*self.scope) if way < 0.6 else self.uint(depth)
        return f"({value} & {length - 1})" if length & (length - 1) == 0 else f"({value} % {length}u)"

    # -- objects ----------------------------------------------------------------------------------

    def values(self, count: int) -> str:
        """An initializer: small numbers, which are found again, or any."""
        if self.chance():
            return "{" + ", ".join(map(str, range(count))) + "}"
        return "{" + ", ".join(self.choose(self.number(), str(self.rng.randint(0, 7))) for _ in range(count)) + "}"

    def array(self, space: str | None = None, least: int = 1) -> Array:
        """An array of ``least`` elements or more, an old or a new one; of another space where there is none."""
        is_shared = any(array.space == "local" and array.length >= least for array in self.arrays)
        space = space or self.choose("private", "private", "private", "constant", "constant", "global", "input",
                                     *["local"] * (3 * is_shared))
        known = [array for array in self.arrays if array.space == space and array.length >= least]
        if known and (space in ("global", "input", "local") or self.chance(0.4)):
            return self.choose(*known)
        return self.table(least) if space == "constant" else self.private_array(least)

    def private_array(self, least: int = 1) -> Array:
        length = max(least, self.choose(1, 2, 3, 4, 4, 5, 7, 8))
        first = self.choose(*(name for name in self.scope if "_" not in name), self.number())
        way = self.rng.random()
        if length == 1 and way < 0.7:               # a variable whose address is taken
            name = self.name("r")
            self.locals.append(f"uint {name} = {first};")
            made = Array(f"(&{name})", 1, "private")
        elif way < 0.15:                            # within a struct
            kind, name = self.file_name("box"), self.name("s")
            self.top.append(f"struct {kind} {{ {self.choose('uchar', 'ushort', 'uint', 'ulong')} before; "
                            f"uint w[{length}]; uchar after; }};")
            self.locals.append(f"struct {kind} {name} = {{1, {self.values(length)}, 2}};")
            made = Array(f"{name}.w", length, "private")
        elif way < 0.25:                            # a row
            name, rows = self.name("rows"), self.choose(2, 3)
            values = ", ".join(self.values(length) for _ in range(rows))
            self.locals.append(f"uint {name}[{rows}][{length}] = {{{values}}};")
            made = Array(f"{name}[{self.rng.randrange(rows)}]", length, "private")
        else:
            name = self.name("t")
            values = self.values(length)
            self.locals.append(f"uint {name}[{length}] = {values};")
            if self.chance(0.3):
                self.locals.append(f"{name}[{self.rng.randrange(length)}] = {first};")
            made = Array(name, length, "private")
        self.arrays.append(made)
        return made

    def table(self, least: int = 1, of_file: bool = False) -> Array:
        """A new ``__constant`` array, of the file or perhaps of the kernel."""
        length = max(least, self.choose(1, 2, 3, 4, 4, 5, 8, 16, 17, 24))
        name = self.file_name("tab")
        if length == 1 and self.chance():
            self.top.append(f"__constant uint {name} = {self.number()};")
            name = f"(&{name})"
        elif not of_file and not self.is_function and self.chance(0.2):
            self.names.pop()
            self.locals.append(f"__constant uint {name}[{length}] = {self.values(length)};")
        else:
            self.top.append(f"__constant uint {name}[{length}] = {self.values(length)};")
        made = Array(name, length, "constant")
        self.arrays.append(made)
        return made

    def parameter(self, type: str, size: int) -> str:
        """One more parameter of the kernel, of ``size`` bytes that are any; its name."""
        name = self.name("p")
        self.parameters.append(Parameter(f"{type} ", name, self.words(-(-size // 4))[:size]))
        return name

    def buffer(self, type: str, content: bytes) -> str:
        """One more parameter of the kernel, a buffer that is read; its name."""
        name = self.name("b")
        self.parameters.append(Parameter(type, name, content, True))
        return name

    # -- statements -------------------------------------------------------------------------------

    def statements(self, count: int, *, uniform: bool = False) -> None:
        """Any statements, one within the other to a depth; ``uniform`` where a work-group that comes, comes whole."""
        outside, self.is_uniform = self.is_uniform, self.is_uniform and uniform
        self._nested += 1
        names = [name for name in STATEMENTS if (self.floats or name != "floats")
                 and (self._nested <= _NESTED_MOST or name not in _NESTING)
                 and (self.is_uniform or name not in TOGETHER) and (self.may_leave or name != "left")]
        weights = [STATEMENTS[name][1] * (3 if name in TOGETHER else 1) for name in names]
        for name in self.rng.choices(names, weights, k=count):
            STATEMENTS[name][0](self)
        self._nested -= 1
        self.is_uniform = outside


def random_program(rng: random.Random, items: int = 64, floats: bool = True, group: int = 1) -> Source:
    """A program of some statements."""
    program = Program(rng, items, floats, group)
    program.statements(rng.choice([1, 1, 2, 2, 3, 4, 5, 6, 7]), uniform=True)
    return program.source()
