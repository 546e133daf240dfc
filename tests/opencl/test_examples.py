"""examples/opencl: the same picture from Python and from C, as NumPy computes it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fgpu.opencl.enums import DeviceInfo, DeviceType, MapFlags, MemFlags, ProfilingInfo, QueueProperties
from fgpu.opencl.library.build import compiler, zig

from .c_hosts import LOADERS, declarations

EXAMPLES = Path(__file__).parents[2] / "examples" / "opencl"
WIDTH, HEIGHT = 64, 48
HANDLES = ["platform_id", "device_id", "context", "command_queue", "program", "kernel", "mem", "event"]
TYPES = {"cl_int": "int32_t", "cl_uint": "uint32_t", "cl_ulong": "uint64_t", "cl_float": "float",
         **{f"cl_{name}": "void *" for name in HANDLES}}
CONSTANTS = {
    "SUCCESS": 0, "TRUE": 1, "DEVICE_NAME": DeviceInfo.NAME, "DEVICE_TYPE_DEFAULT": DeviceType.DEFAULT,
    "MAP_READ": MapFlags.READ, "MEM_WRITE_ONLY": MemFlags.WRITE_ONLY,
    "PROFILING_COMMAND_START": ProfilingInfo.START, "PROFILING_COMMAND_END": ProfilingInfo.END,
    "QUEUE_PROFILING_ENABLE": QueueProperties.PROFILING_ENABLE,
}


def expected():
    """The picture, with the kernel's operations in its order."""
    step = np.float32(3.2 / WIDTH)
    x = np.float32(-2.2) + step * np.arange(WIDTH, dtype=np.float32)[None, :]
    y = np.float32(1.2) - step * np.arange(HEIGHT, dtype=np.float32)[:, None]
    real, imaginary = np.broadcast_arrays(x, y)
    c = real.copy(), imaginary.copy()
    count = np.zeros((HEIGHT, WIDTH), np.uint32)
    inside = np.ones((HEIGHT, WIDTH), bool)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(50):
            inside &= real * real + imaginary * imaginary <= 4
            count += inside
            real, imaginary = real * real - imaginary * imaginary + c[0], 2 * real * imaginary + c[1]
    return 255 - 255 * count // 50


def check(done, file):
    assert done.stdout.startswith("FGPU")
    content = file.read_bytes()
    header = b"P5 %d %d 255\n" % (WIDTH, HEIGHT)
    assert content.startswith(header)
    picture = np.frombuffer(content[len(header):], np.uint8).reshape(HEIGHT, WIDTH)
    assert np.array_equal(picture, expected())


def test_in_python(opencl_icd, tmp_path):
    file = tmp_path / "python.pgm"
    check(opencl_icd.run(sys.executable, EXAMPLES / "mandelbrot.py", WIDTH, file), file)


@pytest.fixture(scope="module")
def c_program(tmp_path_factory):
    """The example in C, with a header made here: a fresh machine has none."""
    folder = tmp_path_factory.mktemp("example")
    (folder / "CL").mkdir()
    (folder / "CL" / "cl.h").write_text(
        declarations() + "".join(f"typedef {type_} {name};\n" for name, type_ in TYPES.items())
        + "".join(f"#define CL_{name} {int(value)}\n" for name, value in CONSTANTS.items()))
    loader = LOADERS["bundled"]()
    program = folder / "mandelbrot"
    subprocess.run([*(compiler() or zig()), "-Wall", "-O2", f"-I{folder}", EXAMPLES / "mandelbrot.c", "-o", program,
                    loader, f"-Wl,-rpath,{loader.parent}"], check=True)
    return program


def test_in_c(opencl_icd, c_program, tmp_path):
    file = tmp_path / "c.pgm"
    done = opencl_icd.run(c_program, WIDTH, file, cwd=EXAMPLES, environment={"PYOPENCL_HOME": str(tmp_path)})
    check(done, file)


@pytest.mark.ci
def test_on_the_rtl(opencl_icd, tmp_path):
    """... where the time is what cycles say."""
    file = tmp_path / "rtl.pgm"
    environment = {"FGPU_OPENCL_DEVICES": "verilator"}
    times = set()
    for _ in range(2):
        done = opencl_icd.run(sys.executable, EXAMPLES / "mandelbrot.py", WIDTH, file, environment=environment,
                              timeout=900)
        check(done, file)
        times.add(done.stdout.rsplit(", ", 1)[1])
    assert len(times) == 1
