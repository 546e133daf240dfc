"""Random programs that end and do not race, over the whole instruction set that a core has.

Every work-item works on random data, in registers, scratchpad and global memory (see :mod:`.program_statements`),
under branches, loops and calls, and stores its registers at its end.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from fgpu.config import Config
from fgpu.sim.descriptor import KernelDescriptor

from .program_statements import RUNTIME, Label, Statements

__all__ = ["Kernel", "generate"]

_FLOATS = 4
"""Floating point among the statements, as often as the other arithmetic."""
_LOCALS = 4
"""Statements about local memory."""


@dataclass(frozen=True)
class Kernel:
    """A program, how it runs, and the memory that it touches."""

    program: list[int]
    descriptor: KernelDescriptor
    memory: range
    input: range
    """The part of ``memory`` that is only read."""


class _Generator(Statements):
    """Writes one program: control flow, and what comes before and after."""

    def _random_skip(self, target: Label) -> None:
        """Branch to ``target`` for none, some or all work-items."""
        rng, name = self.rng, self.rng.choice(["beq", "bne"])
        way = rng.random()
        if way < 0.6:       # one bit, or two, diverge most
            self.code.op("andi", self.t1, self._source(), imm=rng.choice([1, 2, 3, 4, 12, 32, 64]))
            self.code.jump(name, target, self.t1, rng.choice([0, 0, self._source()]))
        else:
            register = self._source()
            self.code.jump(name, target, register, register if way < 0.7 else self._source())

    def conditional(self, level: int, loops: int) -> None:
        end, otherwise = Label(), Label()
        self._random_skip(otherwise)
        self.block(self.rng.randint(0, 4), level, loops, nested=True)
        if self.rng.random() < 0.5:
            self.code.jump("beq", end)
        self.code.place(otherwise)
        if self.rng.random() < 0.5:
            self.block(self.rng.randint(1, 3), level, loops, nested=True)
        self.code.place(end)

    def loop(self, level: int, counter: int) -> None:
        """Up to five turns, for each work-item its own number or for all the same."""
        code, rng = self.code, self.rng
        if rng.random() < 0.5:
            code.op("andi", counter, self._source(), imm=3)
        else:
            code.op("li", counter, imm=rng.randint(0, 4))
        top, end = Label(), Label()
        if rng.random() < 0.5:
            code.op("addi", counter, counter, imm=1)
            code.place(top)
            self.block(rng.randint(1, 4), level, 0, nested=True)
            code.op("addi", counter, counter, imm=-1)
            code.jump("bne", top, counter)
        else:
            code.place(top)
            code.jump("beq", end, counter)
            self.block(rng.randint(1, 4), level, 0, nested=True)
            code.op("addi", counter, counter, imm=-1)
            code.jump("beq", top)
            code.place(end)

    def recursion_call(self) -> None:
        if self.config.link_stack_depth > 8:
            self.code.op("andi", self.recursion, self._source(), imm=3)
            self.code.jump("jsub", self.recursive)

    def block(self, statements: int, level: int, loops: int, nested: bool = False) -> None:
        """Statements of a subroutine of ``level`` (0: the outermost), which may call those of higher levels."""
        rng = self.rng
        simple: list[Callable[[], None]] = [
            self.alu, self.alu, self.alu, self.alu, self.runtime, self.scratchpad, self.access_own, self.load_input,
            self.access_interleaved, self.access_permuted, self.access_wavefront, self.store_constant]
        if self.config.atomics:
            simple.append(self.atomic_shared)
        if self.config.float_ops:
            simple += [self.floats] * _FLOATS
        if self.uses_local:
            simple += [self.access_local, self.access_local, self.compare_local, self.atomic_local]
        for _ in range(statements):
            choice = rng.random()
            if self.uses_local and level == 0 and not nested and rng.random() < 0.25:
                self.exchange_local()
            if choice < self.control * (0.5 if nested else 1):
                kind = rng.choice(["if", "if", "loop", "call", "recursion"])
                if kind == "if":
                    self.conditional(level, loops)
                elif kind == "loop" and loops:
                    self.loop(level, self.counters[level])
                elif kind == "call" and level < len(self.subroutines) - 1 and (not nested or rng.random() < 0.4):
                    self.code.jump("jsub", rng.choice(self.subroutines[level + 1]))
                elif kind == "recursion" and level == 0 and not nested:
                    self.recursion_call()
            else:
                rng.choices(simple, self.weights[:len(simple)])[0]()

    # -- the program ------------------------------------------------------------------------------

    def prologue(self) -> None:
        """The work-item's number, pointers, and random data in all registers."""
        code, rng, t1, t2 = self.code, self.rng, self.t1, self.t2
        dimensions = len(self.local)
        # The number of the group in t1, of the work-item within it in id.
        for register, name, extents in ((t1, "wgid", self.groups), (self.id, "lid", self.local)):
            code.op(name, register, imm=dimensions - 1)
            for dimension in reversed(range(dimensions - 1)):
                if name == "lid" and rng.random() < 0.5:
                    code.op("wgsize", self.own, imm=dimension)
                else:
                    self.constant(self.own, extents[dimension])
                code.op("mul", register, register, self.own)
                code.op(name, self.own, imm=dimension)
                code.op("add", register, register, self.own)
        if self.uses_local:
            code.op("add", self.local_id, self.id, 0)
        self.constant(self.shared, self.group_wavefronts)
        code.op("srli", t2, self.id, imm=6)
        code.op("macc", t2, t1, self.shared)
        code.op("slli", t2, t2, imm=6)
        self.constant(self.shared, self.regions["wavefront"])
        code.op("add", self.shared, self.shared, t2)
        self.constant(t2, self.group_items)
        code.op("macc", self.id, t1, t2)
        code.op("slli", t1, self.id, imm=6)
        self.constant(self.own, self.regions["own"])
        code.op("add", self.own, self.own, t1)

        self.constant(t2, self.regions["input"])
        code.op("andi", t1, self.id, imm=255)
        for register in rng.sample(self.data, len(self.data)):
            way = rng.random()
            if way < 0.4:
                code.op("addi", t2, t2, imm=4 * rng.randint(0, 30))
                code.op("lw", register, t1, t2)
            elif way < 0.8:
                self.constant(register, self._value())
            elif way < 0.9:
                code.op("addi", register, self.id, imm=rng.randint(-600, 600))
            else:
                code.op(rng.choice(RUNTIME), register, imm=rng.randrange(dimensions))
        if self.uses_scratchpad:
            for word in range(self.config.scratchpad_words):
                code.op("lswi", rng.choice(self.data), imm=word)
        for counter in (*self.counters, self.recursion):
            code.op("li", counter, imm=0)
        if self.uses_local:
            self.begin_local()

    def epilogue(self) -> None:
        """Every register to memory, work-item after work-item or register after register."""
        code, t1, t2 = self.code, self.t1, self.t2
        if self.uses_local:
            self.end_local()
        registers = [*self.data, *self.counters, self.recursion, self.id, self.own, self.shared]
        by_register = 4 * self.items < 1 << 13 and self.rng.random() < 0.7
        self.constant(t1, self.regions["dump"])
        if not by_register:
            code.op("slli", t2, self.id, imm=7)
            code.op("add", t1, t1, t2)
        for register in registers:
            code.op("sw", register, self.id if by_register else 0, t1)
            code.op("addi", t1, t1, imm=4 * self.items if by_register else 4)
        code.op("ret")

    def _recursive_subroutine(self) -> None:
        code, end = self.code, Label()
        code.place(self.recursive)
        code.jump("beq", end, self.recursion)
        code.op("addi", self.recursion, self.recursion, imm=-1)
        self.block(2, 9, 0)
        code.jump("jsub", self.recursive)
        self.alu()
        code.place(end)
        code.op("ret")

    def _local_fields(self) -> dict[str, int]:
        """What the descriptor says of local memory."""
        if not self.uses_local:
            return {}
        rows = -(-self.local_words // 8)
        groups = 1024 * self.config.local_memory // (32 * rows)
        return {"local_rows": rows, "local_groups": groups if groups < 8 else 0}

    def kernel(self, statements: int) -> Kernel:
        """All subroutines in any order, with what is no instruction between them."""
        rng, code = self.rng, self.code
        # Divergence alone takes 6 entries of the stacks, each call one.
        deep = self.config.link_stack_depth > 8
        self.control = rng.choice([0.0, 0.1, 0.25, 0.4])
        count = 13 + (_FLOATS if self.config.float_ops else 0) + (_LOCALS if self.uses_local else 0)
        self.weights = [rng.choice([1, 1, 1, 4, 8]) for _ in range(count)]
        self.recursive = Label()
        self.subroutines: list[list[Label]] = [
            [Label()], [Label() for _ in range(rng.randint(1, 2))], *([[Label()]] * deep)]
        entry = Label()

        def main() -> None:
            code.place(entry)
            self.prologue()
            if rng.random() < 0.75:     # the parts of a diverged wavefront meet before they store their registers
                code.jump("jsub", self.subroutines[0][0])
            else:
                self.block(statements // 3, 1, 0)
            self.epilogue()

        def subroutine(label: Label, level: int, length: int) -> Callable[[], None]:
            def write() -> None:
                code.place(label)
                self.block(length, level, loops=1)
                code.op("ret")
            return write

        parts = [main, self._recursive_subroutine]
        for level, labels in enumerate(self.subroutines):
            parts += [subroutine(label, level, statements if level == 0 else rng.randint(1, 6)) for label in labels]
        for part in rng.sample(parts, len(parts)):
            code.items += [rng.getrandbits(32) for _ in range(rng.choice([0, 0, 1, 2, 3]))]
            part()
        assert entry.at is not None
        words = code.words()
        descriptor = KernelDescriptor(
            entry=entry.at, global_size=self.global_size, local_size=self.local, global_offset=self.offsets,
            work_groups=self.groups, parameters=self.parameters, **self._local_fields())
        return Kernel(words, descriptor, self.memory, self.input)


def generate(rng: random.Random, config: Config, base: int, size: int, wavefronts: int = 12) -> Kernel:
    """A random kernel that touches at most ``size`` bytes at ``base`` and has at most so many wavefronts."""
    while True:
        generator = _Generator(rng, config, base, size, wavefronts)
        kernel = generator.kernel(rng.randint(2, max(3, 40 - 2 * generator.wavefronts)))
        if len(kernel.program) <= config.cram_words:
            return kernel
