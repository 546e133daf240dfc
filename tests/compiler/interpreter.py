"""A plain interpreter of the instruction set, one work-item at a time: the oracle of the compiler's tests.

It shares nothing with the compiler and the simulation engines but the instruction table.
"""

import itertools
import operator
from dataclasses import dataclass, field

import numpy as np

from fgpu.isa import Opcode, decode

MASK = 0xFFFF_FFFF
FIRST_ADDRESS = 0x1000
STEPS_MAX = 200_000


def signed(value):
    return ((value & MASK) ^ 0x8000_0000) - 0x8000_0000


def number(word):
    """The binary32 number of a word."""
    return np.uint32(word).view(np.float32)


def word_of(value):
    """The word of a number; every NaN is the canonical one."""
    return 0x7FC0_0000 if np.isnan(value) else int(np.float32(value).view(np.uint32))


def truncated(value, lowest, highest):
    if np.isnan(value):
        return 0
    return highest if value > highest else lowest if value < lowest else int(value)


OPERATIONS = {
    Opcode.ADD: operator.add, Opcode.SUB: operator.sub, Opcode.MUL: operator.mul, Opcode.AND: operator.and_,
    Opcode.OR: operator.or_, Opcode.XOR: operator.xor,
    Opcode.NOR: lambda a, b: ~(a | b),
    Opcode.SLL: lambda a, b: a << (b & 31),
    Opcode.SRL: lambda a, b: a >> (b & 31),
    Opcode.SRA: lambda a, b: signed(a) >> (b & 31),
    Opcode.SLT: lambda a, b: signed(a) < signed(b),
    Opcode.SLTU: lambda a, b: a < b,
    Opcode.FADD: lambda a, b: word_of(number(a) + number(b)),
    Opcode.FSUB: lambda a, b: word_of(number(a) - number(b)),
    Opcode.FMUL: lambda a, b: word_of(number(a) * number(b)),
    Opcode.FDIV: lambda a, b: word_of(number(a) / number(b)),
    Opcode.FSLT: lambda a, b: number(a) < number(b),
    Opcode.FSQRT: lambda a, b: word_of(np.sqrt(number(a))),
    Opcode.UITOFP: lambda a, b: word_of(np.float32(a)),
    Opcode.ITOFP: lambda a, b: word_of(np.float32(signed(a))),
    Opcode.FPTOSI: lambda a, b: truncated(number(a), -2**31, 2**31 - 1),
    Opcode.FPTOUI: lambda a, b: truncated(number(a), 0, 2**32 - 1),
}
IMMEDIATE = {
    Opcode.ADDI: Opcode.ADD, Opcode.ANDI: Opcode.AND, Opcode.ORI: Opcode.OR, Opcode.XORI: Opcode.XOR,
    Opcode.SLLI: Opcode.SLL, Opcode.SRLI: Opcode.SRL, Opcode.SRAI: Opcode.SRA, Opcode.SLTI: Opcode.SLT,
    Opcode.SLTIU: Opcode.SLTU,
}


