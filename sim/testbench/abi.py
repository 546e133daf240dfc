"""The structures and functions of the C++ test bench, for ctypes; C++ has the structures from ``header.py``."""

import ctypes
from ctypes import POINTER, Structure, c_char, c_char_p, c_uint32, c_uint64, c_void_p
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

from fgpu.cache.payloads import TagOp
from fgpu.config import LOCAL_BASE, PE_COUNT, WAVEFRONTS, Config
from fgpu.cu.divergence import OutcomeKind
from fgpu.cu.pipeline import MEMORY_STAGE
from fgpu.errors import ToolError
from fgpu.probe import Bucket, WavefrontState

from ..engine import MemoryTiming
from ..memory import GlobalMemory
from .ports import COMPUTE_UNITS, EVENTS, PORTS, AxiAddress, PortsIn, PortsOut, ProbeOut

__all__ = [
    "CHECK_ALIGNMENT", "CHECK_ALL", "CHECK_NOTHING", "CONSTANTS", "DONE", "ENUMERATIONS", "OP_PAUSE", "OP_READ",
    "OP_START", "OP_WAIT", "OP_WRITE", "PROTOCOL_ERROR", "REFUSED_ACCESS", "RUNNING", "STRUCTURES", "TIMEOUT",
    "AddressRange", "AxiAddress", "BenchConfig", "BenchLibrary", "HostOp", "PortsIn", "PortsOut", "ProbeOut",
    "ProfileEntry", "Result", "bench_config",
]

BUCKETS = 8
STATES = 16
IDS = 64
CONSTANTS: Final = {
    "WAVEFRONTS": WAVEFRONTS,       # of a compute unit
    "LANES": PE_COUNT,              # processing elements of a compute unit, and phases of a wavefront
    "BUCKETS": BUCKETS,             # kinds of cycles of a compute unit
    "STATES": STATES,               # kinds of cycles of a wavefront, and as many more
    "IDS": IDS,                     # AXI identifiers
    "LOCAL_BASE": LOCAL_BASE,       # first address of a work-group's local memory
    "MEMORY_STAGE": MEMORY_STAGE,   # cycles from the issue of a phase until its accesses are seen
    **{f"BUCKET_{name}": bucket.value for name, bucket in Bucket.__members__.items()},
    **{f"OUTCOME_{name}": kind.value for name, kind in OutcomeKind.__members__.items()},
    **{f"LINE_{name}": op.value for name, op in TagOp.__members__.items()},
    **{f"STATE_{name}": state.value for name, state in WavefrontState.__members__.items()},
}
"""Numbers that C++ is told."""


class Op(IntEnum):
    """What the host does."""

    OP_WRITE = 0
    OP_READ = 1
    OP_START = 2
    OP_WAIT = 3
    """``data`` is a bit of the status; of several such operations, all are waited for at each."""
    OP_PAUSE = 4
    """``data`` is a number of cycles."""


class Status(IntEnum):
    """How far a launch is, or how it ended."""

    RUNNING = 0
    DONE = 1
    PROTOCOL_ERROR = 2
    TIMEOUT = 3
    REFUSED_ACCESS = 4
    UNSETTLED = 5


class Check(IntEnum):
    """What is checked of the accesses of kernels."""

    CHECK_NOTHING = 0
    CHECK_ALIGNMENT = 1
    CHECK_ALL = 2


class EventKind(IntEnum):
    """What an :class:`Event` tells."""

    EVENT_STATE = 0
    """The wavefront in slot ``number`` of compute unit ``unit`` goes into the state ``value``, or on to ``pc``."""
    EVENT_ISSUE = 1
    """An instruction of that wavefront is issued; ``value`` has a bit for each work-item that is enabled."""
    EVENT_ACCESS = 2
    """Work-items of that wavefront access global memory: ``value`` has a bit for each of eight."""
    EVENT_CACHE = 3
    """Something happens in the cache: ``number`` is the event's place among those that the model counts."""
    EVENT_READ = 4
    """Memory takes a read burst from AXI port ``unit``, with the ID ``number``, from address ``value`` on."""
    EVENT_READ_END = 5
    """It gives the last beat of a burst with that ID."""
    EVENT_WRITE = 6
    """Memory takes a write burst, as a read burst."""
    EVENT_WRITE_END = 7
    """It answers that a burst with that ID is written."""
    EVENT_GROUP = 8
    """Compute unit ``unit`` begins with a work-group and calls it ``number``. The global ids of its first work-item:
    ``value`` has the first one in its lower and the second one in its upper half, ``pc`` is the third one."""
    EVENT_GROUP_END = 9
    """The last wavefront of the work-group has ended."""
    EVENT_START = 10
    """A wavefront starts in slot ``number`` of compute unit ``unit``."""
    EVENT_END = 11
    """It ends."""
    EVENT_REFUSAL = 12
    """Its instruction at ``pc`` is not issued, though it was its turn; ``value`` is a :class:`Refusal`."""
    EVENT_LOAD = 13
    """Its load or atomic operation at ``pc`` is issued; ``value`` is 1 for local memory."""
    EVENT_LOAD_DONE = 14
    """Its oldest load, of that memory, is done."""
    EVENT_ARRIVE = 15
    """It waits at the barrier at ``pc`` with all its work-items."""
    EVENT_RELEASE = 16
    """It goes on from there."""
    EVENT_PUSH = 17
    """Its work-items part at ``pc``: those of ``value`` wait, the others go on."""
    EVENT_SWITCH = 18
    """Other work-items of it go on, those of ``value``, as those that came to ``pc`` wait, or have ended."""
    EVENT_POP = 19
    """Those that came to ``pc`` go on together with others that waited; ``value`` has all of them."""
    EVENT_REQUEST = 20
    """Slice ``unit`` of the cache settles a request for the line at address ``value``: ``number`` is an
    :class:`Access`, ``pc`` the compute unit."""
    EVENT_FILL = 21
    """Its tag manager ``number`` is to read the line at address ``value``."""
    EVENT_EVICTION = 22
    """Its tag manager ``number`` is to write the line at address ``value`` back."""
    EVENT_WRITE_BACK = 23
    """The tag manager ``number`` requests the write burst."""
    EVENT_FILLED = 24
    """The line that the tag manager ``number`` was to read is in the cache."""
    EVENT_WRITTEN = 25
    """The line that the tag manager ``number`` was to write back is in memory."""


