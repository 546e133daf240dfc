"""A processing element, with the decoder before it, against what each instruction means."""

import random
from collections import deque

import pytest
from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import Config
from fgpu.cu.control_word import ControlWord, Issue, RuntimeValue
from fgpu.cu.decoder import Decoder
from fgpu.cu.pe import ProcessingElement
from fgpu.cu.pipeline import MEMORY_STAGE, OPERAND_STAGE, RESULT_STAGE
from fgpu.interfaces.runtime import LOCAL_ID_BITS
from fgpu.isa import Format, Operands, Space, Unit, by_mnemonic, encode

from ..arithmetic import OPERATIONS, WORD
from ..core.program_statements import corners
from ..streams import simulate
from ..tiers import quick

CORNERS = corners(Config())
SWAPPED = ("sub", "slt", "sltu")
"""Those whose rs comes as rt, and the other way round."""


class Pipeline(wiring.Component):
    """The element with the vector's pipeline registers: everything enters in stage 3."""

    word: In(32)
    issue: In(Issue)
    rs: In(32)
    rt: In(32)
    rd: In(32)
    runtime: In(32)
    local_id: In(LOCAL_ID_BITS)
    write: Out(1)
    result: Out(32)
    address: Out(32)
    store_data: Out(32)
    equal: Out(1)

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.pe = pe = ProcessingElement(self._config)
        m.submodules.decoder = decoder = Decoder(self._config)
        control, issue = {OPERAND_STAGE: Signal(ControlWord)}, {OPERAND_STAGE: self.issue}
        m.d.comb += control[OPERAND_STAGE].eq(decoder.control)
        with m.If(decoder.control.runtime != RuntimeValue.NONE):
            m.d.comb += control[OPERAND_STAGE].immediate.eq(self.runtime)
        for stage in range(OPERAND_STAGE + 1, RESULT_STAGE):
            control[stage], issue[stage] = Signal(ControlWord), Signal(Issue)
            m.d.sync += [control[stage].eq(control[stage - 1]), issue[stage].eq(issue[stage - 1])]
        rd, swapped = Signal(32), Signal()
        m.d.sync += rd.eq(self.rd)
        m.d.comb += [
            decoder.word.eq(self.word),
            swapped.eq(Cat(self.word[24:32] == by_mnemonic[name].opcode for name in SWAPPED).any()),
            pe.rs.eq(Mux(swapped, self.rt, self.rs)), pe.rt.eq(Mux(swapped, self.rs, self.rt)), pe.rd.eq(rd),
            pe.local_id.eq(self.local_id), pe.enable.eq(self.issue.valid), pe.control3.eq(control[3]),
            pe.control4.eq(control[4]), pe.control9.eq(control[9]), pe.issue5.eq(issue[5]),
            self.write.eq(pe.write), self.result.eq(pe.result), self.address.eq(pe.address),
            self.store_data.eq(pe.store_data), self.equal.eq(pe.equal),
        ]
        return m


class Reference:
    """Expected outputs, and a scratchpad."""

    def __init__(self, words: int) -> None:
        self.words = words
        self.scratchpad: dict[tuple[int, int, int], int] = {}

    def result(self, name: str, place: tuple[int, int], a: int, b: int, d: int, local_id: int,
               enable: bool) -> int | None:
        """What is written to rd, if anything is."""
        if not enable:
            return None
        if name in ("llwi", "lswi"):
            at = *place, (a + b) % self.words
            if name == "llwi":
                return self.scratchpad.get(at, 0)
            self.scratchpad[at] = d
            return None
        if name in OPERATIONS:
            value = OPERATIONS[name](a, b, d)
            return None if value is None else value % WORD
        return {"lid": local_id, "gid": (local_id + b) % WORD, "wgid": b, "lp": b}.get(name)


def random_word(rng: random.Random) -> int:
    return rng.choice([rng.choice(CORNERS), rng.getrandbits(32), rng.getrandbits(6)])


