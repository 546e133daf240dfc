"""What atomic operations make of the old word, in the cache and in local memory."""

from collections.abc import Collection
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal

from fgpu.gateware.choose import choose
from fgpu.interfaces.memory_bus import AtomicOp

__all__ = ["atomic_result"]


def atomic_result(m: Module, operations: Collection[str], operation: Any, old: Any, operand: Any,
                  expected: Any) -> Signal:
    """The new word: a sum, a logic function, or one of the operand and the old word; combinational.

    Only ``operations`` are built, of :data:`~fgpu.config.ATOMICS`; ``expected`` is for cmpxchg.
    """
    built = {each for each in AtomicOp if each.name.lower() in operations}
    chosen, less, flip = Signal(), Signal(), Signal()
    m.d.comb += [
        # Signed numbers compare like unsigned ones whose upper bit is inverted.
        flip.eq((operation == AtomicOp.MAX) | (operation == AtomicOp.MIN)),
        less.eq(Cat(old[:31], old[31] ^ flip) < Cat(operand[:31], operand[31] ^ flip)),
    ]
    choices = {AtomicOp.MAX: less, AtomicOp.UMAX: less, AtomicOp.MIN: ~less, AtomicOp.UMIN: ~less,
               AtomicOp.XCHG: 1, AtomicOp.CMPXCHG: old == expected, AtomicOp.OR: 1}
    with m.Switch(operation):
        for each, choice in choices.items():
            if each in built:
                with m.Case(each):
                    m.d.comb += chosen.eq(choice)
    # What comes late, and two bits that are known early, choose of three words with one LUT a bit.
    either, total = Mux(chosen, operand, old), (old + operand)[:32]
    logic = Mux(chosen, old | operand, old & operand)
    values = [(either, choices.keys() - {AtomicOp.OR}), (total, {AtomicOp.ADD}),
              (logic, {AtomicOp.AND, AtomicOp.OR}), (old ^ operand, {AtomicOp.XOR})]
    add, xor = operation == AtomicOp.ADD, operation == AtomicOp.XOR
    index = Cat(add | xor, (operation == AtomicOp.AND) | (operation == AtomicOp.OR) | xor)
    result = Signal(32)
    m.d.comb += result.eq(choose([value if members & built else 0 for value, members in values], index))
    return result
