"""Programs of YoWASP: their first run, which makes machine code of them, is that of one process alone."""

import time
from concurrent.futures import ThreadPoolExecutor
from subprocess import CompletedProcess

import pytest

from fgpu.tools import yowasp


@pytest.fixture
def runs(monkeypatch):
    """What is run, each with when it began and ended; the first of each program takes a while."""
    done = []

    def run(program, arguments, folder, until=None):
        begin = time.monotonic()
        if arguments == ["--version"]:
            time.sleep(0.2)
        done.append((program, *arguments, begin, time.monotonic()))
        return CompletedProcess(arguments, 0, "", "")

    monkeypatch.setattr(yowasp, "_run", run)
    return done


def test_one_prepares_and_others_wait(tmp_path, monkeypatch, runs):
    monkeypatch.setenv("FGPU_CACHE_DIR", str(tmp_path))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: yowasp.run_yowasp("yosys", [str(number)], tmp_path), range(4)))
    assert [each[:2] for each in runs].count(("yosys", "--version")) == 1
    assert runs[0][1] == "--version"
    assert all(begin >= runs[0][-1] for *_, begin, _ in runs[1:])
    yowasp.run_yowasp("ecppack", ["pack"], tmp_path)
    assert [each[:2] for each in runs[-2:]] == [("ecppack", "--version"), ("ecppack", "pack")]


def test_new_versions_are_prepared_anew(tmp_path, monkeypatch, runs):
    monkeypatch.setenv("FGPU_CACHE_DIR", str(tmp_path))
    for version in ("1", "2", "2"):
        monkeypatch.setattr(yowasp, "version", lambda package, version=version: version)
        yowasp.run_yowasp("yosys", ["-q"], tmp_path)
    assert [each[1] for each in runs] == ["--version", "-q", "--version", "-q", "-q"]


def test_a_cache_that_cannot_be_written_costs_nothing_else(tmp_path, monkeypatch, runs):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FGPU_CACHE_DIR", str(tmp_path / "file"))
    yowasp.run_yowasp("yosys", ["-q"], tmp_path)
    assert [each[1] for each in runs] == ["-q"]