class Refusal(IntEnum):
    """Why an instruction is not issued."""

    NO_ROOM = 0
    """For its accesses in the memory controller, or for its operation in a floating-point unit."""
    COLLISION = 1
    """Its result would leave the floating-point units together with another."""


class Access(IntEnum):
    """What a compute unit wants of a line, and whether that has to come from memory first."""

    READ_MISS = 0
    READ_HIT = 1
    WRITE_MISS = 2
    WRITE_HIT = 3
    ATOMIC_MISS = 4
    ATOMIC_HIT = 5


OP_WRITE, OP_READ, OP_START, OP_WAIT, OP_PAUSE = Op
RUNNING, DONE, PROTOCOL_ERROR, TIMEOUT, REFUSED_ACCESS, UNSETTLED = Status
CHECK_NOTHING, CHECK_ALIGNMENT, CHECK_ALL = Check
ENUMERATIONS: Final = (Op, Status, Check, EventKind, Refusal, Access)


class Range(Structure):
    """From ``least`` to ``greatest``, both included."""

    _fields_ = [("least", c_uint32), ("greatest", c_uint32)]


class Timing(Structure):
    """``MemoryTiming`` of ``sim/engine.py``; chances are of 2**53: no floating point here."""

    _fields_ = [("read_latency", Range), ("write_latency", Range), ("pause_cycles", Range),
                ("interleave", c_uint32), ("reorder", c_uint32), ("pause_threshold", c_uint64),
                ("seed", c_uint64)]


class BenchConfig(Structure):
    """Everything that a test bench is built from."""

    _fields_ = [("memory", c_void_p), ("base", c_uint64), ("size", c_uint64), ("ports", c_uint32),
                ("beat_bytes", c_uint32), ("ids", c_uint32), ("compute_units", c_uint32), ("timing", Timing)]


class AddressRange(Structure):
    """From ``first`` up to, but not including, ``end``."""

    _fields_ = [("first", c_uint64), ("end", c_uint64)]


class HostOp(Structure):
    """One operation of the host; ``kind`` is an :class:`Op`, ``data`` what is written, or has been read."""

    _fields_ = [("kind", c_uint32), ("address", c_uint32), ("data", c_uint32)]


class PortCounters(Structure):
    """Traffic of an AXI4 port."""

    _fields_ = [(name, c_uint64) for name in (
        "read_bursts", "read_beats", "read_bytes", "write_bursts", "write_beats", "write_bytes")]


class UnitCounters(Structure):
    """Of a compute unit; ``wavefront_cycles`` is the sum of the wavefronts that were there in each cycle."""

    _fields_ = [("buckets", c_uint64 * BUCKETS), ("instructions", c_uint64), ("work_item_instructions", c_uint64),
                ("wavefront_cycles", c_uint64), ("local_phases", c_uint64), ("local_conflicts", c_uint64)]


class RefusedAccess(Structure):
    """``item`` is the work-item's number in its work-group, ``offsets`` are the work-group's;
    ``elsewhere``: it is aligned, and of global memory, but outside of what it may be in."""

    _fields_ = [("address", c_uint32), ("pc", c_uint32), ("item", c_uint32), ("offsets", c_uint32 * 3),
                ("elsewhere", c_uint32), ("happened", c_uint32)]


