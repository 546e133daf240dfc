"""The instruction set, once, as data.

Decoder, assembler, disassembler, compiler and functional model all read :data:`INSTRUCTIONS`; a new
instruction is a new row (and its behaviour in the execution unit that its family names).

Sources: appendix A of the dissertation for the semantics; the bits are those of the reference design's binaries.
"""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache
from typing import NamedTuple

from .errors import EncodingError

__all__ = [
    "INSTRUCTIONS", "INSTRUCTION_BITS", "OPCODE", "PER_WORK_ITEM", "RD", "REGISTER_BITS", "REGISTER_COUNT", "RS",
    "RT", "STACK_POINTER", "Field", "Format", "Immediate", "Instruction", "Opcode", "Operands", "Space", "Unit",
    "by_mnemonic", "by_opcode", "decode", "encode",
]

INSTRUCTION_BITS = 32
"""Bits of a code word."""
REGISTER_COUNT = 32
"""Registers of a work-item; r0 reads as zero."""
REGISTER_BITS = 5
"""Bits of the number of a register."""
STACK_POINTER = 31


class Unit(Enum):
    """Family of an instruction: the hardware unit that executes it (bits 31:28)."""

    ADD = 0x1
    SHIFT = 0x2
    LOGIC = 0x3
    MOVE = 0x4
    MULTIPLY = 0x5
    CONTROL = 0x6
    MEMORY = 0x7
    ATOMIC = 0x8
    RETURN = 0x9
    RUNTIME = 0xA
    COMPARE = 0xB
    FLOAT = 0xC
    SCRATCHPAD = 0xD    # with the lowest bit of the code set: local memory
    LOCAL_ATOMIC = 0xF


class Space(Enum):
    """The memory that an instruction accesses."""

    GLOBAL = 0
    LOCAL = 1           # of a work-group
    SCRATCHPAD = 2      # of a work-item


class Opcode(Enum):
    """Upper byte of an instruction (bits 31:24): family and code."""

    ADD = 0x10
    ADDI = 0x11
    SUB = 0x12
    LI = 0x19
    LUI = 0x1D
    SLL = 0x20
    SLLI = 0x21
    SRL = 0x28
    SRLI = 0x29
    SRA = 0x2C
    SRAI = 0x2D
    AND = 0x30
    ANDI = 0x31
    OR = 0x32
    ORI = 0x33
    XOR = 0x34
    XORI = 0x35
    NOR = 0x38
    MOVN = 0x40
    MOVZ = 0x48
    MUL = 0x51
    MACC = 0x58
    BEQ = 0x62
    BNE = 0x63
    JSUB = 0x64
    MEET = 0x65
    LB = 0x71
    LH = 0x72
    LW = 0x74
    LBP = 0x75
    LHP = 0x76
    LWP = 0x77
    SB = 0x79
    SH = 0x7A
    SW = 0x7C
    SBP = 0x7D
    SHP = 0x7E
    SWP = 0x7F
    AADD = 0x81
    AMAX = 0x82
    AMIN = 0x83
    AUMAX = 0x84
    AUMIN = 0x85
    AAND = 0x86
    AOR = 0x87
    AXOR = 0x88
    AXCHG = 0x89
    ACMPXCHG = 0x8A
    SYNC = 0x91
    RET = 0x92
    LID = 0xA0
    WGOFF = 0xA1
    SIZE = 0xA2
    WGID = 0xA3
    WGSIZE = 0xA4
    GID = 0xA5
    LP = 0xA8
    SLT = 0xB2
    SLTI = 0xB3
    SLTU = 0xB6
    SLTIU = 0xB7
    FADD = 0xC0
    FMUL = 0xC1
    FDIV = 0xC2
    UITOFP = 0xC3
    FSQRT = 0xC4
    FPTOSI = 0xC5
    FPTOUI = 0xC6
    FSLT = 0xC7
    FSUB = 0xC8
    ITOFP = 0xC9
    LLB = 0xD1
    LLH = 0xD3
    LLWI = 0xD4
    LLW = 0xD5
    LSB = 0xD9
    LSH = 0xDB
    LSWI = 0xDC
    LSW = 0xDD
    LAADD = 0xF1
    LAMAX = 0xF2
    LAMIN = 0xF3
    LAUMAX = 0xF4
    LAUMIN = 0xF5
    LAAND = 0xF6
    LAOR = 0xF7
    LAXOR = 0xF8
    LAXCHG = 0xF9
    LACMPXCHG = 0xFA


