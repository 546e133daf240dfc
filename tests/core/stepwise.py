"""An engine whose host, memory and reset a test drives step by step, without the power cycle that an error brings."""

from fgpu.address_map import CRAM_BASE, DESCRIPTOR_WORDS, ControlRegister, register_address
from fgpu.fault import FaultCause
from fgpu.sim.descriptor import KernelDescriptor
from fgpu.sim.testbench import abi
from fgpu.sim.verilator import VerilatorEngine

__all__ = ["ABORT", "CLEAN", "FAULT", "INITIALIZE", "START", "STATUS", "StepwiseEngine", "cause"]

STATUS, START, CLEAN, INITIALIZE, FAULT, ABORT = (
    register_address(ControlRegister[name])
    for name in ("STATUS", "START", "CLEAN_CACHE", "INITIALIZE", "FAULT", "ABORT"))
Operation = tuple[int, int, int]


def cause(fault: int) -> FaultCause:
    """Of a word of the fault register."""
    return FaultCause(fault >> 25 & 7) if fault >> 31 else FaultCause.NONE


class StepwiseEngine(VerilatorEngine):
    """Operations of the host in lists; the hardware keeps its state whatever happens."""

    def do(self, *operations: Operation, limit: int = 200_000) -> list[int]:
        """Run operations (``abi.OP_WRITE`` and its like, address, data) to their end; what the reads gave.

        Raises AssertionError for what breaks a protocol and for a kernel that runs for more than ``limit`` cycles.
        """
        array = (abi.HostOp * len(operations))(*(abi.HostOp(*operation) for operation in operations))
        bench = self._open()
        self._library.bench_launch(bench, array, len(array), limit)
        self._run_sliced()
        result = self._library.bench_result(bench).contents
        assert result.status == abi.DONE, result.message.decode()
        return [operation.data for operation in array if operation.kind == abi.OP_READ]

    def run_for(self, cycles: int, *operations: Operation) -> None:
        """Begin operations and stop after so many cycles, wherever they are."""
        array = (abi.HostOp * len(operations))(*(abi.HostOp(*operation) for operation in operations))
        self._library.bench_launch(self._open(), array, len(array), 1 << 60)
        self._run(cycles)
        self._begun = array     # which the bench uses until the next list

    def reset(self, *, memory: bool = True, wake: int | None = None) -> None:
        """Reset the core for one cycle, and its memory's AXI ports with it; the next access comes ``wake`` cycles on.

        A list of operations is forgotten. By default the core has time to clear its memories.
        """
        self._open()
        self._library.model_reset(self._model, self.config.wake_cycles if wake is None else wake, int(memory))

    @property
    def quiet(self) -> bool:
        """Whether every request on the AXI ports has been answered."""
        return bool(self._library.bench_quiet(self._open()))

    def bus_errors(self, *, reads: float = 0.0, writes: float = 0.0) -> None:
        """From now on answer these shares of all read beats and of all writes with SLVERR.

        What is read then is anything; of a write's beats memory keeps some.
        """
        self._library.bench_bus_errors(self._open(), int(reads * 2.0**53), int(writes * 2.0**53))

    def load(self, program: list[int], *descriptors: tuple[int, KernelDescriptor], clean: int,
             initialize: int) -> None:
        """Write a program, the descriptors of slots and the control registers."""
        words = {CRAM_BASE + 4 * i: word for i, word in enumerate(program)}
        for slot, descriptor in descriptors:
            words |= {4 * (DESCRIPTOR_WORDS * slot + i): word for i, word in enumerate(descriptor.words())}
        words |= {CLEAN: clean, INITIALIZE: initialize}
        self.do(*((abi.OP_WRITE, address, word) for address, word in words.items()))
