"""The configurations of ``test_icarus`` and of its bench."""

from fgpu.config import ATOMICS, FLOAT_OPS, Config

CONFIGS = {
    "tiny": Config.preset("tiny"),
    "wide": Config(compute_units=2, cache_size=4, cache_ways=2, tag_managers=4, atomics=ATOMICS, float_ops=FLOAT_OPS),
}
