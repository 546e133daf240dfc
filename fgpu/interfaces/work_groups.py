"""What the dispatcher tells the compute units."""

from amaranth.lib import data

from fgpu.address_map import SizeWord
from fgpu.config import DIMENSION_BITS, DIMENSIONS, WAVEFRONT_BITS, WAVEFRONT_SIZE, WAVEFRONTS

__all__ = ["GROUP_BITS", "KernelInfo", "ResidentGroups", "WorkGroup"]

_SIZE_WORD = SizeWord.as_shape()
_ROWS_BITS, _LIMIT_BITS = _SIZE_WORD["local_rows"].width, _SIZE_WORD["local_groups"].width

GROUP_BITS = WAVEFRONT_BITS
"""Bits of a resident work-group's number: a compute unit has no more of them than wavefronts."""


class KernelInfo(data.Struct):
    """The running kernel; constant while work-groups run."""

    entry: 14
    wavefronts_minus_1: WAVEFRONT_BITS
    last_mask: WAVEFRONT_SIZE
    """Enabled work-items of a work-group's last wavefront."""
    dimensions_minus_1: DIMENSION_BITS
    local_rows: _ROWS_BITS
    """Rows of local memory of each work-group."""
    local_groups: _LIMIT_BITS
    """Work-groups on a compute unit at a time at most; 0: eight."""
    place: 1
    """The runtime memory gets the place of each work-group, too."""


class WorkGroup(data.Struct):
    """One work-group: its id and the global id of its first work-item, in each dimension."""

    ids: data.ArrayLayout(32, DIMENSIONS)
    offsets: data.ArrayLayout(32, DIMENSIONS)


class ResidentGroups(data.Struct):
    """The work-groups of a compute unit, by number: one bit each."""

    members: data.ArrayLayout(1 << GROUP_BITS, WAVEFRONTS)
    """The work-group of each slot; none if it has been free for a cycle."""
    starting: 1 << GROUP_BITS
    """The one of which wavefronts have still to start."""
