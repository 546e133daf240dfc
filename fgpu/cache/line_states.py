"""What is known of the cache's lines, and how the cleaner looks through it."""

from amaranth.hdl import Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.config import Config

__all__ = ["GROUP_LINES", "LineState", "Sweep", "part_bits"]

GROUP_LINES = 8
"""Lines whose states are one entry of memory, so that the cleaner sees them all in one cycle."""
_PART_BITS = 3


def part_bits(config: Config) -> int:
    """Bits of the number of a part of the cache: an eighth of the sets, with all their ways, or as few as make a
    group of lines. They are the upper bits of a set's number."""
    return min(_PART_BITS, exact_log2(config.cache_sets // GROUP_LINES))


class LineState(data.Struct):
    """What the tag stage knows of an entry of the cache, besides the tag (dissertation, section 3.5.3).

    A valid line that is not populated holds nothing but its dirty bytes. One that is populated and not valid was
    given up: written back early, before it was complete.
    """

    valid: 1
    populated: 1
    """*Block valid*."""
    dirty: 1

    @property
    def given_up(self) -> Value:
        return ~self.valid & self.populated


class Sweep(wiring.Signature):
    """The cleaner's view of the line states, one group of 8 lines a cycle.

    ``dirty`` shows the lines of ``group`` that are dirty, and ``invalidate`` makes all of them invalid at the end of
    the cycle. No request of a compute unit may be in the tag stage then. One that is there ``uses`` the ``part`` of
    the cache that its line is in: in the others nothing is valid since they were last invalidated.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "group": Out(exact_log2(config.slice_lines // GROUP_LINES)),
            "invalidate": Out(1),
            "dirty": In(GROUP_LINES),
            "uses": In(1),
            "part": In(part_bits(config)),
        })
