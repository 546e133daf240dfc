"""Cells of slow paths move to where these become shorter, and to nowhere where they cannot be."""

import json
from typing import Any

import numpy as np
import pytest

from fgpu.tools.delays import Delays
from fgpu.tools.refine import refined
from fgpu.tools.refine.paths import Paths
from fgpu.tools.refine.placement import Placement, Site
from fgpu.tools.refine.rounds import Rounds
from fgpu.tools.refine.slacks import Slacks, sharing_delay, wire_delay

from .placed_design import block_ram, clock_buffer, design, flip_flop, lut, sdf, spare, wire


@pytest.mark.parametrize(("columns", "rows", "readers"), [
    (0, 0, 1), (1, 0, 2), (5, 6, 64), (61, 0, 1000)])
def test_a_wire(columns: int, rows: int, readers: int) -> None:
    found = wire_delay(np.array([columns]), np.array([rows])) + sharing_delay(np.array([float(readers)]))
    assert found.tolist() == pytest.approx([wire(columns, rows, readers)])


def test_paths_are_those_that_delays_tell() -> None:
    delays = Delays.read(sdf(design()))
    slacks = Slacks(delays, Placement(design()).tiles)
    expected = [path.delay for path in delays.slowest()]
    found = sorted(slacks.paths[slacks.paths > 0].tolist(), reverse=True)
    assert found == pytest.approx([1000 * each for each in expected])
    assert slacks.slowest == pytest.approx(1000 * max(expected))
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
    assert sorted(slacks.paths.tolist()) == pytest.approx(sorted(moved.paths.tolist()))


def test_wires_of_a_clock_take_no_time() -> None:
    """Wherever they go, as those of a reset do that is given to all by such a buffer."""
    cells = {
        "from": flip_flop("X4/Y4/SLICEA.FF0", M=90, Q=10), "buffer": clock_buffer("X67/Y0/TDCC0", CLKI=10, CLKO=11),
        "near": flip_flop("X66/Y2/SLICEA.FF0", M=11, Q=12), "far": flip_flop("X4/Y90/SLICEA.FF0", M=11, Q=13)}
    slacks = Slacks(Delays.read(sdf(cells)), Placement(cells).tiles)
    assert sorted(slacks.paths.tolist())[-2:] == pytest.approx(2 * [530 + wire(63, 4, 1) + 240])


def placed(placement: Placement) -> dict[str, dict[str, Any]]:
    """The cells with the places that they have now, as nextpnr would write them."""
    placement.fix()
    cells = json.loads(json.dumps(placement.cells))
    for each in cells.values():
        each["attributes"] = {"NEXTPNR_BEL": each["attributes"]["BEL"]}
    return cells


@pytest.mark.parametrize(("name", "group"), [
    ("from", {"from"}), ("lut", {"lut", "between"}), ("between", {"lut", "between"}), ("low", {"low", "high"}),
    ("high", {"low", "high"}),
    ("carry1", {"carry", "carry1", "carry2", "sum"}), ("sum", {"carry", "carry1", "carry2", "sum"}),
    ("memory", {"memory", "write", "block"}), ("read", {"read"}), ("spare6,4A0", set())])
def test_what_moves_together(name: str, group: set[str]) -> None:
    assert set(Placement(design()).group(name)) == group


def test_where_there_is_room() -> None:
    placement = Placement(design())
    pair = placement.group("lut")
    assert placement.room(pair, 6, 4) == {"lut": Site(6, 4, "A", "K", "0"), "between": Site(6, 4, "A", "FF", "0")}
    # The other flip-flop of the slice would share what enables it; the next slice is free.
    assert placement.room(pair, 4, 4) == {"lut": Site(4, 4, "B", "K", "0"), "between": Site(4, 4, "B", "FF", "0")}
    assert placement.room(placement.group("from"), 9, 9) == {"from": Site(9, 9, "B", "FF", "0")}
    assert placement.room(placement.group("low"), 9, 10) == {
        "low": Site(9, 10, "A", "K", "0"), "high": Site(9, 10, "A", "K", "1")}
    assert placement.room(placement.group("low"), 9, 11) is None        # no slices are there
    for name in "from", "to":      # another reset
        placement.cells[name]["connections"]["LSR"] = [4]
    assert placement.room(pair, 4, 4) is None


def test_a_tile_is_not_filled() -> None:
    """Not with more than six LUTs."""
    cells = design() | {f"more{number}": lut(f"X70/Y70/SLICE{'ABC'[number // 2]}.K{number % 2}", A=10, F=100 + number)
                        for number in range(6)}
    placement = Placement(cells)
    assert placement.room(placement.group("lut"), 70, 70) is None
    del cells["more5"]
    assert Placement(cells).room(("lut", "between"), 70, 70) is not None


def test_what_is_joined_keeps_its_order() -> None:
    """A carry chain needs two tiles, a memory its slices, and no flip-flop with another reset."""
    cells = design() | {"left": lut("X30/Y30/SLICED.K0", A=10, F=200),
                        "right": flip_flop("X31/Y30/SLICEB.FF0", M=200, Q=201)}
    placement = Placement(cells)
    chain, memory = placement.group("carry"), placement.group("memory")
    assert placement.room(chain, 30, 30) is None        # a LUT is there
    assert placement.room(chain, 31, 30) is None        # and there is no tile beside
    del cells["left"]
    placement = Placement(cells | {"other": lut("X30/Y30/SLICEA.K0", A=10, F=200)})
    assert placement.room(chain, 30, 30) == {
        "carry": Site(30, 30, "D", "K", "0"), "carry1": Site(30, 30, "D", "K", "1"),
        "carry2": Site(31, 30, "A", "K", "0"), "sum": Site(31, 30, "A", "FF", "0")}
    assert placement.room(memory, 30, 30) is None
    assert placement.room(memory, 31, 30) == {
        "memory": Site(31, 30, "A", "K", "0"), "block": Site(31, 30, "C", "K", "0"),
        "write": Site(31, 30, "C", "RAMW", "")}
    placement.cells["right"]["connections"]["LSR"] = [4]
    assert placement.room(chain, 30, 30) is None


