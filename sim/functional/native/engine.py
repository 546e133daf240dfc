"""The compiled functional engine, as a device uses it."""

import ctypes
import time
from collections import OrderedDict
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from fgpu.address_map import DescriptorWord
from fgpu.config import DIMENSIONS, Config
from fgpu.errors import KernelFault, SimulationError, SimulationTimeout
from fgpu.sim.accesses import AccessCheck, outside_memory
from fgpu.sim.dispatch import Dispatch
from fgpu.sim.engine import EngineResult, Launch, OutOfTime, Progress
from fgpu.sim.functional import engine as reference
from fgpu.sim.functional.local_ids import local_ids
from fgpu.sim.functional.messages import no_instruction, stack_overflow, timeout
from fgpu.sim.functional.program import Program, check_length
from fgpu.sim.functional.workitems import WorkGroups
from fgpu.sim.memory import GlobalMemory

from .abi import Check, Job, Library, Outcome, Status
from .steps import Steps

__all__ = ["NativeEngine"]

_PROGRAMS_KEPT = 64
_WAITING = 1
_GLOBAL_SIZE, _PARAMETERS = int(DescriptorWord.GLOBAL_SIZE), int(DescriptorWord.PARAMETERS)
_NO_RANGES = np.zeros(0, dtype=np.uint64)


