"""What all writers of the register file promise together: registers are cleared, and then r0 is never written."""

from functools import partial
from typing import Any
from unittest.mock import patch

from amaranth.hdl import Assert, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import ReadPort, WritePort
from amaranth.utils import exact_log2

from fgpu.config import BANK_WORDS, BANKS, PE_COUNT, Config
from fgpu.cu.control_word import ControlWord, Issue
from fgpu.cu.decoder import Decoder
from fgpu.cu.float_results import _LAST_SLOT, FloatResults, _Context
from fgpu.cu.launcher import Launcher
from fgpu.cu.load_return import LoadReturn
from fgpu.cu.pipeline import OPERAND_STAGE, RESULT_STAGE
from fgpu.cu.register_file import _GROUPS, bank_address, joined
from fgpu.cu.vector import ComputeVector
from fgpu.isa import REGISTER_COUNT

from .prover import Claim

__all__ = ["RegisterClaim", "clearing_claim", "launcher_claim"]

_CONTEXTS = 64


def launcher_claim(launcher: type[Launcher] = Launcher) -> Claim:
    """No work-group is taken, and no wavefront starts, while the registers are cleared after a reset."""
    dut = launcher()
    claim = Claim(dut=dut)
    claim.assume(Mux(claim.past(1), claim.past(dut.clearing) | ~dut.clearing, dut.clearing))
    acts = dut.room | dut.work_groups.ready | dut.busy | dut.start.any() | dut.runtime_write.valid
    claim.always(~dut.clearing | ~acts)
    claim.reachable(dut.start.any())
    claim.invariant(~claim.past(dut.clearing) | ~(claim.inside("dut.able", 1) | dut.busy))
    claim.invariant(~claim.inside("dut.waiting", 1) | dut.busy)
    return claim


def clearing_claim(load_return: type[LoadReturn] = LoadReturn) -> Claim:
    """After ``clear_registers`` zero is written to each place of a bank before ``clear`` falls, and nothing else."""
    dut = load_return(Config(), 16)
    claim = Claim(dut=dut)
    load, clear = dut.load, dut.clear
    claim.assume(~(clear & dut.stations.valid))
    place = claim.constant("place", range(BANK_WORDS))
    here = bank_address(load.register, load.phase, load.wavefront)
    cleared = Signal()
    with claim.m.If(dut.clear_registers):
        claim.m.d.sync += cleared.eq(0)
    with claim.m.Elif(clear & load.lanes.all() & (here == place)):
        claim.m.d.sync += cleared.eq(1)
    claim.always(clear | cleared)
    claim.always(~clear | ~load.lanes.any() | (load.lanes.all() & ~Value.cast(joined(load.halves)).any()))
    claim.always(~claim.past(dut.clear_registers) | clear)
    begins = claim.inside("dut.begins", 1)
    claim.invariant(~begins | (clear & (here == 0)))
    claim.invariant(~clear | Mux(begins, ~load.lanes.any(), load.lanes.all()))
    claim.invariant(~clear | begins | ~Value.cast(joined(load.halves)).any())
    claim.invariant(cleared == (~clear | (~begins & (here > place))))
    return claim


class _NoRam(wiring.Component):
    """The ports of a block RAM without the RAM."""

    def __init__(self, shape: Any, depth: int) -> None:
        self._signature = {"addr_width": (depth - 1).bit_length(), "shape": shape}
        super().__init__({})

    def read_port(self) -> Any:
        self._read = ReadPort.Signature(**self._signature).flip().create()
        return self._read

    def write_port(self, **options: Any) -> Any:
        self._write = WritePort.Signature(**self._signature, **options).flip().create()
        return self._write

    def elaborate(self, platform: object) -> Module:
        return Module()


class _Bank(_NoRam):
    """Stands for a bank of the register file, and claims what its ports must keep. What is read is free."""

    def __init__(self, claim: "RegisterClaim", shape: Any, depth: int) -> None:
        self._claim, self._number = claim, len(claim.banks)
        claim.banks.append(self)
        super().__init__(shape, depth)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        write, clear = self._write, self._claim.loads.clear
        cleared = Signal()
        with m.If(clear & (write.addr == self._claim.place) & write.en.all()):
            m.d.sync += cleared.eq(1)
        m.d.comb += [
            Value.cast(self._read.data).eq(self._claim.read[self._number]),
            Assert(clear | cleared),
            Assert(clear | ~write.en.any() | write.addr[:exact_log2(REGISTER_COUNT)].any()),
            Assert(~clear | (Value.cast(write.data) == Value.cast(joined(self._claim.loads.load.halves)))),
        ]
        return m


