"""Devices: what kernels run on."""

from functools import cached_property
from typing import TYPE_CHECKING

from fgpu.config import Config

from .answers import answer, boolean, give_handles, handle, text, uint, ulong
from .entry import entry
from .enums import DeviceInfo, DeviceType, Status
from .objects import ClError, Object, find
from .platforms import PLATFORM, find_platform

if TYPE_CHECKING:
    from fgpu.sim import Device as Simulator
    from fgpu.sim.memory import GlobalMemory

__all__ = ["DEVICES", "Device", "memory"]

_memory: "GlobalMemory | None" = None


def memory() -> "GlobalMemory":
    """The global memory that all devices share."""
    global _memory
    if _memory is None:
        from fgpu.sim.memory import GlobalMemory

        _memory = GlobalMemory(0x1000_0000, 1 << 30)
    return _memory


class Device(Object):
    """An FGPU of a configuration in an engine. Simulators are made at the first launch."""

    invalid = Status.INVALID_DEVICE

    def __init__(self, name: str, kind: DeviceType, engine: str, config: Config) -> None:
        super().__init__()
        self.name = name
        self.kind = kind
        self.engine = engine
        self.config = config

    @cached_property
    def simulator(self) -> "Simulator":
        """What runs kernels."""
        from fgpu.sim import Device as Simulator

        return Simulator(self.config, engine=self.engine, memory=memory(), check_accesses=False)


DEVICES = [Device("FGPU functional", DeviceType.GPU, "functional",
                  Config(atomics=Config().atomics, local_memory=32))]

_INFO = {
    DeviceInfo.TYPE: lambda device: ulong(device.kind),
    DeviceInfo.NAME: lambda device: text(device.name),
    DeviceInfo.PLATFORM: lambda device: handle(PLATFORM),
    DeviceInfo.MAX_COMPUTE_UNITS: lambda device: uint(device.config.compute_units),
    DeviceInfo.AVAILABLE: lambda device: boolean(True),
    DeviceInfo.COMPILER_AVAILABLE: lambda device: boolean(True),
}


@entry("clGetDeviceIDs")
def get_device_ids(platform: int, kinds: int, room: int, devices: int, count_ret: int) -> None:
    find_platform(platform)
    found = [device for device in DEVICES if device.kind & kinds or kinds & DeviceType.DEFAULT]
    if not found:
        raise ClError(Status.DEVICE_NOT_FOUND, f"no device of type 0x{kinds:X}")
    give_handles(found, room, devices, count_ret)


@entry("clGetDeviceInfo")
def get_device_info(device: int, name: int, value_size: int, value: int, size_ret: int) -> None:
    answer(_INFO, find(Device, device), name, value_size, value, size_ret)


@entry("clRetainDevice")
def retain_device(device: int) -> None:
    find(Device, device)


@entry("clReleaseDevice")
def release_device(device: int) -> None:
    find(Device, device)
