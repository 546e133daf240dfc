"""A profile as one HTML page that needs nothing else: source with heat, disassembly beside it, a roofline."""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from fgpu.compiler.assembler.disassembler import instruction_text
from fgpu.config import PE_COUNT
from fgpu.sim.findings import findings
from fgpu.sim.looks import COLOURS, LABELS
from fgpu.sim.profile import BUCKETS

if TYPE_CHECKING:
    from fgpu.sim.profile import LineProfile, Profile

__all__ = ["profile_page"]

_COLOURS: Final = {name: COLOURS[name] for name in BUCKETS}
_STYLE: Final = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 76em; padding: 0 1em; color: #222 }
h1 { font-size: 1.4em } h2 { font-size: 1.1em; margin-top: 2em }
table { border-collapse: collapse; width: 100% } td, th { padding: 0 .6em; text-align: right; white-space: nowrap }
th { font-weight: 600; border-bottom: 1px solid #bbb; position: sticky; top: 0; background: #fff }
td.source { text-align: left; white-space: pre; font-family: ui-monospace, monospace; width: 100% }
td.number { color: #888 } tr.quiet { color: #999 } summary { cursor: pointer }
tr.quiet td.source { padding-left: 1.75em }
pre { margin: .2em 0 .6em 2em; font-size: 12px; color: #444 } .bar { display: flex; height: 1.3em; margin: .5em 0 }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em } svg text { font-size: 12px }
"""


def profile_page(profile: "Profile", sources: Mapping[str, Sequence[str]]) -> str:
    """The page. ``sources`` are the lines of the files that are there."""
    every = max(1, profile.cycles * profile.config.compute_units)
    found = "".join(f"<li>{escape(str(finding))}</li>" for finding in findings(profile))
    title = f"Profile of {escape(profile.kernel)}"
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{_STYLE}</style>"
        f"<h1>{title}</h1><p>{profile.cycles:,} cycles on {profile.config.compute_units} compute units, "
        f"{profile.total.issues:,} wavefront instructions, {100 * profile.total.occupancy:.0f} percent of the "
        f"work-items of each enabled.</p>{_bar(profile, every)}<h2>What matters</h2><ol>{found}</ol>"
        f"<h2>Source</h2>{''.join(_source(profile, sources, every))}<h2>Roofline</h2>{_roofline(profile)}</html>\n")


def _bar(profile: "Profile", every: int) -> str:
    """Where all cycles went."""
    parts = [(name, profile.total.cycles[name] / every) for name in _COLOURS]
    bars = "".join(f'<div style="width:{100 * share:.2f}%;background:{_COLOURS[name]}"></div>'
                   for name, share in parts)
    keys = "".join(f'<span class=key style="background:{_COLOURS[name]}"></span>{LABELS[name]} '
                   f"{100 * share:.1f} %" for name, share in parts if share)
    idle = 100 - 100 * sum(share for _, share in parts)
    return f'<div class=bar style="background:#eee">{bars}</div><p>{keys}<span class=key></span>idle {idle:.1f} %</p>'


def _source(profile: "Profile", sources: Mapping[str, Sequence[str]], every: int) -> Iterator[str]:
    told = [name for name in _COLOURS if profile.total.cycles[name]]
    heads = "".join(f"<th>{LABELS[name]}</th>" for name in told)
    for file, listed in profile.listing(sources):
        yield f"<h3>{escape(file) or 'without a line'}</h3><table><tr><th>cycles</th><th></th>{heads}"
        yield '<th title="work-items enabled">lanes</th><th title="of the cache, for eight work-items">lines</th>'
        yield '<th title="read from memory by the cache">fills</th>'
        yield "<th></th><th></th></tr>"
        for number, text, line, words in listed:
            if line is not None:
                yield _row(profile, number, escape(text), line, words, told, every)
            else:
                yield (f"<tr class=quiet>{'<td></td>' * (5 + len(told))}<td class=number>{number}</td>"
                       f"<td class=source>{escape(text)}</td></tr>")
        yield "</table>"


def _row(profile: "Profile", number: int, text: str, line: "LineProfile", words: Sequence[int], told: Sequence[str],
         every: int) -> str:
    share = line.all_cycles / every
    code = "\n".join(
        f"{profile.of([word]).all_cycles:>10,}  {word:5}  "
        f"{escape(instruction_text(int(profile.words[word]), word) if word < len(profile.words) else '')}"
        for word in words)
    cells = "".join(f"<td>{line.cycles[name]:,}</td>" if line.cycles[name] else "<td></td>" for name in told)
    lanes = f"{100 * line.occupancy:.0f} %" if line.issues else ""
    spread = f"{line.lines / line.phases:.1f}" if line.phases else ""
    return (f'<tr style="background:rgba(225,87,89,{min(0.8, 2 * share):.3f})"><td>{line.all_cycles:,}</td>'
            f"<td>{100 * share:.1f} %</td>{cells}<td>{lanes}</td><td>{spread}</td><td>{line.fills or ''}</td>"
            f"<td class=number>{number or ''}</td><td class=source><details><summary>{text or '&nbsp;'}</summary>"
            f"<pre>{code}</pre></details></td></tr>")


def _roofline(profile: "Profile") -> str:
    """Work-item instructions in a cycle over those for each byte that AXI moved; both axes in powers of two."""
    moved = sum(count for name, count in profile.stats.items() if name.endswith(("read_bytes", "write_bytes")))
    peak = PE_COUNT * profile.config.compute_units
    bandwidth = profile.config.axi_ports * profile.config.axi_data_width // 8
    rate = profile.total.work_items / max(1, profile.cycles)
    if not moved or not rate:
        return "<p>Nothing moved between cache and memory: there is no roof.</p>"
    intensity = profile.total.work_items / moved
    ridge = peak / bandwidth
    left, right = math.log2(min(intensity, ridge)) - 2, math.log2(max(intensity, ridge)) + 2
    top, bottom = math.log2(peak) + 0.5, math.log2(min(rate, peak / 8)) - 1

    def at(x: float, y: float) -> tuple[float, float]:
        return (60 + 560 * (math.log2(x) - left) / (right - left),
                20 + 240 * (top - math.log2(y)) / (top - bottom))

    start = max(2 ** left, 2 ** bottom / bandwidth)
    roof = [at(start, start * bandwidth), at(ridge, peak), at(2 ** right, peak)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in roof)
    x, y = at(intensity, rate)
    limit = min(peak, bandwidth * intensity)
    return (f'<svg viewBox="0 0 660 310" width=660 role=img><polyline points="{line}" fill=none stroke=#555 '
            f'stroke-width=2 /><line x1=60 y1=260 x2=620 y2=260 stroke=#bbb /><line x1=60 y1=20 x2=60 y2=260 '
            f'stroke=#bbb /><circle cx={x:.1f} cy={y:.1f} r=6 fill=#e15759 /><text x={x + 10:.1f} y={y + 4:.1f}>'
            f"{rate:.2f} a cycle, {100 * rate / limit:.0f} % of the roof</text><text x=620 y={roof[-1][1] - 6:.1f} "
            f"text-anchor=end>{peak} work-items a cycle</text><text x={roof[0][0] + 8:.1f} y={roof[0][1]:.1f}>"
            f"{bandwidth} bytes a cycle</text><text x=340 y=290 text-anchor=middle>work-item instructions for each "
            "byte between cache and memory</text></svg>")
