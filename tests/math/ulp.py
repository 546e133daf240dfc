"""The worst errors of the math functions, measured: ``python -m tests.math.ulp [--samples N] [--write] [NAME ...]``.

Kernels run on the functional engine; references are in binary64 or better. ``--write`` writes docs/ulp.md.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fgpu.compiler import compile_opencl
from fgpu.config import Config
from fgpu.sim import Device

from .functions import FUNCTIONS, HALF, NATIVE, Function

DOCUMENT = Path(__file__).parents[2] / "docs/ulp.md"
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.0, 3.0, -2.0, -3.0, 10.0, 1e-45, -1e-45, 1.1754942e-38,
                    1.1754944e-38, 3.4028235e38, -3.4028235e38, np.inf, -np.inf, np.nan, 0.99999994, 1.0000001,
                    -0.99999994, 16367173.0, 2.0 ** 24, 2.0 ** 25, 1.5707964, 3.1415927, 0.7853982, 88.72284,
                    -103.97],
                   np.float32)
WAVEFRONT = 64


@dataclass(frozen=True)
class Measured:
    """The worst error of a function: in units in the last place, and for which arguments."""

    worst: float
    arguments: tuple[float, ...]
    got: float
    wanted: float
    instructions: int


def samples(function: Function, count: int, seed: int) -> list[np.ndarray]:
    """Arguments: special ones (in all pairs), then evenly spread in the range, by magnitude in it, and any words."""
    random = np.random.default_rng(seed)
    columns = []
    for kind in function.arguments:
        if kind == "i":
            integers = random.integers(-40, 41, count)
            columns.append(np.concatenate([np.tile([0, 1, -1, 2, 3, 7, -150, 127], len(SPECIAL)), integers]))
            continue
        low, high = max(function.low, -1e30), min(function.high, 1e30)
        third = count // 3
        even = random.uniform(max(low, -1e4), min(high, 1e4), third)
        words = random.integers(0, 1 << 32, count - 2 * third, dtype=np.uint32).view(np.float32)
        sizes = 2.0 ** random.uniform(-40, np.log2(max(abs(low), abs(high))), third)
        signs = random.choice([-1.0, 1.0], third) if low < 0 else 1.0
        spread = np.concatenate([even, np.clip(sizes * signs, low, high)]).astype(np.float32)
        if not function.outside:
            words = spread[:len(words)]
        repeat = len(SPECIAL) if len(function.arguments) == 2 and "i" not in function.arguments else 1
        special = np.repeat(SPECIAL, repeat) if not columns else np.tile(SPECIAL, repeat)
        if function.arguments == "fi":
            special = np.repeat(SPECIAL, 8)
        if not function.outside:
            special = special[(special >= low) & (special <= high)]
        columns.append(np.concatenate([special, spread, words]).astype(np.float32))
    length = min(map(len, columns)) // WAVEFRONT * WAVEFRONT
    columns = [column[:length] for column in columns]
    return [column.astype(np.int32) if kind == "i" else column
            for column, kind in zip(columns, function.arguments, strict=True)]


def run(name: str, function: Function, columns: list[np.ndarray], config: Config) -> tuple[np.ndarray, int]:
    """The results of the built-in function ``name`` on the functional engine, and instructions of a work-item."""
    types = {"f": "float", "i": "int"}
    pointers = ", ".join(f"__global const {types[kind]} *p{at}" for at, kind in enumerate(function.arguments))
    values = ", ".join(f"p{at}[i]" for at in range(len(columns)))
    source = f"__kernel void k({pointers}, __global float *out) {{ int i = get_global_id(0); " \
             f"out[i] = {name}({values}); }}"
    image = compile_opencl(source, filename=f"{name}.cl", config=config)
    with Device(config, engine="functional") as device:
        out = device.buffer(np.zeros(len(columns[0]), np.float32))
        launch = device.launch(image, "k", global_size=len(columns[0]), local_size=WAVEFRONT,
                               args=[*map(device.buffer, columns), out], max_cycles=1 << 40)
        return out.read(), launch.work_item_instructions // len(columns[0])


def errors(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Distances in units in the last place of the exact result; infinite where NaN or infinity is not there."""
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(wanted)[1] - 1, -126)
        unit = np.ldexp(1.0, exponent - 23)
        result = np.abs(got.astype(np.float64) - wanted) / unit
        rounded = wanted.astype(np.float32)
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        result = np.where(same & ~(np.isfinite(rounded) & np.isfinite(got)), 0.0, result)
    return np.where(np.isnan(result), np.inf, result)


def measure(name: str, count: int, seed: int = 1, prefix: str = "", config: Config | None = None) -> Measured:
    """The worst error of ``prefix`` + ``name`` over about ``count`` arguments."""
    function = FUNCTIONS[name]
    columns = samples(function, count, seed)
    got, instructions = run(prefix + name, function, columns, config or Config())
    with np.errstate(all="ignore"):
        wanted = np.asarray(function.reference(*(column.astype(np.float64) for column in columns)), np.float64)
        if function.limit == 0:     # the exact result, rounded
            wanted = wanted.astype(np.float32).astype(np.float64)
    distances = errors(got, wanted)
    at = int(np.argmax(distances))
    return Measured(float(distances[at]), tuple(float(column[at]) for column in columns), float(got[at]),
                    float(wanted[at]), instructions)


def document(count: int) -> str:
    """The table of docs/ulp.md."""
    lines = ["# Errors of the math functions", "",
             f"Worst errors in units in the last place over {count:,} arguments each, with the limits of the full "
             "profile (OpenCL 1.2, section 7.4; 0: the exact result, rounded) and the instructions that a work-item "
             "takes with floating point in software. `native_sin` and `native_cos` are within 2^-24 of the exact "
             "result for arguments below 2^33; `native_` functions without a row are the exact ones. Written by "
             "`python -m tests.math.ulp --write`.", "",
             "| function | limit | worst | instructions | | function | limit | worst | instructions |",
             "|---|--:|--:|--:|---|---|--:|--:|--:|"]
    rows = []
    for name, function in FUNCTIONS.items():
        found = measure(name, count)
        limit = "any" if function.limit == np.inf else f"{function.limit:g}"
        rows.append(f"| {name} | {limit} | {found.worst:.2f} | {found.instructions} |")
    for name in HALF:
        found = measure(name, count, prefix="half_")
        rows.append(f"| half_{name} | 8192 | {found.worst:.2f} | {found.instructions} |")
    for name in NATIVE:
        found = measure(name, count, prefix="native_")
        rows.append(f"| native_{name} | any | {found.worst:.2f} | {found.instructions} |")
    half = -(-len(rows) // 2)
    rows += ["| | | | |"] * (2 * half - len(rows))
    lines += [f"{left} {right}" for left, right in zip(rows[:half], rows[half:], strict=True)]
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--samples", type=int, default=30_000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.write:
        DOCUMENT.write_text(document(options.samples), encoding="utf-8")
        return
    for name in options.names or FUNCTIONS:
        found = measure(name, options.samples)
        mark = "" if found.worst <= FUNCTIONS[name].limit else "  <-- too much"
        print(f"{name:10} limit {FUNCTIONS[name].limit:5} worst {found.worst:10.3f} "
              f"instructions {found.instructions:5} at {found.arguments} got {found.got!r} "
              f"wanted {found.wanted!r}{mark}", flush=True)


if __name__ == "__main__":
    main()
