"""How often the scheduler issues: every 8 cycles a whole wavefront, every 4 a half, every 12 the same one."""

import pytest

from fgpu.config import Config
from fgpu.isa import Operands, by_mnemonic, encode

from .harness import Pair, simple_kernel

LENGTH = 400


@pytest.fixture(scope="module")
def pair():
    pair = Pair(Config())
    yield pair
    pair.close()


def add(rd: int, rs: int) -> int:
    return encode(by_mnemonic["add"].opcode, Operands(rd, rs, rs))


RET = encode(by_mnemonic["ret"].opcode)


@pytest.mark.parametrize(("local_size", "groups", "cycles"), [
    ((512,), 1, 64),        # for each instruction of all wavefronts
    ((64,), 8, 64),
    ((64,), 2, 16),
    ((64,), 1, 12),
    ((32,), 8, 32),
    ((32,), 3, 12),
    ((32,), 1, 12),
    ((65,), 4, 4 * (8 + 4)),
    ((511,), 1, 64),
])
def test_cycles_for_each_instruction(pair, local_size, groups, cycles) -> None:
    program = [add(1 + at % 30, 1 + (at + 7) % 30) for at in range(LENGTH)] + [RET]
    kernel = simple_kernel(program, local_size=local_size, work_groups=(groups,), global_size=(1,))
    result = pair.run(kernel, clean=False)
    overhead = result.cycles - LENGTH * cycles
    assert 0 < overhead < 300, f"{result.cycles / LENGTH:.2f} cycles for each instruction"


def test_dependent_instructions_are_as_fast(pair) -> None:
    kernels = [simple_kernel([add(1, 1) if dependent else add(1, 2) for _ in range(LENGTH)] + [RET],
                             local_size=(64,), work_groups=(1,), global_size=(1,)) for dependent in (True, False)]
    first, second = (pair.run(kernel, clean=False).cycles for kernel in kernels)
    assert abs(first - second) < 4      # they start at any time in a slot
