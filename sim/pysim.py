"""The reference engine: Amaranth's own simulator, around the same C++ test bench as Verilator's.

It runs hundreds of times slower, but needs no build of the hardware, and shows every signal by its name.
"""

import ctypes
from contextlib import AbstractContextManager, nullcontext
from ctypes import byref
from pathlib import Path
from typing import Any

from amaranth.hdl import Cat, ClockDomain, Const, Elaboratable, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.sim import Simulator

from fgpu.config import Config
from fgpu.tools.verilog import ports

from .engine import MemoryTiming
from .memory import GlobalMemory
from .testbench import abi
from .testbench.build import build_bench
from .testbench.driver import BenchEngine, create
from .testbench.ports import leaves
from .verilator_build import Factory

__all__ = ["PysimEngine"]

_PERIOD = 10e-9


class _Harness(Elaboratable):
    """The core with two ports: all outputs and all inputs, each laid out as the C++ structure."""

    def __init__(self, core: wiring.Component, events: list[str]) -> None:
        self.core = core
        self.outputs = Signal(8 * ctypes.sizeof(abi.PortsOut))
        self.inputs = Signal(8 * ctypes.sizeof(abi.PortsIn))
        self.domain = ClockDomain("sync")
        self._events = events

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.domains += self.domain
        m.submodules.core = self.core
        flat: dict[str, Value] = {name: value for name, (value, _) in ports(self.core).items()}
        flat["events"] = Cat(flat[f"cache_probe_{event}"] for event in dict.fromkeys(self._events))

        parts: list[Value] = []
        at = 0
        for leaf in leaves(abi.PortsOut):
            value = flat.get(leaf.port)
            if value is None:
                continue
            parts += [Const(0, 8 * (leaf.offset - at)), value, Const(0, 8 * leaf.size - len(value))]
            at = leaf.offset + leaf.size
        m.d.comb += self.outputs.eq(Cat(*parts))

        for leaf in leaves(abi.PortsIn):
            target = flat.get(leaf.port)
            if target is not None:
                m.d.comb += target.eq(self.inputs[8 * leaf.offset:8 * (leaf.offset + leaf.size)])
        return m


class PysimEngine(BenchEngine):
    """FGPU in Amaranth's simulator; cycle counts equal those of :class:`~fgpu.sim.verilator.VerilatorEngine`.

    Parameters
    ----------
    config, memory, timing
        The hardware, the memory at its AXI ports and its timing.
    core
        A factory of another component than the FGPU, for tests.
    vcd
        A file for waveforms. It is complete after :meth:`close`.
    compiler
        As for :class:`~fgpu.sim.verilator.VerilatorEngine`; only the test bench is compiled.
    """

    name = "pysim"

    def __init__(self, config: Config, memory: GlobalMemory, timing: MemoryTiming | None = None, *,
                 core: Factory | None = None, vcd: Path | str | None = None, compiler: str | None = None) -> None:
        super().__init__(config, memory, timing)
        self._loaded = abi.BenchLibrary(build_bench(compiler))
        if core is None:
            from fgpu.core import FGPU

            core = FGPU
        self._core: Factory = core
        self._harness: _Harness | None = None
        self._simulator: Simulator | None = None
        self._vcd = vcd
        self._waves: AbstractContextManager[Any] = nullcontext()
        self._bench: int | None = None
        self._budget = 0
        self._status = abi.RUNNING

    @property
    def _library(self) -> abi.BenchLibrary:
        return self._loaded

    async def _testbench(self, ctx: Any) -> None:
        # In every cycle: the bench sees the outputs, settled, before the rising edge; its answer is
        # driven after it. So does model.cpp.
        harness, step = self._harness, self._loaded.bench_step
        assert harness is not None
        width = ctypes.sizeof(abi.PortsOut)
        inputs = ctypes.create_string_buffer(ctypes.sizeof(abi.PortsIn))
        driven = 0
        ctx.set(harness.domain.rst, 1)
        await ctx.tick(harness.domain)
        ctx.set(harness.domain.rst, 0)
        await ctx.tick(harness.domain).repeat(self.config.wake_cycles - 1)
        async for _ in ctx.tick(harness.domain):
            value = int.from_bytes(inputs.raw, "little")
            if value != driven:
                ctx.set(harness.inputs, value)
                driven = value
            outputs = ctx.get(harness.outputs).to_bytes(width, "little")
            self._status = step(self._bench, outputs, inputs)
            self._budget -= 1

    def _open(self) -> int:
        if self._bench is None:
            if self._vcd is not None:
                create(self._vcd)
            component = self._core(self.config)
            if hasattr(component, "cache_probe"):
                self._events = [name for name, field in data.Layout.cast(component.cache_probe.shape())
                                for _ in range(field.width)]
            self._harness = _Harness(component, list(self._events))
            self._simulator = Simulator(self._harness)
            self._simulator.add_clock(_PERIOD)
            self._simulator.add_testbench(self._testbench, background=True)
            if self._vcd is not None:
                self._waves = self._simulator.write_vcd(str(self._vcd))
                self._waves.__enter__()
            config = abi.bench_config(self.config, self.memory, self.timing)
            self._bench = self._loaded.bench_create(byref(config))
        return self._bench

    def _run(self, cycles: int) -> int:
        self._budget = min(cycles, 1 << 16)
        self._status = abi.RUNNING
        assert self._simulator is not None
        advance = self._simulator.advance
        while self._status == abi.RUNNING and self._budget > 0:
            advance()
        return self._status

    def close(self) -> None:
        """Give back the test bench and finish the waveforms; the next launch powers up anew."""
        if self._bench is not None:
            self._waves.__exit__(None, None, None)
            self._waves = nullcontext()
            self._loaded.bench_destroy(self._bench)
            self._bench = None
            self._simulator = self._harness = None
            self._written.clear()

    def __del__(self) -> None:
        if getattr(self, "_bench", None) is not None:
            self._loaded.bench_destroy(self._bench)
