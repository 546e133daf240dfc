"""A component between registers, as it is placed and routed by itself."""

from typing import Final

from amaranth.hdl import Cat, Elaboratable, Module, Signal, Value
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring
from amaranth.lib.wiring import In

__all__ = ["UNIT", "Registered"]

UNIT: Final = "unit"
"""The component's name in the design."""


class Registered(Elaboratable):
    """A component between registers at all its ports: paths from inputs and to outputs count, too.

    Those registers are wired to ports of the design, or with ``pins``, where each of these would need a pin of the
    device, shifted in from one port, ``first``, and out to another, ``last``: registers of inputs are a shift
    register, and those of outputs are summed up in another one, with one LUT a bit and no path longer than that.
    """

    def __init__(self, unit: wiring.Component, *, pins: bool = False) -> None:
        self.unit, self._pins = unit, pins
        self._inputs: list[tuple[Signal, Signal]] = []
        self._outputs: list[tuple[Signal, Signal]] = []
        for path, member, value in unit.signature.flatten(unit):
            port = Value.cast(value)
            if isinstance(port, Signal):        # and not a constant, such as always_ready
                register = Signal.like(port, name="__".join(map(str, path)))
                (self._inputs if member.flow is In else self._outputs).append((register, port))
        self.first, self.last = Signal(name="first"), Signal(name="last")
        self.ports = {
            **{register.name: (register, PortDirection.Input) for register, _ in self._inputs},
            **{register.name: (register, PortDirection.Output) for register, _ in self._outputs},
        } if not pins else {
            "first": (self.first, PortDirection.Input), "last": (self.last, PortDirection.Output)}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules[UNIT] = self.unit
        for register, port in self._outputs:
            m.d.sync += register.eq(port)
        if not self._pins:
            for pin, port in self._inputs:
                m.d.sync += port.eq(pin)
            return m
        given = Cat(register for register, _ in self._inputs)
        taken = Cat(register for register, _ in self._outputs)
        sums = Signal(len(taken))
        m.d.sync += [given.eq(Cat(self.first, given)), sums.eq(Cat(given[-1:], sums) ^ taken)]
        m.d.comb += [port.eq(register) for register, port in self._inputs]
        m.d.comb += self.last.eq(sums[-1])
        return m
