"""Statements about control flow, calls and arithmetic."""

from .program import Program, statement


@statement(4)
def arithmetic(p: Program) -> None:
    p.mix(p.uint(3))


@statement(3, nests=True)
def conditional(p: Program) -> None:
    with p.block(f"if ({p.condition()})"):
        p.statements(p.choose(1, 2))
    if p.chance():
        with p.block("else"):
            p.statements(1)


@statement(3, nests=True)
def repeated(p: Program) -> None:
    """A loop, for each work-item of its own length or for all the same."""
    rounds = p.choose(f"({p.uint(1)} & 3)", f"({p.uint(1)} % 5)", str(p.rng.randint(1, 6)))
    with p.loop(rounds):
        if p.chance(0.3):
            p.line(f"if ({p.condition()}) {p.choose('continue', 'break')};")
        p.statements(p.choose(1, 1, 2))
        if p.chance(0.2):
            p.line(f"if ({p.condition()}) break;")


@statement(2, nests=True)
def cases(p: Program) -> None:
    with p.block(f"switch ({p.uint(1)} & {p.choose(3, 7)})"):
        for number in range(p.choose(2, 3, 5)):
            p.line(f"case {number}:")
            with p.block():
                p.statements(1)
            if p.chance(0.7):
                p.line("break;")
        p.line("default:")
        p.mix(p.uint(1))


@statement(2)
def switched(p: Program) -> None:
    """Numbers for numbers, or arrays for numbers."""
    numbers = p.rng.sample(range(8), p.choose(3, 4, 6))
    if p.chance():
        name = p.name("n")
        p.line(f"uint {name};")
        values = [p.choose(p.number(), str(p.rng.randint(0, 99))) for _ in range(len(numbers) + 1)]
        p.mix("1")
    else:
        target, name = p.array(), p.name("q")
        p.line(f"{target.pointer}{name};")
        values = [p.choose(p.array(target.space).name, p.array(target.space).name, "0")
                  for _ in range(len(numbers) + 1)]
    with p.block(f"switch ({p.uint(1)} & 7)"):
        for number, value in zip(numbers, values, strict=False):
            p.line(f"case {number}: {name} = {value}; break;")
        p.line(f"default: {name} = {values[-1]};")
    p.mix(name if name.startswith("n") else f"{name} ? {name}[0] : 3")


@statement(1)
def left(p: Program) -> None:
    """Some work-items go to the end."""
    if p.is_function:
        p.line(f"if ({p.condition()} && {p.condition()}) {p.choose(*p.state)} = {p.number()};")
    else:
        p.is_left = True
        p.line(f"if (({p.uint(1)} & 15) == {p.rng.randint(0, 15)}) goto done;")


@statement(2)
def wide(p: Program) -> None:
    """Integers of 64 bits."""
    names = [p.name("w"), p.name("w")]
    for name in names:
        p.line(f"ulong {name} = (ulong){p.uint(1)} << {p.choose(0, 16, 32)} | {p.uint(1)};")
    a, b = names
    p.line(f"{a} = " + p.choose(
        f"{a} * {b}", f"{a} / ({b} | 1)", f"{a} % ({b} & 0xfffffful | 1)", f"{a} << ({b} & 63)", f"{a} >> ({b} & 63)",
        f"(ulong)((long){a} >> ({b} & 63))", f"{a} - {b}", f"{a} > {b} ? {b} : ~{a}",
        f"(ulong)((long){a} < (long){b}) + {b}", f"(ulong)((long){a} / (long)(({b} & 0xffff) + 1))") + ";")
    p.mix(f"{a} >> 32")
    p.mix(f"{a} ^ {b}")


@statement(2)
def elements(p: Program) -> None:
    """Writes and reads of an array at indices that depend on data."""
    target = p.array()
    if target.is_writable:
        p.line(f"{target.name}[{p.index(target.length)}] {p.choose('=', '+=', '^=')} {p.uint()};")
    p.mix(f"{target.name}[{p.index(target.length)}]")


@statement(2, nests=True)
def helper(p: Program) -> None:
    """A function of two numbers, which any expression may call from here on."""
    name = p.file_name("f")
    with p.function(f"uint {name}(uint a, uint b)", ["a", "b"], inlined=0.4):
        if p.chance(0.3):
            p.line(f"if ({p.condition()}) return {p.uint(1)};")
        p.statements(1)
        p.line("return a - b;")
    p.functions = [*p.functions, name]
    p.mix(f"{name}({p.uint(1)}, {p.uint(1)})")


_ARGUMENTS = ("uint", "uint", "int", "uchar", "short", "ulong", "uint2", "uint4")


def read(p: Program, type: str, name: str) -> str:
    """A number of an argument."""
    if type[-1].isdigit():
        return f"{name}.{p.choose('x', 'y')}"
    return f"(uint)({name} >> {p.choose(0, 32)})" if type == "ulong" else f"(uint){name}"


