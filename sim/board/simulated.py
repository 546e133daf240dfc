"""A simulated board: its whole design behind a pseudo-terminal, which a host opens like a serial port."""

import ctypes
import os
import pty
import threading
import tty
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from fgpu.board.boards import Board
from fgpu.board.link import Link
from fgpu.board.system import SystemParameters
from fgpu.board.verilog import TOP, board_verilog
from fgpu.config import Config
from fgpu.errors import SimulationError
from fgpu.extras import demand

from ..testbench.build import Progress, cached, compiled_by, digest, find_compiler
from ..verilate import runtime_object, verilate, verilated_by, verilator_flags
from ..verilator_build import hardware_digest

__all__ = ["BoardState", "Noise", "SimulatedBoard"]

_HERE = Path(__file__).parent
_SOURCES = [_HERE / name for name in ("board.cpp", "sdram_chip.h", "serial_line.h", "ecp5_models.v")]
_VERILATE = ["--no-assert", "--pins-inout-enables", "--output-split", "20000", "--output-split-cfuncs", "5000"]
_TIMEOUT = 0.0005
"""Of the bridge, in seconds of the board's time: 100 ms would be minutes here."""
_HOST_TIMEOUT = 300.0
"""Of hosts, in real seconds: a KiB at 115,200 baud are 4 million cycles here, and the machine may have other work."""


@dataclass(frozen=True)
class Noise:
    """What the line does to bytes in each direction: chances that a bit is the other one, that a byte is lost, and
    that one comes which nobody sent."""

    flip: float = 0.0
    drop: float = 0.0
    add: float = 0.0


class BoardState(ctypes.Structure):
    """Counters: cycles; bytes that came from the board, went to it, and were damaged; accesses of the chip."""

    _fields_ = [*((name, ctypes.c_uint64) for name in (
        "cycles", "received", "sent", "damaged", "reads", "writes", "refreshes")), ("error", ctypes.c_char * 200)]


def parameters(board: Board, config: Config, clock: int | None = None) -> SystemParameters:
    """Those of the design that is built, but for the time that the bridge waits."""
    return SystemParameters(clock=clock or board.clock, memory_bytes=board.chip.size, config=config,
                            timeout=_TIMEOUT)


class SimulatedBoard:
    """A board in a thread of its own. ``port`` is what hosts open; more than one may, one after the other.

    The first use of a configuration builds a model, which takes a minute or more. A host's rate of the line is the
    line's: bytes at another rate than the board's are garbage, as on a wire.
    """

    def __init__(self, board: Board, config: Config | None = None, *, noise: Noise | None = None, seed: int = 1,
                 clock: int | None = None, progress: Progress = lambda text: None) -> None:
        demand("a simulated board", "board", "sim")
        noise = noise or Noise()
        self.config = Config() if config is None else config
        given = parameters(board, self.config, clock)
        self._library = _load(_build(board, given, progress))
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.port = os.ttyname(self._slave)
        self._stop = ctypes.c_int(0)
        self._board = self._library.board_create(
            self._master, float(given.clock), noise.flip, noise.drop, noise.add, seed)
        self._thread = threading.Thread(
            target=self._library.board_run, args=(self._board, ctypes.byref(self._stop)), daemon=True)
        self._thread.start()

    @property
    def state(self) -> BoardState:
        """How it is going. Raises :class:`~fgpu.errors.SimulationError` where the memory chip was ill-treated."""
        state: BoardState = self._library.board_state(self._board).contents
        if state.error:
            raise SimulationError(state.error.decode())
        return state

    def link(self, **options: Any) -> Link:
        """The driver, with times that simulation needs."""
        return Link(self.port, **{"timeout": _HOST_TIMEOUT, "silence": 0.5, **options})

    def close(self) -> None:
        """Switch it off. Raises as :attr:`state`."""
        if self._board is None:
            return
        self._stop.value = 1
        self._thread.join()
        try:
            _ = self.state
        finally:
            self._library.board_destroy(self._board)
            self._board = None
            os.close(self._master)
            os.close(self._slave)

    def __enter__(self) -> "SimulatedBoard":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()


def _load(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    library.board_create.argtypes = [ctypes.c_int, *[ctypes.c_double] * 4, ctypes.c_uint64]
    library.board_create.restype = ctypes.c_void_p
    library.board_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.board_run.restype = None
    library.board_state.argtypes = library.board_destroy.argtypes = [ctypes.c_void_p]
    library.board_state.restype = ctypes.POINTER(BoardState)
    library.board_destroy.restype = None
    return library


def _build(board: Board, given: SystemParameters, progress: Progress) -> Path:
    """The model, as a shared library; built if need be."""
    chosen = find_compiler()
    key = f"board-{board.name}-" + digest([
        repr(given), repr(board), hardware_digest(board_verilog), *_SOURCES, *_VERILATE, *verilated_by(),
        *compiled_by(chosen)])

    def build(work: Path) -> dict[str, Any]:
        progress("generating Verilog")
        files = board_verilog(board, given)
        for name, text in files.items():
            (work / name).write_text(text)
        progress("running Verilator")
        model = verilate(work, [*files, _HERE / "ecp5_models.v"], TOP, *_VERILATE, prefix="Vboard",
                         initial="unique")
        progress("compiling")
        chosen.compile(model.sources(_HERE / "board.cpp"), work / "board.so", progress=progress,
                       objects=[runtime_object(chosen, model)],
                       flags=[*verilator_flags(), f"-I{model.folder}", f"-I{_HERE}"])
        return {"config": given.config.key}

    return cached(key, "board.so", build)[0]
