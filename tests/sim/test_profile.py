"""Profiles: their sums are the launch's totals, whatever the kernel; and the rules find what kernels are made for."""

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fgpu import Config, Device, compile_opencl
from fgpu.cli import main
from fgpu.errors import LaunchError
from fgpu.sim import findings as findings_module
from fgpu.sim.findings import findings
from fgpu.sim.profile import BUCKETS, Profile

_SVG = "{http://www.w3.org/2000/svg}"
_SOURCE = """\
__kernel void mixed(__global const int *in, __global int *out, int stride) {
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < (i & 7); k++)
        sum += in[(i * stride + k) & 4095];
    if (i & 1)
        sum *= in[i];
    out[i] = sum;
}
__kernel void far(__global const int *in, __global int *out) {
    int i = get_global_id(0);
    out[i] = in[i * 64 & 4095];
}
__kernel void lonely(__global const int *in, __global int *out) {
    int i = get_global_id(0), sum = 0;
    if ((i & 63) == 5)
        for (int k = 0; k < 200; k++)
            sum = sum * 3 + k ^ i;
    out[i] = sum;
}
__kernel void counts(__global const int *in, __global int *out) {
    int i = get_global_id(0), sum = i;
    for (int k = 0; k < 100; k++)
        sum = (sum << 1) ^ k + (sum >> 3);
    out[i] = sum;
}
__kernel void small(__global const int *in, __global int *out) {
    if (get_global_id(0) == 0)
        out[0] = in[0];
}
__kernel void again(__global const int *in, __global int *out) {
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < 16; k++)
        sum += in[i * 32 + k & 4095] ^ out[i * 32 + k & 4095];
    if (sum == 12345678)
        out[i] = sum;
}
"""


@pytest.fixture(scope="module")
def image():
    return compile_opencl(_SOURCE, filename="profiled.cl")


def _run(image, kernel, *, size=1024, engine="verilator", latency=20, profile=True, config=None):
    with Device(config or Config(), engine=engine, memory_latency=latency) as device:
        args = [device.buffer(np.arange(4096, dtype=np.int32)), device.buffer(4096), 33]
        return device.launch(image, kernel, global_size=size, args=args[:3 if kernel == "mixed" else 2],
                             profile=profile)


def _check_sums(run):
    profile = run.profile
    assert profile.total.issues == run.instructions
    assert profile.total.work_items == run.work_item_instructions
    units = {key.partition(".")[0] for key in run.stats if key.startswith("cu")}
    for name in BUCKETS:
        assert profile.total.cycles[name] == sum(run.stats[f"{unit}.{name}"] for unit in units)
    assert profile.total.fills == sum(count for name, count in run.stats.items() if name.endswith(".read_bursts"))
    assert sum(profile.total.waits.values()) == sum(run.stats[f"{unit}.wavefront_cycles"] for unit in units)
    for name in ("issues", "work_items", "all_cycles", "phases", "accesses", "lines", "fills", "refills"):
        assert sum(getattr(line, name) for line in profile.lines.values()) == getattr(profile.total, name)


def test_the_sums_over_lines_are_the_totals_and_profiling_costs_no_cycle(image):
    run, plain = _run(image, "mixed"), _run(image, "mixed", profile=False)
    _check_sums(run)
    assert plain.profile is None
    assert (run.cycles, run.stats) == (plain.cycles, plain.stats)
    assert {at.line for at in run.profile.lines if at} <= set(range(1, 9))


@pytest.mark.ci
def test_both_engines_with_a_clock_give_the_same_profile(image):
    fast, slow = (_run(image, "mixed", size=128, engine=engine).profile for engine in ("verilator", "pysim"))
    assert fast.to_json() == slow.to_json()


@pytest.mark.ci
def test_the_sums_are_those_of_several_compute_units(image):
    run = _run(image, "mixed", config=Config(compute_units=4), latency=0)
    _check_sums(run)


def test_work_items_and_lines_are_counted_where_they_are(image):
    lines = {at.line: line for at, line in _run(image, "far", size=256).profile.lines.items() if at}
    load = lines[11]
    assert load.occupancy == 1.0
    assert load.phases == 2 * 256 // 8
    assert load.accesses == 2 * 256
    assert load.lines == 256 // 8 * (8 + 1)     # loads far apart, stores side by side


