"""The fast cycle-accurate engine: Verilator's C++ and our test bench, compiled into one library."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref
from pathlib import Path

from rich.console import Console

from fgpu.config import Config
from fgpu.errors import ConfigError, ToolError

from .engine import MemoryTiming
from .memory import GlobalMemory
from .testbench import abi
from .testbench.build import Progress
from .testbench.driver import BenchEngine, create
from .verilator_build import Factory, build_model

__all__ = ["VerilatorEngine"]


@contextmanager
def _terminal(config: Config) -> Iterator[Progress]:
    """Progress on the terminal, if there is one. Nothing appears before there is something to tell."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    title = f"Building the simulator of {config.compute_units} CU(s)"
    status = Console(stderr=True).status(title)
    started = False

    def progress(text: str) -> None:
        nonlocal started
        if not started:
            started = True
            status.start()
        status.update(f"{title}: {text}")

    try:
        yield progress
    finally:
        if started:
            status.stop()


def _power_up(seed: int | None) -> int:
    text = os.environ.get("FGPU_POWER_UP") or "0"
    if seed is None:
        seed = int(text) if text.isdecimal() else -1
        if not 0 <= seed < 1 << 31:
            raise ToolError(f"FGPU_POWER_UP must be from 0 to {(1 << 31) - 1}, not {text!r}")
    elif not 0 <= seed < 1 << 31:
        raise ConfigError(f"power_up must be from 0 to {(1 << 31) - 1}, not {seed!r}")
    return seed


class VerilatorEngine(BenchEngine):
    """FGPU compiled by Verilator. The first use of a configuration builds a model, which takes minutes.

    Parameters
    ----------
    config, memory, timing
        The hardware, the memory at its AXI ports and its timing.
    progress
        Is told what a build does; by default the terminal is, if there is one.
    core
        A factory of another component than the FGPU, for tests.
    trace
        A VCD file to write; such a model is slower, and built separately.
    compiler
        The C++ compiler: a command or ``"zig"``; see :func:`fgpu.sim.testbench.build.find_compiler`.
    power_up
        Seed of what registers and memories hold at power-up, 1 to 2**31 - 1; 0: zeros, as in an FPGA. By default what
        the environment variable ``FGPU_POWER_UP`` says, or 0. No result or cycle may depend on it.
    """

    name = "verilator"

    def __init__(self, config: Config, memory: GlobalMemory, timing: MemoryTiming | None = None, *,
                 progress: Progress | None = None, core: Factory | None = None, trace: Path | str | None = None,
                 compiler: str | None = None, power_up: int | None = None) -> None:
        super().__init__(config, memory, timing)
        self.power_up = _power_up(power_up)
        with _terminal(self.config) as terminal:
            model = build_model(self.config, core=core, trace=trace is not None, compiler=compiler,
                                progress=progress or terminal)
        self._trace = trace
        self._events = model.cache_events
        self._loaded = abi.BenchLibrary(model.library, model=True)
        self._model: int | None = None

    @property
    def _library(self) -> abi.BenchLibrary:
        return self._loaded

    def _open(self) -> int:
        if self._model is None:
            config = abi.bench_config(self.config, self.memory, self.timing)
            trace = None if self._trace is None else create(self._trace).encode()
            self._model = self._loaded.model_create(byref(config), trace, self.config.wake_cycles, self.power_up)
        return self._loaded.model_bench(self._model)

    def _run(self, cycles: int) -> int:
        return self._loaded.model_run(self._model, cycles)

    def close(self) -> None:
        """Give back the model's memory; the next launch powers up anew."""
        if self._model is not None:
            self._loaded.model_destroy(self._model)
            self._model = None
            self._written.clear()

    def __del__(self) -> None:
        if getattr(self, "_model", None) is not None:
            self.close()
