"""Rows in the order of the stations, proven."""

from pathlib import Path

import pytest

from fgpu.config import Config

from .data_stage_claim import data_stage_claim
from .prover import mutant


class FewLines(Config):
    """A cache of two lines: nothing but the width of the addresses depends on their number."""

    cache_lines = property(lambda self: 2)

    def __post_init__(self) -> None:
        """Such a small one is refused otherwise."""


SMALL = FewLines(compute_units=2, cache_banks=4, cache_line=64, tag_managers=1)


@pytest.mark.long
def test_data_stage(tmp_path: Path) -> None:
    data_stage_claim(SMALL).prove(tmp_path, depth=2)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("Mux(d0.begun, following, station.first)", "following"),
    ("Mux(d0.begun, final, station.single)", "final"),
    ("rest.eq(d0.left & ~d0.one)", "rest.eq(d0.left)"),
    ("d0.done.eq(Mux(d0.last, 0, d0.done | d0.one))", "d0.done.eq(d0.done | d0.one)"),
    ("d0.begun.eq(~d0.last)", "d0.begun.eq(1)"),
    ("(station.write | ~d0.wanted | room)", "1"),
    ("(station.write | ~d0.wanted | room)", "(~d0.wanted | self.responses[0].room)"),
    ("same_row = ~d0.begun &", "same_row = d0.begun &"),
    ("d1.write.eq(d0.go & (station.write | station.walk))", "d1.write.eq(station.write | station.walk)"),
    ("d1.respond.eq(d0.go & ", "d1.respond.eq("),
    ("d1.keep_dirty.eq(station.merge)", "d1.keep_dirty.eq(0)"),
    ("Mux(d0.begun, following_wanted, station.rows[0] | station.first.any())", "following_wanted"),
    ("station.rows[0] | station.first.any()", "1"),
    ("(lowest(rest) & station.rows).any()", "1"),
    ("with m.If(d1.go & ~station.spares):", "with m.If(0):"),
    ("with m.If(d1.go & station.spares):", "with m.If(0):"),
    ("with m.If(d1.go & ~(station.write & d0.wanted)):", "with m.If(d1.go & ~station.write):"),
    ("d1.replace.eq(station.walk & ~station.keep)", "d1.replace.eq(station.walk)"),
    ("(d1.cu == cu))\n            if", "(d1.cu != cu))\n            if"),
    ("self.evicted_rows.push.eq(d1.valid & d1.go & d1.evict)", "self.evicted_rows.push.eq(d1.evict)"),
])
def test_mutants_fail(old: str, new: str, tmp_path: Path) -> None:
    stage = mutant("fgpu.cache.data_stage", old, new).DataStage
    assert not data_stage_claim(SMALL, stage).is_proven(tmp_path, depth=2)
