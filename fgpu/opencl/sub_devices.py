"""Sub-devices: some of a device's compute units."""

import ctypes
from collections.abc import Sequence

from .answers import give_handles
from .devices import Device
from .entry import entry
from .enums import Partition, Status
from .objects import ClError, find

__all__: list[str] = []

_HARDWARE = (1, 2, 4, 8)        # numbers of compute units that a core can have


@entry("clCreateSubDevices")
def create_sub_devices(device: int, properties: int, room: int, devices: int, count_ret: int) -> None:
    found = find(Device, device)
    if not properties:
        raise ClError(Status.INVALID_VALUE, "no properties")
    words = _words(properties)
    counts = _counts(found, words)
    if devices and room < len(counts):
        raise ClError(Status.INVALID_VALUE, f"room for {room} of {len(counts)} sub-devices")
    if devices:
        made = [_sub_device(found, count, number, words) for number, count in enumerate(counts)]
        give_handles(made, len(made), devices, count_ret)
    elif count_ret:
        ctypes.c_uint32.from_address(count_ret).value = len(counts)


def _words(address: int) -> tuple[int, ...]:
    """The property list, with the 0 at its end."""

    def word(index: int) -> int:
        return ctypes.c_ssize_t.from_address(address + 8 * index).value

    if word(0) == Partition.BY_COUNTS:
        end = 1
        while word(end) != Partition.BY_COUNTS_LIST_END:
            end += 1
        return (*map(word, range(end + 1)), 0)
    if word(0) == Partition.EQUALLY:
        if word(2) != 0:
            raise ClError(Status.INVALID_VALUE, "a second way to partition")
        return (word(0), word(1), 0)
    raise ClError(Status.INVALID_VALUE, f"0x{word(0) & (1 << 64) - 1:X} is no way to partition this device")


def _counts(device: Device, words: Sequence[int]) -> list[int]:
    """The compute units of each sub-device. Raises :class:`ClError` for what cannot be."""
    there = device.compute_units
    if device.is_hardware:
        raise ClError(Status.DEVICE_PARTITION_FAILED, "hardware cannot be partitioned")
    if there == 1:
        raise ClError(Status.DEVICE_PARTITION_FAILED, "a device with one compute unit cannot be partitioned")
    counts = list(words[1:-2]) if words[0] == Partition.BY_COUNTS else [words[1]]
    if not counts or any(count < 1 for count in counts) or sum(counts) > there:
        raise ClError(Status.INVALID_DEVICE_PARTITION_COUNT, f"{counts} of {there} compute units")
    if words[0] == Partition.EQUALLY:
        if counts[0] == there:
            raise ClError(Status.DEVICE_PARTITION_FAILED, "all compute units for one sub-device")
        counts *= there // counts[0]
    if device.engine != "functional" and any(count not in _HARDWARE for count in counts):
        raise ClError(Status.DEVICE_PARTITION_FAILED, f"{counts} compute units, where cores have {_HARDWARE}")
    return counts


def _sub_device(parent: Device, count: int, number: int, words: Sequence[int]) -> Device:
    """A device of its own on the same memory; the functional engine needs no core with just so many compute units."""
    config = parent.config.replace(compute_units=max(units for units in _HARDWARE if units <= count))
    return Device(f"{parent.name}, part {number}: {count} CU" + "s" * (count > 1), parent.kind, parent.engine, config,
                  parent.clock, compute_units=count, parent=parent, partition=words)
