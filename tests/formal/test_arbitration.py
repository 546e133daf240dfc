"""Round-robin and the cache's arbiter, proven."""

from pathlib import Path

import pytest

from .arbitration_claims import arbiter_claim, round_robin_claim
from .prover import mutant


@pytest.mark.parametrize("count", [2, 3, 8])
def test_round_robin(count: int, tmp_path: Path) -> None:
    round_robin_claim(count).prove(tmp_path, depth=2)


@pytest.mark.ci
def test_arbiter(tmp_path: Path) -> None:
    arbiter_claim().prove(tmp_path, depth=2)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("above_lowest(self.chosen)", "~above_lowest(self.chosen)"),
    ("self.accept & self.valid", "self.valid"),
    ("first_above(self.requests, above)", "first_above(self.requests, ~above)"),
])
def test_mutants_of_round_robin_fail(old: str, new: str, tmp_path: Path) -> None:
    chooser = mutant("fgpu.gateware.round_robin", old, new).RoundRobin
    holds, _ = round_robin_claim(4, chooser).check(tmp_path, "bmc", depth=12)
    assert not holds


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("turns.served.eq(admitted & valid & accept.replicate(count))", "turns.served.eq(admitted & valid)"),
    ("(writes | self.admit_reads", "(-1 | self.admit_reads"),
    ("others.eq(~cleaner_comes & self.writes_room)", "others.eq(self.writes_room)"),
    ("others.eq(~cleaner_comes & self.writes_room)", "others.eq(~cleaner_comes)"),
    ("accept.eq(taken.ready & others)", "accept.eq(others)"),
    ("taken.payload.cu.eq(turns.choices[0])", "taken.payload.cu.eq(0)"),
    ("self.reads_inside + self.read_comes - goes", "self.reads_inside + self.read_comes"),
    ("self.writes.valid.eq(accept & comes", "self.writes.valid.eq(accept"),
    ("turns.choices[1:]", "[turns.choices[0] ^ 1]"),
])
def test_mutants_of_the_arbiter_fail(old: str, new: str, tmp_path: Path) -> None:
    arbiter = mutant("fgpu.cache.arbiter", old, new).Arbiter
    holds, _ = arbiter_claim(arbiter).check(tmp_path, "bmc", depth=12)
    assert not holds


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("self.served.any() & ~is_due", "self.served.any() & 0"),
    ("above_lowest(self.chosen)", "~above_lowest(self.chosen)"),
    ("self.valid & ~self.served", "self.valid"),
    ("Mux(due.any(), due, left)", "left"),
    ("left & self.writes", "left"),
    ("Mux(who.any(), who, self.likely)", "who"),
    ("Mux(is_found, which, kept)", "which"),
    ("*turns))", "turns[0], turns[0]))"),
    ("each.any() for each in owed", "1 for each in owed"),
    ("(~self.admit_reads).replicate", "self.admit_reads.replicate"),
    ("each.eq(each - 1)", "each.eq(3)"),
])
def test_mutants_of_the_turns_fail(old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fgpu.cache.arbiter.Turns", mutant("fgpu.cache.turns", old, new).Turns)
    holds, _ = arbiter_claim().check(tmp_path, "bmc", depth=12)
    assert not holds
