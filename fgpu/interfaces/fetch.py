"""Between the compute units and the code RAM."""

from amaranth.lib import data

from fgpu.config import WAVEFRONT_BITS, Config

__all__ = ["FetchRequest", "Fetched"]


class FetchRequest(data.StructLayout):
    """Asks for the pair of instructions that contains a wavefront's next one."""

    def __init__(self, config: Config) -> None:
        super().__init__({"wavefront": WAVEFRONT_BITS, "pair": config.pc_bits - 1})


class Fetched(data.Struct):
    """A pair of instructions on its way to a wavefront."""

    valid: 1
    wavefront: WAVEFRONT_BITS
    pair: 64
