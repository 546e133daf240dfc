"""What both cycle-accurate engines do around the C++ test bench: launches, counters and errors."""

import ctypes
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fgpu.address_map import (
    DESCRIPTOR_WORDS,
    LRAM_BASE,
    ControlRegister,
    code_address,
    register_address,
)
from fgpu.config import KERNEL_SLOTS, WAVEFRONTS, Config
from fgpu.errors import LaunchError, SimulationError, SimulationTimeout, ToolError
from fgpu.probe import Bucket, WavefrontState

from ..accesses import AccessCheck, name_work_item, outside_memory
from ..dispatch import Dispatch
from ..engine import EngineResult, Launch, MemoryTiming, OutOfTime, Progress
from ..event_log import EVENT, EventLog, events_of
from ..faults import kernel_fault
from ..functional.local_ids import local_ids
from ..memory import GlobalMemory
from ..places import Places
from . import abi

__all__ = ["BenchEngine", "create"]

_DOING = {
    WavefrontState.STOPPED: "was stopped by a fault",
    WavefrontState.FETCH: "waits for its fetch",
    WavefrontState.READY: "is ready to issue",
    WavefrontState.EXECUTE: "waits for the result of the one before it",
    WavefrontState.BRANCH: "waits for the divergence unit",
    WavefrontState.MEMORY_READ: "waits for data from memory",
    WavefrontState.WRITE_PRESSURE: "waits for the memory controller to take it",
    WavefrontState.BARRIER: "waits for the others of its work-group",
}
"""What the instruction at which a wavefront is does."""
_MOVED_ON = (WavefrontState.BRANCH, WavefrontState.BARRIER)
"""The program counter is behind that instruction already."""
_STATE_BITS = WavefrontState.as_shape().width
_WAVEFRONTS_TOLD = 16
_SLICE_SECONDS = 0.1
_WRITE_BACK_CYCLES = 1_000_000
_BUCKETS = {name.lower(): bucket.value for name, bucket in Bucket.__members__.items()}


def _register(register: Any) -> int:
    # Amaranth is untyped, so that mypy takes the members of its enumerations for numbers.
    return register_address(register)


def create(path: Path | str) -> str:
    """Create a file for waveforms: simulators say little, or nothing, where they cannot."""
    try:
        Path(path).write_bytes(b"")
    except OSError as error:
        raise ToolError(f"cannot write {path}: {error.strerror or error}") from error
    return str(path)


def _doing(places: Places, state: WavefrontState, pc: int) -> str:
    """At which instruction a wavefront with the program counter ``pc`` is, and what it waits for."""
    at = pc - 1 if state in _MOVED_ON else pc
    awaited = places.awaited(at) if state is WavefrontState.MEMORY_READ else None
    return f"{places.at(at)}: {_DOING[state]}" + (f", of {places.at(awaited)}" if awaited is not None else "")