class Field(NamedTuple):
    """A bit field of an instruction, as (lowest bit, width) parts, least significant part first."""

    parts: tuple[tuple[int, int], ...]

    @property
    def width(self) -> int:
        """Bits of the field."""
        return sum(width for _, width in self.parts)

    def insert(self, value: int) -> int:
        """A code word with the low bits of ``value`` in the field, and 0 elsewhere."""
        word = 0
        for low, width in self.parts:
            word |= (value & ((1 << width) - 1)) << low
            value >>= width
        return word

    def extract(self, word: int) -> int:
        """The content of the field in a code word, unsigned."""
        value, at = 0, 0
        for low, width in self.parts:
            value |= ((word >> low) & ((1 << width) - 1)) << at
            at += width
        return value


OPCODE = Field(((24, 8),))
RD = Field(((0, REGISTER_BITS),))
RS = Field(((5, REGISTER_BITS),))
RT = Field(((10, REGISTER_BITS),))
IMM14 = Field(((10, 14),))
IMM16 = Field(((10, 14), (5, 2)))
IMM4 = Field(((5, 4),))
SHIFT5 = Field(((10, 5),))
PARAMETER4 = Field(((10, 4),))


class Immediate(Enum):
    """How the immediate of a format becomes a 32-bit operand."""

    NONE = 0
    SIGNED = 1
    UNSIGNED = 2

    def operand(self, raw: int, width: int) -> int:
        """The Python value of the ``width``-bit field content ``raw``."""
        if self is Immediate.SIGNED and raw >> (width - 1):
            return raw - (1 << width)
        return raw


class Format(Enum):
    """Operand syntax, in assembly order."""

    RD_RS_RT = "rd, rs, rt"
    RD_RS = "rd, rs"
    RD_RS_IMM = "rd, rs, imm"
    RD_IMM = "rd, imm"
    RD_BASE_INDEX = "rd, rt[rs]"    # global and local loads and stores: base in rt, index in rs
    RD_PARAMETER_INDEX = "rd, imm[rs]"  # the same; the base is a parameter
    RD_ATOMIC = "rd, rs[rt]"        # atomics: base in rs, index in rt
    RD_SCRATCHPAD = "rd, rs[imm]"
    RD_RS_TARGET = "rd, rs, target"  # target = PC + 1 + imm
    TARGET = "target"               # target = PC + imm
    NONE = ""


