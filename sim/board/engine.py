"""The engine that is hardware: launches on a board, over its serial line."""

import time
from typing import Any

from fgpu.address_map import DESCRIPTOR_WORDS, LRAM_BASE, ControlRegister, code_address, register_address
from fgpu.board.link import Link
from fgpu.board.protocol import CONTROL_BASE, BoardRegister
from fgpu.config import Config
from fgpu.errors import BoardError, LaunchError, SimulationTimeout

from ..engine import EngineResult, Launch, Progress
from ..faults import kernel_fault
from .memory import BoardMemory

__all__ = ["BoardEngine", "config_of"]

_POLL_SECONDS = (0.0005, 0.05)      # first, and at most
_ABORT_SECONDS = 5.0


def config_of(key: str) -> Config:
    """The configuration that has this ``key``. Raises :class:`~fgpu.errors.BoardError` for one of other versions."""
    try:
        return Config.from_key(key)
    except ValueError as error:
        raise BoardError(f"the board's core is of another version of fgpu: {key!r} ({error})") from None


def _register(register: Any) -> int:
    return CONTROL_BASE + register_address(register)


class BoardEngine:
    """A core on a board. Cycles are those that the board has counted; instructions nobody counts: they are 0.

    ``config`` must be that of the board's core. Raises :class:`~fgpu.errors.BoardError` as
    :class:`~fgpu.board.link.Link` does, and for another core.
    """

    name = "board"

    def __init__(self, config: Config, link: Link, memory: BoardMemory) -> None:
        self.config = config
        self.link = link
        self.memory = memory
        self._written: dict[int, int] = {}      # control address: the word last written there

    def launch(self, launch: Launch) -> EngineResult:
        """Run one kernel until its status bit rises; accesses are not checked."""
        if launch.profile or launch.record:
            raise LaunchError("a board counts cycles only; profiles and records need engine='verilator' or 'pysim'")
        begin = time.perf_counter()
        sent = self.memory.send()
        self._load(launch)
        flag = 1 << launch.slot
        self.memory.run()
        self.link.write_word(_register(ControlRegister.START), flag)
        started = time.perf_counter()
        self._wait(launch, flag, started)
        seconds = time.perf_counter() - started
        fault = kernel_fault(self.link.read_word(_register(ControlRegister.FAULT)), launch.places, launch.slot)
        if fault is not None:
            raise fault
        cycles = self.link.read_register(BoardRegister.CYCLES)
        return EngineResult(
            cycles=cycles, instructions=0, work_item_instructions=0, seconds=seconds,
            stats={"cycles": cycles, "line.bytes_sent": sent, "line.failures": self.link.failures,
                   "line.microseconds": round(1e6 * (started - begin))})

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
            words = b"".join(wanted[address].to_bytes(4, "little") for address in changed[at:end])
            self.link.write(CONTROL_BASE + changed[at], words)
            at = end
        self._written |= wanted

    def _wait(self, launch: Launch, flag: int, started: float) -> None:
        pause, longest = _POLL_SECONDS
        try:
            while not self.link.read_word(_register(ControlRegister.STATUS)) & flag:
                cycles = self.link.read_register(BoardRegister.CYCLES)
                if cycles > launch.limit:
                    raise SimulationTimeout(
                        f"{launch.places.whose} did not finish within {launch.max_cycles} cycles; it was aborted. "
                        "If it is only slow, give more max_cycles")
                if launch.progress is not None:
                    launch.progress(Progress(cycles=cycles, instructions=0, wavefronts=0, all_wavefronts=0,
                                             seconds=time.perf_counter() - started))
                time.sleep(pause)
                pause = min(2 * pause, longest)
        except BoardError:
            raise
        except BaseException:
            self._abort(flag)
            raise

    def _abort(self, flag: int) -> None:
        """Leave the core idle, and no fault behind."""
        self.link.write_word(_register(ControlRegister.ABORT), flag)
        end = time.monotonic() + _ABORT_SECONDS
        while not self.link.read_word(_register(ControlRegister.STATUS)) & flag and time.monotonic() < end:
            pass
        self.link.write_word(_register(ControlRegister.FAULT), 0)

    def close(self) -> None:
        """End the session with the board."""
        self.link.close()
