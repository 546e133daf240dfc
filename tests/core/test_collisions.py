"""No program notices what block RAM reads at an address that is written in the same cycle."""

import random
from functools import partial

import pytest
from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib.memory import ReadPort

from fgpu.config import ATOMICS, Config
from fgpu.core import FGPU
from fgpu.gateware.block_ram import BlockRam
from fgpu.sim.verilator import VerilatorEngine

from ..seeds import seed_of_test
from .harness import BASE, SIZE, Difference, Pair
from .program_generator import generate

CONFIG = Config(cache_banks=2, cache_line=64, cache_size=4, cu_stations=16, scratchpad_size=8, tag_managers=2,
                global_stations=32, link_stack_depth=8, cram_size=8)
MODULES = ("cu.register_file", "cu.pe", "cu.runtime_memory", "cu.divergence.stack", "cache.data_bank")


class Wrong(BlockRam):
    """Inverts every other bit of what it reads where it is written."""

    def read_port(self, **options) -> ReadPort:
        inside = super().read_port(**options)
        outside = inside.signature.flip().create()
        self.wrapped = (*getattr(self, "wrapped", ()), (inside, outside))
        return outside

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = super().elaborate(platform)
        for inside, outside in self.wrapped:
            collided = Signal()
            with m.If(outside.en):
                m.d.sync += collided.eq(0)
                for write in self.write_ports:
                    with m.If(write.en.any() & (write.addr == outside.addr)):
                        m.d.sync += collided.eq(1)
            right, seen = Value.cast(inside.data), Value.cast(outside.data)
            m.d.comb += [
                inside.addr.eq(outside.addr), inside.en.eq(outside.en),
                seen.eq(right ^ Mux(collided, int("01" * len(right), 2), 0)),
            ]
        return m


def wrong_core(config: Config) -> FGPU:
    return FGPU(config)


@pytest.mark.ci
@pytest.mark.parametrize("config", [
    CONFIG, pytest.param(CONFIG.replace(atomics=ATOMICS), marks=pytest.mark.long)], ids=["basic", "atomics"])
def test_collisions_do_not_matter(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in MODULES:
        monkeypatch.setattr(f"fgpu.{module}.BlockRam", Wrong)
    pair = Pair(config, engine=partial(VerilatorEngine, core=wrong_core))
    seed = seed_of_test()
    try:
        for index in range(20):
            rng = random.Random(f"collisions {seed} {index}")
            kernel = generate(rng, config, BASE, SIZE, wavefronts=8)
            pair.fill(kernel.memory, rng)
            pair.run(kernel)
    except Difference as difference:
        raise AssertionError(f"FGPU_SEED={seed}: {difference}") from difference
    finally:
        pair.close()
