"""Private variables of kernels for which the scratchpad is too small: in global memory, a frame for each work-item.

The host reserves room for all frames of a launch, and says where in a parameter that the source does not have.
Registers that find no place are kept in the frame, too, behind the variables.
"""

from dataclasses import replace

from fgpu.isa import Opcode

from .builder import Builder
from .ir import Constant, Function, Instruction, Local, Type, integer
from .mir import MachineFunction, Pseudo

__all__ = ["PARAMETER", "frame_address", "frame_register", "has_variables", "make_frame", "private_is_global"]

PARAMETER = "private"
"""The name of the parameter with the address of the frames."""
_GLOBAL = Type("ptr", space=1)
_WORD = integer(32)
_ALIGN = 16
_DIMENSIONS = 3


def has_variables(function: Function) -> bool:
    """Whether ``function`` has private variables in memory."""
    return any(i.op == "alloca" for i in function.instructions())


def private_is_global(function: Function) -> None:
    """Let the types of all pointers to private memory say that it is global."""
    def moved(type: Type) -> Type:
        return replace(type, space=1) if type.kind == "ptr" and type.space == 0 else type

    function.parameters = [(name, moved(type)) for name, type in function.parameters]
    for i in function.instructions():
        i.type, i.types = moved(i.type), [moved(type) for type in i.types]


def make_frame(function: Function) -> str:
    """Make private variables places of the frame; returns the name of the parameter with the frames' address."""
    size = 0
    for block in function.blocks.values():
        for at, i in enumerate(block.instructions):
            if i.op == "alloca":
                if i.operands:
                    raise function.error("a private array needs a constant size", i)
                align = max(i.align, i.source.align)
                size += -size % align
                block.instructions[at] = Instruction(
                    "getelementptr", _GLOBAL, i.name, [Local(PARAMETER), Constant(size)], [_GLOBAL, _WORD],
                    source=integer(8), location=i.location)
                size += i.source.size
    private_is_global(function)
    function.parameters.append((PARAMETER, _GLOBAL))
    function.frame = size + -size % _ALIGN
    return PARAMETER


def frame_address(builder: Builder, bytes_each: int, frames: int) -> int:
    """Where the work-item's frame is; ``frames`` is what the host gives: the place of work-item 0 without offset."""
    b = builder

    def runtime(opcode: Opcode, dimension: int) -> int:
        return b.emit(opcode, imm=dimension)

    number = None
    for dimension in reversed(range(_DIMENSIONS)):
        place = b.add(runtime(Opcode.LID, dimension), runtime(Opcode.WGOFF, dimension))
        number = place if number is None else b.add(b.mul(number, runtime(Opcode.SIZE, dimension)), place)
    assert number is not None
    return b.frame(b.add(frames, b.mul(number, b.const(bytes_each))))


def frame_register(function: MachineFunction) -> int | None:
    """The register with the address of the work-item's frame, if there is one."""
    ops = next(iter(function.blocks.values())).ops
    return next((op.dst for op in ops if op.opcode is Pseudo.FRAME), None)
