"""Register file of a compute unit: four banks of block RAM, three operands a cycle (figure 3.6.c)."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import BANK_WORDS, BANKS, PE_COUNT, PHASE_BITS, WAVEFRONT_BITS
from fgpu.gateware.block_ram import BlockRam
from fgpu.gateware.choose import choose, either
from fgpu.isa import REGISTER_BITS

from .control_word import Issue
from .pipeline import BEAT_BITS, FLOAT_RESULT_STAGE, READ_STAGES, RESULT_STAGE, bank_shift, beat_of

__all__ = ["LoadWrite", "RegisterFile", "RegisterRead", "RegisterWrite", "WordHalves", "Words", "bank_address",
           "joined"]

_GROUPS = 4
_GROUP_LANES = PE_COUNT // _GROUPS
"""What steers multiplexers of all lanes is there for each group of lanes: with one register for all, some of the
wires from it take longer than a cycle."""

Words = data.ArrayLayout(32, PE_COUNT)
"""A 32-bit word of each processing element."""
WordHalves = data.ArrayLayout(Words, 2)
"""Each word as two, of which one at least is 0.

So a register takes one of eight words with two LUTs a bit instead of three, one for each half of the eight, and that
the two belong together costs nothing where there is a multiplexer behind it, as before the banks."""


def joined(halves: Any) -> Any:
    """The words that come in ``halves``."""
    return data.View(Words, either(halves))


def bank_address(register: Any, phase: Any, wavefront: Any) -> Value:
    """Where a phase's register is in its bank, whose number is in the phase's lower bits."""
    return Cat(register, phase[BEAT_BITS:], wavefront)


class RegisterWrite(data.Struct):
    """A register of the eight work-items of one phase."""

    wavefront: WAVEFRONT_BITS
    phase: PHASE_BITS
    register: REGISTER_BITS
    lanes: PE_COUNT
    words: Words


class LoadWrite(data.Struct):
    """The same for loads."""

    wavefront: WAVEFRONT_BITS
    phase: PHASE_BITS
    register: REGISTER_BITS
    lanes: PE_COUNT
    halves: WordHalves


class RegisterRead(data.Struct):
    """Numbers of the registers that an instruction reads."""

    rs: REGISTER_BITS
    rt: REGISTER_BITS
    rd: REGISTER_BITS


class RegisterFile(wiring.Component):
    """Registers of 512 work-items.

    A phase's registers are in bank ``phase % 4``, which is read and written in the turns that
    :mod:`~fgpu.cu.pipeline` fixes; the cycle after a reset has beat 0. ``rs`` and ``rt`` are valid in
    ``OPERAND_STAGE``, ``rd`` in the stage after it.

    Each bank has one write port. The vector writes the bank of ``RESULT_STAGE`` in each cycle, the floating-point
    units of a core with ``floats`` that of ``FLOAT_RESULT_STAGE`` if ``float_valid``. The memory controller must use
    another one. But in a cycle with ``clear`` all four banks take ``load``, whatever its phase, the first such cycle
    since others excepted.
    """

    def __init__(self, floats: bool = False) -> None:
        self._floats = floats
        members: dict[str, Any] = {
            "issue": In(data.ArrayLayout(Issue, len(READ_STAGES))),
            "read": In(data.ArrayLayout(RegisterRead, len(READ_STAGES))),
            "rs": Out(Words),
            "rt": Out(Words),
            "rd": Out(Words),
            "result": In(RegisterWrite),
            "load": In(LoadWrite),
            "clear": In(1),
        }
        if floats:
            members |= {"float_result": In(RegisterWrite), "float_valid": In(1)}
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        beats = [self._turns(m, f"beat{group}", 0) for group in range(_GROUPS)]
        banks = []
        for number in range(BANKS):
            bank = BlockRam(data.ArrayLayout(unsigned(32), PE_COUNT), BANK_WORDS)
            m.submodules[f"bank{number}"] = bank
            read, write = bank.read_port(), bank.write_port(granularity=1)
            kept = Signal.like(read.data, name=f"kept{number}")     # in the block RAM's output register
            m.d.sync += kept.eq(read.data)
            banks.append(kept)

            # A bank serves each stage in turn, and nothing in the fourth cycle.
            turn = self._turns(m, f"turn{number}", number)

            def turn_of(stage: int, number: int = number) -> int:
                return (beat_of(number, stage) + number) % BANKS

            with m.Switch(turn):
                for operand, stage in READ_STAGES.items():
                    with m.Case(turn_of(stage)):
                        issue, register = self.issue[stage], self.read[stage][operand]
                        m.d.comb += read.addr.eq(bank_address(register, issue.phase, issue.wavefront))
            mine = (self.load.phase[:BEAT_BITS] == number) | self.clear
            for group, beat in enumerate(beats):
                takes_result = Signal(name=f"takes_result{number}_{group}")
                m.d.sync += takes_result.eq((beat == beat_of(number, RESULT_STAGE - 1)) & ~self.clear)
                with m.If(takes_result):
                    self._connect(m, write, group, self.result, self.result.words, self.result.lanes)
                if self._floats:
                    with m.Elif((turn == turn_of(FLOAT_RESULT_STAGE)) & self.float_valid):
                        self._connect(m, write, group, self.float_result, self.float_result.words,
                                      self.float_result.lanes)
                with m.Else():
                    self._connect(m, write, group, self.load, joined(self.load.halves),
                                  mine.replicate(PE_COUNT) & self.load.lanes)

        # Two cycles after it was read the operand is in the output register of its phase's bank.
        operands = {}
        for operand, stage in READ_STAGES.items():
            numbers = [self._turns(m, f"bank_of_{operand}_{group}", bank_shift(stage + 2))
                       for group in range(_GROUPS)]
            operands[operand] = Cat(
                choose([bank[lane] for bank in banks], numbers[lane // _GROUP_LANES]) for lane in range(PE_COUNT))
        m.d.sync += self.rs.eq(operands["rs"])
        m.d.comb += [self.rt.eq(operands["rt"]), self.rd.eq(operands["rd"])]
        return m

    @staticmethod
    def _turns(m: Module, name: str, start: int) -> Signal:
        """The beat, and ``start``, modulo ``BANKS``. Each has a counter of its own, which depends on itself alone: so
        synthesis tools do not make one of them, which would be far from most of what it steers."""
        turn = Signal(BEAT_BITS, name=name, init=start % BANKS)
        m.d.sync += turn.eq(turn + 1)
        return turn

    @staticmethod
    def _connect(m: Module, port: Any, group: int, write: Any, words: Any, enable: Any) -> None:
        """The lanes of a group take words; with the first group goes the address of all."""
        if group == 0:
            m.d.comb += port.addr.eq(bank_address(write.register, write.phase, write.wavefront))
        for lane in range(group * _GROUP_LANES, (group + 1) * _GROUP_LANES):
            m.d.comb += [port.data[lane].eq(words[lane]), port.en[lane].eq(enable[lane])]