@statement(3)
def many_arguments(p: Program) -> None:
    """A function of more arguments than there are registers for."""
    name, types = p.file_name("many"), [p.choose(*_ARGUMENTS) for _ in range(p.rng.randint(4, 14))]
    arrays = [p.array() for _ in range(p.choose(0, 0, 1, 2))]
    parameters = [f"{type} a{number}" for number, type in enumerate(types)]
    parameters += [f"{array.pointer}v{number}" for number, array in enumerate(arrays)]
    p.rng.shuffle(parameters)
    result = p.choose("uint", "uint", "ulong", "uint4")
    with p.function(f"{result} {name}({', '.join(parameters)})", ["sum"]):
        p.line("uint sum = 1;")
        for number, type in enumerate(types):
            p.line(f"sum = sum * 31 + {read(p, type, f'a{number}')};")
        for number, array in enumerate(arrays):
            p.line(f"{f'if (v{number}) ' if p.chance() else ''}sum ^= v{number}[{p.rng.randrange(array.length)}];")
        p.line({"uint": "return sum;", "ulong": "return (ulong)sum * sum;", "uint4": "return (uint4)(sum);"}[result])
    for _ in range(p.choose(1, 1, 2)):
        given = []
        for parameter in parameters:
            kind, label = parameter.rsplit(maxsplit=1)
            label = label.lstrip("*")
            given.append(arrays[int(label[1:])].name if label[0] == "v" else f"({kind})({p.uint(1)})")
        call = f"{name}({', '.join(given)})"
        p.mix(f"{call} >> {p.choose(0, 32)}" if result == "ulong" else f"{call}.z" if result == "uint4" else call)


@statement(1)
def arguments(p: Program) -> None:
    """More arguments of the kernel, until they are more than the hardware's sixteen words."""
    if p.is_function:
        return
    for _ in range(p.choose(1, 1, 4, 8)):
        type, size = p.choose(("uint", 4), ("uchar", 1), ("short", 2), ("ulong", 8), ("uint4", 16))
        p.mix(read(p, type, p.parameter(type, size)))


@statement(2)
def vectors(p: Program) -> None:
    """Vectors of registers: lanes, swizzles, comparisons, loads."""
    a, b = p.name("v"), p.name("v")
    p.line(f"uint4 {a} = (uint4)({', '.join(p.uint(1) for _ in range(4))});")
    p.line(f"uint4 {b} = {a}.{p.choose('wzyx', 'xxyy', 'ywxz')};")
    p.line(f"{b} = {p.choose(f'{a} * {b} + {p.uint(1)}', f'{a} ^ {b} >> 3', f'(uint4)({a}.lo, {b}.hi)')};")
    if p.chance():
        p.line(f"{a} = as_uint4({a} < {b}) & {b} | {a};")
    if p.chance():
        source = p.array(least=4)
        p.line(f"{a} += vload4(0, {source.name});")
        if source.is_writable:
            p.line(f"vstore4({b}, 0, {source.name});")
            p.mix(f"{source.name}[{p.index(source.length)}]")
    p.line(f"{a}.{p.choose('xz', 'yw', 'even', 'hi')} += (uint2)({p.uint(1)}, 3);")
    for lane in "xyzw":
        p.mix(f"{p.choose(a, b)}.{lane}")


_FLOATS = ("1.5f", "(-0.25f)", "3.0f", "1e-3f", "123456.0f", "0.1f")


def number(p: Program, names: list[str], depth: int) -> str:
    """An expression of type float."""
    if depth == 0:
        return p.choose(*names, *names, p.choose(*_FLOATS), f"(float)({p.uint(1)} & 0xffff)",
                        f"(float)(int){p.uint(1)}", f"(float){p.uint(1)}")
    a, b = number(p, names, depth - 1), number(p, names, depth - 1)
    return p.choose(f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / {b})", f"fabs({a})", f"(-{a})",
                    f"sqrt(fabs({a}))", f"({a} {p.choose('<', '>', '<=', '>=', '==', '!=')} {b} ? {a} : {b})")


@statement(3)
def floats(p: Program) -> None:
    """Numbers, comparisons and conversions, of any that the hardware may have or not."""
    names = [p.name("y"), p.name("y")]
    for name in names:
        p.line(f"float {name} = (float)({p.uint(1)} & 0xfff) * {p.choose(*_FLOATS)};")
    kept = p.name("z")
    p.line(f"float {kept}[2] = {{{', '.join(names)}}};")
    with p.loop(p.choose("2", f"({p.uint(1)} & 3)")):
        p.line(f"{kept}[{p.index(2)}] = {number(p, [*names, f'{kept}[{p.index(2)}]'], 2)};")
    for name in (*names, f"{kept}[0]", f"{kept}[1]"):
        p.mix(f"{name} != {name} ? 0x7fc00000u : as_uint({name})")
    p.mix(f"{number(p, names, 1)} {p.choose('<', '>=', '==')} {number(p, names, 1)}")
    p.mix(f"(uint)(int)({names[0]} * 0.001f)")
