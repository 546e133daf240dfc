"""What Python and C++ tell each other: structures for ctypes, of which C++ gets a header."""

import ctypes
from ctypes import POINTER, Structure, c_int32, c_uint8, c_uint32, c_uint64, c_void_p
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

from fgpu.config import DIMENSIONS, LOCAL_BASE, WAVEFRONT_SIZE
from fgpu.errors import ToolError
from fgpu.isa import REGISTER_COUNT, Opcode
from fgpu.sim.testbench.header import enumeration, structures

__all__ = ["Job", "Kind", "Library", "Outcome", "Status", "Step", "header"]

SCRAP = REGISTER_COUNT
"""The register that takes what is written to r0."""
PARAMETERS: Final = 16


class Kind(IntEnum):
    """What the schedule must know of an instruction."""

    PLAIN = 0
    """It changes nothing but the work-item's own registers and scratchpad."""
    LOAD = 1
    STORE = 2
    ATOMIC = 3
    BRANCH = 4
    CALL = 5
    RETURN = 6
    BARRIER = 7
    NONE = 8
    """There is no such instruction, or the configuration lacks it."""


class Status(IntEnum):
    """Why a run has stopped."""

    DONE = 0
    PAUSED = 1
    """The time is over; the next call goes on."""
    NO_INSTRUCTION = 2
    STACK_OVERFLOW = 3
    REFUSED = 4
    """Accesses are outside what is allowed: ``refused`` of them are listed, those of the first such instruction."""
    TIMEOUT = 5


class Check(IntEnum):
    """What the addresses of accesses are held to."""

    NOTHING = 0
    ALIGNMENT = 1
    RANGES = 2


class Step(Structure):
    """An instruction. ``to`` is rd, or the scrap register instead of r0."""

    _fields_ = [("opcode", c_uint8), ("kind", c_uint8), ("local", c_uint8), ("scale", c_uint8), ("rd", c_uint8),
                ("rs", c_uint8), ("rt", c_uint8), ("to", c_uint8), ("immediate", c_uint32), ("target", c_int32)]


class Job(Structure):
    """A launch. ``firsts`` and ``ends`` are the address ranges that accesses lie in, ``local_ids`` has a row of 64
    words for each wavefront of a work-group, dimension after dimension. ``registers`` has a bit for each that the
    program names; programs that use no local memory, or no scratchpad, get none."""

    _fields_ = [
        ("memory", c_void_p), ("steps", c_void_p), ("firsts", c_void_p), ("ends", c_void_p), ("local_ids", c_void_p),
        ("memory_base", c_uint64), ("memory_size", c_uint64), ("limit", c_uint64), ("groups", c_uint64),
        ("work_groups", c_uint64 * DIMENSIONS),
        ("length", c_uint32), ("registers", c_uint32), ("ranges", c_uint32), ("check", c_uint32), ("entry", c_uint32),
        ("wavefronts", c_uint32), ("last_items", c_uint32), ("dimensions", c_uint32), ("together", c_uint32),
        ("place", c_uint32), ("stack_depth", c_uint32), ("subnormals", c_uint32), ("scratchpad_words", c_uint32),
        ("local_bytes", c_uint32), ("local_used", c_uint32),
        ("global_size", c_uint32 * DIMENSIONS), ("global_offset", c_uint32 * DIMENSIONS),
        ("group_size", c_uint32 * DIMENSIONS), ("parameters", c_uint32 * PARAMETERS)]


class Outcome(Structure):
    """How far a launch is. ``first_group`` and ``groups`` are those that run together; the arrays have an element for
    each of their wavefronts: where it goes on (-1: nowhere), its enabled work-items, those at a barrier, where these
    go on, and whether it runs (0), waits (1) or has ended (2)."""

    _fields_ = [
        ("status", c_uint32), ("pc", c_int32), ("wavefront", c_uint32), ("refused", c_uint32),
        ("first_group", c_uint64), ("groups", c_uint64), ("instructions", c_uint64),
        ("work_item_instructions", c_uint64), ("divergent_branches", c_uint64), ("stack_entries", c_uint64),
        ("pcs", c_void_p), ("masks", c_void_p), ("parked", c_void_p), ("resume", c_void_p), ("states", c_void_p),
        ("refused_items", c_void_p), ("refused_addresses", c_void_p)]


CONSTANTS: Final = {"LANES": WAVEFRONT_SIZE, "REGISTERS": REGISTER_COUNT, "LOCAL_BASE": LOCAL_BASE}


def header() -> str:
    """``job.h``: all of this for C++, and the instructions' names."""
    return "\n".join([
        "// Written by sim/functional/native/abi.py.", "#pragma once", "#include <stddef.h>", "#include <stdint.h>",
        "namespace fgpu {",
        *(f"constexpr unsigned {name} = {value}u;" for name, value in CONSTANTS.items()),
        "namespace op {", enumeration(Opcode), "}",
        *(f"namespace {kind.__name__.lower()} {{ {enumeration(kind)} }}" for kind in (Kind, Status, Check)),
        *structures([Step, Job, Outcome]),
        "}", ""])


_FUNCTIONS: Final[dict[str, tuple[list[Any], Any]]] = {
    "create": ([], c_void_p),
    "destroy": ([c_void_p], None),
    # Starts a launch, or goes on with it without a job, for some milliseconds; the outcome is the engine's own.
    "run": ([c_void_p, POINTER(Job), c_uint32], POINTER(Outcome)),
}


class Library:
    """The compiled engine."""

    def __init__(self, path: Path) -> None:
        try:
            self._library = ctypes.CDLL(str(path))      # releases the GIL during calls
        except OSError as error:
            raise ToolError(f"cannot load the compiled functional engine {path}: {error}") from error
        for name, (arguments, result) in _FUNCTIONS.items():
            function = getattr(self._library, f"fgpu_functional_{name}")
            function.argtypes, function.restype = arguments, result
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the functional engine has no function {name!r}")
