"""Accesses of the host to words, one at a time: what they are, and which unit answers them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

__all__ = ["AddressRange", "WordAnswer", "WordBusSignature", "WordRequest", "WordRouter"]


class WordRequest(data.Struct):
    """An access to a word of 32 bits."""

    address: 32
    """Of words. From 2^30 on, where their bytes have addresses beyond 32 bits, there is nothing."""
    write: 1
    data: 32


class WordAnswer(data.Struct):
    """What came of it."""

    data: 32
    """Of a read."""
    error: 1


class WordBusSignature(wiring.Signature):
    """Requests and their answers, seen from who asks: one request is followed by its answer before the next."""

    def __init__(self) -> None:
        super().__init__({
            "requests": Out(stream.Signature(WordRequest)), "answers": In(stream.Signature(WordAnswer)),
        })

    def create(self, *, path: tuple[str | int, ...] | None = None, src_loc_at: int = 0) -> Any:
        """An interface with these streams."""
        return wiring.PureInterface(self, path=path or (), src_loc_at=1 + src_loc_at)


@dataclass(frozen=True)
class AddressRange:
    """Bytes ``base`` to ``base + size - 1``, aligned to the size, a power of two."""

    base: int
    size: int

    def holds(self, word_address: Any) -> Any:
        """Whether a word's address, a value of 32 bits, is in it."""
        bits = exact_log2(self.size)
        if self.base % self.size:
            raise ValueError(f"0x{self.base:08X} is not aligned to 0x{self.size:X} bytes")
        return word_address[bits - 2:] == self.base >> bits


class WordRouter(wiring.Component):
    """Leads accesses to the target whose range has their address; answers the others with an error.

    Requests and answers pass in the cycle in which they come. The answer to what no target has comes a cycle after
    the request, with data of ones only. ``ranges`` are those of ``targets``, in their order.
    """

    def __init__(self, ranges: Sequence[AddressRange]) -> None:
        self._ranges = tuple(ranges)
        super().__init__({
            "host": In(WordBusSignature()), "targets": Out(WordBusSignature()).array(len(self._ranges)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        requests, answers = self.host.requests, self.host.answers
        nobody = Signal()       # has to answer
        asked = Signal(len(self._ranges))       # who was
        is_there = Signal(len(self._ranges))
        m.d.comb += [*(bit.eq(each.holds(requests.payload.address))
                       for bit, each in zip(is_there, self._ranges, strict=True)),
                     answers.payload.eq(data.Const(WordAnswer.as_shape(), (1 << 32) - 1 | 1 << 32))]
        with m.If(~is_there.any()):
            m.d.comb += requests.ready.eq(~nobody)
        for number, target in enumerate(self.targets):
            m.d.comb += [
                target.requests.valid.eq(requests.valid & is_there[number]),
                target.requests.payload.eq(requests.payload),
                target.answers.ready.eq(answers.ready),
            ]
            with m.If(is_there[number]):
                m.d.comb += requests.ready.eq(target.requests.ready)
            with m.If(asked[number]):
                m.d.comb += [answers.valid.eq(target.answers.valid), answers.payload.eq(target.answers.payload)]
        with m.If(nobody):
            m.d.comb += answers.valid.eq(1)
        with m.If(answers.valid & answers.ready):
            m.d.sync += nobody.eq(0)
        with m.If(requests.valid & requests.ready):
            m.d.sync += [asked.eq(is_there), nobody.eq(Mux(is_there.any(), 0, 1))]
        return m
