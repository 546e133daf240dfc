"""The part of LLVM's intermediate representation that the compiler understands, as plain objects: instructions and
what they are parts of, up to the module. Types and values are in :mod:`fgpu.compiler.ir.values`."""

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fgpu.errors import CompileError

from .cfg import Flow
from .values import VOID, Global, Local, Type, Value

__all__ = [
    "FLOAT_PREDICATES",
    "INTEGER_PREDICATES",
    "Block",
    "Definitions",
    "Function",
    "Instruction",
    "LocalVariable",
    "Location",
    "Module",
    "Op",
    "Variable",
]

INTEGER_PREDICATES = ("eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle")
"""What icmp asks."""
FLOAT_PREDICATES = ("oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno",
                    "true", "false")
"""What fcmp asks."""


class Op(enum.StrEnum):
    """Operations: LLVM's under LLVM's names, and below them the compiler's own."""

    # Control flow. LLVM's br is two: with a condition it is condbr.
    RET = "ret"
    BR = "br"
    CONDBR = "condbr"
    SWITCH = "switch"
    INDIRECTBR = "indirectbr"
    INVOKE = "invoke"
    CALLBR = "callbr"
    RESUME = "resume"
    UNREACHABLE = "unreachable"
    CLEANUPRET = "cleanupret"
    CATCHRET = "catchret"
    CATCHSWITCH = "catchswitch"
    PHI = "phi"
    CALL = "call"
    # Integers.
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    UDIV = "udiv"
    SDIV = "sdiv"
    UREM = "urem"
    SREM = "srem"
    SHL = "shl"
    LSHR = "lshr"
    ASHR = "ashr"
    AND = "and"
    OR = "or"
    XOR = "xor"
    ICMP = "icmp"
    SELECT = "select"
    FREEZE = "freeze"
    # Floats.
    FNEG = "fneg"
    FADD = "fadd"
    FSUB = "fsub"
    FMUL = "fmul"
    FDIV = "fdiv"
    FREM = "frem"
    FCMP = "fcmp"
    # Conversions.
    ZEXT = "zext"
    SEXT = "sext"
    TRUNC = "trunc"
    FPTRUNC = "fptrunc"
    FPEXT = "fpext"
    FPTOUI = "fptoui"
    FPTOSI = "fptosi"
    UITOFP = "uitofp"
    SITOFP = "sitofp"
    PTRTOINT = "ptrtoint"
    PTRTOADDR = "ptrtoaddr"
    INTTOPTR = "inttoptr"
    BITCAST = "bitcast"
    ADDRSPACECAST = "addrspacecast"
    # Memory.
    ALLOCA = "alloca"
    LOAD = "load"
    STORE = "store"
    ATOMIC_LOAD = "atomic load"
    ATOMIC_STORE = "atomic store"
    GETELEMENTPTR = "getelementptr"
    FENCE = "fence"
    CMPXCHG = "cmpxchg"
    ATOMICRMW = "atomicrmw"
    VAARG = "va_arg"
    # Vectors and aggregates.
    EXTRACTELEMENT = "extractelement"
    INSERTELEMENT = "insertelement"
    SHUFFLEVECTOR = "shufflevector"
    EXTRACTVALUE = "extractvalue"
    INSERTVALUE = "insertvalue"
    LANDINGPAD = "landingpad"
    CATCHPAD = "catchpad"
    CLEANUPPAD = "cleanuppad"
    # The compiler's own.
    CONCAT = "concat"
    """The integer that consists of words, the lowest first."""
    EXTRACTWORD = "extractword"
    """A word of an integer."""
    SECOND = "second"
    """The second word that a call returns."""
    # What the hardware has for floats that are words, where LLVM has no one operation.
    FSLT = "fslt"
    ITOFP = "itofp"
    FSQRT = "fsqrt"


