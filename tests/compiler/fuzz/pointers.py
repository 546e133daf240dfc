"""Statements with pointers: null or not, compared, walked along arrays, written through, returned and out of
functions that are no part of their callers."""

from .program import Array, Program, statement


def use(p: Program, pointer: str, target: Array | None, may_be_null: bool = True) -> None:
    """Something that the program finds out by ``pointer``, to an element of ``target`` if that is known to be it."""
    ways = ["value", "guarded"]
    if may_be_null:
        ways += ["null"]
    if target is not None:
        ways += ["difference", "compare"] + ["write"] * target.is_writable
    null = p.choose("0", "0", "NULL")
    there = p.choose(pointer, f"{pointer} != {null}") if may_be_null else "1"
    match p.choose(*ways):
        case "value":
            p.mix(f"{there} ? *{pointer} : {p.number()}" if may_be_null else f"*{pointer}")
        case "guarded":
            with p.block(f"if ({there} && {p.condition()})"):
                p.mix(f"*{pointer} + {p.uint(1)}")
        case "null":
            p.mix(p.choose(f"!{pointer}", f"{pointer} == {null} ? {p.number()} : {p.uint()}"))
        case "difference":
            p.mix(f"{there} ? (uint)({pointer} - {target.name}) + 1 : {p.number()}")
        case "compare":
            other = f"{target.name} + {p.rng.randint(0, target.length)}"
            p.mix(f"{there} ? {pointer} {p.choose('==', '!=', '<', '>=')} {other} : {p.number()}")
        case "write":
            with p.block(f"if ({there})"):
                p.line(f"*{pointer} {p.choose('=', '+=', '^=')} {p.uint()};")
            p.mix(f"{target.name}[{p.index(target.length)}]")


def somewhere(p: Program, target: Array) -> str:
    """The address of an element of ``target``."""
    at = p.index(target.length)
    return p.choose(f"&{target.name}[{at}]", f"{target.name} + {at}")


@statement(4)
def search(p: Program) -> None:
    """Where a number is, or nowhere."""
    target, pointer = p.array(), p.name("q")
    p.line(f"{target.pointer}{pointer} = 0;")
    wanted = p.name("w")
    p.line(f"uint {wanted} = {p.uint()} & 7;")
    with p.loop(target.length) as j, p.block(f"if (({target.name}[{j}] & 7) == {wanted})"):
        p.line(f"{pointer} = {p.choose(f'&{target.name}[{j}]', f'{target.name} + {j}')};")
        if p.chance():
            p.line("break;")
    use(p, pointer, target)


@statement(4)
def choice(p: Program) -> None:
    """One of two arrays, or null; of ``__constant`` ones an argument or a table."""
    target, pointer = p.array(), p.name("q")
    first, other = somewhere(p, target), somewhere(p, p.array(target.space))
    match p.choose("null", "other", "both", "assigned"):
        case "null":
            value = p.choose(f"0 : {first}", f"{first} : 0")
            p.line(f"{target.pointer}{pointer} = {p.condition()} ? {value};")
            use(p, pointer, target)
        case "other":
            p.line(f"{target.pointer}{pointer} = {p.condition()} ? {first} : {other};")
            use(p, pointer, None, may_be_null=False)
        case "both":
            p.line(f"{target.pointer}{pointer} = {p.condition()} ? 0 : {p.condition()} ? {first} : {other};")
            use(p, pointer, None)
        case "assigned":
            p.line(f"{target.pointer}{pointer} = {p.choose('0', first)};")
            with p.block(f"if ({p.condition()})"):
                p.line(f"{pointer} = {p.choose('0', other, other)};")
            use(p, pointer, None)


@statement()
def walk(p: Program) -> None:
    """From one end of an array to the other, or as far as a number says."""
    target, pointer = p.array(), p.name("q")
    start, end = target.name, f"{target.name} + {target.length}"
    match p.choose("forward", "bounded", "backward", "while"):
        case "forward":
            head = f"for ({target.pointer}{pointer} = {start}; {pointer} != {end}; {pointer}++)"
        case "bounded":
            head = f"for ({target.pointer}{pointer} = {start}; {pointer} < {start} + {p.index(target.length)}; " \
                   f"{pointer}++)"
        case "backward":
            p.line(f"{target.pointer}{pointer} = {end};")
            with p.block(f"while ({pointer} > {start})"):
                p.mix(f"*--{pointer}")
            return
        case "while":
            p.line(f"{target.pointer}{pointer} = {start};")
            head = f"while ({pointer} < {end} && *{pointer}++ != {p.rng.randint(0, 7)})"
            with p.block(head):
                p.mix(f"{pointer} - {start}")
            return
    with p.block(head):
        if target.is_writable and p.chance():
            p.line(f"*{pointer} += {p.uint(1)};")
        p.mix(f"*{pointer}")


@statement()
def pair(p: Program) -> None:
    """Two pointers to one array, compared with each other."""
    target, first, second = p.array(), p.name("q"), p.name("q")
    p.line(f"{target.pointer}{first} = {p.choose('', f'{p.condition()} ? 0 : ')}{somewhere(p, target)};")
    p.line(f"{target.pointer}{second} = {p.choose('', f'{p.condition()} ? 0 : ')}{somewhere(p, target)};")
    p.mix(f"{first} {p.choose('==', '!=')} {second} ? {p.number()} : {p.uint(1)}")
    p.mix(f"{first} && {second} ? (uint)({first} - {second}) * 2 + ({first} {p.choose('<', '>=')} {second}) : 5")


