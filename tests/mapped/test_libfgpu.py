"""The C library: its descriptors are Python's, and it runs kernels on a simulated core."""

import ctypes
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fgpu.compiler import Image, compile_opencl
from fgpu.config import Config
from fgpu.fault import FaultCause
from fgpu.sim.descriptor import KernelDescriptor
from fgpu.sim.testbench.build import find_compiler, run_tool
from fgpu.software.header import library_files

from .core import BASE, SimulatedCore
from .test_mapped import KERNELS, device_file

TINY = Config.preset("tiny")
READ = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32)
WRITE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
NONE, OPEN, SIZE, TIMEOUT, FAULT = range(5)


Three = ctypes.c_uint32 * 3


class Bus(ctypes.Structure):
    _fields_ = [("read", READ), ("write", WRITE), ("context", ctypes.c_void_p)]


class Gpu(ctypes.Structure):
    _fields_ = [("control", ctypes.c_void_p), ("bus", Bus), ("memory", ctypes.POINTER(ctypes.c_uint8)),
                ("memory_address", ctypes.c_uint32), ("memory_size", ctypes.c_size_t), ("fault", ctypes.c_uint32),
                ("control_size", ctypes.c_size_t), ("file", ctypes.c_int)]


class Launch(ctypes.Structure):
    _fields_ = [("entry", ctypes.c_uint32), ("dimensions", ctypes.c_uint32),
                *((name, ctypes.c_uint32 * 3) for name in ("global_size", "local_size", "global_offset")),
                *((name, ctypes.c_uint32) for name in ("local_rows", "local_groups", "place", "parameter_count")),
                ("parameters", ctypes.c_uint32 * 16), ("keep_cache", ctypes.c_int)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("library")
    for name, text in library_files().items():
        (made / name).write_text(text)
    return made


def compiler() -> list[str]:
    """For C: that which compiles C++, told so."""
    return [*find_compiler().command, "-x", "c", "-std=c99", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-pedantic",
            "-Werror"]


@pytest.fixture(scope="module")
def library(folder: Path) -> Any:
    run_tool([*compiler(), "-O1", "-fPIC", "-shared", "libfgpu.c", "-o", "libfgpu.so"], folder)
    found = ctypes.CDLL(str(folder / "libfgpu.so"))
    found.fgpu_fault_text.restype = ctypes.c_char_p
    found.fgpu_read.restype = ctypes.c_uint32
    return found


def opened(library: Any, control: Any) -> Gpu:
    """A core that is reached by ``control``."""
    gpu, bus = Gpu(), Bus(READ(lambda _, address: control.read(address)),
                          WRITE(lambda _, address, word: control.write(address, word)), None)
    library.fgpu_open_bus(ctypes.byref(gpu), ctypes.byref(bus))
    gpu.keeps = bus     # Python's functions must outlive it
    return gpu


class Recorder(dict[int, int]):
    """Words that were written; kernels are done at once."""

    def read(self, address: int) -> int:
        return 0xFFFF if address == 0x8000 else self.get(address, 0)

    def write(self, address: int, word: int) -> None:
        self[address] = word


def random_launch(rng: random.Random) -> tuple[KernelDescriptor, Launch]:
    dimensions = rng.randint(1, 3)
    local = tuple(rng.choice([1, 2, 4, 8]) for _ in range(dimensions))
    size = tuple(each * rng.choice([1, 3, 1000]) for each in local)
    offset = tuple(rng.getrandbits(32) for _ in range(dimensions))
    parameters = [rng.getrandbits(32) for _ in range(rng.randint(0, 16))]
    entry, rows, groups, place = rng.randrange(1 << 14), rng.randrange(1 << 12), rng.randrange(8), rng.randrange(2)
    descriptor = KernelDescriptor(entry=entry, global_size=size, local_size=local, global_offset=offset,
                                  parameters=tuple(parameters), local_rows=rows, local_groups=groups,
                                  place=bool(place))
    return descriptor, Launch(
        entry, dimensions, Three(*size), Three(*local), Three(*offset),
        rows, groups, place, len(parameters), (ctypes.c_uint32 * 16)(*parameters), rng.randrange(2))


@pytest.mark.parametrize("seed", range(20))
def test_descriptors_are_pythons(library: Any, seed: int) -> None:
    rng = random.Random(seed)
    descriptor, launch = random_launch(rng)
    seen, slot = Recorder(), rng.randrange(16)
    gpu = opened(library, seen)
    assert library.fgpu_start(ctypes.byref(gpu), slot, ctypes.byref(launch)) == NONE
    assert tuple(seen[128 * slot + 4 * index] for index in range(32)) == descriptor.words()
    flag = 1 << slot
    assert (seen[0x8004], seen[0x8008], seen[0x800C]) == (flag, 0 if launch.keep_cache else flag, flag)


def test_launches_that_cannot_be(library: Any) -> None:
    good = {"dimensions": 1, "global_size": Three(64), "local_size": Three(64)}
    gpu = opened(library, Recorder())
    assert library.fgpu_start(ctypes.byref(gpu), 0, ctypes.byref(Launch(**good))) == NONE
    for slot, change in ((16, {}), (0, {"dimensions": 4}), (0, {"local_size": Three(7)}),
                         (0, {"entry": 1 << 14}), (0, {"parameter_count": 17}), (0, {"local_rows": 1 << 12}),
                         (0, {"local_groups": 8}), (0, {"place": 2}),
                         (0, {"global_size": Three(1024), "local_size": Three(1024)})):
        assert library.fgpu_start(ctypes.byref(gpu), slot, ctypes.byref(Launch(**good | change))) == SIZE


def test_long_programs_go_where_they_belong(library: Any) -> None:
    seen = Recorder()
    words = np.arange(1, 4100, dtype=np.uint32)
    library.fgpu_load(ctypes.byref(opened(library, seen)), words.ctypes.data_as(ctypes.c_void_p), len(words))
    assert (seen[0x4000], seen[0x7FFC], seen[0x1_4000], seen.get(0x8000)) == (1, 4096, 4097, None)
    seen.clear()
    many = np.zeros((1 << 14) + 1, np.uint32).ctypes.data_as(ctypes.c_void_p)
    for count in (0, (1 << 14) + 1):
        assert library.fgpu_load(ctypes.byref(opened(library, seen)), many, count) == SIZE
    assert not seen
    assert library.fgpu_load(ctypes.byref(opened(library, seen)), many, 1 << 14) == NONE


def test_the_headers_example_compiles(folder: Path, tmp_path: Path) -> None:
    """With the words of a program as docs/zynq.md makes them."""
    comment = library_files()["libfgpu.h"].partition("\n *\n * Parameters")[0]
    example = "\n".join(line[7:] for line in comment.splitlines() if line.startswith(" *     "))
    (tmp_path / "program.c").write_text(example)
    (tmp_path / "vec_add.inc").write_text("0x92000000,\n")
    for source in ("program.c", str(folder / "libfgpu.c")):
        run_tool([*compiler(), f"-I{folder}", "-c", source], tmp_path)
    run_tool([*find_compiler().command, "program.o", "libfgpu.o", "-o", "program"], tmp_path)
    ran = subprocess.run(["./program"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 1      # there is no such device here
    assert ran.stderr.startswith("/dev/uio0: ")


def test_c_and_cpp_take_the_header(folder: Path) -> None:
    (folder / "use.c").write_text('#include "libfgpu.h"\nint main(void) { return FGPU_ERROR_NONE; }\n')
    run_tool([*compiler(), "-fsyntax-only", "use.c"], folder)
    run_tool([*find_compiler().command, "-x", "c++", "-Wall", "-Werror", "-fsyntax-only", "use.c"], folder)


def test_devices_are_mapped(library: Any, tmp_path: Path) -> None:
    path, sysfs = device_file(tmp_path, 1 << 16)
    gpu = Gpu()
    assert library.fgpu_open_uio(ctypes.byref(gpu), str(path).encode(), str(sysfs).encode()) == NONE
    library.fgpu_write(ctypes.byref(gpu), 0x7C, 0x1234_5678)
    assert library.fgpu_read(ctypes.byref(gpu), 0x7C) == 0x1234_5678
    assert (gpu.memory_address, gpu.memory_size) == (BASE, 1 << 16)
    gpu.memory[8] = 9
    words = np.zeros(1 << 14, np.uint32).ctypes.data_as(ctypes.c_void_p)
    assert library.fgpu_load(ctypes.byref(gpu), words, 1 << 14) == SIZE     # beyond what is mapped
    library.fgpu_close(ctypes.byref(gpu))
    content = path.read_bytes()
    assert content[0x7C:0x80] == 0x1234_5678.to_bytes(4, "little")
    assert content[4096 + 8] == 9
    assert library.fgpu_open_uio(ctypes.byref(gpu), b"/dev/none", str(sysfs).encode()) == OPEN
    (sysfs / path.name / "maps" / "map1" / "addr").write_text("0x100000000\n")
    assert library.fgpu_open_uio(ctypes.byref(gpu), str(path).encode(), str(sysfs).encode()) == OPEN
    assert library.fgpu_open_mem(ctypes.byref(gpu), str(path).encode(), 0, 4096, 4096, 4096) == NONE
    library.fgpu_close(ctypes.byref(gpu))
    assert library.fgpu_open_mem(ctypes.byref(gpu), str(path).encode(), 0, 4096, 4097, 4096) == OPEN


@pytest.fixture(scope="module")
def core() -> Iterator[SimulatedCore]:
    found = SimulatedCore(TINY)
    yield found
    found.close()


@pytest.mark.ci
def test_it_runs_kernels(library: Any, core: SimulatedCore) -> None:
    """What is right, and what the hardware stops; on the simulated core."""
    image: Image = compile_opencl(
        "kernel void triple(global int *a, int n) { a[get_global_id(0)] += 3 * n; }" + KERNELS, config=TINY)
    gpu = opened(library, core)
    words = np.array(image.words, np.uint32)
    library.fgpu_load(ctypes.byref(gpu), words.ctypes.data_as(ctypes.c_void_p), len(words))

    def run(name: str, *parameters: int, limit: int = 0) -> int:
        launch = Launch(image.kernels[name].entry, 1, Three(128), Three(64),
                        parameter_count=len(parameters), parameters=(ctypes.c_uint32 * 16)(*parameters))
        return int(library.fgpu_run(ctypes.byref(gpu), 3, ctypes.byref(launch), limit))

    numbers = core.memory.view(BASE + 0x1000, 512).view(np.int32)
    numbers[:] = np.arange(128)
    assert run("triple", BASE + 0x1000, 5) == NONE
    assert np.array_equal(numbers, np.arange(128) + 15)
    assert run("outside", 0x4000_0000) == FAULT
    assert gpu.fault >> 25 & 7 == FaultCause.BUS_ERROR.value
    assert library.fgpu_fault_text(ctypes.byref(gpu)) == b"memory answered an access with an error"
    assert run("forever", BASE, limit=300) == TIMEOUT
    assert library.fgpu_fault_text(ctypes.byref(gpu)) == b"the host aborted the kernel"
    assert run("triple", BASE + 0x1000, 1) == NONE
    assert np.array_equal(numbers, np.arange(128) + 18)
