"""The checked-in sizes of the benchmark kernels: none may move unsaid, and one of them spills."""

from pathlib import Path

import pytest

from fgpu.benchmarks import static
from fgpu.benchmarks.baseline import differences
from fgpu.benchmarks.registry import EVERY
from fgpu.compiler.assembler.source import Sources

from ..checked_in import demand_unmoved


@pytest.mark.ci
def test_nothing_moved() -> None:
    demand_unmoved(differences(static.load(), static.measure()), "sizes", "benchmarks/static.json",
                   "python -m fgpu.benchmarks.static --write")


@pytest.mark.ci
def test_every_word_has_a_line_of_its_source() -> None:
    """Of the kernel's own file, or in subroutines of the routine's."""
    sources = Sources()
    for name, benchmark in EVERY.items():
        image = benchmark.image(static.SOFT)
        assert set(image.lines) == set(range(len(image.words))), name
        for kernel in image.kernels.values():
            own = {image.lines[kernel.entry + word].file for word in range(kernel.instructions)}
            assert own == {str(benchmark.source)}, name
        for location in set(image.lines.values()):
            assert Path(location.file) == benchmark.source or location.file.startswith("fgpu/compiler/"), name
            assert sources.line(location), location


def test_few_kernels_spill() -> None:
    """N-body in software keeps 21 values over calls of routines that need 14 registers, and it and the FFT more with
    local memory. Where work-items take several elements, the compiler keeps the addresses of each."""
    spills = {name for name, counts in static.load().items() if counts["scratchpad"]}
    assert spills == {"nbody_float nbody", "nbody_local_float nbody_local", "fft_local_float fft_local",
                      "matmul_local matmul_local", "convolution_local convolution", "kmeans_local kmeans"}