@dataclass
class Launch:
    """One launch: ``args`` are NumPy arrays (written back) and numbers."""

    image: object
    kernel: str
    global_size: tuple
    local_size: tuple
    args: list
    offset: tuple = (0, 0, 0)
    scratchpad_words: int = 16
    memory: bytearray = field(default_factory=lambda: bytearray(FIRST_ADDRESS))
    counts: list = field(default_factory=list)

    def run(self):
        """Run all work-items; returns the largest number of instructions that one of them executed."""
        self.code = [decode(word) for word in self.image.words]
        self.global_size = (*self.global_size, 1, 1)[:3]
        self.local_size = (*self.local_size, 1, 1)[:3]
        self.parameters, places = [], []
        for arg in self.args:
            if isinstance(arg, np.ndarray):
                places.append((arg, len(self.memory)))
                self.parameters.append(len(self.memory))
                self.memory += arg.tobytes()
                self.memory += bytes(-len(self.memory) % 64 + 64)
            else:
                self.parameters.append(int(arg) & MASK)
        for z, y, x in itertools.product(*map(range, self.global_size[::-1])):
            self.counts.append(self.work_item((x, y, z)))
        for array, address in places:
            array[...] = np.frombuffer(self.memory, array.dtype, array.size, address).reshape(array.shape)
        return max(self.counts)

    def work_item(self, place):
        local = [p % s for p, s in zip(place, self.local_size, strict=True)]
        group = [p // s for p, s in zip(place, self.local_size, strict=True)]
        runtime = {
            Opcode.LID: local, Opcode.WGID: group, Opcode.SIZE: self.global_size, Opcode.WGSIZE: self.local_size,
            Opcode.WGOFF: [g * s + o for g, s, o in zip(group, self.local_size, self.offset, strict=True)],
            Opcode.GID: [p + o for p, o in zip(place, self.offset, strict=True)],
            Opcode.LP: self.parameters,
        }
        # What a kernel must not rely on: registers hold anything but for r0 and the stack pointer.
        regs = [0, *(0xDEAD_0000 + n for n in range(1, 31)), 0]
        scratchpad = [0xBAD0_0000] * self.scratchpad_words
        pc, links = self.image.kernel(self.kernel).entry, []
        for count in range(1, STEPS_MAX):
            row, (rd, rs, rt, imm) = self.code[pc]
            op, a, b = row.opcode, regs[rs], regs[rt]
            pc += 1
            result = None
            if op in OPERATIONS:
                result = OPERATIONS[op](a, b)
            elif op in IMMEDIATE:
                result = OPERATIONS[IMMEDIATE[op]](a, imm & MASK)
            elif op in runtime:
                result = runtime[op][imm]
            elif op is Opcode.LI:
                result = imm
            elif op is Opcode.LUI:
                result = regs[rd] & 0xFFFF | imm << 16
            elif op is Opcode.MACC:
                result = regs[rd] + a * b
            elif op in (Opcode.MOVN, Opcode.MOVZ):
                result = a if (b != 0) == (op is Opcode.MOVN) else regs[rd]
            elif op in (Opcode.BEQ, Opcode.BNE):
                pc += imm if (regs[rd] == a) == (op is Opcode.BEQ) else 0
            elif row.is_load:
                base = b if row.reads_rt else self.parameters[imm]
                result = self.word((base + (a << row.scale)) & MASK)
            elif row.is_store:
                base = b if row.reads_rt else self.parameters[imm]
                self.store((base + (a << row.scale)) & MASK, regs[rd], 1 << row.scale)
            elif op is Opcode.LLWI:
                result = scratchpad[(a + imm) % self.scratchpad_words]
            elif op is Opcode.LSWI:
                scratchpad[(a + imm) % self.scratchpad_words] = regs[rd]
            elif op is Opcode.JSUB:
                links.append(pc)
                pc += imm - 1
            elif op is Opcode.RET and links:
                pc = links.pop()
            elif op is Opcode.RET:
                assert regs[31] == 0, "the stack pointer is not what it was"
                return count
            else:
                raise NotImplementedError(row.mnemonic)
            if result is not None and rd:
                regs[rd] = int(result) & MASK
        raise AssertionError("the work-item does not end")

    def word(self, address):
        address &= ~3
        assert FIRST_ADDRESS <= address < len(self.memory), hex(address)
        return int.from_bytes(self.memory[address:address + 4], "little")

    def store(self, address, value, size):
        assert FIRST_ADDRESS <= address < len(self.memory), hex(address)
        assert address % size == 0
        self.memory[address:address + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def run(image, kernel, size, args, local=(64,), **options):
    """Run ``kernel`` on the interpreter; returns the instructions of the longest work-item."""
    return Launch(image, kernel, size if isinstance(size, tuple) else (size,), local, args, **options).run()
