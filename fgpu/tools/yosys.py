"""Yosys, from the Python registry (YoWASP): runs a script on files in a folder of its own."""

from ..errors import ToolError
from ..store import workspace
from .yowasp import run_yowasp

__all__ = ["run_yosys"]


def run_yosys(script: list[str], inputs: dict[str, str], output: str) -> str:
    """Run the commands of ``script`` beside the files ``inputs``; the text of the file ``output`` that they write.

    Raises :class:`~fgpu.errors.ToolError` with the end of Yosys' log when it fails.
    """
    # Yosys prints nothing more once ABC has run.
    with workspace() as folder:
        for name, text in inputs.items():
            (folder / name).write_text(text, encoding="utf-8")
        done = run_yowasp("yosys", ["-q", "-l", "log.txt", "-p", "; ".join(script)], folder)
        result, log = folder / output, folder / "log.txt"
        if done.returncode or not result.exists():
            tail = log.read_text(encoding="utf-8")[-1000:] if log.exists() else done.stderr[-1000:]
            raise ToolError(f"Yosys failed with status {done.returncode}: {tail.strip() or 'no message'}")
        return result.read_text(encoding="utf-8")
