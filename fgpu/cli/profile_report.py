"""How a profile looks on the terminal."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from fgpu.sim.profile import Profile

__all__ = ["print_profile"]

_HOT = ((0.2, "bold red"), (0.05, "yellow"), (0.0, ""))


def print_profile(console: Console, profile: "Profile", sources: Mapping[str, list[str]]) -> None:
    """The source with what each line cost, and what that means. ``sources`` are the lines of files that are there."""
    from fgpu.sim.findings import findings
    from fgpu.sim.looks import LABELS
    from fgpu.sim.profile import LineProfile

    every = max(1, profile.cycles * profile.config.compute_units)
    told = [name for name in LABELS if name != "issue" and profile.total.cycles.get(name)]
    table = Table(box=None, pad_edge=False, header_style="cyan")
    for head in ("cycles", "", "issue", *(LABELS[name] for name in told), "lanes", "lines", "fills"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("line", justify="right", style="dim", no_wrap=True)
    table.add_column("", no_wrap=True, overflow="ignore")

    def row(number: str, text: str, line: LineProfile | None) -> None:
        if line is None:
            table.add_row(*[""] * (6 + len(told)), number, Text(text, style="dim"))
            return
        share = line.all_cycles / every
        style = next(style for least, style in _HOT if share >= least)
        spread = f"{line.lines / line.phases:.1f}" if line.phases else ""
        table.add_row(
            f"{line.all_cycles:,}", f"{100 * share:.1f} %", _number(line.cycles["issue"]),
            *(_number(line.cycles[name]) for name in told), f"{100 * line.occupancy:.0f} %" if line.issues else "",
            spread, _number(line.fills), number, Text(text, style=style))

    for file, listed in profile.listing(sources):
        if file:
            table.add_row(*[""] * (6 + len(told)), "", Text(file, style="bold"))
            for each in listed:
                row(str(each.number), each.text, each.profile)
    if None in profile.lines:
        row("", "what has no line", profile.lines[None])
    row("", "all", profile.total)
    console.print("Cycles of the compute units by source line: instructions issued, and what else was waited for;")
    console.print("lanes are the work-items enabled, lines those of the cache that eight work-items access together,")
    console.print("fills what the cache read from memory for it.")
    width, console.width = console.width, 1000
    console.print(table)
    console.width = width
    found = findings(profile)
    for number, finding in enumerate(found, 1):
        console.print(f"{number}. {finding}", soft_wrap=True)


def _number(count: int) -> str:
    return f"{count:,}" if count else ""
