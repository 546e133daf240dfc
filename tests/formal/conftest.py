"""The proofs need two programs that pip installs."""

import os
import shutil
import sys
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def solvers() -> None:
    """Skip where SymbiYosys or Z3 is missing."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for program in ("yowasp-sby", "z3"):
        if shutil.which(program, path=path) is None:
            pytest.skip(f"needs {program}: pip install 'fgpu[test]'")
