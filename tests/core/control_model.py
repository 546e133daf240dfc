"""What the control port of an FGPU may do, cycle by cycle, from ``docs/control-interface.md``: all of its 64 KiB.

An access is accepted in the cycle of its handshakes (for a write, the later one) and answered in the first cycle in
which its response is valid. In between it happens, at a moment that nobody sees: the model keeps every possibility.
A *state* of cycle n is what registers and memories hold in cycle n, after the clock edge before it.
"""

from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import NamedTuple

from fgpu.address_map import CODE_BASE, CONTROL_BASE, CRAM_BASE, LRAM_WORDS, code_address
from fgpu.config import Config

__all__ = [
    "ABORT", "ABORTED", "CLEAN", "FAULT", "INITIALIZE", "INTERRUPT_ENABLE", "INTERRUPT_STATUS", "KERNEL_END", "OKAY",
    "REFUSED", "SLVERR", "START", "STATUS", "STOPPING_FAULT", "ControlModel", "Cycle", "is_memory", "may_read",
    "may_write",
]

STATUS, START, CLEAN, INITIALIZE, FAULT, ABORT, INTERRUPT_ENABLE, INTERRUPT_STATUS = range(
    CONTROL_BASE, CONTROL_BASE + 32, 4)
_NAMES = {STATUS: "status", CLEAN: "clean", INITIALIZE: "initialize", FAULT: "fault",
          INTERRUPT_ENABLE: "interrupt_enable", INTERRUPT_STATUS: "interrupt_status"}
KERNEL_END, STOPPING_FAULT = 1, 2       # interrupts
OKAY, SLVERR = 0, 2
REFUSED = 1 << 31 | 6 << 25
"""The fault register after a refused access."""
ABORTED = 7
"""The cause of the fault that an abort reports."""
_EVER = 1 << 62
_LATE = 16      # cycles in which an abort of a kernel that waits may become a status bit


def is_memory(address: int, config: Config) -> bool:
    return address < 4 * LRAM_WORDS or CRAM_BASE <= address < CRAM_BASE + 4 * min(config.cram_words, 4096) or (
        config.cram_words > 4096 and CODE_BASE <= address < CODE_BASE + 4 * config.cram_words)


