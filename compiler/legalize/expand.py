"""Expansion of what the machine lacks: division, bit counting, switches, in terms of simpler IR."""

import itertools
from collections import Counter
from collections.abc import Iterator

from ..ir.inline import inline_calls
from ..ir.module import Block, Constant, Function, Instruction, Local, Type, Value, integer
from ..runtime_library.routines import is_called, routine

__all__ = ["expand", "expand_switches"]

_WORD = integer(32)
_DIVISIONS = ("udiv", "sdiv", "urem", "srem")
_BIT_INTRINSICS = ("ctpop", "ctlz", "cttz")
_serial = itertools.count()


def expand(function: Function) -> None:
    """Rewrite ``function`` in place so that only operations remain that the machine has."""
    for block in list(function.blocks.values()):
        block.instructions = list(_Expansion(block).instructions())
    uses = Counter(i.detail for i in function.instructions() if i.op == "call")

    def body_of(call: Instruction) -> Function | None:
        callee = routine(call.detail)
        return None if callee is None or is_called(callee, uses[call.detail]) else callee

    inline_calls(function, body_of)


def expand_switches(function: Function) -> None:
    """Turn every switch into a chain of comparisons."""
    for block in list(function.blocks.values()):
        _expand_switch(function, block)


def _expand_switch(function: Function, block: Block) -> None:
    switch = block.terminator
    if switch.op != "switch":
        return
    value, *cases = switch.operands
    default, *targets = switch.blocks
    arrivals = {name: function.blocks[name] for name in dict.fromkeys(switch.blocks)}
    sources: dict[str, list[str]] = {name: [] for name in arrivals}
    block.instructions.pop()
    here = block
    if not cases:
        here.instructions.append(Instruction("br", blocks=[default], location=switch.location))
        sources[default].append(here.name)
    for number, (case, target) in enumerate(zip(cases, targets, strict=True)):
        last = number == len(cases) - 1
        following = Block(default) if last else Block(f"{block.name}.case{next(_serial)}")
        test = _new("icmp", integer(1), [value, case], switch, detail="eq", types=[switch.types[0]] * 2)
        here.instructions += [test, Instruction("condbr", operands=[Local(test.name)], types=[integer(1)],
                                                blocks=[target, following.name], location=switch.location)]
        sources[target].append(here.name)
        if last:
            sources[default].append(here.name)
        else:
            function.blocks[following.name] = following
        here = following
    for name, arrival in arrivals.items():
        for phi in arrival.phis:
            incoming = [(v, b) for v, b in zip(phi.operands, phi.blocks, strict=True) if b != block.name]
            from_switch = next(v for v, b in zip(phi.operands, phi.blocks, strict=True) if b == block.name)
            incoming += [(from_switch, source) for source in dict.fromkeys(sources[name])]
            phi.operands = [v for v, _ in incoming]
            phi.blocks = [b for _, b in incoming]
            phi.types = [phi.type] * len(incoming)


def _new(op: str, type: Type, operands: list[Value], like: Instruction, detail: str = "",
         types: list[Type] | None = None) -> Instruction:
    return Instruction(op, type, f"{like.name or op}.{next(_serial)}", operands,
                       types if types is not None else [type] * len(operands), detail=detail, location=like.location)


