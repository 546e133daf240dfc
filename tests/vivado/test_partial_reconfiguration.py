"""The floating-point units as a region that is loaded while the core runs."""

import json
import re
import sys
from pathlib import Path

import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import FLOAT_OPS, Config
from fgpu.tools.verilog import to_verilog, write_float_units
from fgpu.vivado.package import package_files
from fgpu.vivado.zynq import ZYNQ_BOARDS

from .floats_region import with_region
from .test_pynq import KERNELS

CORE = Config.preset("tiny").replace(float_ops=frozenset({"fslt"}))
CONTENTS = {"compare": CORE.float_ops, "arithmetic": frozenset({"fadd", "fsub", "fmul"}), "nothing": frozenset()}


@pytest.mark.ci
def test_the_region_has_the_same_ports_whatever_is_in_it(tmp_path: Path) -> None:
    def declared(text: str, module: str) -> list[str]:
        [body] = re.findall(rf"^module {module} ?\(.*?^endmodule", text, re.MULTILINE | re.DOTALL)
        return sorted(re.findall(r"^  (?:input|output) .*;$", body, re.MULTILINE))

    inside = declared(to_verilog(CORE), r"\\fgpu\.floats")
    assert len(inside) == 9
    for operations in (CORE.float_ops, FLOAT_OPS):
        path = write_float_units(CORE.replace(float_ops=operations), tmp_path / "floats.v")
        assert declared(path.read_text(), "floats") == inside


@pytest.mark.ci
def test_a_program_of_pynq_exchanges_the_units(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cocotbext.axi", reason="needs cocotb: pip install 'fgpu[cocotb]'")
    pytest.importorskip("cocotbpynq", reason="pip install --no-deps cocotbpynq")
    pytest.importorskip("pyslang", reason="pip install pyslang, which cocotbpynq.pr imports")
    from cocotb_tools.runner import get_results, get_runner

    from fgpu.cocotb import verilate

    (tmp_path / "fgpu.v").write_text(with_region(CORE, CONTENTS, tmp_path))
    verilate.build(tmp_path / "fgpu.v", tmp_path)
    compile_opencl(KERNELS, config=CORE.replace(float_ops=frozenset())).save(tmp_path / "soft.json")
    compile_opencl(KERNELS, config=CORE.replace(float_ops=CONTENTS["arithmetic"])).save(tmp_path / "hard.json")
    hwh = package_files(CORE, ZYNQ_BOARDS["pynq_z1"], verilog=lambda config: "")["fgpu.hwh"]
    (tmp_path / "fgpu.hwh").write_text(hwh)
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent), *sys.path])
    results = get_runner("verilator").test(
        "swap_bench", "fgpu", hdl_toplevel_lang="verilog", build_dir=tmp_path, test_dir=tmp_path,
        results_xml=str(tmp_path / "results.xml"), extra_env={
            "HWH_LOCATION_DIR": str(tmp_path),
            "REGION_CONTENTS": json.dumps({name: sorted(each) for name, each in CONTENTS.items()})})
    assert get_results(results) == (1, 0)
