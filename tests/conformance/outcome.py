"""What became of one subtest, and the file that keeps it."""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from threading import Lock
from typing import Final, Literal

__all__ = ["Outcome", "Store", "Verdict"]

Verdict = Literal["pass", "fail", "skip", "crash", "timeout"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A subtest of a group on a device."""

    group: str
    subtest: str
    device: str
    options: tuple[str, ...]
    verdict: Verdict
    seconds: float
    reason: str = ""
    """What the program said last of an error, in one line; nothing if it passed."""
    processor: float = 0.0
    """Seconds of processor time, of the program and all that it started; 0: not known."""
    commit: str = ""
    """That of fgpu, if it is known."""
    launches: int = 0
    """Of kernels, that ended."""
    instructions: int = 0
    """Wavefront instructions of these, the same on every device; 0: none, or not known."""

    @property
    def is_verdict(self) -> bool:
        """Whether it says how the run ends."""
        return self.verdict != "timeout"

    @property
    def key(self) -> tuple[str, ...]:
        """The same for the same run."""
        return (self.device, self.group, self.subtest, *self.options)

    @property
    def line(self) -> str:
        """As JSON, without what is not known."""
        return json.dumps({name: value for name, value in asdict(self).items()
                           if name not in _UNKNOWN or value != _UNKNOWN[name]})


_UNKNOWN: Final = {field.name: field.default for field in fields(Outcome) if field.default is not MISSING}


class Store:
    """A file with an outcome a line, to which any thread may add; the last of the same run counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._outcomes: dict[tuple[str, ...], Outcome] = {}
        self._of_subtest: dict[tuple[str, ...], dict[tuple[str, ...], Outcome]] = defaultdict(dict)
        for outcome in self._read():
            self._keep(outcome)

    def _read(self) -> Iterator[Outcome]:
        if not self.path.exists():
            return
        text = self.path.read_text()
        if text and not text.endswith("\n"):
            self.path.write_text(text + "\n")   # or the next outcome would join the half line
        for line in text.splitlines():
            try:
                known = json.loads(line)
            except json.JSONDecodeError:
                continue    # a run that was killed wrote half a line
            yield Outcome(**{**known, "options": tuple(known["options"])})

    def _keep(self, outcome: Outcome) -> None:
        self._outcomes[outcome.key] = outcome
        self._of_subtest[outcome.key[1:3]][outcome.key] = outcome

    def add(self, outcome: Outcome) -> None:
        """Keep ``outcome``, on the disk at once."""
        with self._lock:
            self._keep(outcome)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as file:
                file.write(outcome.line + "\n")

    def get(self, key: tuple[str, ...]) -> Outcome | None:
        """The outcome of that run, if there is one."""
        return self._outcomes.get(key)

    def instructions(self, key: tuple[str, ...]) -> int | None:
        """The most wavefront instructions of a run's subtest that ended with a verdict, on whatever device: in the
        form of the run if that did, or else in any; None if none did."""
        ended = [outcome for outcome in self._of_subtest.get(key[1:3], {}).values()
                 if outcome.verdict in ("pass", "fail", "skip")]
        alike = [outcome for outcome in ended if outcome.key[1:] == key[1:]]
        return max((outcome.instructions for outcome in alike or ended), default=None)

    @property
    def devices(self) -> list[str]:
        """Those that outcomes are of."""
        return list(dict.fromkeys(outcome.device for outcome in self._outcomes.values()))

    def of(self, device: str) -> list[Outcome]:
        """All outcomes on a device, in the order in which they first came."""
        return [outcome for outcome in self._outcomes.values() if outcome.device == device]
