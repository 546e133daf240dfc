"""The functional engine's schedule: which wavefronts execute which instruction next."""

import math
import time
from collections import Counter, defaultdict
from itertools import count
from typing import NoReturn

import numpy as np

from fgpu.config import WAVEFRONTS, Config
from fgpu.errors import KernelFault
from fgpu.isa import Opcode
from fgpu.sim.dispatch import Dispatch
from fgpu.sim.engine import EngineResult, Launch, OutOfTime, Progress
from fgpu.sim.memory import GlobalMemory

from .divergence import SCHEMES
from .divergence.wavefronts import SchemeWavefronts
from .messages import no_instruction, stack_overflow, timeout
from .program import Program, Step
from .wavefronts import Destinations, StackOverflow, Wavefronts
from .workitems import Selection, WorkGroups, WorkItems

__all__ = ["WAVEFRONTS_TOGETHER", "FunctionalEngine", "parted"]

WAVEFRONTS_TOGETHER = 256
_FAIRNESS = 16
_TOLD_AFTER = 8         # turns
TOLD_SECONDS = 0.2


def parted(descriptor: Dispatch, config: Config) -> tuple[int, int]:
    """How many work-groups there are, and how many of them run together."""
    together = max(1, WAVEFRONTS_TOGETHER // descriptor.wavefronts)
    if descriptor.place:
        together = min(together, WAVEFRONTS * config.compute_units)
    return math.prod(descriptor.work_groups), together


class FunctionalEngine:
    """Executes kernels instruction by instruction on arrays of work-items; it has no clock.

    Up to 256 wavefronts run together, one instruction of all that are at the same PC
    at a time; the order between different wavefronts is not the hardware's. Divergence and barriers follow the
    hardware exactly. Registers, scratchpads and local memory are zero at the start of every work-group, where the
    hardware leaves what was there before. The watchdog counts wavefront instructions.
    """

    name = "functional"

    def __init__(self, config: Config, memory: GlobalMemory) -> None:
        self.config = config
        self.memory = memory

    def launch(self, launch: Launch) -> EngineResult:
        """Run one kernel to its end.

        Raises :class:`~fgpu.errors.LaunchError` for words that are no descriptor,
        :class:`~fgpu.errors.KernelFault` for an instruction that cannot run, a stack that overflows and an access
        outside memory, and :class:`~fgpu.errors.SimulationTimeout` at the limit.
        """
        started = time.perf_counter()
        descriptor = Dispatch.from_words(launch.descriptor)
        run = _Run(self.config, self.memory, launch, descriptor, started)
        total, together = parted(descriptor, self.config)
        for first in range(0, total, together):
            run.work_groups(WorkGroups(descriptor, first, min(together, total - first)))
        counts = run.counts
        return EngineResult(
            cycles=None,
            instructions=counts.pop("instructions"),
            work_item_instructions=counts.pop("work_item_instructions"),
            stats={"work_groups": total, "wavefronts": total * descriptor.wavefronts, **counts},
            seconds=time.perf_counter() - started,
        )

    def build(self) -> None:
        """Nothing to build."""

    def close(self) -> None:
        """Nothing to give back."""


class _Run:
    """One launch under way."""

    def __init__(self, config: Config, memory: GlobalMemory, launch: Launch, descriptor: Dispatch,
                 began: float) -> None:
        self.counts: Counter[str] = Counter(
            instructions=0, work_item_instructions=0, divergent_branches=0, stack_entries=0)
        self._config = config
        self._memory = memory
        self._limit, self._told_limit = launch.limit, launch.max_cycles
        self._entry = descriptor.entry
        self._descriptor = [int(word) for word in launch.descriptor]
        self._program = Program(launch.places, config)
        self._check = launch.check
        self._progress = launch.progress
        self._began = self._told = began
        self._all_wavefronts = descriptor.all_wavefronts

    def work_groups(self, groups: WorkGroups) -> None:
        """Run some work-groups to their end."""
        self._tell(groups)
        items = WorkItems(groups, self._program, self._memory, self._descriptor, self._config, self._check)
        wavefronts = self._wavefronts(groups)
        pending: dict[int, list[np.ndarray]] = defaultdict(list)
        pending[self._entry].append(np.arange(groups.wavefronts))
        for turn in count(1):
            if not pending:
                break
            if self._progress is not None and turn % _TOLD_AFTER == 0:
                try:
                    self._tell(groups)
                except OutOfTime as limit:
                    self._time_out(str(limit), pending, wavefronts, groups)
            # The lowest PC first: wavefronts that skipped code wait for those that run it, and go on together.
            # Now and then those that wait longest, as the others may wait for them in a loop.
            pc = min(pending) if turn % _FAIRNESS else next(iter(pending))
            parts = pending.pop(pc)
            running = parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))
            stop = min((other for other in pending if other > pc), default=len(self._program))
            stop = wavefronts.stop(pc, running, stop)
            for following, part in self._run_straight(pc, stop, running, items, wavefronts, groups, pending):
                if len(part):
                    for place, settled in wavefronts.settle(following, part):
                        pending[place].append(settled)
        assert not len(wavefronts.waiting), "all that is left waits at barriers"
        if isinstance(wavefronts, SchemeWavefronts):
            self.counts["joins"] += wavefronts.joins
            if wavefronts.joins_are_issued:
                self.counts["instructions"] += wavefronts.joins
                self.counts["work_item_instructions"] += wavefronts.join_items
        self.counts["divergent_branches"] += wavefronts.divergences
        self.counts["stack_entries"] = max(self.counts["stack_entries"], wavefronts.deepest)

    def _wavefronts(self, groups: WorkGroups) -> Wavefronts:
        depth, scheme = self._config.link_stack_depth, self._config.divergence
        per_group = groups.descriptor.wavefronts
        if scheme not in SCHEMES:
            return Wavefronts(groups.masks, depth, per_group)
        return SchemeWavefronts(scheme, groups.masks, depth, per_group)

    def _tell(self, groups: WorkGroups) -> None:
        now = time.perf_counter()
        if self._progress is not None and now - self._told >= TOLD_SECONDS:
            self._told = now
            self._progress(Progress(
                cycles=None, instructions=self.counts["instructions"], seconds=now - self._began,
                wavefronts=groups.first_wavefront + groups.wavefronts, all_wavefronts=self._all_wavefronts))

    def _run_straight(self, pc: int, stop: int, running: np.ndarray, items: WorkItems, wavefronts: Wavefronts,
                      groups: WorkGroups, pending: dict[int, list[np.ndarray]]) -> Destinations:
        """Run from ``pc`` to the next branch, call, return or barrier, or to ``stop``; says who goes on where."""
        selection = Selection.of(running, wavefronts.masks[running])
        counts = self.counts
        while True:
            try:
                step = self._program.step(pc)
            except KernelFault as fault:
                raise no_instruction(self._program.places, groups, int(running[0]), fault) from None
            counts["instructions"] += len(running)
            counts["work_item_instructions"] += selection.count
            if counts["instructions"] > self._limit:
                self._time_out(f"{self._told_limit} wavefront instructions",
                               {**pending, pc: [running, *pending.get(pc, [])]}, wavefronts, groups)
            if step.is_control:
                return self._control(step, running, selection, items, wavefronts, groups)
            items.execute(step, selection)
            pc += 1
            if pc == stop:
                return [(pc, running)]

    def _control(self, step: Step, running: np.ndarray, selection: Selection, items: WorkItems,
                 wavefronts: Wavefronts, groups: WorkGroups) -> Destinations:
        try:
            if step.row.is_branch:
                condition = items.condition(step, selection)
                taking = int(np.count_nonzero(condition))
                if taking in (0, selection.count):
                    wavefronts.pass_branch(running)
                    return [(step.target if taking else step.pc + 1, running)]
                taken = items.taken_masks(condition, selection, running)
                return wavefronts.branch(running, taken, step.target, step.pc + 1)
            if step.row.opcode is Opcode.MEET:
                wavefronts.meet(running, step.target)
                return [(step.pc + 1, running)]
            if step.row.immediate is not None:
                return wavefronts.call(running, step.target, step.pc + 1)
            return wavefronts.ret(running) if step.row.opcode is Opcode.RET else wavefronts.sync(running, step.pc + 1)
        except StackOverflow as overflow:
            raise stack_overflow(self._program.places, groups, overflow.wavefront, step.pc, self._config) from None

    def _time_out(self, limit: str, pending: dict[int, list[np.ndarray]], wavefronts: Wavefronts,
                  groups: WorkGroups) -> NoReturn:
        running = sorted((int(index), pc) for pc, parts in pending.items() for part in parts for index in part)
        raise timeout(self._program.places, groups, limit, running, wavefronts.waiting.tolist(),
                      wavefronts.masks, wavefronts.parked, wavefronts.resume)
