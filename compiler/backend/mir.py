"""Machine code with virtual registers: between instruction selection and encoding."""

import enum
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace

from fgpu.isa import REGISTER_COUNT, STACK_POINTER, Opcode, Space, by_opcode

from ..ir.cfg import Flow
from ..ir.module import Location

__all__ = [
    "ARGUMENTS", "COLOURS", "COMMUTATIVE", "FRAME_POINTER", "ZERO", "Callee", "MachineBlock", "MachineFunction", "Op",
    "Phi", "Pseudo",
]

ZERO = 0
"""The register that is always zero. Virtual registers start at 32; before allocation the only physical ones are this
one and those in which calls pass values."""
ARGUMENTS = (1, 2, 3, 4, 5, 6, 7, 8)
"""The registers of a routine's arguments; it returns its result in the first, or in the first two."""
COLOURS = tuple(number for number in range(1, REGISTER_COUNT) if number != STACK_POINTER)
"""Registers to allocate: r0 is zero, and code of other compilers relies on the stack pointer being kept."""
FRAME_POINTER = COLOURS[-1]
"""Where a subroutine finds the address of the work-item's frame, if it has one: all frames of a work-item are one.
Whoever keeps private memory in frames leaves it alone."""

COMMUTATIVE = frozenset({Opcode.ADD, Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.MUL, Opcode.NOR})
"""Operations whose operands may be swapped."""
_LOADS = frozenset(opcode for opcode, row in by_opcode.items() if row.is_load)
_DROPPABLE = _LOADS | {opcode for opcode, row in by_opcode.items()
                       if row.space in (Space.LOCAL, Space.SCRATCHPAD) and row.writes_rd and row.atomic is None}
_ACCESSES = frozenset(opcode for opcode, row in by_opcode.items()
                      if row.is_load or row.is_store or row.atomic is not None)
_ON_MEMORY = frozenset(opcode for opcode, row in by_opcode.items() if row.space is not None)


class Pseudo(enum.Enum):
    """Operations that become zero, one or two instructions at the end."""

    MOVE = "move"   # dst = rs
    FRAME = "frame"     # dst = rs, the address of the work-item's frame in global memory
    FRAME_STEP = "framestep"    # dst = the constant that the size of frames makes, once that is known
    CONST = "const"  # dst = imm, any 32 bits
    CALL = "call"   # dst = callee (its number also in imm) of arguments
    JUMP = "jump"   # a call that is the last thing that a routine does: what is called returns for it
    SECOND = "second"   # dst = the second result of the call whose first is rs
    RESULT = "result"   # rs and rt are what a routine returns
    FENCE = "fence"     # accesses to memory stay before or behind it; no instruction


@dataclass(frozen=True)
class Callee:
    """A compiled routine: its number in the program, its parameters, and the registers that it may change.

    ``is_pure``: all that it does is to return results, which depend on the arguments only. ``scratchpad`` is the
    first word that neither it nor what it calls uses, ``depth`` the return addresses that it needs at once, ``frame``
    the first byte of the work-item's frame that neither it nor what it calls uses: nothing if none of them has one.
    """

    number: int
    parameters: int
    clobbers: frozenset[int]
    is_pure: bool = True
    scratchpad: int = 0
    depth: int = 1
    frame: int = 0


