"""Simulators of the Verilog of an FGPU for cocotb: built once, kept, and run by cocotb's runner."""

import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cocotb_tools.runner import Runner, get_results, get_runner

from fgpu.config import Config
from fgpu.errors import ConfigError
from fgpu.sim.testbench.build import cached, compiled_by, digest, find_compiler
from fgpu.sim.verilator_build import hardware_digest
from fgpu.tools.verilog import write_verilog

from . import verilate

__all__ = ["build", "run", "sources"]

TOP = "fgpu"


def _runner(simulator: str) -> Runner:
    try:
        return get_runner(simulator)
    except ValueError as error:     # it names those that there are
        raise ConfigError(f"cocotb knows no simulator {simulator!r}: {error}") from None


def sources(config: Config) -> list[Path]:
    """The Verilog files of an FGPU, of which ``fgpu`` is the top: to be given to a simulator with your own."""
    def build(work: Path) -> dict[str, Any]:
        write_verilog(config, work / "fgpu.v", name=TOP)
        return {}

    return [cached(f"verilog-{digest([config.key, hardware_digest(None)])}", "fgpu.v", build)[0]]


def build(config: Config, simulator: str = "verilator", *, waves: bool = False, folder: Path | str = "build") -> Path:
    """A folder for ``runner.test(build_dir=...)`` with a simulator of an FGPU alone, module ``fgpu``.

    Verilator's is built by :mod:`.verilate`, in about a minute, and kept in the user's cache: cocotb's runner makes
    every signal public, which takes several times as long, and needs Perl, make and an installed Verilator. Other
    simulators of cocotb's build in ``folder`` each time.
    """
    if simulator != "verilator":
        _runner(simulator).build(sources=sources(config), hdl_toplevel=TOP, build_dir=folder, always=True,
                                    timescale=("1ns", "1ps"), waves=waves)
        return Path(folder).resolve()

    def make(work: Path) -> dict[str, Any]:
        verilog, = sources(config)
        verilate.build(verilog, work, waves=waves)
        return {}

    key = digest([config.key, hardware_digest(None), Path(verilate.__file__), *compiled_by(find_compiler()),
                  version("verilator"), version("cocotb"), sys.prefix, str(waves)])
    return cached(f"cocotb-{key}", TOP, make)[0].parent


def run(module: str, config: Config, simulator: str = "verilator", *, waves: bool = False,
        folder: Path | str = "build", seed: int | None = None,
        environment: Mapping[str, str] = {}) -> tuple[int, int]:
    """Run the bench ``module`` on an FGPU alone; how many tests it has, and how many of them failed.

    What the bench writes, ``dump.vcd`` among it, is in ``folder``; ``environment`` is added to its own.
    """
    runner = _runner(simulator)
    place = Path(folder).resolve()
    place.mkdir(parents=True, exist_ok=True)
    built = build(config, simulator, waves=waves, folder=place)
    results = runner.test(
        module, TOP, hdl_toplevel_lang="verilog", build_dir=built, test_dir=place, waves=waves, seed=seed,
        results_xml=str(place / "results.xml"), extra_env=environment)
    return get_results(results)
