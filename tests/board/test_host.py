"""The host's side without a board: memory that is copied, options, and what the command line says."""

import os
import random
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from fgpu import Device
from fgpu.board.boards import BOARDS, board
from fgpu.board.ecp5 import PLL
from fgpu.board.link import Link
from fgpu.board.protocol import MEMORY_BASE
from fgpu.board.registers import config_words
from fgpu.cli import main
from fgpu.config import PRESETS, Config
from fgpu.errors import BoardError, ConfigError, LaunchError
from fgpu.sim.board.engine import config_of
from fgpu.sim.board.memory import BoardMemory

SIZE = 1 << 16


class Board:
    """Memory at the other end of a line; counts what goes over it."""

    memory_bytes = SIZE

    def __init__(self) -> None:
        self.content = bytearray(random.Random(1).randbytes(SIZE))
        self.moved = 0

    def read(self, address: int, length: int) -> bytes:
        self.moved += length
        at = address - MEMORY_BASE
        return bytes(self.content[at:at + length])

    def write(self, address: int, data: bytes) -> None:
        self.moved += len(data)
        at = address - MEMORY_BASE
        self.content[at:at + len(data)] = data


@pytest.mark.parametrize("seed", range(5))
def test_the_copy_is_the_boards_memory(seed: int) -> None:
    """Random accesses of host and kernels; each sees what the other has written."""
    rng = random.Random(seed)
    there = Board()
    memory = BoardMemory(there)
    right = np.zeros(SIZE, np.uint8)
    known = np.zeros(SIZE, bool)
    for _ in range(200):
        at, length = rng.randrange(SIZE - 2000), rng.randint(1, 2000)
        action = rng.choice(["write", "read", "clear", "run"])
        if action == "write":
            content = np.frombuffer(rng.randbytes(length), np.uint8)
            memory.view(MEMORY_BASE + at, length)[:] = content
            right[at:at + length] = content
            known[at:at + length] = True
        elif action == "clear":
            memory.clear(MEMORY_BASE + at, length)
            right[at:at + length] = 0
            known[at:at + length] = True
        elif action == "read":
            found, where = memory.view(MEMORY_BASE + at, length), known[at:at + length]
            assert (found[where] == right[at:at + length][where]).all()
        else:
            memory.send()
            assert (np.frombuffer(there.content, np.uint8)[known] == right[known]).all()
            memory.run()
            there.content[at:at + length] = content = rng.randbytes(length)
            right[at:at + length] = np.frombuffer(content, np.uint8)
            known[at:at + length] = True


@pytest.mark.parametrize("seed", range(5))
def test_memory_that_others_share(seed: int) -> None:
    """They use the bytes and tell nobody, while a kernel runs, too; each sees what the other has written."""
    rng = random.Random(seed)
    there = Board()
    memory = BoardMemory(there)
    memory.is_shared = True
    right = np.frombuffer(bytearray(SIZE), np.uint8)
    taken: list[tuple[int, int]] = []
    for _ in range(30):
        for _ in range(rng.randrange(3)):
            length = rng.randint(1, 3000)
            taken.append((memory.allocator.take(length) - MEMORY_BASE, length))
        while len(taken) > 6:
            memory.allocator.free(taken.pop(rng.randrange(len(taken)))[0] + MEMORY_BASE)
        for at, length in taken:
            memory.bytes[at:at + length] = right[at:at + length] = np.frombuffer(rng.randbytes(length), np.uint8)
        memory.send()
        memory.run()
        for at, length in taken:
            assert there.content[at:at + length] == right[at:at + length].tobytes()
        for at, length in rng.sample(taken, rng.randint(0, len(taken))):
            written = np.frombuffer(rng.randbytes(length), np.uint8)
            if rng.randrange(2):
                there.content[at:at + length] = written.tobytes()
            else:
                memory.bytes[at:at + length] = written
            right[at:at + length] = written
        assert memory.view(MEMORY_BASE, SIZE).size == SIZE      # fetches nothing
        memory.receive()
        for at, length in taken:
            assert (memory.bytes[at:at + length] == right[at:at + length]).all()


def test_only_what_has_changed_goes_over_the_line() -> None:
    there = Board()
    memory = BoardMemory(there)
    memory.view(MEMORY_BASE, 4096)[:] = 1
    assert memory.send() == there.moved == 4096
    memory.view(MEMORY_BASE + 1024, 4)[:] = 2
    memory.view(MEMORY_BASE + 2048, 512)
    assert memory.send() == 256
    there.moved = 0
    memory.run()
    memory.view(MEMORY_BASE + 1024, 4)
    memory.view(MEMORY_BASE + 1024, 8)
    assert there.moved == 256
    assert memory.send() == 0


