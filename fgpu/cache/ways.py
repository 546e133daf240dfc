"""Which way of a set a request is for: the one that has its line, or one that was not used lately."""

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Cat, Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import data

from fgpu.config import Config
from fgpu.gateware.choose import choose, number_of, only
from fgpu.gateware.lut_ram import LutRam

from .line_states import LineState
from .payloads import TagOp, set_bits

__all__ = ["UsedWay", "choose_way", "memory_of_each_way"]


def memory_of_each_way(m: Module, config: Config, name: str, shape: ShapeLike, depth: int) -> list[LutRam]:
    """A memory for each way, submodules of ``m`` called by ``name`` and, if there are several, the way's number."""
    each = [LutRam(shape, depth) for _ in range(config.cache_ways)]
    for way, memory in enumerate(each):
        m.submodules[f"{name}{way}" if len(each) > 1 else name] = memory
    return each


@dataclass(frozen=True)
class UsedWay:
    """The entry in step T1, by set and way, if T1 ``serves`` a compute unit there or ``scrubs`` it."""

    serves: Value
    scrubs: Value
    set: Value
    way: Signal


def choose_way(m: Module, config: Config, way: Signal, request: Any, entries: list[tuple[Signal, Value]],
               used: UsedWay, step: Value) -> tuple[Value, Value]:
    """Assign the ``way`` of the entry for ``request``, in T0; returns whether that has the line, and its state.

    ``entries``: of each way of the set, whether the tag is that of the line, and the state. With each ``step`` the
    request goes on to T1, and the way that it has ``used`` there is noted, in the submodule ``idle_ways`` of ``m``.
    """
    low = set_bits(config)
    # A way of each set that was not used lately: the next one, whenever it is used.
    m.submodules.idle_ways = idle_ways = LutRam(len(way), config.cache_sets)
    read, write = idle_ways.read_port(), idle_ways.write_port()
    t1_idle_way = Signal(len(way))
    uses = used.serves | used.scrubs
    m.d.comb += [
        read.addr.eq(request.line[:low]),
        write.addr.eq(used.set),
        # The last way of a set that is scrubbed is its highest: then the first is next, whatever was there.
        write.data.eq(Mux(used.scrubs | (t1_idle_way == used.way), used.way + 1, t1_idle_way)),
        write.en.eq(uses),
    ]
    idle_way = Mux(uses & (used.set == request.line[:low]), write.data, read.data)
    with m.If(step):
        m.d.sync += t1_idle_way.eq(idle_way)
    names_entry = Signal()
    m.d.comb += names_entry.eq((request.op == TagOp.CLEAN) | (request.op == TagOp.SCRUB))
    here = Cat(match & data.View(LineState, state).valid & ~names_entry for match, state in entries)
    # Whether tags match is known late: the state of the entry otherwise is chosen beside that.
    otherwise = Signal.like(way, name="otherwise")
    m.d.comb += [
        otherwise.eq(Mux(names_entry, request.line[low:], idle_way)),
        way.eq(Mux(here.any(), number_of(here), otherwise)),
    ]
    states = [state for _, state in entries]
    return here.any(), Mux(here.any(), only(states, here), choose(states, otherwise))
