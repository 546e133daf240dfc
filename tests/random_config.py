"""Random configurations over all parameters."""

import random
from dataclasses import fields

from fgpu.config import ATOMICS, FLOAT_OPS, Config
from fgpu.cu.divergence import HARDWARE
from fgpu.errors import ConfigError

__all__ = ["random_config"]

_ALLOWED = {
    "compute_units": (1, 2, 4, 8), "axi_ports": (1, 2, 4), "axi_data_width": (32, 64),
    "sub_integer_stores": (False, True), "cram_size": (1, 2, 4, 8, 16, 32, 64), "scratchpad_size": (0, 8, 16, 32),
    "scratchpad_check": (False, True), "cu_stations": tuple(range(16, 72, 8)),
    "cache_size": (0, 4, 8, 16, 32, 64, 128), "cache_slices": (0, 1, 2, 4, 8),
    "address_hash": ("xor", "identity"), "cache_conscious": (False, True),
    "cache_line": (64, 128), "cache_banks": (1, 2, 4, 8), "cache_ways": (1, 2, 4), "global_stations": (32, 64),
    "tag_managers": (1, 2, 4, 8, 16), "link_stack_depth": (8, 16, 32), "statistics": (False, True),
    "float_subnormals": (False, True), "local_memory": (0, 8, 16, 32, 64),
    "divergence": tuple(HARDWARE),
}
_SETS = {"atomics": ATOMICS, "float_ops": FLOAT_OPS}


def random_config(rng: random.Random, *, compute_units: tuple[int, ...] = (1, 2), **fixed: object) -> Config:
    """A configuration that the hardware can have; every value of every parameter may come.

    ``fixed`` parameters are not drawn.
    """
    allowed = {**_ALLOWED, "compute_units": compute_units}
    new = {field.name for field in fields(Config)} - set(allowed) - set(_SETS) - {"float_lanes"}
    assert not new, f"add the values of {new}"
    while True:
        drawn: dict[str, object] = {name: rng.choice(values) for name, values in allowed.items()}
        for name, operations in _SETS.items():
            some = rng.sample(sorted(operations), rng.randint(1, len(operations)))
            drawn[name] = frozenset(rng.choice([(), some, operations]))
        drawn |= fixed
        built = sorted(drawn["float_ops"])
        narrow = rng.sample(built, rng.choice([0, rng.randint(0, len(built))]))
        try:
            return Config(**{"float_lanes": {name: rng.choice((1, 2, 4, 8)) for name in narrow}} | drawn)
        except ConfigError:     # parameters that contradict each other
            continue
