"""Instruction decoder, generated from the instruction table."""

from collections.abc import Callable
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu import isa
from fgpu.config import Config
from fgpu.gateware.choose import choose, look_up
from fgpu.interfaces.memory_bus import AtomicOp
from fgpu.isa import PER_WORK_ITEM, Format, Immediate, Instruction, Opcode, Space, Unit

from .control_word import (
    Addend,
    Condition,
    ControlWord,
    Flow,
    Logic,
    MemoryAccess,
    Multiplier,
    Other,
    Result,
    RuntimeValue,
    Width,
)
from .float.operations import FloatOp

__all__ = ["Decoder"]

_LOGIC = {
    Opcode.AND: Logic.AND, Opcode.ANDI: Logic.AND, Opcode.OR: Logic.OR, Opcode.ORI: Logic.OR,
    Opcode.XOR: Logic.XOR, Opcode.XORI: Logic.XOR, Opcode.NOR: Logic.NOR, Opcode.MOVN: Logic.FIRST,
    Opcode.MOVZ: Logic.FIRST, Opcode.LI: Logic.SECOND, Opcode.LUI: Logic.UPPER, Opcode.LID: Logic.FIRST,
    Opcode.WGOFF: Logic.SECOND, Opcode.SIZE: Logic.SECOND, Opcode.WGID: Logic.SECOND, Opcode.WGSIZE: Logic.SECOND,
    Opcode.LP: Logic.SECOND,
}
_RUNTIME = {
    Opcode.LID: RuntimeValue.NONE, Opcode.WGOFF: RuntimeValue.WORK_GROUP_OFFSET,
    Opcode.SIZE: RuntimeValue.SIZE, Opcode.WGID: RuntimeValue.WORK_GROUP_ID,
    Opcode.WGSIZE: RuntimeValue.WORK_GROUP_SIZE, Opcode.LP: RuntimeValue.PARAMETER,
    Opcode.GID: RuntimeValue.WORK_GROUP_OFFSET,
}
_WIDTHS = {0: Width.BYTE, 1: Width.HALF, 2: Width.WORD}


def _writes_by_itself(instruction: Instruction) -> bool:
    """Whether it is not the vector that writes rd."""
    return instruction.unit is Unit.FLOAT or instruction.space in (Space.GLOBAL, Space.LOCAL)


def _control(instruction: Instruction) -> dict[str, Any]:
    """The control word of an instruction, without its register numbers and immediate."""
    # By default the arithmetic unit computes rs * 2**0 + operand: an addition.
    control: dict[str, Any] = {
        "use_immediate": instruction.immediate is not None,
        "multiplier": Multiplier.FIXED,
        "addend": Addend.OPERAND,
        "write": instruction.writes_rd and not _writes_by_itself(instruction),
    }
    opcode = instruction.opcode
    if opcode in _LOGIC:
        control |= {"result": Result.OTHER, "logic": _LOGIC[opcode]}
    match instruction.unit:
        case Unit.ADD if opcode is Opcode.SUB:
            control |= {"multiplier": Multiplier.MINUS}
        case Unit.MOVE:
            control |= {"condition": Condition.ZERO if opcode is Opcode.MOVZ else Condition.NOT_ZERO}
        case Unit.MULTIPLY:
            accumulate = opcode is Opcode.MACC
            control |= {"multiplier": Multiplier.OPERAND, "addend": Addend.ACCUMULATE if accumulate else Addend.ZERO}
        case Unit.SHIFT:
            left = opcode in (Opcode.SLL, Opcode.SLLI)
            control |= {
                "multiplier": Multiplier.LEFT if left else Multiplier.RIGHT,
                "addend": Addend.ZERO,
                "result": Result.LOW if left else Result.HIGH,
                "signed": opcode in (Opcode.SRA, Opcode.SRAI),
            }
        case Unit.COMPARE:
            control |= {"result": Result.LESS, "signed": opcode in (Opcode.SLT, Opcode.SLTI)}
            if instruction.immediate is None:
                control |= {"multiplier": Multiplier.MINUS}
            elif opcode is Opcode.SLTIU:
                control |= {"addend": Addend.BELOW}
        case Unit.RUNTIME:
            # By these two, gid is an addition as any other.
            control |= {"runtime": _RUNTIME[opcode], "local_id": opcode in PER_WORK_ITEM}
        case Unit.ATOMIC | Unit.LOCAL_ATOMIC:
            assert instruction.atomic is not None
            control |= {"memory": MemoryAccess.ATOMIC, "atomic": AtomicOp[instruction.atomic.upper()],
                        "scale": instruction.scale, "width": Width.WORD}
            # The address of cmpxchg is rs; rt takes the way of the logic unit's results.
            if instruction.format is Format.RD_RS_RT:
                control |= {"addend": Addend.ZERO, "result": Result.OTHER, "logic": Logic.SECOND}
        case _ if instruction.space in (Space.GLOBAL, Space.LOCAL):
            control |= {"memory": MemoryAccess.LOAD if instruction.writes_rd else MemoryAccess.STORE,
                        "scale": instruction.scale, "width": _WIDTHS[instruction.scale]}
            if instruction.format is Format.RD_PARAMETER_INDEX:
                control |= {"runtime": RuntimeValue.PARAMETER}
        case Unit.SCRATCHPAD:
            control |= {"result": Result.OTHER, "other": Other.SCRATCHPAD,
                        "scratchpad_write": not instruction.writes_rd}
        case Unit.CONTROL:
            flow = Flow.BRANCH if instruction.is_branch else Flow.MEET if opcode is Opcode.MEET else Flow.CALL
            control |= {"flow": flow, "on_equal": opcode is Opcode.BEQ}
        case Unit.RETURN:
            control |= {"flow": Flow.SYNC if opcode is Opcode.SYNC else Flow.RETURN}
    return control


