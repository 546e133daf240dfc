"""FGPU: the whole core (figure 3.1)."""

from typing import Any

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from .address_map import CONTROL_ADDRESS_BITS
from .axi.signatures import AXI4LiteSignature, AXI4Signature
from .cache.cache import Cache
from .cache.probe import CacheProbe
from .code_ram import CodeRam
from .config import KERNEL_SLOTS, Config
from .control import ControlInterface
from .cu.compute_unit import ComputeUnit
from .dispatcher.dispatcher import Dispatcher
from .probe import ComputeUnitProbe

__all__ = ["FGPU"]


class FGPU(wiring.Component):
    """A soft GPU: one AXI4-Lite control slave, AXI4 masters to global memory.

    ``kernel_status`` is the status register; its bits may serve as interrupts.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        members: dict[str, Any] = {
            "s_axi": In(AXI4LiteSignature(address_width=CONTROL_ADDRESS_BITS)),
            "m_axi": Out(AXI4Signature(data_width=config.axi_data_width)).array(config.axi_ports),
            "kernel_status": Out(KERNEL_SLOTS),
        }
        if config.statistics:
            members["probe"] = Out(ComputeUnitProbe).array(config.compute_units)
            members["cache_probe"] = Out(CacheProbe)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self.config
        m.submodules.control = control = ControlInterface(config)
        m.submodules.code_ram = code_ram = CodeRam(config)
        m.submodules.dispatcher = dispatcher = Dispatcher(config)
        m.submodules.cache = cache = Cache(config)
        compute_units = [ComputeUnit(config) for _ in range(config.compute_units)]

        connect(m, flipped(self.s_axi), control.axi)
        connect(m, cache.axi, flipped(self.m_axi[0]))
        m.d.comb += [
            code_ram.address.eq(control.code_address),
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

            dispatcher.room.eq(Cat(unit.room for unit in compute_units)),
            dispatcher.idle.eq(Cat(unit.idle for unit in compute_units)),
            dispatcher.cache_idle.eq(cache.idle),
            dispatcher.clean_done.eq(cache.clean_done),
            cache.clean_start.eq(dispatcher.clean_start),
        ]
        for number, unit in enumerate(compute_units):
            m.submodules[f"cu{number}"] = unit
            connect(m, dispatcher.work_groups[number], unit.work_groups)
            connect(m, unit.fetch, code_ram.fetch[number])
            connect(m, unit.requests, cache.requests[number])
            connect(m, cache.responses[number], unit.responses)
            m.d.comb += [
                unit.kernel.eq(dispatcher.kernel),
                unit.runtime_write.eq(dispatcher.runtime_write),
                unit.fetched.eq(code_ram.fetched[number]),
            ]
            if config.statistics:
                m.d.comb += self.probe[number].eq(unit.probe)
        if config.statistics:
            m.d.comb += self.cache_probe.eq(cache.probe)
        return m
