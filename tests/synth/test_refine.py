"""Cells of slow paths move to where these become shorter, and to nowhere where they cannot be."""

import json
from typing import Any

import numpy as np
import pytest

from fgpu.tools.delays import Delays
from fgpu.tools.placement import Placement, Site
from fgpu.tools.refine import refined
from fgpu.tools.slacks import Slacks, wire_delay

from .placed_design import design, lut, sdf


def test_a_wire() -> None:
    """Twice as much for each of the first five tiles in a direction."""
    assert wire_delay(np.array([0.0, 1.0, 5.0, 61.0]), np.array([0.0, 0.0, 6.0, 0.0])).tolist() == [
        480, 640, 2160, 5760]


def test_paths_are_those_that_delays_tell() -> None:
    delays = Delays.read(sdf(design()))
    slacks = Slacks(delays, Placement(design()).tiles)
    expected = [path.delay for path in delays.slowest()]
    found = sorted(slacks.paths[slacks.paths > 0].tolist(), reverse=True)
    assert found == pytest.approx([1000 * each for each in expected])
    assert slacks.slowest == 1000 * max(expected)
    slacks.period = 2000.0
    slacks.run()
    assert slacks.slack.min() == 2000 - slacks.slowest


def test_what_has_moved_has_other_wires() -> None:
    placement = Placement(design())
    slacks = Slacks(Delays.read(sdf(design())), placement.tiles)
    sites = placement.room(placement.group("lut"), 6, 4)
    assert sites is not None
    placement.move(sites)
    slacks.moved(sites)
    slacks.run()
    moved = Slacks(Delays.read(sdf(placed(placement))), placement.tiles)
    assert sorted(slacks.paths.tolist()) == sorted(moved.paths.tolist())


def placed(placement: Placement) -> dict[str, dict[str, Any]]:
    """The cells with the places that they have now, as nextpnr would write them."""
    placement.fix()
    cells = json.loads(json.dumps(placement.cells))
    for each in cells.values():
        each["attributes"] = {"NEXTPNR_BEL": each["attributes"]["BEL"]}
    return cells


@pytest.mark.parametrize(("name", "group"), [
    ("from", {"from"}), ("lut", {"lut", "between"}), ("between", {"lut", "between"}), ("low", {"low", "high"}),
    ("high", {"low", "high"}), ("carry", set()), ("spare6,4A0", set())])
def test_what_moves_together(name: str, group: set[str]) -> None:
    assert set(Placement(design()).group(name)) == group


def test_where_there_is_room() -> None:
    placement = Placement(design())
    pair = placement.group("lut")
    assert placement.room(pair, 6, 4) == {"lut": Site(6, 4, "A", "K", "0"), "between": Site(6, 4, "A", "FF", "0")}
    # The other flip-flop of the slice would share what enables it; the next slice is free.
    assert placement.room(pair, 4, 4) == {"lut": Site(4, 4, "B", "K", "0"), "between": Site(4, 4, "B", "FF", "0")}
    assert placement.room(placement.group("from"), 9, 9) == {"from": Site(9, 9, "C", "FF", "0")}
    assert placement.room(placement.group("low"), 9, 10) == {
        "low": Site(9, 10, "A", "K", "0"), "high": Site(9, 10, "A", "K", "1")}
    for flip_flop in "from", "to":      # another reset
        placement.cells[flip_flop]["connections"]["LSR"] = [4]
    assert placement.room(pair, 4, 4) is None


def test_a_tile_is_not_filled() -> None:
    """Not with more than four LUTs."""
    cells = design() | {f"more{number}": lut(f"X70/Y70/SLICE{'ABCD'[number]}.K0", A=10, F=100 + number)
                        for number in range(4)}
    placement = Placement(cells)
    assert placement.room(placement.group("lut"), 70, 70) is None
    del cells["more3"]
    assert Placement(cells).room(("lut", "between"), 70, 70) is not None


def test_what_keeps_a_site_free_makes_way() -> None:
    placement = Placement(design())
    sites = placement.room(placement.group("lut"), 6, 4)
    assert sites is not None
    before = placement.sites(sites)
    placement.move(sites)
    assert "spare6,4A0" not in placement.cells
    assert placement.room(placement.group("from"), 6, 4) == {"from": Site(6, 4, "B", "FF", "0")}
    placement.move(before)
    assert placement.tiles["lut"] == (60, 60)
    assert placement.room(placement.group("lut"), 6, 4) == sites


def test_slow_paths_become_shorter() -> None:
    """And all cells have their places, of which none is that of two."""
    netlist = json.dumps({"modules": {"top": {"cells": design(), "settings": {"placer": "static"}}}})
    before = Delays.read(sdf(design())).slowest()[0].delay
    text, slowest = refined(netlist, sdf(design()))
    module = json.loads(text)["modules"]["top"]
    places = [each["attributes"]["BEL"] for each in module["cells"].values()]
    assert len(set(places)) == len(places)
    assert not any("NEXTPNR_BEL" in each["attributes"] for each in module["cells"].values())
    assert "placer" not in module["settings"]
    assert slowest < 0.4 * before
    for each in module["cells"].values():
        each["attributes"] = {"NEXTPNR_BEL": each["attributes"]["BEL"]}
    assert Delays.read(sdf(module["cells"])).slowest()[0].delay == pytest.approx(slowest)
    where = {name: each["attributes"]["NEXTPNR_BEL"] for name, each in module["cells"].items()}
    assert where["lut"].replace("K", "FF") == where["between"]
    assert where["carry"] == "X9/Y9/SLICEB.K0"
    assert refined(netlist, sdf(design())) == (text, slowest)
