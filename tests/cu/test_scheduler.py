"""The scheduler with random programs: what it issues, when, and for which work-items."""

import itertools
import random
from collections import deque
from dataclasses import dataclass, field

import pytest

from fgpu import isa
from fgpu.config import FLOAT_OPS, PE_COUNT, PHASES, WAVEFRONTS, Config
from fgpu.cu.divergence import OutcomeKind
from fgpu.cu.float.operations import BASE_LATENCY, LATENCY, FloatOp
from fgpu.cu.pipeline import LOADS
from fgpu.cu.scheduler import WavefrontScheduler
from fgpu.cu.wavefront import Commit, WavefrontController
from fgpu.fault import FaultCause
from fgpu.isa import Opcode, Operands, Unit, encode
from fgpu.probe import WavefrontState

from ..streams import simulate

WORDS = 256
RESULT = 12
"""Least cycles from an instruction of a wavefront to one that reads or writes the same register."""
ISSUE = 8
"""The same to one that does not."""
BRANCH_STAGE = 5
POISON = (1 << 64) - 1
_FLOATS = [Opcode[op.name] for op in FloatOp]
_SLOTS = {op.value: (LATENCY[op] - BASE_LATENCY) // 4 for op in FloatOp}


def random_program(rng: random.Random, floats: bool) -> list[int]:
    """Control flow goes forward only, so that every wavefront ends."""
    program = []
    for at in range(WORDS - 1):
        distance = rng.randint(0, min(20, WORDS - 3 - at)) if at < WORDS - 3 else 0
        choice = rng.random()
        if choice < 0.25:
            program.append(encode(rng.choice([Opcode.BEQ, Opcode.BNE]), Operands(rd=1, rs=2, imm=distance)))
        elif choice < 0.31:
            program.append(encode(Opcode.JSUB, Operands(imm=distance + 1)))
        elif choice < 0.4:
            program.append(encode(Opcode.RET))
        elif choice < 0.45:
            program.append(encode(Opcode.SYNC))
        elif choice < 0.6:
            opcode = rng.choice([Opcode.LW, Opcode.LW, Opcode.SW, Opcode.SB, Opcode.AADD])
            program.append(encode(opcode, random_registers(rng)))
        else:
            opcodes = [Opcode.ADD, Opcode.MACC, *(_FLOATS if floats else [])]
            program.append(encode(rng.choice(opcodes), random_registers(rng)))
    return [*program, encode(Opcode.RET)]


def random_registers(rng: random.Random) -> Operands:
    return Operands(rng.randrange(16), rng.randrange(16), rng.randrange(16))


def _registers(row: isa.Instruction, operands: Operands) -> set[int]:
    """What an instruction reads or writes."""
    used = {"rd": row.reads_rd or row.writes_rd, "rs": row.reads_rs, "rt": row.reads_rt}
    return {getattr(operands, name) for name, is_used in used.items() if is_used}


@dataclass
class Wavefront:
    """Where a wavefront must be."""

    number: int
    pc: int
    mask: int
    started: int
    stack: list[tuple[int, int, bool]] = field(default_factory=list)
    """Of each entry the address, the work-items, and whether it is a branch's."""
    parked: int = 0
    behind: int = 0
    waits: bool = False
    """It has come to a barrier."""
    done: bool = False
    loads: list[int] = field(default_factory=list)
    """The registers that wait for data, oldest first."""
    last: tuple[int, set[int]] = (-RESULT, set())
    """When an instruction came to the vector, and what it writes there."""
    is_held: bool = False
    """A call or return lies between a load and the next instruction at the vector."""

    def must_wait(self, row: isa.Instruction, operands: Operands) -> bool:
        """Whether the wavefront must have its data before this instruction."""
        if not self.loads:
            return False
        registers = _registers(row, operands) | {operands.rd}
        if row.is_load and len(self.loads) == LOADS:
            return True
        return self.is_held or row.is_branch or row.is_store or row.unit is Unit.ATOMIC or bool(
            registers & set(self.loads))

    def follow(self, program: list[int]) -> None:
        """Pass calls, returns and barriers, which are not seen at the vector."""
        while not self.done and not self.waits:
            row, operands = isa.decode(program[self.pc])
            if row.opcode in (Opcode.JSUB, Opcode.RET, Opcode.SYNC):
                self.is_held = bool(self.loads)
            if row.opcode is Opcode.JSUB:
                self.stack.append((self.pc + 1, self.mask, False))
                self.pc += operands.imm
            elif row.opcode is Opcode.SYNC:
                self.parked, self.behind = self.parked | self.mask, self.pc + 1
                if self.stack and self.stack[-1][2]:
                    self.pc, self.mask, _ = self.stack.pop()
                else:
                    self.waits = True
            elif row.opcode is Opcode.RET:
                if self.stack:
                    self.pc, self.mask, _ = self.stack.pop()
                elif self.parked:
                    self.waits = True
                else:
                    self.done = True
            else:
                return

    def branch(self, taken: int, target: int) -> None:
        others = self.mask & ~taken
        following = self.pc + 1
        if taken and others:
            first_taken = taken.bit_count() < others.bit_count()
            self.stack.append((following, others, True) if first_taken else (target, taken, True))
            self.mask, self.pc = (taken, target) if first_taken else (others, following)
        else:
            self.pc = target if taken else following


class Bench:
    """Plays launcher, code RAM, vector and memory controller."""

    def __init__(self, rng: random.Random, most: int, floats: bool) -> None:
        self.rng = rng
        self.most = most        # wavefronts at a time
        self.floats = floats
        self.dut = WavefrontScheduler(Config(link_stack_depth=32, atomics=frozenset({"add"}),
                                             float_ops=FLOAT_OPS if floats else frozenset()))
        self.program = random_program(rng, floats)
        self.pairs = [low | high << 32 for low, high in zip(self.program[::2], self.program[1::2], strict=True)]
        self.running: dict[int, Wavefront] = {}
        self.next_issue = [0] * WAVEFRONTS      # at the earliest
        self.refused = 0
        self.expected_phases: deque[int] = deque()
        self.current: tuple[int, int, isa.Instruction, int] | None = None   # slot, mask, row, taken
        self.cycle = 0
        self.issued = self.early = self.retired = self.delayed = 0
        self.groups: dict[int, int] = {}        # slot: the number of its work-group
        self.starting: int | None = None
        self.to_start = self.passed = 0
        self.lanes: deque[dict] = deque([{"valid": 0}] * BRANCH_STAGE)
        self.loads: deque[tuple[int, int]] = deque()    # (cycle of its end, slot)
        self.overlapped = 0
        self.reserved = self.accepted = 0

    async def run(self, ctx) -> None:
        dut, rng = self.dut, self.rng
        if self.floats:
            ctx.set(dut.float_available, (1 << 16) - 1)
        ready_chance = rng.choice([0.3, 0.6, 1.0])
        fetched: deque[dict] = deque([{"valid": 0}] * 2)
        was_ready = deque([0] * 2)      # room is looked at when the instruction is decoded
        for _ in range(2500):
            self._start(ctx)
            ctx.set(dut.groups.members, [1 << self.groups[slot] if slot in self.groups else 0
                                         for slot in range(WAVEFRONTS)])
            ctx.set(dut.groups.starting, 0 if self.starting is None else 1 << self.starting)
            ctx.set(dut.memory_ready, rng.random() < ready_chance)
            ctx.set(dut.load_done, 0)
            if self.loads and self.loads[0][0] <= self.cycle:
                _, slot = self.loads.popleft()
                ctx.set(dut.load_done, 1)
                ctx.set(dut.load_done_wavefront, slot)
                del self.running[slot].loads[0]
            ctx.set(dut.fetched, fetched.popleft())
            served = rng.random() < 0.6
            ctx.set(dut.fetch.ready, served)
            ctx.set(dut.branch, self.lanes.popleft())
            accepted = self._commit_float(ctx)
            *_, issue, request, valid, reserve, ready, free = await ctx.tick().sample(
                dut.issue, dut.fetch.payload, dut.fetch.valid, dut.memory_reserve, dut.memory_ready, dut.free)
            taken = valid and served
            pair = self.pairs[request.pair] if taken and request.pair < len(self.pairs) else POISON
            fetched.append({"valid": taken, "wavefront": request.wavefront, "pair": pair})
            was_ready.append(ready)
            assert was_ready.popleft() or not reserve
            self.reserved = reserve
            self._observe(issue)
            self.accepted = accepted
            self.cycle += 1
            self._retire(free)
            self._pass_barriers()

    def _commit_float(self, ctx) -> int:
        """Sometimes other results are in the way; answers whether an instruction is committed."""
        if not self.floats:
            return 0
        floats = self.dut.floats
        ctx.set(floats.slots, _SLOTS.get(ctx.get(floats.operation.as_value()), 0))
        ctx.set(floats.clear, 1)
        would = ctx.get(floats.accept)
        ctx.set(floats.clear, self.rng.random() < 0.6)
        accept = ctx.get(floats.accept)
        self.refused += would - accept
        return accept

    def _start(self, ctx) -> None:
        dut, rng = self.dut, self.rng
        ctx.set(dut.start, 0)
        ctx.set(dut.start_mask.valid, 0)
        slots = [slot for slot in range(WAVEFRONTS) if slot not in self.running and ctx.get(dut.free[slot])]
        if not slots or len(self.running) == self.most or rng.random() < 0.7:
            return
        slot, entry, number = rng.choice(slots), rng.randrange(WORDS - 10), rng.randrange(8)
        mask = rng.choice([1, 1 << 63, 0x3_0000_0000, 0x1_8000_0000, 0b111, rng.getrandbits(64), (1 << 64) - 1])
        ctx.set(dut.kernel.entry, entry)
        ctx.set(dut.start_mask, {"valid": 1, "wavefront": slot, "mask": mask})
        if ctx.get(dut.start_mask_ready):
            ctx.set(dut.start, 1 << slot)
            ctx.set(dut.start_number, number)
            self.running[slot] = Wavefront(number, entry, mask, self.cycle)
            self.running[slot].follow(self.program)
            if self.starting is None:
                self.starting = min(set(range(WAVEFRONTS)) - set(self.groups.values()))
                self.to_start = rng.randint(1, min(3, self.most + 1 - len(self.running)))
            self.groups[slot] = self.starting
            self.to_start -= 1
            if not self.to_start:
                self.starting = None
        else:
            self.delayed += 1

    def _pass_barriers(self) -> None:
        """Work-groups of which all wait go on, some cycles before the scheduler knows of the last one."""
        for number in set(self.groups.values()) - {self.starting}:
            here = [self.running[slot] for slot, group in self.groups.items() if group == number]
            if all(wavefront.waits for wavefront in here):
                for wavefront in here:
                    wavefront.mask, wavefront.pc, wavefront.parked = wavefront.parked, wavefront.behind, 0
                    wavefront.waits = False
                    self.passed += 1
                    wavefront.follow(self.program)

    def _retire(self, free: int) -> None:
        for slot in list(self.running):
            wavefront = self.running[slot]
            if free >> slot & 1 and self.cycle > wavefront.started + 1:
                assert wavefront.done, f"wavefront {slot} ended at {wavefront.pc}"
                del self.running[slot], self.groups[slot]
                self.retired += 1

    def _observe(self, issue) -> None:
        if not issue.valid:
            assert not self.expected_phases
            assert not self.accepted
            self.lanes.append({"valid": 0})
            return
        if not self.expected_phases:
            self._begin(issue)
        assert self.current is not None
        slot, mask, row, taken = self.current
        phase = self.expected_phases.popleft()
        lanes = mask >> PE_COUNT * phase & 0xFF
        first, last = issue.first, not self.expected_phases
        assert (issue.wavefront, issue.phase, issue.lanes, bool(issue.last)) == (slot, phase, lanes, last)
        here = taken >> PE_COUNT * phase & 0xFF
        self.lanes.append({"valid": row.is_branch, "wavefront": slot, "phase": phase, "taken": here,
                           "not_taken": lanes & ~here, "first": first, "last": last})

    def _begin(self, issue) -> None:
        """The first phase of an instruction: it must be the wavefront's next one."""
        rng, slot = self.rng, issue.wavefront
        wavefront = self.running[slot]
        assert issue.first
        assert not wavefront.done
        assert issue.pc == wavefront.pc
        assert issue.number == wavefront.number
        assert self.cycle >= self.next_issue[slot]
        row, operands = isa.decode(self.program[wavefront.pc])
        before, written = wavefront.last
        if self.cycle - before < RESULT:
            assert not written & _registers(row, operands)
            self.early += 1
        writes_here = row.writes_rd and row.unit not in (Unit.MEMORY, Unit.ATOMIC, Unit.FLOAT)
        wavefront.last = self.cycle, {operands.rd} - {0} if writes_here else set()
        self.next_issue[slot] = self.cycle + ISSUE
        self.issued += 1
        assert not wavefront.must_wait(row, operands)
        wavefront.is_held = False
        self.overlapped += bool(wavefront.loads)
        assert self.accepted == (row.unit is Unit.FLOAT)
        if row.unit is Unit.FLOAT:
            self.next_issue[slot] = self.cycle + LATENCY[FloatOp[row.opcode.name]] + 4
        mask = wavefront.mask
        half = PHASES // 2
        self.expected_phases.extend(range(0 if mask & 0xFFFF_FFFF else half, PHASES if mask >> 32 else half))
        taken = mask & rng.choice([0, -1, rng.getrandbits(64), 1 << rng.randrange(64), 0xFFFF_FFFF])
        self.current = slot, mask, row, taken
        uses_memory = row.unit in (Unit.MEMORY, Unit.ATOMIC)
        assert self.reserved == (len(self.expected_phases) if uses_memory else 0)
        if row.is_branch:
            wavefront.branch(taken, wavefront.pc + 1 + operands.imm)
        else:
            wavefront.pc += 1
        if uses_memory and row.writes_rd:
            wavefront.loads.append(operands.rd)
            after = max([self.cycle, *(end for end, _ in self.loads)])
            self.loads.append((max(after + 1, self.cycle + rng.randint(15, 60)), slot))
        wavefront.follow(self.program)


@pytest.mark.parametrize("floats", [False, True])
@pytest.mark.parametrize(("wavefronts", "seed"), [
    pytest.param(1, 4, marks=pytest.mark.ci), pytest.param(3, 5, marks=pytest.mark.ci), (WAVEFRONTS, 14)])
def test_random_programs(wavefronts: int, seed: int, floats: bool) -> None:
    bench = Bench(random.Random(seed), wavefronts, floats)
    simulate(bench.dut, bench.run)
    assert bench.issued > 30
    assert bool(bench.refused) == floats
    assert bench.early > 5 or wavefronts == WAVEFRONTS     # then another is ready, and few next instructions are here
    assert bench.retired
    assert bench.passed
    assert bench.overlapped
    assert bench.delayed or floats or wavefronts < WAVEFRONTS       # a start met a branch's change of the mask


@pytest.mark.parametrize("length", [1, 2, 7, 30])
def test_nothing_is_issued_during_a_hold(length: int) -> None:
    """Wavefronts start and fetch meanwhile, so that the first one issues a slot later at most. It reads the runtime
    memory when what the launcher writes in four cycles after the hold is there: in the fifth."""
    dut = WavefrontScheduler(Config())
    word = encode(Opcode.ADD, Operands(1, 2, 3))

    async def run(ctx) -> None:
        fetched: deque[dict] = deque([{"valid": 0}] * 2)
        ctx.set(dut.fetch.ready, 1)
        for cycle in range(60):
            ctx.set(dut.hold, cycle < length)
            ctx.set(dut.start, 1 << cycle if cycle < WAVEFRONTS else 0)
            ctx.set(dut.start_mask, {"valid": cycle < WAVEFRONTS, "wavefront": cycle % WAVEFRONTS, "mask": POISON})
            ctx.set(dut.fetched, fetched.popleft())
            *_, issue, request, valid = await ctx.tick().sample(dut.issue, dut.fetch.payload, dut.fetch.valid)
            fetched.append({"valid": valid, "wavefront": request.wavefront, "pair": word | word << 32})
            if issue.valid:
                assert cycle >= length + 5
                assert cycle < max(length + 5, 11) + 4
                return
        pytest.fail("nothing is issued")

    simulate(dut, run)


def test_loads_that_follow_each_other_stay_together() -> None:
    """However many others are ready; another operation waits for its turn."""
    dut = WavefrontScheduler(Config())
    load, add = (encode(opcode, Operands(rd, 1, 2)) for opcode, rd in ((Opcode.LW, 3), (Opcode.ADD, 5)))
    words = [add, add, load, encode(Opcode.LW, Operands(4, 1, 2)), add, add]
    pairs = [low | high << 32 for low, high in zip(words[::2], words[1::2], strict=True)]
    issued: list[tuple[int, int]] = []

    async def testbench(ctx) -> None:
        ctx.set(dut.memory_ready, 1)
        ctx.set(dut.fetch.ready, 1)
        fetched: deque[dict] = deque([{"valid": 0}] * 2)
        starts = deque(range(WAVEFRONTS))
        while len(issued) < len(words) * WAVEFRONTS:
            ctx.set(dut.start, 1 << starts[0] if starts else 0)
            ctx.set(dut.start_mask, {"valid": bool(starts), "wavefront": starts.popleft() if starts else 0,
                                     "mask": (1 << 64) - 1})
            _, _, issue, valid, request = await ctx.tick().sample(dut.issue, dut.fetch.valid, dut.fetch.payload)
            fetched.append({"valid": valid, "wavefront": request.wavefront,
                            "pair": pairs[request.pair] if request.pair < len(pairs) else POISON})
            ctx.set(dut.fetched, fetched.popleft())
            if issue.valid and issue.first:
                issued.append((issue.wavefront, issue.pc))

    simulate(dut, testbench, limit=2000)
    following = {after for (slot, pc), after in itertools.pairwise(issued) if pc == 2 and after == (slot, 3)}
    assert len(following) == WAVEFRONTS
    assert all(after[0] != slot for (slot, pc), after in itertools.pairwise(issued) if pc == 0)


class ControllerBench:
    """Drives a wavefront's controller, a cycle at a time."""

    def __init__(self, ctx, dut: WavefrontController) -> None:
        self.ctx, self.dut, self.number = ctx, dut, 0

    async def cycle(self, **inputs: object) -> None:
        for name, value in inputs.items():
            self.ctx.set(getattr(self.dut, name), value)
        self.ctx.set(self.dut.slot_end, self.number % 4 == 3)
        await self.ctx.tick()
        for name in inputs:
            self.ctx.set(getattr(self.dut, name), 0)
        self.number += 1

    async def start(self, entry: int) -> None:
        """Until the wavefront is ready, in the first cycle of a slot."""
        await self.cycle(start=1, entry=entry)
        await self.cycle(fetch_granted=1)
        await self.cycle(fetch_done=1)
        await self.cycle()
        assert self.ctx.get(self.dut.ready)


def test_a_stopped_wavefront_is_not_freed_before_its_result() -> None:
    """The last instruction in the code RAM is a division: the wavefront stops while it is under way."""
    config = Config(cram_size=1, float_ops=FLOAT_OPS)
    dut = WavefrontController(config)

    async def testbench(ctx) -> None:
        bench = ControllerBench(ctx, dut)
        await bench.start(config.cram_words - 1)
        await bench.cycle(selected=1)
        await bench.cycle()
        await bench.cycle()
        await bench.cycle(committed=1, commit=Commit.FLOAT, float_slots=_SLOTS[FloatOp.FDIV.value],
                          next=config.cram_words)
        assert ctx.get(dut.fault_cause) == FaultCause.INSTRUCTION_ADDRESS
        ctx.set(dut.cancel, 1)
        while not ctx.get(dut.free):
            await bench.cycle()
        # Not before it could be selected again: another that starts here issues later, and writes later still.
        assert bench.number >= 4 + LATENCY[FloatOp.FDIV] + 4

    simulate(dut, testbench, limit=100)


def test_a_fetch_for_a_stopped_wavefront_is_forgotten() -> None:
    """Its answer, from beyond the code RAM's end, comes when the next wavefront has begun there."""
    config = Config(cram_size=1)
    dut = WavefrontController(config)

    async def testbench(ctx) -> None:
        bench = ControllerBench(ctx, dut)
        await bench.start(config.cram_words - 1)
        await bench.cycle(selected=1)
        assert ctx.get(dut.fetch)
        assert ctx.get(dut.ahead)
        await bench.cycle(fetch_granted=1)
        await bench.cycle()
        await bench.cycle(committed=1, commit=Commit.NEXT, next=config.cram_words)
        assert ctx.get(dut.fault_cause) == FaultCause.INSTRUCTION_ADDRESS
        await bench.cycle()
        await bench.cycle(cancel=1)
        assert ctx.get(dut.free)
        await bench.cycle(start=1)
        await bench.cycle(fetch_done=1)
        assert not ctx.get(dut.present)
        assert ctx.get(dut.fetch)
        assert not ctx.get(dut.ahead)

    simulate(dut, testbench, limit=100)


def test_a_selected_instruction_is_not_looked_at_again() -> None:
    """The answer would come when the next one waits for its own: the older of two loads ends just now."""
    dut = WavefrontController(Config())

    async def testbench(ctx) -> None:
        bench = ControllerBench(ctx, dut)
        await bench.start(0)
        ctx.set(dut.loading, 1)
        assert ctx.get(dut.check)
        await bench.cycle(check_granted=1)
        await bench.cycle()
        await bench.cycle(checked=1)
        await bench.cycle()
        assert ctx.get(dut.ready)
        ctx.set(dut.selected, 1)
        assert not ctx.get(dut.check)
        await bench.cycle(selected=1, load_done=1)
        for _ in range(2):
            assert not ctx.get(dut.check)
            await bench.cycle()
        await bench.cycle(committed=1, commit=Commit.NEXT)
        assert ctx.get(dut.check)

    simulate(dut, testbench, limit=100)


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_wavefront_waits_at_a_barrier(cancelled: bool) -> None:
    """Its next instructions are fetched meanwhile."""
    dut = WavefrontController(Config())

    async def testbench(ctx) -> None:
        bench = ControllerBench(ctx, dut)
        await bench.start(2)
        await bench.cycle(selected=1)
        await bench.cycle(committed=1, commit=Commit.FLOW)
        assert not ctx.get(dut.arrived)
        await bench.cycle(outcome={"valid": 1, "kind": OutcomeKind.ARRIVE, "pc": 9}, outcome_mine=1)
        assert ctx.get(dut.arrived)
        assert ctx.get(dut.state) == WavefrontState.BARRIER
        assert ctx.get(dut.fetch)
        assert ctx.get(dut.pc) == 9
        await bench.cycle(fetch_granted=1)
        await bench.cycle(fetch_done=1)
        for _ in range(20):
            await bench.cycle()
            assert ctx.get(dut.arrived)
            assert not ctx.get(dut.able)
            assert not ctx.get(dut.free)
        if cancelled:
            ctx.set(dut.cancel, 1)
            await bench.cycle()
            await bench.cycle()
            assert ctx.get(dut.free)
        else:
            await bench.cycle(release=1)
            assert ctx.get(dut.ready)
        assert not ctx.get(dut.arrived)

    simulate(dut, testbench, limit=100)
