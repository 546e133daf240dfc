"""What the dispatcher tells the compute units."""

from amaranth.lib import data

from fgpu.config import DIMENSION_BITS, DIMENSIONS, WAVEFRONT_BITS, WAVEFRONT_SIZE

__all__ = ["KernelInfo", "WorkGroup"]


class KernelInfo(data.Struct):
    """The running kernel; constant while work-groups run."""

    entry: 14
    wavefronts_minus_1: WAVEFRONT_BITS
    last_mask: WAVEFRONT_SIZE
    """Enabled work-items of a work-group's last wavefront."""
    dimensions_minus_1: DIMENSION_BITS


class WorkGroup(data.Struct):
    """One work-group: its id and the global id of its first work-item, in each dimension."""

    ids: data.ArrayLayout(32, DIMENSIONS)
    offsets: data.ArrayLayout(32, DIMENSIONS)
