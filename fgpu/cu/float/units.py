"""All floating-point units of a compute unit (figure 3.2, section 7.4)."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import PE_COUNT, Config
from fgpu.cu.pipeline import SLOT_CYCLES
from fgpu.cu.register_file import Words
from fgpu.gateware.sharing import add_shared

from .format import Format
from .lane import Lane
from .operations import BASE_LATENCY, LATENCY, FloatOp, Slots, operations_of

__all__ = ["FloatUnits"]


class FloatUnits(wiring.Component):
    """The floating-point units of eight processing elements.

    Takes operands and an ``operation`` in each cycle. The result of operation ``op`` on the operands of cycle t is at
    ``result`` in cycle t + ``LATENCY[op]`` if ``select`` is ``op`` in that same cycle. Without an operation at hand,
    the inputs may be anything.

    ``available`` has a bit for each operation by its code, ``slots`` how many issue slots it takes more than
    ``BASE_LATENCY``. They are constants and the only way in which the rest of a core knows its units, so that cores
    which differ in their units differ in this module alone. There is no reset in it and no other control: it may be a
    partially reconfigurable region.
    """

    def __init__(self, config: Config) -> None:
        self._operations = operations_of(config.float_ops)
        self._number = Format(subnormals=config.float_subnormals)
        super().__init__({
            "operation": In(FloatOp),
            "first": In(Words),
            "second": In(Words),
            "select": In(FloatOp),
            "result": Out(Words),
            "available": Out(1 << FloatOp.as_shape().width),
            "slots": Out(Slots()),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for op in sorted(self._operations, key=lambda op: op.value):
            m.d.comb += [
                self.available[op.value].eq(1),
                self.slots[op.value].eq((LATENCY[op] - BASE_LATENCY) // SLOT_CYCLES),
            ]
        for number in range(PE_COUNT):
            lane = add_shared(m, f"lane{number}", platform, "float_lane",
                              lambda: Lane(self._operations, self._number))
            m.d.comb += [
                lane.operation.eq(self.operation), lane.first.eq(self.first[number]),
                lane.second.eq(self.second[number]), lane.select.eq(self.select),
                self.result[number].eq(lane.result),
            ]
        return m
