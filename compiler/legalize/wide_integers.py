"""Integers of more than 32 bits become words, the lowest first: the machine has registers of 32 bits only.

Above the bits of its type, the last word of an integer may hold anything, as everywhere in the compiler.
"""

from collections.abc import Callable
from dataclasses import replace

from ..ir.module import Function, Instruction, Op
from ..ir.values import WORD, WORD_BITS, Constant, Local, Type, Value, integer
from .word_arithmetic import WordArithmetic, is_wide, word_count

__all__ = ["split_wide_integers"]

_HALF_BITS = 16
_LONG_BITS = 64
_WORD_BYTES = 4
_IGNORED = ("llvm.lifetime.", "llvm.assume", "llvm.experimental.noalias.", "llvm.mem")


def split_wide_integers(function: Function) -> None:
    """Rewrite ``function`` in place so that no integer has more than 32 bits."""
    wide_parameters = any(is_wide(type) for _, type in function.parameters)
    if wide_parameters or is_wide(function.result) \
            or any(is_wide(type) or i.op in (Op.CONCAT, Op.EXTRACTWORD)
                   for i in function.instructions() for type in (i.type, *i.types)):
        _Splitter(function).run()


class _Splitter(WordArithmetic):
    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.parts: dict[str, list[Value]] = {}
        self.aliases: dict[str, Value] = {}

    def run(self) -> None:
        function = self.function
        parameters: list[tuple[str, Type]] = []
        for name, type in function.parameters:
            if is_wide(type):
                names = [f"{name}.word{number}" for number in range(word_count(type))]
                self.parts[name] = [Local(part) for part in names]
                parameters += [(part, WORD) for part in names]
            else:
                parameters.append((name, type))
        function.parameters = parameters
        phis = []
        for phi in function.instructions():         # words of a phi may be asked for before we come to it
            if phi.op is Op.PHI and is_wide(phi.type):
                self.parts[phi.name] = [Local(f"{phi.name}.word{n}") for n in range(word_count(phi.type))]
        flow = function.flow()
        for name in flow.order:
            block = function.blocks[name]
            self.made = []
            for instruction in block.instructions:
                if instruction.op is Op.PHI and is_wide(instruction.type):
                    phis += self.phi(instruction)
                else:
                    self.instruction(instruction)
            block.instructions = self.made
        for new, old, number in phis:
            new.operands = [self.words(operand, old.type)[number] for operand in old.operands]
        for instruction in function.instructions():
            instruction.operands = [self.resolved(operand) for operand in instruction.operands]

    def resolved(self, value: Value) -> Value:
        while isinstance(value, Local) and value.name in self.aliases:
            value = self.aliases[value.name]
        return value

    def words(self, value: Value, type: Type) -> list[Value]:
        """The words of an operand."""
        if isinstance(value, Local):
            return [self.resolved(word) for word in self.parts[value.name]]
        if isinstance(value, Constant) and value.value is not None:
            return [self.constant(value.value >> WORD_BITS * n) for n in range(word_count(type))]
        raise self.function.error("an address in an integer of more than 32 bits is not supported", self.like)

    def both(self, i: Instruction, is_signed: bool | None = None) -> tuple[list[Value], list[Value]]:
        """The words of both operands, with clean upper bits unless ``is_signed`` is None."""
        a, b = (self.words(operand, type) for operand, type in zip(i.operands[:2], i.types[:2], strict=True))
        if is_signed is None:
            return a, b
        bits = i.types[0].bits
        return self.clean(a, bits, is_signed), self.clean(b, bits, is_signed)

    def phi(self, phi: Instruction) -> list[tuple[Instruction, Instruction, int]]:
        made = []
        for number, word in enumerate(self.parts[phi.name]):
            assert isinstance(word, Local)
            new = replace(phi, type=WORD, name=word.name, operands=[], types=[WORD] * len(phi.operands),
                          blocks=list(phi.blocks))
            self.made.append(new)
            made.append((new, phi, number))
        return made

    def instruction(self, i: Instruction) -> None:
        self.like = i
        if i.op not in (Op.CONCAT, Op.EXTRACTWORD) and not any(map(is_wide, (i.type, *i.types))):
            self.made.append(i)
            return
        handler: Callable[[Instruction], list[Value] | Value | None] | None = getattr(self, f"on_{i.op}", None)
        if i.callee.startswith("llvm."):
            if i.callee.startswith(_IGNORED):
                i.operands = [Constant(o.value) if isinstance(o, Constant) and o.value is not None else o
                              for o in i.operands]
                self.made.append(i)
                return
            handler = getattr(self, f"call_{'_'.join(i.callee.split('.')[1:-1])}", None)
        if handler is None:
            what = i.callee if i.op is Op.CALL else f"{i.op} of {max(t.bits for t in (i.type, *i.types))} bits"
            raise self.function.error(f"{what} is not supported", i)
        result = handler(i)
        if isinstance(result, list):
            self.parts[i.name] = result
        elif result is not None:
            self.aliases[i.name] = result

    # -- arithmetic ------------------------------------------------------------------------------------

    def on_add(self, i: Instruction) -> list[Value]:
        return self.sum(*self.both(i))

    def on_sub(self, i: Instruction) -> list[Value]:
        return self.difference(*self.both(i))

    def on_mul(self, i: Instruction) -> list[Value]:
        return self.product(*self.both(i))

    def bitwise(self, i: Instruction) -> list[Value]:
        return [self.add(i.op, x, y) for x, y in zip(*self.both(i), strict=True)]

    on_and = on_or = on_xor = bitwise

    def need_long(self, i: Instruction) -> None:
        bits = max(type.bits for type in (i.type, *i.types))
        if bits > _LONG_BITS:
            raise self.function.error(f"{i.op} of {bits} bits is not supported; use long: long long has 128 bits", i)

    def shift(self, i: Instruction) -> list[Value]:
        value, amount = i.operands
        words = self.words(value, i.type)
        if i.op is not Op.SHL:
            words = self.clean(words, i.type.bits, i.op is Op.ASHR)
        if isinstance(amount, Constant) and amount.value is not None:
            return self.shifted_by(i.op, words, amount.value % i.type.bits)
        self.need_long(i)
        return self.shifted(i.op, words, self.words(amount, i.type)[0])

    on_shl = on_lshr = on_ashr = shift

    def division(self, i: Instruction) -> list[Value]:
        self.need_long(i)
        is_signed = i.op[0] == "s"
        a, b = self.both(i, is_signed)
        divisor = i.operands[1]
        power = divisor.value if isinstance(divisor, Constant) and divisor.value is not None else 0
        if i.op is Op.SDIV and power > 1 and power & (power - 1) == 0:
            return self.divided_by_power(a, power.bit_length() - 1)
        return self.routine(f"fgpu_long_{i.op}", [*a, *b], 2)

    on_udiv = on_sdiv = on_urem = on_srem = division

    def on_icmp(self, i: Instruction) -> Value:
        a, b = self.both(i, i.predicate[0] == "s")
        return self.compare(i.predicate, a, b)

    def on_select(self, i: Instruction) -> list[Value]:
        then, other = (self.words(operand, i.type) for operand in i.operands[1:])
        return self.choose(i.operands[0], then, other)

    # -- conversions -----------------------------------------------------------------------------------

    def extended(self, i: Instruction) -> list[Value]:
        source, type = i.operands[0], i.types[0]
        is_signed = i.op is Op.SEXT
        words = self.clean(self.words(source, type), type.bits, is_signed) if is_wide(type) else \
            [source if type.bits == WORD_BITS else self.add(i.op, source, types=[type])]
        fill = self.add(Op.ASHR, words[-1], Constant(WORD_BITS - 1)) if is_signed else Constant(0)
        return words + [fill] * (word_count(i.type) - len(words))

    on_zext = on_sext = extended

    def on_trunc(self, i: Instruction) -> list[Value] | Value:
        words = self.words(i.operands[0], i.types[0])
        if is_wide(i.type):
            return words[:word_count(i.type)]
        if i.type.bits == WORD_BITS:
            return words[0]
        return self.add(Op.TRUNC, words[0], type=i.type, types=[WORD])

    def on_freeze(self, i: Instruction) -> list[Value]:
        return self.words(i.operands[0], i.type)

    def on_concat(self, i: Instruction) -> list[Value]:
        """The integer that consists of the operands."""
        return list(i.operands)

    def on_extractword(self, i: Instruction) -> Value:
        return self.words(i.operands[0], i.types[0])[i.index]

    def on_bitcast(self, i: Instruction) -> list[Value]:
        return self.words(i.operands[0], i.type)

    def on_ptrtoint(self, i: Instruction) -> list[Value]:
        return [self.add(Op.PTRTOINT, i.operands[0], types=[i.types[0]]), Constant(0)]

    def on_inttoptr(self, i: Instruction) -> None:
        i.operands, i.types = self.words(i.operands[0], i.types[0])[:1], [WORD]
        self.made.append(i)

    def on_getelementptr(self, i: Instruction) -> None:
        """Addresses have 32 bits, so the lowest word of an index is enough."""
        i.operands = [self.words(o, t)[0] if is_wide(t) else o for o, t in zip(i.operands, i.types, strict=True)]
        i.types = [WORD if is_wide(t) else t for t in i.types]
        self.made.append(i)

    def to_float(self, i: Instruction) -> Value:
        self.need_long(i)
        words = self.clean(self.words(i.operands[0], i.types[0]), i.types[0].bits, i.op is Op.SITOFP)
        name = "fgpu_long_to_float" if i.op is Op.SITOFP else "fgpu_ulong_to_float"
        return self.routine(name, words, 1)[0]

    on_uitofp = on_sitofp = to_float

    def from_float(self, i: Instruction) -> list[Value]:
        self.need_long(i)
        name = "fgpu_long_from_float" if i.op is Op.FPTOSI else "fgpu_ulong_from_float"
        return self.routine(name, list(i.operands), 2)

    on_fptosi = on_fptoui = from_float

    # -- memory, calls ---------------------------------------------------------------------------------

    def pieces(self, type: Type) -> list[tuple[int, Type]]:
        """Offset in bytes and type of what an integer consists of in memory."""
        found: list[tuple[int, Type]] = []
        at = 0
        while at < type.bits:
            bits = next(b for b in (WORD_BITS, _HALF_BITS, 8) if b <= type.bits - at or b == 8)
            found.append((at // 8, integer(bits)))
            at += bits
        return found

    def place(self, pointer: Value, type: Type, offset: int) -> Value:
        return self.offset(pointer, type, offset) if offset else pointer

    def on_load(self, i: Instruction) -> list[Value]:
        words: list[Value] = []
        for offset, type in self.pieces(i.type):
            at = self.place(i.operands[0], i.types[0], offset)
            piece = self.load(type, at, i.types[0], min(i.align, offset & -offset or i.align))
            if type != WORD:
                piece = self.add(Op.ZEXT, piece, types=[type])
            if offset % _WORD_BYTES:
                moved = self.add(Op.SHL, piece, Constant(8 * (offset % _WORD_BYTES)))
                words[-1] = self.add(Op.OR, words[-1], moved)
            else:
                words.append(piece)
        return words

    def on_store(self, i: Instruction) -> None:
        words = self.words(i.operands[0], i.types[0])
        for offset, type in self.pieces(i.types[0]):
            piece = words[offset // _WORD_BYTES]
            if offset % _WORD_BYTES:
                piece = self.add(Op.LSHR, piece, Constant(8 * (offset % _WORD_BYTES)))
            if type != WORD:
                piece = self.add(Op.TRUNC, piece, type=type, types=[WORD])
            at = self.place(i.operands[1], i.types[1], offset)
            self.store(piece, type, at, i.types[1], min(i.align, offset & -offset or i.align))

    def flattened(self, i: Instruction) -> None:
        operands: list[Value] = []
        types: list[Type] = []
        for operand, type in zip(i.operands, i.types, strict=True):
            words = self.words(operand, type) if is_wide(type) else [operand]
            operands += words
            types += [WORD] * len(words) if is_wide(type) else [type]
        i.operands, i.types = operands, types
        self.made.append(i)

    def on_ret(self, i: Instruction) -> None:
        self.function.result = WORD
        self.flattened(i)

    def on_call(self, i: Instruction) -> list[Value] | None:
        wide = is_wide(i.type)
        if wide:
            self.need_long(i)
            i.type = WORD
        self.flattened(i)
        return [Local(i.name), self.add(Op.SECOND, Local(i.name))] if wide else None

    # -- intrinsics ------------------------------------------------------------------------------------

    def extremum(self, i: Instruction) -> list[Value]:
        kind = i.callee.split(".")[1]
        a, b = self.both(i, kind[0] == "s")
        condition = self.compare(kind[0] + ("lt" if kind.endswith("min") else "gt"), a, b)
        return self.choose(condition, a, b)

    call_smin = call_smax = call_umin = call_umax = extremum

    def call_abs(self, i: Instruction) -> list[Value]:
        words = self.clean(self.words(i.operands[0], i.type), i.type.bits, True)
        sign = self.add(Op.ASHR, words[-1], Constant(WORD_BITS - 1))
        flipped = [self.add(Op.XOR, word, sign) for word in words]
        return self.difference(flipped, [sign] * len(words))

    def counted(self, i: Instruction) -> list[Value]:
        self.need_long(i)
        kind = i.callee.split(".")[1]
        words = self.clean(self.words(i.operands[0], i.type), i.type.bits, False)
        return [self.count(kind, words, i.type.bits), Constant(0)]

    call_ctpop = call_ctlz = call_cttz = counted

    def reversed_words(self, i: Instruction) -> list[Value]:
        name = i.callee.split(".")[1]
        words = [self.intrinsic(name, word) for word in self.words(i.operands[0], i.type)[::-1]]
        spare = WORD_BITS * len(words) - i.type.bits
        return self.shifted_by(Op.LSHR, words, spare) if spare else words

    call_bswap = call_bitreverse = reversed_words

    def funnel(self, i: Instruction) -> list[Value]:
        """The upper (fshl) or the lower (fshr) of two integers shifted together."""
        self.need_long(i)
        bits, to_left = i.type.bits, "fshl" in i.callee
        if bits != _LONG_BITS:
            raise self.function.error(f"a rotation of {bits} bits is not supported", i)
        high, low = self.both(i)
        amount = self.words(i.operands[2], i.type)[0]
        if isinstance(amount, Constant) and amount.value is not None:
            left = amount.value % bits if to_left else -amount.value % bits
            if left == 0:
                return high if to_left else low
            return self.either(self.shifted_by(Op.SHL, high, left), self.shifted_by(Op.LSHR, low, bits - left))
        rest = self.add(Op.XOR, amount, Constant(bits - 1))
        if to_left:
            low = self.shifted(Op.LSHR, self.shifted_by(Op.LSHR, low, 1), rest)
            return self.either(self.shifted(Op.SHL, high, amount), low)
        high = self.shifted(Op.SHL, self.shifted_by(Op.SHL, high, 1), rest)
        return self.either(high, self.shifted(Op.LSHR, low, amount))

    call_fshl = call_fshr = funnel

    def call_uadd_sat(self, i: Instruction) -> list[Value]:
        a, b = self.both(i, False)
        total = self.clean(self.sum(a, b), i.type.bits, False)
        return self.choose(self.compare("ult", total, a), [Constant(-1)] * len(a), total)

    def call_usub_sat(self, i: Instruction) -> list[Value]:
        a, b = self.both(i, False)
        return self.choose(self.compare("ult", a, b), [Constant(0)] * len(a), self.difference(a, b))

    def signed_saturation(self, i: Instruction) -> list[Value]:
        """The other sign than that of the first operand, in all bits but the top one, where it overflows."""
        adds = "sadd" in i.callee
        a, b = self.both(i)
        spare = -i.type.bits % WORD_BITS
        if spare:       # at the top of the words
            a, b = self.shifted_by(Op.SHL, a, spare), self.shifted_by(Op.SHL, b, spare)
        result = self.sum(a, b) if adds else self.difference(a, b)
        changed = self.add(Op.XOR, a[-1], result[-1])
        other = self.add(Op.XOR, b[-1], result[-1]) if adds else self.add(Op.XOR, a[-1], b[-1])
        overflow = self.icmp("slt", self.add(Op.AND, changed, other), Constant(0))
        sign = self.add(Op.ASHR, result[-1], Constant(WORD_BITS - 1))
        limit = [sign] * (len(a) - 1) + [self.add(Op.XOR, sign, Constant(-1 << WORD_BITS - 1))]
        saturated = self.choose(overflow, limit, result)
        return self.shifted_by(Op.ASHR, saturated, spare) if spare else saturated

    call_sadd_sat = call_ssub_sat = signed_saturation