@pytest.mark.parametrize("preset", PRESETS)
def test_a_board_says_which_core_it_has(preset: str) -> None:
    config = Config.preset(preset)
    text = b"".join(word.to_bytes(4, "little") for word in config_words(config)).rstrip(b"\0").decode()
    assert config_of(text) == config
    with pytest.raises(BoardError, match="another version"):
        config_of(text + "-1")


def test_plls_make_the_clock_exactly() -> None:
    for each in BOARDS.values():
        for clock in (25e6, 40e6, 50e6, each.clock):
            pll = PLL.of(each.oscillator, clock)
            assert each.oscillator / pll.input * pll.feedback == clock
            assert 400e6 <= clock * pll.output <= 800e6
            assert pll.output % 4 == 0
    with pytest.raises(ConfigError, match="cannot make 41"):
        PLL.of(25e6, 41.3e6)


def test_options_that_do_not_go_together() -> None:
    with pytest.raises(LaunchError, match="needs port"):
        Device(engine="board")
    with pytest.raises(LaunchError, match="is for engine='board'"):
        Device(engine="functional", port="/dev/ttyUSB0")
    with pytest.raises(LaunchError, match="memory_latency is for simulators"):
        Device(engine="board", port="/dev/ttyUSB0", memory_latency=3)
    with pytest.raises(BoardError, match="cannot open the serial port '/dev/no_such_port'"):
        Device(engine="board", port="/dev/no_such_port")
    with pytest.raises(ConfigError, match="there is no board 'x'; there are ulx3s_85f"):
        board("x")


def test_the_command_line() -> None:
    listed = CliRunner().invoke(main, ["build", "--board", "?"])
    assert "ulx3s_85f" in listed.output
    for arguments, told in (("build --board x", "there is no board 'x'"),
                            ("demo --board ulx3s_85f", "needs --board, and --port or --simulate"),
                            ("demo --simulate", "needs --board, and --port or --simulate"),
                            ("demo --board x --simulate", "there is no board 'x'"),
                            ("demo --board pynq_z1 --simulate", "pynq_z1 (Digilent PYNQ-Z1) is for Vivado and PYNQ"),
                            ("demo --board ulx3s_85f --simulate --port p", "either --simulate the board, or"),
                            ("demo --board ulx3s_85f --simulate --engine pysim", "--engine is for the demonstration"),
                            ("demo --board ulx3s_85f --simulate --sizes 63", "matmul: the size 63 is not n x n"),
                            ("demo --sizes 64", "--sizes is for a --board"),
                            ("build --board ulx3s_85f --clock nan", "'nan' is no number from 10 to 100"),
                            ("build --board ulx3s_85f -o none/x.bit", "cannot write none/x.bit: No such file"),
                            ("build --board ulx3s_85f -o .", "cannot write .: Is a directory"),
                            ("build --board ? -o x.bit", "--output is for bitstreams; --board ? writes none"),
                            ("build --board ? --cus 2", "--cus is for bitstreams; --board ? writes none"),
                            ("build --board ? --preset tiny", "--preset is for bitstreams"),
                            ("build --ip x --clock 20", "--clock is for bitstreams; Vivado's script")):
        done = CliRunner().invoke(main, arguments.split())
        assert isinstance(done.exception, SystemExit), arguments
        assert done.exit_code, arguments
        assert told in " ".join(done.output.split()), done.output


def test_why_a_port_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")
    ports: list[str] = []
    monkeypatch.setattr("serial.tools.list_ports.comports", lambda: [SimpleNamespace(device=name) for name in ports])
    (tmp_path / "file").touch()
    near, far = os.openpty()
    with open(far, "rb", closefd=False) as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        for port, told in (("/dev/no_such_port", "there is none; is a board connected?"),
                           (str(tmp_path / "file"), "it is no serial port"), (str(tmp_path), "it is no serial port"),
                           ("/dev/null", "it is no serial port"), (os.ttyname(far), "another program uses it")):
            with pytest.raises(BoardError) as caught:
                Link(port)
            assert str(caught.value) == f"cannot open the serial port {port!r}: {told}"
    os.close(near)
    os.close(far)
    ports += ["/dev/ttyUSB1", "/dev/ttyUSB0"]
    with pytest.raises(BoardError, match=r"of that name; there are /dev/ttyUSB0, /dev/ttyUSB1$"):
        Link("/dev/no_such_port")