class Result(Structure):
    """What a launch took, or how it failed. ``now`` counts from the creation of the bench, ``cycles`` from the start;
    ``probe`` is of the last cycle of a launch that failed; ``message`` says what failed, or, when ``DONE``, which was
    the first burst ever where no memory is."""

    _fields_ = [("status", c_uint32), ("padding", c_uint32), ("now", c_uint64), ("cycles", c_uint64),
                ("port", PortCounters * PORTS), ("unit", UnitCounters * COMPUTE_UNITS), ("events", c_uint64 * EVENTS),
                ("probe", ProbeOut * COMPUTE_UNITS), ("refused", RefusedAccess), ("message", c_char * 256)]


class ProfileEntry(Structure):
    """What happened at one instruction of the program.

    ``issues`` of wavefronts with ``work_items`` enabled; ``cycles`` of compute units, each by its bucket at the
    instruction that the unit executes or that its first wavefront in that state waits at; ``waits``: cycles of
    wavefronts by their state there. Of accesses to global memory: ``phases`` of eight work-items, the ``accesses`` in
    them, and in how many different ``lines`` of the cache these are, counted for each phase; ``fills``: read bursts
    for lines that this instruction was the last to access, ``refills``: those of them that were not the first of the
    launch for their line.
    """

    _fields_ = [("issues", c_uint64), ("work_items", c_uint64), ("cycles", c_uint64 * BUCKETS),
                ("waits", c_uint64 * STATES), ("phases", c_uint64), ("accesses", c_uint64), ("lines", c_uint64),
                ("fills", c_uint64), ("refills", c_uint64)]


class Event(Structure):
    """Something that happened in a cycle of a launch."""

    _fields_ = [("cycle", c_uint64), ("kind", c_uint32), ("unit", c_uint32), ("number", c_uint32), ("pc", c_uint32),
                ("value", c_uint64)]


STRUCTURES: Final[tuple[Any, ...]] = (BenchConfig, AddressRange, HostOp, Result, ProfileEntry, Event)
"""Those that Python hands over or gets back, beside the ports."""

_FUNCTIONS = {
    "bench_create": ([POINTER(BenchConfig)], c_void_p),
    "bench_destroy": ([c_void_p], None),
    "bench_launch": ([c_void_p, c_void_p, c_uint32, c_uint64], None),
    "bench_wavefronts": ([c_void_p], c_uint64),
    "bench_allow": ([c_void_p, c_void_p, c_uint32, c_uint32, c_uint32], None),
    "bench_profile": ([c_void_p, POINTER(ProfileEntry), c_uint32, c_uint32], None),
    "bench_record": ([c_void_p, c_uint64, c_uint64], None),
    "bench_events": ([c_void_p, POINTER(c_uint64)], c_void_p),
    "bench_step": ([c_void_p, c_void_p, c_void_p], c_uint32),
    "bench_result": ([c_void_p], POINTER(Result)),
    "bench_quiet": ([c_void_p], c_uint32),
    "bench_bus_errors": ([c_void_p, c_uint64, c_uint64], None),
}
_MODEL_FUNCTIONS = {
    "model_create": ([POINTER(BenchConfig), c_char_p, c_char_p, c_uint64, c_uint64, c_uint32, c_uint32], c_void_p),
    "model_destroy": ([c_void_p], None),
    "model_bench": ([c_void_p], c_void_p),
    "model_reset": ([c_void_p, c_uint32, c_uint32], None),
    "model_run": ([c_void_p, c_uint64], c_uint32),
    "model_rested": ([c_void_p], c_uint64),
}


class BenchLibrary:
    """A compiled test bench; with ``model``, one with a Verilator model in it."""

    def __init__(self, path: Path, *, model: bool = False) -> None:
        try:
            self._library = ctypes.CDLL(str(path))      # releases the GIL during calls
        except OSError as error:
            raise ToolError(f"cannot load the compiled simulator {path}: {error}") from error
        functions = _FUNCTIONS | (_MODEL_FUNCTIONS if model else {})
        for name, (arguments, result) in functions.items():
            function = getattr(self._library, f"fgpu_{name}")
            function.argtypes, function.restype = arguments, result
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the test bench has no function {name!r}")


def bench_config(config: Config, memory: GlobalMemory, timing: MemoryTiming) -> BenchConfig:
    """The test bench's view of a configuration. The memory must outlive the bench."""
    if len(memory.bytes) != memory.size:
        raise ValueError("the memory's bytes are not as many as its size says")
    return BenchConfig(
        memory=memory.bytes.ctypes.data, base=memory.base, size=memory.size, ports=config.axi_ports,
        beat_bytes=config.axi_data_width // 8, ids=IDS, compute_units=config.compute_units,
        timing=Timing(
            read_latency=Range(*timing.read_latency), write_latency=Range(*timing.write_latency),
            pause_cycles=Range(*timing.pause_cycles), interleave=int(timing.interleave),
            reorder=int(timing.reorder), pause_threshold=int(timing.pause_probability * 2.0**53),
            seed=timing.seed))