def test_what_moves_by_as_much() -> None:
    """Each where it can, or near; what is in the way of a memory goes away, and stays until it is moved."""
    placement = Placement(design() | {"in its way": lut("X40/Y40/SLICEA.K1", A=10, F=200)})
    pair, single, memory = (placement.group(name) for name in ("lut", "to", "memory"))
    assert placement.rooms([pair, single], -54, -56) is None       # one of them has no tile there
    assert placement.rooms([pair], -54, -56) == placement.room(pair, 6, 4)
    for _ in range(2):
        found = placement.rooms([memory], 20, 20)
        assert found == {
            "memory": Site(40, 40, "A", "K", "0"), "block": Site(40, 40, "C", "K", "0"),
            "write": Site(40, 40, "C", "RAMW", ""), "in its way": Site(40, 40, "B", "K", "0")}
    placement.move(found)
    assert placement.room(pair, 40, 40) == {
        "lut": Site(40, 40, "B", "K", "1"), "between": Site(40, 40, "B", "FF", "1")}


def test_what_changes_places() -> None:
    """The like: a LUT with one, a flip-flop with one that has the same control and enable."""
    cells = design() | {"more": lut("X4/Y4/SLICEB.K1", A=10, F=200), "less": lut("X8/Y4/SLICEC.K0", A=10, F=201),
                        "enabled": flip_flop("X8/Y4/SLICED.FF1", M=200, CE=201, Q=202)}
    placement = Placement(cells)
    assert list(placement.exchanges(("less",), 4, 4)) == [
        (("more",), {"less": Site(4, 4, "B", "K", "1"), "more": Site(8, 4, "C", "K", "0")})]
    assert list(placement.exchanges(("from",), 8, 4)) == [
        (("to",), {"from": Site(8, 4, "A", "FF", "0"), "to": Site(4, 4, "A", "FF", "0")})]
    (both,) = (sites for _, sites in placement.exchanges(("from",), 8, 4))
    placement.move(both)
    assert placement.tiles["from"] == (8, 4)
    assert placement.tiles["to"] == (4, 4)
    assert not list(placement.exchanges(placement.group("low"), 4, 4))


def test_larger_luts_change_places_with_their_like() -> None:
    """With as much of M: where a flip-flop beside one needs that, it stays free."""
    def pair(x: int, net: int, **ports: int) -> dict[str, dict[str, Any]]:
        return {f"low{x}": lut(f"X{x}/Y4/SLICEB.K0", A=10, F1=net, OFX=net + 1, **ports),
                f"high{x}": lut(f"X{x}/Y4/SLICEB.K1", A=10, F=net)}

    placement = Placement(design() | pair(40, 300, M=11) | pair(41, 302, M=12) | pair(42, 304))
    low = placement.group("low40")
    assert [other for other, _ in placement.exchanges(low, 41, 4)] == [("low41", "high41")]
    assert not list(placement.exchanges(low, 42, 4))


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


def test_two_beside_each_other_move_together() -> None:
    """Where neither gains alone."""
    cells = {"from": block_ram("X4/Y4/EBR0", Q=10), "to": block_ram("X8/Y4/EBR0", D=12),
             "first": lut("X4/Y60/SLICEA.K0", A=10, F=11), "second": lut("X4/Y60/SLICEB.K0", A=11, F=12),
             **spare(6, 4)}
    placement = Placement(cells)
    slacks = Slacks(Delays.read(sdf(cells)), placement.tiles)
    before = slacks.slowest
    slacks.period = 0.8 * before
    slacks.run()
    Rounds(placement, slacks).run()
    assert slacks.slowest == before
    Paths(placement, slacks).run()
    assert slacks.slowest < 0.6 * before
    assert placement.tiles["first"] == placement.tiles["second"]
    assert Slacks(Delays.read(sdf(placed(placement))), placement.tiles).slowest == pytest.approx(slacks.slowest)


def test_slow_paths_become_shorter() -> None:
    """And all cells have their places, of which none is that of two."""
    netlist = json.dumps({"modules": {"top": {
        "cells": design(), "ports": {}, "netnames": {}, "settings": {"placer": "static"}}}})
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
    column, row = Placement(module["cells"]).tiles["carry"]
    assert where["carry2"] == f"X{column + 1}/Y{row}/SLICEA.K0"
    assert where["memory"].replace("A.K0", "C.RAMW") == where["write"]
    assert refined(netlist, sdf(design())) == (text, slowest)


def test_ports_that_lead_nowhere_have_nets_of_their_own() -> None:
    """nextpnr writes any number for a constant output, such as 1,768,715,054, and has no memory for so many nets when
    it reads it back."""
    nets = {"named": {"bits": [40]}}
    ports = {"constant": {"direction": "output", "bits": [1_768_715_054, "0", 13, 1_768_715_054]},
             "named": {"direction": "input", "bits": [40]}}
    text, _ = refined(json.dumps({"modules": {"top": {"cells": design(), "ports": ports, "netnames": nets}}}),
                      sdf(design()))
    module = json.loads(text)["modules"]["top"]
    used = {bit for each in module["cells"].values() for bits in each["connections"].values() for bit in bits}
    assert module["ports"]["named"] == ports["named"]
    first, zero, known, last = module["ports"]["constant"]["bits"]
    assert (zero, known) == ("0", 13)
    assert max(used | {40}) < first < last < 1000
