"""Maximum frequency of a component on an ECP5, placed, and routed, by itself with nextpnr (optional)."""

import gzip
import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import Elaboratable, Module, Signal, Value
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from ..errors import ToolError
from ..extras import demand
from ..extras import is_installed as has_extra
from ..store import kept_bytes, workspace
from .delays import Delays, Path
from .native import Tool, find_tool, is_native
from .nextpnr import PLACER_AND_ROUTER, tuned
from .verilog import verilog_text
from .yosys import run_yosys

__all__ = ["SPEED_GRADE", "Place", "Timing", "best", "component_timing", "component_timings", "is_installed",
           "placed_timings", "tools"]

SPEED_GRADE = 6
_NEXTPNR = "nextpnr_ecp5"
_LOG, _REPORT = "log.txt", "report.json"
_MAXIMUM = re.compile(r"Max frequency for clock\s+'[^']*': ([\d.]+) MHz")
_ROUTING = re.compile(r"Routing\.\.|Running router")
_OPTIONS = (
    "--85k", "--package", "CABGA381", "--speed", str(SPEED_GRADE), "--out-of-context", "--lpf-allow-unconstrained",
    "--timing-allow-fail", "--json", "design.json", "--report", _REPORT, "-q", "--log", _LOG,
    *PLACER_AND_ROUTER,
)
TARGET = 100.0
"""MHz that nextpnr aims at."""
_SYNTHESIZE = "synth_ecp5 -top top -json design.json"
_FLOW = 7
"""Of what is done between the tools, a number that changes with it."""
_SDF = "delays.sdf"
_UNIT = "unit"
# Yosys calls a cell after a signal near it, then its type and port, and so on; a part of a memory after the memory,
# its place in it and a port.
_CELL = re.compile(
    r"_(LUT4|PFUMX|L6MUX21|CCU2C|TRELLIS_\w+?|MULT18X18D|ALU54B|DP16KD)_.*$"
    r"|\$DPRAM\w*$|\.\d+\.\d+(_\w+)?(?=\$|$)")
