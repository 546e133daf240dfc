"""The C++ memory model driven from Python, cycle by cycle, and a random AXI4 master for it."""

import random
import struct
from ctypes import byref
from dataclasses import dataclass, field
from typing import Any

from fgpu.config import Config
from fgpu.sim.engine import MemoryTiming
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.testbench import abi
from fgpu.sim.testbench.build import build_bench


class Bench:
    """A test bench without hardware: the test plays the hardware by setting ``out``.

    ``step`` is one cycle; before it, ``inputs`` shows what the bench drives in that cycle.
    """

    def __init__(self, *, width: int = 64, ports: int = 1, timing: MemoryTiming | None = None,
                 memory: GlobalMemory | None = None, ids: int = 64) -> None:
        self.library = abi.BenchLibrary(build_bench())
        self.memory = memory or GlobalMemory(size=1 << 20)
        self.width = width
        config = abi.bench_config(Config(axi_data_width=width), self.memory, timing or MemoryTiming())
        config.ports, config.ids = ports, ids
        self._bench = self.library.bench_create(byref(config))
        self.out, self.inputs = abi.PortsOut(), abi.PortsIn()
        self._operations = (abi.HostOp * 1)(abi.HostOp(abi.OP_WAIT, 0, 0))     # which never ends
        self.library.bench_launch(self._bench, self._operations, 1, 1 << 60)
        self.cycle = 0
        self.status = abi.RUNNING

    def run_host(self, *operations: tuple[int, int, int], limit: int = 1 << 60) -> None:
        self._operations = (abi.HostOp * len(operations))(*(abi.HostOp(*o) for o in operations))
        self.library.bench_launch(self._bench, self._operations, len(operations), limit)
        self.status = abi.RUNNING

    def host_data(self, index: int) -> int:
        return self._operations[index].data

    def step(self, count: int = 1) -> None:
        for _ in range(count):
            self.status = self.library.bench_step(self._bench, byref(self.out), byref(self.inputs))
            self.cycle += 1

    @property
    def result(self) -> abi.Result:
        return self.library.bench_result(self._bench).contents

    @property
    def message(self) -> str:
        return self.result.message.decode()

    @property
    def quiet(self) -> bool:
        return bool(self.library.bench_quiet(self._bench))

    def address(self, channel: abi.AxiAddress, address: int, beats: int, identifier: int = 0) -> None:
        """Raise an address."""
        channel.addr, channel.len, channel.id, channel.valid = address, beats - 1, identifier, 1
        channel.size, channel.burst = (3 if self.width == 64 else 2), 1

    def __del__(self) -> None:
        self.library.bench_destroy(self._bench)


@dataclass
class Burst:
    identifier: int
    address: int
    data: list[int] = field(default_factory=list)
    strobes: list[int] = field(default_factory=list)
    beats: int = 0


class RandomMaster:
    """Random bursts on one port; each id has a page of its own, and one burst outstanding."""

    def __init__(self, bench: Bench, port: int, seed: int, ids: int = 6) -> None:
        self.bench, self.random = bench, random.Random(seed * 100 + port)
        self.out, self.inputs = bench.out.axi[port], bench.inputs.axi[port]
        self.bytes = bench.width // 8
        self.page = {i: bench.memory.base + 4096 * (port * 64 + i) for i in self.random.sample(range(64), ids)}
        self.expected = {i: bytearray(4096) for i in self.page}
        self.reads: dict[int, Burst] = {}
        self.writes: dict[int, Burst] = {}
        self.unsent: list[Burst] = []       # whose AW was accepted, with data to send
        self.finished = 0
        self.order: list[int] = []
        self._address: dict[str, Burst | None] = {"ar": None, "aw": None}
        self._sent = False

    def _new(self) -> Burst | None:
        free = [i for i in self.page if i not in self.reads and i not in self.writes
                and all(b is None or b.identifier != i for b in self._address.values())]
        if not free or self.random.random() < 0.3:
            return None
        identifier, beats = self.random.choice(free), self.random.randint(1, 16)
        at = self.random.randrange(0, 4096 // self.bytes - beats + 1) * self.bytes
        return Burst(identifier, self.page[identifier] + at, beats=beats)

    def drive(self) -> None:
        """Set the outputs of a cycle."""
        for name, channel in (("ar", self.out.ar), ("aw", self.out.aw)):
            if self._address[name] is None and (burst := self._new()) is not None:
                self._address[name] = burst
                self.bench.address(channel, burst.address, burst.beats, burst.identifier)
                if name == "aw":
                    burst.data = [self.random.getrandbits(self.bench.width) for _ in range(burst.beats)]
                    full = (1 << self.bytes) - 1
                    burst.strobes = [self.random.choice([full, self.random.randint(0, full)]) for _ in burst.data]
        self.out.rready = self.random.random() < 0.7
        self.out.bready = self.random.random() < 0.7
        if not self.out.wvalid and self.unsent and self.random.random() < 0.8:
            burst = self.unsent[0]
            self.out.wvalid, self.out.wdata, self.out.wstrb = 1, burst.data[0], burst.strobes[0]
            self.out.wlast = len(burst.data) == 1

    def observe(self) -> None:
        """What this cycle's handshakes mean, before the bench steps."""
        out, seen = self.out, self.inputs
        if seen.rvalid and out.rready:
            self._read_beat(seen.rid, seen.rdata, seen.rlast)
        if seen.bvalid and out.bready:
            del self.writes[seen.bid]
            self.finished += 1
        if out.wvalid and seen.wready:
            self._write_beat()
        if out.ar.valid and seen.arready:
            burst, self._address["ar"] = self._address["ar"], None
            self.reads[burst.identifier] = burst
        if out.aw.valid and seen.awready:
            burst, self._address["aw"] = self._address["aw"], None
            self.writes[burst.identifier] = burst
            self.unsent.append(burst)

    def after(self) -> None:
        """Take back what was accepted."""
        self.out.ar.valid = self._address["ar"] is not None
        self.out.aw.valid = self._address["aw"] is not None
        if self._sent:
            self.out.wvalid, self._sent = 0, False

    def _read_beat(self, identifier: int, data: int, last: int) -> None:
        burst = self.reads[identifier]
        self.order.append(identifier)
        at = burst.address & 0xFFF
        assert data == int.from_bytes(self.expected[identifier][at:at + self.bytes], "little")
        burst.address += self.bytes
        burst.beats -= 1
        assert bool(last) == (burst.beats == 0)
        if last:
            del self.reads[identifier]
            self.finished += 1

    def _write_beat(self) -> None:
        burst = self.unsent[0]
        at = burst.address & 0xFFF
        data, strobe = burst.data.pop(0), burst.strobes.pop(0)
        for i in range(self.bytes):
            if strobe >> i & 1:
                self.expected[burst.identifier][at + i] = data >> 8 * i & 0xFF
        burst.address += self.bytes
        self._sent = True
        if not burst.data:
            self.unsent.pop(0)


def snapshot(bench: Bench) -> bytes:
    """All that the bench drives in this cycle, however it is laid out."""
    def packed(form: str, structure: Any, names: str) -> bytes:
        return struct.pack(form, *(getattr(structure, name) for name in names.split()))

    return b"".join([
        *(packed("<Q10B6x", port, "rdata awready wready arready bid bresp bvalid rid rresp rlast rvalid")
          for port in bench.inputs.axi),
        packed("<IHH6B2x", bench.inputs.lite, "wdata awaddr araddr awvalid wstrb wvalid bready arvalid rready")])
