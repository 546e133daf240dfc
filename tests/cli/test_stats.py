"""``fgpu run --stats`` on programs whose counts are known by hand."""

import json
from pathlib import Path

import pytest

from ..configurations import TWO_PORTS, options

LANES = """
.kernel lanes
    lid   r1, 0
    lp    r3, 0
    slti  r2, r1, 10
    bne   r2, r0, taken
    li    r4, 2
    sw    r4, r3[r1]
    ret
taken:
    li    r4, 1
    sw    r4, r3[r1]
    ret
"""

MERGES = """
.kernel merges
    lid   r1, 0
    lp    r3, 0
    sw    r1, r3[r0]
    lw    r4, r3[r1]
    lw    r5, r3[r0]
    ret
"""


def counts(output):
    """The table's lines as (value, what it counts)."""
    lines = output.split("What the hardware counted:\n")[1].splitlines()
    columns = (line.removeprefix("cu0").removeprefix("cache").removeprefix("axi0").split(None, 1) for line in lines)
    return {text.strip(): value for value, text in columns}


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")


def test_copy_of_four_lines(fgpu, wide):
    """128 words in two wavefronts of 8 instructions: 4 lines of 32 words in, 4 out, 8 bytes a cycle."""
    result = fgpu("run copy.s --global 128 --arg range:int32:128 --arg zeros:int32:128 --stats")
    assert result.exit_code == 0, result.output
    cycles = int(result.output.split("\n  ")[1].split()[0].replace(",", ""))
    assert "issuing instructions" in result.output
    found = counts(result.output)
    with_work = float(found.pop("% of the cycles with work"))
    assert 0 < with_work < 100
    assert with_work < 100 * float(found.pop("wavefronts in a cycle, of 8")) < 2 * with_work
    assert found == {
        "wavefront instructions": "16",
        "active lanes an instruction, of 64": "64.0",
        "reads that hit": "0",          # a load asks for all rows of a line at once
        "reads that missed": "4",
        "writes that hit": "12",        # and a phase of a store writes a row, a quarter of a line
        "writes that missed": "4",
        "hits of lines still on their way": "0",
        "lines read from memory": "4",
        "of these, around bytes already written": "0",
        "lines written to memory": "4",
        f"bytes read, in 4 bursts; busy {100 * 64 / cycles:.1f} % of the cycles": "512",
        f"bytes written, in 4 bursts; busy {100 * 64 / cycles:.1f} % of the cycles": "512",
    }


def test_lanes_where_paths_part(fgpu, wide):
    """4 instructions by 64 work-items, 3 by 10 and 3 by 54."""
    Path("lanes.s").write_text(LANES)
    result = fgpu("run lanes.s --global 64 --arg zeros:int32:64 --stats")
    assert result.exit_code == 0, result.output
    found = counts(result.output)
    assert found["wavefront instructions"] == "10"
    assert found["active lanes an instruction, of 64"] == f"{(4 * 64 + 3 * 10 + 3 * 54) / 10:.1f}"
    # One wavefront is there whenever one has work.
    share = 100 * float(found["wavefronts in a cycle, of 8"])
    assert share == pytest.approx(float(found["% of the cycles with work"]), abs=0.6)


def test_merges(fgpu, wide):
    """A word is stored, then its line and the next are loaded, then the word again, while its line still comes."""
    Path("merges.s").write_text(MERGES)
    result = fgpu("run merges.s --global 64 --arg zeros:int32:64 --stats")
    assert result.exit_code == 0, result.output
    found = counts(result.output)
    assert (found["writes that missed"], found["reads that missed"], found["reads that hit"]) == ("1", "2", "1")
    assert (found["lines read from memory"], found["of these, around bytes already written"]) == ("2", "1")
    assert found["hits of lines still on their way"] == "1"


@pytest.mark.ci
def test_two_ports(fgpu, wide):
    """Lines go to the ports in turn: two of four each, in and out, of 128 bytes in 16 beats."""
    arguments = "--arg range:int32:128 --arg zeros:int32:128"
    result = fgpu(f"run copy.s --global 128 {arguments} --json {options(TWO_PORTS)}")
    assert result.exit_code == 0, result.output
    stats = json.loads(result.stdout)["stats"]
    for port in ("axi0", "axi1"):
        for way in ("read", "write"):
            traffic = [stats[f"{port}.{way}_{what}"] for what in ("bursts", "beats", "bytes")]
            assert traffic == [2, 2 * 16, 2 * 128], (port, way)


def test_not_on_the_functional_engine(fgpu):
    result = fgpu("run copy.s --global 64 --arg zeros:int32:64 --arg zeros:int32:64 --stats --engine functional")
    assert result.exit_code == 2
    assert "--stats needs --engine verilator or pysim" in result.stderr
