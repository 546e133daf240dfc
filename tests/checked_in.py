"""For tests of figures that are checked in."""

from collections.abc import Iterable

import pytest

__all__ = ["demand_unmoved"]


def demand_unmoved(moved: Iterable[str], what: str, file: str, command: str) -> None:
    """Fail with what ``moved``, and with the ``command`` that rewrites ``file``."""
    lines = list(moved)
    if lines:
        pytest.fail("\n".join([f"{what} are not those of {file}:", *lines,
                               f"If that is meant, run `{command}` and commit the file with the change."]),
                    pytrace=False)