_NUMBER = re.compile(r"\$\d+(?=\.|$)")     # Amaranth tells names apart by it


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
    """MHz that nextpnr expected when it had placed, of what was routed."""
    seed: int = 1

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that the path goes through; an empty name is the component itself."""
        return tuple(dict.fromkeys(place.signal.rpartition(".")[0] for place in self.path))


class _Registered(Elaboratable):
    """A component between registers at all its ports: paths from inputs and to outputs count, too."""

    def __init__(self, unit: wiring.Component) -> None:
        self._unit = unit
        self._pins: list[tuple[Signal, Signal, PortDirection]] = []
        for path, member, value in unit.signature.flatten(unit):
            port = Value.cast(value)
            if isinstance(port, Signal):        # and not a constant, such as always_ready
                pin = Signal.like(port, name="__".join(map(str, path)))
                direction = PortDirection.Input if member.flow is In else PortDirection.Output
                self._pins.append((pin, port, direction))
        self.ports = {pin.name: (pin, direction) for pin, _, direction in self._pins}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules[_UNIT] = self._unit
        for pin, port, direction in self._pins:
            m.d.sync += port.eq(pin) if direction is PortDirection.Input else pin.eq(port)
        return m


def tools() -> tuple[Tool, Tool]:
    """Yosys and nextpnr that are used: those on the PATH, or else those of the Python registry.

    Raises :class:`~fgpu.errors.MissingExtraError` without any nextpnr (``fgpu[timing]``),
    :class:`~fgpu.errors.ToolError` if an installed one does not run.
    """
    if not is_native(_NEXTPNR):
        demand("timing", "timing")
    return find_tool("yosys"), find_tool(_NEXTPNR)


def is_installed() -> bool:
    """Whether there is a nextpnr."""
    return is_native(_NEXTPNR) or has_extra("timing")


def component_timing(component: wiring.Component, *, target: float = TARGET) -> Timing:
    """:func:`component_timings` of one seed."""
    return component_timings(component, target=target)[0]


def component_timings(component: wiring.Component, *, target: float = TARGET,
                      seeds: Sequence[int] = (1,)) -> list[Timing]:
    """Place and route a component, between registers at all its ports, for a clock of ``target`` MHz: for each of
    nextpnr's seeds what came of it. As many run at a time as there are processors.

    What was found is kept in the user's cache folder. Raises :class:`~fgpu.errors.ToolError` when a tool fails,
    :class:`~fgpu.errors.MissingExtraError` without nextpnr (``fgpu[timing]``).
    """
    yosys, nextpnr = tools()
    text, options = _task(component, target)

    def of(seed: int) -> Timing:
        def find() -> list[Timing]:
            report, log = _nextpnr(_netlist(text, yosys), [*options, "--seed", str(seed)], nextpnr, _REPORT, _LOG)
            return [_timing(json.loads(report), _placed_frequency(log), seed)]

        return _kept([text, *options, str(seed)], (yosys, nextpnr), find)[0]

    if len(seeds) > 1:
        _netlist(text, yosys)       # once
    with ThreadPoolExecutor(max_workers=min(len(seeds), os.cpu_count() or 1)) as pool:
        return list(pool.map(of, seeds))


def best(timings: Sequence[Timing]) -> Timing:
    """The quickest."""
    return max(timings, key=lambda timing: timing.frequency)


def placed_timings(component: wiring.Component, *, target: float = TARGET) -> list[Timing]:
    """The same without routing, with the delays that nextpnr expects then: the slowest path into each module of the
    component, slowest first. Raises as :func:`component_timings`.
    """
    yosys, nextpnr = tools()
    text, options = _task(component, target)
    options += ["--no-route", "--sdf", _SDF]
    return _kept([text, *options], (yosys, nextpnr), lambda: _placed(
        Delays.read(_nextpnr(_netlist(text, yosys), options, nextpnr, _SDF)[0]).slowest()))


def _task(component: wiring.Component, target: float) -> tuple[str, list[str]]:
    """Verilog with the module ``top``, and options for nextpnr."""
    between = _Registered(component)
    text = verilog_text(rtlil.convert(between, name="top", ports=between.ports, emit_src=False))
    return text, [*_OPTIONS, "--freq", str(target)]


def _key(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _kept(task: list[str], used: tuple[Tool, ...], find: Callable[[], list[Timing]]) -> list[Timing]:
    """What was found for a task, with these tools."""
    key = _key([*task, _SYNTHESIZE, str(_FLOW), *map(str, used)])
    found = json.loads(kept_bytes("timings", key, lambda: json.dumps([asdict(each) for each in find()]).encode()))
    return [Timing(**{**each, "path": tuple(Place(**place) for place in each["path"])}) for each in found]


def _netlist(text: str, yosys: Tool) -> str:
    """Of the module ``top`` of a Verilog source, for nextpnr; kept, for a core's takes Yosys minutes."""
    def synthesize() -> bytes:
        netlist = run_yosys(["read_verilog top.v", _SYNTHESIZE], {"top.v": text}, "design.json", run=yosys.run)
        return gzip.compress(tuned(netlist).encode(), compresslevel=1)

    return gzip.decompress(kept_bytes("netlists", _key([text, _SYNTHESIZE, str(_FLOW), str(yosys)]),
                                      synthesize)).decode()


def _nextpnr(netlist: str, options: list[str], nextpnr: Tool, *outputs: str) -> list[str]:
    """What nextpnr writes about a netlist."""
    with workspace() as folder:
        (folder / "design.json").write_text(netlist, encoding="utf-8")
        done = nextpnr.run(options, folder)
        if done.returncode or not all((folder / output).exists() for output in outputs):
            raise ToolError(f"nextpnr failed with status {done.returncode}: {done.stderr[-1000:].strip()}")
        return [(folder / output).read_text(encoding="utf-8") for output in outputs]


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
    return _NUMBER.sub("", _CELL.sub("", _CELL.sub("", cell))).removeprefix(f"{_UNIT}.")
