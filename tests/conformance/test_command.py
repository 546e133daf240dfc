"""`python -m tests.conformance` on a made-up group: a script that prints and writes what the harness does."""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fgpu.errors import ToolError

from . import __main__ as command
from .build import Suite, describe
from .groups import GROUPS, Brief, Group
from .outcome import Store
from .platforms import Target
from .run import Run, run_all, trouble

_PROGRAM = f"""#!{sys.executable}
import json, os, signal, sys, time
from pathlib import Path

if sys.argv[1:] == ["--list"]:
    print("".join(f"\\t{{name}}\\n" for name in ("bad", "dies", "fine", "full_fine", "late", "not_ours", "slow")))
    sys.exit()
quick, name, *few = sys.argv[1:]
assert quick == "--wimpy" and os.environ["CL_DEVICE_TYPE"] == "accelerator" and os.environ["CL_DEVICE_INDEX"] == "2"
with Path(__file__).with_name("runs").open("a") as file:
    file.write(name + "".join(few) + "\\n")
print(name + "...")
work = {{"bad": 500, "fine": 300, "dies": 50}}.get(name, 0)
with open(os.environ["FGPU_OPENCL_LAUNCHES"], "a") as file:
    for part in (1, work - 1) if work else ():
        file.write(json.dumps({{"kernel": "k", "instructions": part}}) + "\\n")
if name == "slow" and not few:
    time.sleep(60)
if name == "busy":
    while True:
        pass
if name == "dies":
    os.kill(os.getpid(), signal.SIGSEGV)
verdict = {{"bad": "fail", "not_ours": "skip"}}.get(name, "pass")
if verdict == "fail":
    print("ERROR: lane 3 is 4, \\t not 5")
    print("bad FAILED\\nFAILED sub-test.\\nFAILED test.")
Path(os.environ["CL_CONFORMANCE_RESULTS_FILENAME"]).write_text(json.dumps({{"results": {{name: verdict}}}}))
sys.stdout.flush()
if name == "late":
    os.abort()
sys.exit(verdict == "fail")
"""
_GROUP = Group(folder="made_up", program="made_up", options=("--wimpy",), note="made | up", leave_out="full_.*",
               limit=1 / 60, brief=Brief(last=("8",), note="few"))


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "build/test_conformance/made_up/test_made_up"
    program.parent.mkdir(parents=True)
    program.write_text(_PROGRAM)
    program.chmod(0o755)
    monkeypatch.setitem(GROUPS, "made_up", _GROUP)
    target = Target("FGPU", "FGPU functional", "OpenCL 1.2", "FULL_PROFILE", "accelerator", 0, 2)
    monkeypatch.setattr(command, "choose", lambda platform, device: target)
    monkeypatch.setattr(command, "wake", lambda target: (tmp_path / "woken").write_text(target.device))
    return tmp_path


def _run(suite: Path, *arguments: str) -> Result:
    return CliRunner().invoke(command.main,
                              ["--cts", str(suite), "--groups", "made_up", "--timeout", "120", *arguments])


def _ran(suite: Path) -> list[str]:
    return sorted((suite / "build/test_conformance/made_up/runs").read_text().split())


def test_every_subtest_gets_the_verdict_of_its_own_process(suite: Path) -> None:
    result = _run(suite, "--jobs", "3", "--markdown", str(suite / "page.md"), "--note", "of one version")
    assert result.exit_code == 1, result.output
    assert _ran(suite) == ["bad", "dies", "fine", "late", "not_ours", "slow"]
    outcomes = {outcome.subtest: outcome for outcome in Store(suite / "outcomes.jsonl").of("FGPU: FGPU functional")}
    assert {name: outcome.verdict for name, outcome in outcomes.items()} == {
        "bad": "fail", "dies": "crash", "fine": "pass", "late": "crash", "not_ours": "skip", "slow": "timeout"}
    assert {name: outcome.reason for name, outcome in outcomes.items()} == {
        "bad": "ERROR: lane 3 is 4, not 5", "dies": "ended by SIGSEGV", "fine": "", "late": "ended by SIGABRT",
        "not_ours": "", "slow": "not done in 2 s"}
    assert all(0 < outcome.processor < 20 for outcome in outcomes.values())
    (commit,) = {outcome.commit for outcome in outcomes.values()}
    assert commit == describe(Path(__file__).parents[2])
    page = (suite / "page.md").read_text()
    assert f"- Commits of fgpu: {commit or 'not noted'} (6)\n" in page
    assert "| made_up | 6 | 1 | 1 | 1 | 2 | 1 | 0 |" in page
    assert "| made \\| up |" in page
    assert "| made_up | bad | fail | ERROR: lane 3 is 4, not 5 |" in page
    assert "| made_up | fine |" not in page
    assert "- Note: of one version\n" in page


