"""Where the cells of a netlist are that nextpnr has placed on an ECP5, and where else they could be."""

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple

__all__ = ["Group", "Placement", "Site"]

_BEL: Final = "NEXTPNR_BEL"
_SITE: Final = re.compile(r"X(\d+)/Y(\d+)/SLICE([ABCD])\.(K|FF|RAMW)(\d?)")
_SLICES: Final = "ABCD"
_MOST_LUTS: Final = 6
"""Of a tile's eight that are in use once a cell has come: where all are, wires go a long way round."""
_LUT, _FLIP_FLOP, _MEMORY = "TRELLIS_COMB", "TRELLIS_FF", "TRELLIS_RAMW"
_JOINED: Final = ("F1", "FXA", "FXB", "FCI")
"""Inputs with a wire of their own from a LUT in the same slice or the next: of larger LUTs, and carry chains."""
_CARRY: Final = "CCU2"
_OF_MEMORY: Final = ("DPRAM", "RAMW_BLOCK")
"""What LUTs are for, that are memory, or in the way of what writes it."""
_NEAR, _FAR = 2, 4
_AROUND: Final = {
    reach: sorted(itertools.product(range(-reach, reach + 1), repeat=2), key=lambda each: abs(each[0]) + abs(each[1]))
    for reach in (0, _NEAR, _FAR)}
"""Columns and rows from a tile to those near it, the nearest first."""

Group = tuple[str, ...]
"""Cells that move together."""


class Site(NamedTuple):
    """A LUT (``K``), a flip-flop (``FF``) or the write port (``RAMW``) of a slice."""

    x: int
    y: int
    slice: str
    kind: str
    number: str

    def __str__(self) -> str:
        return f"X{self.x}/Y{self.y}/SLICE{self.slice}.{self.kind}{self.number}"

    @property
    def tile(self) -> tuple[int, int]:
        """Column and row."""
        return self.x, self.y

    def beside(self, kind: str, number: str) -> "Site":
        """Another site of the same slice."""
        return self._replace(kind=kind, number=number)


def _united(cells: Sequence[str], pairs: Collection[tuple[str, str]]) -> dict[str, Group]:
    """Of each cell, those that pairs connect with it, in the order of all."""
    leaders = {name: name for name in cells}

    def leader(name: str) -> str:
        while leaders[name] != name:
            leaders[name] = name = leaders[leaders[name]]
        return name

    for name, other in pairs:
        leaders[leader(name)] = leader(other)
    found: dict[str, list[str]] = defaultdict(list)
    for name in cells:
        found[leader(name)].append(name)
    return {name: tuple(names) for names in found.values() for name in names}


