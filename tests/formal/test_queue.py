"""The stream queue and the skid buffer, proven."""

from pathlib import Path

import pytest

from ..tiers import quick
from .fifo import peek_claim, queue_claim, skid_claim, wide_queue_claim
from .prover import mutant

DEPTHS = quick([2, 3, 4], [2, 3])


@pytest.mark.parametrize("registered", [False, True])
@pytest.mark.parametrize("depth", DEPTHS)
def test_queue(depth: int, registered: bool, tmp_path: Path) -> None:
    queue_claim(depth, registered).prove(tmp_path, depth=3)


@pytest.mark.long
@pytest.mark.parametrize(("registered", "old", "new"), [
    (False, "read.addr + 1", "read.addr + 2"),
    (False, "level.eq(level - 1), empty.eq(level == 1)", "level.eq(level), empty.eq(level == 1)"),
    (False, "empty.eq(level == 1)", "empty.eq(0)"),
    (True, "level.eq(level + 1), empty.eq(0)", "level.eq(level + 1)"),
    (False, "write.en.eq(self.input.ready)", "write.en.eq(1)"),
    (True, "Mux(empty, self.input.payload, read.data)", "read.data"),
    (True, "free & (~empty | push)", "free & ~empty"),
    (True, "free = ~self.output.valid | self.output.ready", "free = ~self.output.valid"),
])
def test_mutants_fail(registered: bool, old: str, new: str, tmp_path: Path) -> None:
    queue = mutant("fgpu.gateware.queue", old, new).Queue
    holds, _ = queue_claim(4, registered, queue).check(tmp_path, "bmc", depth=12)
    assert not holds


@pytest.mark.parametrize("depth", DEPTHS)
def test_peek(depth: int, tmp_path: Path) -> None:
    peek_claim(depth).prove(tmp_path, depth=3)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("has_second.eq(~empty)", "has_second.eq(~empty & (level > 1))"),
    ("second.eq(read.data[self._peek])", "second.eq(self.output.payload[self._peek])"),
    ("second.eq(read.data[self._peek])", "second.eq(self.input.payload[self._peek])"),
])
def test_mutants_of_peeking_fail(old: str, new: str, tmp_path: Path) -> None:
    queue = mutant("fgpu.gateware.queue", old, new).Queue
    holds, _ = peek_claim(4, queue).check(tmp_path, "bmc", depth=12)
    assert not holds


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("depth", DEPTHS)
def test_wide_queue(depth: int, late: bool, tmp_path: Path) -> None:
    wide_queue_claim(depth, late).prove(tmp_path, depth=3)


@pytest.mark.long
@pytest.mark.parametrize(("late", "old", "new"), [
    (False, "pulled.eq(pull)", "pulled.eq(push)"),
    (False, "1 << ceil_log2(self._depth + 1)", "1 << ceil_log2(self._depth)"),
    (False, "level < self._depth - self._late", "1"),
    (True, "level < self._depth - self._late", "level < self._depth"),
    (True, "pushed.eq(push)", "pushed.eq(self.input.valid)"),
    (True, "most = depth - late", "most = depth"),
])
def test_mutants_of_the_wide_queue_fail(late: bool, old: str, new: str, tmp_path: Path) -> None:
    queue = mutant("fgpu.gateware.queue", old, new).WideQueue
    holds, _ = wide_queue_claim(4, late, queue).check(tmp_path, "bmc", depth=12)
    assert not holds


@pytest.mark.long
@pytest.mark.parametrize(("late", "old", "new"), [
    (False, "Mux(self.look[number], following, current)", "current"),
    (False, "following.eq(following + 1)", "following.eq(following + 2)"),
    (False, "with m.If(self.step):", "with m.If(self.push):"),
    (False, "free.eq(free + 1)", "free.eq(free)"),
    (False, "(\"following\", self._begun)", "(\"following\", 0)"),
    (True, "Mux(self.push, next_free, free)", "free"),
    (True, "next_free.eq(next_free + 1)", "next_free.eq(next_free)"),
])
def test_mutants_of_its_memory_fail(late: bool, old: str, new: str, tmp_path: Path,
                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fgpu.gateware.queue.HalvedRam", mutant("fgpu.gateware.halved_ram", old, new).HalvedRam)
    holds, _ = wide_queue_claim(4, late).check(tmp_path, "bmc", depth=12)
    assert not holds


def test_skid_buffer(tmp_path: Path) -> None:
    skid_claim().prove(tmp_path, depth=3)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("with m.If(room):", "with m.If(1):"),
    ("self.input.valid | ~room", "self.input.valid"),
    ("Mux(room, self.input.payload, late)", "self.input.payload"),
    ("with m.Elif(self.input.valid):", "with m.Elif(0):"),
])
def test_mutants_of_the_skid_buffer_fail(old: str, new: str, tmp_path: Path) -> None:
    buffer = mutant("fgpu.gateware.skid_buffer", old, new).SkidBuffer
    holds, _ = skid_claim(buffer).check(tmp_path, "bmc", depth=12)
    assert not holds
