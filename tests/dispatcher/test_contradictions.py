"""The dispatcher with descriptors whose words contradict each other: each word means what
docs/control-interface.md says, whatever the others say."""

import random
from itertools import product

import numpy as np

from fgpu.address_map import DESCRIPTOR_WORDS, DescriptorWord
from fgpu.config import PE_COUNT
from fgpu.sim.functional.local_ids import local_ids

from ..streams import simulate
from .test_dispatcher import WORD, Bench

ENTRY, SHAPE, SIZE = DescriptorWord.ENTRY.value, DescriptorWord.SHAPE.value, DescriptorWord.SIZE.value
OFFSET, GROUPS = DescriptorWord.GLOBAL_OFFSET.value, DescriptorWord.WORK_GROUPS.value


def random_words(rng: random.Random, before: list[int] | None) -> list[int]:
    """Anything for a few work-groups; sometimes the words of the kernel before, but for its number of wavefronts."""
    if before is not None and rng.random() < 0.4:
        words = list(before)
    else:
        words = [rng.getrandbits(32) for _ in range(DESCRIPTOR_WORDS)]
        dimensions = rng.randint(1, 3)
        words[SHAPE] = dimensions - 1 << 30
        for index in range(3):
            words[SHAPE] |= rng.choice([0, 1, 3, 8, 600, rng.randrange(1024)]) << 10 * index
            if index < dimensions:
                words[GROUPS + index] = rng.randint(0, 1)
        words[SIZE] = 1 << 28 | rng.getrandbits(28)     # one parameter
    words[ENTRY] = rng.choice([1, 6, 9]) << 28 | rng.getrandbits(28)     # of 9 the hardware takes 1
    return words


def check(bench: Bench, words: list[int]) -> None:
    dimensions = (words[SHAPE] >> 30) + 1
    extents = [words[SHAPE] >> 10 * index & 1023 if index < dimensions else 1 for index in range(3)]
    last = [words[GROUPS + index] if index < dimensions else 0 for index in range(3)]
    expected = []
    for ids in product(*(range(each + 1) for each in reversed(last))):
        ids = ids[::-1]
        expected.append((ids, tuple((words[OFFSET + index] + ids[index] * extents[index]) % WORD
                                    for index in range(3))))
    assert bench.groups == expected
    wavefronts = (words[ENTRY] >> 28 & 7) + 1
    assert bench.kernel.wavefronts_minus_1 + 1 == wavefronts
    assert bench.kernel.last_mask == (1 << ((words[SIZE] & 1023) - 1) % 64 + 1) - 1
    for (dimension, item), number in np.ndenumerate(local_ids(tuple(extents), dimensions, wavefronts)):
        phase, lane = divmod(item, PE_COUNT)
        assert bench.runtime[dimension << 6 | phase] >> 9 * lane & 511 == number


def test_contradicting_words() -> None:
    """Local ids are kept from the kernel before only if its words 0 and 7 asked for the same."""
    rng = random.Random(1)
    bench = Bench(1, rng)

    async def drive(ctx) -> None:
        words = None
        for _ in range(10):
            words = random_words(rng, words)
            bench.lram[:DESCRIPTOR_WORDS] = words
            bench.initialize = rng.random() < 0.3
            bench.groups.clear()
            bench.finished.clear()
            bench.pending = 1
            while not bench.finished:
                await ctx.tick()
            check(bench, words)

    simulate(bench.dut, drive, background=[bench.memory, lambda ctx: bench.unit(ctx, 0)])
