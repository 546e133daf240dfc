"""Wavefront scheduler: picks, decodes and issues an instruction every four or eight cycles (section 3.4.2)."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from fgpu.config import PHASES, WAVEFRONT_BITS, WAVEFRONT_SIZE, WAVEFRONTS, Config
from fgpu.fault import FaultReport
from fgpu.interfaces.fetch import Fetched, FetchRequest
from fgpu.interfaces.memory_bus import LoadTurn
from fgpu.interfaces.work_groups import KernelInfo, ResidentGroups
from fgpu.probe import Bucket, ComputeUnitProbe, WavefrontState

from .control_word import ControlWord, Issue
from .divergence import DivergenceUnit, MaskWrite, divergence_unit, stops_behind
from .float.operations import FloatOp
from .float_results import FloatCommit
from .issuer import InstructionIssuer
from .log import UnitLog
from .narrow_queue import NarrowCommit
from .pipeline import BEAT_BITS
from .selector import WavefrontSelector
from .vector import BranchLanes
from .wavefront import Commit

__all__ = ["WavefrontScheduler"]


class WavefrontScheduler(wiring.Component):
    """Schedules up to eight wavefronts.

    Selection takes the four cycles of a slot, during which the instruction before it occupies the vector:
    pick a ready wavefront (:class:`~fgpu.cu.selector.WavefrontSelector`), read its instruction and enabled
    work-items, decode, commit (:class:`~fgpu.cu.issuer.InstructionIssuer`). An instruction
    takes two slots, or one if all its enabled work-items are in one half of the wavefront; calls and
    returns take one slot and leave the vector idle. So does an instruction whose result would leave the
    floating-point units together with another; it is tried again in the next slot.

    A wavefront goes on while its loads are under way, until an instruction needs their data. Instructions of such
    wavefronts are looked at in the three cycles of a slot in which none is picked. Loads of a wavefront stay
    together, so that it has all its data, and stores, while others load.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        members: dict[str, Any] = {
            "beat": Out(BEAT_BITS),
            "kernel": In(KernelInfo),
            "hold": In(1),
            "start": In(WAVEFRONTS),
            "start_number": In(WAVEFRONT_BITS),
            "start_mask": In(MaskWrite),
            "start_mask_ready": Out(1),
            "groups": In(ResidentGroups),
            "free": Out(WAVEFRONTS),
            "fetch": Out(stream.Signature(FetchRequest(config))),
            "fetched": In(Fetched),
            "issue": Out(Issue),
            "control": Out(ControlWord),
            "branch": In(BranchLanes),
            "memory_ready": In(1),
            "memory_reserve": Out(range(PHASES + 1)),
            "load_done": In(1),
            "load_done_wavefront": In(WAVEFRONT_BITS),
            "cancel": In(1),
            "fault": Out(FaultReport),
        }
        if config.cache_conscious:
            members["load_turn"] = In(LoadTurn)
        if config.local_memory:
            members |= {"is_local": Out(1), "local_ready": In(1), "local_reserve": Out(range(PHASES + 1)),
                        "load_done_local": In(1)}
        if config.float_ops:
            members |= {"floats": Out(FloatCommit()), "float_available": In(1 << FloatOp.as_shape().width)}
        if config.narrow_floats:
            members["narrow_floats"] = Out(NarrowCommit())
        if config.statistics:
            members |= {"probe": Out(ComputeUnitProbe), "log": Out(UnitLog)}
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.sync += self.beat.eq(self.beat + 1)
        m.submodules.selector = selector = WavefrontSelector(self._config)
        m.submodules.divergence = divergence = divergence_unit(self._config)
        m.submodules.issuer = issuer = InstructionIssuer(self._config)
        self._connect_selector(m, selector, issuer, divergence)
        self._connect_issuer(m, issuer, selector, divergence)
        m.d.comb += [
            divergence.branch.eq(self.branch), divergence.start.eq(self.start),
            divergence.request.eq(issuer.request), divergence.request_valid.eq(issuer.request_valid),
        ]
        if self._config.statistics:
            self._probe(m, selector, issuer)
            self._log(m, issuer, divergence)
        return m

    def _connect_selector(self, m: Module, selector: WavefrontSelector, issuer: InstructionIssuer,
                          divergence: DivergenceUnit) -> None:
        connect(m, selector.fetch, flipped(self.fetch))
        m.d.comb += [
            selector.beat.eq(self.beat), selector.hold.eq(self.hold),
            selector.entry.eq(self.kernel.entry), selector.start.eq(self.start),
            selector.groups.eq(self.groups), selector.fetched.eq(self.fetched), selector.cancel.eq(self.cancel),
            selector.room.memory.eq(self.memory_ready),
            selector.loading.eq(issuer.loading),
            selector.load_done.eq(self.load_done), selector.load_done_wavefront.eq(self.load_done_wavefront),
            selector.outcome.eq(divergence.outcome),
            selector.checked.eq(issuer.checked), selector.early.eq(issuer.early),
            selector.committed.eq(issuer.committed), selector.at_vector.eq(issuer.at_vector),
            self.free.eq(selector.free), self.fault.eq(selector.fault),
        ]
        if self._config.cache_conscious:
            m.d.comb += selector.load_turn.eq(self.load_turn)
        if self._config.local_memory:
            m.d.comb += selector.room.local.eq(self.local_ready)
        if divergence.meets:
            m.d.comb += [selector.waits.eq(divergence.waits), selector.tops.eq(divergence.tops)]
        if self._config.float_ops:
            m.d.comb += selector.float_slots.eq(self.floats.slots)
        if self._config.narrow_floats:
            narrow: Any = self.narrow_floats
            m.d.comb += [selector.narrow_room.eq(narrow.room), selector.narrow_done.eq(narrow.done),
                         selector.narrow_done_wavefront.eq(narrow.done_wavefront)]

    def _connect_issuer(self, m: Module, issuer: InstructionIssuer, selector: WavefrontSelector,
                        divergence: DivergenceUnit) -> None:
        mask: Any = Mux(divergence.mask_write.valid, divergence.mask_write.as_value(), self.start_mask.as_value())
        m.d.comb += [
            self.start_mask_ready.eq(~divergence.mask_write.valid), issuer.mask_write.eq(mask),
            issuer.beat.eq(self.beat), issuer.start.eq(self.start), issuer.start_number.eq(self.start_number),
            issuer.fetched.eq(self.fetched), issuer.selected.eq(selector.selected),
            issuer.room.memory.eq(self.memory_ready), self.memory_reserve.eq(issuer.memory_reserve),
            issuer.load_done.eq(self.load_done), issuer.load_done_wavefront.eq(self.load_done_wavefront),
            self.issue.eq(issuer.issue), self.control.eq(issuer.control),
        ]
        if self._config.cache_conscious:
            m.d.comb += issuer.may_load.eq(selector.may_load)
        if self._config.local_memory:
            m.d.comb += [
                issuer.room.local.eq(self.local_ready), issuer.load_done_local.eq(self.load_done_local),
                self.is_local.eq(issuer.is_local), self.local_reserve.eq(issuer.local_reserve),
            ]
        if self._config.float_ops:
            connect(m, issuer.floats, flipped(self.floats))
            m.d.comb += issuer.float_available.eq(self.float_available)
        if self._config.narrow_floats:
            connect(m, issuer.narrow_floats, flipped(self.narrow_floats))

    def _probe(self, m: Module, selector: WavefrontSelector, issuer: InstructionIssuer) -> None:
        probe: Any = self.probe
        watched: Any = issuer.watched
        states = [selector.states[number] for number in range(WAVEFRONTS)]
        for number in range(WAVEFRONTS):
            m.d.comb += [probe.states[number].eq(states[number]), probe.pcs[number].eq(selector.pcs[number])]

        def any_is(state: WavefrontState) -> Any:
            return Cat(each == state for each in states).any()

        with m.If(self.issue.valid):
            m.d.comb += probe.bucket.eq(Bucket.ISSUE)
        with m.Elif(any_is(WavefrontState.MEMORY_READ)):
            m.d.comb += probe.bucket.eq(Bucket.MEMORY_READ)
        with m.Elif(any_is(WavefrontState.WRITE_PRESSURE)):
            m.d.comb += probe.bucket.eq(Bucket.WRITE_PRESSURE)
        with m.Elif(any_is(WavefrontState.BRANCH)):
            m.d.comb += probe.bucket.eq(Bucket.BRANCH)
        with m.Elif(any_is(WavefrontState.FETCH)):
            m.d.comb += probe.bucket.eq(Bucket.FETCH)
        with m.Elif(any_is(WavefrontState.EXECUTE) | any_is(WavefrontState.READY)):
            m.d.comb += probe.bucket.eq(Bucket.EXECUTE)
        with m.Elif(any_is(WavefrontState.BARRIER)):
            m.d.comb += probe.bucket.eq(Bucket.BARRIER)
        m.d.comb += [
            probe.issue.eq(watched.issued & ~watched.joins if stops_behind(self._config) else watched.issued),
            probe.issued_pc.eq(watched.pc),
            probe.issued_wavefront.eq(watched.wavefront), probe.executed_pc.eq(self.issue.pc),
            probe.lanes.eq(sum(watched.mask[item] for item in range(WAVEFRONT_SIZE))),
        ]

    def _log(self, m: Module, issuer: InstructionIssuer, divergence: DivergenceUnit) -> None:
        log: Any = self.log
        watched: Any = issuer.watched
        committed, outcome, write = issuer.committed, divergence.outcome, divergence.mask_write
        m.d.comb += [
            log.enabled.eq(watched.mask),
            log.refused.eq(watched.valid & (committed.commit == Commit.REFUSED)),
            log.collides.eq(watched.valid & (committed.commit == Commit.COLLIDES)),
            log.flow.eq(issuer.request_valid),
            log.load.eq(watched.load),
            log.load_local.eq(committed.local),
            log.load_done.eq(self.load_done),
            log.load_done_wavefront.eq(self.load_done_wavefront),
            log.outcome.eq(outcome.valid),
            log.outcome_kind.eq(outcome.kind),
            log.outcome_wavefront.eq(outcome.wavefront),
            log.changes.eq(write.valid),
            log.goes_on.eq(write.mask),
            log.valid.eq(self.probe.issue | log.refused | log.collides | log.flow | log.load_done | log.outcome),
        ]
        if self._config.local_memory:
            m.d.comb += log.load_done_local.eq(self.load_done_local)