class BenchEngine(ABC):
    """An engine around the C++ test bench; subclasses bring the clocked hardware.

    The counters of a launch's result (:attr:`~fgpu.sim.engine.EngineResult.stats`), from the cycle after the write
    of the start register to that of the status bit:

    ``cycles``
        Their number.
    ``cu0.issue``, ``cu0.memory_read``, ...
        Cycles of a compute unit in each :class:`~fgpu.probe.Bucket`; together as many as ``cycles``.
    ``cu0.instructions``, ``cu0.work_item_instructions``
        Instructions that it issued, counted for wavefronts and for enabled work-items.
    ``cu0.wavefront_cycles``
        The sum over all cycles of the wavefronts that were in it: divided by ``cycles``, its occupancy, up to 8.
    ``cu0.local_phases``, ``cu0.local_conflicts``
        With local memory: phases (of eight work-items) of accesses to it, and the cycles that loads and stores took
        beyond one for each, because work-items met in a bank.
    ``cache.read_hit``, ...
        Events of the cache, one for each field of :class:`~fgpu.cache.probe.CacheProbe`.
    ``axi0.read_bursts``, ``axi0.read_beats``, ``axi0.read_bytes``, ``axi0.write_bursts``, ...
        Traffic of an AXI4 port; written bytes are those whose strobe was set. A beat is a cycle in which the data
        channel was busy.
    """

    name = ""

    def __init__(self, config: Config, memory: GlobalMemory, timing: MemoryTiming | None = None) -> None:
        self.config = config.replace(statistics=True)
        self.timing = timing or MemoryTiming()
        self.memory = memory
        self._events: Sequence[str] = ()
        self._written: dict[int, int] = {}      # control address: the word last written there

    def build(self) -> None:
        """As of any engine; here nothing happens."""
        return

    # -- what subclasses bring ----------------------------------------------------------------------

    @property
    @abstractmethod
    def _library(self) -> abi.BenchLibrary: ...

    @abstractmethod
    def _open(self) -> int:
        """Power up: the bench's handle; the same one while the hardware keeps its state."""

    @abstractmethod
    def _run(self, cycles: int) -> int:
        """Run so many clock cycles, or fewer if the bench's status changes; the status."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the engine holds; the next launch would power up anew."""

    # -- launches -----------------------------------------------------------------------------------

    def launch(self, launch: Launch) -> EngineResult:
        """Run one kernel until its status bit rises; see :class:`~fgpu.sim.engine.Engine`."""
        operations = self._operations(launch)
        bench = self._open()
        begin = time.perf_counter()
        try:
            self._allow(bench, launch.check)
            profile = self._profile(bench, launch)
            self._library.bench_record(bench, *(launch.record.cycles if launch.record else (0, 0)))
            self._library.bench_launch(bench, operations, len(operations), launch.limit)
            self._run_sliced(lambda: self._tell(bench, launch, begin))
            result = self._library.bench_result(bench).contents
            if result.status != abi.DONE:
                raise self._error(result, launch)
            unmapped = result.message.decode(errors="replace")
            if unmapped and launch.check is None:
                unmapped += "; check_accesses=True (--check-accesses) names the instruction and the work-item"
            fault = kernel_fault(operations[len(operations) - 1].data, launch.places, launch.slot, unmapped)
            if fault is not None:
                raise fault
            seconds = time.perf_counter() - begin
            return replace(self._result(result, seconds), profile=profile,
                           events=self._recorded(bench, launch, result.cycles))
        except BaseException as error:
            message = self._out_of_time(bench, launch, error) if isinstance(error, OutOfTime) else None
            if launch.write_back:
                self._write_back(bench, launch.slot)
            # The kernel is stuck, or was left in the middle: only a power cycle leads to a known state.
            self.close()
            self._written.clear()
            if message is not None:
                raise SimulationTimeout(message) from None
            raise

    def _out_of_time(self, bench: int, launch: Launch, limit: OutOfTime) -> str:
        """What a launch did until then; what each wavefront does is known at a limit of cycles only."""
        cycles = self._library.bench_result(bench).contents.cycles
        entry = Dispatch.from_words(launch.descriptor).entry
        return (f"{launch.places.whose} did not finish within {limit}, in {cycles} cycles; it begins at "
                f"{launch.places.at(entry)}")

    def _write_back(self, bench: int, slot: int) -> None:
        """Abort a kernel that still runs, as a host would: what it has stored goes from the cache to memory."""
        if self._library.bench_result(bench).contents.status not in (abi.RUNNING, abi.TIMEOUT, abi.REFUSED_ACCESS):
            return
        self._allow(bench, None)
        operations = (abi.HostOp * 2)(abi.HostOp(abi.OP_START, _register(ControlRegister.ABORT), 1 << slot),
                                      abi.HostOp(abi.OP_WAIT, 0, slot))
        self._library.bench_launch(bench, operations, len(operations), _WRITE_BACK_CYCLES)
        self._run_sliced()

    def _allow(self, bench: int, check: AccessCheck | None) -> None:
        mode = abi.CHECK_NOTHING if check is None else abi.CHECK_ALL
        # Beside memory the hardware knows no more than that an access was; here it is known whose.
        everywhere = ((self.memory.base, self.memory.base + self.memory.size),)
        allowed = everywhere if check is None or check.ranges is None else check.ranges
        ranges = [abi.AddressRange(*ends) for ends in allowed]
        self._library.bench_allow(bench, (abi.AddressRange * len(ranges))(*ranges), len(ranges),
                                  0 if check is None else check.local_bytes, mode)

    def _profile(self, bench: int, launch: Launch) -> np.ndarray | None:
        """Where the bench counts from now on what happens at each instruction, if that is wanted."""
        entries = np.zeros(len(launch.program) + 1, np.dtype(abi.ProfileEntry)) if launch.profile else None
        place = None if entries is None else ctypes.cast(entries.ctypes.data, ctypes.POINTER(abi.ProfileEntry))
        line_bytes = 4 * self.config.line_words
        self._library.bench_profile(bench, place, len(launch.program) + 1, line_bytes.bit_length() - 1)
        return entries

    def _recorded(self, bench: int, launch: Launch, cycles: int) -> EventLog | None:
        """The events of a launch that has ended, if they are wanted."""
        if launch.record is None:
            return None
        count = ctypes.c_uint64()
        place = self._library.bench_events(bench, ctypes.byref(count))
        entries = np.zeros(count.value, EVENT)
        ctypes.memmove(entries.ctypes.data, place, entries.nbytes)
        (first, end), parts = launch.record.cycles, launch.record.parts(self.config)
        return EventLog(
            kernel=launch.kernel, config=self.config, words=launch.program, locations=launch.lines,
            entries=events_of(parts, entries, self._events), cache_events=list(self._events), first=first,
            end=min(end, cycles), parts=parts)

    def _run_sliced(self, tell: Callable[[], None] = lambda: None) -> None:
        """Return to Python now and then, for Ctrl-C and to ``tell``; often enough, not for every cycle."""
        cycles = 1000
        while True:
            before = time.perf_counter()
            if self._run(cycles) != abi.RUNNING:
                return
            if time.perf_counter() - before < _SLICE_SECONDS:
                cycles *= 2
            else:
                tell()

    def _tell(self, bench: int, launch: Launch, begin: float) -> None:
        """How far the launch is that began at a time, to who wants to know."""
        if launch.progress is None:
            return
        result, dispatch = self._library.bench_result(bench).contents, Dispatch.from_words(launch.descriptor)
        launch.progress(Progress(
            cycles=result.cycles, instructions=sum(unit.instructions for unit in result.unit),
            wavefronts=self._library.bench_wavefronts(bench), all_wavefronts=dispatch.all_wavefronts,
            seconds=time.perf_counter() - begin))

    def _operations(self, launch: Launch) -> ctypes.Array[abi.HostOp]:
        if not 0 <= launch.slot < KERNEL_SLOTS:
            raise LaunchError(f"kernel slot must be 0 to {KERNEL_SLOTS - 1}, not {launch.slot}")
        if not 0 < len(launch.program) <= self.config.cram_words:
            raise LaunchError(f"a program of {len(launch.program)} words does not fit in a code RAM of "
                              f"{self.config.cram_words}")
        if len(launch.descriptor) != DESCRIPTOR_WORDS:
            raise LaunchError(f"a kernel descriptor has {DESCRIPTOR_WORDS} words, not {len(launch.descriptor)}")
        if launch.max_cycles <= 0:
            raise LaunchError(f"max_cycles must be positive, not {launch.max_cycles}")
        slot = LRAM_BASE + 4 * DESCRIPTOR_WORDS * launch.slot
        flag = 1 << launch.slot
        wanted = {code_address(i): int(word) for i, word in enumerate(launch.program)}
        wanted |= {slot + 4 * i: int(word) for i, word in enumerate(launch.descriptor)}
        wanted[_register(ControlRegister.CLEAN_CACHE)] = flag if launch.clean else 0
        wanted[_register(ControlRegister.INITIALIZE)] = flag if launch.initialize else 0
        # What the hardware already holds need not be written again.
        changed = {address: word for address, word in wanted.items() if self._written.get(address) != word}
        self._written |= changed
        operations = [abi.HostOp(abi.OP_WRITE, address, word) for address, word in changed.items()]
        operations.append(abi.HostOp(abi.OP_START, _register(ControlRegister.START), flag))
        operations.append(abi.HostOp(abi.OP_WAIT, 0, launch.slot))
        operations.append(abi.HostOp(abi.OP_READ, _register(ControlRegister.FAULT), 0))
        return (abi.HostOp * len(operations))(*operations)

    # -- results ------------------------------------------------------------------------------------

    def _result(self, result: abi.Result, seconds: float) -> EngineResult:
        units = list(result.unit)[:self.config.compute_units]
        stats: dict[str, int] = {"cycles": result.cycles}
        for i, unit in enumerate(units):
            stats |= {f"cu{i}.{name}": unit.buckets[value] for name, value in _BUCKETS.items()}
            stats |= {f"cu{i}.instructions": unit.instructions,
                      f"cu{i}.work_item_instructions": unit.work_item_instructions,
                      f"cu{i}.wavefront_cycles": unit.wavefront_cycles}
            if self.config.local_memory:
                stats |= {f"cu{i}.local_phases": unit.local_phases, f"cu{i}.local_conflicts": unit.local_conflicts}
        stats |= dict.fromkeys((f"cache.{name}" for name in self._events), 0)
        for i, name in enumerate(self._events):     # of each slice
            stats[f"cache.{name}"] += result.events[i]
        for i, port in enumerate(list(result.port)[:self.config.axi_ports]):
            stats |= {f"axi{i}.{name}": getattr(port, name) for name, _ in port._fields_}
        return EngineResult(
            cycles=result.cycles, instructions=sum(unit.instructions for unit in units),
            work_item_instructions=sum(unit.work_item_instructions for unit in units), stats=stats, seconds=seconds)

    def _error(self, result: abi.Result, launch: Launch) -> SimulationError:
        message = result.message.decode(errors="replace")
        if result.status == abi.REFUSED_ACCESS:
            assert launch.check is not None
            refused, dispatch = result.refused, Dispatch.from_words(launch.descriptor)
            ids = local_ids(dispatch.extents, dispatch.dimensions, dispatch.wavefronts)
            work_item = name_work_item(dispatch, refused.offsets, ids[:, refused.item].tolist())
            if launch.check.ranges is None and refused.elsewhere:
                return outside_memory(launch.places, refused.pc, refused.address, work_item, self.memory)
            return launch.check.error(launch.places, refused.pc, refused.address, work_item)
        if result.status != abi.TIMEOUT:
            return SimulationError(message)
        return SimulationTimeout(
            f"{launch.places.whose} did not finish within {launch.max_cycles} cycles; {message}. If it is only slow, "
            "give more max_cycles.\n" + "\n".join(self._wavefronts(result, launch.places)))

    def _wavefronts(self, result: abi.Result, places: Places) -> list[str]:
        lines = []
        for unit, probe in enumerate(list(result.probe)[:self.config.compute_units]):
            for i in range(WAVEFRONTS):
                state = WavefrontState(probe.states >> _STATE_BITS * i & (1 << _STATE_BITS) - 1)
                if state is not WavefrontState.FREE:
                    lines.append(f"CU {unit} wavefront {i}: {_doing(places, state, probe.pcs[i])}")
        if len(lines) > _WAVEFRONTS_TOLD:
            rest = len(lines) - _WAVEFRONTS_TOLD
            return [*lines[:_WAVEFRONTS_TOLD], f"and {rest} more wavefronts"]
        has_begun = any(unit.instructions for unit in list(result.unit)[:self.config.compute_units])
        return lines or ["no wavefront is in any compute unit: " + (
            "the cache takes stores or is cleaned" if has_begun else "none has begun")]