class RegisterClaim(Claim):
    """Until ``clear`` falls each register of each bank was written with zero; after that r0 is never written.

    Any instructions, loads and results of the floating-point units, in any order; none before ``clear`` falls.
    """

    def __init__(self, config: Config, *, decoder: type[Decoder] = Decoder,
                 load_return: type[LoadReturn] = LoadReturn,
                 float_results: type[FloatResults] = FloatResults,
                 compute_vector: type[ComputeVector] = ComputeVector) -> None:
        vector, decode, results = compute_vector(config), decoder(config), float_results()
        self.loads = load_return(config, 16)
        super().__init__(vector=vector, loads=self.loads, decoder=decode, results=results)
        m, clear = self.m, self.loads.clear
        self.banks: list[_Bank] = []
        self.read = [self.free(f"read{number}", 32 * PE_COUNT) for number in range(BANKS)]
        self.place = self.constant("place", range(BANK_WORDS))
        beat = Signal(2)
        m.d.sync += beat.eq(beat + 1)
        for unit in (self.loads, results):
            self.drive(unit.beat, beat)
        # The scheduler's registers behind the decoder, filled when it likes.
        decoded, control = Signal(ControlWord), Signal(ControlWord)
        m.d.sync += decoded.eq(decode.control)
        with m.If(self.free("issues")):
            m.d.sync += control.eq(decoded)
        self.drive(vector.control, control)
        self.drive(self.loads.clear_registers, Const(0))
        self.drive(vector.load, self.loads.load)
        self.drive(vector.clear, clear)
        self.drive(results.issue, vector.issue)
        self.drive(results.rd, control.rd)
        self.drive(vector.float_valid, results.valid)
        place = Cat(results.place[name] for name in ("wavefront", "phase", "register", "lanes"))
        self.drive(vector.float_result, Cat(place, self.free("float_words", 32 * PE_COUNT)))
        self.assume(~(clear & (self.loads.stations.valid | results.commit.accept | vector.issue.valid)))

        self.always(~clear | ~Value.cast(joined(self.loads.load.halves)).any())
        self.always(~self.past(~clear) | ~clear)
        self._state_invariants(control, decoded, beat)

    def check(self, *arguments: Any, **options: Any) -> tuple[bool, str]:
        self.banks.clear()
        # What is read from the runtime memory only goes into results.
        with (patch("fgpu.cu.register_file.BlockRam", partial(_Bank, self)),
              patch("fgpu.cu.runtime_memory.BlockRam", _NoRam)):
            return super().check(*arguments, **options)

    def _state_invariants(self, control: Any, decoded: Any, beat: Signal) -> None:
        """Who carries a permission to write carries a register that may be written."""
        m, clear, load = self.m, self.loads.clear, self.loads.load
        self.invariant(~decoded.write | decoded.rd.any())
        self.invariant(~control.write | control.rd.any())
        stage: dict[int, Any] = {}
        for number in range(1, RESULT_STAGE + 1):
            word = self.inside(f"vector.control{number}", ControlWord.as_shape().size)
            stage[number] = data.View(ControlWord, word)
            self.invariant(~stage[number].write | stage[number].rd.any())
        for number in range(OPERAND_STAGE, RESULT_STAGE):
            issued = data.View(Issue, self.inside(f"vector.issue{number}", Issue.as_shape().size))
            second = self.inside(f"vector.second_control{number}", ControlWord.as_shape().size)
            self.invariant(~issued.valid | (second == stage[number].as_value()))
        for lane in range(PE_COUNT):
            for number in range(5, RESULT_STAGE + 1):
                name = "write5" if number == 5 else f"write_{number - 6}"
                self.invariant(~self.inside(f"vector.pe{lane}.{name}", 1) | stage[number].rd.any())
        here = bank_address(load.register, load.phase, load.wavefront)
        self.invariant(Mux(clear, load.lanes.all(), ~load.lanes.any() | load.register.any()))
        for group in range(_GROUPS):
            self.invariant(self.inside(f"vector.registers.beat{group}", 2) == beat)
        for number in range(BANKS):
            cleared = self.inside(f"vector.registers.bank{number}.cleared", 1)
            self.invariant(cleared == (~clear | (here > self.place)))
            for group in range(_GROUPS):
                self.invariant(~clear | ~self.inside(f"vector.registers.takes_result{number}_{group}", 1))
            self.invariant(self.inside(f"vector.registers.turn{number}", 2) == (beat + number)[:2])
        self.invariant(~self.inside("loads.begins", 1))

        # Contexts are good once they are written, which all are long before the first is used.
        cycles = Signal(range(_CONTEXTS + 1))
        with m.If(cycles != _CONTEXTS):
            m.d.sync += cycles.eq(cycles + 1)
        self.invariant((cycles == _CONTEXTS) | (cycles == Cat(beat, self.inside("results.now", 4))))
        self.invariant((cycles == _CONTEXTS) | (clear & (cycles == here)))
        self.invariant(~clear | ~self.inside("results.taken", _LAST_SLOT + 1).any())
        for number in range(_CONTEXTS):
            context = data.View(_Context, self.inside(f"results.contexts[{number}]", _Context.as_shape().size))
            self.invariant((cycles <= number) | ~context.lanes.any() | context.register.any())
