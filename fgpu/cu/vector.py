"""The compute vector: eight processing elements in lock step (section 3.4.3)."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Signal, Value, ValueLike
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import DIMENSION_BITS, PE_COUNT, PHASE_BITS, WAVEFRONT_BITS, Config
from fgpu.fault import FaultCause, FaultReport
from fgpu.gateware.sharing import add_shared
from fgpu.interfaces.memory_bus import AtomicOp
from fgpu.interfaces.runtime import LocalIds, RuntimeWrite
from fgpu.isa import REGISTER_BITS
from fgpu.probe import AccessProbe

from .control_word import ControlWord, Flow, Issue, MemoryAccess, RuntimeValue, Width
from .local_access import LocalAccess, row_bits
from .pe import ProcessingElement
from .pipeline import BRANCH_STAGE, MEMORY_STAGE, OPERAND_STAGE, READ_STAGES, RESULT_STAGE, RUNTIME_STAGE
from .register_file import LoadWrite, RegisterFile, RegisterWrite, Words
from .runtime_memory import RuntimeMemory

__all__ = ["BranchLanes", "ComputeVector", "PhaseAccess"]


class BranchLanes(data.Struct):
    """What a phase of a conditional branch decides for its work-items."""

    valid: 1
    wavefront: WAVEFRONT_BITS
    phase: PHASE_BITS
    taken: PE_COUNT
    not_taken: PE_COUNT
    first: 1
    last: 1


class PhaseAccess(data.StructLayout):
    """Memory accesses of the work-items of one phase; ``last``: of the last phase of the instruction.

    An atomic ``operation`` is a ``load``, too. ``expected`` is for cmpxchg.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "load": 1,
            **({"atomic": 1, "operation": AtomicOp} if config.atomics else {}),
            "width": Width,
            "wavefront": WAVEFRONT_BITS,
            "phase": PHASE_BITS,
            "rd": REGISTER_BITS,
            "last": 1,
            "lanes": PE_COUNT,
            "addresses": Words,
            "store_data": Words,
            **({"expected": Words} if "cmpxchg" in config.atomics else {}),
        })


