"""All floating-point units of a compute unit (figure 3.2, section 7.4)."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from fgpu.config import PE_COUNT, Config
from fgpu.cu.pipeline import SLOT_CYCLES
from fgpu.cu.register_file import Words
from fgpu.gateware.sharing import add_shared

from .format import Format
from .lane import Lane
from .narrow import NarrowControl, NarrowUnits
from .operations import BASE_LATENCY, LATENCY, FloatOp, Slots, lanes_of, narrow_select, operations_of

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

    Operations that fewer than all lanes have (``Config.float_lanes``) are steered by ``narrow``. Their results are
    chosen by one ``select`` for them all, :func:`~fgpu.cu.float.operations.narrow_select`.
    """

    def __init__(self, config: Config) -> None:
        self._operations, self._narrow = operations_of(config.float_ops), lanes_of(config)
        self._number = Format(subnormals=config.float_subnormals)
        members = {
            "operation": In(FloatOp),
            "first": In(Words),
            "second": In(Words),
            "select": In(FloatOp),
            "result": Out(Words),
            "available": Out(1 << FloatOp.as_shape().width),
            "slots": Out(Slots()),
        }
        if self._narrow:
            members["narrow"] = In(NarrowControl())
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for op in sorted(self._operations, key=lambda op: op.value):
            m.d.comb += [
                self.available[op.value].eq(1),
                self.slots[op.value].eq((LATENCY[op] - BASE_LATENCY) // SLOT_CYCLES),
            ]
        if self._narrow:
            narrow = add_shared(m, "narrow", platform, "narrow_floats",
                                lambda: NarrowUnits(self._narrow, self._number))
            connect(m, flipped(self.narrow), narrow.control)
            m.d.comb += [narrow.first.eq(self.first), narrow.second.eq(self.second)]
        wide, elsewhere = self._operations - self._narrow.keys(), narrow_select(self._narrow)
        for number in range(PE_COUNT):
            lane = add_shared(m, f"lane{number}", platform, "float_lane",
                              lambda: Lane(wide, self._number, elsewhere=elsewhere))
            if self._narrow:
                m.d.comb += lane.other.eq(narrow.result[number])
            m.d.comb += [
                lane.operation.eq(self.operation), lane.first.eq(self.first[number]),
                lane.second.eq(self.second[number]), lane.select.eq(self.select),
                self.result[number].eq(lane.result),
            ]
        return m
