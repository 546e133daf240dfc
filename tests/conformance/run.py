"""Subtests in processes of their own: which there are, one run, many runs beside each other."""

import json
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fgpu.errors import ToolError
from fgpu.opencl.launch_log import VARIABLE as LAUNCHES

from .groups import Group
from .outcome import Outcome, Verdict

__all__ = ["Run", "run_all", "subtests"]

_RESULTS: Final = "CL_CONFORMANCE_RESULTS_FILENAME"
"""The environment variable by which a program of the suite writes its verdicts as JSON."""
_TROUBLE = re.compile(r"error|fail|unable|mismatch|expected|invalid|abort|unsupported", re.IGNORECASE)
_SUMMARY = re.compile(r"(FAILED (sub-)?test|.* FAILED$|FAILED \d+ of)")
_RUNNING: Final[set["subprocess.Popen[bytes]"]] = set()
_LOOK: Final = 0.1
"""Seconds from look to look whether a program has ended, and at its processor time."""
_LONGEST = 160
_KEPT = 4000
"""Characters of a line that an unlucky program may print without an end."""


def subtests(program: Path, group: Group) -> list[str]:
    """The names of the subtests that are run.

    Raises :class:`~fgpu.errors.ToolError` if the program does not run.
    """
    if group.parts:
        return list(group.parts)
    done = subprocess.run([program, "--list"], capture_output=True, text=True, check=False)
    names = [line.strip() for line in done.stdout.splitlines() if line.startswith("\t")]
    if done.returncode or not names:
        raise ToolError(f"{program} --list names no subtests: {(done.stdout + done.stderr).strip()[-500:]}")
    return [name for name in names if group.selects(name)]


@dataclass(frozen=True, kw_only=True)
class Run:
    """One subtest that is to be run."""

    group: Group
    subtest: str
    program: Path
    device: str
    environment: Mapping[str, str]
    timeout: float
    """Seconds."""
    cpu: float | None = None
    """Seconds of the processor that the subtest and what it started may take, if there is such a limit: other work on
    the machine does not count."""
    logs: Path | None = None
    """A folder for what the program prints."""
    commit: str = ""
    """Of what is tested, for the outcome."""

    @property
    def key(self) -> tuple[str, ...]:
        """As :attr:`.outcome.Outcome.key`."""
        return (self.device, self.group.folder, self.subtest, *self.group.arguments)

    def run(self) -> Outcome:
        """Run it, in a folder of its own; its descendants end with it."""
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="fgpu-conformance-") as folder:
            results, log, launches = (Path(folder, name) for name in ("results.json", "log", "launches"))
            with log.open("wb") as output:
                process = subprocess.Popen(
                    [self.program, *self.group.options, *self.group.chooses(self.subtest), *self.group.last],
                    cwd=folder, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                    start_new_session=True,
                    env={**os.environ, **self.environment, _RESULTS: str(results), LAUNCHES: str(launches)})
                _RUNNING.add(process)
                try:
                    code, late, processor = self._wait(process)
                finally:
                    _end(process)
            text = log.read_text(errors="replace")
            verdict = self._verdict(code, results)
            ended = [json.loads(line) for line in launches.read_text().splitlines()] if launches.exists() else []
        if self.logs is not None:
            self.logs.mkdir(parents=True, exist_ok=True)
            (self.logs / f"{self.group.folder}.{self.subtest}.log").write_text(text)
        reason = {"pass": "", "skip": "", "timeout": late}.get(verdict)
        return Outcome(group=self.group.folder, subtest=self.subtest, device=self.device,
                       options=self.group.arguments, verdict=verdict, seconds=round(time.monotonic() - began, 1),
                       reason=trouble(text, code) if reason is None else reason,
                       processor=round(processor, 2), commit=self.commit, launches=len(ended),
                       instructions=sum(launch["instructions"] for launch in ended))

    def _wait(self, process: "subprocess.Popen[bytes]") -> tuple[int | None, str, float]:
        """The status with which it ended, or None and the limit at which it had not, and its processor time."""
        end = time.monotonic() + self.timeout
        while (left := end - time.monotonic()) > 0:
            number, status, used = os.wait4(process.pid, os.WNOHANG)
            if number:
                process.returncode = os.waitstatus_to_exitcode(status)
                return process.returncode, "", used.ru_utime + used.ru_stime
            time.sleep(min(left, _LOOK))
            if self.cpu is not None and (seconds := _processor_seconds(process.pid)) > self.cpu:
                return None, f"not done in {self.cpu:g} s of processor time", seconds
        return None, f"not done in {self.timeout:g} s", _processor_seconds(process.pid)

    def _verdict(self, code: int | None, results: Path) -> Verdict:
        if code is None:
            return "timeout"
        try:
            verdict = json.loads(results.read_text())["results"][self.group.subtest or self.subtest]
        except (OSError, ValueError, KeyError):
            return "crash"
        if verdict not in ("pass", "fail", "skip"):
            return "crash"
        # A program that says "pass" and then dies at exit has not passed.
        return "crash" if code < 0 or (code and verdict != "fail") else verdict


def _processor_seconds(process: int) -> float:
    """What a process and its children that have ended took, where the system has ``/proc``; else nothing."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def trouble(text: str, code: int | None) -> str:
    """The first line of a program's output that speaks of an error, or else how it ended."""
    lines = [" ".join(line[:_KEPT].split()) for line in text.splitlines()]
    for line in lines:
        if _TROUBLE.search(line) and not _SUMMARY.match(line):
            return line[:_LONGEST]
    if code is not None and code < 0:
        return f"ended by {signal.Signals(-code).name}"
    return f"ended with code {code}" if code else "no word of an error"


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    _RUNNING.discard(process)


def run_all(runs: Sequence[Run], *, jobs: int = 1) -> Generator[Outcome, None, None]:
    """The outcomes of all ``runs``, ``jobs`` at a time, as they come."""
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        futures = [pool.submit(run.run) for run in runs]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()
            for process in list(_RUNNING):  # the reader was interrupted
                _end(process)
