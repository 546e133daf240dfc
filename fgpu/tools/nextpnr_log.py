"""How far nextpnr is, by the log that it writes."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = ["followed", "said"]

_SECONDS = 5.0
_STEPS: Final = (
    (re.compile(r"iter=(\d+) steplen="), "placing, iteration {}"),
    (re.compile(r"initial placer iter (\d+)"), "placing, first iteration {}"),
    (re.compile(r"at iteration #(\d+), .*legal = (\d+)"), "placing, iteration {}: {:,} of wire"),
    (re.compile(r"at iteration #(\d+): temp .*wirelen = (\d+)"), "refining, iteration {}: {:,} of wire"),
    (re.compile(r"iter=(\d+) wires=\d+ overused=(\d+)"), "routing, iteration {}: {:,} wires overused"),
)


def said(line: str) -> str | None:
    """What a line of the log tells of progress, if it does."""
    for pattern, text in _STEPS:
        if found := pattern.search(line):
            return text.format(*map(int, found.groups()))
    return None


@contextmanager
def followed(log: Path, tell: Callable[[str], None]) -> Iterator[None]:
    """Tell how far nextpnr is, as its log grows: the last step, every few seconds, if it is another one."""
    ended = threading.Event()

    def follow() -> None:
        at, last = 0, None
        while not ended.wait(_SECONDS):
            if not log.exists():
                continue
            with log.open(encoding="utf-8", errors="replace") as lines:
                lines.seek(at if at <= log.stat().st_size else 0)      # it may have begun anew
                steps = [step for line in lines.read().splitlines() if (step := said(line)) is not None]
                at = lines.tell()
            if steps and steps[-1] != last:
                last = steps[-1]
                tell(last)

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
