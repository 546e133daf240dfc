"""The AXI memory model by itself: its default timing, ids, random timing and protocol checks."""

import hashlib
from itertools import groupby, pairwise

import numpy as np
import pytest

from fgpu.errors import ConfigError
from fgpu.sim.engine import MemoryTiming
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.testbench import abi

from .axi_bench import Bench, RandomMaster, snapshot

HARD = MemoryTiming(read_latency=(0, 20), write_latency=(0, 12), pause_probability=0.2, pause_cycles=(1, 5),
                    interleave=True, reorder=True, seed=3)


def read_beats(bench, wanted):
    """Take read beats for a while; cycle, id and data of each, and the cycles in which AR was accepted.

    ``wanted`` maps a cycle to the address and id that is raised in it, or after the one before is accepted.
    """
    axi, seen = bench.out.axi[0], bench.inputs.axi[0]
    axi.rready = 1
    beats, accepted, waiting = [], [], sorted(wanted.items())
    for _ in range(200):
        if not axi.ar.valid and waiting and waiting[0][0] <= bench.cycle:
            _, (address, identifier) = waiting.pop(0)
            bench.address(axi.ar, address, 16, identifier)
        if seen.rvalid:
            beats.append((bench.cycle, seen.rid, seen.rdata, seen.rlast))
        taken = axi.ar.valid and seen.arready
        if taken:
            accepted.append(bench.cycle)
        bench.step()
        assert bench.status == abi.RUNNING, bench.message
        if taken:
            axi.ar.valid = 0
    return beats, accepted


def test_read_timing():
    bench = Bench()
    bench.memory.words[:32] = np.arange(32)
    beats, accepted = read_beats(bench, {5: (bench.memory.base, 9)})
    assert accepted == [6]                                          # valid in 5
    assert [cycle for cycle, *_ in beats] == list(range(7, 23))     # then one a cycle
    assert [data for _, _, data, _ in beats] == [2 * i | 2 * i + 1 << 32 for i in range(16)]
    assert [last for *_, last in beats] == [0] * 15 + [1]
    assert {identifier for _, identifier, *_ in beats} == {9}


def test_lowest_id_first_one_burst_at_a_time():
    bench = Bench()
    base = bench.memory.base
    beats, accepted = read_beats(bench, {0: (base, 5), 1: (base + 4096, 7), 2: (base + 8192, 2)})
    assert accepted == [1, 3, 5]
    assert [cycle for cycle, *_ in beats] == list(range(2, 50))
    assert [(k, len(list(g))) for k, g in groupby(b[1] for b in beats)] == [(5, 16), (2, 16), (7, 16)]


def test_one_read_outstanding_for_an_id():
    bench = Bench()
    beats, accepted = read_beats(bench, {0: (bench.memory.base, 5), 1: (bench.memory.base + 128, 5)})
    assert beats[15][0] == 17
    assert accepted == [1, 18]      # the last beat frees the id
    assert beats[16][0] == 19


def test_a_beat_waits_for_ready():
    bench = Bench()
    axi, seen = bench.out.axi[0], bench.inputs.axi[0]
    bench.memory.words[:4] = [1, 2, 3, 4]
    bench.address(axi.ar, bench.memory.base, 2)
    bench.step(2)
    axi.ar.valid = 0
    bench.step(10)
    assert (seen.rvalid, seen.rdata) == (1, 1 | 2 << 32)
    axi.rready = 1
    bench.step()
    assert (seen.rvalid, seen.rdata, seen.rlast) == (1, 3 | 4 << 32, 1)
    bench.step()
    assert not seen.rvalid


def test_write_timing():
    bench = Bench()
    axi, seen = bench.out.axi[0], bench.inputs.axi[0]
    bench.address(axi.aw, bench.memory.base + 64, 4, 11)
    axi.bready = axi.wvalid = 1
    axi.wstrb = 0xFF
    beats, accepted, answered = [], [], []
    for _ in range(20):
        axi.wdata = len(beats) + 100
        axi.wlast = len(beats) == 3
        address, data = axi.aw.valid and seen.awready, axi.wvalid and seen.wready
        if address:
            accepted.append(bench.cycle)
        if data:
            beats.append(bench.cycle)
        if seen.bvalid:
            assert seen.bid == 11
            answered.append(bench.cycle)
        bench.step()
        assert bench.status == abi.RUNNING, bench.message
        axi.aw.valid &= not address
        axi.wvalid &= not (data and axi.wlast)
    assert accepted == [1]
    assert beats == [2, 3, 4, 5]
    assert answered == [7]          # two cycles after the last beat
    assert list(bench.memory.words[16:24:2]) == [100, 101, 102, 103]
    counters = bench.result.port[0]
    assert (counters.write_bursts, counters.write_beats, counters.write_bytes) == (1, 4, 32)


