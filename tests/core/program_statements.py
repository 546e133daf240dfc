"""The statements without branches that random programs are made of, over the whole instruction set that
a core has.

Work-items share memory only in ways whose outcome no schedule changes:

=============  ==============================================================================
own            64 bytes of each work-item, at any width and alignment
interleaved    word, half-word or byte ``k * work-items + id``: neighbours share rows and words
permuted       word or byte ``(id * odd + c) % 2**n``
input          read only: random, strided, or one word for all
constants      a word that every work-item stores the same value to
wavefront      64 bytes of each wavefront, where its work-items overwrite each other in lock step
atomic         words for one atomic operation each, by all, with results that nobody uses
local          two words of each work-item in local memory, at any width; words for one atomic
               operation each; and a word of each for others, who read it between two barriers
=============  ==============================================================================

Atomic operations whose results matter work on words of the other regions, where the order is known.
"""

import math
import random
from dataclasses import dataclass, field

from fgpu.config import LOCAL_BASE, WAVEFRONT_SIZE, WORK_GROUP_MAX, Config
from fgpu.isa import Format, Instruction, Operands, Unit, by_mnemonic, encode

__all__ = ["Code", "Label", "Statements", "corners", "random_index_space"]

_CORNERS = (
    0, 1, 2, 3, 31, 32, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001,
    0xFFFF_8000, 0xFFFF_FFFE, 0xFFFF_FFFF, 0xAAAA_AAAA, 0x5555_5555)
# Limits of subnormals and numbers, one and its neighbours, powers of two near those of integers, infinity, NaNs.
_FLOAT_CORNERS = (
    0x007F_FFFF, 0x0080_0000, 0x3F7F_FFFF, 0x3F80_0000, 0x3F80_0001, 0x4B00_0001, 0x4EFF_FFFF, 0x4F00_0000,
    0x4F80_0000, 0x7F7F_FFFF, 0x7F80_0000, 0x7F80_0001, 0x7FC0_0000)

INPUT_WORDS = 1024
_OWN_BYTES = 64
_INTERLEAVED = 4            # elements of each work-item
_CONSTANTS = 64
_UNITS = (Unit.ADD, Unit.SHIFT, Unit.LOGIC, Unit.MOVE, Unit.MULTIPLY, Unit.COMPARE)
_ALU = [row for row in by_mnemonic.values() if row.unit in _UNITS]
RUNTIME = ("lid", "wgoff", "size", "wgid", "wgsize", "gid")
_BYTES = {"w": 4, "h": 2, "b": 1}
_ATOMIC_BYTES = 512
_LOCAL_OWN = 2              # words of each work-item
_LOCAL_SHARED = ("add", "xor", "umax", "and")


def corners(config: Config) -> tuple[int, ...]:
    """Words that find errors."""
    if not config.float_ops:
        return _CORNERS
    return (*_CORNERS, *_FLOAT_CORNERS, *(word | 1 << 31 for word in _FLOAT_CORNERS))


@dataclass
class Label:
    """A place in the program, known when it is complete."""

    at: int | None = None


@dataclass
class Code:
    """A program under construction."""

    items: list[int | tuple[Instruction, int, int, Label]] = field(default_factory=list)

    def op(self, mnemonic: str, rd: int = 0, rs: int = 0, rt: int = 0, imm: int = 0) -> None:
        self.items.append(encode(by_mnemonic[mnemonic].opcode, Operands(rd, rs, rt, imm)))

    def jump(self, mnemonic: str, label: Label, rd: int = 0, rs: int = 0) -> None:
        self.items.append((by_mnemonic[mnemonic], rd, rs, label))

    def place(self, label: Label) -> None:
        label.at = len(self.items)

    def words(self) -> list[int]:
        words = []
        for here, item in enumerate(self.items):
            if isinstance(item, tuple):
                row, rd, rs, label = item
                assert label.at is not None
                item = encode(row.opcode, Operands(rd, rs, imm=label.at - here - row.is_branch))
            words.append(item)
        return words


