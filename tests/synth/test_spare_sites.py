"""Sites that stay free for the sake of routing: which they are, and that nextpnr has them."""

import json
from itertools import groupby

import pytest

from fgpu.extras import is_installed
from fgpu.store import workspace
from fgpu.tools.native import find_tool
from fgpu.tools.spare_sites import DIES, Die, die_of, leave_sites_free

LUTS = {"25k": 24288, "45k": 43848, "85k": 83640}     # of the devices' data sheet, in nextpnr's count


def design(luts: int) -> dict:
    return {f"l{number}": {"type": "LUT4"} for number in range(luts)}


def spares(die: str) -> set[tuple[int, int]]:
    """Tiles that stay free beside a design of a third of the die."""
    cells = design(LUTS[die] // 3)
    count = leave_sites_free(cells, die)
    places = [cell["attributes"]["BEL"].split("/") for name, cell in cells.items() if cell["type"] == "TRELLIS_COMB"]
    assert len(places) == count == len({tuple(place) for place in places})
    tiles = {(int(x[1:]), int(y[1:])) for x, y, _ in places}
    assert len(places) == 8 * len(tiles)
    return tiles


@pytest.mark.parametrize("die", DIES)
def test_about_a_sixth_stays_free_and_chains_find_room(die: str) -> None:
    tiles = spares(die)
    assert 8 * sum(1 for _ in DIES[die].tiles) == LUTS[die]
    assert LUTS[die] / 6.5 < 8 * len(tiles) < LUTS[die] / 5
    for _, row in groupby(DIES[die].tiles, key=lambda tile: tile[1]):
        runs = [(free, len(list(run))) for free, run in groupby(row, key=lambda tile: tile not in tiles)]
        assert max(length for free, length in runs if free) == 14
        assert max(length for free, length in runs if not free) == 3


@pytest.mark.parametrize("part", [0.1, 0.7])
def test_designs_that_are_small_or_need_the_sites_have_all(part: float) -> None:
    cells = design(int(part * LUTS["25k"]))
    before = set(cells)
    assert leave_sites_free(cells, "25k") == 0
    assert set(cells) == before


@pytest.mark.parametrize(("option", "die"), [("--12k", "25k"), ("--25k", "25k"), ("--um5g-85k", "85k")])
def test_the_die_of_a_device(option: str, die: str) -> None:
    assert die_of(option) == die
    assert isinstance(DIES[die], Die)


@pytest.mark.ci
@pytest.mark.skipif(not is_installed("timing"), reason="needs fgpu[timing]")
@pytest.mark.parametrize("die", DIES)
def test_nextpnr_has_each_tile_of_a_die_and_no_other(die: str) -> None:
    """A LUT in one site of each tile is placed, and the count is that of the device; nextpnr refuses others."""
    def place(tiles: list[tuple[int, int]]) -> tuple[int, str]:
        cells = {f"spare{x}.{y}": {
            "hide_name": 1, "type": "TRELLIS_COMB", "parameters": {"MODE": "LOGIC"},
            "attributes": {"BEL": f"X{x}/Y{y}/SLICED.K1"}, "port_directions": {}, "connections": {},
        } for x, y in tiles}
        netlist = {"modules": {"top": {"attributes": {"top": "1"}, "ports": {}, "cells": cells, "netnames": {}}}}
        with workspace() as folder:
            (folder / "design.json").write_text(json.dumps(netlist), encoding="utf-8")
            done = find_tool("nextpnr_ecp5").run(
                [f"--{die}", "--json", "design.json", "--report", "report.json", "--out-of-context",
                 "--lpf-allow-unconstrained", "--placer", "heap", "--no-route", "-q"], folder)
            if done.returncode:
                return 0, done.stderr
            used = json.loads((folder / "report.json").read_text(encoding="utf-8"))["utilization"]["TRELLIS_COMB"]
            assert used["available"] == LUTS[die]
            return used["used"], ""

    tiles = list(DIES[die].tiles)
    assert place(tiles) == (len(tiles), "")
    assert "BEL" in place([(1, 2)])[1].upper()
