"""The checked-in sizes of the benchmark kernels: none may move unsaid, and one of them spills."""

import pytest

from fgpu.benchmarks import static
from fgpu.benchmarks.baseline import differences

from ..checked_in import demand_unmoved


@pytest.mark.ci
def test_nothing_moved() -> None:
    demand_unmoved(differences(static.load(), static.measure()), "sizes", "benchmarks/static.json",
                   "python -m benchmarks.static --write")


def test_one_kernel_spills() -> None:
    """N-body in software keeps 21 values over calls of routines that need 14 registers."""
    spills = [name for name, counts in static.load().items() if counts["scratchpad"]]
    assert spills == ["nbody_float nbody"]