def random_index_space(rng: random.Random, wavefronts: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Local size and work-groups, of at most so many wavefronts altogether."""
    most = min(WORK_GROUP_MAX, wavefronts * WAVEFRONT_SIZE)
    items = min(most, rng.choice([
        rng.randint(1, 9), rng.randint(1, 63), 64, rng.randint(1, 512), rng.randint(65, 200), 128, 512,
        64 * rng.randint(1, 8), 64 * rng.randint(1, 8) + rng.choice([-1, 1])]))
    dimensions = rng.randint(1, 3)
    local = [items]
    for _ in range(dimensions - 1):
        divisors = [n for n in range(1, local[-1] + 1) if local[-1] % n == 0]
        first = rng.choice([rng.choice(divisors), rng.randint(1, local[-1])])
        local = [*local[:-1], first, max(local[-1] // first, 1)]
    rng.shuffle(local)
    left = wavefronts // -(-math.prod(local) // WAVEFRONT_SIZE)
    groups = []
    for _ in range(dimensions):
        groups.append(rng.randint(1, left))
        left //= groups[-1]
    rng.shuffle(groups)
    return tuple(local), tuple(groups)


class Statements:
    """Writes statements of one program. Lower-case attributes that name registers hold their numbers."""

    def __init__(self, rng: random.Random, config: Config, base: int, size: int, wavefronts: int) -> None:
        self.rng, self.config, self.code = rng, config, Code()
        self.local, self.groups = random_index_space(rng, rng.choice([1, 2, wavefronts]))
        self.corners = corners(config)
        self.group_items = math.prod(self.local)
        self.items = self.group_items * math.prod(self.groups)
        self.group_wavefronts = -(-self.group_items // WAVEFRONT_SIZE)
        self.wavefronts = self.group_wavefronts * math.prod(self.groups)

        registers = rng.sample(range(1, 32), 31)
        self.id, self.own, self.shared, self.t1, self.t2, self.recursion, *rest = registers
        self.counters, self.data = rest[:4], rest[4:]
        self.uses_local = config.local_memory > 0 and rng.random() < 0.8
        if self.uses_local:
            self.local_id = self.data.pop()
        # Few registers depend on each other more.
        self.hot = rng.sample(self.data, rng.randint(3, len(self.data)))

        self.permutation = 2 * rng.randrange(1 << 10) + 1, rng.randrange(1 << 10)
        self.permuted_items = 1 << (self.items - 1).bit_length()
        self.uses_scratchpad = config.scratchpad_words > 0 and rng.random() < 0.6
        self._place_regions(base, size)
        self.parameters = self._parameters()
        self.global_size = tuple(rng.randint(1, 1 << 20) for _ in self.local)
        self.offsets = tuple(rng.choice([0, 0, 1, rng.getrandbits(32), 0xFFFF_FFFF]) for _ in self.local)
        self.constants = {4 * word: self._value() for word in rng.sample(range(_CONSTANTS), 4)}

    def _place_regions(self, base: int, size: int) -> None:
        sizes = {"input": 4 * INPUT_WORDS, "own": _OWN_BYTES * self.items, "constants": 4 * _CONSTANTS,
                 "wavefront": 64 * self.wavefronts, "dump": 4 * 32 * self.items,
                 "permuted_w": 4 * self.permuted_items, "permuted_b": self.permuted_items}
        sizes |= {f"interleaved_{width}": _BYTES[width] * _INTERLEAVED * self.items for width in _BYTES}
        if self.config.atomics:
            sizes["atomic"] = _ATOMIC_BYTES
        names = self.rng.sample(list(sizes), len(sizes))
        at = 0
        self.regions = {}
        for name in names:
            at += 64 * self.rng.choice([0, 0, 0, 1, 2, 5])
            self.regions[name] = at
            at += -(-sizes[name] // 64) * 64
        start = base + 64 * self.rng.randint(0, (size - at) // 64)
        self.regions = {name: start + offset for name, offset in self.regions.items()}
        self.memory = range(start, start + at)
        self.input = range(self.regions["input"], self.regions["input"] + sizes["input"])

    def _parameters(self) -> tuple[int, ...]:
        """Addresses of some regions among random words."""
        count = self.rng.choice([0, 1, 2, 3, 5, 8, 15, 16])
        return tuple(self.rng.sample([*self.regions.values(), *(self._value() for _ in range(8))], count))

    def _value(self) -> int:
        return self.rng.choice([self.rng.choice(self.corners), self.rng.getrandbits(32), self.rng.randint(0, 40)])

    # -- pieces of statements ---------------------------------------------------------------------

    def _source(self) -> int:
        return self.rng.choice([0, self.id, *self.hot * 2])

    def _target(self) -> int:
        return self.rng.choice(self.hot) if self.rng.random() < 0.97 else 0

    def constant(self, register: int, value: int) -> None:
        """A constant, in one of the ways in which kernels get them."""
        if value in self.parameters and self.rng.random() < 0.6:
            self.code.op("lp", register, imm=self.parameters.index(value))
            return
        low = (value & 0xFFFF) - (0x10000 if value & 0x8000 else 0)
        self.code.op("li", register, imm=low)
        if low & 0xFFFF_FFFF != value or self.rng.random() < 0.1:
            self.code.op("lui", register, imm=value >> 16)

    def _add_constant(self, rd: int, rs: int, value: int) -> None:
        """``rd`` = ``rs`` + ``value``, in two instructions where one cannot hold it; ``rd`` must not be ``rs``."""
        if value in by_mnemonic["addi"].immediate_range:
            self.code.op("addi", rd, rs, imm=value)
        else:
            self.constant(rd, value)
            self.code.op("add", rd, rd, rs)

    def _aligned_word_at(self, rd: int, address: int, width: str) -> None:
        """After a sub-word load: keep only the element, as its neighbours belong to others."""
        if width == "w":
            return
        self.code.op("slli", address, address, imm=3)
        if width == "h":
            self.code.op("andi", address, address, imm=16)
        self.code.op("srl", rd, rd, address)
        for shift in ("slli", "srli"):
            self.code.op(shift, rd, rd, imm=32 - 8 * _BYTES[width])

    # -- statements -------------------------------------------------------------------------------

    def alu(self) -> None:
        row = self.rng.choice(_ALU)
        imm = 0
        if row.immediate is not None:
            allowed = row.immediate_range
            imm = self.rng.choice([self.rng.choice(allowed), allowed[0], allowed[-1], 0, 1])
        rs = 0 if row.format is Format.RD_IMM else self._source()
        rt = self._source() if row.format is Format.RD_RS_RT else 0
        self.code.op(row.mnemonic, self._target(), rs, rt, imm)

    def floats(self) -> None:
        """Some floating-point instructions, of any latency after any other."""
        names = sorted(self.config.float_ops)
        for _ in range(self.rng.choice([1, 1, 2, 4])):
            row = by_mnemonic[self.rng.choice(names)]
            self.code.op(row.mnemonic, self._target(), self._source(), self._source() if row.reads_rt else 0)

    def runtime(self) -> None:
        if self.parameters and self.rng.random() < 0.3:
            self.code.op("lp", self._target(), imm=self.rng.randrange(len(self.parameters)))
        else:
            self.code.op(self.rng.choice(RUNTIME), self._target(), imm=self.rng.randrange(3))

    def scratchpad(self) -> None:
        if not self.uses_scratchpad:
            return
        name, rd, rs = self.rng.choice(["llwi", "lswi"]), self._target(), self.rng.choice([0, self._source()])
        imm = self.rng.randint(-(1 << 13), (1 << 13) - 1)
        if self.config.scratchpad_check:
            words = self.config.scratchpad_words
            self.code.op("andi", self.t1, rs, imm=words - 1)
            rs, imm = self.t1, -(imm % (words + 1))
        self.code.op(name, rd, rs, imm=imm)

    def access_own(self) -> None:
        self._access_64_bytes(self.own)

    def access_wavefront(self) -> None:
        self._access_64_bytes(self.shared)

    def _access_64_bytes(self, pointer: int) -> None:
        """Base and index in one of the ways that stay within the 64 bytes at ``pointer``."""
        code, rng, t1, t2 = self.code, self.rng, self.t1, self.t2
        width = self._width()
        count, scale = _OWN_BYTES // _BYTES[width], {"w": 2, "h": 1, "b": 0}[width]
        rd = self._target()
        way = rng.choice(["masked", "masked", "first", "negative", "unaligned", "no base", "parameter"])
        aligned = [number for number, value in enumerate(self.parameters) if value % _BYTES[width] == 0]
        if way == "first":
            self._access(width, rd, 0, pointer)
        elif way == "no base":
            code.op("srli", t1, pointer, imm=scale)
            self._access(width, rd, t1, 0)
        elif way == "parameter" and aligned:
            number = rng.choice(aligned)
            code.op("andi", t1, self._source(), imm=count - 1)
            code.op("slli", t1, t1, imm=scale)
            code.op("add", t1, t1, pointer)
            code.op("lp", t2, imm=number)
            code.op("sub", t1, t1, t2)
            code.op("srli", t1, t1, imm=scale)
            code.op(rng.choice("ls") + width + "p", rd, t1, imm=number)
        else:
            code.op("andi", t1, self._source(), imm=count - 1)
            base = pointer
            if way == "negative":
                code.op("addi", t1, t1, imm=-count)
                code.op("addi", t2, pointer, imm=_OWN_BYTES)
                base = t2
            elif way == "unaligned":
                code.op("addi", t2, pointer, imm=rng.randrange(_BYTES[width]))
                base = t2
            self._access(width, rd, t1, base)

    def _access(self, width: str, rd: int, index: int, base: int) -> None:
        """A load, a store or an atomic operation."""
        if width != "w" or not self.config.atomics or self.rng.random() < 0.6:
            self.code.op(self.rng.choice("ls") + width, rd, index, base)
        else:
            self._atomic(self.rng.choice(sorted(self.config.atomics)), rd, index, base)

    def _atomic(self, name: str, rd: int, index: int, base: int) -> None:
        if name == "cmpxchg":
            expected = self._source()
            self.code.op("slli", self.t1, index, imm=2)
            self.code.op("add", self.t1, self.t1, base)
            if self.rng.random() < 0.5:         # what is there
                self.code.op("lw", self.t2, 0, self.t1)
                expected = self.t2
            self.code.op("acmpxchg", rd, self.t1, expected)
        else:
            self.code.op(f"a{name}", rd, base, index)

    def atomic_shared(self) -> None:
        """An operation whose order does not matter, on words that see no other."""
        code, t1, t2 = self.code, self.t1, self.t2
        names = sorted(self.config.atomics - {"xchg", "cmpxchg"})
        if not names:
            return
        name = self.rng.choice(names)
        self.constant(t2, self.regions["atomic"] + _ATOMIC_BYTES // 8 * names.index(name))
        code.op("andi", t1, self._source(), imm=self.rng.choice([0, 1, 15]))
        code.op("slli", t1, t1, imm=2)
        code.op("add", t2, t2, t1)
        code.op("add", t1, self._source(), 0)
        code.op(f"a{name}", t1, t2, 0)

    def _width(self, widths: str = "whb") -> str:
        """Width of an access; of words only where the hardware lacks the others."""
        return self.rng.choice(widths) if self.config.sub_integer_stores else "w"

    def access_interleaved(self) -> None:
        code, t1, t2 = self.code, self.t1, self.t2
        width = self._width()
        index = self.rng.randrange(_INTERLEAVED)
        if self.rng.random() < 0.5:
            code.op("andi", t1, self._source(), imm=_INTERLEAVED - 1)
            self.constant(t2, self.items)
            code.op("mul", t1, t1, t2)
            code.op("add", t1, t1, self.id)
        else:
            self._add_constant(t1, self.id, index * self.items)
        self.constant(t2, self.regions[f"interleaved_{width}"])
        self._access_element(width)

    def access_permuted(self) -> None:
        code, t1, t2 = self.code, self.t1, self.t2
        width = self._width("wb")
        factor, addend = self.permutation
        self.constant(t2, factor)
        code.op("mul", t1, self.id, t2)
        code.op("addi", t1, t1, imm=addend)
        if self.permuted_items > 1 << 13:
            raise ValueError("too many work-items")
        code.op("andi", t1, t1, imm=self.permuted_items - 1)
        self.constant(t2, self.regions[f"permuted_{width}"])
        self._access_element(width)

    def _access_element(self, width: str) -> None:
        """Element t1 of the array at t2."""
        if width == "w" and self.config.atomics and self.rng.random() < 0.3:
            self._access(width, self._target(), self.t1, self.t2)
        elif self.rng.random() < 0.5:
            self.code.op(f"s{width}", self._target(), self.t1, self.t2)
        else:
            rd = self.rng.choice(self.hot)
            self.code.op(f"l{width}", rd, self.t1, self.t2)
            if width == "h":
                self.code.op("slli", self.t1, self.t1, imm=1)
            self._aligned_word_at(rd, self.t1, width)

    # In local memory: first a word of each work-item for others, then own ones, then those of all.
    @property
    def local_words(self) -> int:
        return (1 + _LOCAL_OWN) * self.group_items + len(_LOCAL_SHARED)

    def _local_address(self, word: int) -> int:
        return LOCAL_BASE + 4 * word

    def _local_own(self, number: int) -> int:
        return self._local_address((1 + number) * self.group_items)

    def _local_shared(self, number: int) -> int:
        return self._local_address((1 + _LOCAL_OWN) * self.group_items + number)

    def begin_local(self) -> None:
        """Every word has a value, and everybody knows it."""
        for number in range(_LOCAL_OWN):
            self.constant(self.t2, self._local_own(number))
            self.code.op("lsw", self.rng.choice(self.data), self.local_id, self.t2)
        for number in range(len(_LOCAL_SHARED)):
            self.constant(self.t2, self._local_shared(number))
            self.constant(self.t1, self.rng.getrandbits(32))
            self.code.op("lsw", self.t1, 0, self.t2)
        self.code.op("sync")

    def end_local(self) -> None:
        """Registers get what is there."""
        self.code.op("sync")
        addresses = [self._local_shared(number) for number in range(len(_LOCAL_SHARED))]
        for number, register in enumerate(self.rng.sample(self.data, _LOCAL_OWN + len(_LOCAL_SHARED))):
            is_own = number < _LOCAL_OWN
            self.constant(self.t2, self._local_own(number) if is_own else addresses[number - _LOCAL_OWN])
            self.code.op("llw", register, self.local_id if is_own else 0, self.t2)

    def access_local(self) -> None:
        """An own word, or a part of it."""
        code, rng, t1, t2 = self.code, self.rng, self.t1, self.t2
        width = rng.choice("wwhb")
        self.constant(t2, self._local_own(rng.randrange(_LOCAL_OWN)))
        if width == "w":
            if rng.random() < 0.4:
                code.op(f"la{rng.choice([*_LOCAL_SHARED, 'max', 'min', 'umin', 'or', 'xchg'])}", self._target(), t2,
                        self.local_id)
                return
            code.op("add", t1, self.local_id, 0)
        else:
            parts = 4 // _BYTES[width]
            code.op("slli", t1, self.local_id, imm=parts // 2)
            if rng.random() < 0.5:
                code.op("addi", t1, t1, imm=rng.randrange(parts))
        store = rng.random() < 0.5
        code.op(f"ls{width}" if store else f"ll{width}", self._source() if store else self._target(), t1, t2)

    def compare_local(self) -> None:
        code, t1, t2 = self.code, self.t1, self.t2
        self.constant(t2, self._local_own(self.rng.randrange(_LOCAL_OWN)))
        code.op("slli", t1, self.local_id, imm=2)
        code.op("add", t1, t1, t2)
        if self.rng.random() < 0.5:
            code.op("llw", t2, 0, t1)
        code.op("lacmpxchg", self._target(), t1, t2)

    def atomic_local(self) -> None:
        number = self.rng.randrange(len(_LOCAL_SHARED))
        self.constant(self.t2, self._local_shared(number))
        self.code.op("add", self.t1, self._source(), 0)
        self.code.op(f"la{_LOCAL_SHARED[number]}", self.t1, self.t2, 0)

    def exchange_local(self) -> None:
        """Where all work-items come, parted or not: a word for another one."""
        code, t1, t2 = self.code, self.t1, self.t2
        self.constant(t2, self._local_address(0))
        code.op("lsw", self._source(), self.local_id, t2)
        code.op("sync")
        self.constant(t1, self.group_items - 1)
        if self.rng.random() < 0.7:
            code.op("sub", t1, t1, self.local_id)
        self.constant(t2, self._local_address(0))
        code.op("llw", self._target(), t1, t2)
        code.op("sync")

    def load_input(self) -> None:
        code, rng, t1, t2 = self.code, self.rng, self.t1, self.t2
        self.constant(t2, self.regions["input"])
        width = rng.choice("wwhb")
        count = 4 * INPUT_WORDS // _BYTES[width]
        way = rng.choice(["random", "strided", "one"])
        if way == "random":
            code.op("andi", t1, self._source(), imm=count - 1)
        elif way == "strided":
            code.op("li", t1, imm=rng.randint(0, 40))
            code.op("mul", t1, t1, self.id)
            code.op("andi", t1, t1, imm=count - 1)
        else:
            code.op("li", t1, imm=rng.randrange(count))
        code.op(f"l{width}", self._target(), t1, t2)

    def store_constant(self) -> None:
        offset, value = self.rng.choice(list(self.constants.items()))
        self.constant(self.t1, value)
        self.constant(self.t2, self.regions["constants"] + offset)
        self.code.op("sw", self.t1, 0, self.t2)
