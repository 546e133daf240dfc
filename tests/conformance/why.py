"""Why subtests fail that do: said here where their programs' own words do not tell."""

from collections.abc import Mapping
from typing import Final

__all__ = ["WHY"]

WHY: Final[Mapping[str, str]] = {}
"""By ``group/subtest``, or by ``group``."""
