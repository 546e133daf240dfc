"""The generated Verilog under cocotb and cocotbext-axi: a bench that shares nothing with ours but the host's code."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cocotbext.axi", reason="needs cocotb: pip install 'fgpu[test]'")

from cocotb_tools.runner import get_results, get_runner

from fgpu.config import Config
from fgpu.sim.testbench.build import cached, compiled_by, digest, find_compiler
from fgpu.sim.verilator_build import hardware_digest

from ..seeds import seed_of_test

EXAMPLE = Path(__file__).parents[2] / "examples" / "cocotb"
TINY = Config.preset("tiny")


@pytest.fixture(scope="module")
def simulator() -> Path:
    return example_simulator(TINY)


def example_simulator(config: Config) -> Path:
    """The example's simulator of an FGPU, from the cache of simulators or newly built."""
    sys.path.insert(0, str(EXAMPLE))
    from fgpu.cocotb import verilate

    def build(work: Path) -> dict[str, Any]:
        verilate.build(config, work)
        return {}

    compiler = find_compiler()
    key = "cocotb-" + digest([config.key, hardware_digest(None), Path(verilate.__file__),
                              *compiled_by(compiler), sys.prefix])
    return cached(key, "fgpu", build)[0]


def run(simulator: Path, module: str, folder: Path) -> int:
    """Run a bench; the number of its tests, none of which failed."""
    seed = seed_of_test() >> 1
    paths = os.pathsep.join([str(EXAMPLE), str(Path(__file__).parent), *sys.path])
    runner = get_runner("verilator")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", paths.split(os.pathsep))
        results = runner.test(module, "fgpu", hdl_toplevel_lang="verilog", build_dir=simulator.parent,
                              test_dir=folder, results_xml=str(folder / "results.xml"), seed=seed)
    count, failed = get_results(results)
    assert failed == 0
    return count


def test_example(simulator: Path, tmp_path: Path) -> None:
    assert run(simulator, "vec_add_bench", tmp_path) == 1


def test_kernels_and_bad_accesses(simulator: Path, tmp_path: Path) -> None:
    assert run(simulator, "bench", tmp_path) == 10
