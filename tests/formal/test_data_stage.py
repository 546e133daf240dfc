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
    ("d0_one.eq(d0_left & -d0_left)", "d0_one.eq(d0_left & ~(d0_left - 1) & -2)"),
    ("with m.If(d0_go):\n            m.d.sync += d0_done.eq(Mux(d0_last, 0, d0_done | d0_one))",
     "with m.If(d0_go):\n            m.d.sync += d0_done.eq(d0_done | d0_one)"),
    ("d1_go.eq(~(d1_valid & d1_respond & blocked)),", "d1_go.eq(1),"),
    ("collision.eq(d1_valid & d1_write & (d1_address == d0_address) & ~(d0.write & ~d0.walk)),", "collision.eq(0),"),
    ("d1_keep_dirty.eq(d0.merge)", "d1_keep_dirty.eq(0)"),
    ("d1_replace.eq(d0.walk & ~d0.keep)", "d1_replace.eq(d0.walk)"),
    ("(d1_cu == cu))\n                if", "(d1_cu != cu))\n                if"),
    ("self.evicted_rows.push.eq(d1_valid & d1_go & d1_evict)", "self.evicted_rows.push.eq(d1_valid & d1_evict)"),
])
def test_mutants_fail(old: str, new: str, tmp_path: Path) -> None:
    stage = mutant("fgpu.cache.data_stage", old, new).DataStage
    assert not data_stage_claim(SMALL, stage).is_proven(tmp_path, depth=2)
