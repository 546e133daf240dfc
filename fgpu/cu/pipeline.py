"""The timing contract of a compute unit: what happens in which cycle, and who may write which registers then.

What units must agree on in time is here and nowhere else; the compiler and the simulators read it, too. It has no
hardware in it.

*Issue slots.* The scheduler counts the cycles of a slot in ``beat``. An instruction enters the vector when ``beat``
is 0, one phase (eight work-items) a cycle, for one slot, or for two if both halves of the wavefront have enabled
work-items.

*Stages* are counted in cycles from the issue of a phase:

====== ===============================================================================================
0 to 2 the register file reads rs, rt and rd
0      the runtime memory is read (its values are operands in stage 3, in place of rs and the immediate)
3      rs and rt are there and enter processing elements and floating-point units; rd follows in stage 4
5      the scratchpad is read or written; branches are decided
9      address and store data of an access to global memory leave for the memory controller
10     the result is written
11 ..  the result of a floating-point unit is written, by its latency
====== ===============================================================================================

*Banks.* The registers of phase p are in bank p modulo 4. As a slot has as many cycles as there are banks, stage and
``beat`` tell the bank: each stage that reads or writes has a bank to itself in every cycle. Loads come at any time,
and are written to a bank that no result takes.

*Block RAM.* A word that the pipeline reads from block RAM goes to a register first, with nothing on its way, so that
tools take the block RAM's own output register: without that it comes half a cycle late.
"""

from typing import Final

from fgpu.config import BANKS, FLOAT_OPS, PE_COUNT, PHASES, Config
from fgpu.isa import Opcode

__all__ = [
    "BEAT_BITS", "BRANCH_STAGE", "FLOAT_LATENCY", "FLOAT_RESULT_CYCLES", "FLOAT_RESULT_STAGE", "ISSUE_CYCLES",
    "LOADS", "MEMORY_STAGE", "NARROW_ENTRIES", "NARROW_FEED_STAGE", "OPERAND_STAGE", "READ_STAGES", "RESULT_CYCLES",
    "RESULT_STAGE", "RUNTIME_STAGE", "SLOT_CYCLES", "bank_shift", "beat_of", "float_result_cycles",
    "narrow_distance", "narrow_leave_slots", "narrow_slots", "result_cycles",
]

SLOT_CYCLES: Final = 4
"""Cycles of an issue slot: half a wavefront's phases."""
BEAT_BITS: Final = 2
"""Bits of ``beat``, and of the number of a bank."""
assert 1 << BEAT_BITS == SLOT_CYCLES == BANKS == PHASES // 2

ISSUE_CYCLES: Final = PHASES
"""Cycles from an instruction of a full wavefront to its next one, if that needs no result of it."""

LOADS: Final = 2
"""Loads (or atomic operations) of one wavefront that can be under way."""

READ_STAGES: Final = {"rs": 0, "rt": 1, "rd": 2}
"""Stage in which the register file reads each operand; it is in the bank's output register two later."""
OPERAND_STAGE: Final = 3
"""Stage in which the register file delivers rs and rt; rd comes in the next one."""
RUNTIME_STAGE: Final = OPERAND_STAGE - 3
"""Stage in which the runtime memory is read."""
BRANCH_STAGE: Final = 5
"""Stage in which a branch is decided."""
MEMORY_STAGE: Final = 9
"""Stage in which address and store data leave for the memory controller."""
RESULT_STAGE: Final = 10
"""Stage in which the vector's result is written to the register file."""

FLOAT_LATENCY: Final = {Opcode[name.upper()]: 8 for name in FLOAT_OPS} | {Opcode.FSQRT: 28, Opcode.FDIV: 32}
"""Cycles of each floating-point operation from the operands at its inputs to the result at its output."""
FLOAT_RESULT_STAGE: Final = OPERAND_STAGE + min(FLOAT_LATENCY.values())
"""Stage in which the result of the fastest floating-point operations is written. That of the others is whole slots
later, so that all have the same bank's turn."""
assert all((OPERAND_STAGE + latency - FLOAT_RESULT_STAGE) % SLOT_CYCLES == 0 for latency in FLOAT_LATENCY.values())


def result_cycles(stage: int) -> int:
    """Cycles from the issue of an instruction whose result is written in ``stage`` to that of one that reads it: the
    first slot that begins after the write."""
    return (stage // SLOT_CYCLES + 1) * SLOT_CYCLES


RESULT_CYCLES: Final = result_cycles(RESULT_STAGE)
"""Cycles from the issue of an instruction to that of one that reads its result."""
FLOAT_RESULT_CYCLES: Final = {opcode: result_cycles(OPERAND_STAGE + latency)
                              for opcode, latency in FLOAT_LATENCY.items()}
"""The same for floating-point operations; their wavefront issues nothing else meanwhile."""

NARROW_ENTRIES: Final = 4
"""Instructions for operations on fewer lanes (*narrow* ones) that are under way, in all wavefronts together."""
NARROW_FEED_STAGE: Final = OPERAND_STAGE + 1
"""Stage in which a narrow instruction's first work-items can leave the operands' memory, with beat 0; their operands
enter the units in the next one."""
assert NARROW_FEED_STAGE % SLOT_CYCLES == 0


def narrow_slots(lanes: int, halves: int) -> int:
    """Slots in which an instruction of one or both halves of the wavefront enters units on ``lanes``."""
    return halves * SLOT_CYCLES * PE_COUNT // lanes // SLOT_CYCLES


def narrow_distance(config: Config) -> int:
    """How many slots ahead the results of narrow operations are booked: further than those of any other."""
    wide = [FLOAT_RESULT_CYCLES[Opcode[name.upper()]] for name in config.float_ops - config.narrow_floats.keys()]
    return max(wide, default=min(FLOAT_RESULT_CYCLES.values())) // SLOT_CYCLES + 1


def narrow_leave_slots(latency: int, lanes: int, halves: int, distance: int) -> int:
    """Slots from that in which a narrow instruction begins to enter its units until its results begin to leave.

    A slot of results begins in the last beat of one of issue; the last phase of a full wavefront then leaves 7 cycles
    later, that of one half 3, each when its last result is there.
    """
    return max(latency // SLOT_CYCLES + narrow_slots(lanes, halves) - halves, distance)


def float_result_cycles(config: Config) -> dict[Opcode, int]:
    """``FLOAT_RESULT_CYCLES`` of a configuration, whose narrow operations take longer; without waiting for others."""
    distance = narrow_distance(config)
    return FLOAT_RESULT_CYCLES | {
        opcode: NARROW_FEED_STAGE + SLOT_CYCLES * (1 + narrow_leave_slots(FLOAT_LATENCY[opcode], lanes, 2, distance))
        for opcode, lanes in ((Opcode[name.upper()], lanes) for name, lanes in config.narrow_floats.items())}


def bank_shift(stage: int) -> int:
    """What to add to ``beat``, modulo ``BANKS``, for the bank of the phase in ``stage``."""
    return -stage % BANKS


def beat_of(bank: int, stage: int) -> int:
    """The beat in which the phase in ``stage`` is one of ``bank``."""
    return (bank + stage) % BANKS
