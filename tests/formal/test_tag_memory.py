"""The tag stage gets the tags that it wrote last, proven."""

from pathlib import Path

import pytest

from fgpu.config import Config

from .prover import mutant
from .tag_memory_claim import tag_memory_claim

SMALL = Config(cache_size=4, cache_line=128, cache_ways=1, tag_managers=1)
TWO_WAYS = SMALL.replace(cache_size=8, cache_ways=2)


@pytest.mark.parametrize("config", [SMALL, pytest.param(TWO_WAYS, marks=pytest.mark.ci)], ids=["one way", "two ways"])
def test_tags_are_those_written_last(config: Config, tmp_path: Path) -> None:
    tag_memory_claim(config).prove(tmp_path, depth=2)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("Mux(written, write.data, read.data)", "read.data"),
    ("Mux(written, write.data, read.data)", "Mux(write.en, write.data, read.data)"),
    ("with m.If(self.step):", "with m.If(1):"),
    ("self.write.valid & (self.write.way == way)", "self.write.valid"),
])
def test_mutants_fail(old: str, new: str, tmp_path: Path) -> None:
    memory = mutant("fgpu.cache.tag_memory", old, new).TagMemory
    holds, _ = tag_memory_claim(TWO_WAYS, memory).check(tmp_path, "bmc", depth=6)
    assert not holds
