"""Launches on hardware, whatever leads to it: a serial line or the processor's own addresses."""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from fgpu.address_map import DESCRIPTOR_WORDS, LRAM_BASE, ControlRegister, code_address, register_address
from fgpu.config import Config
from fgpu.errors import BoardError, LaunchError, SimulationTimeout

from .engine import EngineResult, Launch, Progress
from .faults import kernel_fault
from .memory import GlobalMemory

__all__ = ["HardwareEngine"]

_POLL_SECONDS: Final = (0.0005, 0.05)      # first, and at most
_ABORT_SECONDS: Final = 5.0


class HardwareEngine(ABC):
    """A core that is hardware. Instructions nobody counts: they are 0."""

    name: str
    memory: GlobalMemory

    def __init__(self, config: Config) -> None:
        self.config = config
        self._written: dict[int, int] = {}      # control address: the word last written there

    @abstractmethod
    def read_word(self, address: int) -> int:
        """A word of the control interface."""

    @abstractmethod
    def write_words(self, address: int, words: Sequence[int]) -> None:
        """Write words of the control interface, from ``address`` on."""

    @abstractmethod
    def take_memory(self) -> None:
        """Give the core the memory as the host sees it, until its kernel has ended."""

    @abstractmethod
    def give_memory(self) -> None:
        """Let the host see the memory as the core has left it."""

    @abstractmethod
    def cycles(self, seconds: float) -> int | None:
        """Cycles of the kernel that was started ``seconds`` ago, if they are counted."""

    @abstractmethod
    def is_late(self, max_cycles: int, seconds: float) -> bool:
        """Whether a kernel that was started ``seconds`` ago has taken more cycles than these."""

    def build(self) -> None:
        """Hardware is there: nothing happens."""
        return

    @abstractmethod
    def close(self) -> None:
        """Give back what the engine holds."""

    def launch(self, launch: Launch) -> EngineResult:
        """Run one kernel until its status bit rises; accesses are not checked."""
        if launch.profile or launch.record:
            raise LaunchError("hardware has neither profiles nor records; they need engine='verilator' or 'pysim'")
        self.take_memory()
        self._load(launch)
        flag = 1 << launch.slot
        self._write(ControlRegister.START, flag)
        started = time.perf_counter()
        try:
            self._wait(launch, flag, started)
            seconds = time.perf_counter() - started
            fault = kernel_fault(self._read(ControlRegister.FAULT), launch.places, launch.slot)
        finally:
            self.give_memory()
        if fault is not None:
            raise fault
        cycles = self.cycles(seconds)
        stats = self.counters()
        return EngineResult(cycles=cycles, instructions=0, work_item_instructions=0, seconds=seconds,
                            stats=stats if cycles is None else {"cycles": cycles} | stats)

    def counters(self) -> dict[str, int]:
        """Of the last launch."""
        return {}

    def _read(self, register: Any) -> int:
        return self.read_word(register_address(register))

    def _write(self, register: Any, word: int) -> None:
        self.write_words(register_address(register), [word])

    def _load(self, launch: Launch) -> None:
        """Program, descriptor and control registers, as far as they are not there already."""
        slot = LRAM_BASE + 4 * DESCRIPTOR_WORDS * launch.slot
        flag = 1 << launch.slot
        wanted = {code_address(index): int(word) for index, word in enumerate(launch.program)}
        wanted |= {slot + 4 * index: int(word) for index, word in enumerate(launch.descriptor)}
        for register, is_set in ((ControlRegister.CLEAN_CACHE, launch.clean),
                                 (ControlRegister.INITIALIZE, launch.initialize)):
            wanted[register_address(register)] = flag if is_set else 0
        changed = sorted(address for address, word in wanted.items() if self._written.get(address) != word)
        at = 0
        while at < len(changed):
            end = at + 1
            while end < len(changed) and changed[end] == changed[end - 1] + 4:
                end += 1
            self.write_words(changed[at], [wanted[address] for address in changed[at:end]])
            at = end
        self._written |= wanted

    def _wait(self, launch: Launch, flag: int, started: float) -> None:
        pause, longest = _POLL_SECONDS
        try:
            while not self._read(ControlRegister.STATUS) & flag:
                seconds = time.perf_counter() - started
                if self.is_late(launch.limit, seconds):
                    raise SimulationTimeout(
                        f"{launch.places.whose} did not finish within {launch.max_cycles} cycles; it was aborted. "
                        "If it is only slow, give more max_cycles")
                if launch.progress is not None:
                    launch.progress(Progress(cycles=self.cycles(seconds), instructions=0, wavefronts=0,
                                             all_wavefronts=0, seconds=seconds))
                time.sleep(pause)
                pause = min(2 * pause, longest)
        except BoardError:
            raise
        except BaseException:
            self._abort(flag)
            raise

    def _abort(self, flag: int) -> None:
        """Leave the core idle, and no fault behind."""
        self._write(ControlRegister.ABORT, flag)
        end = time.monotonic() + _ABORT_SECONDS
        while not self._read(ControlRegister.STATUS) & flag and time.monotonic() < end:
            pass
        self._write(ControlRegister.FAULT, 0)
