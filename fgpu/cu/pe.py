"""A processing element: arithmetic unit on DSP blocks, logic unit, scratchpad (section 3.4.3, figure 3.5)."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from fgpu.config import PHASES, WAVEFRONTS, Config
from fgpu.gateware.block_ram import BlockRam
from fgpu.interfaces.runtime import LOCAL_ID_BITS

from .control_word import Addend, Condition, ControlWord, Issue, Logic, Multiplier, Other, Result
from .pipeline import BRANCH_STAGE, MEMORY_STAGE, OPERAND_STAGE, RESULT_STAGE

__all__ = ["ProcessingElement"]


class ArithmeticUnit(wiring.Component):
    """``first * second + addend`` in 65 bits, of which ``sum`` is the lower 33 and ``high`` bits 32 to 63; 4 cycles.

    Four 16 x 16 products (figure 3.4). Three of the four sums add a product to one other number, as the adder behind
    the multiplier of a DSP block does.
    """

    first: In(signed(33))
    second: In(32)
    addend: In(33)
    sum: Out(33)
    high: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        first_low, first_high = self.first[:16], self.first[16:].as_signed()
        second_low, second_high = self.second[:16], self.second[16:]

        low, middle0, middle1 = Signal(32), Signal(32), Signal(signed(33))
        addend = Signal(33)
        m.d.sync += [
            low.eq(first_low * second_low),
            middle0.eq(first_low * second_high),
            middle1.eq(first_high * second_low),
            addend.eq(self.addend),
        ]
        low_sum, middle = Signal(34), Signal(signed(34))
        m.d.sync += [low_sum.eq(low + addend), middle.eq(middle1 + middle0)]

        # The upper product comes two cycles later, when the carry from below is known.
        first_late, second_late = [Signal(signed(17)) for _ in range(2)], [Signal(16) for _ in range(2)]
        m.d.sync += [
            first_late[0].eq(first_high), first_late[1].eq(first_late[0]),
            second_late[0].eq(second_high), second_late[1].eq(second_late[0]),
        ]
        upper, middle_sum, low_half = Signal(signed(33)), Signal(signed(35)), Signal(16)
        m.d.sync += [
            upper.eq(first_late[1] * second_late[1]),
            middle_sum.eq(middle + low_sum[16:]),
            low_half.eq(low_sum[:16]),
        ]
        low_word = Signal(32)
        m.d.sync += [
            self.high.eq(upper + middle_sum[16:].as_signed()),
            low_word.eq(Cat(low_half, middle_sum[:16])),
        ]
        m.d.comb += self.sum.eq(Cat(low_word, self.high[0]))
        return m


class ProcessingElement(wiring.Component):
    """Executes one work-item a cycle.

    Stages are counted in cycles from issue. Operands and lane enable arrive in stage 3 (``rs``, ``rt``, ``local_id``;
    the immediate in ``control3`` may be of the runtime memory), ``rd`` in stage 4; ``equal`` and ``out_of_bounds``
    are valid in stage 5, ``address``, ``store_data`` and ``expected`` (rt of cmpxchg) in stage 9, ``result`` and
    ``write`` in stage 10. ``controlN`` and ``issueN`` are the vector's pipeline registers of stage N.
    """

    rs: In(32)
    rt: In(32)
    rd: In(32)
    enable: In(1)
    local_id: In(LOCAL_ID_BITS)
    control3: In(ControlWord)
    control4: In(ControlWord)
    control9: In(ControlWord)
    issue5: In(Issue)
    equal: Out(1)
    out_of_bounds: Out(1)
    address: Out(32)
    store_data: Out(32)
    expected: Out(32)
    result: Out(32)
    write: Out(1)

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()

        def delayed(value: Any, cycles: int, name: str) -> Any:
            for step in range(cycles):
                register = Signal(value.shape(), name=f"{name}_{step}")
                m.d.sync += register.eq(value)
                value = register
            return value

        # Stage 4: operands; the immediate replaces rt, shift amounts become exponents.
        first, second, third = Signal(32), Signal(32), self.rd
        enable4 = delayed(self.enable, 1, "enable4")
        exponent = Signal(5)
        operand = Signal(32)
        c3 = self.control3
        m.d.comb += operand.eq(Mux(c3.use_immediate, c3.immediate, self.rt))
        m.d.sync += [first.eq(Mux(c3.local_id, self.local_id, self.rs)), second.eq(operand)]
        with m.Switch(c3.multiplier):
            with m.Case(Multiplier.LEFT):
                m.d.sync += exponent.eq(operand[:5])
            with m.Case(Multiplier.RIGHT):
                m.d.sync += exponent.eq(-operand[:5])
            with m.Default():
                m.d.sync += exponent.eq(c3.scale)

        # Stage 5: inputs of the arithmetic unit; the logic unit.
        m.submodules.arithmetic = arithmetic = ArithmeticUnit()
        c4 = self.control4
        factor, multiplicand, addend = Signal(32), Signal(signed(33)), Signal(33)
        other5, alters = Signal(32), Signal()
        write5 = Signal()
        m.d.sync += [
            multiplicand.eq(Cat(first, first[31] & c4.signed)),
            factor.eq(Mux(c4.multiplier == Multiplier.OPERAND, second, self._power(m, exponent, c4.multiplier))),
            self.equal.eq(first == third),
        ]
        with m.Switch(c4.addend):
            with m.Case(Addend.OPERAND):
                m.d.sync += addend.eq(Cat(second, second[31] & c4.signed))
            with m.Case(Addend.BELOW):
                m.d.sync += addend.eq(Cat(second, 1))
            with m.Case(Addend.ACCUMULATE):
                m.d.sync += addend.eq(third)
            with m.Default():
                m.d.sync += addend.eq(0)
        with m.Switch(c4.result):
            with m.Case(Result.HIGH):
                # A right shift by 0 would need the factor 2**32: its result is the low word instead.
                m.d.sync += alters.eq(exponent.any())
            with m.Case(Result.LESS):
                # What is multiplied by 2**32 - 1 instead of -1 is in bit 32, too.
                m.d.sync += alters.eq(first[0] & (c4.multiplier == Multiplier.MINUS))
            with m.Default():
                m.d.sync += alters.eq(0)
        m.d.sync += other5.eq(self._logic(m, first, second, third))
        with m.Switch(c4.condition):
            with m.Case(Condition.ZERO):
                m.d.sync += write5.eq(enable4 & c4.write & (second == 0))
            with m.Case(Condition.NOT_ZERO):
                m.d.sync += write5.eq(enable4 & c4.write & (second != 0))
            with m.Default():
                m.d.sync += write5.eq(enable4 & c4.write)
        m.d.comb += [
            arithmetic.first.eq(multiplicand), arithmetic.second.eq(factor),
            arithmetic.addend.eq(addend),
        ]

        # What chooses between words is a register of each lane's, near them; it stays so in synthesis because it
        # depends on ``enable4``. What a lane chooses for a work-item that is not enabled is never written.
        is_other = Signal()
        m.d.sync += is_other.eq(enable4 & (c4.result == Result.OTHER))
        other8 = self._scratchpad(m, first, second, third, enable4, other5)

        # Stages 9 and 10: results.
        other9 = delayed(other8, 1, "other")
        is_other9, alters9 = delayed(is_other, 4, "is_other"), delayed(alters, 4, "alters")
        m.d.comb += [
            self.address.eq(arithmetic.sum[:32]),
            self.expected.eq(other9),
            self.store_data.eq(delayed(third, MEMORY_STAGE - (OPERAND_STAGE + 1), "store_data")),
            self.write.eq(delayed(write5, RESULT_STAGE - BRANCH_STAGE, "write")),
        ]
        with m.If(self.control9.result == Result.LESS):
            m.d.sync += self.result.eq(arithmetic.sum[32] ^ alters9)
        with m.Elif(is_other9):
            m.d.sync += self.result.eq(other9)
        with m.Else():
            m.d.sync += self.result.eq(Mux(alters9, arithmetic.high, arithmetic.sum[:32]))
        return m

    def _logic(self, m: Module, first: Value, second: Value, third: Value) -> Value:
        """The logic unit, in stage 4."""
        logic = Signal(32)
        with m.Switch(self.control4.logic):
            with m.Case(Logic.AND):
                m.d.comb += logic.eq(first & second)
            with m.Case(Logic.OR):
                m.d.comb += logic.eq(first | second)
            with m.Case(Logic.XOR):
                m.d.comb += logic.eq(first ^ second)
            with m.Case(Logic.NOR):
                m.d.comb += logic.eq(~(first | second))
            with m.Case(Logic.FIRST):
                m.d.comb += logic.eq(first)
            with m.Case(Logic.SECOND):
                m.d.comb += logic.eq(second)
            with m.Default():
                m.d.comb += logic.eq(Cat(third[:16], second[16:]))
        return logic

    @staticmethod
    def _power(m: Module, exponent: Any, multiplier: Any) -> Any:
        """``1 << exponent``, or all ones."""
        rows, columns = Signal(8), Signal(4)
        minus = multiplier == Multiplier.MINUS
        m.d.comb += [rows.eq((1 << exponent[2:]) | minus.replicate(8)),
                     columns.eq((1 << exponent[:2]) | minus.replicate(4))]
        return Cat(row.replicate(4) & columns for row in rows)

    def _scratchpad(self, m: Module, base: Any, offset: Any, data: Any, enable: Any, other5: Any) -> Any:
        """Stages 5 to 8: the work-item's region of the scratchpad, in which its address wraps."""
        other6, other7, other8 = Signal(32), Signal(32), Signal(32)
        m.d.sync += [other6.eq(other5), other7.eq(other6), other8.eq(other7)]
        words = self._config.scratchpad_words
        if not words:
            return other8
        m.submodules.scratchpad = memory = BlockRam(unsigned(32), words * WAVEFRONTS * PHASES)
        read, write = memory.read_port(), memory.write_port()
        index, data5, enable5 = Signal(exact_log2(words)), Signal(32), Signal()
        m.d.sync += [index.eq(base + offset), data5.eq(data), enable5.eq(enable & self.control4.scratchpad_write)]
        if self._config.scratchpad_check:
            # A stack may grow down from 0: the region is also that of the negative addresses.
            total = Signal(32)
            upper = total[len(index):]
            m.d.comb += total.eq(base + offset)
            m.d.sync += self.out_of_bounds.eq(
                enable & (self.control4.other == Other.SCRATCHPAD) & upper.any() & ~upper.all())
        address = Cat(index, self.issue5.phase, self.issue5.wavefront)
        m.d.comb += [
            read.addr.eq(address),
            write.addr.eq(address), write.data.eq(data5), write.en.eq(enable5),
        ]
        word = Signal(32)           # in the block RAM's output register
        is_word5, is_word6, is_word7 = Signal(), Signal(), Signal()
        m.d.sync += [
            word.eq(read.data),
            is_word5.eq(enable & (self.control4.other == Other.SCRATCHPAD)),
            is_word6.eq(is_word5), is_word7.eq(is_word6),
        ]
        with m.If(is_word7):
            m.d.sync += other8.eq(word)
        return other8


