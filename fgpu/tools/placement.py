"""Where the cells of a netlist are that nextpnr has placed on an ECP5, and where else they could be."""

import re
from collections.abc import Collection, Iterator
from typing import Any, Final, NamedTuple

__all__ = ["Placement", "Site"]

_BEL: Final = "NEXTPNR_BEL"
_SITE: Final = re.compile(r"X(\d+)/Y(\d+)/SLICE([ABCD])\.(K|FF|RAMW)(\d?)")
_SLICES: Final = "ABCD"
_MOST_LUTS: Final = 4
"""Of a tile's eight that are in use once a cell has come: where all are, wires go a long way round."""
_LUT, _FLIP_FLOP = "TRELLIS_COMB", "TRELLIS_FF"
_MUX_INPUTS: Final = ("FXA", "FXB")
"""Of a multiplexer of what two slices compute."""


class Site(NamedTuple):
    """A LUT (``K``), a flip-flop (``FF``) or the write port (``RAMW``) of a slice."""

    x: int
    y: int
    slice: str
    kind: str
    number: str

    def __str__(self) -> str:
        return f"X{self.x}/Y{self.y}/SLICE{self.slice}.{self.kind}{self.number}"

    def beside(self, kind: str, number: str) -> "Site":
        """Another site of the same slice."""
        return self._replace(kind=kind, number=number)


class Placement:
    """The places of ``cells``, those of a netlist that nextpnr wrote when it had placed it.

    What moves, moves as a group: a LUT with the flip-flop behind it, a flip-flop without, or all of a slice whose two
    LUTs are one of five inputs. Carry chains, memory and larger LUTs stay.
    """

    def __init__(self, cells: dict[str, Any]) -> None:
        self.cells = cells
        self.tiles = {name: (int(found[1]), int(found[2])) for name, cell in cells.items()
                      if (found := re.match(r"X(\d+)/Y(\d+)/", cell["attributes"].get(_BEL, "")))}
        """Column and row of every cell that has a place."""
        self._sites = {name: Site(int(x), int(y), *rest) for name, cell in cells.items()
                       if (found := _SITE.fullmatch(cell["attributes"].get(_BEL, "")))
                       for x, y, *rest in [found.groups()]}
        self.places = sorted({(site.x, site.y) for site in self._sites.values()})
        """Column and row of each tile with slices."""
        # What only keeps a site free (:mod:`~fgpu.tools.spare_sites`) makes way.
        self._spare = {site: name for name, site in self._sites.items()
                       if not any(cells[name]["connections"].values())}
        self._taken = {site: name for name, site in self._sites.items() if site not in self._spare}
        drivers = {bit: name for name, cell in cells.items() for port, bits in cell["connections"].items()
                   if cell["port_directions"].get(port) == "output" for bit in bits}

        def driver(name: str, port: str) -> str | None:
            return next((drivers[bit] for bit in cells[name]["connections"].get(port, ()) if bit in drivers), None)

        self._flip_flops = {lut: name for name, cell in cells.items()
                            if cell["type"] == _FLIP_FLOP and (lut := driver(name, "DI")) is not None}
        self._luts = {flip_flop: lut for lut, flip_flop in self._flip_flops.items()}
        self._upper = {upper for name in cells if (upper := driver(name, "F1")) is not None}
        stay = {source for name in cells for port in _MUX_INPUTS if (source := driver(name, port)) is not None}
        self._stays = stay | {name for name, cell in cells.items() if not self._is_logic(cell)}

    @staticmethod
    def _is_logic(cell: dict[str, Any]) -> bool:
        connections = cell["connections"]
        return cell["type"] == _FLIP_FLOP or (
            cell["type"] == _LUT and cell["parameters"].get("MODE", "LOGIC").strip() == "LOGIC"
            and any(connections.values()) and not any(connections.get(port) for port in _MUX_INPUTS))

    def _is_single(self, name: str) -> bool:
        """Whether a LUT is no half of one of five inputs."""
        connections = self.cells[name]["connections"]
        return name not in self._stays and name not in self._upper and not connections.get("F1")

    def _slice(self, site: Site) -> Iterator[str]:
        for kind in ("K", "FF"):
            for number in "01":
                if (name := self._taken.get(site.beside(kind, number))) is not None:
                    yield name

    def group(self, name: str) -> tuple[str, ...]:
        """The cells that move together with one, which is the first or not; none if it stays."""
        if name not in self._sites or name in self._stays:
            return ()
        name = self._luts.get(name, name)
        if self.cells[name]["type"] == _FLIP_FLOP:
            return (name,)
        if self._is_single(name):
            return (name, self._flip_flops[name]) if name in self._flip_flops else (name,)
        group = tuple(self._slice(self._sites[name]))
        return () if any(each in self._stays for each in group) else group

    def room(self, group: Collection[str], x: int, y: int) -> dict[str, Site] | None:
        """Where the cells of a group could be in the tile of a column and a row, if there is room."""
        luts = [name for name in group if self.cells[name]["type"] == _LUT]
        flip_flops = [name for name in group if self.cells[name]["type"] == _FLIP_FLOP]
        if luts and self.tiles[luts[0]] != (x, y) and len([*self._tile(x, y, "K")]) + len(luts) > _MOST_LUTS:
            return None
        if flip_flops and len({self._control(name) for name in (*self._tile(x, y, "FF"), *flip_flops)}) > 1:
            return None
        for letter in _SLICES:
            first = Site(x, y, letter, "K", "0")
            if first.beside("RAMW", "") in self._taken:
                continue
            there = list(self._slice(first))
            if len(luts) > 1:
                if not there:
                    return {name: first.beside(old.kind, old.number) for name in group for old in [self._sites[name]]}
                continue
            others = [name for name in there if self.cells[name]["type"] == _FLIP_FLOP]
            if (flip_flops and others) or not all(self._is_single(name) for name in there if name not in others):
                continue
            for number in "01":
                if luts and first.beside("K", number) in self._taken:
                    continue
                return {**{name: first.beside("K", number) for name in luts},
                        **{name: first.beside("FF", number) for name in flip_flops}}
        return None

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

    def sites(self, group: Collection[str]) -> dict[str, Site]:
        """Where the cells of a group are."""
        return {name: self._sites[name] for name in group}

    def move(self, sites: dict[str, Site]) -> None:
        """Give cells other places, which are free."""
        for name in sites:
            del self._taken[self._sites[name]]
        for name, site in sites.items():
            if site in self._spare:
                del self.cells[self._spare.pop(site)]
            self._sites[name] = site
            self._taken[site] = name
            self.tiles[name] = site.x, site.y

    def fix(self) -> None:
        """Have nextpnr leave every cell where it is now."""
        for name, cell in self.cells.items():
            attributes = cell["attributes"]
            if (old := attributes.pop(_BEL, None)) is not None:
                attributes["BEL"] = str(self._sites.get(name, old))
            attributes.pop("BEL_STRENGTH", None)
