"""The module of all units: what it says of itself, and that each lane has its own operands."""

import numpy as np
import pytest
from amaranth.back import rtlil

from fgpu.config import FLOAT_OPS, Config
from fgpu.cu.float.lane import Lane
from fgpu.cu.float.operations import BASE_LATENCY, LATENCY, FloatOp
from fgpu.cu.float.units import FloatUnits
from fgpu.cu.pipeline import SLOT_CYCLES
from fgpu.isa import Opcode
from fgpu.tools.area import component_area

from ...compiler.floating import canonical
from ...streams import simulate

SOME = frozenset({"uitofp", "fslt", "fsqrt"})


def test_codes_are_those_of_the_instructions():
    assert {op.name.lower() for op in FloatOp} == FLOAT_OPS
    for op in FloatOp:
        assert Opcode[op.name].value == 0xC0 | op.value


@pytest.mark.parametrize("names", [frozenset(), SOME, frozenset({"fdiv"})], ids=len)
def test_constants(names):
    units = FloatUnits(Config(float_ops=names))

    async def bench(ctx):
        available, slots = ctx.get(units.available), ctx.get(units.slots)
        for op in FloatOp:
            assert available >> op.value & 1 == (op.name.lower() in names)
            if op.name.lower() in names:
                assert BASE_LATENCY + SLOT_CYCLES * slots[op.value] == LATENCY[op]

    simulate(units, bench)


def test_lanes():
    units = FloatUnits(Config(float_ops=frozenset({"uitofp"})))
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 1 << 32, (20, 8), dtype=np.uint32)
    got = []

    async def bench(ctx):
        ctx.set(units.operation, FloatOp.UITOFP)
        ctx.set(units.select, FloatOp.UITOFP)
        for cycle in range(len(rows) + BASE_LATENCY):
            ctx.set(units.first, rows[cycle % len(rows)].tolist())
            if cycle >= BASE_LATENCY:
                got.append(list(ctx.get(units.result)))
            await ctx.tick()

    simulate(units, bench)
    assert np.array_equal(got, canonical(rows.astype(np.float32)))


def test_nothing_is_reset():
    """Amaranth gives each module with registers a port ``rst``; it leads nowhere."""
    lines = rtlil.convert(Lane(frozenset(FloatOp)), name="lane", emit_src=False).splitlines()
    assert any("\\CLK \\clk" in line for line in lines)
    assert all("wire" in line or "connect \\rst" in line for line in lines if "\\rst " in f"{line} ")


def test_cores_differ_in_the_units_alone():
    """The ports, and so the rest of the core, do not depend on the operations."""
    without, with_one = FloatUnits(Config()), FloatUnits(Config(float_ops=frozenset({"fslt"})))
    assert without.signature == with_one.signature
    texts = [rtlil.convert(component, name="units") for component in (without, with_one)]
    assert "less" in texts[1]
    assert "less" not in texts[0]


@pytest.mark.parametrize(("family", "dsps"), [pytest.param("xc7", 2, marks=pytest.mark.long), ("ecp5", 4)])
def test_multiplier_is_in_dsp_blocks(family, dsps):
    assert component_area(Lane(frozenset({FloatOp.FMUL})), family).dsps == dsps