def traffic(timing, *, width=64, ports=1, seed=1, cycles=3000):
    """Random traffic, checked; how many bursts ended, the order of read beats and a hash of every cycle."""
    bench = Bench(width=width, ports=ports, timing=timing)
    masters = [RandomMaster(bench, port, seed) for port in range(ports)]
    sha = hashlib.sha256()
    for _ in range(cycles):
        for master in masters:
            master.drive()
        for master in masters:
            master.observe()
        bench.step()
        assert bench.status == abi.RUNNING, bench.message
        for master in masters:
            master.after()
        sha.update(snapshot(bench))
    for master in masters:
        for identifier, page in master.page.items():
            assert bytes(bench.memory.view(page, 4096)) == bytes(master.expected[identifier])
    return [master.finished for master in masters], masters[0].order, sha.hexdigest()


@pytest.mark.parametrize("timing", [MemoryTiming(), HARD, MemoryTiming(read_latency=(30, 30), reorder=True)],
                         ids=["default", "hard", "reordered"])
@pytest.mark.parametrize(("width", "ports"), [(32, 1), (64, 1), (64, 4), (32, 2)])
def test_random_traffic(timing, width, ports):
    finished, _, _ = traffic(timing, width=width, ports=ports)
    assert min(finished) > 60


def test_random_timing_is_reproducible():
    assert traffic(HARD) == traffic(HARD)
    other = MemoryTiming(**{**HARD.__dict__, "seed": 4})
    assert traffic(HARD)[2] != traffic(other)[2]


def test_random_numbers_are_the_same_everywhere():
    """A change here changes every recorded cycle count with random timing."""
    assert traffic(HARD, cycles=500)[2] .startswith("44a30358b91390c6")


def test_bursts_interleave_only_when_asked():
    def switches(timing):
        order = traffic(timing)[1]
        return sum(a != b for a, b in pairwise(order)) / len(order)

    assert switches(MemoryTiming(read_latency=(20, 20), reorder=True)) < 0.2
    assert switches(MemoryTiming(read_latency=(20, 20), interleave=True)) > 0.4


@pytest.mark.parametrize(("change", "message"), [
    ({"addr": 0x1000_0FC0}, "crosses a 4 KiB boundary"),
    ({"addr": 0x1000_0004}, "not aligned"),
    ({"burst": 2}, "not an INCR burst"),
    ({"size": 2}, "not as wide as the bus"),
    ({"id": 8}, "id out of range"),
])
@pytest.mark.parametrize("channel", ["ar", "aw"])
def test_bad_bursts(channel, change, message):
    bench = Bench(ids=8)
    address = getattr(bench.out.axi[0], channel)
    bench.address(address, bench.memory.base, 16, 3)
    for name, value in change.items():
        setattr(address, name, value)
    bench.step(2)
    assert bench.status == (abi.PROTOCOL_ERROR)
    assert message in bench.message
    assert {"ar": "read", "aw": "write"}[channel] in bench.message


@pytest.mark.parametrize("address", [0, 0x0FFF_FF80, 0x1010_0000, 0xFFFF_FF80])
def test_no_memory_there(address):
    """Reads and writes where no memory is are answered with DECERR, beat by beat, and change nothing."""
    bench = Bench()
    bench.memory.bytes[:] = 1
    axi, seen = bench.out.axi[0], bench.inputs.axi[0]
    axi.rready = axi.bready = 1
    for place, number in ((address, 1), (bench.memory.base, 2)):
        bench.address(axi.ar, place, 16, number)
        bench.address(axi.aw, place ^ 128, 16, number)
        bench.step(2)
        axi.ar.valid = axi.aw.valid = 0
        axi.wvalid, axi.wstrb, axi.wlast = 1, 0xFF, 0
        responses, answers, sent = [], [], 0
        for _ in range(40):
            axi.wlast = sent == 15
            taken = axi.wvalid and seen.wready
            responses += [(seen.rid, seen.rresp)] * seen.rvalid
            answers += [(seen.bid, seen.bresp)] * seen.bvalid
            bench.step()
            sent += taken
            axi.wvalid = sent < 16
        expected = number, 3 if number == 1 else 0
        assert responses == [expected] * 16
        assert answers == [expected]
        assert (bench.memory.bytes == 1).all() == (number == 1)
    bench.run_host((abi.OP_READ, 0, 0))
    bench.step()
    bench.out.lite.arready = 1
    bench.step()
    bench.out.lite.arready, bench.out.lite.rvalid = 0, 1
    bench.step()
    assert bench.status == abi.DONE
    assert f"read of 128 bytes at 0x{address:08X} (AXI port 0, id 1, cycle 1) is outside memory, " in bench.message
    assert bench.message.endswith("0x10000000 to 0x100FFFFF")


