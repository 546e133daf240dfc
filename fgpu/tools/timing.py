"""Maximum frequency of a component, placed, and routed, by itself with nextpnr (optional)."""

import gzip
import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path as FilePath
from subprocess import CompletedProcess
from typing import Any

from amaranth.back import rtlil
from amaranth.lib import wiring

from ..errors import ToolError
from ..extras import demand
from ..extras import is_installed as has_extra
from ..store import kept_bytes, workspace
from .delays import Delays, Path
from .families import FAMILIES, Device, Family
from .native import Tool, find_tool, is_native
from .nextpnr import FLOW
from .refine import refined
from .registered import UNIT, Registered
from .routing import route
from .verilog import verilog_text
from .yosys import run_yosys
from .yowasp import nextpnr_packages

__all__ = [
    "TARGET", "Place", "Step", "Timing", "component_timing", "is_installed", "placed_timings", "tools",
]

_LOG, _REPORT = "log.txt", "report.json"
_MAXIMUM = re.compile(r"Max frequency for clock\s+'[^']*': ([\d.]+) MHz")
_ROUTING = re.compile(r"Routing\.\.|Running router")
_OPTIONS = ("--timing-allow-fail", "--json", "design.json", "--report", _REPORT, "-q", "--log", _LOG)
_PLACED = "placed.json"
TARGET = 100.0
"""MHz that nextpnr aims at."""
_SDF = "delays.sdf"
# Yosys calls a cell after a signal near it, then its type and port, and so on; a part of a memory after the memory,
# its place in it and a port.
_CELL = re.compile(
    r"_(LUT[1-4]|PFUMX|L6MUX21|CCU2C|TRELLIS_\w+?|MULT18X18D|ALU54B|DP16KD"
    r"|ALU|MUX2_LUT\d|DFF[A-Z]*|MULT27X36|(SP|SDP|DP)X9B?)_.*$"
    r"|_(cache|passthrough)_lut\$\d*$|\$DPRAM\w*$|\.\d+\.\d+(_\w+)?(?=\$|$)")
_NUMBER = re.compile(r"\$\d+(?=\.|$)")     # Amaranth tells names apart by it

Step = Callable[[str], None]
"""Is told what begins, from any thread."""


def _silent(text: str) -> None:
    pass


@dataclass(frozen=True)
class Place:
    """Where a path passes."""

    signal: str
    """``module.module.signal``, of our modules; or the first module and signal that Yosys found worth a name."""
    arrival: float
    """Nanoseconds after the clock's edge."""


