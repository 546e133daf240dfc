"""Registers that are there twice, because so much depends on them that one would be far from most of it."""

from typing import Any

from amaranth.hdl import Module, Signal, Value

__all__ = ["twins"]


def twins(m: Module, value: Any, name: str) -> tuple[Signal, Signal]:
    """Two registers of ``value``, 1 cycle late, of which the first comes out of a reset as 0 and the second as ones.

    So synthesis tools keep them apart, which make one of registers that are always equal. Only for what nothing
    depends on in the first cycle.
    """
    value = Value.cast(value)
    width = len(value)
    registers = Signal(width, name=f"{name}_0"), Signal(width, name=f"{name}_1", init=(1 << width) - 1)
    m.d.sync += [register.eq(value) for register in registers]
    return registers
