"""What the vector does in one instruction, decoded once for all its phases."""

from amaranth.lib import data, enum

from fgpu.config import PE_COUNT, PHASE_BITS, WAVEFRONT_BITS
from fgpu.fault import FAULT_PC_BITS
from fgpu.interfaces.memory_bus import AtomicOp
from fgpu.isa import REGISTER_BITS

__all__ = [
    "Addend", "Condition", "ControlWord", "Flow", "Issue", "Logic", "MemoryAccess", "Multiplier", "Other", "Result",
    "RuntimeValue", "Width",
]


class Flow(enum.Enum, shape=3):
    """Where the wavefront goes next."""

    NEXT = 0
    BRANCH = 1
    CALL = 2
    RETURN = 3
    SYNC = 4
    JOIN = 5        # no instruction: paths of a wavefront meet
    MEET = 6        # where those meet who part at the next branch


class Multiplier(enum.Enum, shape=3):
    """The second factor of the arithmetic unit (table 3.1): rt itself, a power of two, or what stands for -1."""

    OPERAND = 0
    FIXED = 1        # 2 ** scale
    LEFT = 2         # 2 ** operand
    RIGHT = 3        # 2 ** (32 - operand)
    MINUS = 4        # 2 ** 32 - 1


class Addend(enum.Enum, shape=2):
    """The third operand of the arithmetic unit."""

    ZERO = 0
    OPERAND = 1
    BELOW = 2        # the operand less 2 ** 32
    ACCUMULATE = 3   # rd


class Logic(enum.Enum, shape=3):
    """The logic unit's function."""

    AND = 0
    OR = 1
    XOR = 2
    NOR = 3
    FIRST = 4        # rs
    SECOND = 5       # rt or the immediate
    UPPER = 6        # upper half of the immediate, lower half of rd


class Result(enum.Enum, shape=2):
    """What is written to rd."""

    LOW = 0
    HIGH = 1
    LESS = 2
    OTHER = 3


class Other(enum.Enum, shape=1):
    """Results that do not come from the arithmetic unit."""

    LOGIC = 0
    SCRATCHPAD = 1


class Condition(enum.Enum, shape=2):
    """When rd is written (``movz``, ``movn``)."""

    ALWAYS = 0
    ZERO = 1
    NOT_ZERO = 2


class MemoryAccess(enum.Enum, shape=2):
    """Access to global memory."""

    NONE = 0
    LOAD = 1
    STORE = 2
    ATOMIC = 3


class Width(enum.Enum, shape=2):
    """Width of a store."""

    BYTE = 0
    HALF = 1
    WORD = 2


class RuntimeValue(enum.Enum, shape=3):
    """What of the runtime memory replaces the immediate: the same for all work-items of a wavefront."""

    NONE = 0
    WORK_GROUP_OFFSET = 1
    SIZE = 2
    WORK_GROUP_ID = 3
    WORK_GROUP_SIZE = 4
    PARAMETER = 5


class ControlWord(data.Struct):
    """One decoded instruction."""

    rd: REGISTER_BITS
    rs: REGISTER_BITS
    rt: REGISTER_BITS
    immediate: 32
    use_immediate: 1
    multiplier: Multiplier
    scale: 2
    addend: Addend
    signed: 1
    logic: Logic
    other: Other
    result: Result
    write: 1
    """The vector writes rd (those of loads and atomics are written by the memory controller, those of floats by their
    units)."""
    condition: Condition
    memory: MemoryAccess
    atomic: AtomicOp
    width: Width
    runtime: RuntimeValue
    """The number of the parameter or dimension is the immediate that is replaced."""
    local_id: 1
    """The work-item's local id, in the dimension that the immediate names, replaces rs."""
    scratchpad_write: 1
    on_equal: 1
    """A branch is taken where rs equals rd, not where they differ."""
    flow: Flow


class Issue(data.Struct):
    """One phase of one instruction: eight work-items entering the vector."""

    valid: 1
    wavefront: WAVEFRONT_BITS
    number: WAVEFRONT_BITS
    """The wavefront's number within its work-group."""
    phase: PHASE_BITS
    lanes: PE_COUNT
    pc: FAULT_PC_BITS
    first: 1
    last: 1