@dataclass(frozen=True)
class Timing:
    """The slowest path between registers."""

    frequency: float
    """MHz."""
    delay: float
    """Nanoseconds."""
    path: tuple[Place, ...]
    """What it goes through, from register to register."""
    placed: float | None = None
    """MHz that were expected of what was routed, when it had been placed, by nextpnr; or when refined."""
    seed: int = 1
    expected: tuple[tuple[int, float], ...] = ()
    """Of several seeds all, and MHz that were expected of each then; the most was routed."""

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that the path goes through; an empty name is the component itself."""
        return tuple(dict.fromkeys(place.signal.rpartition(".")[0] for place in self.path))


def tools(family: str = "ecp5") -> tuple[Tool, Tool]:
    """Yosys and nextpnr that are used: those on the PATH, or else those of the Python registry.

    Raises :class:`~fgpu.errors.MissingExtraError` without any nextpnr (``fgpu[timing]``),
    :class:`~fgpu.errors.ToolError` if an installed one does not run.
    """
    program = _device(FAMILIES[family]).program
    if not is_native(program):
        demand("timing", "timing", but=nextpnr_packages(but=program))
    return find_tool("yosys"), find_tool(program)


def is_installed(family: str = "ecp5") -> bool:
    """Whether there is a nextpnr for a family."""
    program = _device(FAMILIES[family]).program
    return is_native(program) or has_extra("timing", but=nextpnr_packages(but=program))


def _device(family: Family) -> Device:
    if family.device is None:
        raise ToolError(f"nextpnr knows no device of the family {family.title}")
    return family.device


def component_timing(component: wiring.Component, family: str = "ecp5", *, target: float = TARGET,
                     seeds: Sequence[int] = (1,), refine: bool = False, step: Step = _silent) -> Timing:
    """Place and route a component, between registers at all its ports, for a clock of ``target`` MHz. With several of
    nextpnr's ``seeds`` it is placed with each, as many at a time as there are processors, and routed with the one of
    which nextpnr then expects the most: what a seed does is more than most changes to a design. To ``refine`` is to
    move cells of the slowest paths between placing and routing (:mod:`~fgpu.tools.refine`). ``step`` is told what
    begins.

    What was found is kept in the user's cache folder. Raises :class:`~fgpu.errors.ToolError` when a tool fails,
    :class:`~fgpu.errors.MissingExtraError` without nextpnr (``fgpu[timing]``).
    """
    task = _Task(component, FAMILIES[family], target, refine, step)

    def routed(seed: int) -> Timing:
        def find() -> list[Timing]:
            report, log = task.routed(seed)
            expected = task.refined(seed)[1] if refine else _placed_frequency(log)
            return [_timing(json.loads(report), expected, seed)]

        return task.kept([str(seed), *(["refined"] if refine else [])], find)[0]

    if len(seeds) == 1:
        return routed(seeds[0])
    task.netlist()       # once
    with ThreadPoolExecutor(max_workers=min(len(seeds), os.cpu_count() or 1)) as pool:
        expected = list(zip(seeds, pool.map(task.expected, seeds), strict=True))
    best, _ = max(expected, key=lambda each: each[1])
    return replace(routed(best), expected=tuple(expected))


def placed_timings(component: wiring.Component, family: str = "ecp5", *, target: float = TARGET,
                   step: Step = _silent) -> list[Timing]:
    """The same without routing, with the delays that nextpnr expects then: the slowest path into each module of the
    component, slowest first. ``step`` and what is raised: as of :func:`component_timing`.
    """
    task = _Task(component, FAMILIES[family], target, step=step)
    options = ["--no-route", "--sdf", _SDF]
    return task.kept(options, lambda: _placed(Delays.read(task.nextpnr("placing", options, _SDF)[0]).slowest()))


class _Task:
    """A component that is placed and routed on the device of a family."""

    def __init__(self, component: wiring.Component, family: Family, target: float, refine: bool = False,
                 step: Step = _silent) -> None:
        self.family, self.device = family, _device(family)
        if refine and not self.device.fixed:
            raise ToolError(f"cells of the family {family.title} cannot be moved after nextpnr has placed them; "
                            "leave out what asks for it")
        self.refine, self.step = refine, step
        self.tools = tools(family.name)
        between = Registered(component, pins=self.device.needs_pins)
        self.text = verilog_text(rtlil.convert(between, name="top", ports=between.ports, emit_src=False))
        """Verilog with the module ``top``."""
        self.target = str(target)
        self.options = [*self.device.options, *self.device.flow, *_OPTIONS, "--freq", self.target]
        self.script = ["read_verilog top.v", *family.commands(options=" -json design.json")]
        self.files = {**family.files, **self.device.files}

    def kept(self, options: list[str], find: Callable[[], list[Timing]]) -> list[Timing]:
        """What was found with these options of nextpnr, and these tools."""
        key = self._key(*self.options, *options, self.tools[1])
        found = json.loads(kept_bytes("timings", key, lambda: json.dumps([asdict(each) for each in find()]).encode()))
        return [Timing(**{**each, "path": tuple(Place(**place) for place in each["path"]), "expected": ()})
                for each in found]

    def expected(self, seed: int) -> float:
        """MHz that nextpnr expects when it has placed with a seed."""
        if self.refine:
            return self.refined(seed)[1]

        def find() -> bytes:
            (log,) = self.nextpnr(f"placing, seed {seed}", ["--no-route", "--seed", str(seed)], _LOG)
            frequency = _placed_frequency(log)
            if frequency is None:
                raise ToolError("nextpnr's log tells no frequency of what it placed")
            return json.dumps(frequency).encode()

        key = self._key(*self.options, "expected", seed, self.tools[1])
        return float(json.loads(kept_bytes("timings", key, find)))

    def refined(self, seed: int) -> tuple[str, float]:
        """A placed netlist whose slowest paths were made shorter, and MHz that nextpnr is to expect of it."""
        def find() -> bytes:
            placed, sdf = self.nextpnr(
                f"placing, seed {seed}", ["--no-route", "--seed", str(seed), "--write", _PLACED, "--sdf", _SDF],
                _PLACED, _SDF)
            self.step(f"moving cells, seed {seed}")
            netlist, delay = refined(placed, sdf)
            return gzip.compress(json.dumps([netlist, 1000 / delay]).encode(), compresslevel=1)

        key = self._key(*self.options, "refined", seed, self.tools[1])
        netlist, frequency = json.loads(gzip.decompress(kept_bytes("placements", key, find)))
        return netlist, frequency

    def routed(self, seed: int) -> tuple[str, str]:
        """nextpnr's report, and its log, of what it placed with a seed."""
        if not self.refine:
            report, log = self.nextpnr(f"placing and routing, seed {seed}", ["--seed", str(seed)], _REPORT, _LOG)
            return report, log
        netlist, frequency = self.refined(seed)
        self.step(f"routing, seed {seed}, {frequency:.1f} MHz expected")
        options = [*self.device.options, *self.device.fixed, *_OPTIONS, "--seed", str(seed)]
        report, log = self._run(
            netlist, lambda folder: route(self.tools[1], folder, _LOG,
                                          lambda aim: [*options, "--freq", f"{aim * frequency:.1f}"], self.step),
            _REPORT, _LOG)
        return report, log

    def netlist(self) -> str:
        """For nextpnr; kept, for a core's takes Yosys minutes."""
        yosys, _ = self.tools

        def synthesize() -> bytes:
            self.step("synthesizing")
            netlist = run_yosys(self.script, {"top.v": self.text, **self.family.files}, "design.json", run=yosys.run)
            return gzip.compress(self.device.adapt(netlist).encode(), compresslevel=1)

        return gzip.decompress(kept_bytes("netlists", self._key(), synthesize)).decode()

    def nextpnr(self, step: str, options: list[str], *outputs: str) -> list[str]:
        """What nextpnr writes about the netlist; the ``step`` is told once there is one."""
        netlist = self.netlist()
        self.step(step)
        return self._run(netlist, lambda folder: self.tools[1].run([*self.options, *options], folder), *outputs)

    def _run(self, netlist: str, run: Callable[[FilePath], CompletedProcess[str]], *outputs: str) -> list[str]:
        with workspace() as folder:
            for name, text in {"design.json": netlist, **self.device.files}.items():
                (folder / name).write_text(text, encoding="utf-8")
            done = run(folder)
            if done.returncode or not all((folder / output).exists() for output in outputs):
                raise ToolError(f"nextpnr failed with status {done.returncode}: {done.stderr[-1000:].strip()}")
            return [(folder / output).read_text(encoding="utf-8") for output in outputs]

    def _key(self, *more: object) -> str:
        parts = (self.text, *self.script, *self.files.values(), FLOW, self.tools[0], *more)
        return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:32]


