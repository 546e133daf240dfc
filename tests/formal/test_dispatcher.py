"""Work-groups and wavefronts in turn, proven."""

from pathlib import Path

import pytest

from .dispatcher_claim import dispatcher_claim
from .prover import mutant
from .turn_claim import turn_claim


@pytest.mark.ci
def test_dispatcher(tmp_path: Path) -> None:
    dispatcher_claim().prove(tmp_path, depth=2)


@pytest.mark.parametrize("crowded", [False, True])
def test_turn(crowded: bool, tmp_path: Path) -> None:
    turn_claim(crowded=crowded).prove(tmp_path, depth=2)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("group.ids[number].eq(Mux(is_last, 0, group.ids[number] + 1))", "group.ids[number].eq(group.ids[number] + 1)"),
    ("last = last & is_last", "last = is_last"),
    ("with m.If(target == number):", "with m.If(1):"),
    ("m.d.sync += settle.eq(settle - 1)", "m.d.sync += settle.eq(0)"),
    ("with m.Elif(self.idle.all() & ~self.loading):", "with m.Elif(self.idle.any() & ~self.loading):"),
    ("with m.Elif(self.idle.all() & ~self.loading):", "with m.Elif(self.idle.all()):"),
    ("complete = reading & (read_word == _FIRST_SIZE)", "complete = reading & (read_word == 10)"),
    ("local_ids.enable.eq(self.loading & ~reading)", "local_ids.enable.eq(~reading)"),
    ("eq(descriptor.origins[number]) for", "eq(descriptor.origins[0]) for"),
    ("with m.If(self.clean_done):", "with m.If(1):"),
    ("with m.Elif(self.fault & (active | self.accepted.any())):", "with m.Elif(self.fault):"),
    ("with m.If(self.cancel | self.fault | self.clean", "with m.If(self.cancel | self.clean"),
    ("with m.If(suspect):", "with m.If(suspect & self.initialize[0]):"),
    (" | self.finished.any())):", ")):"),
    ("m.d.comb += self.finished.eq(self.running)", "m.d.comb += self.finished.eq(1)"),
    ("encode_lowest(m, lowest, self.pending)", "encode_lowest(m, lowest, self.pending & (self.pending - 1))"),
])
def test_mutants_of_the_dispatcher_fail(old: str, new: str, tmp_path: Path) -> None:
    dispatcher = mutant("fgpu.dispatcher.dispatcher", old, new).Dispatcher
    assert not dispatcher_claim(dispatcher).is_proven(tmp_path, depth=2)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("first_above(self.ready, behind)", "first_above(self.ready, ~behind)"),
    ("with m.If(self.accept & self.valid):", "with m.If(0):"),
    (" | lacks_patience", " & lacks_patience"),
    ("Mux(crowded, self.arrived, 0)", "0"),
    ("self.load_turn.unit << head", "1 << head"),
    ("self.load_turn.unit << head, -1", "-1, -1"),
    ("issued == _LONG_PATIENCE - 1", "0"),
])
def test_mutants_of_the_turn_fail(old: str, new: str, tmp_path: Path) -> None:
    turn = mutant("fgpu.cu.turn", old, new).WavefrontTurn
    assert not all(turn_claim(turn, crowded=crowded).is_proven(tmp_path, depth=2) for crowded in (False, True))
