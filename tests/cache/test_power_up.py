"""Whatever the cache's memories hold at power-up: right answers, nothing else written, and the same cycles."""

import random
from typing import Any

import pytest
from amaranth.hdl import Shape, ShapeCastable
from amaranth.lib.memory import Memory

from fgpu.config import Config

from .bench import Bench
from .test_random import rounds

WAYS = {ways: Config(cache_size=8, cache_ways=ways, tag_managers=4, cache_banks=4) for ways in (1, 2, 4)}


def contents(shape: Any, depth: int, rng: random.Random) -> list[Any]:
    """Random words of a shape."""
    words = [rng.getrandbits(Shape.cast(shape).width) for _ in range(depth)]
    return [shape.from_bits(word) for word in words] if isinstance(shape, ShapeCastable) else words


def cycles(config: Config, seed: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """When the responses to random traffic came, and the end. ``seed``: of what memories hold at first; 0: zeros."""
    plain = Memory.__init__
    rng = random.Random(seed)

    def powered(self: Memory, *, shape: Any, depth: int, init: list[Any], **options: Any) -> None:
        assert not list(init), "nothing may rely on what a memory holds at first"
        plain(self, shape=shape, depth=depth, init=contents(shape, depth, rng) if seed else [], **options)

    with monkeypatch.context() as patch:
        patch.setattr(Memory, "__init__", powered)
        bench = Bench(config, seed=1)
        # Few sets, with more lines than ways, so that what was replaced first matters.
        sets = bench.rng.sample(range(config.cache_sets), 12 // config.cache_ways)
        bench.places = [way * config.cache_sets + each for way in range(config.cache_ways) for each in sets]
        bench.simulate(lambda bench: rounds(bench, 2, 100))
    return [*bench.units[0].response_at, bench.cycle]


@pytest.mark.ci
@pytest.mark.parametrize("ways", [4, *(pytest.param(ways, marks=pytest.mark.long) for ways in (1, 2))])
def test_random_traffic(ways: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cycles(WAYS[ways], 1, monkeypatch) == cycles(WAYS[ways], 0, monkeypatch)
