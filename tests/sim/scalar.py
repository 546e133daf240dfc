"""A scalar interpreter: one work-item at a time on plain integers, written apart from the functional engine.

It knows no wavefronts, so it is right only for programs without races between work-items.
"""

from itertools import product

from fgpu.isa import decode
from fgpu.sim.descriptor import KernelDescriptor
from fgpu.sim.memory import GlobalMemory

from ..arithmetic import OPERATIONS, WORD


class WorkItem:
    """Runs one work-item from the entry to its last ``ret``; counts its instructions."""

    def __init__(self, memory, descriptor, group, local, scratchpad_words):
        self.memory, self.descriptor = memory, descriptor
        self.group, self.local = group, local
        self.registers = [0] * 32
        self.scratchpad = [0] * scratchpad_words
        self.instructions = 0

    def runtime(self, mnemonic, index):
        descriptor = self.descriptor
        group, size = self.group[index], descriptor.local_size[index]
        return {
            "lid": self.local[index], "wgid": group, "wgsize": size, "size": descriptor.global_size[index],
            "wgoff": group * size + descriptor.global_offset[index],
            "gid": group * size + self.local[index] + descriptor.global_offset[index],
        }[mnemonic]

    def access(self, mnemonic, address, value):
        """The value that a load returns; None for a store."""
        width = {"b": 1, "h": 2, "w": 4}[mnemonic[1]]
        if mnemonic[0] == "l":
            return int.from_bytes(self.memory.view(address & ~3, 4).tobytes(), "little")
        data = (value % (1 << 8 * width)).to_bytes(width, "little")
        self.memory.view(address & -width, width)[:] = list(data)
        return None

    def run(self, program):
        pc, links, r = self.descriptor.entry, [], self.registers
        while True:
            row, (rd, rs, rt, imm) = decode(program[pc])
            name, result = row.mnemonic, None
            self.instructions += 1
            pc += 1
            if name == "beq" or name == "bne":
                if (r[rd] == r[rs]) == (name == "beq"):
                    pc += imm
            elif name == "jsub":
                links.append(pc)
                pc += imm - 1
            elif name == "ret":
                if not links:
                    return
                pc = links.pop()
            elif name in OPERATIONS:
                second = imm % WORD if row.immediate is not None else r[rt]
                result = OPERATIONS[name](r[rs], second, r[rd])
            elif row.is_load or row.is_store:
                base = r[rt] if row.reads_rt else self.descriptor.parameters[imm]
                result = self.access(name, (base + (r[rs] << row.scale)) % WORD, r[rd])
            elif name == "llwi":
                result = self.scratchpad[(r[rs] + imm) % len(self.scratchpad)]
            elif name == "lswi":
                self.scratchpad[(r[rs] + imm) % len(self.scratchpad)] = r[rd]
            elif name == "lp":
                result = self.descriptor.parameters[imm]
            else:
                result = self.runtime(name, imm)
            if result is not None and rd:
                r[rd] = result % WORD


def run_scalar(program, descriptor: KernelDescriptor, memory: GlobalMemory, scratchpad_words=16) -> int:
    """Run all work-items, dimension 0 fastest; returns the number of work-item instructions."""
    instructions = 0
    for group in product(*map(range, descriptor.work_groups[::-1])):
        for local in product(*map(range, descriptor.local_size[::-1])):
            item = WorkItem(memory, descriptor, group[::-1], local[::-1], scratchpad_words)
            item.run(program)
            instructions += item.instructions
    return instructions
