"""The tag managers, proven."""

from pathlib import Path

import pytest

from fgpu.config import Config

from .prover import mutant
from .tag_manager_claim import tag_manager_claim


@pytest.mark.parametrize("entries", [1, 2, pytest.param(8, marks=pytest.mark.ci)])
def test_tag_managers(entries: int, tmp_path: Path) -> None:
    tag_manager_claim(Config(tag_managers=entries)).prove(tmp_path, depth=2)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("~(filling | evicting[:normal])", "~filling"),
    ("& ~(ready & (spare == first + n))", ""),
    ("with m.If(take | ~ready):", "with m.If(~ready):"),
    ("with m.Elif(self.written.valid & (self.written.payload == n)):", "with m.Elif(self.evicted.valid):"),
    (" | (allocate & allocation.evict & new_matches)", ""),
    ("(evicting & next_matches).any()", "evicting.all()"),
    ("stage.conflict.eq((evicting & matches).any())", "stage.conflict.eq(0)"),
    ("places[n - normal].eq(stage.index)", "places[n - normal].eq(0)"),
    ("(evicting[normal:] & Cat(place", "(evicting[:normal] & Cat(place"),
    ("Cat(*(spare_ready & (stage", "Cat(*((stage"),
    ("Mux(spare[n], new_matches", "Mux(0, new_matches"),
    ("write.en.eq(stage.allocations.ready)", "write.en.eq(1)"),
    ("write.addr.eq(taken)", "write.addr.eq(stage.spare)"),
    ("~filling.any() & ~evicting.any()", "~filling.any()"),
    (" & ~evicting.any() & ~allocate", " & ~evicting.any()"),
])
def test_mutants_fail(old: str, new: str, tmp_path: Path) -> None:
    managers = mutant("fgpu.cache.tag_manager", old, new).TagManagers
    holds, _ = tag_manager_claim(Config(tag_managers=2), managers).check(tmp_path, "bmc", depth=8)
    assert not holds
