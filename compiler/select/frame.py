"""Private variables of programs for which the scratchpad is too small: in global memory, a frame for each work-item.

The host reserves room for all frames of a launch, and says where in a parameter that the source does not have.
Registers that find no place are kept in the frame, too, behind the variables.

Work-items that run together access the same word of their frames most of the time, so these words lie together: the
frames of 64 work-items are one block, word 0 of all of them first, then word 1 of all, and an access is two cache
lines. Pointers to private memory hold a byte's number in the frame, which becomes an address where it is
used; so they are as in any memory that has the frame's bytes in a row. Number 0 is nobody's: the null pointer.

The kernel and all that it calls, which is never recursive, share one frame: a function's variables lie behind those
of what it calls, so that their places are constants. Subroutines find the frame's address in
:data:`~fgpu.compiler.backend.mir.FRAME_POINTER`.
"""

from dataclasses import replace

from fgpu.config import WAVEFRONT_SIZE
from fgpu.errors import CapacityError
from fgpu.isa import Opcode

from ..backend.mir import ZERO, MachineFunction, Pseudo
from ..ir.inline import substitute
from ..ir.module import Function, Op
from ..ir.values import Constant, Type, Value
from .machine_builder import Builder

__all__ = ["FRAME_BEGIN", "FRAME_SPACE", "PARAMETER", "WORD_STRIDE", "frame_address", "frame_register",
           "has_variables", "make_frame", "private_in_frame", "set_frame_size", "touches_private"]

FRAME_SPACE = -1
"""The address space of frames, which has no number in the source."""
PARAMETER = "private"
"""The name of the parameter with the address of the frames."""
_WORD_BYTES = 4
FRAME_BEGIN = _WORD_BYTES
"""The first byte of a frame that belongs to somebody."""
WORD_STRIDE = WAVEFRONT_SIZE * _WORD_BYTES
"""Bytes from a word of a frame to its next one."""
_DIMENSIONS = 3
_ADDRESS_BITS = 32


def has_variables(function: Function) -> bool:
    """Whether ``function`` has private variables in memory."""
    return any(i.op is Op.ALLOCA for i in function.instructions())


def touches_private(function: Function) -> bool:
    """Whether ``function`` has private variables in memory, or uses those of others."""
    return any(type.is_private for i in function.instructions() for type in (i.type, *i.types))


def private_in_frame(function: Function) -> None:
    """Let the types of all pointers to private memory say that it is the frame."""
    def moved(type: Type) -> Type:
        return replace(type, space=FRAME_SPACE) if type.is_private else type

    function.parameters = [(name, moved(type)) for name, type in function.parameters]
    function.result = moved(function.result)
    for i in function.instructions():
        i.type, i.types = moved(i.type), [moved(type) for type in i.types]


def make_frame(function: Function, begin: int = FRAME_BEGIN) -> str | None:
    """Make private variables places of the frame, from its byte ``begin`` on; returns the name of the parameter with
    the frames' address, which a kernel has."""
    places: dict[str, Value] = {}
    size = begin
    for block in function.blocks.values():
        for i in block.instructions:
            if i.op is Op.ALLOCA:
                if i.operands:
                    raise function.error("a private array needs a constant size", i)
                size += -size % max(i.align, i.source.align)
                places[i.name] = Constant(size)
                size += i.source.size
        block.instructions = [i for i in block.instructions if i.op is not Op.ALLOCA]
    substitute(function.instructions(), places)
    private_in_frame(function)
    if size * WAVEFRONT_SIZE >> _ADDRESS_BITS:
        raise function.error(f"{function.name!r} has {size} bytes of private memory for each work-item; those of a "
                             f"wavefront, {WAVEFRONT_SIZE} times as many, are more than there are addresses",
                             kind=CapacityError)
    function.frame = size + -size % _WORD_BYTES
    if not function.is_kernel:
        return None
    function.parameters.append((PARAMETER, Type("ptr", space=1)))
    return PARAMETER


def frame_address(builder: Builder, frames: int, group: tuple[int, ...] | None = None) -> int:
    """Where word 0 of the work-item's frame is; ``frames`` is what the host gives: the first block's address.

    Work-items are numbered a work-group after the other, whatever its shape; ``group`` is that, if it is known. How
    large frames are is told later, by :func:`set_frame_size`.
    """
    b = builder

    def runtime(opcode: Opcode, dimension: int) -> int:
        return b.emit(opcode, imm=dimension)

    def extent(dimension: int) -> int:
        return runtime(Opcode.WGSIZE, dimension) if group is None else b.const(group[dimension])

    def place(dimension: int) -> int:
        return ZERO if group is not None and group[dimension] == 1 else runtime(Opcode.LID, dimension)

    x, y, z = range(_DIMENSIONS)
    within = b.macc(place(x), extent(x), b.macc(place(y), extent(y), place(z)))
    # For each layer of this work-group, the work-groups before it have so many work-items.
    rows = b.macc(b.mul(runtime(Opcode.WGID, y), extent(y)), runtime(Opcode.WGID, z), runtime(Opcode.SIZE, y))
    before = b.macc(b.mul(b.mul(runtime(Opcode.WGID, x), extent(x)), extent(y)), rows, runtime(Opcode.SIZE, x))
    number = b.macc(within, before, extent(z))
    block = b.srl(number, b.const(WAVEFRONT_SIZE.bit_length() - 1))
    lane = b.add(frames, b.shl(number, b.const(_WORD_BYTES.bit_length() - 1)))
    return b.frame(b.add(lane, b.mul(block, b.frame_step())))


def set_frame_size(function: MachineFunction, bytes_each: int) -> None:
    """Let the frames of ``function``, whose registers are physical, have ``bytes_each`` bytes.

    The address of a frame has a term for each block before it: the block's size without the four bytes for each
    work-item that have been counted. Only a product reads that constant.
    """
    step = WAVEFRONT_SIZE * (bytes_each - _WORD_BYTES)
    block = next(iter(function.blocks.values()))
    at = next((at for at, op in enumerate(block.ops) if op.opcode is Pseudo.FRAME_STEP), None)
    if at is None:
        return
    constant = block.ops[at]
    product = next(op for op in block.ops[at + 1:] if constant.dst in op.uses)
    assert product.opcode is Opcode.MUL
    if step.bit_count() == 1:
        product.opcode, product.rs = Opcode.SLLI, product.rs if product.rt == constant.dst else product.rt
        product.rt, product.imm = ZERO, step.bit_length() - 1
        del block.ops[at]
    else:
        constant.opcode, constant.imm = Pseudo.CONST, step


def frame_register(function: MachineFunction) -> int | None:
    """The register with the address of the work-item's frame, if there is one."""
    ops = next(iter(function.blocks.values())).ops
    return next((op.dst for op in ops if op.opcode is Pseudo.FRAME), None)
