"""Instructions and scratchpad words of the benchmark kernels, checked in: ``python -m benchmarks.static --write``."""

import argparse
import json
from pathlib import Path
from typing import Final

from fgpu.config import ATOMICS, FLOAT_OPS, Config
from fgpu.files import write_atomically

from .baseline import Counts, differences
from .registry import EVERY

__all__ = ["STATIC", "load", "measure"]

STATIC: Final = Path(__file__).parent / "static.json"
_SOFT: Final = Config(atomics=ATOMICS)
_HARD: Final = _SOFT.replace(float_ops=FLOAT_OPS)


def measure() -> Counts:
    """For each kernel of each benchmark its instructions, the program's with all subroutines, and scratchpad words.

    Floating point is in software; kernels for which that makes a difference come with hardware, too.
    """
    counts: Counts = {}
    for name, benchmark in EVERY.items():
        soft, hard = benchmark.image(_SOFT), benchmark.image(_HARD)
        for suffix, image in (("", soft), (" hard", hard)):
            if suffix and image.words == soft.words:
                continue
            for kernel in image.kernels.values():
                counts[f"{name} {kernel.name}{suffix}"] = {
                    "instructions": kernel.instructions, "program": len(image.words),
                    "scratchpad": kernel.scratchpad_words}
    return counts


def load() -> Counts:
    """What is checked in."""
    counts: Counts = json.loads(STATIC.read_text(encoding="utf-8"))
    return counts


def main() -> None:
    """Print what moved; with ``--write`` make it what is checked in."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    counts = measure()
    for line in differences(load() if STATIC.exists() else {}, counts):
        print(line)
    if parser.parse_args().write:
        lines = (f"  {json.dumps(name)}: {json.dumps(values)}" for name, values in counts.items())
        write_atomically(STATIC, "{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
