"""A model of global memory behind an AXI4 port, which checks the protocol."""

import random
from collections import Counter, deque
from dataclasses import dataclass, field

from amaranth.hdl import Value
from amaranth.lib.wiring import In, Out

from fgpu.axi.signatures import AXI4Signature
from fgpu.config import Config
from fgpu.interfaces.line_map import LineMap

from ..cocotb.axi_checker import AxiChecker

_WIRES = AXI4Signature(data_width=64).members
_WATCHED = tuple(name for name, member in _WIRES.items() if member.flow is Out)
_DRIVEN = tuple(name for name, member in _WIRES.items() if member.flow is In)


@dataclass
class Timing:
    """How the memory behaves. Probabilities are a cycle's; latencies are drawn from inclusive ranges."""

    address_ready: float | None = None
    """Chance that an address is accepted; None: always in the cycle after it is valid."""
    write_ready: float = 1.0
    read_valid: float = 1.0
    read_latency: tuple[int, int] = (0, 0)
    """Cycles between the acceptance of a read address and its first beat, on top of the first."""
    write_latency: tuple[int, int] = (2, 4)
    """Cycles between the last beat of a write and its response."""
    shuffle: bool = False
    """Beats of different ids interleave, and responses come in any order; else the lowest id goes first."""
    write_after_address: bool = False
    """Write data are accepted only when their address was."""

    @classmethod
    def random(cls, rng: random.Random) -> "Timing":
        return cls(
            address_ready=rng.choice([None, 0.1, 0.5, 1.0]), write_ready=rng.choice([0.3, 0.8, 1.0]),
            read_valid=rng.choice([0.3, 0.8, 1.0]), read_latency=rng.choice([(0, 0), (0, 5), (0, 60), (30, 30)]),
            write_latency=rng.choice([(0, 0), (2, 4), (0, 60)]), shuffle=rng.random() < 0.8,
            write_after_address=rng.random() < 0.3)


@dataclass
class _Read:
    id: int
    line: int
    due: int
    beats: list[bytes] | None
    """The data, if they were read when the address was accepted; None: each beat as it is delivered."""
    beat: int = 0


@dataclass
class _Write:
    id: int
    line: int
    first: int
    """The line's beat with which the burst begins."""
    length: int
    beats: list[tuple[int, int]] = field(default_factory=list)
    due: int = 0