class _Expansion:
    """Rewrites the instructions of one block."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.quotients: dict[tuple[object, ...], str] = {}
        self.divided = {(i.op[0], *i.operands) for i in block.instructions if i.op in ("udiv", "sdiv")}

    def instructions(self) -> Iterator[Instruction]:
        for instruction in self.block.instructions:
            if instruction.op in _DIVISIONS and instruction.type.kind == "int" and instruction.type.bits <= 32:
                yield from self.division(instruction)
            elif instruction.op == "call" and instruction.detail.startswith("llvm.") \
                    and instruction.detail.split(".")[1] in _BIT_INTRINSICS and instruction.type.bits <= 32:
                yield from self.bit_intrinsic(instruction)
            else:
                yield instruction

    def as_word(self, value: Value, like: Instruction, is_signed: bool, made: list[Instruction]) -> Value:
        """``value``, of the type of ``like``, as 32 bits; what that takes goes to ``made``."""
        if like.type.bits == 32:
            return value
        if isinstance(value, Constant) and value.value is not None:
            return Constant(value.value if is_signed else value.value & ((1 << like.type.bits) - 1))
        made.append(_new("sext" if is_signed else "zext", _WORD, [value], like, types=[like.type]))
        return Local(made[-1].name)

    def finish(self, made: list[Instruction], like: Instruction, result: Instruction) -> None:
        """Let ``result``, of 32 bits, define what ``like`` defines."""
        made.append(result)
        if like.type.bits < 32:
            made.append(_new("trunc", like.type, [Local(result.name)], like, types=[_WORD]))
        made[-1].name = like.name

    def division(self, instruction: Instruction) -> list[Instruction]:
        made: list[Instruction] = []
        is_signed = instruction.op[0] == "s"
        key = (instruction.op[0], *instruction.operands)
        n, d = (self.as_word(operand, instruction, is_signed, made) for operand in instruction.operands)
        constant = d.value if isinstance(d, Constant) else None
        if instruction.op.endswith("div"):
            quotient = self.quotient(key, n, d, constant, instruction, made)
            self.finish(made, instruction, _new("or", _WORD, [quotient, Constant(0)], instruction))
            return made
        if key in self.divided or constant is not None:
            # With the quotient at hand (or cheap), the remainder is a multiplication away.
            quotient = self.quotient(key, n, d, constant, instruction, made)
            product = _new("mul", _WORD, [quotient, d], instruction)
            made.append(product)
            self.finish(made, instruction, _new("sub", _WORD, [n, Local(product.name)], instruction))
            return made
        self.finish(made, instruction, self.call(f"fgpu_{instruction.op}", [n, d], instruction))
        return made

    def quotient(self, key: tuple[object, ...], n: Value, d: Value, constant: int | None, like: Instruction,
                 made: list[Instruction]) -> Value:
        """n / d of 32 bits, remembered for the same division later in the block."""
        if key in self.quotients:
            return Local(self.quotients[key])
        if constant is None or constant == 0:
            made.append(self.call(f"fgpu_{like.op[0]}div", [n, d], like))
        elif like.op[0] == "u":
            self.divide_by(n, constant & 0xFFFF_FFFF, like, made)
        else:
            self.divide_signed_by(n, constant, like, made)
        self.quotients[key] = made[-1].name
        return Local(made[-1].name)

    @staticmethod
    def call(name: str, arguments: list[Value], like: Instruction) -> Instruction:
        return _new("call", _WORD, arguments, like, detail=name)

    def divide_by(self, n: Value, d: int, like: Instruction, made: list[Instruction]) -> None:
        """n / d unsigned: a shift, or a multiplication with the reciprocal (Granlund and Montgomery)."""
        if d & (d - 1) == 0:
            made.append(_new("lshr", _WORD, [n, Constant(d.bit_length() - 1)], like))
            return
        shift = d.bit_length()
        reciprocal = (1 << 32 + shift) // d + 1
        # One bit less is enough if the error then still vanishes below the quotient.
        shorter = (1 << 31 + shift) // d + 1
        if shorter * d - (1 << 31 + shift) <= 1 << shift - 1:
            made.append(self.call("fgpu_divide_by_32", [n, Constant(shorter), Constant(shift - 1)], like))
        else:
            made.append(self.call("fgpu_divide_by_33", [n, Constant(reciprocal - (1 << 32)), Constant(shift)], like))

    def divide_signed_by(self, n: Value, d: int, like: Instruction, made: list[Instruction]) -> None:
        """n / d signed, rounded towards zero."""
        def step(op: str, a: Value, b: Value) -> Value:
            made.append(_new(op, _WORD, [a, b], like))
            return Local(made[-1].name)

        sign = step("ashr", n, Constant(31))
        if abs(d) & (abs(d) - 1) == 0:
            bits = abs(d).bit_length() - 1
            rounding = step("lshr", sign, Constant(32 - bits)) if bits else Constant(0)
            quotient = step("ashr", step("add", n, rounding), Constant(bits))
        else:
            magnitude = step("sub", step("xor", n, sign), sign)
            self.divide_by(magnitude, abs(d), like, made)
            quotient = step("sub", step("xor", Local(made[-1].name), sign), sign)
        if d < 0:
            step("sub", Constant(0), quotient)

    def bit_intrinsic(self, call: Instruction) -> list[Instruction]:
        """Bit counting in narrow integers in terms of the routines for words."""
        name, bits = call.detail.split(".")[1], call.type.bits
        made: list[Instruction] = []
        word = self.as_word(call.operands[0], call, False, made)
        if name == "cttz" and bits < 32:        # a one above the top ends the count
            made.append(_new("or", _WORD, [word, Constant(1 << bits)], call))
            word = Local(made[-1].name)
        result = self.call(f"fgpu_{name}32", [word], call)
        if bits < 32 and name == "ctlz":
            made.append(result)
            result = _new("sub", _WORD, [Local(result.name), Constant(32 - bits)], call)
        self.finish(made, call, result)
        return made
