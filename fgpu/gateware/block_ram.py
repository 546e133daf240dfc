"""Block RAM for designs that never need what a collision reads."""

from typing import Any

from amaranth.hdl import ShapeLike
from amaranth.lib.memory import Memory

__all__ = ["BlockRam"]


class BlockRam(Memory):
    """A memory in block RAM, initially zero, in which nobody cares what is read at an address that is written in the
    same cycle.

    Families whose block RAM does not return the old word there, like ECP5, otherwise get comparators and a
    multiplexer for each bit. ``tests/core/test_collisions.py`` makes such reads wrong, and programs must not notice.
    """

    def __init__(self, shape: ShapeLike, depth: int, **attributes: Any) -> None:
        super().__init__(shape=shape, depth=depth, init=[],
                         attrs={"ram_style": "block", "no_rw_check": 1, **attributes})