class ComputeVector(wiring.Component):
    """Executes a phase a cycle, in the stages of :mod:`~fgpu.cu.pipeline`.

    ``control`` is sampled in the cycle of issue. ``branch`` comes from ``BRANCH_STAGE``, ``memory`` from
    ``MEMORY_STAGE`` (``memory_valid`` is not answered: room must be reserved before issue). With local memory so does
    ``local``, if ``is_local``, sampled like ``control``; ``local_base`` is that of this stage. With floating-point
    units ``float_first`` and ``float_second`` are their operands, in ``OPERAND_STAGE``, and ``float_result`` what
    they write if ``float_valid``.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        members: dict[str, Any] = {
            "issue": In(Issue),
            "control": In(ControlWord),
            "dimensions_minus_1": In(DIMENSION_BITS),
            "runtime_write": In(RuntimeWrite),
            "load": In(LoadWrite),
            "clear": In(1),
            "branch": Out(BranchLanes),
            "memory": Out(PhaseAccess(config)),
            "memory_valid": Out(1),
            "fault": Out(FaultReport),
        }
        if config.statistics:
            members["probe"] = Out(AccessProbe)
        if config.local_memory:
            members |= {"is_local": In(1), "local_base": In(row_bits(config)), "local": Out(LocalAccess(config)),
                        "local_valid": Out(1)}
        if config.float_ops:
            members |= {"float_first": Out(Words), "float_second": Out(Words), "float_result": In(RegisterWrite),
                        "float_valid": In(1)}
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        issue: list[Any] = [self.issue]
        control: list[Any] = [self.control]
        for stage in range(1, RESULT_STAGE + 1):
            issue.append(Signal(Issue, name=f"issue{stage}"))
            control.append(Signal(ControlWord, name=f"control{stage}"))
            m.d.sync += [issue[stage].eq(issue[stage - 1]), control[stage].eq(control[stage - 1])]
        controls = [control, self._second_control(m, control)]      # for half of the PEs each

        m.submodules.registers = registers = RegisterFile(floats=bool(self._config.float_ops))
        m.d.comb += [registers.load.eq(self.load), registers.clear.eq(self.clear)]
        if self._config.float_ops:
            m.d.comb += [
                self.float_first.eq(registers.rs), self.float_second.eq(registers.rt),
                registers.float_result.eq(self.float_result), registers.float_valid.eq(self.float_valid),
            ]
        for stage in READ_STAGES.values():
            m.d.comb += registers.issue[stage].eq(issue[stage])
            for operand in READ_STAGES:
                m.d.comb += registers.read[stage][operand].eq(control[stage][operand])

        m.submodules.runtime = runtime = RuntimeMemory()
        m.d.comb += [
            runtime.write.eq(self.runtime_write),
            runtime.issue.eq(issue[RUNTIME_STAGE]),
            runtime.value.eq(control[RUNTIME_STAGE].runtime),
            runtime.wants_local_ids.eq(control[RUNTIME_STAGE].local_id),
            runtime.selector.eq(control[RUNTIME_STAGE].immediate[:4]),
            runtime.wavefront_number.eq(issue[RUNTIME_STAGE].number),
            runtime.dimensions_minus_1.eq(self.dimensions_minus_1),
        ]
        local_ids = Signal(LocalIds)
        m.d.sync += local_ids.eq(runtime.local_ids)
        with m.If(control[OPERAND_STAGE - 1].runtime != RuntimeValue.NONE):
            m.d.sync += [each[OPERAND_STAGE].immediate.eq(runtime.uniform) for each in controls]

        pes = [add_shared(m, f"pe{lane}", platform, "pe", lambda: ProcessingElement(self._config))
               for lane in range(PE_COUNT)]
        for lane, pe in enumerate(pes):
            mine = controls[lane * len(controls) // PE_COUNT]
            m.d.comb += [
                pe.rs.eq(registers.rs[lane]), pe.rt.eq(registers.rt[lane]), pe.rd.eq(registers.rd[lane]),
                pe.local_id.eq(local_ids[lane]),
                pe.control3.eq(mine[3]), pe.control4.eq(mine[4]), pe.control9.eq(mine[9]), pe.issue5.eq(issue[5]),
                pe.enable.eq(issue[OPERAND_STAGE].valid & issue[OPERAND_STAGE].lanes[lane]),
                registers.result.words[lane].eq(pe.result),
                self.memory.addresses[lane].eq(pe.address),
                self.memory.store_data[lane].eq(pe.store_data),
            ]

        last = issue[RESULT_STAGE]
        m.d.comb += [
            registers.result.wavefront.eq(last.wavefront),
            registers.result.phase.eq(last.phase),
            registers.result.register.eq(control[RESULT_STAGE].rd),
            registers.result.lanes.eq(Cat(pe.write for pe in pes)),
        ]
        self._report(m, issue[BRANCH_STAGE], control[BRANCH_STAGE], pes)
        at, word = issue[MEMORY_STAGE], control[MEMORY_STAGE]
        accesses = Signal()
        m.d.sync += accesses.eq(issue[MEMORY_STAGE - 1].valid
                                & (control[MEMORY_STAGE - 1].memory != MemoryAccess.NONE))
        local: Any = self._local(m, accesses, at, word, pes) if self._config.local_memory else 0
        m.d.comb += [
            self.memory_valid.eq(accesses & ~local),
            self.memory.load.eq(word.memory != MemoryAccess.STORE),
            self.memory.width.eq(word.width), self.memory.rd.eq(word.rd),
            self.memory.wavefront.eq(at.wavefront), self.memory.phase.eq(at.phase),
            self.memory.last.eq(at.last), self.memory.lanes.eq(at.lanes),
        ]
        if self._config.statistics:
            self._observe(m, at, word, accesses, local)
        if self._config.atomics:
            m.d.comb += [
                self.memory.atomic.eq(word.memory == MemoryAccess.ATOMIC),
                self.memory.operation.eq(word.atomic),
            ]
        if "cmpxchg" in self._config.atomics:
            m.d.comb += [self.memory.expected[lane].eq(pe.expected) for lane, pe in enumerate(pes)]
        return m

    def _report(self, m: Module, at: Any, word: Any, pes: Sequence[Any]) -> None:
        """Which way work-items go at a branch, and whether one left its region of the scratchpad."""
        equal = Cat(pe.equal for pe in pes)
        taken = equal ^ ~word.on_equal.replicate(PE_COUNT)
        m.d.comb += [
            self.branch.valid.eq(at.valid & (word.flow == Flow.BRANCH)),
            self.branch.wavefront.eq(at.wavefront), self.branch.phase.eq(at.phase),
            self.branch.first.eq(at.first), self.branch.last.eq(at.last),
            self.branch.taken.eq(taken & at.lanes), self.branch.not_taken.eq(~taken & at.lanes),
        ]
        m.d.sync += [
            self.fault.valid.eq(at.valid & Cat(pe.out_of_bounds for pe in pes).any()),
            self.fault.cause.eq(FaultCause.SCRATCHPAD_BOUNDS),
            self.fault.wavefront.eq(at.wavefront), self.fault.pc.eq(at.pc),
        ]

    def _observe(self, m: Module, at: Any, word: Any, accesses: Value, local: ValueLike) -> None:
        """What a simulator is told, and no hardware has."""
        m.d.comb += [
            self.probe.valid.eq(accesses), self.probe.local.eq(local),
            self.probe.load.eq(self.memory.load), self.probe.atomic.eq(word.memory == MemoryAccess.ATOMIC),
            self.probe.width.eq(word.width), self.probe.wavefront.eq(at.wavefront), self.probe.phase.eq(at.phase),
            self.probe.number.eq(at.number), self.probe.lanes.eq(at.lanes), self.probe.pc.eq(at.pc),
            self.probe.addresses.eq(self.memory.addresses),
        ]

    @staticmethod
    def _second_control(m: Module, control: list[Any]) -> list[Any]:
        """The control words from ``OPERAND_STAGE`` to before ``RESULT_STAGE`` once more. They come out of a reset as
        ones, or synthesis tools would take both for one; no lane is enabled then.
        """
        second = control[:OPERAND_STAGE]
        for stage in range(OPERAND_STAGE, RESULT_STAGE):
            register = Signal(ControlWord.as_shape().size, name=f"second_control{stage}", init=-1)
            m.d.sync += register.eq(second[-1].as_value())
            second.append(data.View(ControlWord, register))
        return second

    def _local(self, m: Module, accesses: Any, at: Any, word: Any, pes: list[Any]) -> Any:
        """Accesses to local memory; returns whether those of this stage go there."""
        is_local: Any = self.is_local
        for stage in range(1, MEMORY_STAGE + 1):
            following = Signal(name=f"is_local{stage}")
            m.d.sync += following.eq(is_local)
            is_local = following
        local: Any = self.local
        m.d.comb += [
            self.local_valid.eq(accesses & is_local),
            local.load.eq(word.memory != MemoryAccess.STORE), local.atomic.eq(word.memory == MemoryAccess.ATOMIC),
            local.operation.eq(word.atomic), local.width.eq(word.width), local.rd.eq(word.rd),
            local.wavefront.eq(at.wavefront), local.phase.eq(at.phase), local.last.eq(at.last),
            local.lanes.eq(at.lanes), local.base.eq(self.local_base),
        ]
        for lane, pe in enumerate(pes):
            m.d.comb += [
                local.addresses[lane].eq(pe.address), local.store_data[lane].eq(pe.store_data),
                local.expected[lane].eq(pe.expected),
            ]
        return is_local
