"""A compute unit: scheduler, vector, memory controller (section 3.4, figure 3.2)."""

from functools import reduce
from operator import or_
from typing import Any, Final

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from fgpu.config import WAVEFRONTS, Config
from fgpu.fault import FaultReport
from fgpu.gateware.sharing import add_shared
from fgpu.interfaces.fetch import Fetched, FetchRequest
from fgpu.interfaces.memory_bus import LoadTurn, MemoryRequest, Responses
from fgpu.interfaces.runtime import RuntimeWrite
from fgpu.interfaces.work_groups import KernelInfo, WorkGroup
from fgpu.probe import AccessProbe, ComputeUnitProbe

from .float.operations import lanes_of
from .float.units import FloatUnits
from .float_results import ROUND_CYCLES, FloatResults
from .launcher import COMPUTE_UNIT_BITS, Launcher
from .local_bases import LocalBases
from .log import UnitLog
from .memory_controller import MemoryController
from .pipeline import ISSUE_CYCLES, SLOT_CYCLES, float_result_cycles, narrow_distance
from .scheduler import WavefrontScheduler
from .vector import ComputeVector

__all__ = ["ComputeUnit", "idle_period"]

_TURN_CYCLES: Final = 8
"""The beat goes round in four cycles, and the turn to issue, from one free wavefront to the next, in eight."""
assert ROUND_CYCLES % _TURN_CYCLES == 0


def idle_period(config: Config) -> int:
    """Cycles after which the state of a compute unit without work returns while its inputs stay."""
    return ROUND_CYCLES if config.float_ops else _TURN_CYCLES


