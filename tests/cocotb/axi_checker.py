"""The rules of AXI4 and AXI4-Lite on the wires, for benches in Python: those of ``sim/testbench/axi_checker.cpp``.

The checkers know nothing of a simulator: they are given the wires of each cycle, as they are before the clock edge.
:func:`bind` puts them on all AXI ports of an FGPU in a cocotb bench.
"""

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Any

__all__ = ["AxiChecker", "LiteChecker", "ProtocolError", "bind"]

Wires = Mapping[str, int]
_EXOKAY = 1     # of exclusive accesses, which nobody makes
_DEEP = 16      # most reads outstanding with one id


class ProtocolError(AssertionError):
    """A rule of AXI is broken."""


class _Channels:
    """Whatever is valid stays, unchanged, until it is ready."""

    def __init__(self, name: str, payloads: dict[str, tuple[str, ...]]) -> None:
        self._name, self._payloads = name, payloads
        self._waiting: dict[str, tuple[int, ...] | None] = {}
        self.cycle = self.seen = 0      # cycles, and what has passed in them

    def demand(self, condition: bool, text: str) -> None:
        if not condition:
            raise ProtocolError(f"{self._name}, cycle {self.cycle}: {text}")

    def taken(self, wires: Wires) -> dict[str, bool]:
        """For each channel whether it passes something in this cycle."""
        taken = {}
        for channel, fields in self._payloads.items():
            before = self._waiting.pop(channel, None)
            valid = bool(wires[f"{channel}valid"])
            taken[channel] = valid and bool(wires[f"{channel}ready"])
            if not valid and before is None:
                continue
            payload = tuple(wires[channel + field] for field in fields) if valid else None
            self.demand(before in (None, payload), f"{channel.upper()} channel changed before it was accepted")
            if not taken[channel]:
                self._waiting[channel] = payload
            self.seen += taken[channel]
        return taken


class AxiChecker(_Channels):
    """Of one AXI4 port, seen from nowhere: both sides of each channel."""

    ADDRESS = ("addr", "id", "len", "size", "burst")
    PAYLOADS = {"aw": (*ADDRESS, "cache", "prot"), "w": ("data", "strb", "last"), "b": ("id", "resp"),
                "ar": (*ADDRESS, "cache", "prot"), "r": ("data", "id", "resp", "last")}

    def __init__(self, name: str, *, beat_bytes: int, ids: int = 64) -> None:
        super().__init__(name, self.PAYLOADS)
        self._bytes, self._ids = beat_bytes, ids
        self._reads: dict[int, deque[int]] = defaultdict(deque)     # beats that are left, by id
        self._writes: deque[tuple[int, int]] = deque()      # id and beats, of those that wait for data
        self._early: deque[int] = deque()                   # beats of those whose data came before their address
        self._sent = 0
        self._complete: dict[int, int] = defaultdict(int)

    @property
    def quiet(self) -> bool:
        """Whether every request was answered."""
        return not (any(self._reads.values()) or self._writes or self._early or self._sent
                    or any(self._complete.values()) or self._waiting)

    def step(self, wires: Wires) -> None:
        """One cycle. Raises :class:`ProtocolError`."""
        taken = self.taken(wires)
        # A response of this cycle answers what was accepted before it.
        if wires["rvalid"]:
            self._read_beat(wires, taken["r"])
        if wires["bvalid"]:
            number = wires["bid"]
            self.demand(self._complete[number] > 0, f"a write response with id {number} answers no complete write")
            self.demand(wires["bresp"] != _EXOKAY, "BRESP is EXOKAY")
            self._complete[number] -= taken["b"]
        for channel, what in (("ar", "read"), ("aw", "write")):
            if wires[f"{channel}valid"]:
                self._burst(*(wires[channel + field] for field in self.ADDRESS), what)
        if taken["ar"]:
            waiting = self._reads[wires["arid"]]
            waiting.append(wires["arlen"] + 1)
            self.demand(len(waiting) <= _DEEP, f"more than {_DEEP} reads with id {wires['arid']} are outstanding")
        if taken["aw"]:
            self._address(wires["awid"], wires["awlen"] + 1)
        if taken["w"]:
            self._data(wires["wstrb"], bool(wires["wlast"]))
        self.cycle += 1

    def _burst(self, address: int, number: int, length: int, size: int, burst: int, what: str) -> None:
        text = f"{what} of {length + 1} beats at 0x{address:08X} with id {number}"
        self.demand(burst == 1, f"{text} is not an INCR burst")
        self.demand(1 << size == self._bytes, f"{text} has beats that are not as wide as the bus")
        self.demand(address % self._bytes == 0, f"{text} is not aligned to its beats")
        self.demand(address % 4096 + (length + 1) * self._bytes <= 4096, f"{text} crosses a 4 KiB boundary")
        self.demand(number < self._ids, f"{text} has an id out of range")

    def _read_beat(self, wires: Wires, taken: bool) -> None:
        number, waiting = wires["rid"], self._reads[wires["rid"]]
        self.demand(bool(waiting), f"a read beat with id {number} answers no read")
        left = waiting[0] - 1
        self.demand(bool(wires["rlast"]) == (left == 0),
                    f"RLAST is {wires['rlast']}, but {left} beats of the read with id {number} are left")
        self.demand(wires["rresp"] != _EXOKAY, "RRESP is EXOKAY")
        if taken:
            waiting[0] = left
            if not left:
                waiting.popleft()

    def _address(self, number: int, beats: int) -> None:
        if self._early:
            came = self._early.popleft()
            self.demand(came == beats, f"{came} beats came before their address, which is of {beats}")
            self._complete[number] += 1
            return
        if not self._writes and self._sent >= beats:
            self._last(False, number, beats)
        self._writes.append((number, beats))

    def _data(self, strobe: int, last: bool) -> None:
        self._sent += 1
        self.demand(strobe < 1 << self._bytes, f"WSTRB is 0x{strobe:02X}")
        if self._writes:
            self._last(last, *self._writes[0])
        if last:
            if self._writes:
                self._complete[self._writes.popleft()[0]] += 1
            else:
                self._early.append(self._sent)
            self._sent = 0

    def _last(self, last: bool, number: int, beats: int) -> None:
        left = beats - self._sent
        self.demand(last == (left == 0),
                    f"WLAST is {int(last)}, but {left} beats of the write with id {number} are left")


