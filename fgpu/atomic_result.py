"""What atomic operations make of the old word, in the cache and in local memory."""

from collections.abc import Collection
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.gateware.choose import choose, either
from fgpu.interfaces.memory_bus import AtomicOp

__all__ = ["AtomicWords", "atomic_result"]

_ORDERED = {AtomicOp.MAX, AtomicOp.UMAX, AtomicOp.MIN, AtomicOp.UMIN}
_LOGIC = {AtomicOp.AND, AtomicOp.OR}
_ADDER = {AtomicOp.ADD, AtomicOp.XOR}


class AtomicWords(wiring.Component):
    """The old word beside the operand and beside what cmpxchg expects, each of which is the OR of ``parts`` words.

    One adder: ``total`` is the sum, or with ``subtracts`` the difference, and ``less`` says that this is negative,
    for unsigned words. ``differs`` has the bits in which old word and operand differ, with ``subtracts`` inverted.
    Combinational.

    A module of its own, because Yosys otherwise makes a half more LUTs of it and what follows.
    """

    def __init__(self, parts: int = 1, *, compares: bool = True) -> None:
        self._compares = compares
        words = data.ArrayLayout(32, parts)
        super().__init__({
            "old": In(32), "operand": In(words), "subtracts": In(1),
            "differs": Out(32), "total": Out(32), "less": Out(1),
            **({"expected": In(words), "equal": Out(1)} if compares else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        second, total = Signal(32), Signal(34)
        m.d.comb += [
            second.eq(either(self.operand) ^ self.subtracts.replicate(32)),
            self.differs.eq(self.old ^ second),
            total.eq(Cat(self.subtracts, self.old) + Cat(self.subtracts, second)),
            self.total.eq(total[1:]), self.less.eq(~total[33]),
        ]
        if self._compares:
            m.d.comb += self.equal.eq(self.old == either(self.expected))
        return m


def atomic_result(m: Module, operations: Collection[str], operation: Any, old: Any, operand: Any,
                  expected: Any) -> Signal:
    """The new word: a sum, a logic function, or one of the operand and the old word; combinational.

    Only ``operations`` are built, of :data:`~fgpu.config.ATOMICS`; ``expected`` is for cmpxchg. ``operand`` and
    ``expected`` are the parts of a word, as for :class:`AtomicWords`.
    """
    built = {each for each in AtomicOp if each.name.lower() in operations}

    def is_one(members: Collection[AtomicOp]) -> Value:
        return Cat(operation == each for each in AtomicOp if each in built and each in members).any()

    m.submodules.words = words = AtomicWords(len(operand), compares=AtomicOp.CMPXCHG in built)
    chosen, less = Signal(), Signal()
    m.d.comb += [
        words.old.eq(old), words.subtracts.eq(is_one(_ORDERED)),
        *(mine.eq(given) for mine, given in zip(words.operand, operand, strict=True)),
        # Signed numbers with different signs compare the other way.
        less.eq(words.less ^ (is_one({AtomicOp.MAX, AtomicOp.MIN}) & ~words.differs[31])),
    ]
    choices: dict[AtomicOp, Any] = {
        AtomicOp.MAX: less, AtomicOp.UMAX: less, AtomicOp.MIN: ~less, AtomicOp.UMIN: ~less,
        AtomicOp.XCHG: 1, AtomicOp.OR: 1, AtomicOp.XOR: 1}
    if AtomicOp.CMPXCHG in built:
        m.d.comb += [mine.eq(given) for mine, given in zip(words.expected, expected, strict=True)]
        choices[AtomicOp.CMPXCHG] = words.equal
    with m.Switch(operation):
        for each, choice in choices.items():
            if each in built:
                with m.Case(each):
                    m.d.comb += chosen.eq(choice)
    # What comes late, and two bits that are known early, choose of three words with one LUT a bit. The operand is
    # what differs from what differs.
    differs = words.differs
    values = [(Mux(chosen, old ^ differs, old), {AtomicOp.XCHG, AtomicOp.CMPXCHG}),
              (Mux(chosen, ~(old ^ differs), old), _ORDERED),
              (Mux(chosen, old | differs, old & ~differs), _LOGIC),
              (Mux(chosen, differs, words.total), _ADDER)]
    index = Cat(is_one(_ORDERED | _ADDER), is_one(_LOGIC | _ADDER))
    result = Signal(32)
    m.d.comb += result.eq(choose([value if members & built else 0 for value, members in values], index))
    return result