@statement()
def handle(p: Program) -> None:
    """A pointer as an integer, and back."""
    target, kept, pointer = p.array(), p.name("h"), p.name("q")
    p.line(f"uintptr_t {kept} = (uintptr_t)({p.choose('', f'{p.condition()} ? 0 : ')}{somewhere(p, target)});")
    p.mix(f"{kept} ? ({kept} - (uintptr_t){target.name}) / 4 : 77")
    p.line(f"{target.pointer}{pointer} = ({target.pointer}){kept};")
    use(p, pointer, target)


@statement()
def copied(p: Program) -> None:
    """Elements of one array to another, all or some."""
    target, origin = p.array(p.choose("private", "private", "global")), p.array()
    length = min(target.length, origin.length)
    at, origin_at = (p.rng.randint(0, array.length - length) for array in (target, origin))
    rounds = p.choose(str(length), f"{p.uint(1)} % {length + 1}u")
    count = p.name("c")
    p.line(f"uint {count} = {rounds};")
    with p.loop(count) as j:
        p.line(f"{target.name}[{j} + {at}] = {origin.name}[{j} + {origin_at}];")
    p.mix(f"{target.name}[{p.index(target.length)}]")


@statement()
def bytes_of_words(p: Program) -> None:
    """Bytes in memory of words."""
    target, pointer = p.array(), p.name("q")
    byte = target.pointer.replace("uint", "uchar")
    p.line(f"{byte}{pointer} = ({byte}){target.name}{p.choose('', f' + {p.index(4 * target.length)}')};")
    if target.is_writable and p.chance():
        p.line(f"*{pointer} {p.choose('=', '+=')} (uchar){p.uint(1)};")
    p.mix(f"*{pointer}")
    p.mix(f"{target.name}[{p.index(target.length)}]")


@statement()
def two_steps(p: Program) -> None:
    """A pointer to one of two pointers, which moves it."""
    target = p.array(least=2)
    first, second, both = p.name("q"), p.name("q"), p.name("qq")
    p.line(f"{target.pointer}{first} = {target.name}, *{second} = {p.choose('0', target.name)};")
    p.line(f"{target.pointer}*{both} = {p.condition()} ? &{first} : &{second};")
    p.line(p.choose(f"*{both} = {somewhere(p, target)};", f"if (*{both}) (*{both})++;", f"*{both} = 0;"))
    use(p, first, target)
    use(p, second, target)


@statement(4)
def optional_result(p: Program) -> None:
    """A function that writes a second result where it is asked for."""
    target = p.array(p.choose("private", "private", "private", "global"))
    name = p.file_name("divide")
    with p.function(f"uint {name}(uint a, uint b, {target.pointer}rest)", ["a", "b"]):
        p.line("uint q = a / (b | 1);")
        p.line(p.choose("if (rest) *rest = a % (b | 1);", "if (rest != 0) *rest += a - q * (b | 1);",
                        "if (!rest) return q; *rest = q + b;"))
        p.mix("q")
        p.line("return a;")
    for _ in range(p.choose(1, 1, 2, 3)):
        where = somewhere(p, target)
        p.mix(f"{name}({p.uint(1)}, {p.uint(1)}, "
              f"{p.choose(where, '0', f'{p.condition()} ? {where} : 0', f'{p.condition()} ? 0 : {where}')})")
        p.mix(f"{target.name}[{p.index(target.length)}]")


@statement(3)
def returned(p: Program) -> None:
    """A function that returns one of its pointers, moved, or null."""
    target = p.array()
    name, pointer = p.file_name("pick"), p.name("q")
    with p.function(f"{target.pointer}{name}({target.pointer}a, {target.pointer}b, uint c)", ["c"]):
        if p.chance():
            p.line("if (c & 4) return 0;")
        else:
            p.line("if (!a) return b;")
        p.line(p.choose("return c & 1 ? a : b;", "return c & 1 ? b : a;", "return c & 1 ? b : c & 2 ? a : 0;"))
    other = p.choose(target, target, p.array(target.space))
    arguments = [p.choose("0", somewhere(p, target)), somewhere(p, other)]
    p.line(f"{target.pointer}{pointer} = {name}({', '.join(arguments)}, {p.uint(1)});")
    use(p, pointer, target if other is target else None)


@statement(3, nests=True)
def passed(p: Program) -> None:
    """Arrays for a function that does anything with them."""
    count = p.choose(1, 2, 2, 3)
    given = [p.array() for _ in range(count)]
    name = p.file_name("work")
    inside = [Array(f"v{number}", array.length, array.space) for number, array in enumerate(given)]
    parameters = ", ".join(f"{array.pointer}{array.name}" for array in inside)
    with p.function(f"uint {name}(uint a, uint b, {parameters})", ["a", "b"], inside):
        p.statements(p.choose(1, 1, 2, 3))
        p.line("return a + b * 5;")
    for _ in range(p.choose(1, 1, 2)):
        p.mix(f"{name}({p.uint(1)}, {p.uint(1)}, {', '.join(array.name for array in given)})")


@statement(3)
def measured(p: Program) -> None:
    """The length of a list that ends with a zero, or none at all."""
    space = p.choose("constant", "constant", "private", "input", "global")
    target = p.array(space)
    name = p.file_name("len")
    most = min(target.length, 8)
    with p.function(f"uint {name}({target.pointer}s, uint most)", ["most"]):
        p.line("uint count = 0;")
        p.line("if (!s) return 99;")
        p.line("while (count < most && s[count]) count++;")
        p.line("return count;")
    other = p.array(space, most)
    first, second = (f"{array.name} + {p.rng.randint(0, array.length - most)}" for array in (target, other))
    p.mix(f"{name}({p.condition()} ? {first} : {p.choose('0', second)}, {most})")
