"""The C library in Python programs: of its own environment and of others, several copies, threads, the end."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from fgpu.opencl.functions import FUNCTIONS

LAUNCH = """
import sys, threading
import numpy as np
import pyopencl as cl

context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
program = cl.Program(context, '''
__kernel void add(__global int *words, int number) { words[get_global_id(0)] += number; }
__kernel void forever(__global volatile int *word) { while (word[0] == 0) ; }
''').build()

def check(number):
    queue = cl.CommandQueue(context)
    add = cl.Kernel(program, "add")
    for size in range(1, 200, 20):
        words = np.arange(size, dtype=np.int32)
        buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=words)
        add(queue, (size,), None, buffer, np.int32(number))
        cl.enqueue_copy(queue, words, buffer)
        assert (words == np.arange(size) + number).all()
"""

WITHOUT_PYOPENCL = f"""
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
platform = ctypes.c_void_p()
if status := library.clIcdGetPlatformIDsKHR(1, ctypes.byref(platform), None):
    sys.exit(print(status))
table = ctypes.cast(ctypes.c_void_p.from_address(platform.value).value, ctypes.POINTER(ctypes.c_void_p))
get_devices = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint, ctypes.c_void_p,
                               ctypes.c_void_p)(table[{FUNCTIONS["clGetDeviceIDs"].slot}])
count = ctypes.c_uint()
print(get_devices(platform, 1, 0, None, ctypes.addressof(count)), count.value)
"""


def test_pyopencl_lists_the_platform(opencl_icd):
    done = opencl_icd.python("import pyopencl\nfor platform in pyopencl.get_platforms():\n"
                             "    print(platform.name, platform.version, len(platform.get_devices()) > 0)")
    [line] = done.stdout.splitlines()
    assert line.startswith("FGPU OpenCL 1.2 fgpu ")
    assert line.endswith("True")
    assert not done.stderr


def test_ten_threads_build_nothing_anew_and_launch_kernels(opencl_icd):
    done = opencl_icd.python(LAUNCH + """
threads = [threading.Thread(target=check, args=[number]) for number in range(10)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("all")
""")
    assert (done.stdout, done.stderr) == ("all\n", "")


def test_objects_may_outlive_everything(opencl_icd):
    done = opencl_icd.python(LAUNCH + """
import atexit
check(1)
atexit.register(check, 3)
queue = cl.CommandQueue(context)
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)
event = cl.enqueue_marker(queue)
sys.forgotten = [queue, buffer, event, program, context]        # released after Python's end
""")
    assert done.stderr == ""


@pytest.mark.ci
def test_a_program_that_is_killed_leaves_no_lock(opencl_icd, tmp_path):
    """In the middle of a launch; the next one, with the same cache, goes through."""
    environment = opencl_icd.environment | {"FGPU_CACHE_DIR": str(tmp_path)}
    code = LAUNCH + """
check(1)
print("launches", flush=True)
cl.Kernel(program, "forever")(cl.CommandQueue(context), (1,), None,
                              cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.zeros(1, np.int32))).wait()
"""
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == "launches\n"
        time.sleep(0.5)
        assert host.poll() is None
        host.send_signal(signal.SIGKILL)
    opencl_icd.python(LAUNCH + "check(2)", environment={"FGPU_CACHE_DIR": str(tmp_path)})


def test_several_copies_are_one_platform(opencl_icd, tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        for path in opencl_icd.folder.glob("libfgpu*"):
            shutil.copy(path, tmp_path / name)
        (tmp_path / f"{name}.icd").write_text(f"{tmp_path / name / 'libfgpu-opencl.so'}\n")
    done = opencl_icd.python("import pyopencl; print(len(pyopencl.get_platforms()))",
                             environment={"OCL_ICD_VENDORS": str(tmp_path)})
    assert done.stdout == "1\n"


@pytest.fixture
def other_python(tmp_path):
    """An environment of the same Python with nothing in it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "other"], check=True)
    return tmp_path / "other" / "bin" / "python"


def test_another_environment_of_the_same_python_finds_the_packages(opencl_icd, other_python):
    done = opencl_icd.run(other_python, "-c", WITHOUT_PYOPENCL, opencl_icd.folder / "libfgpu-opencl.so",
                          cwd=other_python.parent)
    status, count = map(int, done.stdout.split())
    assert status == 0
    assert count > 0
    assert not done.stderr


def test_another_version_of_python_is_named(opencl_icd, other_python, tmp_path):
    shutil.copytree(opencl_icd.folder, tmp_path / "icd")
    settings = tmp_path / "icd" / "libfgpu-opencl.so.conf"
    settings.write_text(settings.read_text().replace(f"version=3.{sys.version_info.minor}\n", "version=3.9\n"))
    done = opencl_icd.run(other_python, "-c", WITHOUT_PYOPENCL, tmp_path / "icd" / "libfgpu-opencl.so",
                          cwd=other_python.parent)
    assert done.stdout == "-1001\n"
    [line] = done.stderr.splitlines()
    assert line.startswith("fgpu: no OpenCL platform in this process: ")
    assert "fgpu is not installed in this environment, but for Python 3.9; `pip install fgpu`" in line
    assert os.path.realpath(other_python.parent.parent) in line