@dataclass(frozen=True)
class Location:
    """A place in the source text."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(eq=False)
class Instruction:
    """One instruction. ``types`` has the type of each of ``operands``, ``type`` that of the result."""

    op: Op
    type: Type = VOID
    name: str = ""
    operands: list[Value] = field(default_factory=list)
    types: list[Type] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    """The targets of a branch, of a switch first that for other values; or the predecessors of a phi."""
    predicate: str = ""
    """What icmp or fcmp asks."""
    callee: str = ""
    """The function that is called; ``asm`` or ``%`` (a pointer) if it has no name."""
    index: int = 0
    """The field that extractvalue takes, the word that extractword takes."""
    source: Type = VOID
    """The type of an element, of getelementptr and alloca."""
    align: int = 1
    """The bytes of which an address is a multiple."""
    is_disjoint: bool = False
    """Whether the operands of ``or`` have no bit in common."""
    no_nans: bool = False
    """Whether no operand of ``fcmp`` is a NaN."""
    location: Location | None = None

    def copy(self) -> "Instruction":
        """The instruction once more, with lists of its own."""
        return replace(self, operands=list(self.operands), types=list(self.types), blocks=list(self.blocks))

    @property
    def is_terminator(self) -> bool:
        """Whether a block ends with it."""
        return self.op in (Op.BR, Op.CONDBR, Op.SWITCH, Op.RET, Op.UNREACHABLE)


@dataclass(eq=False)
class Block:
    """A basic block: phis first, a terminator last."""

    name: str
    instructions: list[Instruction] = field(default_factory=list)

    @property
    def phis(self) -> list[Instruction]:
        """The phis, which come first."""
        return [i for i in self.instructions if i.op is Op.PHI]

    @property
    def terminator(self) -> Instruction:
        """The last instruction, which says where to go on."""
        return self.instructions[-1]

    @property
    def successors(self) -> list[str]:
        """The blocks that may come next, each once."""
        return list(dict.fromkeys(self.terminator.blocks))


class Definitions(dict[str, Instruction]):
    """What makes the values of a function, by their names."""

    def of(self, value: Value) -> Instruction | None:
        """The instruction that makes ``value``; None for constants and parameters."""
        return self.get(value.name) if isinstance(value, Local) else None

    def of_condition(self, branch: Instruction) -> Instruction | None:
        """The instruction that makes the condition of ``branch``, if that has one."""
        return self.of(branch.operands[0]) if branch.op is Op.CONDBR else None


@dataclass(eq=False)
class Function:
    """A function with a body; ``parameters`` are its values' names and types, ``metadata`` the ids it refers to."""

    name: str
    result: Type
    parameters: list[tuple[str, Type]]
    blocks: dict[str, Block]
    is_kernel: bool
    metadata: dict[str, str]
    location: Location
    frame: int | None = None
    """Bytes of a work-item's private memory where that is in a frame; see :mod:`fgpu.compiler.select.frame`."""
    local_bytes: int = 0
    """Bytes of a work-group's local memory that the kernel's variables take, once they have their places."""

    def instructions(self) -> Iterator[Instruction]:
        """All instructions, block by block."""
        for block in self.blocks.values():
            yield from block.instructions

    def definitions(self) -> Definitions:
        """What makes each value, by its name."""
        return Definitions({i.name: i for i in self.instructions() if i.name})

    def copy(self) -> "Function":
        """The function once more, with instructions of its own."""
        blocks = {name: Block(block.name, [i.copy() for i in block.instructions])
                  for name, block in self.blocks.items()}
        return replace(self, parameters=list(self.parameters), blocks=blocks, metadata=dict(self.metadata))

    def flow(self) -> Flow:
        """The control flow of the blocks."""
        return Flow({name: block.successors for name, block in self.blocks.items()})

    def predecessors(self) -> dict[str, list[str]]:
        """The blocks that may come before each block."""
        found: dict[str, list[str]] = {name: [] for name in self.blocks}
        for block in self.blocks.values():
            for successor in block.successors:
                found[successor].append(block.name)
        return found

    def error(self, message: str, at: Instruction | None = None, *,
              kind: type[CompileError] = CompileError) -> CompileError:
        """The error for a construct of this function, at its source line."""
        location = at.location if at is not None and at.location is not None else self.location
        return kind(f"{location}: {message}")


@dataclass(frozen=True)
class Variable:
    """A variable of the module with integers in it, the bytes that it starts with, and its alignment in bytes.

    ``pointers`` are the places in ``content``, in bytes, of words that hold addresses of variables, and those."""

    type: Type
    content: bytes
    align: int = 1
    pointers: tuple[tuple[int, Global], ...] = ()


@dataclass(frozen=True)
class LocalVariable:
    """A variable in local memory, which starts with anything."""

    type: Type
    align: int = 1


@dataclass(eq=False)
class Module:
    """All functions with a body, the lists of strings and numbers in metadata nodes, the variables that hold
    integers, and those of the kernels' work-groups."""

    functions: dict[str, Function]
    metadata: dict[str, list[str]]
    variables: dict[str, Variable]
    local_variables: dict[str, LocalVariable] = field(default_factory=dict)

    def reached_from(self, function: Function) -> Iterator[Function]:
        """``function``, and those with a body that it calls, directly or not."""
        found, ahead = {function.name}, [function]
        while ahead:
            here = ahead.pop()
            yield here
            for i in here.instructions():
                if i.op is Op.CALL and i.callee not in found and (callee := self.functions.get(i.callee)) is not None:
                    found.add(i.callee)
                    ahead.append(callee)

    def work_group_size(self, function: Function) -> tuple[int, int, int] | None:
        """What ``reqd_work_group_size`` demands of the launches of a kernel."""
        node = self.metadata.get(function.metadata.get("reqd_work_group_size", ""))
        if not node:
            return None
        x, y, z = map(int, node)
        return x, y, z
