"""The area of a core on the terminal: module by module, and beside the reference design."""

from typing import TYPE_CHECKING, NamedTuple

from rich.table import Table

if TYPE_CHECKING:
    from fgpu.tools.area import ModuleArea

__all__ = ["area_table", "comparison_table"]


class _Reference(NamedTuple):
    tool: str
    luts: int
    ffs: int
    block_rams: float
    dsps: int


_REFERENCE = {
    1: _Reference("Yosys", 32208, 36128, 50.0, 32),
    2: _Reference("Vivado", 42754, 56191, 82.5, 64),
    4: _Reference("Vivado", 64990, 111878, 188.5, 128),
    8: _Reference("Vivado", 119371, 214323, 436.5, 256),
}
"""The reference design's area by compute units: routed by Vivado, from the dissertation's table; for one compute unit
from Yosys, on the reference's source."""


def area_table(tree: "ModuleArea", depth: int, title: str) -> Table:
    """LUTs, flip-flops, block RAMs and DSPs of each module, the largest first, down to ``depth`` levels."""
    table = Table(f"module, {title}", box=None, pad_edge=False)
    for column in ("LUTs", "LUT memory", "FFs", "block RAMs", "DSPs"):
        table.add_column(column, justify="right")

    def add(module: "ModuleArea", level: int) -> None:
        area = module.area
        table.add_row("  " * level + module.name, f"{area.luts:,}", f"{area.lut_memories:,}", f"{area.ffs:,}",
                      f"{area.block_rams:g}", str(area.dsps))
        if level + 1 < depth:
            for child in sorted(module.children, key=lambda child: -child.area.luts):
                add(child, level + 1)

    add(tree, 0)
    return table


def comparison_table(trees: "dict[int, ModuleArea]") -> Table:
    """The areas of cores, by their compute units, beside the reference's. Vivado's LUTs include those of LUT memory,
    Yosys' do not."""
    table = Table("CUs", "beside the reference", box=None, pad_edge=False)
    for column in ("fgpu", "reference", "of it"):
        table.add_column(column, justify="right")
    for units, tree in trees.items():
        area = tree.area
        reference = _REFERENCE[units]
        rows = (("LUTs", area.luts, reference.luts if reference.tool == "Yosys" else None),
                ("LUTs with LUT memory", area.all_luts, reference.luts if reference.tool == "Vivado" else None),
                ("FFs", area.ffs, reference.ffs), ("block RAMs", area.block_rams, reference.block_rams),
                ("DSPs", area.dsps, reference.dsps))
        for name, ours, theirs in rows:
            table.add_row(str(units) if name == "LUTs" else "", name, f"{ours:,.6g}", *(
                () if theirs is None else (f"{theirs:,.6g} ({reference.tool})", f"{ours / theirs:.2f}")))
    return table
