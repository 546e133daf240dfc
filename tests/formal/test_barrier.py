"""The barrier, proven."""

from pathlib import Path

import pytest

from .barrier_claim import barrier_claim
from .prover import mutant


def test_barrier(tmp_path: Path) -> None:
    barrier_claim().prove(tmp_path, depth=3)


@pytest.mark.ci
def test_two_of_three_pass(tmp_path: Path) -> None:
    barrier_claim().prove(tmp_path, "cover", depth=24)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("groups.starting))", "groups.starting & 0))"),
    ("(~self.arrived[slot]).replicate", "(self.arrived[slot]).replicate"),
    ("complete.eq(~awaited)", "complete.eq(~awaited & complete)"),
    ("(groups.members[slot] & complete).any()", "complete.any()"),
    ("self.arrived[slot] & (groups", "(groups.members[0] == 0) & self.arrived[slot] & (groups"),
])
def test_mutants_fail(old: str, new: str, tmp_path: Path) -> None:
    barrier = mutant("fgpu.cu.barrier", old, new).Barrier
    holds, _ = barrier_claim(barrier).check(tmp_path, "bmc", depth=9)
    assert not holds
