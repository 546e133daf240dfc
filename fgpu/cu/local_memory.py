"""Local memory of a compute unit: a queue of phases, and the way of their accesses through the banks."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import PE_COUNT, PHASE_BITS, PHASES, WAVEFRONT_BITS, Config
from fgpu.gateware.choose import number_of, only
from fgpu.gateware.lut_ram import LutRam
from fgpu.interfaces.memory_bus import AtomicOp
from fgpu.isa import REGISTER_BITS

from .control_word import Width
from .local_access import LOCAL_BANK_BITS, LOCAL_BANKS, LocalAccess, LocalAddress, row_bits
from .local_arbiter import LANE_PAIRS, LanePairs, LocalArbiter
from .local_atomics import LocalAtomics
from .local_banks import LocalBanks
from .local_step import LocalProbe, LocalSteps
from .register_file import WordHalves, Words

__all__ = ["LOCAL_PHASES", "LocalMemory"]

LOCAL_PHASES = 4 * PHASES
"""Phases that wait at most; those of instructions on their way through the vector count, too."""


class _Kind(data.Struct):
    """What a phase of accesses is, and where its words go."""

    load: 1
    atomic: 1
    operation: AtomicOp
    width: Width
    wavefront: WAVEFRONT_BITS
    phase: PHASE_BITS
    rd: REGISTER_BITS
    last: 1
    lanes: PE_COUNT


class _Plan(data.StructLayout):
    """A phase without its data. Rows count from ``base``; bytes that do not matter are 0."""

    def __init__(self, config: Config) -> None:
        super().__init__({"kind": _Kind, "base": row_bits(config),
                          "addresses": data.ArrayLayout(LocalAddress(config), PE_COUNT)})


class _Step(data.Struct):
    """Lanes of a phase that are served together, on their way.

    ``sources``: for each lane that loads its bank, for each bank that stores its lane. ``result``: what is stored is
    that of an atomic operation. ``final``: nothing is left of the phase.
    """

    valid: 1
    load: 1
    atomic: 1
    result: 1
    returns: 1
    final: 1
    last: 1
    served: PE_COUNT
    lanes: PE_COUNT
    sources: data.ArrayLayout(LOCAL_BANK_BITS, PE_COUNT)
    leader: LOCAL_BANK_BITS
    write: LOCAL_BANKS
    width: Width
    operation: AtomicOp
    wavefront: WAVEFRONT_BITS
    phase: PHASE_BITS
    rd: REGISTER_BITS
    place: range(LOCAL_PHASES)


class LocalMemory(wiring.Component):
    """Serves phases of accesses in order: in a cycle all lanes of one that meet no bank twice, for different words.

    ``reserve`` announces an instruction's phases at issue (0 to 8), and ``ready`` says whether eight more would find
    room. A phase takes as many cycles as the fullest bank has different words (of narrow stores: different bytes or
    halves). An atomic operation takes two cycles for each lane, but five if two lanes have one word. What reads comes
    three cycles behind what wrote. Latency from ``access`` to the crossbar (``steps``) 4 cycles. ``halves``: what
    that gave out in the cycle before. ``idle``: nothing is under way.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        members: dict[str, Any] = {
            "access": In(LocalAccess(config)),
            "access_valid": In(1),
            "reserve": In(range(PHASES + 1)),
            "ready": Out(1),
            "steps": Out(LocalSteps()),
            "halves": In(WordHalves),
            "idle": Out(1),
        }
        if config.statistics:
            members["probe"] = Out(LocalProbe)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.arbiter = arbiter = LocalArbiter()
        plan, place = Signal(_Plan(self._config)), Signal(range(LOCAL_PHASES))
        routed, addressed, arrived = (Signal(_Step, name=name) for name in ("routed", "addressed", "arrived"))
        follow, queued = Signal(), Signal()
        following, store_data, expected = self._queue(m, follow, queued, place, arrived.place)

        # Stage 1: which lanes are served. What reads waits for what wrote, as far as it may be the same word.
        advance, goes, final = Signal(), Signal(), Signal()
        busy, fresh = Signal(), Signal()        # fresh: no lane of the phase has been served
        wait = Signal(PE_COUNT)
        same_bank, same_word = Signal(len(LANE_PAIRS)), Signal(len(LANE_PAIRS))
        kind = plan.kind
        left = wait & ~arbiter.served
        dirty = routed.atomic | (kind.load & (routed.write.any() | addressed.write.any()))
        m.d.comb += [
            arbiter.wait.eq(wait), arbiter.atomic.eq(kind.atomic),
            arbiter.same_bank.eq(same_bank), arbiter.same_word.eq(same_word),
            goes.eq(advance & busy & ~addressed.atomic & ~(dirty & (fresh | same_word.any()))
                    & ~(fresh & self.steps.pause)),
            final.eq(left == 0),
            follow.eq(queued & (~busy | (goes & final))),
        ]
        with m.If(goes):
            m.d.sync += [wait.eq(left), fresh.eq(0), busy.eq(~final)]
        m.submodules.pairs = pairs = LanePairs(self._config)
        m.d.comb += pairs.addresses.eq(following.addresses)
        with m.If(follow):
            m.d.sync += [
                busy.eq(1), fresh.eq(1), plan.eq(following), wait.eq(following.kind.lanes),
                same_bank.eq(pairs.same_bank), same_word.eq(pairs.same_word),
            ]

        self._steps(m, advance, goes, final, plan, place, arbiter, routed, addressed, arrived, store_data, expected)
        released = Signal()
        m.d.comb += [
            advance.eq(~arrived.valid | self.steps.go),
            released.eq(self.steps.go & arrived.final),
        ]
        reserved = self._reserve(m, released)
        m.d.sync += self.idle.eq((reserved == 0) & ~routed.valid & ~addressed.valid & ~arrived.valid)
        if self._config.statistics:
            m.d.comb += [
                self.probe.phase.eq(goes & fresh & wait.any()),
                self.probe.conflict.eq(goes & ~fresh & ~kind.atomic),
            ]
        return m

    def _queue(self, m: Module, follow: Signal, queued: Signal, place: Signal, data_place: Value) -> tuple[Any, ...]:
        """Phases in LUT RAM: the next plan, which goes to stage 1 with ``follow``; data of that at ``data_place``."""
        access: Any = self.access
        write_place, next_place = (
            Signal(range(2 * LOCAL_PHASES), name=name) for name in ("write_place", "next_place"))
        incoming: Any = Signal(_Plan(self._config))
        m.d.comb += [incoming.kind[name].eq(access[name]) for name in data.Layout.cast(_Kind).members]
        m.d.comb += incoming.base.eq(access.base)
        for lane in range(PE_COUNT):
            given, address = access.addresses[lane], incoming.addresses[lane]
            m.d.comb += [
                address.byte.eq(Mux(access.load, 0, given.byte & Cat(
                    access.width == Width.BYTE, access.width != Width.WORD))),
                address.bank.eq(given.bank),
                address.row.eq(given.row),
            ]

        def memory(name: str, shape: Any, content: Any, read_place: Value) -> Any:
            m.submodules[name] = memory = LutRam(shape, LOCAL_PHASES)
            write, read = memory.write_port(), memory.read_port()
            m.d.comb += [
                write.addr.eq(write_place), write.data.eq(content), write.en.eq(self._wanted),
                read.addr.eq(read_place),
            ]
            return read.data

        m.d.comb += queued.eq(next_place != write_place)
        with m.If(self._wanted):
            m.d.sync += write_place.eq(write_place + 1)
        with m.If(follow):
            m.d.sync += [place.eq(next_place), next_place.eq(next_place + 1)]
        return (memory("plans", _Plan(self._config), incoming, next_place),
                memory("store_data", Words, access.store_data, data_place),
                memory("expected", Words, access.expected, data_place))

    @property
    def _wanted(self) -> Value:
        """A phase that has something to do: an access, or the end of an instruction."""
        return self.access_valid & (self.access.lanes.any() | self.access.last)

    def _steps(self, m: Module, advance: Signal, goes: Signal, final: Signal, plan: Any, place: Signal,
               arbiter: LocalArbiter, routed: Any, addressed: Any, arrived: Any, store_data: Any,
               expected: Any) -> None:
        """Stages 2 to 4: addresses go to the banks, these are read, and data goes through the crossbar."""
        m.submodules.banks = banks = LocalBanks(self._config)
        m.submodules.atomics = atomics = LocalAtomics()
        kind, step = plan.kind, Signal(_Step)
        # All banks get the row of an atomic operation; its word takes the way of lane 0, too.
        hits = [Cat(arbiter.leaders[lane] & (kind.atomic | (plan.addresses[lane].bank == bank))
                    for lane in range(PE_COUNT)) for bank in range(LOCAL_BANKS)]
        leaders = [number_of(hit) for hit in hits]
        m.d.comb += [
            step.valid.eq(goes), step.load.eq(kind.load), step.atomic.eq(goes & kind.atomic & arbiter.leaders.any()),
            step.returns.eq(kind.load & (final | kind.atomic)), step.final.eq(final), step.last.eq(kind.last & final),
            # All outputs may take the old word, of which the first one is for the unit that computes.
            step.served.eq(arbiter.served | kind.atomic.replicate(PE_COUNT)),
            step.lanes.eq(Mux(kind.atomic, arbiter.leaders, kind.lanes)),
            step.leader.eq(leaders[0]),
            step.write.eq(Cat(hit.any() for hit in hits) & (goes & ~kind.load).replicate(LOCAL_BANKS)),
            *(step[name].eq(kind[name]) for name in ("width", "operation", "wavefront", "phase", "rd")),
            step.place.eq(place),
            *(step.sources[number].eq(Mux(kind.load, plan.addresses[number].bank, leaders[number]))
              for number in range(LOCAL_BANKS)),
        ]
        with m.If(kind.atomic):
            m.d.comb += step.sources[0].eq(only([address.bank for address in plan.addresses], arbiter.leaders))
        with m.If(advance):
            m.d.sync += [
                routed.eq(step), addressed.eq(routed), arrived.eq(addressed),
                banks.addresses.eq(plan.addresses), banks.base.eq(plan.base), banks.lanes.eq(Cat(leaders)),
            ]
        # The result of an atomic operation follows two steps behind. Not within the other condition: so Yosys resets
        # flip-flops instead of taking LUTs.
        with m.If(advance & addressed.atomic):
            m.d.sync += [
                routed.valid.eq(1), routed.load.eq(0), routed.final.eq(0), routed.returns.eq(0),
                routed.result.eq(1), routed.width.eq(Width.WORD), routed.sources.eq(0),
                routed.write.eq(1 << addressed.sources[0]),
                banks.addresses[0].row.eq(banks.row), banks.base.eq(0), banks.lanes.eq(0),
            ]
        steps: Any = self.steps
        m.d.comb += [
            banks.advance.eq(advance), banks.go.eq(steps.go), banks.width.eq(arrived.width),
            banks.write.eq(arrived.write), banks.halves.eq(self.halves),
            atomics.advance.eq(advance), atomics.operation.eq(arrived.operation), atomics.lane.eq(arrived.leader),
            atomics.old.eq(banks.first), atomics.operands.eq(store_data), atomics.expected.eq(expected),
            *(getattr(steps, name).eq(arrived[name]) for name in (
                "valid", "load", "returns", "last", "served", "lanes", "sources", "wavefront", "phase", "rd")),
            steps.read.eq(banks.read), steps.store_data.eq(store_data),
            steps.computes.eq(arrived.result), steps.computed.eq(atomics.result),
        ]
        m.d.sync += atomics.compute.eq(steps.go & arrived.atomic)

    def _reserve(self, m: Module, released: Signal) -> Signal:
        """Keep room for the phases that were announced; returns how many they are."""
        reserved = Signal(range(LOCAL_PHASES + 1))
        m.d.sync += [
            reserved.eq(reserved + self.reserve - released - (self.access_valid & ~self._wanted)),
            self.ready.eq(reserved <= LOCAL_PHASES - PHASES),
        ]
        return reserved
