"""Random assembly programs whose work-items work together: what they read behind a barrier others stored before."""

import random

from fgpu.compiler import assemble
from fgpu.sim.descriptor import KernelDescriptor

from .harness import BASE, SIZE
from .program_generator import Kernel

__all__ = ["exchange"]

_VALUES = BASE                  # a word of each work-item
_RESULTS = BASE + SIZE // 2
_BEGIN = """
    .kernel k
    lp r1, 0            ; values of the work-group
    lp r20, 1
    lid r2, 0
    wgoff r3, 0
    slli r4, r3, 2
    add r1, r1, r4      ; the work-group's own
    add r20, r20, r4
    wgsize r5, 0
    addi r4, r5, -1
    sub r4, r4, r2      ; opposite work-item
    lw r6, r1[r2]       ; value
    li r31, 0
"""
_END = """
    sw r6, r20[r2]
    ret
"""


class _Writer:
    """Writes a program; r1 values, r2 local id, r4 the opposite one, r5 size of the work-group, r6 value."""

    def __init__(self, rng: random.Random, size: int) -> None:
        self.rng, self.size, self.labels = rng, size, 0
        self.lines: list[str] = []
        self.subroutines: list[list[str]] = []

    def emit(self, *lines: str) -> None:
        self.lines += lines

    def label(self) -> str:
        self.labels += 1
        return f"l{self.labels}"

    def delay(self) -> None:
        """Work-items, or wavefronts, take different times, and the former stay apart."""
        rng, loop = self.rng, self.label()
        kind = rng.choice(["none", "items", "values", "wavefronts", "nested"])
        if kind == "none":
            return
        if kind == "wavefronts":
            self.emit("srli r7, r2, 6", f"xori r7, r7, {rng.randrange(8)}", "slli r7, r7, 3")
        else:
            self.emit(f"srli r7, {'r2' if kind == 'items' else 'r6'}, {rng.randrange(4)}",
                      f"andi r7, r7, {rng.choice([1, 3, 7])}")
        self.emit("addi r7, r7, 1", f"{loop}:")
        if kind == "nested":
            skip = self.label()
            self.emit("andi r8, r6, 2", f"beq r8, r0, {skip}", "addi r6, r6, 77", f"{skip}:")
        self.emit("addi r7, r7, -1", f"bne r7, r0, {loop}")

    def leave(self) -> None:
        """Some work-items end, or all of a wavefront."""
        rng, skip = self.rng, self.label()
        if rng.random() < 0.5:
            self.emit("srli r7, r2, 6", f"li r8, {rng.randrange(8)}")
        else:
            self.emit("andi r7, r2, 7", f"li r8, {rng.randrange(8)}")
        self.emit(f"bne r7, r8, {skip}", "sw r6, r20[r2]", "ret", f"{skip}:")

    def partner(self) -> None:
        """r9: the work-item from which this one reads."""
        if self.rng.random() < 0.5:
            self.emit("add r9, r4, r0")
        else:
            self.emit(f"addi r9, r2, {self.rng.randrange(1, self.size + 1)}", "sltu r10, r9, r5", "xori r10, r10, 1",
                      "mul r10, r10, r5", "sub r9, r9, r10")

    def exchange(self) -> None:
        """The value goes to memory, and that of another comes from there; the next may overwrite it."""
        self.partner()
        self.delay()
        early = self.rng.random() < 0.5
        if early:
            self.emit("sw r6, r1[r2]")
        self.delay()
        if not early:
            self.emit("sw r6, r1[r2]")
        self.emit("sync", "lw r11, r1[r9]")
        if self.rng.random() < 0.5:
            self.emit("sync", "slli r6, r6, 1", "add r6, r6, r11")
        else:
            self.emit("slli r6, r6, 1", "add r6, r6, r11")
            self.delay()
            self.emit("sync")

    def round(self) -> None:
        rng = self.rng
        kind = rng.choice(["plain", "plain", "loop", "call", "condition"])
        if kind == "loop":
            loop = self.label()
            self.emit(f"li r12, {rng.randint(2, 4)}", f"{loop}:")
            self.exchange()
            self.emit("addi r12, r12, -1", f"bne r12, r0, {loop}")
        elif kind == "call":
            name, outer, self.lines = self.label(), self.lines, []
            self.emit(f"{name}:")
            self.exchange()
            self.emit("ret")
            self.subroutines.append(self.lines)
            self.lines = outer
            self.emit("sync", f"jsub {name}")
        elif kind == "condition":   # that all of a work-group enter, or none
            skip = self.label()
            self.emit("wgid r13, 0", "andi r13, r13, 1", f"beq r13, r0, {skip}")
            self.exchange()
            self.emit(f"{skip}:")
        else:
            self.exchange()


def exchange(rng: random.Random, size: int | None = None, groups: int | None = None) -> Kernel:
    """A kernel of a few rounds, after some of which some of its work-items end."""
    size = size or rng.choice([1, 8, 63, 64, 65, 128, 130, 192, 250, 320, 449, 512])
    groups = groups or rng.choice([1, 2, 5, 9, 20])
    writer = _Writer(rng, size)
    for _ in range(rng.randint(1, 4)):
        writer.round()
        if rng.random() < 0.3:
            writer.leave()
    text = "\n".join([_BEGIN, *writer.lines, _END, *(line for lines in writer.subroutines for line in lines), ""])
    descriptor = KernelDescriptor(
        entry=0, global_size=(size * groups,), local_size=(size,), parameters=(_VALUES, _RESULTS),
        local_groups=rng.choice([0, 0, 1, 2, 3]), place=rng.random() < 0.3)
    return Kernel(assemble(text).words, descriptor, range(BASE, BASE + SIZE), range(0))