@dataclass(eq=False)
class Op:
    """One operation. ``rd`` is the register that the rd field *reads*: the value of a store, the
    comparand of a branch, or the old value of a tied destination (macc, movn, movz). ``callee`` is
    what a call calls, with ``arguments``."""

    opcode: Opcode | Pseudo
    dst: int | None = None
    rs: int = ZERO
    rt: int = ZERO
    rd: int = ZERO
    imm: int = 0
    callee: Callee | None = None
    arguments: tuple[int, ...] = ()
    location: Location | None = None
    """Where in the source is what the operation is for."""

    def copy(self) -> "Op":
        """The operation once more: all that it consists of is constant."""
        return copy(self)

    @property
    def uses(self) -> list[int]:
        """Registers that this operation reads, without the one that is zero."""
        if self.rd or self.arguments:
            return [register for register in (self.rs, self.rt, self.rd, *self.arguments) if register]
        if self.rt:
            return [self.rs, self.rt] if self.rs else [self.rt]
        return [self.rs] if self.rs else []

    @property
    def clobbers(self) -> frozenset[int]:
        """Physical registers that a call may change."""
        return self.callee.clobbers if self.callee is not None else frozenset()

    @property
    def is_tied(self) -> bool:
        """Whether the destination must be the register that ``rd`` names."""
        if isinstance(self.opcode, Pseudo):
            return False
        row = by_opcode[self.opcode]
        return row.writes_rd and row.reads_rd

    @property
    def is_pure(self) -> bool:
        """Whether the result depends on the operands only, so that it may be moved, shared or dropped."""
        if self.opcode is Pseudo.FRAME:
            return False
        if isinstance(self.opcode, Pseudo):
            return self.dst is not None and (self.callee is None or self.callee.is_pure)
        return self.dst is not None and self.opcode not in _ON_MEMORY

    @property
    def is_load(self) -> bool:
        """Whether this loads from global memory."""
        return self.opcode in _LOADS

    @property
    def is_access(self) -> bool:
        """Whether this accesses global memory."""
        return self.opcode in _ACCESSES

    @property
    def is_droppable(self) -> bool:
        """Whether nobody misses the operation if nobody reads its result."""
        return self.is_pure or self.opcode in _DROPPABLE

    @property
    def is_cheap(self) -> bool:
        """Whether computing the value again costs no more than reloading it: no operand but immediates."""
        return not self.uses and self.is_pure and not self.is_tied

    @property
    def is_instruction(self) -> bool:
        """Whether this becomes an instruction for certain: register allocation removes moves and constants only."""
        return self.opcode is Pseudo.CALL or (not isinstance(self.opcode, Pseudo) and not self.is_cheap)

    def substitute(self, change: Callable[[int], int]) -> None:
        """Replace the registers that the operation reads."""
        if self.rs:
            self.rs = change(self.rs)
        if self.rt:
            self.rt = change(self.rt)
        if self.rd:
            self.rd = change(self.rd)
        if self.arguments:
            self.arguments = tuple(change(r) if r else r for r in self.arguments)


@dataclass(eq=False)
class Phi:
    """``dst`` is the register that the predecessor we came from has in ``sources``."""

    dst: int
    sources: dict[str, int]
    location: Location | None = None


@dataclass(eq=False)
class MachineBlock:
    """Straight-line code; then ``branch`` (beq or bne) to ``target`` if there is one, else on to ``next``.

    A block without ``next`` returns, or ends the kernel. If it ``splits``, work-items may part at its branch.
    A block that has ``enter`` has nothing else but ``next``: it calls the part of the function that begins there.
    ``location`` is where in the source it ends, for the instructions that lead on.
    """

    name: str
    phis: list[Phi] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    branch: Op | None = None
    target: str | None = None
    next: str | None = None
    splits: bool = False
    enter: str | None = None
    location: Location | None = None

    @property
    def has_barrier(self) -> bool:
        """Whether work-items wait for others here."""
        return any(op.opcode is Opcode.SYNC for op in self.ops)

    def copy(self) -> "MachineBlock":
        """The block once more, with operations of its own."""
        return replace(self, phis=[replace(phi, sources=dict(phi.sources)) for phi in self.phis],
                       ops=[op.copy() for op in self.ops],
                       branch=None if self.branch is None else self.branch.copy())

    @property
    def successors(self) -> list[str]:
        """The blocks that may come next: first where the branch goes."""
        return [name for name in (self.target, self.next) if name is not None]

    def reading(self) -> Iterator[Op]:
        """All operations, the branch included."""
        yield from self.ops
        if self.branch is not None:
            yield self.branch


@dataclass(eq=False)
class MachineFunction:
    """The code of a kernel or a subroutine. ``private_words`` of the scratchpad belong to private arrays, from word 0
    on."""

    name: str
    blocks: dict[str, MachineBlock] = field(default_factory=dict)
    private_words: int = 0
    registers: int = REGISTER_COUNT
    is_kernel: bool = True

    def copy(self) -> "MachineFunction":
        """The function once more, with operations of its own."""
        return replace(self, blocks={name: block.copy() for name, block in self.blocks.items()})

    def new_register(self) -> int:
        """A virtual register that nobody uses yet."""
        self.registers += 1
        return self.registers - 1

    def flow(self) -> Flow:
        """The control flow of the blocks."""
        return Flow({name: block.successors for name, block in self.blocks.items()})
