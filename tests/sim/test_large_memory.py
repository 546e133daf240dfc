"""Large memories and buffers cost what is touched of them."""

import sys
from pathlib import Path

import numpy as np
import pytest

from fgpu.sim import Device, GlobalMemory

MIB = 1 << 20
PAGE = 4096


def resident():
    """Bytes of this process in the host's memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux how much memory there is in use")
def test_what_nobody_touches_costs_nothing():
    device = Device(engine="functional", memory=GlobalMemory(size=1 << 30))
    before = resident()
    buffers = [device.buffer(128 * MIB // 4) for _ in range(7)]
    buffers[3][1000] = 5
    assert buffers[3][999:1002].tolist() == [0, 5, 0]
    for buffer in buffers:
        buffer.free()
    assert resident() - before < 16 * MIB


@pytest.mark.parametrize(("offset", "length"), [(0, 3 * MIB), (4, 2 * MIB), (PAGE - 4, MIB + 8), (400, 1000), (0, 4)])
def test_memory_is_cleared_and_its_neighbours_are_not(offset, length):
    memory = GlobalMemory(size=4 * MIB)
    memory.bytes[:] = 255
    memory.clear(memory.base + offset, length)
    expected = np.full(memory.size, 255, np.uint8)
    expected[offset:offset + length] = 0
    assert np.array_equal(memory.bytes, expected)


def test_a_new_buffer_has_zeros_where_another_was():
    device = Device(engine="functional")
    first = device.buffer(np.full(MIB, 7, np.int32))
    address = first.address
    first.free()
    second = device.buffer(MIB)
    assert second.address == address
    assert not second.read().any()
