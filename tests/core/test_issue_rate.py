"""How often the scheduler issues: every 8 cycles a whole wavefront, every 4 a half; the same one every 8, or 12 where
it needs a result."""

import pytest

from fgpu.config import Config
from fgpu.isa import Operands, by_mnemonic, encode

from ..configurations import EVERYTHING
from .harness import Pair, simple_kernel

LENGTH = 400


@pytest.fixture(scope="module")
def pair():
    pair = Pair(Config())
    yield pair
    pair.close()


@pytest.fixture(scope="module")
def float_pair():
    pair = Pair(EVERYTHING)
    yield pair
    pair.close()


def alu(mnemonic: str, rd: int, rs: int) -> int:
    row = by_mnemonic[mnemonic]
    return encode(row.opcode, Operands(rd, rs, rs if row.reads_rt else 0))


def add(rd: int, rs: int) -> int:
    return alu("add", rd, rs)


RET = encode(by_mnemonic["ret"].opcode)


@pytest.mark.parametrize(("local_size", "groups", "cycles"), [
    ((512,), 1, 64),        # for each instruction of all wavefronts
    ((64,), 8, 64),
    ((64,), 2, 16),
    ((64,), 1, 8),
    ((32,), 8, 32),
    ((32,), 3, 12),
    ((32,), 2, 8),
    ((32,), 1, 8),
    ((65,), 4, 4 * (8 + 4)),
    ((511,), 1, 64),
])
def test_cycles_for_each_instruction(pair, local_size, groups, cycles) -> None:
    program = [add(1 + at % 30, 1 + (at + 7) % 30) for at in range(LENGTH)] + [RET]
    kernel = simple_kernel(program, local_size=local_size, work_groups=(groups,), global_size=(1,))
    result = pair.run(kernel, clean=False)
    overhead = result.cycles - LENGTH * cycles
    assert 0 < overhead < 300, f"{result.cycles / LENGTH:.2f} cycles for each instruction"


@pytest.mark.parametrize("local_size", [(64,), (32,)])
@pytest.mark.parametrize(("mnemonic", "registers", "cycles"), [
    ("add", (3, 4, 4), 16), ("add", (3, 1, 4), 20), ("add", (3, 4, 1), 20),
    ("macc", (1, 4, 4), 24),
])
def test_a_result_takes_longer(pair, mnemonic, registers, cycles, local_size) -> None:
    """Cycles of an instruction that writes r1, and of another one: that names it as rs, rt or rd, or does not. The
    last of these writes it, too, and so both wait."""
    program = [add(1, 2), encode(by_mnemonic[mnemonic].opcode, Operands(*registers))] * (LENGTH // 2) + [RET]
    kernel = simple_kernel(program, local_size=local_size, work_groups=(1,), global_size=(1,))
    overhead = pair.run(kernel, clean=False).cycles - LENGTH // 2 * cycles
    assert 0 < overhead < 300


@pytest.mark.ci
@pytest.mark.parametrize(("mnemonics", "wavefronts", "cycles"), [
    (["fadd"], 1, 12), (["fslt"], 1, 12), (["fsqrt"], 1, 32), (["fdiv"], 1, 36),
    (["fadd"], 8, 64), (["fdiv"], 8, 64), (["fdiv"], 4, 36),
    (["fdiv", "fadd", "add", "itofp"], 1, 36 + 3 * 12),
])
def test_each_float_instruction_takes_its_own_latency(float_pair, mnemonics, wavefronts, cycles) -> None:
    """Dependent ones, which read a result in the cycle after it was written."""
    count = LENGTH // len(mnemonics)
    program = [alu(mnemonic, 1, 1) for _ in range(count) for mnemonic in mnemonics] + [RET]
    kernel = simple_kernel(program, local_size=(64,), work_groups=(wavefronts,), global_size=(1,))
    overhead = float_pair.run(kernel, clean=False).cycles - count * cycles
    assert 0 < overhead < 400       # at the end not all wavefronts are left
