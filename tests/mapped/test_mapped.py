"""The engine for a core beside this processor, on a simulated core, and on files in the place of devices."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fgpu import Device
from fgpu.compiler import Image, compile_opencl
from fgpu.config import Config
from fgpu.errors import BoardError, KernelFault, LaunchError, MemoryAccessError, SimulationTimeout
from fgpu.sim.mapped.engine import Mapped
from fgpu.sim.mapped.memory import MappedMemory
from fgpu.sim.mapped.uio import open_dev_mem, open_uio

from .core import BASE, SimulatedCore

TINY = Config.preset("tiny")
KERNELS = """
__constant int digits[8] = {3, 1, 4, 1, 5, 9, 2, 6};
kernel void look_up(global int *values) { size_t i = get_global_id(0); values[i] = digits[values[i] % 8]; }
kernel void forever(global int *values) { while (values) values[0] = 1; }
kernel void outside(global int *values) { values[get_global_id(0)] = 1; }
"""


@pytest.fixture(scope="module")
def image() -> Image:
    return compile_opencl(KERNELS, config=TINY)


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    core = SimulatedCore(TINY)
    clock = 500.0   # Hz: much time for a simulated core
    with Device(TINY, engine="mapped", port=Mapped(core, MappedMemory(BASE, core.memory.bytes), clock)) as found:
        yield found
    core.close()


@pytest.mark.ci
def test_kernels_run(device: Device, image: Image) -> None:
    for seed in range(2):
        values = np.random.default_rng(seed).integers(0, 1000, 128).astype(np.int32)
        buffer = device.buffer(values)
        run = device.launch(image, "look_up", global_size=128, local_size=64, args=[buffer])
        assert np.array_equal(buffer.read(), np.array([3, 1, 4, 1, 5, 9, 2, 6])[values % 8])
        assert (run.cycles, run.engine) == (None, "mapped")


@pytest.mark.ci
def test_what_goes_wrong_leaves_it_usable(device: Device, image: Image) -> None:
    buffer = device.buffer(np.arange(64, dtype=np.int32))
    with pytest.raises(SimulationTimeout, match="did not finish within 500 cycles; it was aborted"):
        device.launch(image, "forever", global_size=64, args=[buffer], max_cycles=500)
    with pytest.raises(KernelFault, match="global memory answered an access with an error"):
        device.launch(image, "outside", global_size=64, args=[0x4000_0000])
    with pytest.raises(LaunchError, match="hardware has neither profiles"):
        device.launch(image, "look_up", global_size=64, args=[buffer], profile=True)
    buffer.write(np.full(64, 2, np.int32))
    device.launch(image, "look_up", global_size=64, args=[buffer])
    assert (buffer.read() == 4).all()


def device_file(folder: Path, size: int, *, maps: int = 2) -> tuple[Path, Path]:
    """A file like a UIO device, and a folder like that of Linux which describes it."""
    path = folder / "uio7"
    path.write_bytes(bytes(4096 + size))
    for number, (address, length) in enumerate([(0x43C0_0000, 0x10000), (BASE, size)][:maps]):
        place = folder / "sys" / "uio7" / "maps" / f"map{number}"
        place.mkdir(parents=True)
        (place / "addr").write_text(f"0x{address:08x}\n")
        (place / "size").write_text(f"0x{length:08x}\n")
    return path, folder / "sys"


def test_a_uio_device_is_mapped(tmp_path: Path) -> None:
    """Its map 1 begins at the offset of a page, as UIO has it; here that is a place in the file."""
    path, sysfs = device_file(tmp_path, 1 << 16)
    mapped = open_uio(path, sysfs=sysfs)
    mapped.control.write(0x7C, 0x1234_5678)
    assert mapped.control.read(0x7C) == 0x1234_5678
    assert (mapped.memory.base, mapped.memory.size) == (BASE, 1 << 16)
    mapped.memory.view(BASE + 8, 4)[:] = [1, 2, 3, 4]
    mapped.close()
    content = path.read_bytes()
    assert content[0x7C:0x80] == 0x1234_5678.to_bytes(4, "little")
    assert content[4096 + 8:4096 + 12] == bytes([1, 2, 3, 4])


def test_physical_memory_is_mapped(tmp_path: Path) -> None:
    path = tmp_path / "mem"
    path.write_bytes(bytes(0x60000))
    mapped = open_dev_mem(0x20000, 0x10000, 0x40000, 0x20000, path=path)
    mapped.control.write(0x8004, 1)
    mapped.memory.view(0x40000, 4)[:] = 7
    mapped.close()
    content = path.read_bytes()
    assert (content[0x28004], content[0x40000]) == (1, 7)
    assert mapped.memory.base == 0x40000


@pytest.mark.parametrize(("port", "message"), [
    (None, r"needs port, the device, as port='/dev/uio0'"), (7, "port=7 is for engine='board'"),
])
def test_ports_that_are_none(port: object, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        Device(engine="mapped", port=port)


def test_devices_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(BoardError, match="must be a UIO device with two maps"):
        Device(engine="mapped", port=str(tmp_path / "uio8"))
    path, sysfs = device_file(tmp_path, 1 << 16, maps=1)
    with pytest.raises(BoardError, match=r"has no .*map1/size"):
        open_uio(path, sysfs=sysfs)
    with pytest.raises(BoardError, match="cannot open"):
        open_dev_mem(0, 4096, 0, 4096, path=tmp_path / "none")
    with pytest.raises(BoardError, match="cannot map 65536 bytes at 0x1001 "):
        open_dev_mem(0, 4096, 0x1001, 1 << 16, path=path)
    with pytest.raises(MemoryAccessError, match="whole 4 KiB pages"):
        MappedMemory(BASE, np.zeros(5000, np.uint8))
    with pytest.raises(LaunchError, match="memory is for simulators"):
        Device(engine="mapped", port="/dev/uio0", memory=SimulatedCore(TINY).memory)
