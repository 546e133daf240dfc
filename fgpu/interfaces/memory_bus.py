"""The bus between a compute unit's memory controller and the central cache.

Requests of one compute unit are served in order. A read asks for some rows of one cache line and is
answered by exactly those rows, lowest first, one response for each; a write carries one row and is not
answered; an atomic operation is answered by one row. Hence a compute unit needs no tags to match responses
with requests.

Rows are not held up on their way: a slice begins one only where there is ``room`` for all that may be under way then.
"""

from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import Config

__all__ = ["AtomicOp", "LoadTurn", "Loading", "MemoryOp", "MemoryRequest", "Responses", "Row", "rows_under_way"]


class MemoryOp(enum.Enum, shape=2):
    """Kind of a memory request."""

    READ = 0
    WRITE = 1
    ATOMIC = 2


class AtomicOp(enum.Enum, shape=4):
    """What an atomic operation makes of the old word; equal to the code of its opcode."""

    ADD = 1
    MAX = 2
    MIN = 3
    UMAX = 4
    UMIN = 5
    AND = 6
    OR = 7
    XOR = 8
    XCHG = 9
    CMPXCHG = 10


class Loading(enum.Enum, shape=2):
    """Who loads, so that lines stay in the cache until they are used up."""

    ALL = 0
    ONE_WAVEFRONT = 1
    """One wavefront of each compute unit at a time."""
    ONE_UNIT = 2
    """And of one compute unit."""


class LoadTurn(data.Struct):
    """What a compute unit is told of that: whether the cache is ``crowded``, so that one wavefront loads at a time,
    and whether it is the ``unit`` whose wavefronts do."""

    crowded: 1
    unit: 1


class Row(data.ArrayLayout):
    """The 32-bit words that the cache reads or writes in one cycle."""

    def __init__(self, config: Config) -> None:
        super().__init__(32, config.row_words)


def rows_under_way(config: Config) -> int:
    """Rows for a compute unit that come although it has told no more ``room``: those that are begun in the cycle in
    which it does, and in the one before it, and those that were begun by then and have not come."""
    return 4 + bool(config.atomics)


class Responses(wiring.Signature):
    """Rows from a slice of the cache to a compute unit, as the slice sees it: ``payload`` where ``valid``.

    ``room``: in the cycle before, there was room for :func:`rows_under_way` more. A row that is begun with ``room``
    comes, and is taken, whatever ``room`` says by then.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({"payload": Out(Row(config)), "valid": Out(1), "room": In(1)})


class MemoryRequest(data.StructLayout):
    """One coalesced access of a wavefront to one cache line: to the place ``line`` in a ``slice`` of the cache, as
    :class:`~fgpu.interfaces.line_map.LineMap` says.

    ``rows`` has a bit for each row of the line: the rows to read, or the single row to write.
    ``row``, ``strobe`` (a bit for each byte) and ``whole`` (all of these are set) matter for writes. For atomic
    operations ``strobe`` has the bytes of the word, word 0 of ``row`` is the operand, word 1 the expected value of
    cmpxchg, and word 0 of the answer the old word; what else is in the answer is of no use.
    ``scattered`` matters for reads: none of the rows is for two work-items of a phase.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "op": MemoryOp,
            "slice": config.slice_bits,
            "line": config.line_address_bits,
            "rows": config.line_rows,
            "row": Row(config),
            "strobe": config.row_words * 4,
            "whole": 1,
            **({"operation": AtomicOp} if config.atomics else {}),
            **({"scattered": 1} if config.cache_conscious else {}),
        })
