"""Round-robin and the cache's arbiter, proven."""

from pathlib import Path

import pytest

from .arbitration_claims import arbiter_claim, round_robin_claim
from .prover import mutant


@pytest.mark.parametrize("count", [2, 3, 8])
def test_round_robin(count: int, tmp_path: Path) -> None:
    round_robin_claim(count).prove(tmp_path, depth=2)


def test_arbiter(tmp_path: Path) -> None:
    arbiter_claim().prove(tmp_path, depth=2)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("self.chosen[:number].any()", "self.chosen[number:].any()"),
    ("self.accept & self.valid", "self.valid"),
    ("lowest(first), lowest(self.requests)", "lowest(self.requests), lowest(first)"),
])
def test_mutants_of_round_robin_fail(old: str, new: str, tmp_path: Path) -> None:
    chooser = mutant("fgpu.gateware.round_robin", old, new).RoundRobin
    holds, _ = round_robin_claim(4, chooser).check(tmp_path, "bmc", depth=12)
    assert not holds


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("turn.accept.eq(accept & ~due.any())", "turn.accept.eq(0)"),
    ("owed[cu].eq(owed[cu] - 1)", "owed[cu].eq(3)"),
    ("Mux(due.any(), due, admitted)", "admitted"),
    ("due[cu].eq(admitted[cu]", "due[cu].eq(request.valid"),
    (" | self.admit_reads", " | 1"),
    ("others.eq(~comes & self.writes_room)", "others.eq(self.writes_room)"),
    ("others.eq(~comes & self.writes_room)", "others.eq(~comes)"),
    ("accept.eq(taken.ready & others)", "accept.eq(others)"),
    ("taken.payload.cu.eq(choice)", "taken.payload.cu.eq(0)"),
    ("self.reads_inside + self.read_comes - goes", "self.reads_inside + self.read_comes"),
    ("self.writes.valid.eq(accept & turn.valid", "self.writes.valid.eq(turn.valid"),
])
def test_mutants_of_the_arbiter_fail(old: str, new: str, tmp_path: Path) -> None:
    arbiter = mutant("fgpu.cache.arbiter", old, new).Arbiter
    holds, _ = arbiter_claim(arbiter).check(tmp_path, "bmc", depth=12)
    assert not holds
