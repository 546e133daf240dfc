"""The checked-in sizes of the benchmark kernels: none may move unsaid, and one of them spills."""

import pytest

from benchmarks import static
from benchmarks.baseline import differences


def test_nothing_moved() -> None:
    moved = list(differences(static.load(), static.measure()))
    if moved:
        pytest.fail("\n".join(["sizes are not those of benchmarks/static.json:", *moved, "If that is meant, run "
                               "`python -m benchmarks.static --write` and commit the file with the change."]),
                    pytrace=False)


def test_one_kernel_spills() -> None:
    """N-body in software keeps 21 values over calls of routines that need 14 registers."""
    spills = [name for name, counts in static.load().items() if counts["scratchpad"]]
    assert spills == ["nbody_float nbody"]