def _swaps(instruction: Instruction) -> bool:
    """Whether rs and rt change places: rt is what is multiplied, by -1 or by the size of what is addressed."""
    if instruction.unit in (Unit.ATOMIC, Unit.LOCAL_ATOMIC):
        # Base and index are the other way round than in loads and stores; of cmpxchg rs is the address.
        return instruction.format is not Format.RD_RS_RT
    return _control(instruction)["multiplier"] is Multiplier.MINUS


def _is_decoded(instruction: Instruction, config: Config) -> bool:
    """Floating-point operations are all decoded if there is any: their module tells which it has."""
    if instruction.unit is Unit.FLOAT:
        return bool(config.float_ops)
    return config.lacks(instruction) is None


class Decoder(wiring.Component):
    """Turns an instruction word into a :class:`ControlWord`; combinational.

    A word that is no instruction of this configuration gives ``legal`` = 0 and a control word that does
    nothing. ``reads_rs``, ``reads_rt``: these fields of it name registers. ``displacement`` is that of a branch or
    a call, straight from the word. ``float_available`` says what the
    floating-point units, if there are any, can do; ``is_float``: they have to. ``is_local``: an access is to local
    memory.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        members: dict[str, Any] = {
            "word": In(isa.INSTRUCTION_BITS), "control": Out(ControlWord), "legal": Out(1),
            "reads_rs": Out(1), "reads_rt": Out(1), "displacement": Out(signed(14)),
        }
        if config.float_ops:
            members |= {"float_available": In(1 << FloatOp.as_shape().width), "is_float": Out(1)}
        if config.local_memory:
            members["is_local"] = Out(1)
        super().__init__(members)

    @property
    def fields(self) -> tuple[Value, Value]:
        """rs and rt as they are in the word."""
        return self.word[5:10], self.word[10:15]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word = self.word
        opcode = word[24:32]
        imm14 = word[10:24]
        imm16 = Cat(imm14, word[5:7])
        rows = {row.opcode.value: row for row in isa.INSTRUCTIONS if _is_decoded(row, self._config)}
        words = {code: ControlWord.const(_control(row)).as_value().value for code, row in rows.items()}

        def bit(what: Callable[[Instruction], bool]) -> Value:
            return look_up([code in rows and what(rows[code]) for code in range(256)], opcode)

        # Where there is no instruction the bits are a neighbour's, which makes them simpler, but for those that act.
        nearest = [min(words, key=lambda known: (code ^ known, known)) for code in range(256)]
        fields = ControlWord.as_shape()
        acts = sum(((1 << fields[name].width) - 1) << fields[name].offset
                   for name in ("scratchpad_write", "memory", "flow"))
        bits = [look_up([bool(words[near] >> number & 1 and (code in words or not acts >> number & 1))
                         for code, near in enumerate(nearest)], opcode)
                for number in range(fields.size)]
        legal = bit(lambda row: row.unit is not Unit.FLOAT)
        if self._config.float_ops:
            m.d.comb += self.is_float.eq(
                bit(lambda row: row.unit is Unit.FLOAT) & choose(list(self.float_available), opcode[:4]))
            legal = legal | self.is_float
        m.d.comb += [
            self.control.eq(Cat(bits)),
            # r0 reads as zero because nothing ever writes it.
            self.control.write.eq(bit(lambda row: row.writes_rd and not _writes_by_itself(row)) & word[0:5].any()),
            self.legal.eq(legal),
            self.reads_rs.eq(bit(lambda row: row.reads_rs)), self.reads_rt.eq(bit(lambda row: row.reads_rt)),
        ]
        upper, lower = Signal(16), Signal(16)
        wide = bit(lambda row: row.immediate is isa.IMM16)
        of_upper = bit(lambda row: row.opcode is Opcode.LUI)
        extends = wide | bit(lambda row: row.immediate_kind is Immediate.SIGNED)
        # Comparisons add what they compare with, negated.
        negates, imm14_is_zero = bit(lambda row: row.unit is Unit.COMPARE), ~imm14.any()
        short, sign = Signal(14), Signal()
        m.d.comb += [
            short.eq(Mux(negates, -imm14, imm14)), sign.eq(Mux(negates, ~imm14[-1] & ~imm14_is_zero, imm14[-1])),
            upper.eq(Mux(of_upper, imm16, (extends & Mux(wide, imm16[-1], sign)).replicate(16))),
            lower.eq(Cat(
                Mux(bit(lambda row: row.immediate is isa.IMM4), word[5:9], short),
                Mux(wide, imm16[14:], (extends & sign).replicate(2)))),
            self.control.immediate.eq(Cat(Mux(of_upper, 0, lower), upper)),
        ]
        rs, rt = self.fields
        m.d.comb += self.displacement.eq(imm14.as_signed())
        m.d.comb += [self.control.rd.eq(word[0:5]), self.control.rs.eq(rs), self.control.rt.eq(rt)]
        if self._config.local_memory:
            m.d.comb += self.is_local.eq(word[31] & word[30])     # of families 7, 8, D and F
        with m.If(bit(_swaps)):
            m.d.comb += [self.control.rs.eq(rt), self.control.rt.eq(rs)]
        with m.If(bit(lambda row: row.opcode is Opcode.SLTIU) & imm14_is_zero):
            m.d.comb += self.control.addend.eq(Addend.OPERAND)
        return m


