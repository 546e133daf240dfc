"""How fast the Verilator engine is: ``python -m fgpu.benchmarks.simulator_speed``.

Thousands of clock cycles in a second of processor time, the best of several runs of each kernel. Models that are
not there yet are built first, which takes minutes. On a machine that does other work, too, compare two versions by
runs of both in turn.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from fgpu.cli.values import NumberList
from fgpu.compiler import compile_opencl
from fgpu.config import FLOAT_OPS, Config
from fgpu.sim import Device, LocalMemory
from fgpu.sim.verilator import VerilatorEngine

from .tree_reduction import TREE_REDUCTION

__all__ = ["main"]

_SIDE: Final = 64
_TAPS: Final = 16
_ITEMS: Final = 16384
_SOURCE: Final = """
kernel void copy(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    out[i] = in[i];
}
kernel void fir(global const int *in, global const int *taps, global int *out, int n) {
    size_t i = get_global_id(0);
    int sum = 0;
    for (int k = 0; k < n; k++) sum += in[i + k] * taps[k];
    out[i] = sum;
}
kernel void matmul(global const int *a, global const int *b, global int *c, int n) {
    int x = get_global_id(0), y = get_global_id(1), sum = 0;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
"""
_FLOATS: Final = """
kernel void roots(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    float x = in[i];
    for (int k = 0; k < 8; k++) x = sqrt(x * x + 1.0f) / 1.5f;
    out[i] = as_int(x);
}
"""


def _launches(device: Device) -> dict[str, Callable[[], Any]]:
    """The launches, by their kernels."""
    config = device.config
    source = _SOURCE + (TREE_REDUCTION if config.local_memory else "") + (_FLOATS if config.float_ops else "")
    image = compile_opencl(source, config=config)
    words = device.buffer(np.arange(_ITEMS + _TAPS, dtype=np.int32))
    out = device.buffer(_ITEMS, np.int32)

    def launch(kernel: str, global_size: Any, local_size: Any, *arguments: Any) -> Callable[[], Any]:
        return partial(device.launch, image, kernel, global_size=global_size, local_size=local_size, args=arguments)

    launches = {"copy": launch("copy", _ITEMS, 64, words, out),
                "fir": launch("fir", _ITEMS // 4, 64, words, words, out, _TAPS),
                "matmul": launch("matmul", (_SIDE, _SIDE), (8, 8), words, words, out, _SIDE)}
    if config.local_memory:
        launches["reduce"] = launch("reduce", _ITEMS, 256, words, out, LocalMemory(1024))
    if config.float_ops:
        launches["roots"] = launch("roots", _ITEMS // 4, 64, words, out)
    return launches


def _timed(run: Callable[[], Any]) -> tuple[int, float]:
    """Its cycles, and its seconds of processor time."""
    start = time.process_time()
    cycles = run().cycles
    return cycles, time.process_time() - start


def _device(config: Config, split: bool | None) -> Device:
    # A device has the default alone, and makes no other model for it.
    device = Device(config, engine="functional")
    device._engine = VerilatorEngine(device.config, device.memory, split=split)
    return device


@click.command()
@click.option("--cus", type=NumberList(), default="1,4,8", help="Numbers of compute units.")
@click.option("--repeat", type=click.IntRange(min=1), default=3, help="Runs of each kernel; the best counts.")
@click.option("--split/--whole", default=None,
              help="Each compute unit as a model of its own, or one model; by default as devices have it.")
@click.option("--local-memory", default=0, help="KiB of local memory; with some, a kernel with barriers is run, too.")
@click.option("--float", "floats", is_flag=True, help="All floating-point units, and a kernel that uses them.")
def main(cus: tuple[int, ...], repeat: int, split: bool | None, local_memory: int, floats: bool) -> None:
    """Measure the Verilator engine."""
    table = Table("compute units", "kernel", "cycles", "thousand cycles/s")
    for units in cus:
        operations = FLOAT_OPS if floats else frozenset()
        device = _device(Config(compute_units=units, local_memory=local_memory, float_ops=operations), split)
        for kernel, run in _launches(device).items():
            run()
            cycles, seconds = min((_timed(run) for _ in range(repeat)), key=lambda one: one[1])
            table.add_row(str(units), kernel, f"{cycles:,}", f"{cycles / seconds / 1e3:,.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
