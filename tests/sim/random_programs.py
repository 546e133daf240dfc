"""Random programs that end, do not race and use every integer instruction; shared by the engines' tests.

Registers r1 to r15 hold random values; r26 counts loops, r25 and r27 to r30 are the harness's. Each work-item has
128 bytes of global memory of its own (r30 points there): it reads and writes the first half, and leaves its
registers in the second half at its end.
"""

from itertools import chain

from hypothesis import strategies as st

from fgpu.isa import Format, Opcode, Operands, Unit, by_mnemonic, encode

AREA = 0x1000_0000
INPUT = 0x1010_0000
INPUT_WORDS = 256

_registers = st.integers(0, 15)
_ALU = [row for row in by_mnemonic.values()
        if row.unit in (Unit.ADD, Unit.SHIFT, Unit.LOGIC, Unit.MOVE, Unit.MULTIPLY, Unit.COMPARE)]
_RUNTIME = [row for row in by_mnemonic.values() if row.unit is Unit.RUNTIME]


def asm(mnemonic, rd=0, rs=0, rt=0, imm=0):
    return encode(by_mnemonic[mnemonic].opcode, Operands(rd, rs, rt, imm))


@st.composite
def _alu(draw):
    row = draw(st.sampled_from(_ALU))
    imm = 0
    if row.immediate is not None:
        allowed = row.immediate_range
        imm = draw(st.integers(allowed[0], allowed[-1]))
    rs = 0 if row.format is Format.RD_IMM else draw(_registers)
    rt = draw(_registers) if row.format is Format.RD_RS_RT else 0
    return [encode(row.opcode, Operands(draw(_registers), rs, rt, imm))]


@st.composite
def _runtime(draw, dimensions):
    row = draw(st.sampled_from(_RUNTIME))
    limit = 3 if row.opcode is Opcode.LP else dimensions - 1
    return [encode(row.opcode, Operands(draw(_registers), imm=draw(st.integers(0, limit))))]


@st.composite
def _memory(draw):
    """An access of the work-item's own area, or a load from the input."""
    name = draw(st.sampled_from(["lb", "lh", "lw", "sb", "sh", "sw", "input"]))
    rd, index = draw(_registers), draw(_registers)
    if name == "input":
        return [asm("andi", 27, index, imm=INPUT_WORDS - 1), asm("lp", 28, imm=1), asm("lw", rd, 27, 28)]
    count = {"b": 64, "h": 32, "w": 16}[name[1]]
    return [asm("andi", 27, index, imm=count - 1), asm(name, rd, 27, 30)]


@st.composite
def _scratchpad(draw):
    return [asm(draw(st.sampled_from(["llwi", "lswi"])), draw(_registers), draw(_registers),
                imm=draw(st.integers(-100, 100)))]


@st.composite
def _blocks(draw, dimensions, subroutines, loops, least, most):
    simple = st.one_of(_alu(), _alu(), _runtime(dimensions), _memory(), _scratchpad())
    blocks = draw(st.lists(simple, min_size=least, max_size=most))
    words, starts = [], []
    for at, block in enumerate(blocks):
        starts.append(len(words))
        kind = draw(st.sampled_from(["", "", "skip", "skip", "call" if subroutines else "", "loop" if loops else ""]))
        if kind == "skip":
            name, register, other = draw(st.sampled_from(["beq", "bne"])), draw(_registers), draw(_registers)
            if draw(st.booleans()):  # one bit, or two, diverge more often than a whole register
                words.append(asm("andi", 25, register, imm=draw(st.sampled_from([1, 2, 3, 4, 12, 64]))))
                register, other = 25, 0
            words.append(("skip", name, register, other, at + draw(st.integers(0, 4))))
        elif kind == "call":
            words.append(("call", draw(st.sampled_from(subroutines))))
        elif kind == "loop":
            # A different number of turns for different work-items, when the register differs.
            body = draw(_alu()) + block
            words += [asm("andi", 26, draw(_registers), imm=3), asm("addi", 26, 26, imm=1), *body,
                      asm("addi", 26, 26, imm=-1), asm("bne", 26, 0, imm=-(len(body) + 2))]
        words += block
    starts += [len(words)] * 5
    # Skips go forward to the start of a block, so that no block runs from its middle.
    for here, item in enumerate(words):
        if isinstance(item, tuple) and item[0] == "skip":
            _, name, register, other, block = item
            words[here] = asm(name, register, other, imm=max(starts[block] - here - 1, 0))
    return words


def _joined(parts):
    """The words of all parts in a row; calls name a part."""
    starts = [sum(map(len, parts[:index])) for index in range(len(parts))]
    words = []
    for item in chain.from_iterable(parts):
        words.append(item if isinstance(item, int) else asm("jsub", imm=starts[item[1]] - len(words)))
    return words


def _prologue(local_size):
    """Puts the work-item's linear local id, with the group's, into r29 and the pointer into r30."""
    words = [asm("lid", 29), asm("wgid", 28)]
    for dimension in range(1, len(local_size)):
        words += [asm("lid", 27, imm=dimension)]
        scale = 1
        for extent in local_size[:dimension]:
            scale *= extent
        words += [asm("li", 26, imm=scale), asm("macc", 29, 26, 27)]
    total = 1
    for extent in local_size:
        total *= extent
    words += [asm("li", 26, imm=total), asm("macc", 29, 26, 28)]
    words += [asm("slli", 27, 29, imm=7), asm("lp", 30), asm("add", 30, 30, 27)]
    words += [asm("mul", 1, 29, 29), asm("add", 2, 29, 0), asm("andi", 3, 29, imm=3), asm("lp", 4, imm=2)]
    words += [asm("lp", 28, imm=1)]
    for register in range(5, 16):
        words += [asm("addi", 27, 29, imm=11 * register), asm("andi", 27, 27, imm=INPUT_WORDS - 1),
                  asm("lw", register, 27, 28)]
    return words


def _epilogue():
    words = []
    for register in range(1, 16):
        words += [asm("li", 27, imm=16 + register), asm("sw", register, 27, 30)]
    return [*words, asm("ret")]


@st.composite
def programs(draw, local_size):
    """Words of a program for work-groups of the given local size, several in dimension 0 only.

    Its parameters are the areas' address, the input's address and two words of any value.
    """
    dimensions = len(local_size)
    leaf = [*draw(_blocks(dimensions, [], False, 1, 8)), asm("ret")]
    middle = [*draw(_blocks(dimensions, [2], False, 1, 8)), asm("ret")]
    main = draw(_blocks(dimensions, [1, 2], True, 8, 30))
    return _joined([_prologue(local_size) + main + _epilogue(), middle, leaf])
