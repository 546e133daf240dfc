"""A simulated core whose control interface a test reads and writes word by word; it runs only meanwhile."""

from fgpu.config import Config
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.pysim import PysimEngine
from fgpu.sim.testbench import abi

__all__ = ["BASE", "SimulatedCore"]

BASE = 0x1800_0000
_SIZE = 1 << 20
_LIMIT = 100_000


class SimulatedCore(PysimEngine):
    """``read`` and ``write`` are those of :class:`~fgpu.sim.mapped.engine.Control`; ``memory`` is the core's."""

    def __init__(self, config: Config) -> None:
        super().__init__(config, GlobalMemory(BASE, _SIZE))
        self.accesses = 0

    def read(self, offset: int) -> int:
        return self._do(abi.OP_READ, offset, 0)

    def write(self, offset: int, word: int) -> None:
        self._do(abi.OP_WRITE, offset, word)

    def _do(self, kind: int, offset: int, word: int) -> int:
        self.accesses += 1
        operation = (abi.HostOp * 1)(abi.HostOp(kind, offset, word))
        bench = self._open()
        self._library.bench_launch(bench, operation, 1, _LIMIT)
        self._run_sliced()
        result = self._library.bench_result(bench).contents
        assert result.status == abi.DONE, result.message.decode()
        return int(operation[0].data)