@pytest.mark.parametrize("config", [Config(), Config(scratchpad_size=8, sub_integer_stores=False)])
@pytest.mark.parametrize("run", quick(range(3), [0]))
def test_random_instructions(config: Config, run: int) -> None:
    """One a cycle, of any work-item."""
    rng = random.Random(run)
    dut = Pipeline(config)
    names = [*OPERATIONS, "llwi", "lswi", "llwi", "lswi", "lw", "sw", "lwp", "swp", "beq", "lid", "wgid",
             "lp", "gid"]
    reference = Reference(config.scratchpad_words)
    results: deque = deque()

    async def testbench(ctx) -> None:
        for cycle in range(2500):
            name, enable = names[cycle % len(names)] if run == 0 else rng.choice(names), rng.random() < 0.9
            row = by_mnemonic[name]
            imm = 0
            if row.immediate is not None:
                known = row.immediate_range
                imm = rng.choice([known[0], known[-1], max(known[0], 0), rng.choice(known)])
            a, b, d = (random_word(rng) for _ in range(3))
            local_id = rng.choice([0, 511, rng.randrange(512)])
            if rng.random() < 0.1:
                d = a
            place = rng.randrange(2), rng.randrange(8)
            word = encode(row.opcode, Operands(1, 2 * (row.format is not Format.RD_IMM), 3 * row.reads_rt, imm))
            ctx.set(dut.word, word)
            ctx.set(dut.issue, {"valid": enable, "wavefront": place[0], "phase": place[1]})
            for port, value in ((dut.rs, a), (dut.rt, b), (dut.rd, d), (dut.local_id, local_id),
                                (dut.runtime, uniform := random_word(rng))):
                ctx.set(port, value)
            of_runtime = row.unit is Unit.RUNTIME or row.format is Format.RD_PARAMETER_INDEX
            second = b if row.immediate is None else uniform if of_runtime else imm % WORD
            expected = reference.result(name, place, a, second, d, local_id, enable)
            address = (second + (a << row.scale)) % WORD if row.space is Space.GLOBAL else None
            first = local_id if name in ("lid", "gid") else a
            results.append((name, first, second, d, expected, address))
            check(ctx.get(dut.write), ctx.get(dut.result), ctx.get(dut.address), ctx.get(dut.store_data),
                  ctx.get(dut.equal))
            await ctx.tick()

    def check(write: int, result: int, address: int, store_data: int, equal: int) -> None:
        if len(results) > RESULT_STAGE - OPERAND_STAGE:
            name, a, b, d, expected, _ = results.popleft()
            assert write == (expected is not None), name
            if expected is not None:
                assert result == expected, f"{name} {a:08x} {b:08x} {d:08x}"
        if len(results) > MEMORY_STAGE - OPERAND_STAGE:
            *_, d, _, expected = results[-1 - (MEMORY_STAGE - OPERAND_STAGE)]
            if expected is not None:
                assert (address, store_data) == (expected, d)
        if len(results) > 2:
            name, a, b, d, _, _ = results[-3]
            if name not in SWAPPED:
                assert equal == (a == d), name

    simulate(dut, testbench)


def test_all_pairs_of_corners() -> None:
    """Every operation of two registers on every pair of corner values."""
    dut = Pipeline(Config(scratchpad_size=0))
    rng = random.Random(1)
    names = [name for name in OPERATIONS if by_mnemonic[name].format is Format.RD_RS_RT]
    cases = [(name, a, b, rng.choice(CORNERS)) for name in names for a in CORNERS for b in CORNERS]
    cases = rng.sample(cases, 4000)

    async def drive(ctx) -> None:
        ctx.set(dut.issue.valid, 1)
        for name, a, b, d in cases:
            ctx.set(dut.word, encode(by_mnemonic[name].opcode, Operands(1, 2, 3)))
            for port, value in ((dut.rs, a), (dut.rt, b), (dut.rd, d)):
                ctx.set(port, value)
            await ctx.tick()

    async def check(ctx) -> None:
        await ctx.tick().repeat(RESULT_STAGE - OPERAND_STAGE)
        for name, a, b, d in cases:
            write, result = ctx.get(dut.write), ctx.get(dut.result)
            expected = OPERATIONS[name](a, b, d)
            assert (result if write else None) == (None if expected is None else expected % WORD), \
                f"{name} {a:08x} {b:08x} {d:08x}"
            await ctx.tick()

    simulate(dut, drive, check)
