"""Statements that keep pointers in memory: in arrays, structs, lists and tables."""

from .pointers import somewhere, use
from .program import Program, statement


@statement(4)
def pointer_array(p: Program) -> None:
    """Pointers in an array, one of which is taken by number."""
    target = p.array(p.choose("private", "private", "constant", "constant", "input", "global"))
    length, name, pointer = p.choose(2, 2, 3, 4), p.name("s"), p.name("q")
    kept = [p.choose("0", somewhere(p, target), somewhere(p, p.array(target.space))) for _ in range(length)]
    if p.chance():
        p.line(f"{target.pointer}{name}[{length}] = {{{', '.join(kept)}}};")
    else:
        p.line(f"{target.pointer}{name}[{length}];")
        for number, value in enumerate(kept):
            p.line(f"{name}[{number}] = {value};")
    if p.chance(0.4):
        p.line(f"{name}[{p.index(length)}] = {p.choose('0', somewhere(p, target))};")
    for _ in range(p.choose(1, 1, 2)):
        p.line(f"{target.pointer}{pointer} = {name}[{p.index(length)}];")
        use(p, pointer, None)
        pointer = p.name("q")


@statement(4)
def view(p: Program) -> None:
    """A struct with a pointer and a length, by value or by address for a function."""
    target = p.array()
    most, struct, name, object = min(target.length, 4), p.file_name("view"), p.file_name("sum"), p.name("v")
    p.top.append(f"struct {struct} {{ {p.choose('uint n; ', 'uchar n; ', '')}{target.pointer}data; uint most; }};")
    by_address = p.chance()
    parameter, arrow = (f"struct {struct} *v", "v->") if by_address else (f"struct {struct} v", "v.")
    with p.function(f"uint {name}({parameter}, uint a)", ["a"]):
        p.line(f"if (!{arrow}data) return a;")
        with p.loop(f"{arrow}most") as j:
            if target.is_writable and p.chance():
                p.line(f"{arrow}data[{j}] ^= {p.uint(1)};")
            p.mix(f"{arrow}data[{j}]")
        p.line("return a;")
    value = p.choose(target.name, f"{p.condition()} ? 0 : {target.name}", f"{p.condition()} ? {target.name} : 0",
                     f"{p.condition()} ? {target.name} : {p.array(target.space, most).name}")
    p.line(f"struct {struct} {object} = {{ .data = {value}, .most = {p.rng.randint(1, most)} }};")
    if p.chance(0.4):
        p.line(f"if ({p.condition()}) {object}.data = {p.choose('0', target.name)};")
    p.mix(f"{name}({'&' * by_address}{object}, {p.uint(1)})")
    if p.chance():
        pointer = p.name("q")
        p.line(f"{target.pointer}{pointer} = {object}.data;")
        use(p, pointer, None)


@statement(3)
def linked(p: Program) -> None:
    """A list that ends with null, or where it began."""
    struct, nodes = p.file_name("node"), p.name("l")
    length = p.choose(2, 3, 4)
    p.top.append(f"struct {struct} {{ {p.choose('uint v; struct NODE *next;', 'struct NODE *next; uint v;')} }};"
                 .replace("NODE", struct))
    order = p.rng.sample(range(length), length)
    p.line(f"struct {struct} {nodes}[{length}];")
    for number in range(length):
        p.line(f"{nodes}[{number}].v = {p.uint(1)};")
    is_ring = p.chance(0.4)
    first = p.name("first")
    p.line(f"struct {struct} *{first} = &{nodes}[{order[0]}];")
    for here, after in zip(order, [*order[1:], None], strict=True):
        value = first if after is None and is_ring else "0" if after is None else f"&{nodes}[{after}]"
        p.line(f"{nodes}[{here}].next = {value};")
    if p.chance():
        p.line(f"if ({p.condition()}) {nodes}[{p.index(length)}].next = {first if is_ring else 0};")
    at = p.name("at")
    if is_ring:
        p.line(f"struct {struct} *{at} = {first};")
        with p.block("do"):
            p.mix(f"{at}->v")
            p.line(f"{at} = {at}->next;")
        p.lines[-1] += f" while ({at} != {first});"
    else:
        with p.block(f"for (struct {struct} *{at} = {first}; {at}; {at} = {at}->next)"):
            p.mix(f"{at}->v + (uint)({at} - {nodes})")


@statement(3)
def table_of_tables(p: Program) -> None:
    """Tables in a table, some of them null."""
    name, pointer, length = p.file_name("index"), p.name("q"), p.choose(2, 3)
    tables = [p.table(of_file=True) for _ in range(length)]
    values = [p.choose(table.name, f"&{table.name}[{p.rng.randrange(table.length)}]", table.name, "0")
              for table in tables]
    p.top.append(f"__constant uint *__constant {name}[{length}] = {{{', '.join(values)}}};")
    p.line(f"__constant uint *{pointer} = {name}[{p.index(length)}];")
    use(p, pointer, None)


