"""Configurations that several test files simulate: the model of each is built once."""

from dataclasses import fields

from fgpu.config import ATOMICS, FLOAT_OPS, Config

__all__ = ["ATOMIC", "EVERYTHING", "GROUPS", "LOCAL", "SLICES", "TWO_PORTS", "options"]

ATOMIC = Config(compute_units=2, cache_size=4, tag_managers=4, atomics=ATOMICS)
TWO_PORTS = Config(compute_units=2, axi_ports=2, cache_banks=2, cache_size=4, cache_ways=1, cu_stations=16,
                   cram_size=1, link_stack_depth=8, scratchpad_check=True, atomics=ATOMICS - {"cmpxchg"})
SLICES = ATOMIC.replace(cache_slices=4, cache_line=64, cache_size=8)
LOCAL = Config.preset("tiny", local_memory=8)
GROUPS = Config(local_memory=32, atomics=ATOMICS)
EVERYTHING = GROUPS.replace(float_ops=FLOAT_OPS)


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