class LiteChecker(_Channels):
    """Of an AXI4-Lite port."""

    PAYLOADS = {"aw": ("addr", "prot"), "w": ("data", "strb"), "b": ("resp",), "ar": ("addr", "prot"),
                "r": ("data", "resp")}

    def __init__(self, name: str) -> None:
        super().__init__(name, self.PAYLOADS)
        self._passed = dict.fromkeys(self.PAYLOADS, 0)

    @property
    def quiet(self) -> bool:
        """Whether every request was answered."""
        p = self._passed
        return not self._waiting and p["aw"] == p["w"] == p["b"] and p["ar"] == p["r"]

    def step(self, wires: Wires) -> None:
        """One cycle. Raises :class:`ProtocolError`."""
        passed, taken = self._passed, self.taken(wires)
        if wires["bvalid"]:
            self.demand(passed["b"] < min(passed["aw"], passed["w"]),
                        "answer to a control write before it was accepted")
        if wires["rvalid"]:
            self.demand(passed["r"] < passed["ar"], "answer to a control read before it was accepted")
        for channel in "br":
            if wires[f"{channel}valid"]:
                self.demand(wires[f"{channel}resp"] != _EXOKAY, "the control port answers EXOKAY")
        for channel, each in taken.items():
            passed[channel] += each
        self.cycle += 1


class _Bus(Mapping[str, Any]):
    """The wires of one port of a design in cocotb, read when asked for. X is an error, but in written data: bytes
    without a strobe may be anything.
    """

    def __init__(self, dut: Any, prefix: str, payloads: dict[str, tuple[str, ...]]) -> None:
        self.handles = {channel + field: getattr(dut, f"{prefix}_{channel}{field}")
                        for channel, fields in payloads.items() for field in ("valid", "ready", *fields)}

    def __getitem__(self, name: str) -> Any:
        value = self.handles[name].value
        return str(value) if name == "wdata" else int(value)

    def __iter__(self) -> Any:
        return iter(self.handles)

    def __len__(self) -> int:
        return len(self.handles)


async def bind(dut: Any) -> list[AxiChecker | LiteChecker]:
    """Check all AXI ports of an FGPU that has had its reset, in every cycle from now on.

    A broken rule fails the test. Where the reset rises again, what was outstanding is forgotten.
    """
    import cocotb
    from cocotb.triggers import RisingEdge

    ports = []
    while hasattr(dut, f"m{len(ports)}_axi_awvalid"):
        ports.append(f"m{len(ports)}_axi")

    def checkers() -> list[AxiChecker | LiteChecker]:
        return [LiteChecker("s_axi"),
                *(AxiChecker(port, beat_bytes=len(getattr(dut, f"{port}_wstrb"))) for port in ports)]

    current = checkers()
    buses = [_Bus(dut, "s_axi", LiteChecker.PAYLOADS), *(_Bus(dut, port, AxiChecker.PAYLOADS) for port in ports)]

    async def watch() -> None:
        while True:
            await RisingEdge(dut.clk)
            if int(dut.rst.value):
                current[:] = checkers()
                continue
            for checker, bus in zip(current, buses, strict=True):
                checker.step(bus)

    cocotb.start_soon(watch())
    return current
