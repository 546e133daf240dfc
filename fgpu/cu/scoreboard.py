"""What wavefronts may do while their loads or results are under way."""

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fgpu.config import WAVEFRONT_BITS, WAVEFRONTS
from fgpu.gateware.choose import choose
from fgpu.isa import REGISTER_BITS

from .control_word import ControlWord, Flow, MemoryAccess
from .pipeline import LOADS

__all__ = ["LastIssue", "LoadNote", "Scoreboard"]


class LoadNote(data.Struct):
    """A load or an atomic operation is issued, and will write ``rd``."""

    valid: 1
    wavefront: WAVEFRONT_BITS
    rd: REGISTER_BITS


class LastIssue(data.Struct):
    """The instruction at the vector, if it writes ``rd``."""

    write: 1
    rd: REGISTER_BITS


class Scoreboard(wiring.Component):
    """Knows the registers that wait for data, and tells whether an instruction has to wait with them.

    ``loading`` names the wavefronts with loads under way, from the cycle after ``load`` until that after ``done``,
    which ends the oldest of ``done_wavefront``; with ``local`` memory the oldest there, if ``done_local``, or else in
    global memory (``load_local`` tells where a load is). The instruction in ``control``, of what was ``wavefront`` a
    cycle before, ``depends`` if it reads or writes a register that waited then, changes the flow, stores, is an
    atomic operation, or is a load for which there was no room here; combinational. So no load of a wavefront may come
    in the cycle in which it is asked about. ``reads_rs`` and ``reads_rt`` say which fields of ``control`` count.
    It ``follows`` ``last`` if it reads or writes the register that that writes.
    """

    def __init__(self, local: bool = False) -> None:
        self._local = local
        members: dict[str, Any] = {
            "load": In(LoadNote),
            "done": In(1),
            "done_wavefront": In(WAVEFRONT_BITS),
            "loading": Out(WAVEFRONTS),
            "wavefront": In(WAVEFRONT_BITS),
            "control": In(ControlWord),
            "reads_rs": In(1),
            "reads_rt": In(1),
            "depends": Out(1),
            "last": In(LastIssue),
            "follows": Out(1),
        }
        if local:
            members |= {"load_local": In(1), "done_local": In(1)}
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        control: Any = self.control
        # Of a wavefront's last two loads, the destination; the next one goes to the entry of the older.
        older = Array(Signal(name=f"older{number}") for number in range(WAVEFRONTS))
        both = Array(Signal(name=f"both{number}") for number in range(WAVEFRONTS))

        def uses(register: Any) -> Any:
            return ((register == control.rd) | ((register == control.rs) & self.reads_rs)
                    | ((register == control.rt) & self.reads_rt))

        hits = []
        wavefront_both = both[self.wavefront]
        no_room = Signal()
        m.d.sync += no_room.eq(wavefront_both)
        for entry in range(LOADS):
            m.submodules[f"destinations{entry}"] = memory = Memory(shape=REGISTER_BITS, depth=WAVEFRONTS, init=[])
            write, read = memory.write_port(), memory.read_port(domain="comb")
            m.d.comb += [
                write.addr.eq(self.load.wavefront),
                write.data.eq(self.load.rd),
                write.en.eq(self.load.valid & (older[self.load.wavefront] == entry)),
                read.addr.eq(self.wavefront),
            ]
            waits, destination = Signal(name=f"waits{entry}"), Signal(REGISTER_BITS, name=f"destination{entry}")
            m.d.sync += [waits.eq(wavefront_both | (older[self.wavefront] != entry)), destination.eq(read.data)]
            hits.append(waits & uses(destination))
        is_load = control.memory == MemoryAccess.LOAD
        m.d.comb += self.depends.eq(
            Cat(hits).any() | (control.flow != Flow.NEXT) | ((control.memory != MemoryAccess.NONE) & ~is_load)
            | (is_load & no_room))

        last: Any = self.last
        m.d.comb += self.follows.eq(last.write & uses(last.rd))

        for number in range(WAVEFRONTS):
            comes = self.load.valid & (self.load.wavefront == number)
            goes = self.done & (self.done_wavefront == number)
            overtaken: Any = Const(0)       # the newer one is done
            if self._local:
                kinds = [Signal(name=f"local{number}_{entry}") for entry in range(LOADS)]
                for entry, kind in enumerate(kinds):
                    with m.If(comes & (older[number] == entry)):
                        m.d.sync += kind.eq(self.load_local)
                overtaken = goes & both[number] & (choose(kinds, older[number]) != self.done_local)
            with m.If(comes | overtaken):
                m.d.sync += older[number].eq(~older[number])
            with m.If(comes & ~goes):
                m.d.sync += [self.loading[number].eq(1), both[number].eq(self.loading[number])]
            with m.Elif(goes & ~comes):
                m.d.sync += [self.loading[number].eq(both[number]), both[number].eq(0)]
        return m
