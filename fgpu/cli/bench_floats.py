"""Benchmarks with floating point in hardware beside those in software."""

from statistics import geometric_mean
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.table import Table

from fgpu.config import FLOAT_OPS, Config

from .report import print_table

if TYPE_CHECKING:
    from fgpu.benchmarks import Record

__all__ = ["KINDS", "float_configs", "is_float", "print_ratios"]

KINDS: Final = ("hard", "soft", "both")


def is_float(kernel: str) -> bool:
    """Whether a benchmark computes in floating point, in hardware or in software."""
    from fgpu.benchmarks import EVERY

    return kernel not in EVERY or EVERY[kernel].element.is_float


def float_configs(kind: str | None, config: Config, *, integers: bool = False) -> list[Config]:
    """The configurations to run: with all floating-point units or those of ``config``, without any, or both.

    ``integers`` are not run twice, as the units make no difference to them.
    """
    if integers and kind == "both":
        return [config]
    hard = config.replace(float_ops=config.float_ops or FLOAT_OPS)
    soft = config.replace(float_ops=frozenset(), float_lanes=frozenset())
    return {None: [config], "hard": [hard], "soft": [soft], "both": [hard, soft]}[kind]


def print_ratios(records: "list[Record]") -> None:
    """Cycles of software over those of hardware; it does not apply to integers."""
    integers = list(dict.fromkeys(record.kernel for record in records if not is_float(record.kernel)))
    records = [record for record in records if record.kernel not in integers]
    console = Console(highlight=False)
    if integers:
        console.print()
        console.print(f"Hard and soft floating point do not apply to benchmarks of integers: {', '.join(integers)}")
    hard, soft = ({(record.kernel, record.size, record.cus): record.cycles for record in records
                   if record.cycles is not None and record.engine != "scalar"
                   and bool(record.config.get("float_ops")) is is_hard}
                  for is_hard in (True, False))
    ratios = {run: soft[run] / cycles for run, cycles in hard.items() if run in soft}
    if not ratios:
        return
    table = Table("kernel", pad_edge=False, box=None, title="Floating point in software", title_justify="left")
    for title in ("size", "CUs", "cycles, hard", "cycles, soft", "times"):
        table.add_column(title, justify="right")
    for run, ratio in ratios.items():
        table.add_row(*map(str, run), f"{hard[run]:,}", f"{soft[run]:,}", f"{ratio:.2f}")
    console.print()
    print_table(console, table)
    worst = max(ratios, key=lambda run: ratios[run])
    console.print(f"Geometric mean {geometric_mean(ratios.values()):.2f}, most {ratios[worst]:.2f} "
                  f"({worst[0]} {worst[1]}, {worst[2]} CU(s))")
