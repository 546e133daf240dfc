"""What a slice of the cache does with which line, for simulators that keep a log of it."""

from amaranth.lib import data

from .payloads import TagOp

__all__ = ["LineLog"]


class LineLog(data.Struct):
    """One slice in one cycle, at the places where :class:`~fgpu.cache.probe.CacheProbe` counts. Addresses are those
    of lines, in bytes. Meaningless in a cycle that is not ``valid``: then nothing of this happens."""

    valid: 1
    request: 1
    """The tag stage has settled a request of a compute unit: a ``hit``, or a miss."""
    op: TagOp
    unit: 3
    """The compute unit."""
    hit: 1
    line: 32
    fill: 1
    """``line`` is read from memory, by the tag manager ``manager``."""
    eviction: 1
    """``victim`` will be written back, by the same."""
    victim: 32
    manager: 6
    write_back: 1
    """The write burst of the tag manager ``writes`` is requested."""
    writes: 6
    filled: 1
    """The line of the tag manager ``fills`` is in the cache."""
    fills: 6
    written: 1
    """The write burst of the tag manager ``wrote`` is in memory."""
    wrote: 6
