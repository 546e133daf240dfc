"""What the documents say of the tree is so: the files that they name exist, and the README's cycles are measured."""

import json
import re
from pathlib import Path

import pytest

from fgpu.benchmarks import baseline

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(path for pattern in ("*.md", "docs/*.md", "examples/**/*.md", "tests/**/*.md")
                   for path in ROOT.glob(pattern))
_FOLDERS = "benchmarks|compiler|docs|examples|fgpu|sim|tests"
_RUN = re.compile(r"^\| (\w+), ([\d,]+)(?: x \d+| words|, 12 taps)? \| ([\d,]+) \|", re.MULTILINE)
_TIMING = ROOT / "benchmarks/timing.json"
_MICROSECONDS = re.compile(r"^\| `\w+` \| 1,024 \| 1 \| ([\d,]+) \| ([\d,.]+) \| ([\d.]+) \|", re.MULTILINE)
_NAMED = re.compile(rf"`((?:{_FOLDERS})/[\w./*-]*)`|\]\(([\w./-]+)(?:#[\w-]*)?\)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_exist(document: Path) -> None:
    named = [each for each in _NAMED.findall(document.read_text(encoding="utf-8")) if "..." not in each[0]]
    missing = [code or link for code, link in named
               if not (list(ROOT.glob(code.rstrip("/"))) if code else (document.parent / link).exists())]
    assert not missing


def test_the_readme_has_the_cycles_of_the_baselines() -> None:
    counts, checked = baseline.load(), []
    for name, size, cycles in _RUN.findall((ROOT / "README.md").read_text(encoding="utf-8")):
        elements = int(size.replace(",", "")) ** (2 if name == "matmul" else 1)
        assert (name, int(cycles.replace(",", ""))) == (name, counts[f"{name} {elements}"]["cycles"])
        checked.append(name)
    assert checked == ["copy", "vec_add", "fir", "matmul"]


def test_the_microseconds_are_those_of_the_clock_that_is_checked_in() -> None:
    clock, checked = json.loads(_TIMING.read_text(encoding="utf-8"))["core"]["routed"], 0
    for cycles, microseconds, mhz in _MICROSECONDS.findall((ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")):
        taken = round(int(cycles.replace(",", "")) / clock, 3)      # as records have it
        assert (microseconds, mhz) == (f"{taken:,.1f}", f"{clock:.1f}")
        checked += 1
    assert checked > 80
