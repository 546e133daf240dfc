"""The platform over hardware: a board behind a pseudo-terminal, and a core that is mapped, both simulated."""

from pathlib import Path

import pytest

from fgpu.board.boards import board
from fgpu.config import Config
from fgpu.opencl.device_list import VARIABLE, DeviceListError, offers
from fgpu.sim.board.simulated import SimulatedBoard

_PROGRAM = """
import numpy as np, pyopencl as cl
devices = cl.get_platforms()[0].get_devices()
context = cl.Context(devices)
program = cl.Program(context, '''
    kernel void shift(global const int *a, global int *b, int n)
    { size_t i = get_global_id(0); b[i] = a[i] << n; }''').build()
a = np.arange(64, dtype=np.int32)
given = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=a)
made = cl.Buffer(context, 0, a.nbytes)
for number, device in enumerate(devices, 1):
    assert device.max_mem_alloc_size == device.global_mem_size // 4
    queue = cl.CommandQueue(context, device, cl.command_queue_properties.PROFILING_ENABLE)
    event = cl.Kernel(program, "shift")(queue, a.shape, None, given, made, np.int32(number))
    b, _ = cl.enqueue_map_buffer(queue, made, cl.map_flags.READ | cl.map_flags.WRITE, 0, a.shape, a.dtype)
    assert np.array_equal(b, a << number), b
    b[:] = -1
    del b
    cl.Kernel(program, "shift")(queue, (32,), None, made, given, np.int32(number + 1))
    cl.enqueue_copy(queue, b := np.empty_like(a), given)
    assert np.array_equal(b, np.where(a < 32, -1 << (number + 1), a)), b
    cl.enqueue_copy(queue, given, a)
    print(device.name, device.global_mem_size, device.max_clock_frequency, event.profile.end > event.profile.start,
          sep="; ")
"""
_MAPPED = f"""
import fgpu.sim.mapped.uio
from fgpu.config import Config
from fgpu.sim.mapped.engine import Mapped
from fgpu.sim.mapped.memory import MappedMemory
from tests.mapped.core import BASE, SimulatedCore

core = SimulatedCore(Config.preset("tiny"))
fgpu.sim.mapped.uio.open_uio = lambda path, clock: Mapped(core, MappedMemory(BASE, core.memory.bytes), 500.0)
{_PROGRAM}
"""


@pytest.mark.ci
def test_a_board(opencl_icd) -> None:
    """It tells its core, memory and clock; a simulator beside it has the same memory."""
    with SimulatedBoard(board("ulx3s_85f"), Config.preset("tiny")) as simulated:
        done = opencl_icd.python(_PROGRAM, timeout=500, environment={
            VARIABLE: f"board port={simulated.port} timeout=300; functional preset=tiny"})
        assert simulated.state.writes
    assert done.stdout.splitlines() == [
        f"FGPU board 1 CU; {32 << 20}; 50; True", f"FGPU functional 1 CU tiny; {32 << 20}; 50; True"]


@pytest.mark.ci
def test_a_core_that_is_mapped(opencl_icd, tmp_path: Path) -> None:
    device = tmp_path / "uio0"
    device.touch()
    done = opencl_icd.python(_MAPPED, timeout=500, environment={
        VARIABLE: f"mapped port={device} preset=tiny clock=80; functional preset=tiny"})
    assert [line.split("; ")[:3] for line in done.stdout.splitlines()] == [
        ["FGPU mapped 1 CU tiny", str(1 << 20), "80"], ["FGPU functional 1 CU tiny", str(1 << 20), "50"]]


def test_hardware_that_is_not_there_is_not_offered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    port = tmp_path / "uio0"
    monkeypatch.setenv(VARIABLE, f"mapped port={port} preset=tiny; functional")
    assert [offer.engine for offer in offers()] == ["functional"]
    port.touch()
    mapped, _ = offers()
    assert (mapped.engine, mapped.port, mapped.config) == ("mapped", str(port), Config.preset("tiny"))
    monkeypatch.setenv(VARIABLE, f"board port={tmp_path}/tty")
    with pytest.raises(DeviceListError, match=f"has no device: there is no {tmp_path}/tty"):
        offers()


def test_hardware_that_does_not_answer_is_told_and_left_out(opencl_icd, tmp_path: Path) -> None:
    port = tmp_path / "uio0"
    port.touch()
    done = opencl_icd.python("import pyopencl as cl; print(len(cl.get_platforms()[0].get_devices()))", environment={
        VARIABLE: f"mapped port={port}; functional"})
    assert done.stdout == "1\n"
    assert done.stderr.count("\n") == 1
    assert "must be a UIO device with two maps" in done.stderr


@pytest.mark.parametrize(("text", "message"), [
    ("board", "a board is 'board port=/dev/ttyUSB0'"),
    ("board port=/dev/null preset=tiny", "it tells itself which core it has"),
    ("board port=/dev/null timeout=long", "timeout must be in seconds"),
    ("mapped preset=tiny", "port=/dev/uio0, or another device, is what mapped needs"),
    ("functional port=/dev/null", "port is for board and mapped"),
    ("board port=/dev/null; mapped port=/dev/null", "there may be one of it"),
])
def test_what_is_no_hardware(monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(DeviceListError, match=message):
        offers()
