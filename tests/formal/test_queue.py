"""The stream queue, proven."""

from pathlib import Path

import pytest

from .fifo import queue_claim
from .prover import mutant


@pytest.mark.parametrize("registered", [False, True])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_queue(depth: int, registered: bool, tmp_path: Path) -> None:
    queue_claim(depth, registered).prove(tmp_path, depth=3)


@pytest.mark.long
@pytest.mark.parametrize(("registered", "old", "new"), [
    (False, "read.addr + 1", "read.addr + 2"),
    (False, "level + push - pull", "level + push"),
    (True, "Mux(empty, self.input.payload, read.data)", "read.data"),
    (True, "& ~(free & empty)", ""),
    (True, "free = ~self.output.valid | self.output.ready", "free = ~self.output.valid"),
])
def test_mutants_fail(registered: bool, old: str, new: str, tmp_path: Path) -> None:
    queue = mutant("fgpu.gateware.queue", old, new).Queue
    holds, _ = queue_claim(4, registered, queue).check(tmp_path, "bmc", depth=12)
    assert not holds