class NativeEngine:
    """:class:`~fgpu.sim.functional.engine.FunctionalEngine`, compiled: the same results, counts, faults and messages.

    Beyond what kernels compute that holds for what they store in races, as the schedule is the same.
    """

    name = "functional"

    def __init__(self, config: Config, memory: GlobalMemory, library: Library) -> None:
        self.config = config
        self.memory = memory
        self._library = library
        self._handle: int | None = library.create()
        self._programs: OrderedDict[int, tuple[Sequence[int], Steps]] = OrderedDict()
        self._job = Job(
            memory=memory.bytes.ctypes.data, memory_base=memory.base, memory_size=memory.size,
            stack_depth=config.link_stack_depth, subnormals=config.float_subnormals)
        self._shape: Dispatch | None = None
        self._local_ids = np.zeros(0, dtype=np.uint32)
        self._ranges: object = None
        self._firsts = self._ends = _NO_RANGES

    def launch(self, launch: Launch) -> EngineResult:
        """Run one kernel to its end; see :meth:`FunctionalEngine.launch`."""
        started = time.perf_counter()
        descriptor = Dispatch.from_words(launch.descriptor)
        steps = self._steps(launch.program)
        job = self._job
        job.steps, job.length, job.registers = steps.address, len(steps.table), steps.registers
        job.local_bytes = self.config.local_memory * 1024 if steps.uses_local else 0
        job.scratchpad_words = self.config.scratchpad_words if steps.uses_scratchpad else 0
        job.limit = launch.limit
        self._set_check(launch.check)
        self._set_shape(descriptor, launch.descriptor)
        slice = int(1000 * reference.TOLD_SECONDS)      # signals, too, wait so long
        outcome = self._library.run(self._handle, job, slice).contents
        while outcome.status == Status.PAUSED:
            if launch.progress is not None:
                try:
                    launch.progress(_progress(descriptor, outcome, time.perf_counter() - started))
                except OutOfTime as limit:
                    raise _timeout(launch, descriptor, outcome, str(limit)) from None
            self._library.run(self._handle, None, slice)
        if outcome.status != Status.DONE:
            self._raise(launch, descriptor, outcome)
        return EngineResult(
            cycles=None, instructions=outcome.instructions, work_item_instructions=outcome.work_item_instructions,
            stats={"work_groups": job.groups, "wavefronts": job.groups * descriptor.wavefronts,
                   "divergent_branches": outcome.divergent_branches, "stack_entries": outcome.stack_entries},
            seconds=time.perf_counter() - started)

    def build(self) -> None:
        """Nothing to build."""

    def close(self) -> None:
        """Give back the memory of wavefronts."""
        if self._handle is not None:
            self._library.destroy(self._handle)
            self._handle = None

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

    # -- the job --------------------------------------------------------------------------------

    def _steps(self, program: Sequence[int]) -> Steps:
        """The decoded program; those that were launched last are kept. A list may have changed."""
        kept = self._programs.get(id(program))
        if kept is not None and isinstance(program, tuple):
            self._programs.move_to_end(id(program))
            return kept[1]
        check_length(program, self.config)
        steps = Steps(program, self.config)
        self._programs[id(program)] = program, steps
        if len(self._programs) > _PROGRAMS_KEPT:
            self._programs.popitem(last=False)
        return steps

    def _set_check(self, check: AccessCheck | None) -> None:
        job = self._job
        job.check = Check.NOTHING if check is None else Check.ALIGNMENT if check.ranges is None else Check.RANGES
        if check is None:
            return
        job.local_used = check.local_bytes
        if check.ranges is not None and check.ranges is not self._ranges:
            ends = np.fromiter(chain.from_iterable(check.ranges), np.uint64).reshape(-1, 2)
            self._ranges = check.ranges
            self._firsts, self._ends = np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1])
            job.firsts, job.ends = self._firsts.ctypes.data, self._ends.ctypes.data
            job.ranges = len(ends)

    def _set_shape(self, descriptor: Dispatch, words: Sequence[int]) -> None:
        job = self._job
        job.parameters[:] = words[_PARAMETERS:]
        if descriptor is self._shape:
            return
        job.entry, job.dimensions, job.place = descriptor.entry, descriptor.dimensions, descriptor.place
        job.wavefronts, job.last_items = descriptor.wavefronts, descriptor.last_items
        groups, job.together = reference.parted(descriptor, self.config)
        job.groups = min(groups, (1 << 64) - 1)
        job.work_groups[:] = descriptor.work_groups
        job.group_size[:] = descriptor.steps
        job.global_size[:] = words[_GLOBAL_SIZE:_GLOBAL_SIZE + DIMENSIONS]
        job.global_offset[:] = descriptor.origins
        self._local_ids = local_ids(descriptor.extents, descriptor.dimensions, descriptor.wavefronts)
        job.local_ids = self._local_ids.ctypes.data
        self._shape = descriptor

    # -- what is told ---------------------------------------------------------------------------

    def _raise(self, launch: Launch, descriptor: Dispatch, outcome: Outcome) -> None:
        places = launch.places
        groups = WorkGroups(descriptor, outcome.first_group, outcome.groups)
        match outcome.status:
            case Status.NO_INSTRUCTION:
                try:
                    Program(places, self.config).step(outcome.pc)
                except KernelFault as fault:
                    raise no_instruction(places, groups, outcome.wavefront, fault) from None
            case Status.STACK_OVERFLOW:
                raise stack_overflow(places, groups, outcome.wavefront, outcome.pc, self.config)
            case Status.REFUSED:
                self._refuse(launch, groups, outcome)
            case Status.TIMEOUT:
                raise _timeout(launch, descriptor, outcome, f"{launch.max_cycles} wavefront instructions")
        raise SimulationError(f"the compiled functional engine stopped with status {outcome.status}")

    def _refuse(self, launch: Launch, groups: WorkGroups, outcome: Outcome) -> None:
        """Raise what the first of the refused accesses is."""
        addresses = _array(outcome.refused_addresses, outcome.refused, np.uint32)
        items = _array(outcome.refused_items, outcome.refused, np.uint32)
        row = Program(launch.places, self.config).step(outcome.pc).row
        at = None if launch.check is None else launch.check.first_refused(addresses, row)
        if launch.check is not None and at is not None:
            raise launch.check.error(launch.places, outcome.pc, int(addresses[at]), groups.name(int(items[at])))
        raise outside_memory(launch.places, outcome.pc, int(addresses[0]), groups.name(int(items[0])), self.memory)


def _timeout(launch: Launch, descriptor: Dispatch, outcome: Outcome, limit: str) -> SimulationTimeout:
    groups = WorkGroups(descriptor, outcome.first_group, outcome.groups)

    def each(name: str, dtype: type) -> np.ndarray:
        return _array(getattr(outcome, name), groups.wavefronts, dtype)

    pcs = each("pcs", np.int32)
    return timeout(
        launch.places, groups, limit, [(int(at), int(pcs[at])) for at in np.flatnonzero(pcs >= 0)],
        np.flatnonzero(each("states", np.uint8) == _WAITING).tolist(), each("masks", np.uint64),
        each("parked", np.uint64), each("resume", np.int32))


def _progress(descriptor: Dispatch, outcome: Outcome, seconds: float) -> Progress:
    return Progress(
        cycles=None, instructions=outcome.instructions, seconds=seconds,
        wavefronts=(outcome.first_group + outcome.groups) * descriptor.wavefronts,
        all_wavefronts=descriptor.all_wavefronts)


def _array(address: Any, count: int, dtype: type) -> np.ndarray:
    """A copy of what the engine tells."""
    return np.frombuffer(ctypes.string_at(address, count * np.dtype(dtype).itemsize), dtype)
