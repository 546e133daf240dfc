"""The part of LLVM's intermediate representation that the compiler understands, as plain objects."""

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from fgpu.errors import CompileError

from .cfg import Flow

__all__ = [
    "BOOL",
    "BYTE",
    "FLOAT_PREDICATES",
    "INTEGER_PREDICATES",
    "LOCAL_SPACE",
    "VOID",
    "WORD",
    "WORD_BITS",
    "Block",
    "Constant",
    "Definitions",
    "Function",
    "Global",
    "Instruction",
    "Local",
    "LocalVariable",
    "Location",
    "Module",
    "Op",
    "Type",
    "Value",
    "Variable",
    "integer",
]

INTEGER_PREDICATES = ("eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle")
"""What icmp asks."""
FLOAT_PREDICATES = ("oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno",
                    "true", "false")
"""What fcmp asks."""

LOCAL_SPACE = 3
"""The address space of work-groups' memory."""


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
class Type:
    """A type. ``kind`` is one of void, int, ptr, array, struct, vector, float, other; the rest depends on it."""

    kind: str
    bits: int = 0
    space: int = 0
    count: int = 0
    fields: tuple["Type", ...] = ()
    text: str = ""
    is_packed: bool = False
    least_align: int = 1
    """Bytes that an attribute demands, whatever a struct consists of."""

    @property
    def is_by_value(self) -> bool:
        """Whether this parameter is a struct, of which the function gets a copy; ``fields`` has its type."""
        return self.kind == "ptr" and bool(self.fields)

    @property
    def align(self) -> int:
        """Alignment in bytes, in the 32-bit data layout that OpenCL C has here."""
        return max(self.least_align, self._natural_align)

    @property
    def _natural_align(self) -> int:
        if self.is_packed:
            return 1
        if self.kind in ("array", "struct"):
            return max((field.align for field in self.fields), default=1)
        return self.size

    @property
    def size(self) -> int:
        """Bytes that a value of this type takes in memory, padding included."""
        match self.kind:
            case "int" | "float":
                return max(1, 1 << (self.bits - 1).bit_length() >> 3)
            case "ptr":
                return 4
            case "array":
                return self.count * self.fields[0].size
            case "vector":                      # of three: as large as of four
                return (1 << (self.count - 1).bit_length()) * self.fields[0].size
            case "struct":
                return _round_up(self.offset(len(self.fields)), self._natural_align)
        return 1

    def offset(self, index: int) -> int:
        """Byte offset of field ``index`` of a struct."""
        at = 0
        for number, member in enumerate(self.fields):
            at = _round_up(at, 1 if self.is_packed else member.align)
            if number == index:
                break
            at += member.size
        return at

    @property
    def is_word(self) -> bool:
        """Whether a value of this type fits a register."""
        return self.kind == "ptr" or (self.kind == "int" and self.bits <= 32) or self.text == "float"


def _round_up(value: int, to: int) -> int:
    return -(-value // to) * to


VOID = Type("void")


def integer(bits: int) -> Type:
    """The integer type of ``bits`` bits."""
    return Type("int", bits=bits)


WORD_BITS = 32
WORD = integer(WORD_BITS)
BYTE = integer(8)
BOOL = integer(1)


@dataclass(frozen=True)
class Local:
    """A value that an instruction or a parameter of the function defines."""

    name: str


@dataclass(frozen=True)
class Global:
    """The address of a function or of a variable of the module, and bytes beyond it."""

    name: str
    offset: int = 0


@dataclass(frozen=True)
class Constant:
    """An integer (null, an undefined value as zero, the word of a float); None if the compiler has no use for it.

    A vector has ``lanes``, unless all of them are ``value``. An undefined lane need not be stored.
    """

    value: int | None
    text: str = ""
    lanes: tuple["Value", ...] = ()
    is_undefined: bool = field(default=False, compare=False)


Value: TypeAlias = Local | Global | Constant


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

    def error(self, message: str, at: Instruction | None = None) -> CompileError:
        """The error for a construct of this function, at its source line."""
        location = at.location if at is not None and at.location is not None else self.location
        return CompileError(f"{location}: {message}")


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

    def work_group_size(self, function: Function) -> tuple[int, int, int] | None:
        """What ``reqd_work_group_size`` demands of the launches of a kernel."""
        node = self.metadata.get(function.metadata.get("reqd_work_group_size", ""))
        if not node:
            return None
        x, y, z = map(int, node)
        return x, y, z
