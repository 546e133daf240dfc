"""What is further away than a branch or a call leads: jumps halfway, and islands."""

import pytest

from fgpu.compiler import Image
from fgpu.compiler.backend.layout import REACH
from fgpu.compiler.backend.mir import ARGUMENTS, ZERO, MachineBlock, MachineFunction, Op, Pseudo
from fgpu.compiler.linker import Linker
from fgpu.config import Config
from fgpu.isa import Opcode
from fgpu.sim import Device

CONFIG = Config(cram_size=64)
ITEMS = 64
FIRST, TOTAL, COUNTER, OUT = *ARGUMENTS[:2], 10, 11


def chain(*bodies):
    """Blocks one after the other."""
    names = [f"b{number}" for number in range(len(bodies))]
    return {name: MachineBlock(name, ops=body, next=follower)
            for name, body, follower in zip(names, bodies, [*names[1:], None], strict=True)}


def kernel(*bodies):
    """A kernel that stores what its blocks leave in a register."""
    start = [Op(Opcode.LP, OUT, imm=0), Op(Pseudo.CONST, TOTAL), Op(Pseudo.CONST, COUNTER, imm=3)]
    end = [Op(Opcode.LID, FIRST, imm=0), Op(Opcode.SW, None, FIRST, OUT, TOTAL)]
    return MachineFunction("k", chain(start, *bodies, end))


def additions(count):
    return [Op(Opcode.ADDI, TOTAL, TOTAL, imm=1) for _ in range(count)]


def run(linker, entry):
    with Device(CONFIG, engine="functional") as device:
        out = device.buffer(ITEMS)
        device.launch(Image.from_words(linker.words, {"k": entry}), "k", global_size=ITEMS, args=[out])
        [result] = {*out.read().tolist()}
        return result


@pytest.mark.parametrize("blocks", [1, 2, 10, 40])
def test_a_loop_longer_than_a_branch(blocks):
    linker, each = Linker(CONFIG), REACH.stop * 3 // 2 // blocks
    function = kernel(*(additions(each) for _ in range(blocks)), [Op(Opcode.ADDI, COUNTER, COUNTER, imm=-1)])
    latch = function.blocks[f"b{blocks + 1}"]
    latch.branch, latch.target = Op(Opcode.BNE, rs=COUNTER, rd=ZERO), "b1"
    assert run(linker, linker.place(function)) == 3 * each * blocks


@pytest.mark.parametrize("blocks", [1, 2, 10])
def test_a_branch_over_more_than_it_leads(blocks):
    linker, each = Linker(CONFIG), REACH.stop * 3 // 2 // blocks
    function = kernel(additions(1), *(additions(each) for _ in range(blocks)), additions(3))
    before = function.blocks["b1"]
    before.branch, before.target = Op(Opcode.BEQ, rs=TOTAL, rd=TOTAL), f"b{blocks + 2}"
    assert run(linker, linker.place(function)) == 4


@pytest.mark.parametrize("taken", range(7))
def test_many_branches_over_more_than_they_lead(taken):
    """Whose jumps on the way are at nearly the same place."""
    linker, ends = Linker(CONFIG), 6
    starts = [additions(10) for _ in range(ends)]
    function = kernel([Op(Pseudo.CONST, COUNTER, imm=taken)], *starts, additions(REACH.stop + 1000),
                      *([*additions(100), Op(Opcode.ADDI, COUNTER, COUNTER, imm=-1)] for _ in range(ends)))
    for number in range(ends):
        block = function.blocks[f"b{2 + number}"]
        block.branch, block.target = Op(Opcode.BEQ, rs=FIRST, rd=COUNTER), f"b{ends + 3 + number}"
        block.ops.append(Op(Pseudo.CONST, FIRST, imm=number))
    expected = 10 * ends + REACH.stop + 1000 + 100 * ends if taken == ends \
        else 10 * (taken + 1) + 100 * (ends - taken)
    assert run(linker, linker.place(function)) == expected


def call(callee, opcode=Pseudo.CALL):
    return Op(opcode, FIRST, imm=callee.number, callee=callee, arguments=(FIRST,))


