"""Operations that fewer than all lanes have: results are of the right operands, in their slots, and their wavefronts
go on when they are there."""

import random
from typing import Any

import pytest
from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from fgpu.config import FLOAT_OPS, PE_COUNT, PHASES, WAVEFRONTS, Config
from fgpu.cu import float_results
from fgpu.cu.control_word import Issue
from fgpu.cu.float import narrow, units
from fgpu.cu.float.operations import LATENCY, FloatOp, lanes_of
from fgpu.cu.float.units import FloatUnits
from fgpu.cu.float_results import FloatCommit, FloatResults
from fgpu.cu.narrow_queue import FloatDestination, NarrowCommit
from fgpu.cu.pipeline import NARROW_ENTRIES, OPERAND_STAGE, float_result_cycles, narrow_distance
from fgpu.cu.register_file import Words
from fgpu.isa import Opcode, by_opcode

from ..formal.prover import mutant
from ..streams import simulate

HALF = PHASES // 2
CYCLES = 2000
CONVERSIONS = ("fptosi", "fptoui", "itofp", "uitofp")
CONFIGS = {
    "division on one lane": {"fdiv": 1},
    "division and root on one, conversions on two": {"fdiv": 1, "fsqrt": 1} | dict.fromkeys(CONVERSIONS, 2),
    "division on all": {"fsqrt": 2, "fadd": 4, "fsub": 2, "fslt": 1, "itofp": 4},
    "nothing on all": dict.fromkeys(FLOAT_OPS, 4) | {"fdiv": 2, "fslt": 2},
    "a root on four": {"fsqrt": 4},
}
QUICK = "division and root on one, conversions on two"


def outcome(operation: int, first: Any, second: Any) -> Any:
    """What stands for the result of an operation on these operands."""
    return (first ^ (second << 1) ^ (operation * 0x01234567)) & 0xFFFFFFFF


def is_unary(operation: FloatOp) -> bool:
    return not by_opcode[Opcode[operation.name]].reads_rt


class FakeLane(wiring.Component):
    """A lane whose results are :func:`outcome`, of any operation in its time, as nothing else is asked of it."""

    def __init__(self, operations: frozenset[FloatOp], number: object = None, *, elsewhere: FloatOp | None = None):
        self._operations, self._elsewhere = operations, elsewhere
        super().__init__({
            "operation": In(FloatOp), "first": In(32), "second": In(32), "select": In(FloatOp), "result": Out(32),
        } | ({} if elsewhere is None else {"other": In(32)}))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        value: Any = Signal(32)
        unary = Cat(self.operation == op for op in FloatOp if is_unary(op)).any()
        second = Mux(unary, 0, self.second)
        m.d.comb += value.eq(outcome(self.operation.as_value(), self.first, second))
        later = [value]
        for _ in range(max(LATENCY.values())):
            following = Signal(32)
            m.d.sync += following.eq(later[-1])
            later.append(following)
        with m.Switch(self.select):
            for op in self._operations:
                with m.Case(op):
                    m.d.comb += self.result.eq(later[LATENCY[op]])
            if self._elsewhere is not None:
                with m.Case(self._elsewhere):
                    m.d.comb += self.result.eq(self.other)
        return m


