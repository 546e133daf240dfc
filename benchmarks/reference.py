"""Cycles that the reference design takes, measured once."""

import json
from functools import cache
from pathlib import Path

__all__ = ["reference_cycles"]


@cache
def _table() -> dict[tuple[str, int, int, int], int]:
    rows = json.loads((Path(__file__).parent / "reference.json").read_text(encoding="utf-8"))["rows"]
    return {
        (row["kernel"], row["size"], int(units), row["group_size"]): cycles
        for row in rows for units, cycles in row["cycles"].items()
    }


def reference_cycles(kernel: str, size: int, cus: int, group_size: int) -> int | None:
    """Cycles of the reference for a benchmark, its size, compute units and work-group size; None if not measured."""
    return _table().get((kernel, size, cus, group_size))