class Placement:
    """The places of ``cells``, those of a netlist that nextpnr wrote when it had placed it.

    What moves, moves as a group: a flip-flop; a LUT with the flip-flop behind it; or LUTs that are joined, with
    theirs (one of more than four inputs, a carry chain, a memory). These move as they are, over any number of slices.
    """

    def __init__(self, cells: dict[str, Any]) -> None:
        self.cells = cells
        self.tiles = {name: (int(found[1]), int(found[2])) for name, cell in cells.items()
                      if (found := re.match(r"X(\d+)/Y(\d+)/", cell["attributes"].get(_BEL, "")))}
        """Column and row of every cell that has a place."""
        self._sites = {name: Site(int(x), int(y), *rest) for name, cell in cells.items()
                       if (found := _SITE.fullmatch(cell["attributes"].get(_BEL, "")))
                       for x, y, *rest in [found.groups()]}
        self.places = sorted({site.tile for site in self._sites.values()})
        """Column and row of each tile with slices."""
        self._places = set(self.places)
        # What only keeps a site free (:mod:`~fgpu.tools.spare_sites`) makes way.
        self._spare = {site: name for name, site in self._sites.items()
                       if not any(cells[name]["connections"].values()) and self._mode(name) == "LOGIC"}
        self._taken = {site: name for name, site in self._sites.items() if site not in self._spare}
        self._joined: set[str] = set()
        self._groups = self._grouped()

    def _mode(self, name: str) -> str:
        return str(self.cells[name]["parameters"].get("MODE", "")).strip() or "LOGIC"

    def _grouped(self) -> dict[str, Group]:
        """The group of each cell that may move."""
        # A LUT comes before its flip-flop.
        cells = sorted(self._taken.values(), key=lambda name: (self._sites[name].kind != "K", self._sites[name]))
        drivers = {bit: name for name in cells for port, bits in self.cells[name]["connections"].items()
                   if self.cells[name]["port_directions"].get(port) == "output" for bit in bits}

        def driven(name: str, ports: Sequence[str]) -> list[tuple[str, str]]:
            return [(name, drivers[bit]) for port in ports
                    for bit in self.cells[name]["connections"].get(port, ()) if bit in drivers]

        memories: dict[tuple[int, int], str] = {}
        joined = [pair for name in cells for pair in driven(name, _JOINED)] + [
            (name, memories.setdefault(self.tiles[name], name)) for name in cells
            if self.cells[name]["type"] == _MEMORY or self._mode(name) in _OF_MEMORY] + [
            (name, name) for name in cells if self._mode(name) == _CARRY]
        behind = [pair for name in cells if self.cells[name]["type"] == _FLIP_FLOP for pair in driven(name, ["DI"])]
        groups = _united(cells, [*joined, *behind])
        self._joined = {each for pair in joined for each in groups[pair[0]]}
        return groups

    def group(self, name: str) -> Group:
        """The cells that move together with one, which is the first or not; none if it stays."""
        return self._groups.get(name, ())

    def room(self, group: Group, x: int, y: int) -> dict[str, Site] | None:
        """Where the cells of a group could be, the first in the tile of a column and a row, if there is room."""
        sites = self._as_they_are(group, x, y) if group[0] in self._joined else self._anywhere(group, x, y)
        if sites is None:
            return None
        controls = defaultdict(set)
        for name, site in sites.items():
            if site.kind == "FF":
                controls[site.tile].add(self._control(name))
        for tile, found in controls.items():
            if len(found | {self._control(name) for name in self._tile(*tile, "FF")}) > 1:
                return None
        return sites

    def _as_they_are(self, group: Group, x: int, y: int) -> dict[str, Site] | None:
        """Where slices of joined cells could be."""
        sites = self._moved(group, x, y)
        is_free = all(site.tile in self._places and not any(self._slice(site)) for site in sites.values())
        return sites if is_free else None

    def _moved(self, group: Group, x: int, y: int) -> dict[str, Site]:
        left, top = self._sites[group[0]].tile
        return {name: old._replace(x=old.x - left + x, y=old.y - top + y)
                for name in group for old in [self._sites[name]]}

    def _anywhere(self, group: Group, x: int, y: int) -> dict[str, Site] | None:
        """Where a LUT, a flip-flop or both could be in a tile."""
        if (x, y) not in self._places:
            return None
        lut = self.cells[group[0]]["type"] == _LUT
        flip_flop = self.cells[group[-1]]["type"] == _FLIP_FLOP
        if lut and self.tiles[group[0]] != (x, y) and len([*self._tile(x, y, "K")]) >= _MOST_LUTS:
            return None
        for letter in _SLICES:
            first = Site(x, y, letter, "K", "0")
            there = list(self._slice(first))
            others = [name for name in there if self.cells[name]["type"] == _FLIP_FLOP]
            # Two flip-flops would share what enables them.
            if (flip_flop and others) or any(name in self._joined for name in there):
                continue
            for number in "01":
                if lut and first.beside("K", number) in self._taken:
                    continue
                return {name: first.beside(self._sites[name].kind, number) for name in group}
        return None

    def rooms(self, groups: Collection[Group], right: int, down: int) -> dict[str, Site] | None:
        """Where the cells of groups could be that all move by so many columns and rows, or nearly; if there is room.

        What is in the way of joined cells moves to near tiles, and is among what is returned.
        """
        taken = self._taken
        self._taken = {**taken}
        found: dict[str, Site] = {}
        for group in groups:
            self._leave(group)
        try:
            for group in groups:
                x, y = self.tiles[group[0]]
                if not (self._enter(group, x + right, y + down, _NEAR, found)
                        or self._push(group, x + right, y + down, found)):
                    return None
        finally:
            self._taken = taken
        return found

    def _leave(self, group: Group) -> None:
        for name in group:
            del self._taken[self._sites[name]]

    def _enter(self, group: Group, x: int, y: int, reach: int, found: dict[str, Site]) -> bool:
        """Whether there is room in a tile or one near; then it is ``found``, and taken."""
        for right, down in _AROUND[reach]:
            if (sites := self.room(group, x + right, y + down)) is not None:
                found |= sites
                self._taken |= {site: name for name, site in sites.items()}
                return True
        return False

    def _push(self, group: Group, x: int, y: int, found: dict[str, Site]) -> bool:
        """Whether there is room for joined cells once what is there has moved to near tiles."""
        if group[0] not in self._joined:
            return False
        there = {self._groups[name] for site in self._moved(group, x, y).values() for name in self._slice(site)}
        if any(each[0] in self._joined or each[0] in found for each in there):
            return False
        for each in there:
            self._leave(each)
        return self._enter(group, x, y, 0, found) and all(
            self._enter(each, *self.tiles[each[0]], _FAR, found) for each in sorted(there))

    def exchanges(self, group: Group, x: int, y: int) -> Iterator[tuple[Group, dict[str, Site]]]:
        """Groups of a tile with which one could change places, and where the cells of both would be."""
        shape = self._shape(group)
        for name in (*self._tile(x, y, "K"), *self._tile(x, y, "FF")):
            other = self._groups[name]
            if name == other[0] and other != group and self._shape(other) == shape:
                yield other, {**{mine: self._sites[its] for mine, its in zip(group, other, strict=True)},
                              **{its: self._sites[mine] for mine, its in zip(group, other, strict=True)}}

    def _shape(self, group: Group) -> tuple[object, ...]:
        """What two groups have in common that may change places. Flip-flops have the same control and enable; joined
        cells are for the same, with the same use of M (a flip-flop beside them may need it), in the same sites."""
        sites = [self._sites[name] for name in group]
        controls = [(self._control(name), *self.cells[name]["connections"].get("CE", ()))
                    for name, site in zip(group, sites, strict=True) if site.kind == "FF"]
        if group[0] in self._joined:
            return controls, [
                (site._replace(x=site.x - sites[0].x, y=site.y - sites[0].y), self._mode(name),
                 any(self.cells[name]["connections"].get("M", ()))) for name, site in zip(group, sites, strict=True)]
        return controls, [site.kind for site in sites]

    def _slice(self, site: Site) -> Iterator[str]:
        for kind, number in (("K", "0"), ("K", "1"), ("FF", "0"), ("FF", "1"), ("RAMW", "")):
            if (name := self._taken.get(site.beside(kind, number))) is not None:
                yield name

    def _tile(self, x: int, y: int, kind: str) -> Iterator[str]:
        for letter in _SLICES:
            for number in "01":
                if (name := self._taken.get(Site(x, y, letter, kind, number))) is not None:
                    yield name

    def _control(self, name: str) -> tuple[object, ...]:
        """What the flip-flops of a tile here have in common; of a slice also what enables them."""
        cell = self.cells[name]
        return (*(tuple(cell["connections"].get(port, ())) for port in ("CLK", "LSR")),
                *(cell["parameters"].get(option) for option in ("CLKMUX", "LSRMUX", "SRMODE", "GSR")))

    def sites(self, cells: Collection[str]) -> dict[str, Site]:
        """Where cells are."""
        return {name: self._sites[name] for name in cells}

    def move(self, sites: dict[str, Site]) -> None:
        """Give cells other places, which are free."""
        for name in sites:
            del self._taken[self._sites[name]]
        for name, site in sites.items():
            if site in self._spare:
                del self.cells[self._spare.pop(site)]
            self._sites[name] = site
            self._taken[site] = name
            self.tiles[name] = site.tile

    def fix(self) -> None:
        """Have nextpnr leave every cell where it is now."""
        for name, cell in self.cells.items():
            attributes = cell["attributes"]
            if (old := attributes.pop(_BEL, None)) is not None:
                attributes["BEL"] = str(self._sites.get(name, old))
            attributes.pop("BEL_STRENGTH", None)
