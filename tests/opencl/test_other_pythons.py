"""Processes that have another Python, of which two would take each other's functions: one line, and no platform."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fgpu.opencl.library import LIBRARY
from fgpu.opencl.library.build import compiler, zig

ROOT = Path(__file__).parents[2]
HOST = """
#include <assert.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#ifdef VERSION
int Py_IsInitialized(void) { return 1; }
const char *Py_GetVersion(void) { return VERSION; }
#endif

int main(int count, char **names)
{
    uint32_t found = 7;
    for (int i = 1; i < count - 1; i++)
        assert(dlopen(names[i], RTLD_NOW | RTLD_LOCAL));
    void *library = dlopen(names[count - 1], RTLD_NOW);
    assert(library);
    int32_t (*get)(uint32_t, void **, uint32_t *) =
        (int32_t (*)(uint32_t, void **, uint32_t *))dlsym(library, "clIcdGetPlatformIDsKHR");
    for (int i = 0; i < 3; i++) {
        int status = get(0, NULL, &found);
        printf("%d %u\\n", status, found);
    }
    return 0;
}
"""


def compiled(source: str, output: Path, *options: str) -> Path:
    subprocess.run([*(compiler() or zig()), *options, "-x", "c", "-", "-o", output, "-ldl"], input=source, text=True,
                   check=True)
    return output


def told(done: subprocess.CompletedProcess[str]) -> str:
    """The line that it says, once."""
    assert done.stdout == "-1001 0\n" * 3
    [line] = done.stderr.splitlines()
    assert line.startswith("fgpu: no OpenCL platform in this process: ")
    return line


@pytest.mark.parametrize("version", ["2.7.18 (default)", "3.6.15 (default)", "3.10.13 (main)"])
def test_a_python_that_is_too_old(version, opencl_icd, tmp_path):
    host = compiled(HOST, tmp_path / "host", "-rdynamic", f'-DVERSION="{version}"')
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"].removeprefix(">=")
    assert f"it has Python {version.rpartition('.')[0]}, and fgpu needs {oldest} or a later one" in told(
        opencl_icd.run(host, opencl_icd.folder / LIBRARY))


def test_a_python_that_the_program_keeps_for_itself(opencl_icd, tmp_path):
    other = compiled("int nothing;", tmp_path / "libpython3.99.so.1.0", "-shared", "-fPIC")
    host = compiled(HOST, tmp_path / "host")
    line = told(opencl_icd.run(host, other, opencl_icd.folder / LIBRARY))
    assert f"it has loaded another Python, {other}, and this is fgpu of {sys.executable}" in line


def test_no_other_python(opencl_icd, tmp_path):
    host = compiled(HOST, tmp_path / "host")
    done = opencl_icd.run(host, opencl_icd.folder / LIBRARY)
    assert (done.stdout, done.stderr) == ("0 1\n" * 3, "")
