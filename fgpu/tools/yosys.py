"""Yosys, from the Python registry (YoWASP): runs a script on files in a folder of its own."""

from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import CompletedProcess

from ..errors import ToolError
from ..store import workspace
from .yowasp import run_yowasp

__all__ = ["run_yosys"]


def _run_yowasp(arguments: Sequence[str], folder: Path) -> CompletedProcess[str]:
    return run_yowasp("yosys", arguments, folder)


def run_yosys(script: list[str], inputs: dict[str, str], output: str, *,
              run: Callable[[Sequence[str], Path], CompletedProcess[str]] = _run_yowasp) -> str:
    """Run the commands of ``script`` beside the files ``inputs``; the text of the file ``output`` that they write.

    ``run`` may be another Yosys', such as an installed one's.

    Raises :class:`~fgpu.errors.ToolError` with the end of Yosys' log when it fails.
    """
    # Yosys prints nothing more once ABC has run.
    with workspace() as folder:
        for name, text in inputs.items():
            (folder / name).write_text(text, encoding="utf-8")
        done = run(["-q", "-l", "log.txt", "-p", "; ".join(script)], folder)
        result, log = folder / output, folder / "log.txt"
        if done.returncode or not result.exists():
            tail = log.read_text(encoding="utf-8")[-1000:] if log.exists() else done.stderr[-1000:]
            raise ToolError(f"Yosys failed with status {done.returncode}: {tail.strip() or 'no message'}")
        return result.read_text(encoding="utf-8")