def place_of(address: int) -> int:
    """One address for each word: the first 4096 instructions of a large code RAM have two."""
    return code_address((address - CODE_BASE) // 4) if address >= CODE_BASE else address


def may_read(address: int, config: Config) -> bool:
    return address % 4 == 0 and (is_memory(address, config) or address in _NAMES)


def may_write(address: int, strobe: int, config: Config) -> bool:
    return strobe == 15 and address % 4 == 0 and (
        is_memory(address, config) or address in (
            START, CLEAN, INITIALIZE, FAULT, ABORT, INTERRUPT_ENABLE, INTERRUPT_STATUS))


def stops(fault: int) -> bool:
    """Whether the fault register tells of something that stopped a kernel."""
    return bool(fault >> 31) and fault >> 25 & 7 != 6


class Cycle(NamedTuple):
    """What was on the ports of the control interface before a clock edge. ``aw`` and its like: a handshake."""

    aw: int
    awaddr: int
    w: int
    wdata: int
    wstrb: int
    bvalid: int
    bready: int
    bresp: int
    ar: int
    araddr: int
    rvalid: int
    rready: int
    rdata: int
    rresp: int
    status: int
    pending: int
    clean: int
    initialize: int
    fault: int
    accepted: int
    finished: int
    fault_seen: int
    running: int
    irq: int
    interrupt_enable: int
    interrupt_status: int


@dataclass
class Value:
    """What a word may hold in the states ``first`` to ``last``."""

    value: int
    first: int = 0
    last: int = _EVER


@dataclass
class Access:
    address: int
    good: bool
    accepted: int
    data: int = 0
    value: Value | None = None
    answered: int | None = None


@dataclass(frozen=True)
class Way:
    """One way in which it may all have happened: so many writes of registers, and status bits owed after aborts."""

    written: int = 0
    owed: int = 0
    until: int = 0
    aborted: int = 0        # slots that may report cause 7


@dataclass
class ControlModel:
    """Fed with every cycle, raises AssertionError for what must not be."""

    config: Config
    now: int = 0
    answers: int = 0
    memory: dict[int, list[Value]] = field(default_factory=lambda: defaultdict(lambda: [Value(0)]))
    writes: deque[Access] = field(default_factory=deque)
    reads: deque[Access] = field(default_factory=deque)
    registers: list[Access] = field(default_factory=list)   # writes of registers, ever
    ways: set[Way] = field(default_factory=lambda: {Way()})
    done: int = 0           # of them: those that must have happened
    under_way: int = 0      # the slot that runs, as a bit
    trail: list[Cycle] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._addresses: deque[tuple[int, int]] = deque()
        self._data: deque[tuple[int, int, int]] = deque()
        self._refused: list[Access] = []

    def may_hold(self, word: int, value: int, first: int, last: int) -> bool:
        """Whether the word of LRAM or CRAM, by its address, may have held ``value`` in one of these states."""
        return any(v.value == value and v.first <= last and v.last >= first for v in self.memory[place_of(word)])

    def step(self, c: Cycle) -> None:
        """One cycle; the state of the registers must follow from the one before."""
        self.trail.append(c)
        if self.now:
            self._registers(self.trail[-2], c)
        if c.aw:
            self._addresses.append((c.awaddr, self.now))
        if c.w:
            self._data.append((c.wdata, c.wstrb, self.now))
        # An answer of this cycle is to what was accepted before it.
        self._write_answers(c)
        self._read_answers(c)
        while self._addresses and self._data:
            self._accept_write()
        if c.ar:
            read = Access(c.araddr, may_read(c.araddr, self.config), self.now)
            self.reads.append(read)
            if not read.good:
                self._refused.append(read)
        self.under_way = (self.under_way | c.accepted) & ~c.finished
        self.now += 1

    def _accept_write(self) -> None:
        (address, asked), (data, strobe, came) = self._addresses.popleft(), self._data.popleft()
        write = Access(address, may_write(address, strobe, self.config), max(asked, came), data)
        if not write.good:
            self._refused.append(write)
        elif is_memory(address, self.config):
            write.value = Value(data, write.accepted + 1)
            self.memory[place_of(address)].append(write.value)
        else:
            self.registers.append(write)
        self.writes.append(write)

    def _write_answers(self, c: Cycle) -> None:
        if not c.bvalid:
            return
        assert self.writes, f"cycle {self.now}: a write is answered that was not asked for"
        write = self.writes[0]
        if write.answered is None:
            write.answered = self.now
            self.answers += 1
            assert c.bresp == (OKAY if write.good else SLVERR), (
                f"cycle {self.now}: write of 0x{write.address:04X} answered with {c.bresp}")
            if write.value is not None:
                for value in self.memory[place_of(write.address)]:
                    if value is write.value:
                        break
                    value.last = min(value.last, self.now)
                place = place_of(write.address)
                self.memory[place] = [v for v in self.memory[place] if v.last > self.now - 1000]
        if c.bready:
            self.writes.popleft()

    def _read_answers(self, c: Cycle) -> None:
        if not c.rvalid:
            return
        assert self.reads, f"cycle {self.now}: a read is answered that was not asked for"
        read = self.reads[0]
        if read.answered is None:
            read.answered = self.now
            self.answers += 1
            self._check_read(read, c)
        if c.rready:
            self.reads.popleft()

    def _check_read(self, read: Access, c: Cycle) -> None:
        what = f"cycle {self.now}: read of 0x{read.address:04X}, accepted in cycle {read.accepted},"
        assert c.rresp == (OKAY if read.good else SLVERR), f"{what} answered with {c.rresp}"
        if not read.good:
            return
        if is_memory(read.address, self.config):
            right = self.may_hold(read.address, c.rdata, read.accepted, self.now)
            allowed = [v.value for v in self.memory[place_of(read.address)]]
        else:
            allowed = [getattr(seen, _NAMES[read.address]) for seen in self.trail[read.accepted:]]
            right = c.rdata in allowed
        assert right, f"{what} gave 0x{c.rdata:X}, and not one of {[f'0x{value:X}' for value in allowed]}"

    # -- the registers ------------------------------------------------------------------------------

    def _registers(self, old: Cycle, new: Cycle) -> None:
        """The edge between two cycles: every way goes on in each possible way."""
        edge = self.now - 1
        ways: set[Way] = set()
        for way in self.ways:
            ways |= self._unwritten(way, old, new, None)
            if way.written < len(self.registers):
                write = self.registers[way.written]
                if write.accepted <= edge and (write.answered is None or edge <= write.answered):
                    ways |= self._unwritten(way, old, new, write)
        assert ways, (f"cycle {self.now}: the registers went from {old}\nto {new}\n"
                      f"with the writes {self.registers[min(w.written for w in self.ways):]}")
        while self.done < len(self.registers) and (self.registers[self.done].answered or _EVER) <= edge:
            self.done += 1
        self.ways = {way for way in ways if way.written >= self.done and (not way.owed or self.now <= way.until)}
        assert self.ways, (f"cycle {self.now}: a write was answered but had no effect, or an abort raised no status: "
                           f"{self.registers[-8:]}")
        for access in [a for a in self._refused if a.answered is not None and a.answered < edge]:
            self._refused.remove(access)
            cleared = any(write.address in (START, FAULT) and (write.answered or _EVER) >= access.accepted
                          for write in self.registers[-8:])
            assert cleared or any(c.fault >> 31 for c in self.trail[access.accepted:]), (
                f"cycle {self.now}: the refused access to 0x{access.address:04X} left no fault")

    def _unwritten(self, way: Way, old: Cycle, new: Cycle, write: Access | None) -> set[Way]:
        """The way after this edge, if ``write`` (or none) happened at it and explains the new state."""
        def bits(address: int) -> int:
            return write.data & 0xFFFF if write is not None and write.address == address else 0

        start, abort = bits(START), bits(ABORT)
        clean = bits(CLEAN) if write is not None and write.address == CLEAN else old.clean
        initialize = bits(INITIALIZE) if write is not None and write.address == INITIALIZE else old.initialize
        pending = (old.pending & ~old.accepted & ~abort) | start
        if (new.clean, new.initialize, new.pending) != (clean, initialize, pending):
            return set()
        # A slot that waits to run again has not finished.
        running = self.under_way | old.accepted
        status = (old.status | old.finished & ~(old.pending & ~abort)) & ~start
        forgotten = abort & old.pending & ~old.accepted & ~self.under_way
        owed = (way.owed | forgotten) & ~start & ~status
        late = new.status ^ status
        if late & ~owed:
            return set()
        aborted = (way.aborted | abort & running & ~old.finished) & ~new.accepted
        if not self._fault_follows(old, new, write, start, aborted):
            return set()
        if not self._interrupts_follow(old, new, write):
            return set()
        until = self.now + _LATE if forgotten else way.until
        return {Way(way.written + (write is not None), owed & ~late, until, aborted)}

    @staticmethod
    def _interrupts_follow(old: Cycle, new: Cycle, write: Access | None) -> bool:
        """No end or fault is lost, not even to an acknowledgement at that moment; the port says so at once."""
        enable, status = old.interrupt_enable, old.interrupt_status
        if write is not None and write.address == INTERRUPT_ENABLE:
            enable = write.data & 3
        if write is not None and write.address == INTERRUPT_STATUS:
            status &= ~write.data
        if old.finished & new.status:
            status |= KERNEL_END
        clears = write is not None and (write.address == FAULT or (
            write.address == START and write.data & 0xFFFF and not old.running and not old.pending))
        if stops(new.fault) and (clears or not stops(old.fault)):
            status |= STOPPING_FAULT
        return (new.interrupt_enable, new.interrupt_status, new.irq) == (enable, status, bool(enable & status))

    def _fault_follows(self, old: Cycle, new: Cycle, write: Access | None, start: int, aborted: int) -> bool:
        """A fault that stops is never lost, the first one stays, and a refused access fills an empty register."""
        clears = (write is not None and write.address == FAULT) or (
            start != 0 and not old.running and not old.pending)
        before = 0 if clears else old.fault
        allowed = {before}
        if not before and any(access.accepted < self.now for access in self._refused):
            allowed.add(REFUSED)
        for slot in range(16):
            if aborted >> slot & 1 and not stops(before):
                # Which compute unit, wavefront and instruction it was is not said.
                allowed |= {new.fault} & {1 << 31 | ABORTED << 25 | slot << 21}
        if old.fault_seen >> 31 and not stops(before):
            allowed = {old.fault_seen}
        return new.fault in allowed
