"""The tiers of tests: those of the README's command, those that take longer (``ci``), and sweeps (``long``)."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest

__all__ = ["quick"]


def quick(values: Iterable[Any], chosen: Collection[Any]) -> list[Any]:
    """Parameters of a test, of which the ``chosen`` ones run with the README's command, and the others in CI only."""
    values = list(values)
    unknown = [value for value in chosen if value not in values]
    if unknown:
        raise ValueError(f"the quick parameters {unknown} are none of {values}")
    return [value if value in chosen else pytest.param(value, marks=pytest.mark.ci) for value in values]
