"""The fast cycle-accurate engine: Verilator's C++ and our test bench, compiled into one library."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref
from pathlib import Path

from rich.console import Console

from fgpu.config import Config

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
        The C++ compiler: a command or ``"zig"``; see :func:`sim.testbench.build.find_compiler`.
    """

    name = "verilator"

    def __init__(self, config: Config, memory: GlobalMemory, timing: MemoryTiming | None = None, *,
                 progress: Progress | None = None, core: Factory | None = None, trace: Path | str | None = None,
                 compiler: str | None = None) -> None:
        super().__init__(config, memory, timing)
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
            self._model = self._loaded.model_create(byref(config), trace)
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
