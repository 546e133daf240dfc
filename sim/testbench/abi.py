"""The structures and functions of the C++ test bench, for ctypes (``ports.h`` and ``testbench.cpp``)."""

import ctypes
from ctypes import POINTER, Structure, c_char, c_char_p, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from fgpu.config import PE_COUNT, WAVEFRONTS, Config
from fgpu.errors import ToolError

from ..engine import MemoryTiming
from ..memory import GlobalMemory

__all__ = [
    "CHECK_ALIGNMENT", "CHECK_ALL", "CHECK_NOTHING", "DONE", "OP_PAUSE", "OP_READ", "OP_START", "OP_WAIT", "OP_WRITE",
    "PROTOCOL_ERROR", "REFUSED_ACCESS", "RUNNING", "TIMEOUT", "AddressRange", "BenchConfig", "BenchLibrary", "HostOp",
    "PortsIn", "PortsOut", "ProbeOut", "Result", "bench_config",
]

PORTS = 4
COMPUTE_UNITS = 8
EVENTS = 64
BUCKETS = 8
IDS = 64

OP_WRITE, OP_READ, OP_START, OP_WAIT, OP_PAUSE = range(5)
RUNNING, DONE, PROTOCOL_ERROR, TIMEOUT, REFUSED_ACCESS = range(5)
CHECK_NOTHING, CHECK_ALIGNMENT, CHECK_ALL = range(3)


class AxiAddress(Structure):
    _fields_ = [("addr", c_uint32), ("id", c_uint8), ("len", c_uint8), ("size", c_uint8), ("burst", c_uint8),
                ("valid", c_uint8)]


class AxiOut(Structure):
    _fields_ = [("wdata", c_uint64), ("aw", AxiAddress), ("ar", AxiAddress), ("wstrb", c_uint8),
                ("wlast", c_uint8), ("wvalid", c_uint8), ("bready", c_uint8), ("rready", c_uint8)]


class LiteOut(Structure):
    _fields_ = [("rdata", c_uint32), ("awready", c_uint8), ("wready", c_uint8), ("bresp", c_uint8),
                ("bvalid", c_uint8), ("arready", c_uint8), ("rresp", c_uint8), ("rvalid", c_uint8)]


class ProbeOut(Structure):
    _fields_ = [("pcs", c_uint16 * WAVEFRONTS), ("states", c_uint32), ("bucket", c_uint8), ("issue", c_uint8),
                ("lanes", c_uint8)]


class AccessOut(Structure):
    _fields_ = [("addresses", c_uint32 * PE_COUNT), ("offsets", c_uint32 * 3), ("pc", c_uint16), ("valid", c_uint8),
                ("load", c_uint8), ("atomic", c_uint8), ("width", c_uint8), ("wavefront", c_uint8),
                ("number", c_uint8), ("phase", c_uint8), ("lanes", c_uint8), ("starts", c_uint8)]


class PortsOut(Structure):
    """What the hardware drives in one cycle."""

    _fields_ = [("axi", AxiOut * PORTS), ("events", c_uint64), ("probe", ProbeOut * COMPUTE_UNITS),
                ("access", AccessOut * COMPUTE_UNITS), ("lite", LiteOut), ("status", c_uint16)]


class AxiIn(Structure):
    _fields_ = [("rdata", c_uint64), ("awready", c_uint8), ("wready", c_uint8), ("arready", c_uint8),
                ("bid", c_uint8), ("bresp", c_uint8), ("bvalid", c_uint8), ("rid", c_uint8), ("rresp", c_uint8),
                ("rlast", c_uint8), ("rvalid", c_uint8)]


class LiteIn(Structure):
    _fields_ = [("wdata", c_uint32), ("awaddr", c_uint16), ("araddr", c_uint16), ("awvalid", c_uint8),
                ("wstrb", c_uint8), ("wvalid", c_uint8), ("bready", c_uint8), ("arvalid", c_uint8),
                ("rready", c_uint8)]


class PortsIn(Structure):
    """What the test bench drives in one cycle."""

    _fields_ = [("axi", AxiIn * PORTS), ("lite", LiteIn)]


class Range(Structure):
    _fields_ = [("least", c_uint32), ("greatest", c_uint32)]


class Timing(Structure):
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
    """One operation of the host; ``kind`` is one of ``OP_WRITE`` and its companions."""

    _fields_ = [("kind", c_uint32), ("address", c_uint32), ("data", c_uint32)]


class PortCounters(Structure):
    _fields_ = [(name, c_uint64) for name in (
        "read_bursts", "read_beats", "read_bytes", "write_bursts", "write_beats", "write_bytes")]


class UnitCounters(Structure):
    _fields_ = [("buckets", c_uint64 * BUCKETS), ("instructions", c_uint64), ("work_item_instructions", c_uint64),
                ("wavefront_cycles", c_uint64)]


class RefusedAccess(Structure):
    _fields_ = [("address", c_uint32), ("pc", c_uint32), ("item", c_uint32), ("offsets", c_uint32 * 3),
                ("misaligned", c_uint32), ("happened", c_uint32)]


class Result(Structure):
    """What a launch took, or how it failed."""

    _fields_ = [("status", c_uint32), ("padding", c_uint32), ("now", c_uint64), ("cycles", c_uint64),
                ("port", PortCounters * PORTS), ("unit", UnitCounters * COMPUTE_UNITS), ("events", c_uint64 * EVENTS),
                ("probe", ProbeOut * COMPUTE_UNITS), ("refused", RefusedAccess), ("message", c_char * 256)]


_FUNCTIONS = {
    "bench_create": ([POINTER(BenchConfig)], c_void_p),
    "bench_destroy": ([c_void_p], None),
    "bench_launch": ([c_void_p, c_void_p, c_uint32, c_uint64], None),
    "bench_allow": ([c_void_p, c_void_p, c_uint32, c_uint32], None),
    "bench_step": ([c_void_p, c_void_p, c_void_p], c_uint32),
    "bench_result": ([c_void_p], POINTER(Result)),
    "bench_quiet": ([c_void_p], c_uint32),
    "bench_bus_errors": ([c_void_p, c_uint64, c_uint64], None),
}
_MODEL_FUNCTIONS = {
    "model_create": ([POINTER(BenchConfig), c_char_p, c_uint32, c_uint32], c_void_p),
    "model_destroy": ([c_void_p], None),
    "model_bench": ([c_void_p], c_void_p),
    "model_reset": ([c_void_p, c_uint32, c_uint32], None),
    "model_run": ([c_void_p, c_uint64], c_uint32),
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
        self._check()

    def _check(self) -> None:
        ours = [ctypes.sizeof(t) for t in (PortsOut, PortsIn, BenchConfig, HostOp, Result)]
        theirs = (c_uint32 * len(ours))()
        self._library.fgpu_abi_sizes(theirs)
        if list(theirs) != ours:
            raise ToolError(f"the C++ compiler lays out the test bench's structures as {list(theirs)} bytes, "
                            f"Python as {ours}")

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
            seed=timing.seed & (1 << 64) - 1))
