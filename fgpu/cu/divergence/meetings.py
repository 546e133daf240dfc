"""Work-items meet where the program says: at the place that a ``meet`` before the branch names.

A stack holds the paths that wait (PATH), below those of a meeting the one around it (OPEN), and calls. The innermost
meeting, where it is and who is there, is in registers. Each wavefront's controller compares its PC with the place;
there an issue slot goes to ``JOIN``: the next path of the meeting runs, or, if there is none, all who are there go
on. Who returns is not waited for. Branches without a place have their paths in the meeting around them.

Requests are served one after the other: 3 cycles for a branch that does not part and for ``meet``, 4 for ``JOIN`` and
what pops an entry, 5 for a branch that parts, and one more where that opens a meeting; a return to a call within a
meeting, and out of one in which nobody waits, takes 2 more for each.
"""

from typing import Any, ClassVar

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Out
from amaranth.utils import exact_log2

from fgpu.config import WAVEFRONT_SIZE, WAVEFRONTS, Config
from fgpu.fault import FAULT_PC_BITS
from fgpu.gateware.block_ram import BlockRam
from fgpu.gateware.choose import number_of

from ..control_word import Flow
from .interface import DivergenceUnit, Outcome, OutcomeKind
from .turns import Turns

__all__ = ["Ipdom", "Masks", "Meetings", "Tokens"]


class Masks:
    """Who waits where: masks, in the entries of the stack and of the innermost meeting.

    ``path``: the work-items of the entry that is read, a path's or a call's; ``there``: those who have come to the
    meeting; ``parked``: to the barrier.
    """

    def __init__(self, m: Module, unit: "Meetings", turns: Turns) -> None:
        self._m, self._unit, self._turns = m, unit, turns
        m.submodules.there = memory = Memory(shape=WAVEFRONT_SIZE, depth=WAVEFRONTS, init=[])
        m.submodules.parked = parked = Memory(shape=WAVEFRONT_SIZE, depth=WAVEFRONTS, init=[])
        look, keep = memory.read_port(domain="comb"), memory.write_port()
        self._park, look_parked = parked.write_port(), parked.read_port(domain="comb")
        self.there = Signal(WAVEFRONT_SIZE, name="there")
        with m.If(turns.serve):
            m.d.sync += self.there.eq(look.data)
        m.d.comb += [
            look.addr.eq(number_of(turns.mine)), keep.addr.eq(turns.work.wavefront), keep.data.eq(self.there),
            keep.en.eq(unit.finished), self._park.addr.eq(turns.work.wavefront),
            look_parked.addr.eq(turns.work.wavefront),
        ]
        self.path, self.parked = unit.read.data.mask, look_parked.data

    def start(self, number: int) -> None:
        """A wavefront has no entries any more."""

    def push(self, mask: Any) -> None:
        """Of the entry that is written."""
        self._m.d.comb += self._unit.write.data.mask.eq(mask)

    def call(self) -> None:
        """The entry that is written is that of a call."""
        self.push(self._turns.work.mask)

    def open(self) -> None:
        """The entry that is written is that of the meeting until now; nobody is at the new one."""
        self.push(self.there)
        self._m.d.sync += self.there.eq(0)

    def come(self, mask: Any) -> None:
        """To the innermost meeting."""
        self._m.d.sync += self.there.eq(self.there | mask)

    def close(self) -> None:
        """The entry that is read is that of the meeting from now on."""
        self._m.d.sync += self.there.eq(self._unit.read.data.mask)

    def pop(self) -> None:
        """Who is in the entry that is read goes on."""

    def back(self) -> None:
        """Who is in the call that is read goes on."""

    def leave(self) -> None:
        """Who runs has returned."""

    def arrive(self) -> None:
        """Who is at the barrier goes on."""

    def park(self, mask: Any) -> None:
        """These are all who are at the barrier."""
        self._m.d.comb += [self._park.en.eq(1), self._park.data.eq(mask)]


