"""The FPGA families: how Yosys synthesizes for them, what cells it makes, and a device to place units on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from .gowin import MULTIPLIERS
from .nextpnr import FIXED, PLACER_AND_ROUTER, tuned

__all__ = ["FAMILIES", "TIMED_FAMILIES", "Cells", "Device", "Family"]


@dataclass(frozen=True)
class Cells:
    """What the cells of a netlist count as: regular expressions of their types."""

    luts: str
    lut_memories: str
    ffs: str
    block_rams: str
    dsps: str
    half_block_rams: str = ""
    """Two of them are a block RAM."""
    luts_of_logic: Mapping[str, int] = field(default_factory=dict)
    """LUTs that a cell of ``luts`` takes, where it is not one."""
    luts_of_memory: Mapping[str, int] = field(default_factory=dict)
    """LUTs that a cell of ``lut_memories`` takes, where it is not one."""


@dataclass(frozen=True)
class Device:
    """A device on which nextpnr places and routes."""

    title: str
    """As in a sentence, with its article."""
    program: str
    """nextpnr's, as :mod:`fgpu.tools.native` calls it."""
    options: tuple[str, ...]
    """Of nextpnr: the device."""
    flow: tuple[str, ...] = ()
    """How nextpnr places and routes."""
    fixed: tuple[str, ...] = ()
    """How it routes what :mod:`~fgpu.tools.refine` has placed; empty where that knows no sites."""
    adapt: Callable[[str], str] = str
    """What becomes of Yosys' netlist before nextpnr reads it."""
    files: Mapping[str, str] = field(default_factory=dict)
    """What nextpnr reads besides, by name."""
    needs_pins: bool = False
    """Whether a port of the design must be a pin. Then those of a unit are all led to two."""
    remark: str = ""
    """What is to be known about its figures."""


@dataclass(frozen=True)
class Family:
    """A family of FPGAs."""

    name: str
    title: str
    synthesis: str
    """Yosys' command, without the options below."""
    cells: Cells
    flattening: str = ""
    """The option with which ``synthesis`` flattens, unless it does anyway."""
    without_pads: str = ""
    """The option with which ports get no pads, unless they get none anyway."""
    before: tuple[str, ...] = ()
    """Commands before ``synthesis``, where ``{top}`` is the module."""
    files: Mapping[str, str] = field(default_factory=dict)
    """What these read, by name."""
    device: Device | None = None
    """None where nextpnr does not know any."""

    def commands(self, top: str = "top", *, options: str = "") -> list[str]:
        """Yosys' commands for the module ``top``, with further ``options``."""
        return [*(command.format(top=top) for command in self.before), f"{self.synthesis} -top {top}{options}"]


_XC7: Final = Family(
    "xc7", "Xilinx 7 series", "synth_xilinx -family xc7 -noiopad -noclkbuf", Cells(
        luts=r"LUT[1-6]|INV", lut_memories=r"RAM\d+\w*|SRL\w+", ffs=r"FD\w+", block_rams=r"RAMB36\w*",
        half_block_rams=r"RAMB18\w*", dsps=r"DSP48\w+", luts_of_logic={"INV": 0},
        luts_of_memory={r"RAM\d+M|RAM128X1D|RAM256X1S": 4, r"RAM\d+X1D|RAM128X1S": 2}),
    flattening=" -flatten")
_DIE: Final = "85k"


def _tuned(netlist: str) -> str:
    return tuned(netlist, _DIE).netlist


_ECP5: Final = Family(
    "ecp5", "Lattice ECP5", "synth_ecp5", Cells(
        luts="LUT4|CCU2C|PFUMX", lut_memories="TRELLIS_DPR16X4", ffs="TRELLIS_FF", block_rams="DP16KD",
        dsps="MULT18X18D", luts_of_logic={"CCU2C": 2, "PFUMX": 0}, luts_of_memory={"TRELLIS_DPR16X4": 4}),
    device=Device(
        "an ECP5 of speed grade 6", "nextpnr_ecp5",
        (f"--{_DIE}", "--package", "CABGA381", "--speed", "6", "--out-of-context", "--lpf-allow-unconstrained"),
        flow=PLACER_AND_ROUTER, fixed=FIXED, adapt=_tuned))
_GOWIN: Final = Family(
    "gowin", "Gowin GW5A", "synth_gowin -family gw5a", Cells(
        luts=r"LUT[1-4]|ALU", lut_memories=r"RAM16\w+", ffs=r"DFF\w*", block_rams=r"(SP|SDP|DP)(X9)?B?",
        dsps="MULT27X36", luts_of_memory={r"RAM16\w+": 8}),
    without_pads=" -noiopads", files={"multipliers.v": MULTIPLIERS},
    before=("hierarchy -top {top}", "proc", "flatten", "opt_expr", "opt_clean", "wreduce",
            "techmap -map +/mul2dsp.v -D DSP_A_MAXWIDTH=27 -D DSP_B_MAXWIDTH=36 -D DSP_A_MINWIDTH=4 "
            "-D DSP_B_MINWIDTH=4 -D DSP_SIGNEDONLY -D DSP_NAME=$__MUL27X36",
            "chtype -set $mul t:$__soft_mul", "techmap -map multipliers.v"),
    device=Device(
        "a GW5AST-138 of grade C1/I0", "nextpnr_himbaechel_gowin",
        ("--device", "GW5AST-LV138PG484AC1/I0", "--vopt", "cst=pins.cst"),
        files={"pins.cst": "".join(f'IO_LOC "{port}" {pin};\n' for port, pin in (
            ("clk", "V22"), ("rst", "AA13"), ("first", "AB13"), ("last", "W19")))},
        needs_pins=True,
        remark="nextpnr knows no delay of this family's DSP blocks: paths through them do not count."))

FAMILIES: Final = {family.name: family for family in (_XC7, _ECP5, _GOWIN)}
"""All, by name."""
TIMED_FAMILIES: Final = {name: family for name, family in FAMILIES.items() if family.device}
"""Those with a device to place and route on."""
