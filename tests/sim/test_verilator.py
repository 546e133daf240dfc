"""Both cycle-accurate engines on a small stub core: equal results, equal cycles, clear failures."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from fgpu.config import Config
from fgpu.errors import KernelFault, LaunchError, SimulationError, SimulationTimeout, ToolError
from fgpu.sim import verilator
from fgpu.sim.engine import Launch, MemoryTiming
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.pysim import PysimEngine
from fgpu.sim.verilate import run_verilator
from fgpu.sim.verilator import VerilatorEngine
from fgpu.tools.verilog import write_verilog

from .stub_core import StubCore, faulty

RANDOM = MemoryTiming(read_latency=(3, 30), write_latency=(0, 9), pause_probability=0.3, seed=5)
ENGINES = [VerilatorEngine, PysimEngine]
CONFIG = Config(compute_units=2)


def descriptor(source, target, lines):
    words = [0] * 32
    words[16:19] = source, target, lines
    return words


def launch(memory, *, add=5, lines=2, source=None, **options):
    source = memory.base if source is None else source
    return Launch(program=[add], descriptor=descriptor(source, memory.base + 4096, lines), **options)


@pytest.fixture
def memory():
    memory = GlobalMemory(size=1 << 20)
    memory.words[:256] = np.arange(256)
    return memory


def test_the_end_of_the_interpreter_is_quiet(memory, monkeypatch):
    """By then modules have lost their names. A model goes with its process."""
    engine = VerilatorEngine(CONFIG, memory, core=StubCore)
    engine._model = 1
    monkeypatch.setattr(verilator, "os", None)
    engine.__del__()
    engine._model = None


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("timing", [MemoryTiming(), RANDOM], ids=["default", "random"])
def test_engines_agree(timing, width):
    histories = []
    for engine_class in ENGINES:
        memory = GlobalMemory(size=1 << 20)
        memory.words[:256] = np.arange(256)
        engine = engine_class(CONFIG.replace(axi_data_width=width), memory, timing, core=StubCore)
        history = []
        for add, lines in [(5, 2), (5, 2), (9, 7), (9, 0)]:
            result = engine.launch(launch(memory, add=add, lines=lines))
            assert list(memory.words[1024:1024 + 32 * lines]) == [i + add for i in range(32 * lines)]
            history.append((result.cycles, result.instructions, result.work_item_instructions, result.stats))
        engine.close()
        histories.append(history)
    assert histories[0] == histories[1]


@pytest.mark.parametrize("engine_class", ENGINES)
def test_counters(engine_class, memory):
    result = engine_class(CONFIG, memory, core=StubCore).launch(launch(memory, lines=3))
    # A line takes: READ 2, FILL 16, WRITE 2, DATA 16, ANSWER 2 and NEXT 1; then NEXT, and two to start and end.
    assert result.cycles == 3 * 39 + 3
    assert result.instructions == 2 * 4
    assert result.work_item_instructions == 2 * 4 * 64
    stats = result.stats
    assert stats["cycles"] == result.cycles
    assert (stats["cu1.issue"], stats["cu1.memory_read"], stats["cu1.instructions"]) == (4, 48, 4)
    assert stats["cu1.wavefront_cycles"] == result.cycles      # of one wavefront, which is always there
    for unit in ("cu0", "cu1"):
        buckets = ("no_wavefront", "issue", "execute", "fetch", "branch", "memory_read", "write_pressure")
        assert sum(stats[f"{unit}.{bucket}"] for bucket in buckets) == result.cycles
    assert (stats["cache.fill"], stats["cache.axi_read"], stats["cache.read_hit"]) == (3, 48, 0)
    assert (stats["axi0.read_bursts"], stats["axi0.read_beats"], stats["axi0.read_bytes"]) == (3, 48, 384)
    assert (stats["axi0.write_bursts"], stats["axi0.write_beats"], stats["axi0.write_bytes"]) == (3, 48, 384)


@pytest.mark.parametrize("engine_class", ENGINES)
def test_access_outside_memory(engine_class, memory):
    engine = engine_class(CONFIG, memory, core=StubCore)
    with pytest.raises(KernelFault, match=r"read of 128 bytes at 0x00000400 \(AXI port 0, id 0, cycle \d+\)"):
        engine.launch(launch(memory, source=1024))
    # The engine is still of use, and begins anew.
    engine.launch(launch(memory))
    assert list(memory.words[1024:1088]) == list(range(5, 69))


@pytest.mark.parametrize("engine_class", ENGINES)
def test_timeout_tells_what_wavefronts_do(engine_class, memory):
    engine = engine_class(CONFIG, memory, core=StubCore)
    with pytest.raises(SimulationTimeout, match=r"within 50 cycles; memory moved .*\n"
                       r"CU 0 wavefront 3: PC 17, behind the program of 1 words: "):
        engine.launch(launch(memory, max_cycles=50))
    cycles = engine.launch(launch(memory)).cycles
    with pytest.raises(SimulationTimeout):
        engine.launch(launch(memory, max_cycles=cycles - 1))
    assert engine.launch(launch(memory, max_cycles=cycles)).cycles == cycles


@pytest.mark.parametrize(("fault", "message"), [
    ("early_last", "WLAST is 1, but 1 beats"),
    ("changed_address", "AR channel changed"),
    ("crossing", "crosses a 4 KiB boundary"),
    ("wrap", "is not an INCR burst"),
    ("overlap", "a write begins, but the read at 0x10000000 is not yet complete"),
    ("no_control", "no answer to the control write at 0x4000"),
])
def test_protocol_violations(fault, message, memory):
    engine = PysimEngine(CONFIG, memory, core=faulty(fault))
    with pytest.raises(SimulationError, match=message):
        engine.launch(launch(memory))


def test_a_hanging_kernel(memory):
    with pytest.raises(SimulationTimeout, match="CU 0 wavefront 3"):
        PysimEngine(CONFIG, memory, core=faulty("hang")).launch(launch(memory, max_cycles=200))


@pytest.mark.parametrize(("options", "message"), [
    ({"slot": 16}, "slot"), ({"program": []}, "program of 0 words"), ({"program": [0] * 5000}, "5000 words"),
    ({"descriptor": [0] * 31}, "not 31"), ({"max_cycles": 0}, "max_cycles"),
])
def test_impossible_launches(options, message, memory):
    engine = PysimEngine(CONFIG, memory, core=StubCore)
    with pytest.raises(LaunchError, match=message):
        engine.launch(Launch(**{"program": [1], "descriptor": [0] * 32, **options}))


def test_interrupted_run_powers_up_anew(memory, monkeypatch):
    engine = VerilatorEngine(CONFIG, memory, core=StubCore)

    def interrupt(cycles):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(engine, "_run", interrupt)
        with pytest.raises(KeyboardInterrupt):
            engine.launch(launch(memory))
    assert engine.launch(launch(memory)).cycles == 2 * 39 + 3


def test_ctrl_c(memory):
    """The model runs natively, but a signal is seen soon."""
    memory = GlobalMemory()
    engine = VerilatorEngine(CONFIG, memory, core=StubCore)

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        begin = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            engine.launch(launch(memory, lines=2_000_000, max_cycles=1 << 40))
        assert time.monotonic() - begin < 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert engine.launch(launch(memory)).cycles == 2 * 39 + 3


def test_waveforms(memory, tmp_path):
    engine = PysimEngine(CONFIG, memory, core=StubCore, vcd=tmp_path / "wave.vcd")
    engine.launch(launch(memory))
    engine.close()
    assert "fsm_state" in (tmp_path / "wave.vcd").read_text()


def test_waveforms_that_cannot_be_written(memory, tmp_path):
    with pytest.raises(ToolError, match=r"cannot write .*missing"):
        PysimEngine(CONFIG, memory, core=StubCore, vcd=tmp_path / "missing" / "wave.vcd").launch(launch(memory))


@pytest.mark.long
def test_verilator_waveforms(memory, tmp_path):
    engine = VerilatorEngine(CONFIG, memory, core=StubCore, trace=tmp_path / "wave.vcd")
    assert engine.launch(launch(memory)).cycles == 2 * 39 + 3
    engine.close()
    assert "fsm_state" in (tmp_path / "wave.vcd").read_text()
    engine = VerilatorEngine(CONFIG, memory, core=StubCore, trace=tmp_path / "missing" / "wave.vcd")
    with pytest.raises(ToolError, match=r"cannot write .*missing"):
        engine.launch(launch(memory))


def test_verilog_file(tmp_path):
    path = write_verilog(Config(statistics=True), tmp_path / "fgpu.v", core=StubCore)
    text = path.read_text()
    for port in ("s_axi_awaddr", "m0_axi_araddr", "kernel_status", "probe0_bucket", "cache_probe_read_hit"):
        assert port in text
    assert list(tmp_path.iterdir()) == [path]
    lint(path)


@pytest.mark.long
@pytest.mark.parametrize("config", [Config.preset("tiny"), Config(compute_units=2)], ids=["tiny", "2 CUs"])
def test_the_cores_verilog_is_clean(config, tmp_path):
    lint(write_verilog(config, tmp_path / "fgpu.v"))


def lint(path):
    assert "%Warning" not in run_verilator(path.parent, "--lint-only", "--top-module", "fgpu", path)


def test_import_is_light():
    """Loading a model from the cache should not wait for the hardware's description."""
    code = ("import sys, fgpu.sim.verilator; "
            "sys.exit('amaranth.back.verilog' in sys.modules or 'fgpu.core' in sys.modules)")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
