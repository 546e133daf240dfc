"""Boxes of bytes in buffers and in the host's memory, and their copies."""

import ctypes
from typing import TYPE_CHECKING, NamedTuple

from .buffers import Buffer
from .entry import entry
from .enums import CommandType, Status
from .objects import ClError, find
from .queues import CommandQueue
from .transfers import NO_READING, NO_WRITING, check_pointer, find_buffer

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Box", "overlap"]


class Box(NamedTuple):
    """``width`` bytes of each of ``height`` rows of each of ``depth`` slices, from the byte ``offset`` on."""

    offset: int
    width: int
    height: int
    depth: int
    row_pitch: int
    slice_pitch: int

    @classmethod
    def at(cls, origin: int, region: int, row_pitch: int, slice_pitch: int) -> "Box":
        """From the API's parameters: two addresses of three ``size_t``, and pitches of which 0 is the least.

        Raises :class:`ClError` for an empty box, and for pitches in which it does not fit.
        """
        if not origin or not region:
            raise ClError(Status.INVALID_VALUE, "NULL for an origin or a region")
        x, y, z = (ctypes.c_size_t * 3).from_address(origin)
        width, height, depth = (ctypes.c_size_t * 3).from_address(region)
        if not width or not height or not depth:
            raise ClError(Status.INVALID_VALUE, f"an empty region: {width} x {height} x {depth}")
        if row_pitch and row_pitch < width:
            raise ClError(Status.INVALID_VALUE, f"a row pitch of {row_pitch} for {width} bytes")
        row_pitch = row_pitch or width
        if slice_pitch and (slice_pitch < height * row_pitch or slice_pitch % row_pitch):
            raise ClError(Status.INVALID_VALUE,
                          f"a slice pitch of {slice_pitch} for {height} rows with a pitch of {row_pitch}")
        slice_pitch = slice_pitch or height * row_pitch
        return cls(x + y * row_pitch + z * slice_pitch, width, height, depth, row_pitch, slice_pitch)

    @property
    def length(self) -> int:
        """Bytes from the first to the last."""
        return (self.depth - 1) * self.slice_pitch + (self.height - 1) * self.row_pitch + self.width

    def bytes_at(self, place: int) -> "np.ndarray":
        """The bytes themselves, in three dimensions, where the box's memory is at ``place`` in this process."""
        import numpy as np

        return np.asarray(_Bytes(place + self.offset, (self.depth, self.height, self.width),
                                 (self.slice_pitch, self.row_pitch, 1)))


class _Bytes:
    """Some of the process' memory, for NumPy."""

    def __init__(self, place: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.__array_interface__ = {"data": (place, False), "shape": shape, "strides": strides, "typestr": "|u1",
                                    "version": 3}


def overlap(first: Box, second: Box) -> bool:
    """Whether two boxes of the same extents, offsets counted from the same byte, share bytes.

    Where their pitches differ, they do as soon as their ranges from first to last byte do.
    """
    distance = abs(first.offset - second.offset)
    if (first.row_pitch, first.slice_pitch) != (second.row_pitch, second.slice_pitch):
        return distance < (first if first.offset < second.offset else second).length
    # As x + y * row_pitch + z * slice_pitch with a negative or positive x and y: either neighbour may do.
    slices, rest = divmod(distance, first.slice_pitch)
    for z, of_slice in ((slices, rest), (slices + 1, first.slice_pitch - rest)):
        rows, of_row = divmod(of_slice, first.row_pitch)
        for y, x in ((rows, of_row), (rows + 1, first.row_pitch - of_row)):
            if x < first.width and y < first.height and z < first.depth:
                return True
    return False


def _box_of(buffer: Buffer, origin: int, region: int, row_pitch: int, slice_pitch: int) -> Box:
    box = Box.at(origin, region, row_pitch, slice_pitch)
    buffer.check_range(box.offset, box.length)
    return box


@entry("clEnqueueReadBufferRect")
def enqueue_read_buffer_rect(
        queue: int, buffer: int, blocking: int, buffer_origin: int, host_origin: int, region: int, row_pitch: int,
        slice_pitch: int, host_row_pitch: int, host_slice_pitch: int, pointer: int,
        count: int, events: int, event: int) -> None:
    target = find(CommandQueue, queue)
    found = find_buffer(target, buffer, NO_READING)
    check_pointer(pointer)
    there = _box_of(found, buffer_origin, region, row_pitch, slice_pitch)
    here = Box.at(host_origin, region, host_row_pitch, host_slice_pitch)

    def work() -> None:
        here.bytes_at(pointer)[:] = there.bytes_at(found.place)

    target.enqueue(CommandType.READ_BUFFER_RECT, work, (count, events), event, blocking=blocking != 0)


@entry("clEnqueueWriteBufferRect")
def enqueue_write_buffer_rect(
        queue: int, buffer: int, blocking: int, buffer_origin: int, host_origin: int, region: int, row_pitch: int,
        slice_pitch: int, host_row_pitch: int, host_slice_pitch: int, pointer: int,
        count: int, events: int, event: int) -> None:
    target = find(CommandQueue, queue)
    found = find_buffer(target, buffer, NO_WRITING)
    check_pointer(pointer)
    there = _box_of(found, buffer_origin, region, row_pitch, slice_pitch)
    here = Box.at(host_origin, region, host_row_pitch, host_slice_pitch)

    def work() -> None:
        there.bytes_at(found.place)[:] = here.bytes_at(pointer)

    target.enqueue(CommandType.WRITE_BUFFER_RECT, work, (count, events), event, blocking=blocking != 0)


@entry("clEnqueueCopyBufferRect")
def enqueue_copy_buffer_rect(
        queue: int, source: int, destination: int, source_origin: int, destination_origin: int, region: int,
        source_row_pitch: int, source_slice_pitch: int, destination_row_pitch: int, destination_slice_pitch: int,
        count: int, events: int, event: int) -> None:
    target = find(CommandQueue, queue)
    read = find_buffer(target, source)
    written = find_buffer(target, destination)
    from_box = _box_of(read, source_origin, region, source_row_pitch, source_slice_pitch)
    to_box = _box_of(written, destination_origin, region, destination_row_pitch, destination_slice_pitch)
    if read is written and from_box[1:] != to_box[1:]:
        raise ClError(Status.INVALID_VALUE, "pitches that differ, in one buffer")
    if overlap(from_box._replace(offset=read.address + from_box.offset),
               to_box._replace(offset=written.address + to_box.offset)):
        raise ClError(Status.MEM_COPY_OVERLAP, f"{from_box} and {to_box}")

    def work() -> None:
        to_box.bytes_at(written.place)[:] = from_box.bytes_at(read.place)

    target.enqueue(CommandType.COPY_BUFFER_RECT, work, (count, events), event)
