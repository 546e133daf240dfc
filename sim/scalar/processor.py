"""Programs for the scalar processor: compiled from OpenCL C kernels as plain C, and run cycle by cycle."""

import ctypes
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from fgpu.compiler.image import Kernel
from fgpu.engines import MEMORY_BASE
from fgpu.errors import MemoryAccessError, SimulationTimeout, ToolError
from fgpu.extras import demand, package_folder
from fgpu.sim.engine import MemoryTiming
from fgpu.sim.memory import GlobalMemory
from fgpu.sim.testbench.build import bench_sources, cached, compiled_by, digest, find_compiler, run_tool, write_abi
from fgpu.sim.verilate import runtime_object, verilate, verilated_by, verilator_flags

__all__ = ["CODE_BASE", "DATA_BASE", "Launches", "compile_program", "run_program"]

CODE_BASE: Final = 0x4000_0000
DATA_BASE: Final = MEMORY_BASE
_CODE_SIZE: Final = 1 << 20
_STEPS: Final = CODE_BASE + (1 << 19)
"""Where the table of launches is; the stack grows down towards it from the end."""
_STEP_WORDS: Final = 16
_ARGUMENTS: Final = 11
_HERE: Final = Path(__file__).parent
_VARIANT: Final = "VexRiscv_Full.v"
_TARGET: Final = ("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m", "-O3", "-std=gnu2x", "-fwrapv",
                  "-ffreestanding", "-ffp-contract=off", "-fno-sanitize=all", "-fsigned-char", "-w",
                  "-nostartfiles", "-static", "-g0")


@dataclass(frozen=True)
class Launches:
    """What the program does: kernels by number, ranges of ids (first, end) in two dimensions, argument words."""

    kernels: tuple[int, ...]
    ranges: tuple[tuple[int, int, int, int], ...]
    args: tuple[tuple[int, ...], ...]

    def words(self) -> np.ndarray:
        """The table in memory; a kernel that there is not ends it."""
        table = np.zeros((len(self.kernels) + 1, _STEP_WORDS), np.uint32)
        for row, kernel, (x, x_end, y, y_end), args in zip(table, self.kernels, self.ranges, self.args, strict=False):
            row[:5] = kernel, x, y, x_end, y_end
            row[5:5 + len(args)] = args
        table[-1, 0] = 0xFFFF_FFFF
        return table


def _main(kernels: Sequence[Kernel]) -> str:
    cases = []
    for number, kernel in enumerate(kernels):
        args = []
        for index, parameter in enumerate(kernel.parameters or ()):
            word = f"now.args[{index}]"
            args.append(f"({parameter.type} *){word}.u" if parameter.kind == "pointer"
                        else f"{word}.f" if parameter.type == "float" else f"({parameter.type}){word}.u")
        if len(args) > _ARGUMENTS:
            raise ToolError(f"kernel {kernel.name!r} has more than {_ARGUMENTS} parameters")
        cases.append(f"        SCALAR_LAUNCH({number}, {kernel.name}({', '.join(args)}))")
    return "\n".join([
        '__attribute__((section(".start"), naked)) void _start(void)',
        f'{{ asm volatile("li sp, {CODE_BASE + _CODE_SIZE}\\n j main"); }}',
        "int main(void) {", "    SCALAR_CONTROL = 1;",
        "    for (const ScalarStep *step = SCALAR_STEPS; ; step++) {",
        # A copy of the step is one that no store of a kernel changes.
        "        const ScalarStep now = *step;", "        scalar_size_0 = now.end[0] - now.first[0];",
        "        switch (now.kernel) {", *cases,
        "        default: SCALAR_CONTROL = 0; for (;;);", "        }", "    }", "}", ""])


def compile_program(source: str, kernels: Sequence[Kernel], options: Sequence[str] = ()) -> bytes:
    """The memory image of a program that launches ``kernels`` of an OpenCL C source as :class:`Launches` says.

    ``kernels`` are those of the image that the FGPU's compiler made. Raises :class:`~fgpu.errors.ToolError`.
    """
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "program.c").write_text(f'#include "{_HERE / "opencl.h"}"\n#line 1 "kernel.cl"\n{source}\n'
                                        f"{_main(kernels)}")
        zig = (sys.executable, "-m", "ziglang")
        run_tool([*zig, "cc", *_TARGET, *options, f"-DSCALAR_STEPS_ADDRESS={_STEPS}u", "-T", _HERE / "program.ld",
                  "program.c", "-o", "program.elf"], work)
        run_tool([*zig, "objcopy", "-O", "binary", "program.elf", "program.bin"], work)
        return (work / "program.bin").read_bytes()


class _Run(ctypes.Structure):
    _fields_ = [("code", ctypes.c_void_p), ("data", ctypes.c_void_p)] + [(name, ctypes.c_uint32) for name in (
        "code_base", "code_size", "data_base", "data_size", "latency_least", "latency_greatest")] + [
        (name, ctypes.c_uint64) for name in ("seed", "max_cycles", "cycles")] + [
        (name, ctypes.c_uint32) for name in ("bad_address", "stopped")]


def run_program(program: bytes, launches: Launches, memory: GlobalMemory, *, timing: MemoryTiming | None = None,
                max_cycles: int = 1_000_000_000) -> int:
    """Run a program with cold caches; the cycles from before its first launch to the end of the last one.

    Raises :class:`~fgpu.errors.SimulationTimeout` at the limit and
    :class:`~fgpu.errors.MemoryAccessError` for an access outside memory.
    """
    timing = timing or MemoryTiming()
    code = np.zeros(_CODE_SIZE, np.uint8)
    code[:len(program)] = np.frombuffer(program, np.uint8)
    table = launches.words().reshape(-1).view(np.uint8)
    code[_STEPS - CODE_BASE:][:len(table)] = table
    run = _Run(code=code.ctypes.data, data=memory.bytes.ctypes.data, code_base=CODE_BASE, code_size=_CODE_SIZE,
               data_base=memory.base, data_size=memory.size, latency_least=timing.read_latency[0],
               latency_greatest=timing.read_latency[1], seed=timing.seed, max_cycles=max_cycles)
    library = ctypes.CDLL(str(_model()))
    library.scalar_run(ctypes.byref(run))
    if run.stopped == 2:
        raise SimulationTimeout(f"the scalar processor did not finish within {max_cycles} cycles")
    if run.stopped != 1:
        raise MemoryAccessError(f"the scalar processor's access to 0x{run.bad_address:08X} is outside memory")
    return int(run.cycles)


@lru_cache
def _model() -> Path:
    """The processor as a shared library, from the cache or newly built."""
    demand("the scalar processor", "scalar")
    verilog = package_folder("pythondata_cpu_vexriscv") / "verilog" / _VARIANT
    chosen = find_compiler()
    machine = _HERE / "machine.cpp"

    def build(work: Path) -> dict[str, str]:
        model = verilate(work, [verilog], "VexRiscv", "--no-assert")
        chosen.compile(model.sources(machine), work / "scalar.so", objects=[runtime_object(chosen, model)],
                       flags=[*verilator_flags(), f"-I{model.folder}", *write_abi(work)])
        return {"compiler": chosen.version}

    key = "scalar-" + digest([verilog, machine, *bench_sources(), Path(__file__), *verilated_by(),
                              *compiled_by(chosen)])
    return cached(key, "scalar.so", build)[0]