class AxiMemory:
    """Byte-addressed memory with random contents. ``step`` models one clock cycle."""

    def __init__(self, config: Config, axi, timing: Timing, rng: random.Random, port: int = 0) -> None:
        self.config, self.timing, self.rng, self.port = config, timing, rng, port
        self.lines: dict[int, bytearray] = {}
        self._fresh = rng.getrandbits(32)
        self._axi = axi
        self._map = LineMap(config)
        self.watched = [Value.cast(getattr(axi, name)) for name in _WATCHED]
        self.drive = dict.fromkeys(_DRIVEN, 0)
        self.error_response = 0
        self.reset()

    def reset(self) -> None:
        self.now = 0
        self._reads: list[_Read] = []
        self._addresses: deque[_Write] = deque()
        self._filled: deque[list[tuple[int, int]]] = deque()
        self._beats: list[tuple[int, int]] = []
        self._written: list[_Write] = []
        self._checker = AxiChecker(f"port {self.port}", beat_bytes=self.config.axi_data_width // 8)
        self._current: _Read | None = None
        self.slice_bursts = Counter[int]()
        self.read_beats = self.write_beats = self.read_bursts = self.write_bursts = 0
        self.written_bytes: set[int] = set()
        self.max_reads = 0
        for name in self.drive:
            self.drive[name] = 0

    def share(self, other: "AxiMemory") -> None:
        """Another port of the same memory."""
        self.lines, self._fresh = other.lines, other._fresh

    def line(self, line: int) -> bytearray:
        """The bytes of a line."""
        if line not in self.lines:
            seed = self._fresh << 32 | line
            self.lines[line] = bytearray(random.Random(seed).randbytes(self.config.cache_line))
        return self.lines[line]

    @property
    def idle(self) -> bool:
        return not (self._reads or self._addresses or self._filled or self._beats or self._written)

    def _check_burst(self, id: int, address: int, length: int, busy: list[int]) -> None:
        config = self.config
        beat = config.axi_data_width // 8
        assert address // config.cache_line == (address + length * beat) // config.cache_line, "a burst is of a line"
        slice = self._map.slice(address // config.cache_line)
        assert slice % config.axi_ports == self.port, "a line of another port's slice"
        assert id % config.port_slices == slice // config.axi_ports, "an id of another slice"
        assert id not in busy, "one burst for each id"

    def _read_id(self, slice: int) -> int:
        """The id, without the bits that name the slice, of its latest read burst: how many came before."""
        return (self.slice_bursts[slice] - 1) % (64 // self.config.port_slices)

    def step(self, sampled: tuple[int, ...]) -> None:
        """One rising edge: ``sampled`` are the ``watched`` signals before it; ``drive`` is for the next cycle."""
        wires = dict(zip(_WATCHED, sampled, strict=True))
        arvalid, arid, araddr, arlen = (wires[name] for name in ("arvalid", "arid", "araddr", "arlen"))
        awvalid, awid, awaddr, awlen = (wires[name] for name in ("awvalid", "awid", "awaddr", "awlen"))
        wvalid, wdata, wstrb, wlast = (wires[name] for name in ("wvalid", "wdata", "wstrb", "wlast"))
        config, timing, rng, drive = self.config, self.timing, self.rng, self.drive
        assert wires["rready"], "R is always ready"
        assert wires["bready"], "B is always ready"
        self._checker.step({**drive, **wires})

        if drive["bvalid"]:
            drive["bvalid"] = 0
        if arvalid and drive["arready"]:
            slice = self._map.slice(araddr // config.cache_line)
            self.slice_bursts[slice] += 1
            assert arid // config.port_slices == self._read_id(slice), "an older burst has a lower id"
            self._check_burst(arid, araddr, arlen, [read.id for read in self._reads])
            assert arlen == config.burst_beats - 1, "a read burst is a line"
            line = araddr // config.cache_line
            for write in self._written + list(self._addresses):
                assert write.line != line, "a read overtakes a write-back of the same line"
            beats = self._split(line) if rng.random() < 0.5 else None
            self._reads.append(_Read(arid, line, self.now + rng.randint(*timing.read_latency), beats))
            self.read_bursts += 1
            self.max_reads = max(self.max_reads, len(self._reads))
        if awvalid and drive["awready"]:
            busy = [write.id for write in self._written + list(self._addresses)]
            assert awid // config.port_slices < config.slice_tag_managers + config.slice_retirements
            self._check_burst(awid, awaddr, awlen, busy)
            line = awaddr // config.cache_line
            for other in self._reads + self._written + list(self._addresses):
                assert other.line != line, "a write-back overtakes another burst of the same line"
            first = awaddr % config.cache_line // (config.axi_data_width // 8)
            self._addresses.append(_Write(awid, line, first, awlen + 1))
            self.write_bursts += 1
        if wvalid and drive["wready"]:
            self._beats.append((wdata, wstrb))
            self.write_beats += 1
            if wlast:
                self._filled.append(self._beats)
                self._beats = []
        while self._addresses and self._filled:
            write = self._addresses.popleft()
            write.beats = self._filled.popleft()
            assert len(write.beats) == write.length, "wlast marks the last beat"
            assert write.length == 1 or (write.beats[0][1] and write.beats[-1][1]), "no more beats than needed"
            write.due = self.now + rng.randint(*timing.write_latency)
            self._written.append(write)
        for address in self._addresses:
            most = config.port_slices * (config.slice_tag_managers + config.slice_retirements)
            assert len(self._addresses) <= most, address

        self._respond()
        self._deliver()
        if timing.address_ready is None:
            drive["arready"] = int(arvalid and not drive["arready"])
            drive["awready"] = int(awvalid and not drive["awready"])
        else:
            drive["arready"] = int(rng.random() < timing.address_ready)
            drive["awready"] = int(rng.random() < timing.address_ready)
        drive["wready"] = int(rng.random() < timing.write_ready
                              and (not timing.write_after_address or len(self._addresses) > 0))
        self.now += 1

    def _split(self, line: int) -> list[bytes]:
        size = self.config.axi_data_width // 8
        contents = bytes(self.line(line))
        return [contents[start:start + size] for start in range(0, len(contents), size)]

    def _respond(self) -> None:
        drive = self.drive
        due = [write for write in self._written if write.due <= self.now]
        if not due:
            return
        write = self.rng.choice(due) if self.timing.shuffle else due[0]
        self._written.remove(write)
        size = self.config.axi_data_width // 8
        contents = self.line(write.line)
        for beat, (word, strobe) in enumerate(write.beats, write.first):
            for byte in range(size):
                if strobe >> byte & 1:
                    contents[beat * size + byte] = word >> 8 * byte & 255
                    self.written_bytes.add(write.line * self.config.cache_line + beat * size + byte)
        drive.update(bvalid=1, bid=write.id, bresp=self.error_response)

    def _deliver(self) -> None:
        drive, timing, rng = self.drive, self.timing, self.rng
        drive["rvalid"] = 0
        due = [read for read in self._reads if read.due <= self.now]
        if not due or rng.random() >= timing.read_valid:
            if timing.shuffle:
                drive.update(rdata=rng.getrandbits(self.config.axi_data_width), rid=rng.getrandbits(6))
            return
        if timing.shuffle:
            read = rng.choice(due)
        elif self._current in due:
            read = self._current
        else:
            read = min(due, key=lambda read: read.id)
        self._current = read
        beats = read.beats or self._split(read.line)
        last = read.beat == self.config.burst_beats - 1
        drive.update(rvalid=1, rid=read.id, rdata=int.from_bytes(beats[read.beat], "little"), rlast=int(last),
                     rresp=self.error_response)
        read.beat += 1
        self.read_beats += 1
        if last:
            self._reads.remove(read)
            self._current = None
