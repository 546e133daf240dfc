"""Global memory is given out in ranges that do not overlap, to all devices and threads."""

import os
import random
import threading

import pytest

from fgpu.config import Config
from fgpu.errors import MemoryAccessError
from fgpu.sim import Device
from fgpu.sim.allocator import Allocator
from fgpu.sim.memory import GlobalMemory
from tests.growth import growth

_BASE = 0x1000_0000
_PAGE = 4096


def _lowest(taken, length, size):
    """The lowest page with room and 128 bytes to spare on both sides, by trying all."""
    for address in range(_BASE, _BASE + size, _PAGE):
        if address + length <= _BASE + size and all(
                address >= end + 128 or address + length + 128 <= first for first, end in taken):
            return address
    return None


@pytest.mark.parametrize("seed", range(4))
def test_the_lowest_page_with_room_is_taken(seed):
    choose = random.Random(seed)
    size = 40 * _PAGE
    allocator = Allocator(_BASE, size)
    taken = {}
    for _ in range(400):
        length = choose.choice((4, 64, 3968, 3972, 4096, 9000, 30_000))
        address = choose.randrange(_BASE, _BASE + size - length, 4) if choose.random() < 0.2 else None
        expected = _lowest(taken.items(), length, size) if address is None else address if all(
            address >= end or address + length <= first for first, end in taken.items()) else None
        if expected is None:
            with pytest.raises(MemoryAccessError, match="no room for" if address is None else "overlaps"):
                allocator.take(length, address)
        else:
            assert allocator.take(length, address) == expected
            taken[expected] = expected + length
        while len(taken) > choose.randrange(2, 30):
            address = choose.choice(list(taken))
            del taken[address]
            allocator.free(address)
        for first, end in taken.items():
            assert allocator.holds(first, end - first)
            assert allocator.holds(end - 1)
        assert sum(end - first for first, end in allocator.ranges) == sum(end - first for first, end in taken.items())


def test_many_ranges_take_time_that_is_linear():
    def work(count):
        allocator = Allocator(_BASE, 1 << 30)
        taken = [allocator.take(64) for _ in range(count)]
        for address in taken[::2]:
            allocator.free(address)
        assert [allocator.take(64) for _ in taken[::2]] == taken[::2]

    assert growth(work, 1_000, 10) < 40     # 10 if linear, 100 if quadratic


def test_devices_that_share_a_memory_have_buffers_at_different_places():
    memory = GlobalMemory(size=1 << 20)
    devices = [Device(Config.preset("tiny"), engine="functional", memory=memory) for _ in range(2)]
    buffers = [device.buffer([number] * 10) for number, device in enumerate(devices)]
    assert [list(buffer) for buffer in buffers] == [[0] * 10, [1] * 10]
    buffers[0].free()
    assert devices[1].buffer(10).address == buffers[0].address


def test_threads_take_and_free_at_once():
    allocator = Allocator(_BASE, 1 << 24)
    wrong = []

    def work():
        for _ in range(300):
            address = allocator.take(5000)
            inside = [(first, end) for first, end in allocator.ranges if first <= address < end]
            if inside != [(address, address + 5000)]:
                wrong.append(inside)
            allocator.free(address)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert not allocator.ranges


def test_a_fork_has_a_memory_of_its_own():
    memory = GlobalMemory(size=1 << 20)
    memory.bytes[:10] = 1
    child = os.fork()
    if not child:
        memory.bytes[:5] += 1
        os._exit(int(memory.bytes.sum()))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 15
    assert memory.bytes.sum() == 10
