"""``fgpu plot``: figures from the results of ``fgpu bench``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fgpu.errors import AmbiguousRunsError, LaunchError
from fgpu.extras import demand

from .groups import command

if TYPE_CHECKING:
    from fgpu.benchmarks import Record
    from fgpu.benchmarks.figures import Figure

__all__ = ["plot"]

_SIZE = (9.0, 4.5)      # inches
_FORMATS = ("svg", "png", "pdf")
_COLUMNS = 6
_PANEL = 1.3            # inches
_BARS = 0.8             # of the room of a group


@command(short_help="Draw the dissertation's figures from the results of `fgpu bench`.")
@click.argument("results", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), default=Path("figures"),
              show_default=True, metavar="DIR", help="Folder of the figures.")
@click.option("--format", "suffix", type=click.Choice(_FORMATS), default=_FORMATS[0], show_default=True,
              help="Of the figures' files.")
@click.option("--axi-ports", "ports", type=int, metavar="N", help="Only of runs with so many AXI ports.")
@click.option("--latency", metavar="N|varies", help="Only of runs with such a latency of memory.")
def plot(results: tuple[Path, ...], output: Path, suffix: str, ports: int | None, latency: str | None) -> None:
    """Draw figures 6.2 and 6.8 to 6.11 of the dissertation from RESULTS, files that `fgpu bench --json` wrote, and
    what local memory gains from those of `fgpu bench --suite work-groups`; how cycles scale from those of several
    `--axi-ports`; and SIMD occupancy, cycles and area of schemes of divergence from those of `fgpu bench --suite
    divergence --divergence all`.

    Figures that the results have nothing for are left out, and those for which runs differ in what they cannot show:
    of several AXI ports or latencies, --axi-ports and --latency choose one. Where a run is there several times, the
    last one counts.

    \b
    Example:
      fgpu bench --suite chapter6 --sizes 64,1024,4096 --cus 1,4 --json chapter6.jsonl
      fgpu plot chapter6.jsonl -o figures
    """
    demand("fgpu plot", "plot", "sim")
    import matplotlib

    from fgpu.benchmarks.figures import FIGURES, Measurements
    from fgpu.benchmarks.results import read_records

    matplotlib.rcParams.update({"svg.hashsalt": "fgpu", "font.size": 8})     # the same figure gives the same file
    found = Measurements(_chosen([record for path in results for record in read_records(path)], ports, latency))
    figures: dict[str, Figure] = {}
    ambiguous: dict[str, list[str]] = {}
    for name, make in FIGURES.items():
        try:
            figures[name] = make(found)
        except AmbiguousRunsError as error:
            ambiguous.setdefault(str(error), []).append(name)
    for text, names in ambiguous.items():
        click.echo(f"left out: figure {', '.join(names)}: {text}", err=True)
    for name, figure in figures.items():
        if not figure.series and not figure.is_extra:
            click.echo(f"figure {name} is left out: the results have nothing for it", err=True)
    drawn = {name: figure for name, figure in figures.items() if figure.series}
    if not drawn and ambiguous:
        raise AmbiguousRunsError("no figure can be drawn of these runs")
    if not drawn:
        raise LaunchError("the results have nothing for any figure; they need runs of fgpu bench --suite chapter6")
    output.mkdir(parents=True, exist_ok=True)
    for name, figure in drawn.items():
        path = output / f"figure-{name}.{suffix}"
        _draw(figure).savefig(path, metadata={"Date": None} if suffix == "svg" else None)
        click.echo(f"wrote {path}: {figure.title}")


def _chosen(records: "list[Record]", ports: int | None, latency: str | None) -> "list[Record]":
    """The records of these AXI ports, which the scalar processor has none of, and of this latency."""
    from fgpu.benchmarks.scalar import SCALAR
    from fgpu.benchmarks.scaling import latency_name

    if ports is not None:
        there = {record.hardware.axi_ports for record in records if record.engine != SCALAR}
        records = [record for record in records if record.engine == SCALAR or record.hardware.axi_ports == ports]
        _check("--axi-ports", ports, there)
    if latency is not None:
        _check("--latency", latency, {latency_name(record.latency) for record in records})
        records = [record for record in records if latency_name(record.latency) == latency]
    return records


def _check(option: str, value: int | str, there: "set[Any]") -> None:
    if value not in there:
        raise LaunchError(f"the results have no runs with {option} {value}; "
                          f"there are {', '.join(map(str, sorted(there))) or 'none'}")


def _draw(figure: "Figure") -> Any:
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=_SIZE, layout="constrained")
    if figure.panels:
        _panels(canvas, figure)
        return canvas
    if figure.beside:
        canvas.set_size_inches(_SIZE[0], _SIZE[1] * 0.75 * (1 + len(figure.beside)))
        for place, each in zip(canvas.subplots(1 + len(figure.beside)), (figure, *figure.beside), strict=True):
            _axes(place, each)
    else:
        _axes(canvas.add_subplot(), figure)
    if len(figure.series) > 1:
        lines, labels = canvas.axes[0].get_legend_handles_labels()
        canvas.legend(*((lines, labels) if figure.beside else ()), loc="outside right upper")
    return canvas


def _axes(axes: Any, figure: "Figure") -> None:
    title = f"{figure.title} (as figure {figure.name})" if figure.name[0].isdigit() else figure.title
    axes.set(title=title, xlabel=figure.x, ylabel=figure.y)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    if figure.lines:
        _lines(axes, figure.series, "-o")
        axes.set_yscale("log")
        axes.set_xscale("log", base=2)
    else:
        _bars(axes, figure)
    if figure.right:
        right = axes.twinx()
        right.set(ylabel=figure.right_y)
        _lines(right, figure.right, "--s")


def _panels(canvas: Any, figure: "Figure") -> None:
    """Small multiples: one line in each, with the same axes for all, and the reference's where it is known."""
    columns = min(_COLUMNS, len(figure.series))
    rows = -(-len(figure.series) // columns)
    canvas.set_size_inches(_SIZE[0], max(_SIZE[1], 1.0 + rows * _PANEL))
    canvas.suptitle(f"{figure.title} (as figure {figure.name.partition('-')[0]})")
    canvas.supxlabel(figure.x)
    canvas.supylabel(figure.y)
    panels = canvas.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    panels = list(panels.flat)
    lines = {}
    for axes, (label, values) in zip(panels, figure.series.items(), strict=False):
        axes.set_title(label)
        axes.grid(alpha=0.3)
        [lines["this design"]] = axes.plot(list(values), list(values.values()), "-o", color="C0", markersize=3)
        reference = figure.reference.get(label, {})
        if reference:
            [lines["reference"]] = axes.plot(list(reference), list(reference.values()), "--s", color="C1",
                                             markersize=3)
        axes.set_yscale("log")
        axes.set_xscale("log", base=2)
    for axes in panels[len(figure.series):]:
        axes.remove()
    if len(lines) > 1:
        canvas.legend(lines.values(), lines.keys(), loc="outside right upper")


def _lines(axes: Any, series: Any, style: str) -> None:
    for label, values in series.items():
        axes.plot(list(values), list(values.values()), style, label=label, markersize=3, linewidth=1)


def _bars(axes: Any, figure: "Figure") -> None:
    groups = list(dict.fromkeys(x for values in figure.series.values() for x in values))
    groups.sort(key=lambda group: group == "mean")
    width = _BARS / len(figure.series)
    for index, (label, values) in enumerate(figure.series.items()):
        places = [groups.index(x) + (index + 0.5) * width - _BARS / 2 for x in values]
        bars = axes.bar(places, list(values.values()), width, label=label)
        axes.bar_label(bars, fmt=lambda value: f"{value:,.0f}" if value >= 1000 else f"{value:.3g}", fontsize=5,
                       rotation=90, padding=2)
    axes.set_xticks(range(len(groups)), groups, rotation=45, ha="right")
    axes.margins(x=0.01, y=0.12)
