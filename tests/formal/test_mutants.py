"""What the mutants of the long tests replace still stands in the design, once: else they would prove nothing."""

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ..cu import test_planted_faults
from . import prover


class _Applied(Exception):
    """A mutant could be made: nobody needs to prove anything of it here."""


def _cases(test: Callable[..., None]) -> Iterator[dict[str, Any]]:
    """The arguments of each run of a test, as its marks say."""
    lists = []
    for mark in getattr(test, "pytestmark", []):
        if mark.name == "parametrize":
            names, rows = mark.args[:2]
            single = isinstance(names, str)
            lists.append([{names: row} if single else dict(zip(names, row, strict=True)) for row in rows])
    for chosen in product(*lists):
        yield {name: value for row in chosen for name, value in row.items()}


def _users() -> Iterator[tuple[ModuleType, Callable[..., None]]]:
    """The tests that make mutants."""
    names = [f"{__package__}.{path.stem}" for path in sorted(Path(__file__).parent.glob("test_*.py"))]
    for module in map(importlib.import_module, [*names, test_planted_faults.__name__]):
        if module.__name__ != __name__ and hasattr(module, "mutant"):
            yield from ((module, test) for name, test in vars(module).items()
                        if name.startswith("test_") and callable(test)
                        and re.search(r"\b(mutant|found)\(", inspect.getsource(test)))


@pytest.mark.parametrize(("module", "test"), [pytest.param(*user, id=f"{user[0].__name__}::{user[1].__name__}")
                                              for user in _users()])
def test_mutants_apply(module: ModuleType, test: Callable[..., None], monkeypatch: pytest.MonkeyPatch,
                       tmp_path: Path) -> None:
    def apply(name: str, old: str, new: str) -> ModuleType:
        prover.mutant(name, old, new)
        raise _Applied

    monkeypatch.setattr(module, "mutant", apply)
    fixtures = {"tmp_path": tmp_path, "monkeypatch": monkeypatch}
    wanted = {name: fixtures[name] for name in inspect.signature(test).parameters if name in fixtures}
    for case in _cases(test):
        with pytest.raises(_Applied):
            test(**case, **wanted)