def test_what_has_an_outcome_is_not_run_again_unless_asked(suite: Path) -> None:
    assert _run(suite, "--subtest", "fine", "--subtest", "bad").exit_code == 1
    with (suite / "outcomes.jsonl").open("a") as file:
        file.write('{"group": "made_')      # a run that was killed
    assert _run(suite, "--subtest", "fine", "--subtest", "bad").exit_code == 1
    assert _ran(suite) == ["bad", "fine"]
    _run(suite, "--subtest", "fine", "--subtest", "bad", "--again", "fail")
    assert _ran(suite) == ["bad", "bad", "fine"]
    assert len((suite / "outcomes.jsonl").read_text().splitlines()) == 4
    ended = Store(suite / "outcomes.jsonl").of("FGPU: FGPU functional")
    assert {outcome.verdict for outcome in ended} == {"pass", "fail"}
    listing = _run(suite, "--list").output
    assert "made_up bad fail\n" in listing
    assert "made_up slow -\n" in listing
    _run(suite, "--report-only", "--markdown", str(suite / "page.md"))
    assert _ran(suite) == ["bad", "bad", "fine"]
    assert "| made_up | 6 | 1 | 1 | 0 | 0 | 0 | 4 |" in (suite / "page.md").read_text()


def test_what_is_known_to_be_short_on_another_device_is_run_alone_and_the_shortest_first(suite: Path) -> None:
    _run(suite, "--jobs", "3")
    outcomes = suite / "outcomes.jsonl"
    kept = {outcome.subtest: (outcome.launches, outcome.instructions)
            for outcome in Store(outcomes).of("FGPU: FGPU functional")}
    assert kept == {"bad": (2, 500), "fine": (2, 300), "dies": (2, 50), "late": (0, 0), "not_ours": (0, 0),
                    "slow": (0, 0)}
    outcomes.write_text(outcomes.read_text().replace("functional", "of another name"))
    runs = suite / "build/test_conformance/made_up/runs"
    for most, ran in ((299, ["not_ours"]), (300, ["fine"]), (10**9, ["bad"])):
        runs.write_text("")
        _run(suite, "--instructions", str(most))
        assert runs.read_text().split() == ran
    page = suite / "page.md"
    for most, longer in ((499, 1), (500, 0)):
        lines = [line for line in outcomes.read_text().splitlines() if "functional" not in line]
        outcomes.write_text("\n".join(lines) + "\n")
        _run(suite, "--report-only", "--instructions", str(most), "--markdown", str(page))
        assert f"| made_up | 6 | 0 | 0 | 0 | 0 | 0 | 6 | {longer} |" in page.read_text()
        assert ("| made_up | bad 0.0 |" in page.read_text()) == bool(longer)
    outcomes.write_text(outcomes.read_text() + json.dumps({
        "group": "made_up", "subtest": "bad", "device": "FGPU: brief", "options": ["--wimpy", "8"], "verdict": "pass",
        "seconds": 1, "instructions": 20}) + "\n")
    _run(suite, "--report-only", "--instructions", "299", "--markdown", str(page))
    assert "| made_up | 6 | 0 | 0 | 0 | 0 | 0 | 6 | 1 |" in page.read_text()      # "bad" has a short form
    outcomes.write_text("")
    runs.write_text("")
    assert _run(suite, "--instructions", "1000").exit_code == 0
    assert runs.read_text() == ""


def test_the_short_form_is_run_where_the_long_one_has_no_verdict(suite: Path) -> None:
    page = suite / "page.md"
    _run(suite, "--subtest", "fine", "--subtest", "slow")
    assert _run(suite, "--brief", "--subtest", "fine", "--subtest", "slow", "--subtest", "not_ours",
                "--markdown", str(page)).exit_code == 0
    assert _ran(suite) == ["fine", "not_ours8", "slow", "slow8"]
    assert "| made_up | 6 | 2 | 0 | 1 | 0 | 0 | 3 |" in page.read_text()
    assert "| 2 subtests: few; others: made \\| up |" in page.read_text()
    _run(suite, "--brief", "--subtest", "slow", "--again", "timeout")
    assert _ran(suite) == ["fine", "not_ours8", "slow", "slow8"]
    (suite / "outcomes.jsonl").unlink()
    _run(suite, "--brief", "--subtest", "fine", "--markdown", str(page))
    assert "| few |" in page.read_text()


