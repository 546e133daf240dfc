"""The atomic unit: reads, changes and writes a word of the data RAM in a pipeline of its own."""

from typing import Any

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.atomic_result import atomic_result
from fgpu.config import Config
from fgpu.interfaces.memory_bus import AtomicOp, Row

from .payloads import WriteRow, cu_bits, index_bits, row_bits

__all__ = ["AtomicUnit", "WordWrite"]


class AtomicStep(data.StructLayout):
    """An operation on its way: the ``word`` of the row at ``address``, and whom to answer."""

    def __init__(self, config: Config) -> None:
        super().__init__({
            "address": row_bits(config) + index_bits(config),
            "word": exact_log2(config.row_words),
            "cu": cu_bits(config),
            "operation": AtomicOp,
            "operand": 32,
            "expected": 32 if "cmpxchg" in config.atomics else 0,
        })


class WordWrite(data.StructLayout):
    """A write of one whole word of the data RAM, which becomes dirty."""

    def __init__(self, config: Config) -> None:
        super().__init__({
            "valid": 1,
            "address": row_bits(config) + index_bits(config),
            "word": exact_log2(config.row_words),
            "content": 32,
        })


class AtomicUnit(wiring.Component):
    """Executes the operations of ``config.atomics`` on words of the data RAM, one a cycle, on any addresses.

    It goes along with the data stage. D0, in the cycle of ``load``, takes operands and ``address``. D1 has the
    row of the data RAM and selects the word; it ends with ``go``. A1 computes, and answers with the ``old`` word
    (``valid``). A2 writes the new one (``write``). What A1 and A2 still hold, and what the RAM took in the cycle
    in which D0 read it, is forwarded, so that operations on one word need not wait for each other.

    All other accesses of a row must wait in D0 while an operation on it is in D1, A1 or A2 (``conflict``).
    (Dissertation, section 3.5.5, whose unit keeps one address at a time, outside of the cache.)
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        address = row_bits(config) + index_bits(config)
        super().__init__({
            "load": In(1),
            "request": In(WriteRow(config)),
            "address": In(address),
            "cu": In(cu_bits(config)),
            "conflict": Out(1),
            "row": In(Row(config)),
            "go": In(1),
            "valid": Out(1),
            "old": Out(32),
            "old_cu": Out(cu_bits(config)),
            "write": Out(WordWrite(config)),
            "idle": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        d1, a1 = Signal(AtomicStep(config)), Signal(AtomicStep(config))
        d1_valid, a1_valid = Signal(), Signal()
        a2, a3 = Signal(WordWrite(config)), Signal(WordWrite(config))

        def same(one: Any, other: Any) -> Any:
            return (one.address == other.address) & (one.word == other.word)

        # D0
        request = self.request
        number = Signal(range(config.row_words))
        for word in range(config.row_words):
            with m.If(request.strobe[4 * word]):
                m.d.comb += number.eq(word)
        with m.If(self.load):
            m.d.sync += [
                d1_valid.eq(1),
                d1.address.eq(self.address),
                d1.word.eq(number),
                d1.cu.eq(self.cu),
                d1.operation.eq(request.operation),
                d1.operand.eq(request.row[0]),
            ]
            if "cmpxchg" in config.atomics:
                m.d.sync += d1.expected.eq(request.row[1])
        with m.Elif(self.go):
            m.d.sync += d1_valid.eq(0)
        m.d.comb += self.conflict.eq(
            (d1_valid & (d1.address == self.address)) | (a1_valid & (a1.address == self.address))
            | (a2.valid & (a2.address == self.address)))

        # D1: the word, if need be as A2 or the one before left it. A1 will be A2 in the next cycle.
        a1_word, a1_follows = Signal(32), Signal()
        content = Signal(32)
        m.d.comb += content.eq(Array(self.row)[d1.word] if config.row_words > 1 else self.row[0])
        with m.If(a2.valid & same(a2, d1)):
            m.d.comb += content.eq(a2.content)
        with m.Elif(a3.valid & same(a3, d1)):
            m.d.comb += content.eq(a3.content)
        m.d.sync += [
            a1_valid.eq(d1_valid & self.go),
            a1.eq(d1),
            a1_word.eq(content),
            a1_follows.eq(a1_valid & same(a1, d1)),
        ]

        # A1, A2, and the operation before that of A2.
        m.d.comb += [
            self.valid.eq(a1_valid),
            self.old.eq(Mux(a1_follows, a2.content, a1_word)),
            self.old_cu.eq(a1.cu),
            self.write.eq(a2),
            self.idle.eq(~d1_valid & ~a1_valid & ~a2.valid),
        ]
        result = atomic_result(m, config.atomics, a1.operation, self.old, [a1.operand], [a1.expected])
        m.d.sync += [
            a2.valid.eq(a1_valid),
            a2.address.eq(a1.address),
            a2.word.eq(a1.word),
            a2.content.eq(result),
            a3.eq(a2),
        ]
        return m
