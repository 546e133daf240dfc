"""Statements about where things are: vectors viewed through integers, structs with padding, unions."""

from dataclasses import dataclass

from .program import Program, statement

_VECTORS = {"uint2": 2, "uint4": 4, "uint8": 8, "uint16": 16}
_MEMBERS = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "uint": 4, "int": 4, "ulong": 8, "uchar2": 2, "short4": 8,
            "uint2": 8, "uint3": 16, "uint4": 16}


@dataclass(frozen=True)
class Struct:
    """A struct of the file; ``members`` are the names and types of its scalars and vectors, some in arrays."""

    name: str
    members: tuple[tuple[str, str], ...]

    def value(self, p: Program) -> str:
        """An initializer."""
        return "{" + ", ".join(f".{name} = ({type})({p.uint(1)})" for name, type in self.members) + "}"

    def constant(self, p: Program) -> str:
        """One that is known to the compiler."""
        return "{" + ", ".join(f".{name} = ({type})({p.rng.randint(0, 100)})" for name, type in self.members) + "}"

    def read(self, p: Program, object: str, some: bool = False) -> None:
        """All members, or ``some``, of ``object``."""
        for name, type in self.members:
            if not some or p.chance():
                lanes = "xyz" if type.endswith("3") else "xyzw" if type.endswith("4") else "xy"
                lane = f".{p.choose(*lanes)}" if type[-1].isdigit() else ""
                p.mix(f"{object}.{name}{lane}")


def make_struct(p: Program) -> Struct:
    """Members of any sizes, so that there is padding between and after them."""
    types = [p.choose(*_MEMBERS) for _ in range(p.choose(2, 2, 3, 3, 4, 5))]
    types[p.rng.randrange(len(types))] = p.choose("char", "uchar", "short", "ushort")
    name, declared, members = p.file_name("rec"), [], []
    for number, type in enumerate(types):
        match p.choose("plain", "plain", "plain", "array", "struct"):
            case "plain":
                declared.append(f"{type} m{number};")
                members.append((f"m{number}", type))
            case "array":
                length = p.choose(2, 3)
                declared.append(f"{type} m{number}[{length}];")
                members += [(f"m{number}[{at}]", type) for at in range(length)]
            case "struct":
                inner = p.choose("char", "uchar", "ushort")
                declared.append(f"struct {{ {type} a; {inner} b; }} m{number};")
                members += [(f"m{number}.a", type), (f"m{number}.b", inner)]
    p.top.append(f"struct {name} {{ {' '.join(declared)} }};")
    return Struct(name, tuple(members))


def aligned_vectors(p: Program) -> tuple[str, int, int]:
    """Private vectors after an odd number of words: their name, how many, and of how many words.

    Few words in all, which find room in the scratchpad.
    """
    for _ in range(p.choose(0, 1, 1, 1)):
        other, length = p.name("z"), p.choose(1, 2, 3, 3)
        p.line(f"uint {other}[{length}] = {p.values(length)};")
        p.line(f"{other}[{p.index(length)}] = {p.uint(1)};")
        p.mix(f"{other}[{p.index(length)}]")
    type, count, name = p.choose("uint2", "uint4", "uint4", "uint4", "uint8"), p.choose(1, 1, 2, 2, 3), p.name("v")
    words = _VECTORS[type]
    values = [f"({type})({', '.join(p.choose(p.number(), p.uint(0)) for _ in range(words))})" for _ in range(count)]
    p.line(f"{type} {name}[{count}] = {{{', '.join(values)}}};")
    if p.chance():
        p.line(f"{name}[{p.index(count)}] += {p.uint(1)};")
    return name, count, words


@statement(4)
def vectors_as_integers(p: Program) -> None:
    """Words of aligned vectors, found by bits of their addresses."""
    name, count, words = aligned_vectors(p)
    size, word = 4 * words, p.index(words, 0)
    pointer = p.name("q")
    element = f"((uint *){name} + {p.index(count * words)})"
    vector = f"(uintptr_t)&{name}[{p.index(count)}]"
    p.line(f"uint *{pointer} = (uint *)(" + p.choose(
        f"(uintptr_t){name} + 4 * {p.index(count * words)}", f"({vector}) | 4 * {word}", f"({vector}) + 4 * {word}",
        f"({vector}) ^ 4 * {word}", f"(uintptr_t){element} & ~(uintptr_t){size - 1}",
        f"(uintptr_t){element} | {size - 4}", f"(uintptr_t){element} ^ 4") + ");")
    if p.chance(0.3):
        p.line(f"*{pointer} {p.choose('=', '+=')} {p.uint(1)};")
    p.mix(p.choose(f"*{pointer}", f"((uint *)((uintptr_t){pointer} & ~(uintptr_t){size - 1}))[{word}]"))
    p.mix(p.choose(f"(uintptr_t){element} & {size - 1}", f"(uintptr_t){pointer} & {size - 4}",
                   f"(uintptr_t){pointer} - (uintptr_t){name}", f"{pointer} - (uint *){name}"))


