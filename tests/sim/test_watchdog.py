"""The watchdog of the test bench: when it stops a launch, and what it says of memory."""

import re

import pytest

from fgpu.sim.testbench import abi

from .axi_bench import Bench

BASE = 0x1000_0000
LIMIT = 50


def started(ports: int = 1) -> Bench:
    """A bench whose host has just started a kernel, which never ends."""
    bench = Bench(ports=ports)
    bench.run_host((abi.OP_START, 0x8004, 1), (abi.OP_WAIT, 0, 0), limit=LIMIT)
    bench.step(30)              # the core takes its time: these cycles do not count
    lite = bench.out.lite
    lite.awready = lite.wready = 1
    bench.step()
    lite.awready = lite.wready = 0
    return bench


def test_the_limit_counts_from_the_start() -> None:
    bench = started()
    bench.out.lite.bvalid = 1
    bench.step()
    bench.out.lite.bvalid = 0
    bench.step(LIMIT - 2)
    assert bench.status == abi.RUNNING
    bench.step()
    assert bench.status == abi.TIMEOUT


def test_a_kernel_that_ends_in_time_is_not_stopped() -> None:
    """Although the host looks at it later."""
    bench = started()
    bench.step(LIMIT - 2)
    bench.out.kernel_status = 1
    bench.step(5)
    assert bench.status == abi.RUNNING
    bench.out.lite.bvalid = 1
    bench.step()
    bench.out.lite.bvalid = 0
    bench.step()
    assert bench.status == abi.DONE
    assert bench.result.cycles == LIMIT - 1


@pytest.mark.parametrize("port", [0, 1])
def test_it_says_when_memory_moved_its_last_word(port: int) -> None:
    """Of all ports: the other one has moved nothing."""
    bench = started(ports=2)
    axi, seen = bench.out.axi[port], bench.inputs.axi[port]
    bench.address(axi.ar, BASE, 1)
    axi.rready = 1
    moved = None
    while bench.status == abi.RUNNING:
        accepted, beat = seen.arready, seen.rvalid
        bench.step()
        if accepted:
            axi.ar.valid = 0
        if beat:
            moved = bench.cycle
    assert moved is not None
    found = re.search(r"memory moved its last word (\d+) cycles before the end", bench.message)
    assert found is not None
    assert int(found[1]) == bench.cycle - moved


def test_memory_may_have_moved_nothing() -> None:
    bench = started()
    while bench.status == abi.RUNNING:
        bench.step()
    assert bench.message == "memory moved no word"
