"""What the documents say of the tree is so: the files that they name exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(path for pattern in ("*.md", "docs/*.md", "examples/**/*.md", "tests/**/*.md")
                   for path in ROOT.glob(pattern))
_FOLDERS = "benchmarks|compiler|docs|examples|fgpu|sim|tests"
_NAMED = re.compile(rf"`((?:{_FOLDERS})/[\w./*-]*)`|\]\(([\w./-]+)(?:#[\w-]*)?\)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_exist(document: Path) -> None:
    named = [each for each in _NAMED.findall(document.read_text(encoding="utf-8")) if "..." not in each[0]]
    missing = [code or link for code, link in named
               if not (list(ROOT.glob(code.rstrip("/"))) if code else (document.parent / link).exists())]
    assert not missing
