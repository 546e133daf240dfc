"""What kernels get besides the parameters that their source has: where their tables and their memory are."""

from contextlib import ExitStack

import numpy as np

from fgpu.compiler.image import Image
from fgpu.errors import LaunchError, MemoryAccessError

from .buffer import Buffer
from .device_memory import DeviceMemory
from .prepared import PreparedLaunch

__all__ = ["ImplicitParameters"]


class ImplicitParameters:
    """Those of the launches on a device. Tables go to its memory when they are first needed, and stay."""

    def __init__(self) -> None:
        self._tables: dict[tuple[bytes, tuple[int, ...]], Buffer] = {}

    def of(self, device: DeviceMemory, prepared: PreparedLaunch, after: ExitStack) -> dict[str, int]:
        """By name: addresses in bytes, of memory that is the launch's until ``after`` ends, and numbers.

        Raises :class:`~fgpu.errors.LaunchError` where there is no room.
        """
        names, kernel, room = prepared.implicit, prepared.kernel, prepared.room
        values = {"work_dim": prepared.whole.dimensions}
        if "constants" in names:
            values["constants"] = self._constants(device, prepared.image).address
        if "private" in names:
            work_items = prepared.work_items
            values["private"] = _reserved(
                device, kernel.private_room(work_items), after, f"kernel {kernel.name!r} needs "
                f"{kernel.private_bytes} bytes of private memory for each of {work_items} work-items")
        if "local" in names:
            values["local"] = _reserved(
                device, room.regions * room.region_bytes, after, f"kernel {kernel.name!r} needs "
                f"{room.region_bytes:,} bytes of local memory, in global memory, for each of {room.regions} "
                "work-groups that run together")
            values["local_bytes"] = room.region_bytes
        return values

    def _constants(self, device: DeviceMemory, image: Image) -> Buffer:
        """Where the image's data are."""
        key = image.data, image.pointers
        if key not in self._tables:
            tables = self._tables[key] = device.buffer(np.frombuffer(image.data, np.uint8))
            if image.pointers:
                tables.write(np.frombuffer(image.data_at(tables.address), np.uint8))
        return self._tables[key]


def _reserved(device: DeviceMemory, size: int, after: ExitStack, why: str) -> int:
    """The address of ``size`` bytes of memory for the time of a launch."""
    allocator = device.memory.allocator
    try:
        address = allocator.take(size)
    except MemoryAccessError as error:
        raise LaunchError(f"{why}: {error}") from None
    after.callback(allocator.free, address)
    return address
