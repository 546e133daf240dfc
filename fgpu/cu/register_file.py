"""Register file of a compute unit: four banks of block RAM, three operands a cycle (figure 3.6.c)."""

from typing import Any

from amaranth.hdl import Array, Cat, Module, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from fgpu.config import BANK_WORDS, BANKS, PE_COUNT
from fgpu.gateware.block_ram import BlockRam

from .control_word import Issue

__all__ = ["RegisterFile", "RegisterRead", "RegisterWrite", "Words"]

Words = data.ArrayLayout(32, PE_COUNT)
"""A 32-bit word of each processing element."""


class RegisterWrite(data.Struct):
    """A register of the eight work-items of one phase."""

    wavefront: 3
    phase: 3
    register: 5
    lanes: PE_COUNT
    words: Words


class RegisterRead(data.Struct):
    """Numbers of the registers that an instruction reads."""

    rs: 5
    rt: 5
    rd: 5


class RegisterFile(wiring.Component):
    """Registers of 512 work-items.

    A phase's registers are in bank ``phase % 4``. As phases enter in order, one a cycle, and always
    start with ``beat`` = 0, each bank reads rs in the cycle of issue, rt and rd in the next two, without
    conflict. ``rs``, ``rt`` and ``rd`` are valid in stage 3 (three cycles from issue).

    Each bank has one write port. The vector writes the bank ``(beat + 2) % 4`` in each cycle, the floating-point
    units of a core with ``floats`` the bank ``(beat + 1) % 4`` if ``float_valid``. The memory controller must use
    another one. But in a cycle with ``clear`` all four banks take ``load``, whatever its phase.
    """

    def __init__(self, floats: bool = False) -> None:
        self._floats = floats
        members: dict[str, Any] = {
            "beat": In(2),
            "issue": In(data.ArrayLayout(Issue, 3)),        # stages 0 to 2
            "read": In(data.ArrayLayout(RegisterRead, 3)),  # stages 0 to 2
            "rs": Out(Words),
            "rt": Out(Words),
            "rd": Out(Words),
            "result": In(RegisterWrite),
            "load": In(RegisterWrite),
            "clear": In(1),
        }
        if floats:
            members |= {"float_result": In(RegisterWrite), "float_valid": In(1)}
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        banks = []
        for number in range(BANKS):
            bank = BlockRam(data.ArrayLayout(unsigned(32), PE_COUNT), BANK_WORDS)
            m.submodules[f"bank{number}"] = bank
            read, write = bank.read_port(), bank.write_port(granularity=1)
            banks.append(read.data)

            # A bank serves stage k (0: rs, 1: rt, 2: rd) while beat = number + k, and nothing otherwise.
            with m.Switch(self.beat):
                for stage, operand in enumerate(("rs", "rt", "rd")):
                    with m.Case((number + stage) % BANKS):
                        issue = self.issue[stage]
                        m.d.comb += read.addr.eq(
                            Cat(self.read[stage][operand], issue.phase[2], issue.wavefront))
            with m.If((self.beat == (number - 2) % BANKS) & ~self.clear):
                self._connect(m, write, self.result, self.result.lanes)
            if self._floats:
                with m.Elif((self.beat == (number - 1) % BANKS) & self.float_valid):
                    self._connect(m, write, self.float_result, self.float_result.lanes)
            with m.Else():
                mine = (self.load.phase[:2] == number) | self.clear
                self._connect(m, write, self.load, mine.replicate(PE_COUNT) & self.load.lanes)

        q = Array(banks)
        one_ago, two_ago, three_ago = (self.beat - 1)[:2], (self.beat - 2)[:2], (self.beat - 3)[:2]
        rs2 = Signal(Words)
        m.d.sync += [rs2.eq(q[one_ago]), self.rs.eq(rs2), self.rt.eq(q[two_ago])]
        m.d.comb += self.rd.eq(q[three_ago])
        return m

    @staticmethod
    def _connect(m: Module, port: Any, write: Any, enable: Any) -> None:
        m.d.comb += [
            port.addr.eq(Cat(write.register, write.phase[2], write.wavefront)),
            port.data.eq(write.words),
            port.en.eq(enable),
        ]
