"""The register file with reads of three operands a cycle, and all kinds of writes."""

import random

import pytest

from fgpu.config import PE_COUNT, PHASES
from fgpu.cu.register_file import RegisterFile

from ..streams import simulate

RESULT_STAGE = 10
FLOAT_RESULT_STAGE = 11


@pytest.mark.parametrize("floats", [False, True])
def test_random_reads_and_writes(floats: bool) -> None:
    """Phases in their order; results 10 cycles later, of floats sometimes 11; loads whenever their bank is free."""
    rng = random.Random(1)
    dut = RegisterFile(floats)
    contents: dict[tuple[int, int, int], list[int]] = {}
    cycles = 1500
    # For each cycle the phase issued then: wavefront, phase, register numbers.
    issued = []
    for _ in range(cycles // 4):
        wavefront = rng.randrange(2)
        half = rng.randrange(2)
        registers = {name: rng.randrange(6) for name in ("rs", "rt", "rd")}
        issued += [(wavefront, 4 * half + beat, registers) for beat in range(4)]

    def words() -> list[int]:
        return [rng.getrandbits(32) for _ in range(PE_COUNT)]

    def stored(wavefront: int, phase: int, register: int) -> list[int]:
        return list(contents.get((wavefront, phase, register), [0] * PE_COUNT))

    def write(wavefront: int, phase: int, register: int, lanes: int, new: list[int]) -> None:
        old = stored(wavefront, phase, register)
        contents[wavefront, phase, register] = [
            new[lane] if lanes >> lane & 1 else old[lane] for lane in range(PE_COUNT)]

    async def testbench(ctx) -> None:
        expected: dict[tuple[int, str], list[int]] = {}
        for cycle in range(cycles):
            for stage, name in enumerate(("rs", "rt", "rd")):
                if cycle >= stage:
                    wavefront, phase, registers = issued[cycle - stage]
                    ctx.set(dut.issue[stage], {"valid": 1, "wavefront": wavefront, "phase": phase})
                    ctx.set(dut.read[stage], registers)
                    expected[cycle - stage, name] = stored(wavefront, phase, registers[name])
            for name, stage in (("rs", 3), ("rt", 3), ("rd", 4)):
                if cycle >= stage:
                    got = [ctx.get(getattr(dut, name)[lane]) for lane in range(PE_COUNT)]
                    assert got == expected.pop((cycle - stage, name)), f"{name} in cycle {cycle}"
            # The vector's result, in the bank whose turn it is.
            lanes = rng.getrandbits(PE_COUNT) if cycle >= RESULT_STAGE else 0
            wavefront, phase, _ = issued[max(cycle - RESULT_STAGE, 0)]
            result = {"wavefront": wavefront, "phase": phase, "register": rng.randrange(6), "lanes": lanes,
                      "words": words()}
            ctx.set(dut.result, result)
            if lanes:
                write(wavefront, phase, result["register"], lanes, result["words"])
            taken = {(cycle - RESULT_STAGE) % 4}
            if floats:
                valid, bank = rng.random() < 0.5, (cycle - FLOAT_RESULT_STAGE) % 4
                result = {"wavefront": rng.randrange(2), "phase": rng.choice([bank, bank + 4]),
                          "register": rng.randrange(6), "lanes": rng.getrandbits(PE_COUNT), "words": words()}
                ctx.set(dut.float_valid, valid)
                ctx.set(dut.float_result, result)
                if valid:
                    taken.add(bank)
                    write(*result.values())
            # A load, in any other bank.
            loads = [each for each in range(PHASES) if each % 4 not in taken]
            load = {"wavefront": rng.randrange(2), "phase": rng.choice(loads), "register": rng.randrange(6),
                    "lanes": rng.getrandbits(PE_COUNT)}
            new = words()
            chosen = [rng.randrange(2) for _ in new]
            halves = [[word if half == mine else 0 for word, mine in zip(new, chosen, strict=True)]
                      for half in range(2)]
            ctx.set(dut.load, {**load, "halves": halves})
            write(*load.values(), new)
            await ctx.tick()

    simulate(dut, testbench)


@pytest.mark.parametrize("beat", range(4))
def test_clear_writes_all_banks(beat: int) -> None:
    """From the second cycle on, whatever the beat, and whoever else writes."""
    dut = RegisterFile()

    async def testbench(ctx) -> None:
        everything = {"lanes": 255, "words": [0xABCD] * PE_COUNT}
        await ctx.tick().repeat(2)
        for cycle in range(8):      # r3 of wavefront 5, phase by phase
            ctx.set(dut.result, {"wavefront": 5, "phase": cycle, "register": 3, **everything})
            await ctx.tick()
        for _ in range((beat - 2) % 4):
            await ctx.tick()
        for half in (0, 0, 1):
            ctx.set(dut.clear, 1)
            ctx.set(dut.load, {"wavefront": 5, "phase": 4 * half, "register": 3, "lanes": 255})
            await ctx.tick()
        ctx.set(dut.clear, 0)
        ctx.set(dut.load, {})
        ctx.set(dut.result, {})
        for _ in range((1 - beat) % 4):
            await ctx.tick()
        for cycle in range(11):
            if cycle < 8:
                ctx.set(dut.issue[0], {"valid": 1, "wavefront": 5, "phase": cycle})
                ctx.set(dut.read[0], {"rs": 3})
            if cycle >= 3:
                assert not any(ctx.get(dut.rs)), f"phase {cycle - 3}"
            await ctx.tick()

    simulate(dut, testbench)
