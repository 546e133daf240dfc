"""What fits the boards: the tables of ``fgpu build --board ?`` and of docs/boards.md, of bitstreams and of counts."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final

from fgpu.config import PRESETS, Config
from fgpu.files import write_atomically

from .bitstream import Bitstream
from .boards import BOARDS, NOT_OFFERED, Board, NotOffered, capacity
from .system import SystemParameters

__all__ = ["COUNTED", "COUNTS", "TABLE", "Figures", "Fit", "clock_of", "core_name", "count", "fits", "fits_markdown",
           "load", "markdown", "record", "told"]

TABLE: Final = Path(__file__).with_name("bitstreams.json")
COUNTS: Final = Path(__file__).with_name("counts.json")
"""What cores take on an ECP5, by :func:`core_name`; ``rest`` is what a board's design takes without one."""
COUNTED: Final = (Config.preset("tiny"), Config(), Config(compute_units=2), Config.preset("float"))
"""The cores that are counted."""


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


def _built() -> dict[tuple[str, str], Figures]:
    """The table's rows by board and core."""
    return {(each.board, each.core): each for each in load()}


def clock_of(board: Board, config: Config) -> int:
    """Hz at which a core runs on a board unless another clock is asked for: that of its bitstream in the table, or
    else the board's."""
    known = _built().get((board.name, core_name(config)))
    return board.clock if known is None else round(known.clock * 1e6)


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
                      *told(row.used)])
    return _rows(lines)


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Whether a core fits a board."""

    board: Board | NotOffered
    core: str
    used: dict[str, tuple[int, int]]
    """As in :class:`Figures`; of a bitstream, or as counted."""
    verdict: str


def count(progress: Callable[[int, int], None] | None = None) -> None:
    """Count anew, by Yosys, what the cores of ``COUNTED`` take; each is noted at once. Raises
    :class:`~fgpu.errors.ToolError`, OSError."""
    from fgpu.tools.area import synthesize

    counts = json.loads(COUNTS.read_text(encoding="utf-8"))
    for config in COUNTED:
        area = synthesize(config, "ecp5", progress=progress).area
        counts[core_name(config)] = {"LUTs": area.all_luts, "flip-flops": area.ffs,
                                     "block RAMs": round(area.block_rams), "multipliers": area.dsps}
        lines = ",\n".join(f"  {json.dumps(core)}: {json.dumps(used)}" for core, used in counts.items())
        write_atomically(COUNTS, f"{{\n{lines}\n}}\n")


def fits() -> list[Fit]:
    """For each board, also those that are not offered, what each core that was counted takes of its FPGA."""
    counts = json.loads(COUNTS.read_text(encoding="utf-8"))
    rest = counts.pop("rest")
    built = _built()
    boards: list[Board | NotOffered] = [*BOARDS.values(), *NOT_OFFERED.values()]
    found = []
    for board in boards:
        there = capacity(board.device)
        for core, counted in counts.items():
            used = {kind: (counted[kind] + rest[kind], there[kind]) for kind in there}
            lacking = [kind for kind, (needed, has) in used.items() if needed > has]
            if (known := built.get((board.name, core))) is not None:
                used, verdict = known.used, f"built: {known.routed:.1f} MHz"
            elif lacking:
                verdict = f"too large: {', '.join(lacking)}"
            else:
                verdict = "fits by count"
            found.append(Fit(board=board, core=core, used=used, verdict=verdict))
    return found


def fits_markdown() -> str:
    """The table of :func:`fits` for docs/boards.md."""
    kinds = list(capacity("LFE5U-85F"))
    lines = [["board", "core", *kinds, ""], ["---", "---", *["--:"] * len(kinds), "---"]]
    lines += [[fit.board.name, fit.core, *told(fit.used), fit.verdict] for fit in fits()]
    return _rows(lines)


def told(used: dict[str, tuple[int, int]]) -> list[str]:
    """Numbers of cells, with their part of what there is."""
    return [f"{number:,} ({100 * number / there:.0f} %)" for number, there in used.values()]


def _rows(lines: list[list[str]]) -> str:
    """In Markdown."""
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