@dataclass(frozen=True)
class Instruction:
    """One row of the instruction set.

    ``reads_rd``: rd is a source (too). ``writes_rd``: rd is a destination.
    ``scale``: left shift of the index register in an address, for memory and atomic instructions.
    """

    opcode: Opcode
    format: Format
    immediate: Field | None = None
    immediate_kind: Immediate = Immediate.NONE
    reads_rs: bool = False
    reads_rt: bool = False
    reads_rd: bool = False
    writes_rd: bool = False
    scale: int = 0

    @cached_property
    def mnemonic(self) -> str:
        """The name in assembly."""
        return self.opcode.name.lower()

    @cached_property
    def unit(self) -> Unit:
        """The unit that executes it."""
        return Unit(self.opcode.value >> 4)

    @property
    def registers(self) -> tuple[str, ...]:
        """The fields of registers that its format has."""
        return _REGISTERS[self.format]

    @cached_property
    def space(self) -> Space | None:
        """The memory that it accesses, if any."""
        if self.unit in (Unit.MEMORY, Unit.ATOMIC):
            return Space.GLOBAL
        if self.unit is Unit.LOCAL_ATOMIC or (self.unit is Unit.SCRATCHPAD and self.opcode.value & 1):
            return Space.LOCAL
        return Space.SCRATCHPAD if self.unit is Unit.SCRATCHPAD else None

    @cached_property
    def is_load(self) -> bool:
        """It reads global memory, and does nothing else there."""
        return self.unit is Unit.MEMORY and self.writes_rd

    @cached_property
    def is_store(self) -> bool:
        """It writes global memory, and does not read it."""
        return self.unit is Unit.MEMORY and not self.writes_rd

    @cached_property
    def atomic(self) -> str | None:
        """Its atomic operation on global or local memory, by the names of ``Config.atomics``."""
        if self.unit is Unit.LOCAL_ATOMIC:
            return self.mnemonic.removeprefix("la")
        return self.mnemonic.removeprefix("a") if self.unit is Unit.ATOMIC else None

    @cached_property
    def is_branch(self) -> bool:
        """It is a conditional branch."""
        return self.format is Format.RD_RS_TARGET

    @property
    def immediate_range(self) -> range:
        """Values that an assembler accepts for the immediate."""
        assert self.immediate is not None
        width = self.immediate.width
        if self.immediate_kind is Immediate.SIGNED:
            return range(-(1 << (width - 1)), 1 << (width - 1))
        return range(1 << width)


def _alu(opcode: Opcode) -> Instruction:
    return Instruction(opcode, Format.RD_RS_RT, reads_rs=True, reads_rt=True, writes_rd=True,
                       reads_rd=opcode in (Opcode.MACC, Opcode.MOVN, Opcode.MOVZ))


def _alui(opcode: Opcode, kind: Immediate = Immediate.SIGNED, field: Field = IMM14) -> Instruction:
    return Instruction(opcode, Format.RD_RS_IMM, field, kind, reads_rs=True, writes_rd=True)


def _imm16(opcode: Opcode, kind: Immediate) -> Instruction:
    return Instruction(opcode, Format.RD_IMM, IMM16, kind, writes_rd=True, reads_rd=opcode is Opcode.LUI)


def _runtime(opcode: Opcode) -> Instruction:
    return Instruction(opcode, Format.RD_IMM, IMM4, Immediate.UNSIGNED, writes_rd=True)


def _load(opcode: Opcode, scale: int) -> Instruction:
    return Instruction(opcode, Format.RD_BASE_INDEX, reads_rs=True, reads_rt=True, writes_rd=True, scale=scale)


def _store(opcode: Opcode, scale: int) -> Instruction:
    return Instruction(opcode, Format.RD_BASE_INDEX, reads_rs=True, reads_rt=True, reads_rd=True, scale=scale)


def _parameter_access(opcode: Opcode, scale: int, *, stores: bool = False) -> Instruction:
    return Instruction(opcode, Format.RD_PARAMETER_INDEX, PARAMETER4, Immediate.UNSIGNED, reads_rs=True,
                       reads_rd=stores, writes_rd=not stores, scale=scale)


def _atomic(opcode: Opcode) -> Instruction:
    return Instruction(opcode, Format.RD_ATOMIC, reads_rs=True, reads_rt=True, reads_rd=True, writes_rd=True,
                       scale=2)


def _compare_and_exchange(opcode: Opcode) -> Instruction:
    # Address rs, expected value rt, new value rd, which receives the old one.
    return Instruction(opcode, Format.RD_RS_RT, reads_rs=True, reads_rt=True, reads_rd=True, writes_rd=True)


def _branch(opcode: Opcode) -> Instruction:
    return Instruction(opcode, Format.RD_RS_TARGET, IMM14, Immediate.SIGNED, reads_rs=True, reads_rd=True)


