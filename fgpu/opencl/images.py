"""Images and samplers, of which the devices have none: what the standard wants to be answered then."""

import ctypes

from .buffers import check_flags
from .contexts import Context
from .entry import entry
from .enums import MemObjectType, Status
from .objects import ClError, find
from .queues import CommandQueue

__all__ = ["refuse"]

_IMAGES = set(MemObjectType) - {MemObjectType.BUFFER}


def refuse(context: int, *_: int) -> int:
    """Make no image or sampler."""
    find(Context, context)
    raise ClError(Status.INVALID_OPERATION, "the devices have no images")


def _no_image(queue: int, *_: int) -> int:
    find(CommandQueue, queue)
    raise ClError(Status.INVALID_MEM_OBJECT, "there are no images")


def _no_sampler(sampler: int, *_: int) -> int:
    raise ClError(Status.INVALID_SAMPLER, f"0x{sampler:x} is no sampler")


for _name in ("clCreateImage", "clCreateImage2D", "clCreateImage3D", "clCreateSampler"):
    entry(_name)(refuse)
for _name in ("clEnqueueReadImage", "clEnqueueWriteImage", "clEnqueueCopyImage", "clEnqueueCopyImageToBuffer",
              "clEnqueueCopyBufferToImage", "clEnqueueMapImage", "clEnqueueFillImage"):
    entry(_name)(_no_image)
for _name in ("clRetainSampler", "clReleaseSampler", "clGetSamplerInfo"):
    entry(_name)(_no_sampler)


@entry("clGetImageInfo")
def get_image_info(image: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    raise ClError(Status.INVALID_MEM_OBJECT, f"0x{image:x} is no image")


@entry("clGetSupportedImageFormats")
def get_supported_image_formats(context: int, flags: int, kind: int, room: int, formats: int, count_ret: int) -> None:
    find(Context, context)
    check_flags(flags)
    if kind not in _IMAGES or (formats and not room):
        raise ClError(Status.INVALID_VALUE, f"image type 0x{kind:X}, room for {room} formats")
    if count_ret:
        ctypes.c_uint32.from_address(count_ret).value = 0
