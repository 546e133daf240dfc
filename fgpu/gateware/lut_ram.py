"""LUT RAM: small memories that are read in the same cycle."""

from typing import Any

from amaranth.hdl import ShapeLike
from amaranth.lib.memory import Memory

__all__ = ["LutRam"]


class LutRam(Memory):
    """A memory in LUT RAM; its contents are unknown until they are written. One write port, and asynchronous reads.

    Synthesis tools are told so: by themselves some take registers or block RAM where a memory is wide or deep.
    """

    def __init__(self, shape: ShapeLike, depth: int) -> None:
        super().__init__(shape=shape, depth=depth, init=[], attrs={"ram_style": "distributed"})

    def read_port(self, *, domain: str = "comb", transparent_for: Any = (), src_loc_at: int = 0) -> Any:
        """An asynchronous read port."""
        return super().read_port(domain=domain, transparent_for=transparent_for, src_loc_at=1 + src_loc_at)
