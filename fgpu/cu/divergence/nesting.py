"""What the schemes with meetings keep of a wavefront: entries of its stack, its innermost meeting, and places."""

from typing import TYPE_CHECKING, Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data
from amaranth.lib.memory import Memory

from fgpu.config import WAVEFRONTS
from fgpu.fault import FAULT_PC_BITS
from fgpu.gateware.block_ram import BlockRam

from .answer import Answer
from .turns import Turns

if TYPE_CHECKING:
    from .meetings import Meetings

__all__ = ["Places", "Stack"]


class Stack:
    """The ``level`` entries of the wavefront that is served, and its innermost meeting, which is in registers.

    It ``meets`` at ``place``; the entry on top is a path's if ``on_path``. An entry keeps for when it is popped:
    ``on_path`` of the entry below; ``had``, of a call that it is within a meeting, of an open meeting that it is in
    another; and the ``fields`` of who waits. That on top is read with ``read.en``, and there in the next cycle.
    """

    def __init__(self, m: Module, unit: "Meetings", turns: Turns, answer: Answer) -> None:
        self._m = m
        self.depth_bits = bits = unit.depth_bits
        wavefront = turns.work.wavefront
        entry = data.StructLayout({"pc": FAULT_PC_BITS, "on_path": 1, "had": 1, **unit.fields})
        m.submodules.stack = stack = BlockRam(entry, WAVEFRONTS << bits)
        self.write: Any = stack.write_port()
        self.read: Any = stack.read_port()
        self.level = Signal(bits + 1)
        self.full = self.level[bits]
        self.on_path = Signal()
        self.meets = Signal()
        self.place = Signal(FAULT_PC_BITS)
        self._levels = [Signal.like(self.level, name=f"level{number}") for number in range(WAVEFRONTS)]
        self._on_paths = [Signal(name=f"on_path{number}") for number in range(WAVEFRONTS)]
        answer.keep((self._levels, self.level), (self._on_paths, self.on_path),
                    ([unit.waits[number] for number in range(WAVEFRONTS)], self.meets),
                    ([unit.tops[number] for number in range(WAVEFRONTS)], self.place))
        m.d.comb += [
            self.write.addr.eq(Cat(self.level[:bits], wavefront)), self.write.data.on_path.eq(self.on_path),
            self.read.addr.eq(Cat((self.level - 1)[:bits], wavefront)),
        ]

    def push(self, pc: Any, had: Any) -> None:
        """An entry, if there is room."""
        self._m.d.comb += [self.write.data.pc.eq(pc), self.write.data.had.eq(had), self.write.en.eq(~self.full)]
        self._m.d.sync += self.level.eq(self.level + 1)

    def pop(self) -> None:
        """The entry that is read."""
        self._m.d.sync += [self.level.eq(self.level - 1), self.on_path.eq(self.read.data.on_path)]

    def close(self) -> None:
        """The entry that is read is that of the meeting from now on."""
        self._m.d.sync += [self.meets.eq(self.read.data.had), self.place.eq(self.read.data.pc)]
        self.pop()

    def start(self, number: int) -> None:
        """A wavefront has no entries any more."""
        self._m.d.sync += [self._levels[number].eq(0), self._on_paths[number].eq(0)]


class Places:
    """What the last ``meet`` of the wavefront in ``work`` named, and where those at the barrier go on.

    ``named`` and ``behind`` are the places, ``is_named`` and ``is_parked`` tell whether there are any.
    """

    def __init__(self, m: Module, work: Any) -> None:
        self._m = m
        m.submodules.named = named = Memory(shape=FAULT_PC_BITS, depth=WAVEFRONTS, init=[])
        self._name, look_named = named.write_port(), named.read_port(domain="comb")
        m.submodules.behind = behind = Memory(shape=FAULT_PC_BITS, depth=WAVEFRONTS, init=[])
        self._set_behind, look_behind = behind.write_port(), behind.read_port(domain="comb")
        self._has_name = Signal(WAVEFRONTS, name="has_name")
        self._has_parked = Signal(WAVEFRONTS, name="has_parked")
        self.is_named = self._has_name.bit_select(work.wavefront, 1)
        self.is_parked = self._has_parked.bit_select(work.wavefront, 1)
        self.named, self.behind = look_named.data, look_behind.data
        m.d.comb += [
            self._name.addr.eq(work.wavefront), self._name.data.eq(work.target), look_named.addr.eq(work.wavefront),
            self._set_behind.addr.eq(work.wavefront), self._set_behind.data.eq(work.next),
            look_behind.addr.eq(work.wavefront),
        ]

    def name(self) -> None:
        """The target of ``work``."""
        self._m.d.comb += self._name.en.eq(1)
        self._m.d.sync += self.is_named.eq(1)

    def park(self) -> None:
        """Some go on behind ``work``."""
        self._m.d.comb += self._set_behind.en.eq(1)
        self._m.d.sync += self.is_parked.eq(1)

    def start(self, number: int) -> None:
        """A wavefront has neither."""
        self._m.d.sync += [self._has_parked[number].eq(0), self._has_name[number].eq(0)]
