"""The arbitration of local memory's banks, proven."""

from pathlib import Path

import pytest

from .local_claim import local_claim
from .prover import mutant


def test_each_lane_is_served_once(tmp_path: Path) -> None:
    local_claim().prove(tmp_path, depth=2)


@pytest.mark.ci
@pytest.mark.parametrize(("old", "new"), [
    ("range(lane + 1, PE_COUNT)", "range(lane + 2, PE_COUNT)"),
    ("self.wait[lane] & ~blocked", "~blocked"),
    ("self.wait[other] & self.same_bank", "self.same_bank"),
    ("highest[other] & self.same_word", "highest[other] & self.same_bank"),
    ("(self.wait[lane] & joins & ~self.atomic)", "(joins & ~self.atomic)"),
    (" & joins & ~self.atomic", " & joins"),
    ("self.leaders[lane] | (self.wait[lane] & joins & ~self.atomic)", "self.leaders[lane]"),
    ("lowest(self.wait)", "highest"),
])
def test_mutants_fail(old: str, new: str, tmp_path: Path) -> None:
    arbiter = mutant("fgpu.cu.local_arbiter", old, new).LocalArbiter
    holds, _ = local_claim(arbiter).check(tmp_path, "bmc", depth=4)
    assert not holds