def test_fills_are_counted_where_lines_are_accessed(image):
    profile = _run(image, "far", size=256).profile
    lines = {at.line: line for at, line in profile.lines.items() if at}
    # The 256 work-items read 64 words each 256 bytes apart, and write whole lines, which nobody reads.
    assert (lines[11].fills, lines[11].refills) == (64, 0)
    assert profile.total.fills == 64


@pytest.mark.ci
@pytest.mark.parametrize(("kernel", "size", "rule", "line", "word"), [
    ("far", 1024, "waiting for data", 11, "8.0 lines of the cache"),
    ("again", 1024, "waiting for data", 33, "in the cache before"),
    ("lonely", 1024, "divergence", 17, "2 percent of the work-items"),
    ("counts", 4096, "instructions", None, "issued in 100"),
    ("small", 64, "idle compute units", None, "without work"),
])
def test_the_rules_find_what_a_kernel_is_made_for(image, kernel, size, rule, line, word):
    found = next(each for each in findings(_run(image, kernel, size=size).profile) if each.rule == rule)
    assert line is None or found.location.line == line
    assert word in found.text


def test_a_functional_engine_has_nothing_to_profile(image):
    with pytest.raises(LaunchError, match="functional engine has no cycles to profile"):
        _run(image, "far", engine="functional")


def test_launches_in_parts_add_up(image):
    run = _run(image, "counts", size=1021)
    assert run.parts == 2
    assert isinstance(run.profile, Profile)
    assert run.profile.total.issues == run.instructions


def test_the_command_line_prints_and_writes_profiles(tmp_path):
    source, page, data = tmp_path / "profiled.cl", tmp_path / "profile.html", tmp_path / "profile.json"
    source.write_text(_SOURCE)
    command = ["run", str(source), "--kernel", "far", "--global", "256", "--arg", "range:int32:4096", "--arg",
               "zeros:int32:4096", "--profile"]
    shown = CliRunner().invoke(main, [*command, "--profile-to", str(page)], catch_exceptions=False)
    assert shown.exit_code == 0
    assert re.search(r"8 .*out\[i\] = in\[i \* 64 & 4095\];", shown.output)
    assert CliRunner().invoke(main, [*command, "--profile-to", str(data)], catch_exceptions=False).exit_code == 0
    found = json.loads(data.read_text())
    assert sum(line["issues"] for line in found["lines"]) == found["total"]["issues"]
    assert "out[i] = in[i * 64 &amp; 4095];" in page.read_text()
    picture = tmp_path / "profile.svg"
    assert CliRunner().invoke(main, [*command, "--profile-to", str(picture)], catch_exceptions=False).exit_code == 0
    texts = [" ".join("".join(each.itertext()).split()) for each in ElementTree.parse(picture).iter(f"{_SVG}text")]
    every = found["cycles"] * found["compute_units"]
    for line in found["lines"]:
        share = 100 * sum(line["cycles"].values()) / every
        told = share < 2 or any(text.startswith(f"{share:.0f} %, {100 * line['occupancy']:.0f} %") for text in texts)
        assert told, line
    assert "11 out[i] = in[i * 64 & 4095];" in texts
    refused = CliRunner().invoke(main, [*command, "--profile-to", "profile.txt"])
    assert refused.exit_code != 0
    assert "must end in .html, .json, .svg or .png" in refused.output


@pytest.mark.ci
@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no browser")
def test_a_browser_shows_the_page(tmp_path, image):
    from fgpu.cli.profile_html import profile_page

    page = tmp_path / "profile.html"
    page.write_text(profile_page(_run(image, "mixed").profile, {"profiled.cl": _SOURCE.splitlines()}))
    shown = subprocess.run(["chromium", "--headless", "--no-sandbox", "--dump-dom", page.as_uri()],
                           capture_output=True, text=True, check=True, timeout=60).stdout
    assert "sum += in[(i * stride + k) &amp; 4095];" in shown
    assert "<polyline" in shown


def test_each_rule_is_written_down():
    headings = re.findall(r"^### (.*)$", (Path(__file__).parents[2] / "docs/performance.md").read_text(), re.M)
    source = Path(findings_module.__file__).read_text()
    assert sorted(headings) == sorted(set(re.findall(r'Finding\("([^"]+)"', source)))
