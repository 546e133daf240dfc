"""Devices: what kernels run on."""

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Final

from fgpu.config import Config
from fgpu.engines import ENGINES, MEMORY_BASE
from fgpu.errors import FgpuError

from .answers import give_handles
from .device_list import DeviceListError, Offer, offers
from .device_time import DeviceTime
from .entry import entry
from .enums import DeviceType, Status
from .objects import ClError, Object, find
from .platforms import find_platform

if TYPE_CHECKING:
    from fgpu.sim import Device as Simulator
    from fgpu.sim.memory import GlobalMemory

__all__ = ["ALIGNMENT", "DEVICES", "Device", "allocator_lock", "max_allocation", "memory", "memory_size", "of_type"]

ALIGNMENT: Final = 128
"""Bytes of the largest type, long16: parts of buffers begin at multiples of it."""
_MEMORY_SIZE = 1 << 30
_BEFORE = 1 << 16
"""Bytes in front of the first buffer: programs read rows in front of a picture's first, and use nothing of them."""
_TYPES: Final = int(
    DeviceType.DEFAULT | DeviceType.CPU | DeviceType.GPU | DeviceType.ACCELERATOR | DeviceType.CUSTOM)

_memory: "GlobalMemory | None" = None
_hardware: "Simulator | None" = None


def memory() -> "GlobalMemory":
    """The global memory that all devices share: that of the hardware, where there is some."""
    global _memory
    if _memory is None:
        from fgpu.sim.memory import GlobalMemory

        if _hardware is not None:
            _memory = _hardware.memory
        else:
            _memory = GlobalMemory(MEMORY_BASE - _BEFORE, _BEFORE + _MEMORY_SIZE)
            _memory.allocator.take(_BEFORE)
    return _memory


def memory_size() -> int:
    """Bytes of the global memory."""
    return _MEMORY_SIZE if _hardware is None else _hardware.memory.size


def max_allocation() -> int:
    """Bytes of the largest buffer; the full profile wants a quarter of the memory."""
    return memory_size() // 4


def allocator_lock() -> AbstractContextManager[object]:
    """What to hold while nobody shall allocate global memory, if there is any yet."""
    return nullcontext() if _memory is None else _memory.allocator.lock


class Device(Object):
    """An FGPU of a configuration in an engine. Simulators are made at the first launch; hardware has been opened.

    ``clock`` is that of simulated cycles, in MHz. A sub-device has a ``parent``, the list of properties that it was
    made with (``partition``), and ``compute_units`` of its own.
    """

    invalid = Status.INVALID_DEVICE

    def __init__(self, name: str, kind: DeviceType, engine: str, config: Config, clock: int, *,
                 compute_units: int | None = None, parent: "Device | None" = None,
                 partition: Sequence[int] = ()) -> None:
        super().__init__()
        self.name = name
        self.kind = kind
        self.engine = engine
        self.config = config
        self.clock = clock
        self.compute_units = config.compute_units if compute_units is None else compute_units
        self.parent = parent
        self.partition = tuple(partition)
        self.time = DeviceTime()

    @cached_property
    def simulator(self) -> "Simulator":
        """What runs kernels."""
        if self.is_hardware and _hardware is not None:
            return _hardware
        from fgpu.sim import Device as Simulator

        from .patience import watch

        return Simulator(self.config, engine=self.engine, memory=memory(), check_accesses=False,
                         progress=watch(self.engine))

    @property
    def is_hardware(self) -> bool:
        """Whether it is no simulator."""
        return self.engine not in ENGINES

    @property
    def is_simulated(self) -> bool:
        """Whether it is simulated cycle by cycle, and its time is that of the cycles."""
        return not self.is_hardware and self.engine != "functional"

    def is_part_of(self, devices: "Sequence[Device]") -> bool:
        """Whether it is a sub-device of one of them, or of such a one's."""
        return self.parent is not None and (self.parent in devices or self.parent.is_part_of(devices))

    def after_fork(self) -> None:
        """Threads of the old process may be in its simulator."""
        self.__dict__.pop("simulator", None)
        self.time = DeviceTime()

    def seconds(self, cycles: int | None) -> float | None:
        """How long that many cycles take; None where there are none."""
        return None if cycles is None else cycles / (self.clock * 1e6)


def _devices() -> list[Device]:
    try:
        found = offers()
    except DeviceListError as error:
        sys.stderr.write(f"fgpu: {error}\n")
        return []
    found = [offer for each in found for offer in _opened(each)]
    return [Device(offer.name, DeviceType.ACCELERATOR if index else DeviceType.GPU, offer.engine, offer.config,
                   offer.clock) for index, offer in enumerate(found)]


def _opened(offer: Offer) -> list[Offer]:
    """An offer as it is, or of hardware as that tells; none where it does not answer."""
    global _hardware
    if offer.port is None:
        return [offer]
    from .hardware import open_hardware

    try:
        offer, _hardware = open_hardware(offer)
    except FgpuError as error:
        sys.stderr.write(f"fgpu: {error}\n")
        return []
    return [offer]


DEVICES: Final = _devices()
"""All root devices. The first is the default, and the one GPU."""


def of_type(kinds: int) -> list[Device]:
    """The root devices of some types. Raises :class:`ClError` for what is no type, and where there is none."""
    if not kinds or (kinds != DeviceType.ALL and kinds & ~_TYPES):
        raise ClError(Status.INVALID_DEVICE_TYPE, f"0x{kinds:X} is no type of devices")
    found = [device for index, device in enumerate(DEVICES)
             if device.kind & kinds or (kinds & DeviceType.DEFAULT and index == 0)]
    if not found:
        raise ClError(Status.DEVICE_NOT_FOUND, f"no device of type 0x{kinds:X}")
    return found


@entry("clGetDeviceIDs")
def get_device_ids(platform: int, kinds: int, room: int, devices: int, count_ret: int) -> None:
    find_platform(platform)
    give_handles(of_type(kinds), room, devices, count_ret)


@entry("clRetainDevice")
def retain_device(device: int) -> None:
    found = find(Device, device)
    if found.parent is not None:
        found.retain()


@entry("clReleaseDevice")
def release_device(device: int) -> None:
    found = find(Device, device)
    if found.parent is not None:
        found.release()