class ComputeUnit(wiring.Component):
    """Runs work-groups of up to 512 work-items.

    ``runtime_write`` is the dispatcher's initialization, which comes only while it is ``loading``: wavefronts may
    start then, but nothing is issued.
    ``load_turn``: how its wavefronts load. ``room``: a work-group of the running kernel would be taken at once.
    ``idle``: no wavefront runs and every memory access has left for the cache. After a ``fault`` (one cycle each) the
    dispatcher answers with ``cancel``, which ends all wavefronts. After a reset, and after ``clear_registers``, which
    may come while it is idle, there is no ``room`` before all registers are cleared.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        members: dict[str, Any] = {
            "number": In(COMPUTE_UNIT_BITS),
            "kernel": In(KernelInfo),
            "work_groups": In(stream.Signature(WorkGroup)),
            "runtime_write": In(RuntimeWrite),
            "loading": In(1),
            "fetch": Out(stream.Signature(FetchRequest(config))),
            "fetched": In(Fetched),
            "requests": Out(stream.Signature(MemoryRequest(config))),
            "responses": In(Responses(config)).array(config.slices),
            "room": Out(1),
            "idle": Out(1),
            "cancel": In(1),
            "clear_registers": In(1),
            "fault": Out(FaultReport),
        }
        if config.cache_conscious:
            members["load_turn"] = In(LoadTurn)
        if config.compute_units > 1:
            members["next_slice"] = Out(config.slices)
        if config.statistics:
            members["probe"] = Out(ComputeUnitProbe)
            members["access"] = Out(AccessProbe)
            members["log"] = Out(UnitLog)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.launcher = launcher = Launcher()
        m.submodules.scheduler = scheduler = WavefrontScheduler(self._config)
        m.submodules.vector = vector = ComputeVector(self._config)
        m.submodules.memory = memory = MemoryController(self._config)

        connect(m, flipped(self.work_groups), launcher.work_groups)
        connect(m, scheduler.fetch, flipped(self.fetch))
        connect(m, memory.requests, flipped(self.requests))
        for port in range(self._config.slices):
            connect(m, flipped(self.responses[port]), memory.responses[port])
        if self._config.compute_units > 1:
            m.d.comb += self.next_slice.eq(memory.next_slice)
        m.d.comb += [
            launcher.compute_unit.eq(self.number),
            launcher.kernel.eq(self.kernel),
            launcher.free.eq(scheduler.free),
            launcher.mask_ready.eq(scheduler.start_mask_ready),
            launcher.clearing.eq(memory.clear),
            launcher.loading.eq(self.loading),
            self.room.eq(launcher.room),

            scheduler.kernel.eq(self.kernel),
            scheduler.hold.eq(self.loading),
            scheduler.start.eq(launcher.start),
            scheduler.start_number.eq(launcher.number),
            scheduler.start_mask.eq(launcher.mask_write),
            scheduler.groups.eq(launcher.groups),
            scheduler.fetched.eq(self.fetched),
            scheduler.cancel.eq(self.cancel),
            self.fault.eq(Mux(scheduler.fault.valid, scheduler.fault.as_value(), vector.fault.as_value())),
            scheduler.branch.eq(vector.branch),
            scheduler.memory_ready.eq(memory.ready),
            scheduler.load_done.eq(memory.done),
            scheduler.load_done_wavefront.eq(memory.done_wavefront),

            vector.issue.eq(scheduler.issue),
            vector.control.eq(scheduler.control),
            vector.dimensions_minus_1.eq(self.kernel.dimensions_minus_1),
            vector.load.eq(memory.load),
            vector.clear.eq(memory.clear),

            memory.beat.eq(scheduler.beat),
            memory.access.eq(vector.memory),
            memory.access_valid.eq(vector.memory_valid),
            memory.reserve.eq(scheduler.memory_reserve),
            memory.clear_registers.eq(self.clear_registers),
        ]
        # Long before a wavefront reads it.
        m.d.sync += vector.runtime_write.eq(Mux(
            launcher.runtime_write.valid, launcher.runtime_write.as_value(), self.runtime_write.as_value()))
        if self._config.cache_conscious:
            m.d.comb += scheduler.load_turn.eq(self.load_turn)
        if self._config.local_memory:
            self._add_local_bases(m, launcher, scheduler, vector, memory)
        if self._config.float_ops:
            self._add_floats(m, platform, scheduler, vector, memory)
        m.d.sync += self.idle.eq(scheduler.free.all() & ~launcher.busy & memory.idle)
        if self._config.statistics:
            self._observe(m, launcher, scheduler, vector, memory)
        return m

    def _add_local_bases(self, m: Module, launcher: Launcher, scheduler: WavefrontScheduler, vector: ComputeVector,
                         memory: MemoryController) -> None:
        """Where the local memory of each work-group begins, and what passes between those that access it."""
        m.submodules.local_bases = bases = LocalBases(self._config)
        m.d.comb += [
            bases.start.eq(launcher.start), bases.group.eq(launcher.group), bases.kernel.eq(self.kernel),
            bases.wavefront.eq(scheduler.issue.wavefront),
            vector.is_local.eq(scheduler.is_local), vector.local_base.eq(bases.base),
            memory.local.eq(vector.local), memory.local_valid.eq(vector.local_valid),
            memory.local_reserve.eq(scheduler.local_reserve),
            scheduler.local_ready.eq(memory.local_ready), scheduler.load_done_local.eq(memory.done_local),
        ]

    def _add_floats(self, m: Module, platform: object, scheduler: WavefrontScheduler, vector: ComputeVector,
                    memory: MemoryController) -> None:
        """The floating-point units, and the way of their results to the registers."""
        m.submodules.float_results = results = FloatResults(lanes_of(self._config), narrow_distance(self._config))
        # Its ports have the same names whatever is in it: another one can take its place.
        floats = add_shared(m, "floats", platform, "floats", lambda: FloatUnits(self._config),
                            runs=lambda m: self._floats_run(m, scheduler, results))
        connect(m, scheduler.floats, results.commit)
        if self._config.narrow_floats:
            connect(m, scheduler.narrow_floats, results.narrow_commit)
            connect(m, results.narrow, floats.narrow)
        m.d.comb += [
            scheduler.float_available.eq(floats.available),
            results.slots.eq(floats.slots),
            results.beat.eq(scheduler.beat),
            results.issue.eq(scheduler.issue),
            results.rd.eq(scheduler.control.rd),
            floats.operation.eq(results.operation),
            floats.first.eq(vector.float_first),
            floats.second.eq(vector.float_second),
            floats.select.eq(results.select),
            *(vector.float_result[name].eq(results.place[name])
              for name in ("wavefront", "phase", "register", "lanes")),
            vector.float_result.words.eq(floats.result),
            vector.float_valid.eq(results.valid),
            memory.float_next.eq(results.valid_next),
        ]

    def _floats_run(self, m: Module, scheduler: Any, results: Any) -> Value:
        """Whether an instruction is in the floating-point units, or was some cycles ago."""
        enters = scheduler.floats.accept
        if self._config.narrow_floats:      # what waits for others enters before the last of these is written
            enters |= scheduler.narrow_floats.accept | results.narrow.collect_valid
        # The last phase's result is there as much later as that phase was issued.
        cycles = max(float_result_cycles(self._config).values()) + ISSUE_CYCLES + SLOT_CYCLES
        left = Signal(range(cycles + 1), name="floats_run")
        with m.If(enters):
            m.d.sync += left.eq(cycles)
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)
        return left != 0

    def _observe(self, m: Module, launcher: Launcher, scheduler: WavefrontScheduler, vector: ComputeVector,
                 memory: MemoryController) -> None:
        """What a simulator is told, and no hardware has."""
        m.d.comb += self.probe.eq(scheduler.probe)
        offsets = Signal.like(self.access.offsets.as_value())
        with m.If(self.work_groups.valid & self.work_groups.ready):
            m.d.sync += offsets.eq(self.work_groups.payload.offsets)
        m.d.comb += [
            self.access.eq(vector.probe),
            self.access.starts.eq(launcher.start), self.access.offsets.eq(offsets),
        ]
        self._log(m, scheduler, launcher, offsets)
        if self._config.local_memory:
            m.d.comb += [self.probe.local_phase.eq(memory.local_probe.phase),
                         self.probe.local_conflict.eq(memory.local_probe.conflict)]

    def _log(self, m: Module, scheduler: Any, launcher: Any, offsets: Signal) -> None:
        groups, log = launcher.groups, self.log
        present, before = Signal(len(groups.starting)), Signal(len(groups.starting))
        m.d.comb += present.eq(reduce(or_, (groups.members[slot] for slot in range(WAVEFRONTS)), groups.starting))
        m.d.sync += before.eq(present)
        m.d.comb += [
            log.eq(scheduler.log),
            log.group_begins.eq(present & ~before), log.group_ends.eq(before & ~present), log.offsets.eq(offsets),
            log.valid.eq(scheduler.log.valid | (present != before)),
        ]
