"""A picture of what each wavefront did when: a row for each slot, coloured by what it waited for."""

from collections import defaultdict
from pathlib import Path
from typing import Final

from ..event_log import EventLog
from ..looks import COLOURS, LABELS

__all__ = ["write_picture"]

_WIDTH: Final = 10.0    # inches
_ROW: Final = 0.16


def write_picture(log: EventLog, path: Path) -> None:
    """Draw the log; the end of the path's name says the format. Some thousand cycles are as much as can be seen.

    Needs the package ``matplotlib``.
    """
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    rows = {wavefront: row for row, wavefront in enumerate(log.parts.wavefronts)}
    bars: dict[str, dict[int, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for stay in log.stays():
        bars[stay.state.name.lower()][rows[stay.unit, stay.slot]].append((stay.start, stay.end - stay.start))
    with matplotlib.rc_context({"svg.hashsalt": "fgpu", "svg.fonttype": "none", "font.size": 8}):
        canvas = Figure(figsize=(_WIDTH, 1.2 + _ROW * len(rows)), layout="constrained")
        axes = canvas.subplots()
        for state, places in bars.items():
            for row, spans in places.items():
                axes.broken_barh(spans, (row - 0.45, 0.9), facecolors=COLOURS[state], linewidth=0)
        axes.set_yticks(range(len(rows)), [f"CU {unit} wavefront {slot}" for unit, slot in rows])
        axes.invert_yaxis()
        axes.set_xlim(log.first, log.end)
        axes.set_xlabel("cycle")
        axes.set_title(f"{log.kernel}: what the wavefronts wait for")
        keys = [Patch(color=COLOURS[state], label=LABELS[state]) for state in COLOURS if state in bars]
        canvas.legend(handles=keys, loc="outside lower center", ncols=len(keys) or 1, frameon=False)
        canvas.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=160)