@statement(2)
def aligned_arrays(p: Program) -> None:
    """Arrays that ask for an alignment."""
    before, name, alignment = p.name("z"), p.name("a"), p.choose(8, 16, 32)
    length = p.choose(alignment // 4, alignment // 2, alignment // 4 + 1)
    p.line(f"uint {before}[3] = {p.values(3)};")
    p.line(f"{before}[{p.index(3)}] = {p.uint(1)};")
    p.line(f"uint {name}[{length}] __attribute__((aligned({alignment}))) = {p.values(length)};")
    p.line(f"{name}[{p.index(length)}] ^= {p.uint(1)};")
    element = f"&{name}[{p.index(length)}]"
    p.mix(f"*(uint *)((uintptr_t){element} & ~(uintptr_t){alignment - 1})")
    p.mix(f"{before}[{p.index(3)}] + (uint)((uintptr_t){element} & {alignment - 1})")
    if not p.is_function and p.chance():
        p.mix(f"*(__global uint *)((uintptr_t)&own[{p.index(8)}] & ~(uintptr_t)31)")


@statement(4)
def structs_by_index(p: Program) -> None:
    """Structs chosen and copied by number, in private memory."""
    struct, name, length = make_struct(p), p.name("a"), p.choose(2, 2, 3, 4)
    p.line(f"struct {struct.name} {name}[{length}] = {{{', '.join(struct.value(p) for _ in range(length))}}};")
    for _ in range(p.choose(1, 1, 2, 3)):
        member, type = p.choose(*struct.members)
        match p.choose("copy", "member", "choice", "pointer"):
            case "copy":
                p.line(f"{name}[{p.index(length)}] = {name}[{p.index(length)}];")
            case "member":
                p.line(f"{name}[{p.index(length)}].{member} += ({type})({p.uint(1)});" if type != "int" else
                       f"{name}[{p.index(length)}].{member} = (int)({p.uint(1)});")
            case "choice":
                other = p.name("one")
                p.line(f"struct {struct.name} {other} = {p.condition()} ? {name}[{p.index(length)}] : "
                       f"{name}[{p.index(length)}];")
                struct.read(p, other, some=True)
            case "pointer":
                pointer = p.name("q")
                p.line(f"struct {struct.name} *{pointer} = {p.condition()} ? 0 : &{name}[{p.index(length)}];")
                p.line(f"if ({pointer}) {name}[{p.index(length)}] = *{pointer};")
    one = p.name("one")
    p.line(f"struct {struct.name} {one} = {name}[{p.index(length)}];")
    struct.read(p, one)


@statement(3)
def structs_for_functions(p: Program) -> None:
    """Structs by value, by address, and as results."""
    struct, name, result = make_struct(p), p.file_name("change"), p.name("one")
    kind = f"struct {struct.name}"
    member, type = p.choose(*struct.members)
    way = p.choose("value", "address", "result")
    head = {"value": f"uint {name}({kind} s, uint a)", "address": f"uint {name}({kind} *s, uint a)",
            "result": f"{kind} {name}({kind} *s, uint a)"}[way]
    with p.function(head, ["a"]):
        if way == "value":
            struct.read(p, "s")
        else:
            p.line(f"s->{member} = ({type})({p.uint(1)});")
        p.line("return *s;" if way == "result" else "return a;")
    array, length = p.name("a"), p.choose(1, 2, 3)
    p.line(f"{kind} {array}[{length}] = {{{', '.join(struct.value(p) for _ in range(length))}}};")
    element = f"{array}[{p.index(length)}]"
    if way == "result":
        p.line(f"{kind} {result} = {name}(&{element}, {p.uint(1)});")
        struct.read(p, result)
    else:
        p.mix(f"{name}({'&' * (way == 'address')}{element}, {p.uint(1)})")
    struct.read(p, f"{array}[{p.index(length)}]", some=True)


@statement(3)
def structs_from_outside(p: Program) -> None:
    """Structs in tables, in the kernel's arguments, and in global memory."""
    struct, length, one = make_struct(p), p.choose(2, 3, 4), p.name("one")
    kind = f"struct {struct.name}"
    if p.chance() or p.is_function:
        name = p.file_name("tabrec")
        p.top.append(f"__constant {kind} {name}[{length}] = "
                     f"{{{', '.join(struct.constant(p) for _ in range(length))}}};")
    else:
        name = p.buffer(f"{p.choose('__constant', '__global const')} {kind} *", p.words(256))
    if p.chance():
        p.line(f"{kind} {one} = {name}[{p.index(length)}];")
    else:
        p.line(f"{kind} {one} = {p.condition()} ? {name}[{p.index(length)}] : {name}[{p.index(length)}];")
    struct.read(p, one)


@statement(2)
def structs_in_global_memory(p: Program) -> None:
    """Structs of each work-item, written and copied."""
    if p.is_function:
        return structs_by_index(p)
    struct, own, length = make_struct(p), p.name("g"), p.choose(1, 2, 3)
    kind = f"__global struct {struct.name} *"
    room = p.buffer(kind, bytes(512 * length * p.items))
    p.line(f"{kind}{own} = {room} + {length} * i;")
    for number in range(length):
        for name, type in struct.members:
            p.line(f"{own}[{number}].{name} = ({type})({p.uint(1)});")
    p.line(f"{own}[{p.index(length)}] = {own}[{p.index(length)}];")
    private = p.name("one")
    p.line(f"struct {struct.name} {private} = {own}[{p.index(length)}];")
    member, type = p.choose(*struct.members)
    p.line(f"{private}.{member} = ({type})({p.uint(1)});")
    p.line(f"{own}[{p.index(length)}] = {private};")
    p.line(f"{private} = {p.condition()} ? {own}[{p.index(length)}] : {private};")
    struct.read(p, private)
    return None


@statement(1)
def unions(p: Program) -> None:
    """Words written, halves and bytes read."""
    kind, name = p.file_name("both"), p.name("u")
    p.top.append(f"union {kind} {{ uint w[2]; ushort h[4]; uchar b[8]; ulong l; uint2 v; }};")
    p.line(f"union {kind} {name};")
    p.line(f"{name}.l = {p.uint(1)} * 0x100000001ul;")
    members = {"w": 2, "h": 4, "b": 8}
    for _ in range(p.choose(1, 2, 3)):
        to, length = p.choose(*members.items())
        p.line(f"{name}.{to}[{p.index(length)}] = {p.uint(1)};")
    for member, length in members.items():
        p.mix(f"{name}.{member}[{p.index(length)}]")
    p.mix(p.choose(f"{name}.v.y", f"(uint)({name}.l >> 32)"))


@statement(2)
def small_elements(p: Program) -> None:
    """Arrays of other types, and of more dimensions."""
    type, length, name = p.choose("uchar", "char", "ushort", "short", "ulong"), p.choose(3, 4, 6, 12), p.name("c")
    if p.chance():
        p.line(f"{type} {name}[{length}] = {{{', '.join(str(p.rng.randint(0, 99)) for _ in range(length))}}};")
        for _ in range(p.choose(1, 2)):
            p.line(f"{name}[{p.index(length)}] = ({type})({p.uint(1)});")
        p.mix(f"{name}[{p.index(length)}]")
        pointer = p.name("q")
        p.line(f"{type} *{pointer} = {p.condition()} ? &{name}[{p.index(length)}] : 0;")
        p.mix(f"{pointer} ? (uint)*{pointer} + (uint)({pointer} - {name}) : 7")
    else:
        rows = p.choose(2, 3)
        p.line(f"{type} {name}[{rows}][{length}];")
        with p.loop(rows) as row, p.loop(length) as column:
            p.line(f"{name}[{row}][{column}] = ({type})({p.uint(1)});")
        p.line(f"{type} (*{name}_row)[{length}] = &{name}[{p.index(rows)}];")
        p.mix(f"{name}[{p.index(rows)}][{p.index(length)}] + (*{name}_row)[{p.index(length)}]")
