"""What a pass is, and what it is told.

A pass is a function ``run(function, context)`` that changes the function in place; instruction selection returns a
new one. :data:`fgpu.compiler.pipeline.PASSES` is all of them.
"""

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from fgpu.config import Config

from .backend.mir import COLOURS, Callee, MachineFunction
from .ir.module import Function, Module
from .legalize.printf import FormatTable
from .legalize.tables import DataSegment
from .select.frame import FRAME_BEGIN

__all__ = ["Context", "Fact", "Observer", "Order", "Pass", "Phase", "Plan"]


class Phase(enum.Enum):
    """Passes between which nothing is decided."""

    INLINE = "IR: calls"
    LEGALIZE = "IR: what the machine has, and better loops"
    OUTLINE = "IR: what makes a kernel shorter that the code RAM has no room for"
    SELECT = "machine IR in SSA form"
    SCHEDULE = "machine IR in SSA form: the order of the operations, one of several"
    ALLOCATE = "machine IR: from virtual to physical registers"
    FINISH = "machine IR with physical registers"

    @property
    def is_ir(self) -> bool:
        """Whether its passes take IR; the others take machine IR."""
        return self in (Phase.INLINE, Phase.LEGALIZE, Phase.OUTLINE)


class Fact(enum.Enum):
    """What holds of a function, once a pass has seen to it."""

    INLINED = "calls are of subroutines, routines and built-in functions"
    PLACED = "variables in local memory are addresses"
    NO_OVERFLOW = "no arithmetic with overflow, saturation or funnel shifts"
    NO_COPIES = "no memcpy and memset but fills of private memory"
    WORDS = "floats are words"
    NO_STRUCTS = "no parameter is a struct"
    SCALAR = "no vectors"
    NO_TABLES = "no table is read but private arrays and places of the data segment"
    FEW_COUNTERS = "a loop has one counter where one is enough"
    NO_SWITCHES = "branches have two targets at most"
    NO_DOUBLES = "no operations on floats of 64 bits"
    NO_HALVES = "no operations on floats of 16 bits"
    FEW_FLOATS = "no operations on floats but the hardware's"
    NARROW = "no integer has more than 32 bits"
    NO_DIVISIONS = "no quotients and remainders"
    ALIGNED = "accesses are of 1, 2 or 4 bytes, and aligned"
    LEGAL = "only what instruction selection knows"
    SSA = "machine operations, each register with one definition"
    DIVERGENCE = "branches say whether they may split a wavefront"
    NO_PHIS = "no phis, and tied operands are one register"
    PHYSICAL = "registers are those of the machine"


class Order(enum.Enum):
    """Orders of the operations to try: first the one in which loads and results overlap, last that in which few
    registers live."""

    LATENCY = "latency"
    SOURCE = "source"
    PRESSURE = "pressure"


@dataclass(frozen=True)
class Plan:
    """How a kernel, and what it calls, are compiled: with tables of ``table_words`` in the scratchpad at most, with
    private memory in a frame in global memory; there, functions that use it may stay subroutines (``has_calls``)."""

    table_words: int
    has_frame: bool = False
    has_calls: bool = False

    def __str__(self) -> str:
        frame = ("a frame, in subroutines, too" if self.has_calls else "a frame") if self.has_frame else "no frame"
        return f"{frame}, {self.table_words} words of tables"


class Observer(Protocol):
    """Sees functions before and after each pass, and changes nothing."""

    def before(self, step: "Pass", function: Any, context: "Context") -> None:
        """``step`` is about to run."""

    def after(self, step: "Pass", function: Any, context: "Context") -> None:
        """``step`` has run; ``function`` is what it left."""


@dataclass
class Context:
    """What passes are told beside the function, and what they tell those after them."""

    config: Config
    module: Module
    plan: Plan
    data: DataSegment
    reconverges: bool = True
    """Whether work-items that a branch split meet again."""
    observers: Sequence[Observer] = ()
    variant: str = ""
    """For observers: what of the source is compiled."""
    under_way: tuple[str, ...] = ()
    """The functions that lead to this one, and this one."""
    bodies: dict[str, Function | None] = field(default_factory=dict)
    """Of functions: what to inline, or None; see :func:`inline_by_signature`."""
    formats: FormatTable = field(default_factory=FormatTable)
    """What printf prints, of the whole program."""
    hidden: list[str] = field(default_factory=list)
    """Parameters that the function has beyond those of its source."""
    outlined: bool = False
    """Whether parts of the function became subroutines, as there was no room for it."""
    callees: Mapping[str, Callee] = field(default_factory=dict)
    """The subroutines that it calls, from instruction selection on."""
    order: Order = Order.SOURCE
    registers: Sequence[int] = COLOURS
    """Those that the function may use."""
    frame_begin: int = FRAME_BEGIN
    """The first byte of the work-item's frame that is the function's: what is before belongs to what it calls."""
    frame_words: int | None = None
    """From which word of its frame on a function may keep registers there."""
    after_spilling: Callable[[MachineFunction, int], None] = lambda _function, _words: None
    """Gets a function and the words of scratchpad that it needs after each round of spilling; may end it."""
    warnings: tuple[str, ...] = ()
    """What the user should know."""
    scratchpad: int = 0
    """Words of it that the function needs, when registers are allocated."""

    def hide(self, *parameters: str | None) -> None:
        """Note parameters that the source does not have."""
        self.hidden += [parameter for parameter in parameters if parameter is not None]


def _always(_function: Any, _context: Context) -> bool:
    return True


@dataclass(frozen=True)
class Pass:
    """``run`` needs some facts to hold, leaves others, and undoes those that it ``breaks``; it runs where ``applies``
    says so."""

    name: str
    phase: Phase
    summary: str
    run: Callable[[Any, Context], Any]
    needs: tuple[Fact, ...] = ()
    leaves: tuple[Fact, ...] = ()
    breaks: tuple[Fact, ...] = ()
    applies: Callable[[Any, Context], bool] = _always