@statement(3)
def strings(p: Program) -> None:
    """One of some texts: its length, or a letter."""
    texts = [p.choose("", "a", "ab", "abc", "hello", "a longer text", "the longest text of all of them, by far")
             for _ in range(p.choose(2, 3))]
    quoted = [f'"{text}"' for text in texts]
    name = p.file_name("strlen")
    with p.function(f"uint {name}(__constant char *s)", ["count"]):
        p.line("uint count = 0;")
        p.line("for (; *s; s++) count = count * 3 + *s;")
        p.line("return count;")
    way = p.choose("choice", "array", "table")
    if way == "choice":
        argument = [] if p.is_function else [p.buffer("__constant char *", b"argument\0")]
        text = f"{p.condition()} ? {quoted[0]} : {p.choose(quoted[1], *argument)}"
    else:
        array = p.name("s")
        if way == "table":
            array = p.file_name("names")
            p.top.append(f"__constant char *__constant {array}[{len(texts)}] = {{{', '.join(quoted)}}};")
        else:
            p.line(f"__constant char *{array}[{len(texts)}] = {{{', '.join(quoted)}}};")
        text = f"{array}[{p.index(len(texts))}]"
    p.mix(f"{name}({text})")


@statement(2)
def tree(p: Program) -> None:
    """Down a tree, on one side or the other."""
    struct, nodes, at = p.file_name("tree"), p.name("l"), p.name("at")
    p.top.append(f"struct {struct} {{ struct {struct} *side[2]; uint v; }};")
    length = p.choose(2, 3, 4)
    p.line(f"struct {struct} {nodes}[{length}];")
    for number in range(length):
        p.line(f"{nodes}[{number}].v = {p.uint(1)};")
        for side in range(2):       # only to those that come later
            later = [f"&{nodes}[{other}]" for other in range(number + 1, length)]
            p.line(f"{nodes}[{number}].side[{side}] = {p.choose('0', *later)};")
    with p.block(f"for (struct {struct} *{at} = {nodes}; {at} != NULL; {at} = {at}->side[{p.index(2)}])"):
        p.mix(f"{at}->v")


@statement(2)
def views_by_index(p: Program) -> None:
    """Structs with pointers in an array, or in a table, or made by a function."""
    space = p.choose("constant", "constant", "private", "input")
    targets = [p.table(of_file=True) if space == "constant" else p.array(space) for _ in range(p.choose(2, 3))]
    struct, array, one, pointer = p.file_name("view"), p.name("v"), p.name("one"), p.name("q")
    p.top.append(f"struct {struct} {{ {targets[0].pointer}data; {p.choose('uchar', 'uint', 'ulong')} n; }};")
    kind = f"struct {struct}"
    values = [p.choose(target.name, target.name, "0") for target in targets]
    rows = ", ".join(f"{{{value}, {target.length}}}" for value, target in zip(values, targets, strict=True))
    if space == "constant" and p.chance():
        array = p.file_name("views")
        p.top.append(f"__constant {kind} {array}[{len(targets)}] = {{{rows}}};")
    else:
        p.line(f"{kind} {array}[{len(targets)}] = {{{rows}}};")
        if p.chance(0.3):
            p.line(f"{array}[{p.index(len(targets))}] = {array}[{p.index(len(targets))}];")
    p.line(f"{kind} {one} = {array}[{p.index(len(targets))}];")
    if p.chance(0.3):
        name = p.file_name("moved")
        with p.function(f"{kind} {name}({kind} v, uint a)", ["a"]):
            p.line("if (v.data && (a & 1)) { v.data += v.n - 1; v.n = 1; }")
            p.line("return v;")
        p.line(f"{one} = {name}({one}, {p.uint(1)});")
    p.line(f"{targets[0].pointer}{pointer} = {one}.data;")
    use(p, pointer, None)
    p.mix(f"{one}.data ? {one}.data[{p.uint(1)} % (uint){one}.n] : 1")


@statement()
def cast(p: Program) -> None:
    """How far apart addresses in one array are, as integers and as pointers."""
    target = p.array(least=2)
    first, second = p.index(target.length), p.index(target.length)
    p.mix(p.choose(
        f"(uintptr_t)&{target.name}[{first}] - (uintptr_t){target.name}",
        f"(uint)(&{target.name}[{first}] - {target.name})",
        f"(int)(&{target.name}[{first}] - &{target.name}[{second}])",
        f"(uintptr_t)&{target.name}[{first}] & 3",
        f"*({target.pointer})((uintptr_t){target.name} + 4 * {first})"))


@statement()
def kept_in_function(p: Program) -> None:
    """A function that puts a pointer where another pointer leads."""
    target = p.array()
    name, pointer = p.file_name("put"), p.name("q")
    with p.function(f"uint {name}({target.pointer}*to, {target.pointer}s, uint a)", ["a"]):
        p.line(p.choose("if (a & 1) *to = s;", "*to = a & 1 ? s : 0;", f"if (s) *to = s + (a % {target.length}u);"))
        p.line("return a;")
    p.line(f"{target.pointer}{pointer} = {p.choose('0', target.name)};")
    p.mix(f"{name}(&{pointer}, {p.choose(target.name, target.name, '0')}, {p.uint(1)})")
    use(p, pointer, target)


