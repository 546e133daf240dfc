"""Resets and aborts at random moments of random kernels: the next kernel runs rightly."""

import random
from collections.abc import Callable

import numpy as np
import pytest

from fgpu.compiler import assemble
from fgpu.config import Config
from fgpu.fault import FaultCause
from fgpu.sim.descriptor import KernelDescriptor
from fgpu.sim.engine import Launch
from fgpu.sim.functional import FunctionalEngine
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.testbench import abi

from ..configurations import TWO_PORTS
from ..seeds import seed_of_test
from .harness import BASE, SIZE, random_timing
from .program_generator import Kernel, generate
from .stepwise import ABORT, FAULT, START, STATUS, StepwiseEngine, cause

TINY = Config.preset("tiny")
RET = assemble(".kernel k\n ret\n").words[0]


class Trial:
    """A core with erratic memory, and the functional engine as its oracle."""

    def __init__(self, config: Config, seed: object) -> None:
        self.rng = random.Random(f"{seed}")
        self.config = config
        memory = GlobalMemory(BASE, SIZE)
        self.core = StepwiseEngine(config, memory, random_timing(self.rng))
        self.memory = memory
        self.model = FunctionalEngine(config, GlobalMemory(BASE, SIZE))
        memory.words[:] = np.random.default_rng(self.rng.getrandbits(32)).integers(0, 1 << 32, SIZE // 4, np.uint32)

    def kernel(self) -> Kernel:
        return generate(self.rng, self.config, BASE, SIZE)

    def moment(self) -> int:
        """Cycles after the start: any order of magnitude."""
        return int(2 ** self.rng.uniform(0, 13))

    def load(self, kernel: Kernel, *slots: int) -> None:
        bits = self.rng.getrandbits(16)
        self.core.load(kernel.program, *((slot, kernel.descriptor) for slot in slots),
                       clean=self.rng.getrandbits(16), initialize=bits)

    def run_one(self, kernel: Kernel | None = None, *, initialize: int | None = None) -> None:
        """A kernel from what memory holds now, which must be all that there is: nothing may be dirty in the cache."""
        kernel, slot = kernel or self.kernel(), self.rng.randrange(16)
        self.model.memory.words[:] = self.memory.words
        self.model.launch(Launch(program=kernel.program, descriptor=kernel.descriptor.words(), max_cycles=20_000_000))
        self.core.load(kernel.program, (slot, kernel.descriptor), clean=1 << slot,
                       initialize=self.rng.getrandbits(16) if initialize is None else initialize)
        fault, status = self.core.do(
            (abi.OP_START, START, 1 << slot), (abi.OP_WAIT, 0, slot), (abi.OP_READ, FAULT, 0),
            (abi.OP_READ, STATUS, 0), limit=5_000_000)
        assert fault == 0
        assert status >> slot & 1
        different = np.flatnonzero(self.memory.words != self.model.memory.words)
        assert not len(different), f"{len(different)} words differ, from 0x{BASE + 4 * int(different[0]):08X} on"


    def flush(self) -> FaultCause:
        """Nothing is dirty in the cache afterwards; why the kernel that did it was stopped."""
        self.core.load([RET], (0, KernelDescriptor(entry=0, global_size=(64,), local_size=(64,))), clean=1,
                       initialize=1)
        fault, = self.core.do((abi.OP_START, START, 1), (abi.OP_WAIT, 0, 0), (abi.OP_READ, FAULT, 0))
        return cause(fault)


def reset_once(trial: Trial) -> None:
    """In a kernel, or between two, or in the first accesses: core and memory together."""
    core, rng = trial.core, trial.rng
    kernel, slot = trial.kernel(), rng.randrange(16)
    trial.load(kernel, slot)
    core.run_for(trial.moment(), (abi.OP_START, START, 1 << slot), (abi.OP_WAIT, 0, slot), (abi.OP_READ, FAULT, 0))
    core.reset(wake=rng.choice([None, 0, 1, rng.randrange(trial.config.wake_cycles)]))
    assert core.do((abi.OP_READ, STATUS, 0), (abi.OP_READ, FAULT, 0)) == [0, 0]
    trial.run_one()


def abort_once(trial: Trial) -> None:
    """One kernel, or one more that waits: those aborted end, the bus is quiet, and the core alone may be reset."""
    core, rng = trial.core, trial.rng
    slots = rng.sample(range(16), rng.choice([1, 1, 2]))
    kernel = trial.kernel()
    trial.load(kernel, *slots)
    started = sum(1 << slot for slot in slots)
    aborted = rng.choice([started, started, 1 << slots[0], 0xFFFF])
    first = [(abi.OP_START, START, started), (abi.OP_PAUSE, 0, trial.moment()), (abi.OP_WRITE, ABORT, aborted)]
    status, fault = core.do(*first, *((abi.OP_WAIT, 0, slot) for slot in slots), (abi.OP_READ, STATUS, 0),
                            (abi.OP_READ, FAULT, 0), limit=5_000_000)
    assert status & started == started
    if fault:
        assert cause(fault) is FaultCause.ABORTED
        assert (aborted & started) >> (fault >> 21 & 15) & 1
        if aborted & started == started:
            assert core.quiet
            if rng.random() < 0.3:
                core.reset(memory=False, wake=rng.choice([None, 0, 9]))
        else:
            trial.flush()
    else:
        trial.flush()
    trial.run_one()


def abort_among_errors(trial: Trial) -> None:
    """The same while memory errs: whichever comes first is told of, all ends, and the next kernel runs."""
    core, rng = trial.core, trial.rng
    slots = rng.sample(range(16), rng.choice([1, 1, 2]))
    trial.load(trial.kernel(), *slots)
    started = sum(1 << slot for slot in slots)
    core.bus_errors(reads=rng.choice([0.0, 0.01, 0.2]), writes=rng.choice([0.0, 0.01, 0.2]))
    aborted = rng.choice([started, 0])
    status, fault = core.do(
        (abi.OP_START, START, started), (abi.OP_PAUSE, 0, trial.moment()), (abi.OP_WRITE, ABORT, aborted),
        *((abi.OP_WAIT, 0, slot) for slot in slots), (abi.OP_READ, STATUS, 0), (abi.OP_READ, FAULT, 0),
        limit=5_000_000)
    assert status & started == started
    assert cause(fault) in (FaultCause.NONE, FaultCause.ABORTED, FaultCause.BUS_ERROR)
    core.bus_errors()
    late = trial.flush()        # an error may still have been on its way
    assert late is FaultCause.NONE or (late is FaultCause.BUS_ERROR and trial.flush() is FaultCause.NONE)
    trial.run_one()


def run(once: Callable[[Trial], None], config: Config, seed: object, count: int) -> None:
    trial = Trial(config, seed)
    for number in range(count):
        print(f"{seed}: {number}")
        once(trial)
    trial.core.close()


@pytest.mark.parametrize("stops", ["abort", "reset"])
def test_every_moment_of_a_launch(stops: str) -> None:
    """While the descriptor is read, work-groups go out, wavefronts start and fetch, local ids are written and the
    first instructions issue. The same kernel then runs rightly with the local ids that there are."""
    trial = Trial(TINY, stops)
    core, kernel = trial.core, trial.kernel()
    ends = 0
    for moment in range(60):
        core.load(kernel.program, (3, kernel.descriptor), clean=0, initialize=1 << 3)
        start, wait = (abi.OP_START, START, 1 << 3), (abi.OP_WAIT, 0, 3)
        if stops == "reset":
            core.run_for(moment, start, wait, (abi.OP_READ, FAULT, 0))
            core.reset()
        else:
            fault, = core.do(start, (abi.OP_PAUSE, 0, moment), (abi.OP_WRITE, ABORT, 1 << 3), wait,
                             (abi.OP_READ, FAULT, 0))
            assert cause(fault) in (FaultCause.ABORTED, FaultCause.NONE)
            ends += not fault
            if not fault:
                trial.flush()
            assert core.quiet
        trial.run_one(kernel, initialize=0)
    assert ends < 30
    trial.core.close()


ONCE = [reset_once, abort_once, abort_among_errors]


@pytest.mark.ci
@pytest.mark.parametrize("once", ONCE)
@pytest.mark.parametrize("seed", range(2))
def test_the_next_kernel_runs(once: Callable[[Trial], None], seed: int) -> None:
    run(once, TINY, f"{once.__name__} {seed}", 6)


@pytest.mark.long
@pytest.mark.parametrize("once", ONCE)
@pytest.mark.parametrize("config", [TINY, TWO_PORTS], ids=["tiny", "2 ports"])
@pytest.mark.parametrize("number", range(25))
def test_a_thousand(once: Callable[[Trial], None], config: Config, number: int) -> None:
    run(once, config, f"{seed_of_test()} {once.__name__} {number}", 20)
