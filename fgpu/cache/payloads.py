"""What travels between the units of the central cache."""

from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2, exact_log2

from fgpu.config import Config
from fgpu.interfaces.memory_bus import AtomicOp, Row

__all__ = ["Allocation", "MarkedRow", "MarkedWord", "Station", "TagManagerPort", "TagOp", "TagRequest", "TagWrite",
           "Tags", "WriteRow", "cu_bits", "index_bits", "row_bits", "set_bits", "tag_manager_bits"]


def index_bits(config: Config) -> int:
    """Bits of the number of an entry of the cache, which holds a line: its set, and above that its way."""
    return exact_log2(config.slice_lines)


def set_bits(config: Config) -> int:
    """Bits of the number of a set: the low bits of a line address."""
    return exact_log2(config.cache_sets)


def row_bits(config: Config) -> int:
    """Bits of the number of a row in its line."""
    return exact_log2(config.line_rows)


def tag_manager_bits(config: Config) -> int:
    """Bits of the number of a tag manager, which is its AXI id too (of a read: the lower bits of it)."""
    return ceil_log2(config.slice_tag_managers + config.slice_retirements)


def cu_bits(config: Config) -> int:
    """Bits of the number of a compute unit (at least one)."""
    return max(1, exact_log2(config.compute_units))


class TagOp(enum.Enum, shape=3):
    """What the tag stage is asked to do with a line."""

    READ = 0
    WRITE = 1
    CLEAN = 2
    """Write the dirty bytes of the line back."""
    SCRUB = 3
    """Forget the dirty bytes of the line."""
    RETIRE = 4
    """Write the line back if it is still here, and complete or full of dirty bytes only."""
    ATOMIC = 5


class TagRequest(data.StructLayout):
    """A request on its way to the tag stage. The row of a write waits in the write queue instead.

    ``whole`` and ``scattered`` are those of :class:`~fgpu.interfaces.memory_bus.MemoryRequest`.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "op": TagOp,
            "line": config.line_address_bits,
            "rows": config.line_rows,
            "whole": 1,
            "cu": cu_bits(config),
            **({"scattered": 1} if config.cache_conscious else {}),
        })


class Tags(data.ArrayLayout):
    """The tags of a set, one of each way."""

    def __init__(self, config: Config) -> None:
        super().__init__(config.line_address_bits - set_bits(config), config.cache_ways)


class TagWrite(data.StructLayout):
    """If ``valid``, what is from now on the tag of a way of a set."""

    def __init__(self, config: Config) -> None:
        super().__init__({
            "valid": 1,
            "set": set_bits(config),
            "way": exact_log2(config.cache_ways),
            "tag": Tags(config).elem_shape,
        })


class WriteRow(data.StructLayout):
    """The row of a write and a bit for each of its bytes that is to be written; or an atomic operation."""

    def __init__(self, config: Config) -> None:
        super().__init__({
            "row": Row(config),
            "strobe": config.row_words * 4,
            **({"operation": AtomicOp} if config.atomics else {}),
        })


class Station(data.StructLayout):
    """A request whose line is settled, waiting for its turn at the data RAM.

    ``rows`` are the rows to read, or the one to write or to operate on; ``first`` is the lowest, or 0 of a walk, and
    ``single`` tells that there is no other. ``walk`` asks for a pass over all rows
    of the line, which writes the dirty bytes back (``evict``), brings the line in (``fill``), around the dirty
    bytes if ``merge``, or just forgets the dirty bytes, which with ``keep`` stay as clean ones. ``spares`` is the
    opposite of ``write``, for another part of the data stage.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "index": index_bits(config),
            "rows": config.line_rows,
            "first": row_bits(config),
            "single": 1,
            "cu": cu_bits(config),
            "write": 1,
            "spares": 1,
            **({"atomic": 1} if config.atomics else {}),
            "walk": 1,
            "fill": 1,
            "merge": 1,
            "evict": 1,
            "keep": 1,
            "tag_manager": tag_manager_bits(config),
        })


class Allocation(data.StructLayout):
    """What a tag manager is to look after: a line to ``fill``, the dirty line ``victim`` to ``evict``, or both.

    ``retire`` takes one of the tag managers for early write-backs.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({"fill": 1, "evict": 1, "retire": 1, "victim": config.line_address_bits})


class TagManagerPort(wiring.Signature):
    """Between the tag stage and the tag managers, as the tag stage sees it.

    ``allocations`` take the tag manager ``spare``, or ``spare_retirement`` for a ``retire``. ``conflict``: an older
    copy of ``line`` is on its way to memory; ``victim_conflict``: what leaves the entry at ``index`` was a cycle ago,
    by an early write-back, or another line that was there. With ``step``, ``next_line`` will be ``line`` in the next
    cycle, so that it is compared before; else ``line`` stays. An allocation comes with a step.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "allocations": Out(stream.Signature(Allocation(config))),
            "spare": In(tag_manager_bits(config)),
            "spare_retirement": In(tag_manager_bits(config), init=config.slice_tag_managers),
            "step": Out(1),
            "next_line": Out(config.line_address_bits),
            "line": Out(config.line_address_bits),
            "conflict": In(1),
            "index": Out(index_bits(config)),
            "victim_conflict": In(1),
        })


class MarkedWord(data.Struct):
    """A word and its dirty bytes."""

    word: 32
    dirty: 4


class MarkedRow(data.ArrayLayout):
    """A row and its dirty bytes."""

    def __init__(self, config: Config) -> None:
        super().__init__(MarkedWord, config.row_words)
