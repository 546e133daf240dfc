"""Where in local memory the work-group of each wavefront has its rows."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import WAVEFRONT_BITS, WAVEFRONTS, Config
from fgpu.gateware.choose import number_of
from fgpu.gateware.lut_ram import LutRam
from fgpu.interfaces.work_groups import GROUP_BITS, KernelInfo

from .local_access import row_bits
from .pipeline import MEMORY_STAGE

__all__ = ["LocalBases"]


class LocalBases(wiring.Component):
    """Notes the first row of a wavefront when it starts: its work-group's number times the rows of a work-group.

    ``base`` is that of the ``wavefront`` that was issued ``MEMORY_STAGE`` cycles ago. By then the next wavefront may
    have started in its slot, but not when it was issued.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(WAVEFRONTS),
            "group": In(GROUP_BITS),
            "kernel": In(KernelInfo),
            "wavefront": In(WAVEFRONT_BITS),
            "base": Out(row_bits(config)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = row_bits(self._config)
        m.submodules.bases = bases = LutRam(width, WAVEFRONTS)
        write, read = bases.write_port(), bases.read_port()
        rows = self.kernel.local_rows
        m.d.sync += [
            write.en.eq(self.start.any()), write.addr.eq(number_of(self.start)),
            write.data.eq(sum(((rows << bit) & self.group[bit].replicate(len(rows) + bit))[:width]
                              for bit in range(GROUP_BITS))),
        ]
        m.d.comb += read.addr.eq(self.wavefront)
        base = read.data
        for stage in range(1, MEMORY_STAGE + 1):
            following = Signal(width, name=f"base{stage}")
            m.d.sync += following.eq(base)
            base = following
        m.d.comb += self.base.eq(base)
        return m
