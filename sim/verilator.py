"""The fast cycle-accurate engine: Verilator's C++ and our test bench, compiled into one library."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref
from functools import cached_property
from pathlib import Path

from rich.console import Console

from fgpu.config import Config
from fgpu.errors import ConfigError, LaunchError, ToolError

from .engine import EngineResult, Launch, MemoryTiming, Trace
from .memory import GlobalMemory
from .testbench import abi
from .testbench.build import Progress
from .testbench.driver import BenchEngine, create
from .verilator_build import Factory, build_model

__all__ = ["VerilatorEngine"]

_CORE = "core."
_NUMBER = re.compile(r"\$\d+")


@contextmanager
def _terminal(config: Config) -> Iterator[Progress]:
    """Progress on the terminal, or a line where there is none. Nothing appears before there is something to tell."""
    title = f"Building the simulator of {config.compute_units} CU(s)"
    if not sys.stderr.isatty():
        told = False

        def tell(text: str) -> None:
            nonlocal told
            if not told:
                told = True
                print(f"{title}, which takes a minute or more and is kept", file=sys.stderr, flush=True)

        yield tell
        return
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


def _path(unit: str, there: Sequence[str]) -> str:
    """Where in the model a unit is: the FGPU itself may be a part that is called ``core``, and parts may have got
    numbers, as ``memory$91``."""
    plain = {_NUMBER.sub("", path).removeprefix(_CORE): path for path in there if path != _CORE[:-1]}
    if unit not in plain:
        names = list(plain)
        above = unit.rpartition(".")[0]
        near = [name for name in names if above and name.rpartition(".")[0] == above]
        raise LaunchError(f"there is no unit {unit!r} to trace; there are "
                          f"{', '.join(near or [name for name in names if '.' not in name])}")
    return plain[unit]


class VerilatorEngine(BenchEngine):
    """FGPU compiled by Verilator. The first launch on a configuration builds a model, which takes a minute or more.

    Parameters
    ----------
    config, memory, timing
        The hardware, the memory at its AXI ports and its timing.
    progress
        Is told what a build does; by default the terminal is, if there is one.
    core
        A factory of another component than the FGPU, for tests.
    trace
        A VCD file to write, or a :class:`~fgpu.sim.engine.Trace`; such a model is slower, and built separately.
    split
        Whether each compute unit is a model of its own, for tests; by default where there are several, and no trace.
        No cycle depends on it.
    compiler
        The C++ compiler: a command or ``"zig"``; see :func:`fgpu.sim.testbench.build.find_compiler`.
    power_up
        Seed of what registers and memories hold at power-up, 1 to 2**31 - 1; 0: zeros, as in an FPGA. By default what
        the environment variable ``FGPU_POWER_UP`` says, or 0. No result or cycle may depend on it.
    """

    name = "verilator"

    def __init__(self, config: Config, memory: GlobalMemory, timing: MemoryTiming | None = None, *,
                 progress: Progress | None = None, core: Factory | None = None,
                 trace: Path | str | Trace | None = None, split: bool | None = None, compiler: str | None = None,
                 power_up: int | None = None) -> None:
        super().__init__(config, memory, timing)
        self.power_up = _power_up(power_up)
        self._trace = trace if trace is None or isinstance(trace, Trace) else Trace(trace)
        self._core, self._split, self._compiler, self._progress = core, split, compiler, progress
        self._model: int | None = None
        self._process = os.getpid()

    def build(self) -> None:
        """Build the model, or find it, and load it.

        A first launch does so once it was checked: what cannot run is refused before anybody waits. Raises
        :class:`~fgpu.errors.ToolError`, and :class:`~fgpu.errors.LaunchError` for units to trace that the model does
        not have.
        """
        _ = self._library

    @cached_property
    def _library(self) -> abi.BenchLibrary:
        with _terminal(self.config) as terminal:
            model = build_model(self.config, core=self._core, trace=self._trace is not None, split=self._split,
                                compiler=self._compiler, progress=self._progress or terminal, check=self._traced)
        self._units = self._traced(model.units)
        self._events = model.cache_events
        return abi.BenchLibrary(model.library, model=True)

    def _traced(self, units: Sequence[str]) -> list[str]:
        return [] if self._trace is None else [_path(unit, units) for unit in self._trace.units]

    def launch(self, launch: Launch) -> EngineResult:
        """As any engine; a process that was forked makes a model of its own, which has no program yet."""
        if self._process != os.getpid():
            self.close()
            self._process = os.getpid()
        return super().launch(launch)

    def _open(self) -> int:
        if self._model is None:
            config = abi.bench_config(self.config, self.memory, self.timing)
            library, trace = self._library, self._trace     # which knows the units
            path = None if trace is None else create(trace.path).encode()
            units = "\n".join(f"fgpu.fgpu.{path}" for path in self._units)
            first, end = (0, 0) if trace is None or trace.window is None else trace.window
            self._model = library.model_create(
                byref(config), path, units.encode(), first, end, self.config.wake_cycles, self.power_up)
        return self._library.model_bench(self._model)

    def _run(self, cycles: int) -> int:
        return self._library.model_run(self._model, cycles)

    def close(self) -> None:
        """Give back the model's memory; the next launch powers up anew.

        Of a process that was forked it is only forgotten: its threads stayed behind, and its end waits for them.
        """
        if self._model is not None:
            if self._process == os.getpid():
                self._library.model_destroy(self._model)
            self._model = None
            self._written.clear()

    def __del__(self) -> None:
        # Where an interpreter that ends has taken modules apart already, the model goes with the process.
        if getattr(self, "_model", None) is not None and os is not None:
            self.close()
