"""The upper word of a product of two words, where it is all that is wanted of 64 bits.

clang makes it of the usual four 16-bit multiplications, and programs write it with a cast to ulong.
"""

from ..ir.module import Definitions, Function, Op
from ..ir.values import Constant, Local, Value

__all__ = ["combine_mulhi"]

_ROUTINES = {Op.ZEXT: "fgpu_high_product", Op.SEXT: "fgpu_signed_high_product"}
_WORD_BITS = 32


def combine_mulhi(function: Function) -> None:
    """Let ``(a * b) >> 32``, computed in 64 bits, be a call of a runtime function."""
    definitions = function.definitions()
    for instruction in function.instructions():
        if instruction.op is not Op.TRUNC or instruction.type.bits != _WORD_BITS:
            continue
        shift = definitions.of(instruction.operands[0])
        if shift is None or shift.op not in (Op.LSHR, Op.ASHR) or shift.operands[1] != Constant(_WORD_BITS):
            continue
        product = definitions.of(shift.operands[0])
        if product is None or product.op is not Op.MUL:
            continue
        extensions = {d.op for operand in product.operands if (d := definitions.of(operand)) is not None}
        if len(extensions) != 1 or not extensions <= set(_ROUTINES):
            continue
        extension = extensions.pop()
        factors = [_factor(operand, extension, definitions) for operand in product.operands]
        if None not in factors:
            instruction.op = Op.CALL
            instruction.callee = _ROUTINES[extension]
            instruction.operands = [factor for factor in factors if factor is not None]
            instruction.types = [instruction.type] * 2
    _drop_unread(function)


def _factor(value: Value, extension: Op, definitions: Definitions) -> Value | None:
    """The word that ``value`` extends to 64 bits."""
    if isinstance(value, Constant) and value.value is not None:
        low = -(1 << 31) if extension is Op.SEXT else 0
        return value if value.value in range(low, low + (1 << _WORD_BITS)) else None
    definition = definitions.of(value)
    if definition is None or definition.types[0].bits != _WORD_BITS:
        return None
    return definition.operands[0]


def _drop_unread(function: Function) -> None:
    """Remove 64-bit operations that nobody reads any more."""
    while True:
        read = {operand.name for i in function.instructions() for operand in i.operands if isinstance(operand, Local)}
        dead = {id(i) for i in function.instructions() if i.type.bits > _WORD_BITS and i.name not in read
                and i.op in (Op.ZEXT, Op.SEXT, Op.MUL, Op.LSHR, Op.ASHR)}
        if not dead:
            return
        for block in function.blocks.values():
            block.instructions = [i for i in block.instructions if id(i) not in dead]
