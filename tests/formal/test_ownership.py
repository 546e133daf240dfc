"""One owner for each cache line, proven."""

from pathlib import Path

import pytest

from fgpu.config import Config

from .ownership_claim import ownership_claim
from .prover import mutant

SMALL = Config(cache_size=4, cache_line=128, cache_ways=1, tag_managers=1)


@pytest.mark.ci
def test_single_owner(tmp_path: Path) -> None:
    ownership_claim(SMALL).prove(tmp_path, depth=2)


@pytest.mark.long
@pytest.mark.parametrize("config", [
    SMALL.replace(cache_line=64, tag_managers=2), SMALL.replace(tag_managers=8),
], ids=["64 lines", "8 managers"])
def test_larger_single_owner(config: Config, tmp_path: Path) -> None:
    ownership_claim(config).prove(tmp_path, depth=2)


@pytest.mark.long
def test_victims_are_waited_for(tmp_path: Path) -> None:
    """The assumptions leave room for what the claim is about."""
    ownership_claim(SMALL).prove(tmp_path, "cover", depth=12)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("managers.conflict | (t1.replaces & (managers.victim_conflict | ~t1.waited))",
     "t1.replaces & (managers.victim_conflict | ~t1.waited)"),
    ("t1.replaces & (managers.victim_conflict | ~t1.waited)", "0"),
    ("managers.victim_conflict | ~t1.waited", "managers.victim_conflict"),
    ("(t1.old_complete | ~t1.old.populated) & ~managers.conflict", "(t1.old_complete | ~t1.old.populated)"),
    ("t1.hit.eq(t1.match & t1.old.valid", "t1.hit.eq(t1.old.valid"),
    ("t0_waits.eq(t1.retires)", "t0_waits.eq(0)"),
    ("self.fills.valid.eq(t1.go & t1.fill)", "self.fills.valid.eq(t1.valid & t1.fill)"),
])
def test_mutants_fail(old: str, new: str, tmp_path: Path) -> None:
    stage = mutant("fgpu.cache.tag_stage", old, new).TagStage
    holds, _ = ownership_claim(SMALL, stage).check(tmp_path, "bmc", depth=12)
    assert not holds