@pytest.mark.parametrize("before", [10, 3000, 8100, 8180, 9000])
@pytest.mark.parametrize("blocks", [(12, 500), (14, 100), (2, 3500), (1, 7000)])
def test_calls_of_what_is_far(before, blocks):
    """From the start, the middle and the end of a kernel; one of them by a function that ends with a jump to it."""
    count, size = blocks
    linker = Linker(CONFIG)
    callees = []
    for number in range(6):
        body = [Op(Opcode.ADDI, FIRST, FIRST, imm=10 ** number % 997)]
        entry = linker.place(MachineFunction(f"f{number}", chain(body), is_kernel=False))
        callees.append(linker.define(f"f{number}", entry, 1, frozenset({FIRST}), True, 0, 1, 0))
    for _ in range(10):
        linker.place(MachineFunction("padding", chain(additions(before // 10)), is_kernel=False))
    entry = linker.place(MachineFunction("last", chain([call(callees[5], Pseudo.JUMP)]), is_kernel=False))
    callees[5] = linker.define("last", entry, 1, frozenset({FIRST}), True, 0, 1, 0)
    sums = [op for callee in callees for op in (
        Op(Pseudo.CONST, FIRST, imm=5), call(callee), Op(Opcode.ADD, TOTAL, TOTAL, FIRST))]
    bodies = [[*additions(size), *(op.copy() for op in sums)] for _ in range(count)]
    found = run(linker, linker.place(kernel(*bodies)))
    assert found == count * (size + sum(5 + 10 ** number % 997 for number in range(6)))
    assert len(linker.words) <= CONFIG.cram_words


def test_kernels_behind_others_reach_what_those_called():
    linker = Linker(CONFIG)
    entry = linker.place(MachineFunction("f", chain([Op(Opcode.ADDI, FIRST, FIRST, imm=1)]), is_kernel=False))
    callee = linker.define("f", entry, 1, frozenset({FIRST}), True, 0, 1, 0)
    for size in (3000, 4000, 2000, 3000, 2000, 1000):
        calls = [Op(Pseudo.CONST, FIRST, imm=5), call(callee), Op(Opcode.ADD, TOTAL, TOTAL, FIRST)]
        assert run(linker, linker.place(kernel(additions(size), calls))) == size + 6


@pytest.mark.parametrize("size", [8000, 8150, 8190, 9000, 14000])
def test_kernels_behind_a_long_one_that_calls_nothing(size):
    """Which calls do not reach over."""
    linker, callees = Linker(CONFIG), []
    for number in range(3):
        body = [Op(Opcode.ADDI, FIRST, FIRST, imm=number + 1)]
        entry = linker.place(MachineFunction(f"f{number}", chain(body), is_kernel=False))
        callees.append(linker.define(f"f{number}", entry, 1, frozenset({FIRST}), True, 0, 1, 0))
    assert run(linker, linker.place(kernel(additions(size)))) == size
    for callee, result in zip(callees, (6, 7, 8), strict=True):
        body = [Op(Pseudo.CONST, FIRST, imm=5), call(callee), Op(Opcode.ADD, TOTAL, TOTAL, FIRST)]
        assert run(linker, linker.place(kernel(body))) == result


def test_islands_are_forgotten_with_what_they_were_made_for():
    linker = Linker(CONFIG)
    entry = linker.place(MachineFunction("f", chain([Op(Opcode.ADDI, FIRST, FIRST, imm=1)]), is_kernel=False))
    callee = linker.define("f", entry, 1, frozenset({FIRST}), True, 0, 1, 0)
    linker.place(MachineFunction("padding", chain(additions(8000)), is_kernel=False))
    mark = linker.mark()
    words = []
    for _ in range(2):
        body = [*additions(1000), Op(Pseudo.CONST, FIRST, imm=5), call(callee), Op(Opcode.ADD, TOTAL, TOTAL, FIRST)]
        assert run(linker, linker.place(kernel(body))) == 1006
        words.append(list(linker.words))
        linker.roll_back(mark)
    assert words[0] == words[1]
