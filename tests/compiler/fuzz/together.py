"""Statements in which the work-items of a work-group work together: barriers, and local memory between them.

No schedule changes what they find. An array in local memory is written where each work-item has a slot of its own,
or by atomic operations that commute; it is read behind a barrier; and before anybody writes it again, there is
another one (:attr:`~.program.Program.in_use`).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from .program import OWN_WORDS, Array, Parameter, Program, statement

_FENCES = ("CLK_LOCAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE")
_ELEMENTS = ("uchar", "ushort", "ulong", "uint2", "uint4")
_BYTES = {"uint": 4, "uchar": 1, "ushort": 2, "ulong": 8, "uint2": 8, "uint4": 16}
_COMMUTING = (("atomic_add", "atomic_sub", "atomic_inc", "atomic_dec"), ("atomic_max",), ("atomic_min",),
              ("atomic_and",), ("atomic_or",), ("atomic_xor",))


def meet(p: Program, fence: str | None = None) -> None:
    """A barrier."""
    p.line(f"barrier({fence or p.choose(*_FENCES)});")
    p.in_use.clear()


def local_array(p: Program, type: str = "uint", length: int | None = None) -> str:
    """A new array in local memory, of the kernel or of the host, by default with a slot for each work-item."""
    length = length or p.group
    if p.chance(0.3) and sum(each.is_local for each in p.parameters) < 3:
        name = p.name("la")
        p.parameters.append(Parameter(f"__local {type} *", name, bytes(length * _BYTES[type]), True, is_local=True))
        return name
    name = p.name("lt")
    if p.chance(0.2):
        before = p.choose("uchar", "uint", "ulong")
        p.locals.append(f"__local struct {{ {before} before; {type} w[{length}]; }} {name};")
        return f"{name}.w"
    rows = p.choose(1, 1, 1, 2, 3)
    p.locals.append(f"__local {type} {name}[{rows}][{length}];" if rows > 1 else f"__local {type} {name}[{length}];")
    return f"{name}[{p.rng.randrange(rows)}]" if rows > 1 else name


def place(p: Program) -> str:
    """A slot for each work-item: another one for each."""
    size = p.group
    return p.choose("l", "l", f"{size - 1} - l", f"(l + {p.rng.randrange(size)}) % {size}u",
                    f"(l ^ {p.rng.randrange(size)})" if size & (size - 1) == 0 else "l")


def somebody(p: Program) -> str:
    """Any slot, often a neighbour's."""
    size = p.group
    return p.choose(f"(l + {p.choose(1, size // 2, size - 1)}) % {size}u", f"{size - 1} - l", p.index(size),
                    str(p.rng.randrange(size)), f"(l ^ {1 << p.rng.randrange(9)}) % {size}u")


def stored(p: Program, array: str, type: str = "uint") -> None:
    """Each work-item writes its slot, some in one way and some in another."""
    slot = place(p)
    match p.choose("one", "one", "two", "loop"):
        case "one":
            p.line(f"{array}[{slot}] = ({type})({p.uint()});")
        case "two":
            with p.block(f"if ({p.condition()})"):
                if p.chance(0.3):
                    p.statements(1)
                p.line(f"{array}[{slot}] = ({type})({p.uint()});")
            p.line("else")
            with p.block():
                p.line(f"{array}[{slot}] = ({type})({p.uint()});")
        case "loop":
            p.line(f"{array}[{slot}] = ({type})({p.uint(1)});")
            with p.loop(f"({p.uint(1)} & 3)"):
                p.line(f"{array}[{slot}] += ({type})({p.uint(1)});")
                if p.chance(0.3):
                    p.line(f"if ({p.condition()}) {p.choose('break', 'continue')};")


@contextmanager
def whole_group(p: Program, head: str) -> Iterator[None]:
    """A block that a work-group enters as a whole, or not at all."""
    before, uniform = set(p.in_use), p.uniform[:]
    with p.block(head):
        yield
        if p.in_use:        # the next round writes them
            meet(p)
    p.in_use, p.uniform = before, uniform


@statement(5, together=True)
def exchanged(p: Program) -> None:
    """Words through local memory. Between the barriers, all that reads them."""
    array = local_array(p)
    if array in p.in_use:
        meet(p)
    stored(p, array)
    meet(p)
    outside = p.arrays[:]
    p.arrays.append(Array(array, p.group, "local"))
    for _ in range(p.choose(0, 1, 1, 2)):
        p.statements(1)
    p.arrays = [each for each in p.arrays if each in outside or each.space != "local"]
    for _ in range(p.choose(1, 1, 2, 3)):
        if p.chance(0.3):
            with p.block(f"if ({p.condition()})"):
                p.mix(f"{array}[{somebody(p)}]")
        else:
            p.mix(f"{array}[{somebody(p)}]")
    if p.chance(0.3):
        name = p.name("u")
        p.line(f"uint {name} = {array}[{p.rng.randrange(p.group)}];")
        p.uniform.append(name)
        p.scope.append(name)
    p.in_use.add(array)
    if p.chance():          # again, in the same array
        meet(p)
        stored(p, array)
        meet(p)
        p.mix(f"{array}[{somebody(p)}]")
        p.in_use.add(array)


