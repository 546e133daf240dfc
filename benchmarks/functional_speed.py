"""How fast the functional engines are: ``python -m fgpu.benchmarks.functional_speed``.

The compiled one beside the one in NumPy: microseconds of tiny launches, and millions of instructions of work-items a
second of kernels like those of host programs. Times are the process's own, the best of several.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from fgpu.compiler import compile_opencl
from fgpu.config import ATOMICS, FLOAT_OPS, Config
from fgpu.sim import Device, LocalMemory
from fgpu.sim.functional import functional_engine
from fgpu.sim.prepared import PreparedLaunch

from .tree_reduction import TREE_REDUCTION

__all__ = ["main"]

_KINDS: Final = ("numpy", "native")
_CONFIG: Final = Config(float_ops=FLOAT_OPS, atomics=ATOMICS, local_memory=32)
_LEAST_SECONDS: Final = 0.05
_SOURCE: Final = """
kernel void nothing() {}
kernel void add(global const int *a, global const int *b, global int *c) {
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}
kernel void matmul(global const float *a, global const float *b, global float *c, int n) {
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
kernel void mandelbrot(global int *out, int n) {
    int x = get_global_id(0), y = get_global_id(1), turn = 0;
    float cx = 3.0f * x / n - 2.0f, cy = 3.0f * y / n - 1.5f, zx = 0, zy = 0;
    while (turn < 100 && zx * zx + zy * zy < 4.0f) {
        float next = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = next;
        turn++;
    }
    out[y * n + x] = turn;
}
kernel void nbody(global const float4 *body, global float4 *force, int n) {
    int i = get_global_id(0);
    float4 here = body[i], sum = 0;
    for (int j = 0; j < n; j++) {
        float4 there = body[j], d = there - here;
        float r2 = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f, inverse = 1.0f / sqrt(r2);
        sum += d * (there.w * inverse * inverse * inverse);
    }
    force[i] = sum;
}
kernel void histogram(global const uchar *in, global int *bins) { atomic_inc(&bins[in[get_global_id(0)]]); }
kernel void sine(global const float *x, global float *y) { size_t i = get_global_id(0); y[i] = sin(x[i]); }
kernel void divisions(global uint *x) {
    size_t i = get_global_id(0);
    uint value = x[i];
    for (uint k = 2; k < 34; k++) value += value / k % 7;
    x[i] = value;
}
"""


@dataclass(frozen=True)
class _Case:
    """A launch: its kernel and sizes, and its arguments on a device."""

    kernel: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    arguments: Callable[[Device], list[Any]]


def _random(device: Device, shape: Any, dtype: Any = np.float32) -> Any:
    rng = np.random.default_rng(1)
    values = rng.random(shape) * 100 if dtype == np.float32 else rng.integers(0, 256, shape)
    return device.buffer(values.astype(dtype))


def _zeros(device: Device, shape: Any, dtype: Any = np.int32) -> Any:
    return device.buffer(shape, dtype)


def _cases(side: int) -> list[_Case]:
    items, square = side * side, (side, side)
    return [
        _Case("add", (16 * items,), None, lambda d: [_zeros(d, 16 * items) for _ in range(3)]),
        _Case("matmul", square, None, lambda d: [_random(d, square), _random(d, square),
                                                 _zeros(d, square, np.float32), side]),
        _Case("matmul", square, (256, 1) if side % 256 == 0 else (side, 1), lambda d: [
            _random(d, square), _random(d, square), _zeros(d, square, np.float32), side]),
        _Case("mandelbrot", square, None, lambda d: [_zeros(d, square), side]),
        _Case("nbody", (items // 16,), None, lambda d: [_random(d, items // 4), _zeros(d, items // 4, np.float32),
                                                        side]),
        _Case("histogram", (items,), (256,), lambda d: [_random(d, items, np.uint8), _zeros(d, 256)]),
        _Case("reduce", (items,), (256,), lambda d: [_random(d, items, np.int32), _zeros(d, items // 256),
                                                     LocalMemory(1024)]),
        _Case("sine", (items,), None, lambda d: [_random(d, items), _zeros(d, items, np.float32)]),
        _Case("divisions", (items,), None, lambda d: [_random(d, items, np.uint32)]),
    ]


def _best(run: Callable[[], Any]) -> float:
    """Seconds of one run: the best of several, in which as many follow each other as can be timed."""
    times = 1
    while True:
        start = time.process_time()
        for _ in range(times):
            run()
        if (taken := time.process_time() - start) >= _LEAST_SECONDS or times > 100_000:
            break
        times *= 4
    seconds = [taken / times]
    for _ in range(2):
        start = time.process_time()
        for _ in range(times):
            run()
        seconds.append((time.process_time() - start) / times)
    return min(seconds)


def _device(kind: str) -> Device:
    device = Device(_CONFIG, engine="functional")
    device._engine = functional_engine(_CONFIG, device.memory, kind)
    return device


@click.command()
@click.option("--kind", "kinds", type=click.Choice(_KINDS), multiple=True, default=_KINDS, help="Which engines.")
@click.option("--side", default=256, help="Of square problems, in work-items.")
def main(kinds: tuple[str, ...], side: int) -> None:
    """Measure the functional engines."""
    image = compile_opencl(_SOURCE + TREE_REDUCTION, config=_CONFIG)
    devices = {kind: _device(kind) for kind in kinds}
    table = Table("launch", *(f"{kind}, us" for kind in kinds))
    for items in (1, 64, 512):
        for name in ("nothing", "add"):
            row = []
            for device in devices.values():
                arguments = [_zeros(device, items) for _ in range(3)] if name == "add" else []
                row.append(_best(partial(device.launch, image, name, global_size=items, local_size=items,
                                         args=arguments)))
            table.add_row(f"{name}, {items}", *(f"{1e6 * each:.0f}" for each in row))
    prepared = PreparedLaunch.of(image, image.kernels["nothing"], _CONFIG, global_size=64)
    table.add_row("nothing, 64, prepared", *(
        f"{1e6 * _best(partial(device.run_prepared, prepared, ())):.0f}" for device in devices.values()))
    Console().print(table)
    table = Table("kernel", "global", "local", *(f"{kind}, ms" for kind in kinds),
                  *(f"{kind}, M/s" for kind in kinds))
    for case in _cases(side):
        seconds, rates, run = [], [], None
        for device in devices.values():
            launch = partial(device.launch, image, case.kernel, global_size=case.global_size,
                             local_size=case.local_size, args=case.arguments(device))
            run = launch()
            seconds.append(_best(launch))
            rates.append(run.work_item_instructions / seconds[-1] / 1e6)
        assert run is not None
        sizes = (" x ".join(map(str, size)) for size in (case.global_size, run.local_size))
        table.add_row(case.kernel, *sizes, *(f"{1e3 * each:.1f}" for each in seconds),
                      *(f"{rate:,.0f}" for rate in rates))
    Console().print(table)


if __name__ == "__main__":
    main()