def _placed_frequency(log: str) -> float | None:
    """What nextpnr's log says of the clock before it routes: the least of all clocks."""
    placed = _MAXIMUM.findall(_ROUTING.split(log)[0])
    return min(map(float, placed), default=None)


def _placed(paths: list[Path]) -> list[Timing]:
    """Of paths, slowest first, the first into each module."""
    if not paths:
        raise ToolError("nextpnr found no path between registers")
    found: dict[str, Timing] = {}
    for path in paths:
        places: list[Place] = []
        for cell, arrival in path.cells:
            signal = _signal(cell)
            if not places or signal != places[-1].signal:
                places.append(Place(signal, round(arrival, 2)))
        module = places[-1].signal.rpartition(".")[0]
        if module not in found:
            found[module] = Timing(round(1000 / path.delay, 2), path.delay, tuple(places))
    return list(found.values())


def _timing(report: dict[str, Any], expected: float | None = None, seed: int = 1) -> Timing:
    """The slowest path whose ends are both clocked."""
    paths = [path["path"] for path in report["critical_paths"]
             if path["from"].startswith("posedge") and path["to"].startswith("posedge")]
    if not paths:
        raise ToolError("nextpnr found no path between registers")
    path = max(paths, key=_delay)
    places: list[Place] = []
    arrival = 0.0
    for step in path:
        for end in ("from", "to"):
            signal = _signal(step[end]["cell"]) if end in step else None
            if end == "to":
                arrival += step["delay"]
            if signal is not None and (not places or signal != places[-1].signal):
                places.append(Place(signal, round(arrival, 2)))
    return Timing(min(clock["achieved"] for clock in report["fmax"].values()), _delay(path), tuple(places),
                  expected, seed)


def _delay(path: list[dict[str, Any]]) -> float:
    return float(sum(step["delay"] for step in path))


def _signal(cell: str) -> str:
    """The signal after which Yosys called a cell."""
    return _NUMBER.sub("", _CELL.sub("", _CELL.sub("", cell))).removeprefix(f"{UNIT}.")
