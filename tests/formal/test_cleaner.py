"""No dirty line is lost, none is left after cleaning: proven."""

from pathlib import Path

import pytest

from fgpu.config import Config

from .cleaner_claim import cleaner_claim
from .prover import mutant

SMALL = Config(cache_size=4, cache_line=128, cache_ways=1, tag_managers=1)


@pytest.mark.ci
def test_cleaner(tmp_path: Path) -> None:
    cleaner_claim(SMALL).prove(tmp_path, depth=2)


@pytest.mark.long
def test_cleaner_of_two_ways_with_atomics(tmp_path: Path) -> None:
    config = SMALL.replace(cache_size=8, cache_ways=2, atomics=frozenset({"add"}))
    cleaner_claim(config).prove(tmp_path, depth=2)


@pytest.mark.long
def test_dirty_lines_are_cleaned(tmp_path: Path) -> None:
    """The assumptions leave a way to what the claim is about."""
    cleaner_claim(SMALL).prove(tmp_path, "cover", depth=44)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("m.d.sync += waiting.eq(self.sweep.dirty)", "m.d.sync += waiting.eq(self.sweep.dirty & -2)"),
    ("quiet.eq(self.idle & ~self.pending", "quiet.eq(~self.pending"),
    ("quiet.eq(self.idle & ~self.pending & ~self.requests.valid)", "quiet.eq(self.idle & ~self.pending)"),
    ("quiet & ~self.finished.valid", "quiet"),
    ("m.d.sync += self.hold.eq(1)", "m.d.sync += self.hold.eq(0)"),
    ("with m.If(self.pending | came):", "with m.If(came):"),
    ("with m.If(self.idle):", "with m.If(1):"),
    ("TagOp.CLEAN)", "TagOp.SCRUB)"),
    ("m.d.comb += left.eq(used & (used - 1))", "m.d.comb += left.eq(0)"),
    ("with m.If(self.sweep.uses):", "with m.If(self.sweep.uses & self.sweep.part[0]):"),
    ("with m.If(~used.any()):", "with m.If(used.any()):"),
])
def test_mutants_of_the_cleaner_fail(old: str, new: str, tmp_path: Path) -> None:
    claim = cleaner_claim(SMALL, cleaner=mutant("fgpu.cache.cleaner", old, new).Cleaner)
    assert not claim.is_proven(tmp_path, depth=2)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("t1.replaces.eq(t1.serves &", "t1.replaces.eq(t1.reads &"),
    ("Mux(walk, 0, first)", "first"),
    ("t1.new.dirty.eq((t1.hit & t1.old.dirty) | t1.atomic)", "t1.new.dirty.eq(t1.atomic)"),
    ("t0_follows.eq(t1.serves & (t1.set == t0_set))", "t0_follows.eq(0)"),
    ("t1.new.valid.eq(t1.hit & t1.old_complete),", "t1.new.valid.eq(1),"),
    ("self.stations.payload.merge.eq(t1.fill & t1.hit)", "self.stations.payload.merge.eq(0)"),
    ("state_write.data.eq(0),", "state_write.data.eq(1),"),
    ("payload.victim.eq(Cat(t1.set, t1.old_tag))", "payload.victim.eq(Cat(t1.set, t1.old_tag | 1))"),
])
def test_mutants_of_the_tag_stage_fail(old: str, new: str, tmp_path: Path) -> None:
    assert not cleaner_claim(SMALL, mutant("fgpu.cache.tag_stage", old, new).TagStage).is_proven(tmp_path, depth=2)
