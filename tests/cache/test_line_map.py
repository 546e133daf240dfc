"""Where lines live: every line has a place of its own, and powers of two apart they do not meet."""

import random

import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator

from fgpu.config import Config
from fgpu.interfaces.line_map import LineMap

from ..seeds import seed_of_test

CONFIGS = {
    "default": Config(),
    "largest": Config(cache_size=128, cache_line=64, cache_ways=1),
    "smallest": Config(cache_size=4, cache_ways=2),
    "2 slices": Config(cache_slices=2),
    "4 slices": Config(axi_ports=4, cache_size=32),
    "8 slices": Config(cache_slices=8, axi_ports=2, cache_size=64),
}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("hashed", ["identity", "xor"])
def test_a_place_has_one_line(config: Config, hashed: str) -> None:
    lines = LineMap(config.replace(address_hash=hashed))
    rng = random.Random(seed_of_test())
    for _ in range(1000):
        line = rng.getrandbits(config.line_address_bits)
        assert lines.line(lines.slice(line), lines.place(line)) == line
        assert lines.place(line) >> config.cache_sets.bit_length() - 1 == line // (config.slices * config.cache_sets)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_lines_a_power_of_two_apart_do_not_meet(config: Config) -> None:
    """As many as there are places in a way, and as there are slices."""
    lines = LineMap(config)
    for shift in range(13):
        base = 0x10000000 // config.cache_line
        apart = [base + (n << shift) for n in range(config.slices * config.cache_sets)]
        places = {(lines.slice(line), lines.place(line) % config.cache_sets) for line in apart}
        assert len(places) == len(apart), f"2**{shift} lines apart"
        assert len({lines.slice(line) for line in apart[:config.slices]}) == config.slices


def test_without_hash_they_do() -> None:
    lines = LineMap(Config(axi_ports=4, address_hash="identity"))
    assert {lines.slice(n * 16) for n in range(100)} == {0}
    assert lines.place(0b110101) == 0b1101


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_hardware_knows_the_same_places(config: Config) -> None:
    lines = LineMap(config.replace(address_hash="xor"))
    line = Signal(config.line_address_bits)
    slice, place, back = Signal(config.slice_bits), Signal(config.line_address_bits), Signal.like(line)
    m = Module()
    m.d.comb += [slice.eq(lines.slice(line)), place.eq(lines.place(line)), back.eq(lines.line(slice, place))]
    rng = random.Random(seed_of_test())

    async def testbench(ctx):
        for _ in range(100):
            number = rng.getrandbits(config.line_address_bits)
            ctx.set(line, number)
            assert (ctx.get(slice), ctx.get(place)) == (lines.slice(number), lines.place(number))
            assert ctx.get(back) == number

    simulator = Simulator(m)
    simulator.add_testbench(testbench)
    simulator.run()