def _unary(opcode: Opcode) -> Instruction:
    return Instruction(opcode, Format.RD_RS, reads_rs=True, writes_rd=True)


INSTRUCTIONS: tuple[Instruction, ...] = (
    _alu(Opcode.ADD), _alui(Opcode.ADDI), _alu(Opcode.SUB),
    _imm16(Opcode.LI, Immediate.SIGNED), _imm16(Opcode.LUI, Immediate.UNSIGNED),
    _alu(Opcode.SLL), _alui(Opcode.SLLI, Immediate.UNSIGNED, SHIFT5),
    _alu(Opcode.SRL), _alui(Opcode.SRLI, Immediate.UNSIGNED, SHIFT5),
    _alu(Opcode.SRA), _alui(Opcode.SRAI, Immediate.UNSIGNED, SHIFT5),
    _alu(Opcode.AND), _alui(Opcode.ANDI, Immediate.UNSIGNED),
    _alu(Opcode.OR), _alui(Opcode.ORI, Immediate.UNSIGNED),
    _alu(Opcode.XOR), _alui(Opcode.XORI, Immediate.UNSIGNED),
    _alu(Opcode.NOR),
    _alu(Opcode.MOVN), _alu(Opcode.MOVZ),
    _alu(Opcode.MUL), _alu(Opcode.MACC),
    _branch(Opcode.BEQ), _branch(Opcode.BNE),
    Instruction(Opcode.JSUB, Format.TARGET, IMM14, Immediate.SIGNED),
    Instruction(Opcode.MEET, Format.TARGET, IMM14, Immediate.SIGNED),
    Instruction(Opcode.RET, Format.NONE),
    # The work-items wait until all of their work-group have come so far, or have ended.
    Instruction(Opcode.SYNC, Format.NONE),
    _load(Opcode.LB, 0), _load(Opcode.LH, 1), _load(Opcode.LW, 2),
    _store(Opcode.SB, 0), _store(Opcode.SH, 1), _store(Opcode.SW, 2),
    _parameter_access(Opcode.LBP, 0), _parameter_access(Opcode.LHP, 1), _parameter_access(Opcode.LWP, 2),
    _parameter_access(Opcode.SBP, 0, stores=True), _parameter_access(Opcode.SHP, 1, stores=True),
    _parameter_access(Opcode.SWP, 2, stores=True),
    _atomic(Opcode.AADD), _atomic(Opcode.AMAX), _atomic(Opcode.AMIN), _atomic(Opcode.AUMAX), _atomic(Opcode.AUMIN),
    _atomic(Opcode.AAND), _atomic(Opcode.AOR), _atomic(Opcode.AXOR), _atomic(Opcode.AXCHG),
    _compare_and_exchange(Opcode.ACMPXCHG),
    _runtime(Opcode.LID), _runtime(Opcode.WGOFF), _runtime(Opcode.SIZE), _runtime(Opcode.WGID),
    _runtime(Opcode.WGSIZE), _runtime(Opcode.LP),
    # The sum of lid and wgoff.
    _runtime(Opcode.GID),
    _alu(Opcode.SLT), _alui(Opcode.SLTI), _alu(Opcode.SLTU), _alui(Opcode.SLTIU),
    _alu(Opcode.FADD), _alu(Opcode.FSUB), _alu(Opcode.FMUL), _alu(Opcode.FDIV),
    _unary(Opcode.FSQRT), _alu(Opcode.FSLT), _unary(Opcode.UITOFP), _unary(Opcode.ITOFP),
    # Truncation; out of range the nearest integer, 0 for a NaN.
    _unary(Opcode.FPTOSI), _unary(Opcode.FPTOUI),
    Instruction(Opcode.LLWI, Format.RD_SCRATCHPAD, IMM14, Immediate.SIGNED, reads_rs=True, writes_rd=True),
    Instruction(Opcode.LSWI, Format.RD_SCRATCHPAD, IMM14, Immediate.SIGNED, reads_rs=True, reads_rd=True),
    _load(Opcode.LLB, 0), _load(Opcode.LLH, 1), _load(Opcode.LLW, 2),
    _store(Opcode.LSB, 0), _store(Opcode.LSH, 1), _store(Opcode.LSW, 2),
    _atomic(Opcode.LAADD), _atomic(Opcode.LAMAX), _atomic(Opcode.LAMIN), _atomic(Opcode.LAUMAX),
    _atomic(Opcode.LAUMIN), _atomic(Opcode.LAAND), _atomic(Opcode.LAOR), _atomic(Opcode.LAXOR),
    _atomic(Opcode.LAXCHG), _compare_and_exchange(Opcode.LACMPXCHG),
)

