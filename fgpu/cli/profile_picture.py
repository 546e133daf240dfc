"""A profile as a picture: the source, and beside each line the cycles that it took, by what was waited for."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fgpu.sim.looks import COLOURS, LABELS

if TYPE_CHECKING:
    from fgpu.sim.profile import Profile

__all__ = ["draw_profile"]

_WIDTH: Final = 10.0    # inches
_LINE: Final = 0.2
_TOLD: Final = 0.02     # of all cycles: lines with more have their number beside the bar


def draw_profile(profile: "Profile", sources: Mapping[str, Sequence[str]], path: Path) -> None:
    """Draw it; the end of the path's name says the format. ``sources`` are the lines of the files that are there.

    Needs the package ``matplotlib``.
    """
    import matplotlib
    from matplotlib.figure import Figure

    every = max(1, profile.cycles * profile.config.compute_units)
    rows = []
    for file, listed in profile.listing(sources):
        for number, text, line, _ in listed:
            there = text.expandtabs(4) if file in sources else "(no line)"
            rows.append((f"{number:4}  {there}" if number else there, line))
    told = [name for name in COLOURS if profile.total.cycles.get(name)]
    with matplotlib.rc_context({"svg.hashsalt": "fgpu", "svg.fonttype": "none", "font.size": 8}):
        canvas = Figure(figsize=(_WIDTH, 1.1 + _LINE * len(rows)), layout="constrained")
        axes = canvas.subplots()
        lefts = [0.0] * len(rows)
        for name in told:
            shares = [100 * line.cycles[name] / every if line else 0.0 for _, line in rows]
            axes.barh(range(len(rows)), shares, left=lefts, color=COLOURS[name], label=LABELS[name])
            lefts = [left + share for left, share in zip(lefts, shares, strict=True)]
        for row, (_, line) in enumerate(rows):
            if line is not None and lefts[row] >= 100 * _TOLD:
                lanes = f", {100 * line.occupancy:.0f} % of work-items enabled" if line.issues else ""
                axes.text(lefts[row] + 0.5, row, f"{lefts[row]:.0f} %{lanes}", va="center")
        axes.set_yticks(range(len(rows)), [text for text, _ in rows], family="monospace", ha="left")
        longest = max(len(text) for text, _ in rows)
        axes.tick_params(axis="y", length=0, pad=5.2 * longest)
        axes.set_xlim(0, max(lefts) * 1.6)
        axes.set_xlabel("percent of the compute units' cycles")
        axes.invert_yaxis()
        axes.set_title(f"{profile.kernel}: {profile.cycles:,} cycles")
        axes.legend(loc="lower right", frameon=False)
        canvas.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=160)
