"""Host programs in processes of their own, which find the platform through an ICD loader."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Icd"]


@dataclass(frozen=True)
class Icd:
    """A folder with the library and its ``.icd``."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a program that finds this platform and no other, and has pyopencl without a cache."""
        return os.environ | {"OCL_ICD_VENDORS": str(self.folder), "PYOPENCL_NO_CACHE": "1"}

    def run(self, *command: str | int | Path, check: bool = True, timeout: float = 100,
            environment: Mapping[str, str] | None = None,
            cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run a program; what it prints is text."""
        done = subprocess.run([str(part) for part in command], env=self.environment | dict(environment or {}),
                              capture_output=True, text=True, check=False, timeout=timeout, cwd=cwd)
        assert not check or done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def python(self, code: str, *arguments: str, check: bool = True, timeout: float = 100,
               environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a program in Python, one that uses pyopencl, say."""
        return self.run(sys.executable, "-c", code, *arguments, check=check, timeout=timeout, environment=environment)
