"""The decoder against the instruction table, for every opcode byte."""

import random

import pytest

from fgpu import isa
from fgpu.config import ATOMICS, FLOAT_OPS, Config
from fgpu.cu.control_word import Flow, MemoryAccess
from fgpu.cu.decoder import Decoder
from fgpu.errors import EncodingError
from fgpu.isa import Opcode, Space, Unit, by_mnemonic

from ..streams import simulate

CONFIGS = [Config(), Config(atomics=ATOMICS - {"max"}), Config(float_ops=FLOAT_OPS - {"fadd", "fslt"}),
           Config(sub_integer_stores=False, scratchpad_size=0, cram_size=4), Config(local_memory=8),
           Config(divergence="ipdom"),
           Config(local_memory=8, atomics=ATOMICS, scratchpad_size=0, sub_integer_stores=False)]
SWAPPED = {Opcode.SUB, Opcode.SLT, Opcode.SLTU}
FLOWS = {Opcode.BEQ: Flow.BRANCH, Opcode.BNE: Flow.BRANCH, Opcode.JSUB: Flow.CALL, Opcode.RET: Flow.RETURN,
         Opcode.SYNC: Flow.SYNC, Opcode.MEET: Flow.MEET}


def decoded(word: int, config: Config) -> tuple[isa.Instruction, isa.Operands] | None:
    """None: no instruction of this configuration."""
    try:
        row, operands = isa.decode(word)
    except EncodingError:
        return None
    return None if config.lacks(row) else (row, operands)


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("first", range(0, 256, 64))
def test_every_opcode_byte(config: Config, first: int) -> None:
    rng = random.Random(first)
    dut = Decoder(config)

    async def testbench(ctx) -> None:
        for name in config.float_ops:
            ctx.set(dut.float_available[by_mnemonic[name].opcode.value & 15], 1)
        for byte in range(first, first + 64):
            for low in (0, 0xFF_FFFF, *(rng.getrandbits(24) for _ in range(6))):
                word = byte << 24 | low
                ctx.set(dut.word, word)
                check(ctx, word)
            await ctx.tick()

    def check(ctx, word: int) -> None:
        legal, control = ctx.get(dut.legal), ctx.get(dut.control)
        known = decoded(word, config)
        assert legal == (known is not None), f"{word:08x}"
        if known is None:
            assert not control.write
            assert not control.scratchpad_write
            assert control.memory == MemoryAccess.NONE
            assert control.flow == Flow.NEXT
            return
        row, operands = known
        if row.format is isa.Format.RD_ATOMIC or row.opcode in SWAPPED:     # the arithmetic unit multiplies the first
            operands = operands._replace(rs=operands.rt, rt=operands.rs)
        for name, used in (("rd", row.reads_rd or row.writes_rd), ("rs", row.reads_rs), ("rt", row.reads_rt)):
            if used:
                assert getattr(control, name) == getattr(operands, name), f"{word:08x} {name}"
        if config.float_ops:
            assert ctx.get(dut.is_float) == (row.unit is Unit.FLOAT)
        elsewhere = row.unit is Unit.FLOAT or row.space in (Space.GLOBAL, Space.LOCAL)
        atomic = row.atomic is not None
        accesses = row.space in (Space.GLOBAL, Space.LOCAL)
        assert control.write == (row.writes_rd and not elsewhere and operands.rd != 0)
        assert control.scratchpad_write == (row.opcode is Opcode.LSWI)
        assert control.memory == (MemoryAccess.ATOMIC if atomic else MemoryAccess.NONE if not accesses else
                                  MemoryAccess.LOAD if row.writes_rd else MemoryAccess.STORE)
        if atomic:
            assert control.atomic.value == row.opcode.value & 15
        if accesses:
            assert control.scale == row.scale
            assert control.width.value == (2 if atomic else row.scale)
            if config.local_memory:
                assert ctx.get(dut.is_local) == (row.space is Space.LOCAL)
        assert control.flow == FLOWS.get(row.opcode, Flow.NEXT)
        assert control.on_equal == (row.opcode is Opcode.BEQ)
        if row.immediate is not None:
            value = operands.imm << 16 if row.opcode is Opcode.LUI else operands.imm
            if row.immediate is isa.SHIFT5:
                assert (control.immediate - value) % 32 == 0
            elif row.immediate is isa.PARAMETER4:       # the runtime memory looks at four bits
                assert (control.immediate - value) % 16 == 0
            else:
                value = -value if row.unit is Unit.COMPARE else value
                assert control.immediate == value % 2**32, f"{word:08x}"

    simulate(dut, testbench)
