"""FGPU: the whole core (figure 3.1)."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from .address_map import control_address_bits
from .axi.signatures import AXI4LiteSignature, AXI4Signature
from .cache.cache import Cache
from .cache.log import LineLog
from .cache.probe import CacheProbes
from .code_ram import CodeRam
from .config import KERNEL_SLOTS, Config
from .control import ControlInterface
from .cu.compute_unit import ComputeUnit
from .cu.log import UnitLog
from .dispatcher.dispatcher import Dispatcher
from .fault import Fault, FaultCause
from .gateware.sharing import add_shared
from .probe import AccessProbe, ComputeUnitProbe

__all__ = ["FGPU"]


class FGPU(wiring.Component):
    """A soft GPU: one AXI4-Lite control slave, AXI4 masters to global memory.

    ``irq`` is high while an enabled interrupt waits for the host's acknowledgement. ``kernel_status`` and
    ``kernel_fault`` are the registers of these names as the host reads them, for logic beside the core.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        members: dict[str, Any] = {
            "s_axi": In(AXI4LiteSignature(address_width=control_address_bits(config.cram_words))),
            "m_axi": Out(AXI4Signature(data_width=config.axi_data_width)).array(config.axi_ports),
            "kernel_status": Out(KERNEL_SLOTS),
            "kernel_fault": Out(Fault.as_shape().size),
            "irq": Out(1),
        }
        if config.statistics:
            members["probe"] = Out(ComputeUnitProbe).array(config.compute_units)
            members["access"] = Out(AccessProbe).array(config.compute_units)
            members["cache_probe"] = Out(CacheProbes(config.slices))
            members["log"] = Out(UnitLog).array(config.compute_units)
            members["lines"] = Out(LineLog).array(config.slices)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self.config
        m.submodules.control = control = ControlInterface(config)
        m.submodules.code_ram = code_ram = CodeRam(config)
        m.submodules.dispatcher = dispatcher = Dispatcher(config)
        m.submodules.cache = cache = Cache(config)
        compute_units: list[Any] = [add_shared(m, f"cu{number}", platform, "cu", lambda: ComputeUnit(config))
                                    for number in range(config.compute_units)]

        connect(m, flipped(self.s_axi), control.axi)
        for port in range(config.axi_ports):
            connect(m, cache.axi[port], flipped(self.m_axi[port]))
        m.d.comb += [
            code_ram.address.eq(control.code_address), code_ram.write_address.eq(control.code_write_address),
            code_ram.write.eq(control.code_write), code_ram.write_data.eq(control.code_write_data),
            code_ram.read.eq(control.code_read), control.code_read_data.eq(code_ram.read_data),

            dispatcher.pending.eq(control.pending),
            dispatcher.clean_cache.eq(control.clean_cache),
            dispatcher.initialize.eq(control.initialize),
            control.accepted.eq(dispatcher.accepted),
            control.finished.eq(dispatcher.finished),
            control.lram_address.eq(dispatcher.lram_address),
            control.lram_read.eq(dispatcher.lram_read),
            dispatcher.lram_data.eq(control.lram_data),
            self.kernel_status.eq(control.status),
            self.kernel_fault.eq(control.fault),
            self.irq.eq(control.irq),
            control.running.eq(dispatcher.running),

            dispatcher.room.eq(Cat(unit.room for unit in compute_units)),
            dispatcher.idle.eq(Cat(unit.idle for unit in compute_units)),
            dispatcher.clean_done.eq(cache.clean_done),
            cache.clean_start.eq(dispatcher.clean_start),
        ]
        for number, unit in enumerate(compute_units):
            connect(m, dispatcher.work_groups[number], unit.work_groups)
            connect(m, unit.fetch, code_ram.fetch[number])
            connect(m, unit.requests, cache.requests[number])
            for part in range(config.slices):
                connect(m, cache.responses[number][part], unit.responses[part])
            m.d.comb += [
                unit.number.eq(number),
                unit.kernel.eq(dispatcher.kernel),
                unit.runtime_write.eq(dispatcher.runtime_write),
                unit.loading.eq(dispatcher.loading),
                unit.fetched.eq(code_ram.fetched[number]),
            ]
            if config.cache_conscious:
                m.d.comb += unit.load_turn.eq(cache.load_turns[number])
            if config.compute_units > 1:
                m.d.comb += cache.next_slice[number].eq(unit.next_slice)
            if config.statistics:
                m.d.comb += [self.probe[number].eq(unit.probe), self.access[number].eq(unit.access),
                             self.log[number].eq(unit.log)]
        self._connect_faults(m, compute_units, control, dispatcher, cache)
        if config.statistics:
            m.d.comb += [self.cache_probe.eq(cache.probe),
                         *(self.lines[number].eq(cache.lines[number]) for number in range(config.slices))]
        return m

    @staticmethod
    def _connect_faults(m: Module, compute_units: list[Any], control: ControlInterface,
                        dispatcher: Dispatcher, cache: Cache) -> None:
        """A fault of any part reaches the register; of several in one cycle that of the lowest compute unit."""
        seen: Any = control.fault_seen
        with m.If(control.abort):
            m.d.comb += [seen.valid.eq(1), seen.cause.eq(FaultCause.ABORTED)]
        with m.If(cache.error):
            m.d.comb += [seen.valid.eq(1), seen.cause.eq(FaultCause.BUS_ERROR)]
        for number, unit in reversed(list(enumerate(compute_units))):
            with m.If(unit.fault.valid):
                m.d.comb += [
                    seen.valid.eq(1), seen.cause.eq(unit.fault.cause), seen.compute_unit.eq(number),
                    seen.wavefront.eq(unit.fault.wavefront), seen.pc.eq(unit.fault.pc),
                ]
            m.d.comb += [unit.cancel.eq(dispatcher.cancel), unit.clear_registers.eq(dispatcher.clear_registers)]
        m.d.comb += [seen.kernel.eq(Mux(seen.valid, dispatcher.slot, 0)), dispatcher.fault.eq(seen.valid)]
