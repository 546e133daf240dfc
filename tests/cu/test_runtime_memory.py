"""The runtime memory: what the dispatcher and the launcher write is what work-items read."""

import random

from amaranth.hdl import Const

from fgpu.config import PE_COUNT, PHASES, WAVEFRONTS
from fgpu.cu.control_word import RuntimeValue
from fgpu.cu.runtime_memory import RuntimeMemory
from fgpu.interfaces.runtime import RuntimeAddress

from ..streams import simulate


def address(function, *fields: tuple[int, int]) -> int:
    """The 9-bit address that a function of :class:`RuntimeAddress` makes of (value, width)."""
    value = function(*(Const(value, width) for value, width in fields))
    bits, at = 0, 0
    for part in value.parts:
        bits |= part.value << at
        at += len(part)
    assert at == 9
    return bits


def test_every_value() -> None:
    rng = random.Random(1)
    dut = RuntimeMemory()
    local_ids = {(dimension, wavefront, phase): [rng.randrange(512) for _ in range(PE_COUNT)]
                 for dimension in range(3) for wavefront in range(WAVEFRONTS) for phase in range(PHASES)}
    parameters = [rng.getrandbits(32) for _ in range(16)]
    sizes = [(rng.getrandbits(32), rng.getrandbits(32)) for _ in range(3)]
    groups = {(dimension, slot): (rng.getrandbits(32), rng.getrandbits(32))
              for dimension in range(3) for slot in range(WAVEFRONTS)}

    def memory_words():
        for (dimension, wavefront, phase), ids in local_ids.items():
            word = sum(each << 9 * lane for lane, each in enumerate(ids))
            yield address(RuntimeAddress.local_ids, (dimension, 2), (wavefront, 3), (phase, 3)), word
        for number, word in enumerate(parameters):
            yield address(RuntimeAddress.parameter, (number, 4)), word
        for dimension, (low, high) in enumerate(sizes):
            yield address(RuntimeAddress.size, (dimension, 2)), low | high << 32
        for (dimension, slot), (low, high) in groups.items():
            yield address(RuntimeAddress.work_group, (dimension, 2), (slot, 3)), low | high << 32

    words = list(memory_words())
    assert len({at for at, _ in words}) == len(words)

    def expected(value: RuntimeValue, selector: int, slot: int, number: int, phase: int,
                 dimensions: int) -> tuple[int | None, list[int]]:
        wants_ids = value in (RuntimeValue.NONE, RuntimeValue.WORK_GROUP_OFFSET) and selector < dimensions
        ids = local_ids[selector, number, phase] if wants_ids else [0] * PE_COUNT
        word = {
            RuntimeValue.NONE: lambda: None,
            RuntimeValue.PARAMETER: lambda: parameters[selector],
            RuntimeValue.SIZE: lambda: sizes[selector][0],
            RuntimeValue.WORK_GROUP_SIZE: lambda: sizes[selector][1],
            RuntimeValue.WORK_GROUP_OFFSET: lambda: groups[selector, slot][0],
            RuntimeValue.WORK_GROUP_ID: lambda: groups[selector, slot][1],
        }[value]()
        return word, ids

    async def testbench(ctx) -> None:
        for at, word in rng.sample(words, len(words)):
            ctx.set(dut.write, {"valid": 1, "address": at, "word": word})
            await ctx.tick()
        ctx.set(dut.write, {"valid": 0, "address": 0, "word": 0})
        for dimensions in (1, 2, 3):
            ctx.set(dut.dimensions_minus_1, dimensions - 1)
            await ctx.tick()
            waiting: list[tuple[bool, int | None, list[int]]] = []
            for _ in range(300):
                value = rng.choice(list(RuntimeValue))
                wants_ids = value is RuntimeValue.NONE or (value is RuntimeValue.WORK_GROUP_OFFSET
                                                           and rng.random() < 0.5)
                selector = rng.randrange(16 if value is RuntimeValue.PARAMETER else 3)
                slot, number, phase = (rng.randrange(8) for _ in range(3))
                ctx.set(dut.issue, {"wavefront": slot, "phase": phase})
                ctx.set(dut.value, value)
                ctx.set(dut.wants_local_ids, wants_ids)
                ctx.set(dut.selector, selector)
                ctx.set(dut.wavefront_number, number)
                waiting.append((wants_ids, *expected(value, selector, slot, number, phase, dimensions)))
                if len(waiting) > 2:    # valid two stages after the read
                    had_ids, uniform, ids = waiting.pop(0)
                    assert uniform in (None, ctx.get(dut.uniform))
                    assert not had_ids or [ctx.get(dut.local_ids[lane]) for lane in range(PE_COUNT)] == ids
                await ctx.tick()

    simulate(dut, testbench)
