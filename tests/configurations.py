"""Configurations that several test files simulate: the model of each is built once."""

from dataclasses import fields

from fgpu.benchmarks.work_groups import CONFIG
from fgpu.config import ATOMICS, Config

__all__ = ["ATOMIC", "EVERYTHING", "GROUPS", "LOCAL", "SLICES", "TWO_PORTS", "options"]

ATOMIC = Config(compute_units=2, cache_size=4, tag_managers=4, atomics=ATOMICS)
TWO_PORTS = Config(compute_units=2, axi_ports=2, cache_banks=2, cache_size=4, cache_ways=1, cu_stations=16,
                   cram_size=1, link_stack_depth=8, scratchpad_check=True, atomics=ATOMICS - {"cmpxchg"})
SLICES = ATOMIC.replace(cache_slices=4, cache_line=64, cache_size=8)
LOCAL = Config.preset("tiny", local_memory=8)
EVERYTHING = CONFIG      # of the benchmarks with local memory
GROUPS = EVERYTHING.replace(float_ops=frozenset())


def options(config: Config) -> str:
    """Options of the command line for ``config``."""
    made = []
    for field in fields(config):
        value, option = getattr(config, field.name), field.name.replace("_", "-")
        if value != getattr(Config(), field.name):
            if isinstance(value, bool):
                made.append(f"--{option}" if value else f"--no-{option}")
            else:
                made += [f"--{option}", ",".join(sorted(value)) if isinstance(value, frozenset) else str(value)]
    return " ".join(made)
