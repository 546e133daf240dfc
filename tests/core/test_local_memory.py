"""Local memory of a whole core, beside the functional engine: random accesses, and how long they take."""

import random
from collections.abc import Iterator

import pytest

from fgpu.compiler import assemble
from fgpu.config import LOCAL_BASE
from fgpu.sim.descriptor import KernelDescriptor

from ..configurations import LOCAL
from ..seeds import seed_of_test
from .harness import BASE, SIZE, Pair, random_timing
from .program_generator import Kernel

ROWS = 32
WORDS = 8 * ROWS
POOL = range(8, 20)
ATOMICS = ("laadd", "lamax", "lamin", "laumax", "laumin", "laand", "laor", "laxor", "laxchg")
# r1: local id, r2: global id, r3: input, r4: output, r5: local memory
PROLOGUE = f"""
    lid   r1, 0
    wgoff r2, 0
    add   r2, r2, r1
    lp    r3, 0
    lp    r4, 1
    li    r5, {LOCAL_BASE - (1 << 32)}
"""
OUT = BASE + SIZE // 2


def prologue(size: int = 64) -> list[str]:
    """Every register of the pool and every word of local memory has a value."""
    lines = [PROLOGUE]
    for at, register in enumerate(POOL):
        lines += [f"addi r6, r2, {512 * at}", f"lw r{register}, r3[r6]"]
    for first in range(0, WORDS, size):
        lines += [f"addi r6, r1, {first}", f"andi r6, r6, {WORDS - 1}", f"lsw r{POOL[first % 7]}, r5[r6]"]
    return lines


def epilogue() -> list[str]:
    """All of them are written to the output."""
    lines = ["li r20, 16", "mul r21, r2, r20"]
    for at, register in enumerate(POOL):
        lines += [f"addi r6, r21, {at}", f"sw r{register}, r4[r6]"]
    for part in range(WORDS // 64):
        lines += [f"addi r6, r1, {64 * part}", "llw r22, r5[r6]", f"addi r6, r21, {12 + part}", "sw r22, r4[r6]"]
    return [*lines, "ret"]


def random_line(rng: random.Random) -> list[str]:
    """An access or a computation on registers of the pool, which often have to wait for each other."""
    a, b, c, index = *(f"r{rng.choice(POOL)}" for _ in range(3)), rng.choice(["r24", "r25", "r26"])
    way = rng.random()
    if way < 0.2:
        return [f"{rng.choice(['add', 'xor', 'sub'])} {a}, {b}, {c}"]
    if way < 0.35:
        return [f"andi {index}, {a}, 2047", f"lw {b}, r3[{index}]"]
    if way < 0.5:
        return [f"andi {index}, {a}, {rng.choice([WORDS - 1, WORDS - 8, 7, 0])}",
                f"slli {index}, {index}, 2", f"add {index}, {index}, r5",
                *([f"lacmpxchg {b}, {index}, {c}"] if rng.random() < 0.2 else
                  [f"{rng.choice(ATOMICS)} {b}, {index}[r0]"])]
    width, shift = rng.choice([("w", 0), ("w", 0), ("h", 1), ("b", 2)])
    most = (WORDS << shift) - 1
    return [f"andi {index}, {a}, {rng.choice([most, most, most & -8, 7])}",
            f"l{rng.choice('lls')}{width} {b}, r5[{index}]"]


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    pair = Pair(LOCAL)
    yield pair
    pair.close()


def kernel(lines: list[str], groups: int, *, local_size: int = 64, rows: int = ROWS, local_groups: int = 0) -> Kernel:
    return Kernel(assemble("\n".join(lines)).words, KernelDescriptor(
        entry=0, global_size=(groups * local_size,), local_size=(local_size,), local_rows=rows,
        local_groups=local_groups, parameters=(BASE, OUT)), range(BASE, BASE + SIZE), range(0))


@pytest.mark.ci
@pytest.mark.parametrize("number", [*range(8), *(pytest.param(number, marks=pytest.mark.long)
                                                 for number in range(8, 60))])
def test_random_accesses(pair: Pair, number: int) -> None:
    """A wavefront in each work-group, so that nothing depends on the order of wavefronts."""
    rng = random.Random(f"{seed_of_test()} {number}")
    pair.fill(range(BASE, BASE + SIZE), rng)
    pair.hardware.timing = random_timing(rng)
    body = [line for _ in range(60) for line in random_line(rng)]
    size = rng.choice([64, 64, 40, 7])
    pair.run(kernel([*prologue(size), *body, *epilogue()], 24, local_size=size,
                    local_groups=rng.choice([0, 0, 1, 3])))


@pytest.mark.ci
@pytest.mark.parametrize(("stride", "words"), [(1, 1), (2, 2), (4, 4), (8, 8), (9, 1), (3, 1), (0, 1)])
@pytest.mark.parametrize("access", ["llw r8, r5[r6]", "lsw r8, r5[r6]", "llw r8, r5[r6]\nlsw r1, r5[r7]"])
def test_a_conflict_takes_a_cycle(pair: Pair, access: str, stride: int, words: int) -> None:
    """Eight wavefronts with accesses to words at a distance of so many: the lanes of a phase are served together
    unless they meet in a bank.

    The last cycle of a load with conflicts may wait for the vector's write of registers; a load behind a store loses
    two.
    """
    runs = []
    for count in (20, 60):
        lines = [PROLOGUE, f"li r9, {stride}", "mul r6, r1, r9", "andi r6, r6, 255", "add r7, r6, r0"]
        runs.append(pair.run(kernel([*lines, *[access] * count, "ret"], 8), clean=False))
    phases, conflicts, cycles = (runs[1].stats[name] - runs[0].stats[name]
                                 for name in ("cu0.local_phases", "cu0.local_conflicts", "cycles"))
    assert phases == 40 * (1 + access.count("\n")) * 8 * 8
    assert conflicts == phases * (words - 1)
    lost = (1 if words > 1 and "lsw" not in access else 0) + (0.5 if "\n" in access else 0)
    assert words - 0.1 < cycles / phases < words + lost + 0.03      # the first ones begin before all wavefronts run


@pytest.mark.ci
def test_a_local_load_overtakes_one_of_global_memory(pair: Pair) -> None:
    """In each order of the two, and with a third instruction that needs either."""
    lines = prologue()
    for first, second in (("lw r8, r3[r2]", "llw r9, r5[r1]"), ("llw r9, r5[r1]", "lw r8, r3[r2]"),
                          ("lw r8, r3[r2]", "llw r8, r5[r1]"), ("llw r8, r5[r1]", "lw r8, r3[r2]")):
        for third in ("add r10, r8, r9", "add r10, r9, r9", "add r9, r10, r10", "llw r11, r5[r1]", "lw r11, r3[r1]",
                      "lsw r9, r5[r1]", "laadd r12, r23[r0]"):
            lines += ["addi r2, r2, 64", "slli r23, r1, 2", "add r23, r23, r5", first, second, third,
                      "add r13, r13, r8", "add r13, r13, r9", "add r13, r13, r10"]
    rng = random.Random(1)
    pair.fill(range(BASE, BASE + SIZE), rng)
    for _ in range(3):
        pair.hardware.timing = random_timing(rng)
        pair.run(kernel([*lines, "sub r2, r2, r0", "lid r1, 0", "wgoff r2, 0", "add r2, r2, r1", *epilogue()], 8))