class Floats(wiring.Component):
    """Units and results, as a compute unit has them."""

    def __init__(self, config: Config, results: type[FloatResults] = FloatResults) -> None:
        self.units = FloatUnits(config)
        self.results = results(lanes_of(config), narrow_distance(config))
        super().__init__({
            "commit": In(FloatCommit()), "narrow": In(NarrowCommit()), "beat": In(2), "issue": In(Issue), "rd": In(5),
            "first": In(Words), "second": In(Words), "place": Out(FloatDestination), "valid": Out(1),
            "valid_next": Out(1), "result": Out(Words),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.units, m.submodules.results = units, results = self.units, self.results
        connect(m, flipped(self.commit), results.commit)
        connect(m, flipped(self.narrow), results.narrow_commit)
        connect(m, results.narrow, units.narrow)
        m.d.comb += [
            results.slots.eq(units.slots), results.beat.eq(self.beat), results.issue.eq(self.issue),
            results.rd.eq(self.rd), units.operation.eq(results.operation), units.select.eq(results.select),
            units.first.eq(self.first), units.second.eq(self.second), self.place.eq(results.place),
            self.valid.eq(results.valid), self.valid_next.eq(results.valid_next), self.result.eq(units.result),
        ]
        return m


class Instruction:
    """One that was committed in a cycle."""

    def __init__(self, rng: random.Random, operation: FloatOp, wavefront: int, cycle: int) -> None:
        self.operation, self.wavefront, self.cycle = operation, wavefront, cycle
        self.register = rng.choice([0, rng.randrange(32)])
        self.halves = rng.choice([1, 2, 3, 3])
        self.phases = [phase for phase in range(PHASES) if self.halves >> phase // HALF & 1]
        self.lanes = {phase: rng.getrandbits(PE_COUNT) for phase in self.phases}
        self.first, self.second = ({phase: [rng.getrandbits(32) for _ in range(PE_COUNT)] for phase in self.phases}
                                   for _ in range(2))
        self.done: int | None = None

    def words(self, phase: int) -> list[int]:
        return [outcome(self.operation.value, first, 0 if is_unary(self.operation) else second)
                for first, second in zip(self.first[phase], self.second[phase], strict=True)]


def check(config: Config, seed: str, share: float, *, wide: float = 0.5, alone: bool = False,
          cycles: int = CYCLES) -> int:
    """Random instructions in ``share`` of the free slots; ``wide`` of them are on all lanes. Returns how many narrow
    ones there were. ``alone``: none before the one before has left."""
    rng = random.Random(seed)
    dut = Floats(config)
    lanes = lanes_of(config)
    wide_ops = sorted({FloatOp[name.upper()] for name in config.float_ops} - lanes.keys(), key=lambda op: op.value)
    expected_cycles = float_result_cycles(config)
    issues: dict[int, tuple[Instruction, int]] = {}             # phases by cycle of stage 0
    leaving: dict[int, tuple[Instruction, int]] = {}            # of wide ones
    under_way: list[Instruction] = []
    free_from = dict.fromkeys(range(WAVEFRONTS), 0)
    counts = {"narrow": 0, "refused": 0, "collided": 0, "phases": 0, "wide": 0}

    async def testbench(ctx: Any) -> None:
        busy_until = 0
        for cycle in range(cycles):
            ctx.set(dut.beat, cycle % 4)
            ctx.set(dut.commit.accept, 0)
            ctx.set(dut.narrow.accept, 0)
            instruction, phase = issues.get(cycle, (None, 0))
            ctx.set(dut.issue, {"wavefront": instruction.wavefront, "phase": phase,
                                "lanes": instruction.lanes[phase]} if instruction else
                    {"wavefront": rng.randrange(WAVEFRONTS), "phase": rng.randrange(PHASES), "lanes": 0xFF})
            ctx.set(dut.rd, instruction.register if instruction else rng.randrange(32))
            instruction, phase = issues.get(cycle - OPERAND_STAGE, (None, 0))
            for name in ("first", "second"):
                ctx.set(getattr(dut, name), getattr(instruction, name)[phase] if instruction else
                        [rng.getrandbits(32) for _ in range(PE_COUNT)])
            if cycle % 4 == 3 and cycle >= busy_until and rng.random() < share and not (alone and under_way):
                busy_until = commit(ctx, cycle)
            observe(ctx, cycle)
            await ctx.tick()

    def commit(ctx: Any, cycle: int) -> int:
        able = [number for number, first in free_from.items() if first <= cycle]
        if not able:
            return 0
        is_wide = wide_ops and rng.random() < wide
        instruction = Instruction(rng, rng.choice(wide_ops if is_wide else list(lanes)), rng.choice(able), cycle)
        begins = [cycle + 1 + at for at in range(len(instruction.phases))]
        if is_wide:
            ctx.set(dut.commit.operation, instruction.operation)
            ctx.set(dut.commit.both_halves, instruction.halves == 3)
            if not ctx.get(dut.commit.clear):
                counts["collided"] += 1
                return 0
            ctx.set(dut.commit.accept, 1)
            for begin, phase in zip(begins, instruction.phases, strict=True):
                at = begin + OPERAND_STAGE + LATENCY[instruction.operation]
                assert at not in leaving, "it would meet another"
                leaving[at] = instruction, phase
            counts["wide"] += 1
        else:
            assert ctx.get(dut.narrow.room) == (len(under_way) < NARROW_ENTRIES) or under_way[0].done is not None
            if not ctx.get(dut.narrow.room):
                counts["refused"] += 1
                return 0
            ctx.set(dut.narrow.operation, instruction.operation)
            ctx.set(dut.narrow.halves, instruction.halves)
            ctx.set(dut.narrow.wavefront, instruction.wavefront)
            ctx.set(dut.narrow.accept, 1)
            under_way.append(instruction)
            free_from[instruction.wavefront] = cycles
            counts["narrow"] += 1
        issues.update((begin, (instruction, phase)) for begin, phase in zip(begins, instruction.phases, strict=True))
        return begins[-1]

    def observe(ctx: Any, cycle: int) -> None:
        if ctx.get(dut.narrow.done):
            first = next(instruction for instruction in under_way if instruction.done is None)
            assert ctx.get(dut.narrow.done_wavefront) == first.wavefront
            first.done = cycle
            if alone and first.halves == 3:
                issue, following = first.cycle + 1, cycle + 5
                assert following - issue == expected_cycles[Opcode[first.operation.name]]
            free_from[first.wavefront] = cycle + 4
        place = ctx.get(dut.place)
        due = leaving.get(cycle)
        if due is None and ctx.get(dut.valid) and under_way:
            due = narrow_due(cycle)
        assert ctx.get(dut.valid) == (due is not None)
        if due is None:
            assert place.lanes == 0
            return
        instruction, phase = due
        assert (place.wavefront, place.phase, place.register) == (instruction.wavefront, phase, instruction.register)
        assert place.lanes == (instruction.lanes[phase] if instruction.register else 0)
        assert place.phase % 4 == (cycle + 1) % 4, "the register file's bank"
        enabled = [lane for lane in range(PE_COUNT) if instruction.lanes[phase] >> lane & 1]
        found, words = list(ctx.get(dut.result)), instruction.words(phase)
        assert [found[lane] for lane in enabled] == [words[lane] for lane in enabled]
        counts["phases"] += 1

    def narrow_due(cycle: int) -> tuple[Instruction, int]:
        first = under_way[0]
        assert first.done is not None
        at = cycle - (first.done + 4)
        assert 0 <= at < len(first.phases), "just before the wavefront's next instruction may read it"
        if at == len(first.phases) - 1:
            under_way.pop(0)
        return first, first.phases[at]

    simulate(dut, testbench)
    print(counts)
    assert counts["phases"] > cycles * share / 20
    return counts["narrow"]


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "Lane", FakeLane)
    monkeypatch.setattr(narrow, "Lane", FakeLane)


@pytest.mark.parametrize(("name", "share"), [
    pytest.param(name, share, marks=[] if (name, share) == (QUICK, 1.0) else pytest.mark.ci)
    for name in CONFIGS for share in (0.3, 1.0)])
def test_random_instructions(name: str, share: float) -> None:
    config = Config(float_ops=FLOAT_OPS, float_lanes=CONFIGS[name])     # type: ignore[arg-type]
    assert check(config, f"{name} {share}", share)


@pytest.mark.ci
@pytest.mark.parametrize("name", CONFIGS)
def test_they_take_the_cycles_of_the_contract(name: str) -> None:
    config = Config(float_ops=FLOAT_OPS, float_lanes=CONFIGS[name])     # type: ignore[arg-type]
    assert check(config, name, 1.0, wide=0, alone=True)


@pytest.mark.ci
@pytest.mark.parametrize(("module", "old", "new"), [
    ("narrow_queue", "halves.all(), 2, 1)", "halves.all(), 1, 1)"),
    ("narrow_queue", "is_last & entry.halves[1]", "entry.halves[1]"),
    ("narrow_queue", "(self.beat == _RESULT_BEAT) & firsts[1]", "(self.beat == _RESULT_BEAT) & firsts[0]"),
    ("narrow_queue", "slots(op, halves) - 1)", "slots(op, halves) - 5)"),
    ("narrow_queue", "(~feed.active | feed.last)", "(~feed.active | 1)"),
    ("narrow_queue", "used != NARROW_ENTRIES", "used <= NARROW_ENTRIES"),
    ("narrow_queue", "valid & context.register.any()", "valid"),
    ("narrow_queue", "Cat(Const(0, far), self.book, self.book_both)", "Cat(Const(0, far), self.book)"),
    ("float.narrow", "collect.lane[shift:] == lane >> shift", "collect.lane == lane"),
    ("float.narrow", "write.en.eq(control.capture_valid)", "write.en.eq(1)"),
])
def test_mutants_fail(module: str, old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = mutant(f"fgpu.cu.{module}", old, new)
    monkeypatch.setattr(wrong, "Lane", FakeLane, raising=False)
    name = "NarrowQueue" if module == "narrow_queue" else "NarrowUnits"
    monkeypatch.setattr(float_results if name == "NarrowQueue" else units, name, getattr(wrong, name))
    config = Config(float_ops=FLOAT_OPS, float_lanes=CONFIGS[QUICK])    # type: ignore[arg-type]
    with pytest.raises((AssertionError, RuntimeError)):
        check(config, f"{QUICK} 1.0", 1.0, cycles=1500)
