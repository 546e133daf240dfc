"""All registers are zero after a reset, and r0 stays zero: proven for any contents of the memories at power-up."""

from pathlib import Path

import pytest

from fgpu.config import FLOAT_OPS, Config

from .prover import mutant
from .register_claim import RegisterClaim, clearing_claim, launcher_claim

SMALL = Config(scratchpad_size=0, cache_banks=1, float_ops=FLOAT_OPS)


@pytest.mark.ci
def test_registers_are_cleared_and_r0_stays_zero(tmp_path: Path) -> None:
    RegisterClaim(SMALL).prove(tmp_path, depth=2)


@pytest.mark.ci
def test_registers_are_cleared_again(tmp_path: Path) -> None:
    clearing_claim().prove(tmp_path, depth=2)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("self.load.lanes.eq(0)]", "self.load.lanes.eq(-1)]"),
    ("address.eq(0), ", ""),
    ("(self.clear & ~begins)", "(self.clear | begins)"),
])
def test_registers_that_are_not_cleared_again(old: str, new: str, tmp_path: Path) -> None:
    assert not clearing_claim(mutant("fgpu.cu.load_return", old, new).LoadReturn).is_proven(tmp_path, depth=2)


def test_nothing_starts_meanwhile(tmp_path: Path) -> None:
    launcher_claim().prove(tmp_path, depth=2)


@pytest.mark.long
def test_wavefronts_start_afterwards(tmp_path: Path) -> None:
    launcher_claim().prove(tmp_path, "cover", depth=12)


@pytest.mark.long
def test_a_launcher_that_does_not_wait(tmp_path: Path) -> None:
    wrong = mutant("fgpu.cu.launcher", "able.eq(~self.clearing & has_number", "able.eq(has_number").Launcher
    assert not launcher_claim(wrong).is_proven(tmp_path, depth=2)


@pytest.mark.long
@pytest.mark.parametrize(("module", "name", "old", "new"), [
    ("decoder", "Decoder", "_writes_by_itself(row)) & word[0:5].any()", "_writes_by_itself(row))"),
    ("load_return", "LoadReturn", "arrival.write & (arrival.rd != 0)", "arrival.write"),
    ("load_return", "LoadReturn", '"clear": Out(1, init=1)', '"clear": Out(1)'),
    ("load_return", "LoadReturn", "~arrival.keeps[lane] & (self.clear | ~selected)",
     "~arrival.keeps[lane] & ~selected"),
    ("load_return", "LoadReturn", "self.clear & ~following[-1]", "self.clear & ~following[-2]"),
    ("float_results", "FloatResults", "Mux(self.rd.any(), self.issue.lanes, 0)", "self.issue.lanes"),
    ("vector", "ComputeVector", "register.eq(second", "register.eq(~second"),
])
def test_mutants_fail(module: str, name: str, old: str, new: str, tmp_path: Path) -> None:
    argument = {"Decoder": "decoder", "LoadReturn": "load_return", "FloatResults": "float_results",
                "ComputeVector": "compute_vector"}[name]
    claim = RegisterClaim(SMALL, **{argument: getattr(mutant(f"fgpu.cu.{module}", old, new), name)})
    assert not claim.is_proven(tmp_path, depth=2)
