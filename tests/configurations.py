"""Configurations that several test files simulate: the model of each is built once."""

from fgpu.config import ATOMICS, Config

__all__ = ["ATOMIC"]

ATOMIC = Config(compute_units=2, cache_size=4, tag_managers=4, atomics=ATOMICS)
