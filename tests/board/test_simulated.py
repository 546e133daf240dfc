"""The whole board in simulation, driven by the real driver over a pseudo-terminal."""

import os
import random
from collections.abc import Iterator

import numpy as np
import pytest
from click.testing import CliRunner

from fgpu import Device
from fgpu.benchmarks import BENCHMARKS
from fgpu.benchmarks.record import run_benchmark
from fgpu.board.boards import board
from fgpu.board.protocol import BOARD_BASE, BOARD_MAGIC, MEMORY_BASE
from fgpu.cli import main
from fgpu.config import Config
from fgpu.errors import BoardError, KernelFault, LaunchError, SimulationTimeout
from fgpu.sim.board.simulated import Noise, SimulatedBoard

pytestmark = pytest.mark.ci
BOARD = board("ulx3s_85f")
CONFIG = Config.preset("tiny")


@pytest.fixture(scope="module")
def simulated() -> Iterator[SimulatedBoard]:
    with SimulatedBoard(BOARD, CONFIG) as found:
        yield found


@pytest.mark.parametrize("name", ["copy", "vec_add", "vec_mul", "fir", "matmul", "bitonic"])
def test_kernels_of_chapter_6(simulated: SimulatedBoard, name: str) -> None:
    with Device(engine="board", port=simulated.link()) as device:
        assert device.config == CONFIG
        record = run_benchmark(name, 64, device=device, max_cycles=1_000_000)
        assert record.passed, record.failure
        assert 0 < record.cycles < 100_000
    assert simulated.state.refreshes


def test_the_demonstration_compares_with_the_plain_memory_model() -> None:
    arguments = "demo --board ulx3s_85f --simulate --preset tiny --sizes 64"
    done = CliRunner().invoke(main, arguments.split())
    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.output.splitlines()]
    cycles = {row[0]: (int(row[2].replace(",", "")), int(row[3].replace(",", "")))
              for row in rows if len(row) == 7 and row[1] == "64"}
    assert list(cycles) == list(BENCHMARKS)
    assert all(plain < behind_sdram for behind_sdram, plain in cycles.values())
    to_and_back = [(float(row[5]), float(row[10])) for row in rows if row[:3] == ["The", "line", "has"]]
    lowest, highest = (0.9 * 300, 0.9 * 11.52), (300, 11.52)      # kB/s, of 10 bits a byte
    assert all(low < rate < high for rates, low, high in zip(to_and_back, lowest, highest, strict=True)
               for rate in rates)


def test_memory_is_what_was_written(simulated: SimulatedBoard) -> None:
    """Over rows and banks, at the ends of memory, unaligned to frames."""
    rng = random.Random(1)
    with simulated.link() as link:
        for address, length in ((MEMORY_BASE, 4), (MEMORY_BASE + 0x1000 - 8, 3000),
                                (MEMORY_BASE + link.memory_bytes - 64, 64), (MEMORY_BASE + 0x80_0000, 1024)):
            content = rng.randbytes(length)
            link.write(address, content)
            assert link.read(address, length) == content
        with pytest.raises(BoardError, match="0x12000000"):
            link.read(MEMORY_BASE + link.memory_bytes, 4)
        assert link.read_word(MEMORY_BASE + link.memory_bytes - 4)
        assert not link.failures


def test_a_kernel_outside_of_memory_faults_and_the_next_one_runs(simulated: SimulatedBoard) -> None:
    from fgpu.compiler import compile_opencl

    image = compile_opencl("kernel void store(global int *out, int n) { out[get_global_id(0)] = n; }"
                           "kernel void forever(global int *out, int n) { while (n) out[0] = n; }", config=CONFIG)
    with Device(engine="board", port=simulated.link()) as device:
        out = device.buffer(64)
        with pytest.raises(KernelFault, match="error"):
            device.launch(image, "store", global_size=64, args=[0x2000_0000, 5])
        with pytest.raises(SimulationTimeout, match="aborted"):
            device.launch(image, "forever", global_size=64, args=[out, 5], max_cycles=50_000)
        device.launch(image, "store", global_size=64, args=[out, 7])
        assert (out.read() == 7).all()
        with pytest.raises(LaunchError, match="profile"):
            device.launch(image, "store", global_size=64, args=[out, 7], profile=True)


def test_another_core_is_refused(simulated: SimulatedBoard) -> None:
    with pytest.raises(BoardError, match="the board's core is"):
        Device(Config(), engine="board", port=simulated.link())


def test_litex_speaks_with_it(simulated: SimulatedBoard) -> None:
    """LiteX's own host program, unmodified."""
    from litex.tools.remote.comm_uart import CommUART

    litex = CommUART(simulated.port, 115_200)
    try:
        assert litex.read(BOARD_BASE) == BOARD_MAGIC
        words = [random.Random(2).getrandbits(32) for _ in range(20)]
        litex.write(MEMORY_BASE + 0x100, words)
        assert litex.read(MEMORY_BASE + 0x100, 20) == words
        assert litex.read(MEMORY_BASE + 0x104, 3, burst="fixed") == [words[1]] * 3
    finally:
        litex.close()


def test_a_host_that_dies_and_comes_back(simulated: SimulatedBoard) -> None:
    """In the middle of a frame, at the fast rate; the next one begins at the first rate and knows nothing."""
    content = np.arange(64, dtype=np.int32).tobytes()
    for length in (1, 5, 40):
        link = simulated.link()
        link.write(MEMORY_BASE, content)
        link._serial.write(b"\xd8\x81\x3f\x04\x00\x00\x00" + b"\x55" * (length - 1))
        link._serial.flush()
        link.abandon()
        with simulated.link(timeout=5.0) as later:      # whose first frame may be lost
            assert later.read(MEMORY_BASE, len(content)) == content


@pytest.mark.parametrize("noise", [Noise(flip=1e-4), Noise(drop=5e-4), Noise(add=5e-4)])
def test_noise_is_never_taken_for_data(noise: Noise) -> None:
    """A third of the frames is damaged; what is read is what was written all the same."""
    with SimulatedBoard(BOARD, CONFIG, noise=noise, seed=3) as noisy, noisy.link(timeout=3.0) as link:
        while link.failures < 2:
            content = os.urandom(512)
            link.write(MEMORY_BASE, content)
            assert link.read(MEMORY_BASE, len(content)) == content
        assert noisy.state.damaged