by_opcode: dict[Opcode, Instruction] = {row.opcode: row for row in INSTRUCTIONS}
by_mnemonic: dict[str, Instruction] = {row.mnemonic: row for row in INSTRUCTIONS}
PER_WORK_ITEM = frozenset({Opcode.LID, Opcode.GID})
"""What reads the runtime memory and differs between the work-items of a wavefront."""


class Operands(NamedTuple):
    """Operands of one instruction; those that its format lacks are zero.

    ``imm`` is the value that the program sees: sign-extended where the instruction does so. For
    branches and ``jsub`` it is the encoded displacement, not the target.
    """

    rd: int = 0
    rs: int = 0
    rt: int = 0
    imm: int = 0


_REGISTERS = {
    Format.RD_RS_RT: ("rd", "rs", "rt"),
    Format.RD_RS: ("rd", "rs"),
    Format.RD_RS_IMM: ("rd", "rs"),
    Format.RD_IMM: ("rd",),
    Format.RD_BASE_INDEX: ("rd", "rs", "rt"),
    Format.RD_PARAMETER_INDEX: ("rd", "rs"),
    Format.RD_ATOMIC: ("rd", "rs", "rt"),
    Format.RD_SCRATCHPAD: ("rd", "rs"),
    Format.RD_RS_TARGET: ("rd", "rs"),
    Format.TARGET: (),
    Format.NONE: (),
}
_FIELDS = {"rd": RD, "rs": RS, "rt": RT}


def encode(opcode: Opcode, operands: Operands = Operands()) -> int:
    """Encode one instruction into its 32-bit word.

    Raises :class:`~fgpu.errors.EncodingError` for a register or an immediate out of range.
    """
    row = by_opcode[opcode]
    word = OPCODE.insert(opcode.value)
    for name in row.registers:
        number = getattr(operands, name)
        if number not in range(REGISTER_COUNT):
            raise EncodingError(f"{row.mnemonic}: register {name} must be r0 to r31, not r{number}")
        word |= _FIELDS[name].insert(number)
    if row.immediate is not None:
        allowed = row.immediate_range
        if operands.imm not in allowed:
            raise EncodingError(f"{row.mnemonic}: immediate {operands.imm} is outside {allowed[0]} to {allowed[-1]}")
        word |= row.immediate.insert(operands.imm)
    return word


@lru_cache(maxsize=1 << 16)
def decode(word: int) -> tuple[Instruction, Operands]:
    """Decode a 32-bit word; bits that the format leaves free are ignored.

    Raises :class:`~fgpu.errors.EncodingError` if the opcode byte names no instruction.
    """
    byte = OPCODE.extract(word)
    try:
        row = by_opcode[Opcode(byte)]
    except ValueError:
        raise EncodingError(f"unknown opcode byte 0x{byte:02X} in instruction word 0x{word:08X}") from None
    registers = {name: _FIELDS[name].extract(word) for name in row.registers}
    imm = 0
    if row.immediate is not None:
        imm = row.immediate_kind.operand(row.immediate.extract(word), row.immediate.width)
    return row, Operands(**registers, imm=imm)
