"""Events of the cache, for simulators that count them."""

from amaranth.lib import data

__all__ = ["CacheProbe", "CacheProbes"]


class CacheProbe(data.Struct):
    """The events of a slice: one bit for each, high for one cycle each time it happens.

    A read of a line that holds only dirty bytes counts as a miss: it needs a fill.
    """

    read_hit: 1
    read_miss: 1
    write_hit: 1
    write_miss: 1
    pending_hit: 1
    """A read or write hit a line that was still being filled, or for which an older fill was still under way."""
    fill: 1
    """A read burst was requested."""
    fill_merge: 1
    """The burst of a fill goes around dirty bytes that were there before."""
    eviction: 1
    """A write-back was decided, by a miss or by the cleaner."""
    stall_station: 1
    """The tag stage waits for room in the stations."""
    stall_tag_manager: 1
    """The tag stage waits for a free tag manager."""
    stall_victim: 1
    """The tag stage waits for the write-back of the very line it wants, or of the one that it would replace; for each
    dirty line that it replaces a cycle, in which it finds out whether there is one."""
    data_busy: 1
    """The data stage works on a row."""
    data_wait: 1
    """The data stage has a station but cannot go on."""
    axi_read: 1
    """A beat of a read burst."""
    axi_write: 1
    """A beat of a write burst."""


class CacheProbes(data.StructLayout):
    """The events of all slices: for each kind of event a bit for each slice."""

    def __init__(self, slices: int) -> None:
        super().__init__({name: slices for name, _ in CacheProbe.as_shape()})