@pytest.mark.parametrize(("channel", "what"), [("ar", "addr"), ("aw", "id"), ("ar", "valid")])
def test_an_address_must_stay(channel, what):
    bench = Bench()
    address = getattr(bench.out.axi[0], channel)
    bench.address(address, bench.memory.base, 16)
    bench.step()
    setattr(address, what, getattr(address, what) ^ 1)
    bench.step()
    assert bench.status == abi.PROTOCOL_ERROR
    assert f"{channel.upper()} channel changed" in bench.message


def test_write_data_must_stay():
    bench = Bench()
    axi = bench.out.axi[0]
    axi.wvalid = 1
    bench.step()
    axi.wdata = 1
    bench.step()
    assert bench.status == abi.PROTOCOL_ERROR
    assert "W channel changed" in bench.message


@pytest.mark.parametrize(("beats", "last"), [(4, 2), (2, None)])
def test_last_beat_must_be_the_last(beats, last):
    bench = Bench()
    axi, seen = bench.out.axi[0], bench.inputs.axi[0]
    bench.address(axi.aw, bench.memory.base, beats)
    bench.step(2)
    axi.aw.valid, axi.wvalid = 0, 1
    sent = 0
    while bench.status == abi.RUNNING:
        axi.wlast = sent == last
        sent += seen.wready
        bench.step()
        assert bench.cycle < 20
    assert f"WLAST is {int(last is not None)}, but {beats - sent} beats" in bench.message


@pytest.mark.parametrize("end", [0x1001_0000, 1 << 32])
@pytest.mark.parametrize("first", ["ar", "aw"])
def test_overlapping_read_and_write(first, end):
    """Also in the last line that there may be."""
    bench = Bench(memory=GlobalMemory(end - (1 << 16), 1 << 16))
    line = end - 128
    axi = bench.out.axi[0]
    second = {"ar": "aw", "aw": "ar"}[first]
    bench.address(getattr(axi, first), line, 16, 1)
    bench.step(2)
    getattr(axi, first).valid = 0
    bench.address(getattr(axi, second), line + 64, 8, 1)
    bench.step(2)
    assert bench.status == abi.PROTOCOL_ERROR
    assert f"at 0x{line:08X} is not yet complete" in bench.message


@pytest.mark.parametrize("change", [{"read_latency": (5, 2)}, {"pause_cycles": (-1, 2)}, {"pause_probability": 1.5}])
def test_impossible_timing(change):
    with pytest.raises(ConfigError, match=next(iter(change))):
        MemoryTiming(**change)


# -- the host at the control port ---------------------------------------------------------------


def test_host_writes_reads_and_counts_from_the_start():
    bench = Bench(memory=GlobalMemory(size=4096))
    lite, seen = bench.out.lite, bench.inputs.lite
    bench.run_host((abi.OP_WRITE, 0x40, 7), (abi.OP_READ, 0x44, 0), (abi.OP_START, 0x8004, 1), (abi.OP_WAIT, 0, 0))
    bench.out.kernel_status = 1        # of the launch before
    bench.step()
    assert (seen.awvalid, seen.wvalid, seen.awaddr, seen.wdata, seen.wstrb) == (1, 1, 0x40, 7, 15)
    lite.wready = 1             # data may be taken before the address
    bench.step()
    assert (seen.awvalid, seen.wvalid) == (1, 0)
    lite.wready, lite.awready = 0, 1
    bench.step()
    assert (seen.awvalid, seen.bready) == (0, 1)
    lite.awready, lite.bvalid = 0, 1
    bench.step()
    lite.bvalid = 0
    bench.step()
    assert (seen.arvalid, seen.araddr) == (1, 0x44)
    lite.arready = 1
    bench.step()
    lite.arready, lite.rvalid, lite.rdata = 0, 1, 99
    bench.step()
    assert bench.host_data(1) == 99
    lite.rvalid = 0
    lite.awready = lite.wready = 1
    bench.step(2)               # start is accepted in the second of these
    lite.awready = lite.wready = 0
    lite.bvalid = 1
    bench.step()                # one cycle after the start; the old status bit is still there
    lite.bvalid = 0
    bench.out.kernel_status = 0
    bench.step(5)
    assert bench.status == abi.RUNNING
    bench.out.kernel_status = 1
    bench.step()
    assert bench.status == abi.DONE
    assert bench.result.cycles == 7


@pytest.mark.parametrize(("signals", "message"), [
    ({}, "no answer to the control write at 0x0040 for 10000 cycles"),
    ({"bvalid": 1}, "before it was accepted"),
    ({"awready": 1, "wready": 1, "bresp": 2, "bvalid": 0}, "no answer"),
])
def test_bad_control_port(signals, message):
    bench = Bench()
    bench.run_host((abi.OP_WRITE, 0x40, 7))
    for name, value in signals.items():
        setattr(bench.out.lite, name, value)
    while bench.status == abi.RUNNING:
        bench.step()
        assert bench.cycle < 11000
    assert bench.status == abi.PROTOCOL_ERROR
    assert message in bench.message