class Meetings(DivergenceUnit):
    """Resolves control instructions, one after the other: 3 to 6 cycles each, and 2 more for a meeting that is closed
    or opened again (see above). A wavefront's stack has ``config.link_stack_depth`` entries; one more is an
    ``OVERFLOW``.

    ``waits``, a bit for each wavefront: it has a meeting, at ``tops`` (``FAULT_PC_BITS`` bits for each wavefront).
    Both change in the cycle after the outcome.
    """

    meets = True
    stops_behind = False
    annotated = True
    store: ClassVar[Any] = Masks

    def __init__(self, config: Config) -> None:
        self.depth_bits = exact_log2(config.link_stack_depth)
        self.fields: dict[str, int] = {"mask": WAVEFRONT_SIZE}      # of an entry, for the store
        super().__init__(waits=Out(WAVEFRONTS), tops=Out(data.ArrayLayout(FAULT_PC_BITS, WAVEFRONTS)))

    def _taken_first(self, turns: Turns) -> Any:
        raise NotImplementedError

    def elaborate(self, platform: object) -> Module:
        m = Module()
        turns = Turns(m, self)
        work = turns.work
        wavefront = work.wavefront
        self.finished = Signal()

        # ``on_path``: the entry below is a path's. ``had``: a call is within a meeting; an open meeting in another.
        entry = data.StructLayout({"pc": FAULT_PC_BITS, "on_path": 1, "had": 1, **self.fields})
        m.submodules.stack = stack = BlockRam(entry, WAVEFRONTS << self.depth_bits)
        self.write: Any = stack.write_port()
        self.read: Any = stack.read_port()
        write, read = self.write, self.read

        # The state of the wavefront that is served, and what it is copied to.
        self.level = level = Signal(self.depth_bits + 1)
        on_path, meets, place = Signal(), Signal(), Signal(FAULT_PC_BITS)
        levels = [Signal.like(level, name=f"level{number}") for number in range(WAVEFRONTS)]
        on_paths = [Signal(name=f"on_path{number}") for number in range(WAVEFRONTS)]
        turns.latch(m, levels, level)
        turns.latch(m, on_paths, on_path)
        turns.latch(m, [self.waits[number] for number in range(WAVEFRONTS)], meets)
        turns.latch(m, [self.tops[number] for number in range(WAVEFRONTS)], place)
        for number in range(WAVEFRONTS):
            with m.If(self.finished & (wavefront == number)):
                m.d.sync += [levels[number].eq(level), on_paths[number].eq(on_path), self.waits[number].eq(meets),
                             self.tops[number].eq(place)]

        # What the last ``meet`` named, and where those at the barrier go on.
        m.submodules.named = named = Memory(shape=FAULT_PC_BITS, depth=WAVEFRONTS, init=[])
        name, look_named = named.write_port(), named.read_port(domain="comb")
        m.submodules.behind = behind = Memory(shape=FAULT_PC_BITS, depth=WAVEFRONTS, init=[])
        set_behind, look_behind = behind.write_port(), behind.read_port(domain="comb")
        has_name, has_parked = Signal(WAVEFRONTS), Signal(WAVEFRONTS)
        is_named, is_parked = has_name.bit_select(wavefront, 1), has_parked.bit_select(wavefront, 1)
        new_place, opens = Signal(FAULT_PC_BITS), Signal()
        m.d.comb += [
            name.addr.eq(wavefront), name.data.eq(work.target), look_named.addr.eq(wavefront),
            set_behind.addr.eq(wavefront), set_behind.data.eq(work.next), look_behind.addr.eq(wavefront),
        ]
        store = self.store(m, self, turns)
        came = work.mask | Mux(is_parked, store.parked, 0)
        some_there = Signal()       # a cycle late

        outcome: Any = Signal(Outcome)
        mask, changes = Signal(WAVEFRONT_SIZE), Signal()
        carry: Any = Signal(data.StructLayout({"pc": FAULT_PC_BITS, "mask": WAVEFRONT_SIZE}))
        m.d.comb += [
            self.outcome.eq(outcome), self.outcome.valid.eq(self.finished),
            self.mask_write.valid.eq(self.finished & changes),
            self.mask_write.wavefront.eq(wavefront), self.mask_write.mask.eq(mask),
            outcome.wavefront.eq(wavefront),
            write.addr.eq(Cat(level[:self.depth_bits], wavefront)), write.data.on_path.eq(on_path),
            read.addr.eq(Cat((level - 1)[:self.depth_bits], wavefront)),
        ]
        m.d.sync += [self.finished.eq(0), some_there.eq(store.there.any())]
        full = level[self.depth_bits]

        def goes(kind: OutcomeKind, pc: Any = 0, who: Any = None) -> None:
            m.d.sync += [outcome.kind.eq(kind), outcome.pc.eq(pc)]
            if who is not None:
                m.d.sync += [changes.eq(1), mask.eq(who)]

        def done() -> None:
            m.d.sync += self.finished.eq(1)
            m.next = "Idle"

        def push(pc: Any, had: Any) -> None:
            """An entry, or, if there is none, the end."""
            m.d.comb += [write.data.pc.eq(pc), write.data.had.eq(had), write.en.eq(~full)]
            m.d.sync += level.eq(level + 1)

        def pop() -> None:
            m.d.sync += [level.eq(level - 1), on_path.eq(read.data.on_path)]

        def close() -> None:
            m.d.sync += [meets.eq(read.data.had), place.eq(read.data.pc)]
            pop()
            store.close()

        def overflow() -> None:
            goes(OutcomeKind.OVERFLOW)
            m.d.sync += changes.eq(0)
            done()

        with m.FSM():
            with m.State("Idle"):
                m.d.sync += changes.eq(0)
                with m.If(turns.waiting):
                    m.d.comb += turns.serve.eq(1)
                    m.next = "Decide"
            with m.State("Decide"):
                m.d.comb += read.en.eq(1)
                m.d.sync += [new_place.eq(look_named.data), opens.eq(is_named)]
                with m.Switch(work.flow):
                    with m.Case(Flow.BRANCH):
                        m.d.sync += is_named.eq(0)
                        goes(OutcomeKind.JUMP, work.target)
                        with m.If(~turns.taken.any()):
                            goes(OutcomeKind.RESUME)
                        with m.If(turns.parts):
                            m.next = "Part"
                        with m.Else():
                            done()
                    with m.Case(Flow.MEET):
                        m.d.comb += name.en.eq(1)
                        m.d.sync += is_named.eq(1)
                        goes(OutcomeKind.RESUME)
                        done()
                    with m.Case(Flow.CALL):
                        goes(OutcomeKind.JUMP, work.target)
                        m.d.sync += opens.eq(meets)
                        m.next = "Call"
                        with m.If(meets):
                            push(place, 1)
                            store.open()
                            m.d.sync += [on_path.eq(0), meets.eq(0)]
                            with m.If(full):
                                overflow()
                    with m.Case(Flow.JOIN):
                        store.come(work.mask)
                        m.next = "Pop"
                        with m.If(~on_path):
                            m.next = "Close"
                    with m.Case(Flow.SYNC):
                        store.park(came)
                        m.d.comb += set_behind.en.eq(1)
                        m.d.sync += is_parked.eq(1)
                        m.next = "Back"
                    with m.Default():       # RETURN
                        store.leave()
                        m.next = "Back"
            with m.State("Part"):
                first = Mux(self._taken_first(turns), turns.taken, turns.others)
                goes(OutcomeKind.JUMP, Mux(self._taken_first(turns), work.target, work.next), first)
                m.d.sync += [
                    carry.mask.eq(Mux(self._taken_first(turns), turns.others, turns.taken)),
                    carry.pc.eq(Mux(self._taken_first(turns), work.next, work.target)),
                ]
                m.next = "Push"
                with m.If(opens & ~(meets & (place == new_place))):
                    m.next = "Open"
            with m.State("Open"):       # a meeting in the one until now
                push(place, meets)
                store.open()
                m.d.sync += [on_path.eq(0), meets.eq(1), place.eq(new_place)]
                m.next = "Push"
                with m.If(full):
                    overflow()
            with m.State("Push"):
                with m.If(meets & (carry.pc == place)):
                    store.come(carry.mask)
                    done()
                with m.Else():
                    push(carry.pc, 0)
                    store.push(carry.mask)
                    m.d.sync += on_path.eq(1)
                    done()
                    with m.If(full):
                        overflow()
            with m.State("Call"):
                push(work.next, opens)
                store.call()
                m.d.sync += on_path.eq(0)
                done()
                with m.If(full):
                    overflow()
            with m.State("Pop"):        # a path
                goes(OutcomeKind.JUMP, read.data.pc, store.path)
                store.pop()
                pop()
                done()
            with m.State("Close"):      # all are there
                goes(OutcomeKind.JUMP, place, store.there)
                store.pop()
                close()
                done()
            with m.State("Back"):       # nobody runs
                with m.If(on_path):
                    m.next = "Pop"
                with m.Elif(meets):
                    m.next = "Close"
                    with m.If(~some_there):
                        close()
                        m.next = "Again"
                with m.Elif(work.flow == Flow.SYNC):
                    goes(OutcomeKind.ARRIVE, work.next, came)
                    store.arrive()
                    m.d.sync += is_parked.eq(0)
                    done()
                with m.Elif(level == 0):
                    goes(OutcomeKind.RETIRE)
                    with m.If(is_parked):
                        goes(OutcomeKind.ARRIVE, look_behind.data, store.parked)
                        store.arrive()
                    m.d.sync += is_parked.eq(0)
                    done()
                with m.Else():          # to where all of them were called from
                    goes(OutcomeKind.JUMP, read.data.pc, store.path)
                    store.back()
                    pop()
                    done()
                    with m.If(read.data.had):
                        m.d.sync += self.finished.eq(0)
                        m.next = "Look"
            with m.State("Again"):
                m.d.comb += read.en.eq(1)
                m.next = "Back"
            with m.State("Look"):
                m.d.comb += read.en.eq(1)
                m.next = "Reopen"
            with m.State("Reopen"):
                close()
                done()

        for number in range(WAVEFRONTS):
            with m.If(self.start[number]):
                m.d.sync += [levels[number].eq(0), on_paths[number].eq(0), self.waits[number].eq(0),
                             has_parked[number].eq(0), has_name[number].eq(0)]
                store.start(number)
        return m


class Ipdom(Meetings):
    """The smaller part runs first, as in the cores Vortex and Ventus."""

    def _taken_first(self, turns: Turns) -> Any:
        return turns.fewer


class Tokens(Meetings):
    """Those that jump run first, as in NVIDIA's patent US 7,353,369, whose DIV and SYNC tokens are PATH and OPEN."""

    def _taken_first(self, turns: Turns) -> Any:
        return 1