@statement(3, together=True)
def exchanged_elements(p: Program) -> None:
    """Elements of other widths, and vectors."""
    type = p.choose(*_ELEMENTS)
    array = local_array(p, type)
    stored(p, array, type)
    meet(p)
    for _ in range(p.choose(1, 2)):
        value = f"{array}[{somebody(p)}]"
        suffix = {"ulong": f" >> {p.choose(0, 32)}", "uint2": ".y", "uint4": f".{p.choose(*'xyzw')}"}
        p.mix(value + suffix.get(type, ""))
    p.in_use.add(array)


@statement(3, together=True)
def counted(p: Program) -> None:
    """Atomic operations on a few words, each of them one that does not care about the order."""
    length = p.choose(1, 2, 4, min(p.group, 8))
    length = min(length, p.group)
    array, operations = local_array(p, "uint", length), p.choose(*_COMMUTING)
    p.line(f"if (l < {length}) {array}[l] = {p.number()};")
    meet(p)

    def operation() -> None:
        name, where = p.choose(*operations), f"{array}[{p.index(length)}]"
        value = "" if name in ("atomic_inc", "atomic_dec") else f", {p.uint()}"
        p.line(f"{name}(&{where}{value});")

    for _ in range(p.choose(1, 1, 2)):
        match p.choose("all", "some", "loop"):
            case "all":
                operation()
            case "some":
                with p.block(f"if ({p.condition()})"):
                    operation()
                if p.chance(0.3):
                    with p.block("else"):
                        operation()
            case "loop":
                with p.loop(p.choose(f"({p.uint(1)} & 3)", "2")):
                    operation()
                    if p.chance(0.3):
                        p.line(f"if ({p.condition()}) {p.choose('break', 'continue')};")
    meet(p)
    p.mix(f"{array}[{p.index(length)}]")
    p.in_use.add(array)


@statement(2, together=True)
def exchanged_globally(p: Program) -> None:
    """What others of the work-group have in global memory."""
    meet(p, p.choose("CLK_GLOBAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"))
    for _ in range(p.choose(1, 2)):
        p.mix(f"work[{OWN_WORDS} * (i - l + {somebody(p)}) + {p.index(OWN_WORDS)}]")
    meet(p, "CLK_GLOBAL_MEM_FENCE")
    p.line(f"own[{p.index(OWN_WORDS)}] = {p.uint()};")


@statement(2, together=True)
def function_with_barriers(p: Program) -> None:
    """An exchange in a function, which is called once or twice."""
    name, array = p.file_name("exchange"), local_array(p)
    attribute = p.choose("", "__attribute__((noinline)) ")
    p.top += [f"{attribute}uint {name}(__local uint *t, uint l, uint a, uint at)", "{",
              f"    barrier({p.choose(*_FENCES)});", "    t[l] = a;", f"    barrier({p.choose(*_FENCES)});",
              p.choose("    return t[at];", "    if (a & 1) return t[at] + a;\n    return t[at] ^ t[l];",
                       "    for (uint j = 0; j < (a & 3); j++) a += t[at];\n    return a;"), "}"]
    for _ in range(p.choose(1, 1, 2)):
        p.mix(f"{name}({array}, l, {p.uint(1)}, {somebody(p)})")
    p.in_use = {array}


@statement(3, nests=True, together=True)
def whole_group_if(p: Program) -> None:
    value = p.choose(*p.uniform)
    with whole_group(p, f"if ({value} {p.choose('& 1', '& 2', '% 3', '< 2')})"):
        p.statements(p.choose(1, 2), uniform=True)
    if p.chance():
        with whole_group(p, "else"):
            p.statements(1, uniform=True)


@statement(3, nests=True, together=True)
def whole_group_loop(p: Program) -> None:
    rounds = p.choose("2", "3", f"({p.choose(*p.uniform)} & 3)", f"({p.choose(*p.uniform)} % 3u)")
    counter = p.name("j")
    with whole_group(p, f"for (uint {counter} = 0; {counter} < {rounds}; {counter}++)"):
        p.scope.append(counter)
        p.uniform.append(counter)
        if p.in_use:        # by those that are not in the loop yet
            meet(p)
        p.statements(p.choose(1, 1, 2), uniform=True)
        if p.chance(0.3):
            if p.in_use:
                meet(p)
            p.line(f"if (({p.choose(*p.uniform)} & 3) == {p.rng.randrange(4)}) {p.choose('break', 'continue')};")
            p.statements(1, uniform=True)


@statement(1, nests=True, together=True)
def whole_group_cases(p: Program) -> None:
    with p.block(f"switch ({p.choose(*p.uniform)} & 3)"):
        for number in p.rng.sample(range(4), p.choose(2, 3)):
            with whole_group(p, f"case {number}:"):
                p.statements(1, uniform=True)
            p.line("break;")
        p.line("default:")
        p.mix(p.uint(1))