def test_what_is_too_long_when_shortened_is_shortened_twice(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = Brief(last=("8",), note="few", brief=Brief(last=("2",), note="two"))
    monkeypatch.setitem(GROUPS, "made_up", replace(_GROUP, brief=fewer))
    page = suite / "page.md"
    _run(suite, "--brief", "--subtest", "fine")
    _run(suite, "--brief", "--brief", "--subtest", "fine", "--subtest", "not_ours", "--markdown", str(page))
    assert _ran(suite) == ["fine8", "not_ours2"]
    assert "| 1 subtests: two; others: few |" in page.read_text()
    _run(suite, "--subtest", "bad", "--markdown", str(page))
    assert "| 1 subtests: two; 1 subtests: few; others: made \\| up |" in page.read_text()


def test_a_device_is_woken_before_subtests_run_and_only_then(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _run(suite, "--report-only")
    assert not (suite / "woken").exists()
    assert _run(suite, "--subtest", "fine").exit_code == 0
    assert (suite / "woken").read_text() == "FGPU functional"
    (suite / "woken").unlink()
    _run(suite, "--subtest", "fine")
    assert not (suite / "woken").exists()

    def refuse(target: Target) -> None:
        raise ToolError("clFinish returned -36 for an empty kernel; nothing was run")

    monkeypatch.setattr(command, "wake", refuse)
    result = _run(suite, "--subtest", "bad")
    assert result.exit_code == 1
    assert "clFinish returned -36" in result.output
    assert _ran(suite) == ["fine"]


def test_who_stops_reading_ends_what_runs(suite: Path) -> None:
    program = suite / "build/test_conformance/made_up/test_made_up"
    runs = [Run(group=_GROUP, subtest=name, program=program, device="", timeout=50,
                environment={"CL_DEVICE_TYPE": "accelerator", "CL_DEVICE_INDEX": "2"}) for name in ("fine", "slow")]
    began = time.monotonic()
    outcomes = run_all(runs, jobs=2)
    assert next(outcomes).verdict == "pass"
    outcomes.close()
    assert time.monotonic() - began < 40


def test_other_devices_have_tables_of_their_own(suite: Path) -> None:
    _run(suite, "--subtest", "fine")
    outcomes = suite / "outcomes.jsonl"
    outcomes.write_text(outcomes.read_text()
                        + outcomes.read_text().replace("functional", "on RTL").replace("pass", "timeout"))
    page = suite / "page.md"
    _run(suite, "--report-only", "--markdown", str(page), "--also", "rtl")
    first, second = page.read_text().split("\n## FGPU: FGPU on RTL\n")
    assert "| made_up | 6 | 1 | 0 | 0 | 0 | 0 | 5 |" in first
    assert "| made_up | 6 | 0 | 0 | 0 | 0 | 1 | 5 |" in second
    assert "| made_up | fine | timeout |" in second
    assert "fine" not in first
    result = _run(suite, "--report-only", "--markdown", str(page), "--also", "pysim")
    assert "no outcomes in" in result.output
    assert "'pysim'; those there are of FGPU: FGPU functional, FGPU: FGPU on RTL" in result.output


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
def test_processor_time_has_a_limit_of_its_own(suite: Path) -> None:
    program = suite / "build/test_conformance/made_up/test_made_up"
    busy = Run(group=_GROUP, subtest="busy", program=program, device="", timeout=50, cpu=0.5,
               environment={"CL_DEVICE_TYPE": "accelerator", "CL_DEVICE_INDEX": "2"})
    outcome = busy.run()
    assert (outcome.verdict, outcome.reason) == ("timeout", "not done in 0.5 s of processor time")
    outcome = replace(busy, subtest="slow", timeout=2).run()
    assert (outcome.verdict, outcome.reason) == ("timeout", "not done in 2 s")


def test_a_group_that_is_none_is_named(suite: Path) -> None:
    result = CliRunner().invoke(command.main, ["--cts", str(suite), "--groups", "made_up,bogus"])
    assert result.exit_code == 2
    assert "'bogus' is none of" in result.output


def test_without_the_repositories_the_message_says_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="git clone https"):
        Suite(tmp_path).program(_GROUP)


def test_a_summary_is_no_reason() -> None:
    assert trouble("x FAILED\nFAILED 2 of 3 sub-tests.\nvalue 7 mismatches\n", 1) == "value 7 mismatches"
    assert trouble("x FAILED\n", 3) == "ended with code 3"


def test_forms_of_a_group_are_told_by_their_arguments_and_have_the_same_subtests() -> None:
    for group in GROUPS.values():
        assert len({form.arguments for form in group.forms}) == len(group.forms), group.folder
        assert {tuple(form.parts) for form in group.forms} == {tuple(group.parts)}, group.folder
    assert [form.chooses("full_3d_implicit_local") for form in GROUPS["thread_dimensions"].forms] == [
        ("-n", "32", "full_3d_implicit_local"), ("-n", "16", "full_3d_implicit_local")]


def test_parts_of_conversions_cover_every_pair_of_types() -> None:
    parts = GROUPS["conversions"].parts
    assert len(parts) == 11 * 11
    assert len({name for names in parts.values() for name in names}) == 8 * 11 * 10 + 3 * 11 * 5
    assert json.dumps(parts["char_float"]).count("_sat") == 5
