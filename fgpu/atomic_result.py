"""What atomic operations make of the old word, in the cache and in local memory."""

from collections.abc import Collection
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal

from fgpu.interfaces.memory_bus import AtomicOp

__all__ = ["atomic_result"]


def atomic_result(m: Module, operations: Collection[str], operation: Any, old: Any, operand: Any,
                  expected: Any) -> Signal:
    """The new word: a sum, a logic function, or one of the operand and the old word; combinational.

    Only ``operations`` are built, of :data:`~fgpu.config.ATOMICS`; ``expected`` is for cmpxchg.
    """
    built = {each: each.name.lower() in operations for each in AtomicOp}
    result, choose, less = Signal(32), Signal(), Signal()
    flip = Signal()
    m.d.comb += [
        # Signed numbers compare like unsigned ones whose upper bit is inverted.
        flip.eq((operation == AtomicOp.MAX) | (operation == AtomicOp.MIN)),
        less.eq(Cat(old[:31], old[31] ^ flip) < Cat(operand[:31], operand[31] ^ flip)),
        result.eq(Mux(choose, operand, old)),
    ]
    choices = {AtomicOp.MAX: less, AtomicOp.UMAX: less, AtomicOp.MIN: ~less, AtomicOp.UMIN: ~less,
               AtomicOp.XCHG: 1, AtomicOp.CMPXCHG: old == expected}
    results = {AtomicOp.ADD: old + operand, AtomicOp.AND: old & operand, AtomicOp.OR: old | operand,
               AtomicOp.XOR: old ^ operand}
    with m.Switch(operation):
        for each, choice in choices.items():
            if built[each]:
                with m.Case(each):
                    m.d.comb += choose.eq(choice)
        for each, value in results.items():
            if built[each]:
                with m.Case(each):
                    m.d.comb += result.eq(value)
    return result
