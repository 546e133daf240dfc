"""The command line in a folder of its own, with a few programs there."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from fgpu.cli import main

VEC_ADD = """
__kernel void vec_add(__global const int *a, __global const int *b, __global int *out)
{
    size_t i = get_global_id(0);
    out[i] = a[i] + b[i];
}
"""
COPY = """
.kernel copy
    lid   r1, 0
    wgoff r2, 0
    add   r1, r1, r2
    lp    r3, 0
    lp    r4, 1
    lw    r5, r3[r1]
    sw    r5, r4[r1]
    ret
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current directory with vec_add.cl and copy.s."""
    monkeypatch.chdir(tmp_path)
    Path("vec_add.cl").write_text(VEC_ADD)
    Path("copy.s").write_text(COPY)
    return tmp_path


@pytest.fixture
def fgpu(folder):
    """Runs ``fgpu ARGUMENTS``, given as one text, there; the result must not be a traceback."""
    def run(arguments):
        result = CliRunner().invoke(main, arguments.split())
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result
    return run
