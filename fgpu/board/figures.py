"""What is known of the boards' bitstreams: the table of ``fgpu build --board ?`` and of docs/boards.md."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final

from fgpu.config import PRESETS, Config
from fgpu.files import write_atomically

from .bitstream import Bitstream
from .system import SystemParameters

__all__ = ["TABLE", "Figures", "core_name", "load", "markdown", "record"]

TABLE: Final = Path(__file__).with_name("bitstreams.json")


@dataclass(frozen=True, kw_only=True)
class Figures:
    """A bitstream that was built."""

    board: str
    core: str
    """As :func:`core_name` calls it."""
    clock: float
    """MHz that it runs at."""
    routed: float
    """MHz that nextpnr found when it had routed."""
    used: dict[str, tuple[int, int]]
    """Of each kind of cell: how many there are in the design, and on the FPGA."""
    seed: int
    minutes: float
    """That placing, routing and packing took."""
    tool: str


def core_name(config: Config) -> str:
    """A core in few words: a preset, and what differs from it."""
    name, base = min(PRESETS.items(), key=lambda item: len(_changes(item[1], config)))
    return ", ".join([name, *_changes(base, config)])


def _changes(base: Config, config: Config) -> list[str]:
    def told(value: object) -> str:
        return "+".join(sorted(value)) if isinstance(value, frozenset) else str(value)

    return [f"{field.name}={told(getattr(config, field.name))}" for field in fields(Config)
            if getattr(config, field.name) != getattr(base, field.name)]


def load() -> list[Figures]:
    """The table, by board and LUTs."""
    if not TABLE.exists():
        return []
    rows = json.loads(TABLE.read_text(encoding="utf-8"))
    return [Figures(**{**row, "used": {kind: tuple(pair) for kind, pair in row["used"].items()}}) for row in rows]


def record(board: str, parameters: SystemParameters, made: Bitstream, *, seed: int) -> None:
    """Put a bitstream into the table, instead of that of the same core on the same board. Raises OSError."""
    row = Figures(board=board, core=core_name(parameters.config), clock=parameters.clock / 1e6,
                  routed=round(made.frequency, 1), used=made.used, seed=seed, minutes=round(made.seconds / 60, 1),
                  tool=made.tool)
    rows = [each for each in load() if (each.board, each.core) != (row.board, row.core)] + [row]
    rows.sort(key=lambda each: (each.board, each.used["LUTs"]))
    lines = ",\n".join(f"  {json.dumps(asdict(each))}" for each in rows)
    write_atomically(TABLE, f"[\n{lines}\n]\n")


def markdown() -> str:
    """The table for docs/boards.md."""
    kinds = list(load()[0].used)
    lines = [["board", "core", "clock", "routed", *kinds], ["---", "---", *["--:"] * (2 + len(kinds))]]
    for row in load():
        lines.append([row.board, row.core, f"{row.clock:g} MHz", f"{row.routed:.1f} MHz",
                      *(f"{used:,} ({100 * used / there:.0f} %)" for used, there in row.used.values())])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
