"""What every scheme of divergence has in common: the unit's ports.

A scheme decides which work-items of a wavefront run next, and where. PCs are with the wavefronts' controllers, masks
with the scheduler; a scheme keeps the rest, and so can be exchanged (``Config.divergence``).
"""

from typing import Any, ClassVar

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import PHASES, WAVEFRONT_BITS, WAVEFRONT_SIZE, WAVEFRONTS
from fgpu.fault import FAULT_PC_BITS

from ..control_word import Flow
from ..vector import BranchLanes

__all__ = ["BranchParts", "DivergenceUnit", "FlowRequest", "MaskWrite", "Outcome", "OutcomeKind"]


class FlowRequest(data.Struct):
    """A control instruction at issue. ``next`` and ``target``: the addresses of its two successors."""

    flow: Flow
    wavefront: WAVEFRONT_BITS
    next: FAULT_PC_BITS
    target: FAULT_PC_BITS
    mask: WAVEFRONT_SIZE


class OutcomeKind(enum.Enum, shape=3):
    """How a wavefront goes on after a control instruction."""

    RESUME = 0
    JUMP = 1
    RETIRE = 2      # the wavefront ends
    OVERFLOW = 3    # the stack is full: the wavefront stops
    ARRIVE = 4      # all its parts have come to a barrier or ended: it waits, to go on at ``pc``


class Outcome(data.Struct):
    """Result of a control instruction for its wavefront."""

    valid: 1
    wavefront: WAVEFRONT_BITS
    kind: OutcomeKind
    pc: FAULT_PC_BITS


class MaskWrite(data.Struct):
    """A wavefront's enabled work-items change."""

    valid: 1
    wavefront: WAVEFRONT_BITS
    mask: WAVEFRONT_SIZE


class DivergenceUnit(wiring.Component):
    """The ports of a scheme's unit, which resolves control instructions.

    ``request`` is a control instruction at issue (one in four cycles at most), which is never refused; the lanes of
    a branch come later, a phase a cycle. The wavefront waits for its ``outcome``. Its new enabled work-items, if any,
    come as a ``mask_write`` in the cycle of the outcome or before. ``start`` forgets all that was kept of them.
    """

    meets: ClassVar[bool] = False
    """Whether paths meet between control instructions. Such a scheme has two ports more: ``waits``, a bit for
    each wavefront of which a path waits, and ``tops``, its PC. An instruction there is not issued; a slot
    goes to ``Flow.JOIN`` instead, a request with the PC as ``next``."""
    stops_behind: ClassVar[bool] = True
    """Whether that is so behind, too."""
    annotated: ClassVar[bool] = False
    """Whether ``meet`` says where paths meet; then there is ``Flow.MEET``, which names ``target`` for the next branch
    of the wavefront."""

    def __init__(self, **more: Any) -> None:
        super().__init__({
            "start": In(WAVEFRONTS),
            "request": In(FlowRequest),
            "request_valid": In(1),
            "branch": In(BranchLanes),
            "outcome": Out(Outcome),
            "mask_write": Out(MaskWrite),
            **more,
        })


class BranchParts:
    """Gathers the phases of a branch: the work-items that take it, and the others, how many they are and whether any,
    in the cycle in which it is ``resolved``."""

    def __init__(self, m: Module, lanes: Any) -> None:
        self.taken = Signal(WAVEFRONT_SIZE, name="taken")
        self.not_taken = Signal(WAVEFRONT_SIZE, name="not_taken")
        self.taken_count = Signal(range(WAVEFRONT_SIZE + 1), name="taken_count")
        self.not_taken_count = Signal(range(WAVEFRONT_SIZE + 1), name="not_taken_count")
        self.resolved = Signal(name="resolved")
        self.wavefront = Signal(WAVEFRONT_BITS, name="branch_wavefront")
        self.any_taken, self.any_not_taken = Signal(name="any_taken"), Signal(name="any_not_taken")
        for masks, count, some, part in (
                (self.taken, self.taken_count, self.any_taken, lanes.taken),
                (self.not_taken, self.not_taken_count, self.any_not_taken, lanes.not_taken)):
            with m.If(lanes.valid):
                m.d.sync += some.eq((some & ~lanes.first) | part.any())
                m.d.sync += count.eq(Mux(lanes.first, 0, count) + sum(part[lane] for lane in range(len(part))))
                for phase in range(PHASES):
                    with m.If(lanes.phase == phase):
                        m.d.sync += masks.word_select(phase, len(part)).eq(part)
                    with m.Elif(lanes.first):
                        m.d.sync += masks.word_select(phase, len(part)).eq(0)
        m.d.sync += [self.resolved.eq(lanes.valid & lanes.last), self.wavefront.eq(lanes.wavefront)]
