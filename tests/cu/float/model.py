"""A lane of floating-point units as compiled by Verilator: some million operations a second."""

import ctypes
from ctypes import POINTER, c_uint, c_uint8, c_uint32, c_uint64, c_void_p
from pathlib import Path

import numpy as np
from amaranth.back import rtlil

from fgpu.cu.float.format import BINARY32
from fgpu.cu.float.lane import Lane
from fgpu.cu.float.operations import LATENCY, FloatOp
from fgpu.sim.testbench.build import cached, compiled_by, digest, find_compiler
from fgpu.sim.verilate import FAST, runtime_object, verilate, verilated_by, verilator_flags
from fgpu.tools.verilog import verilog_text

_HARNESS = Path(__file__).parent / "harness.cpp"


class LaneModel:
    """``lane``, or one with some operations in some format, running in a simulator of its own."""

    def __init__(self, operations=frozenset(FloatOp), number=BINARY32, lane=None):
        text = verilog_text(rtlil.convert(lane or Lane(frozenset(operations), number), name="lane", emit_src=False))
        compiler = find_compiler()
        key = digest([text, _HARNESS, Path(__file__), *verilated_by(), *compiled_by(compiler)])
        library, _ = cached(f"lane-{key}", "lane.so", lambda work: _build(work, text, compiler))
        self._library = ctypes.CDLL(str(library))
        self._library.lane_create.restype = c_void_p
        self._library.lane_destroy.argtypes = [c_void_p]
        self._library.lane_run.argtypes = [c_void_p, c_uint64, POINTER(c_uint8), POINTER(c_uint32), POINTER(c_uint32),
                                           POINTER(c_uint8), POINTER(c_uint32)]
        self._library.lane_sweep.argtypes = [c_void_p, c_uint, c_uint64, c_uint64]
        self._library.lane_sweep.restype = c_uint64
        self._lane = self._library.lane_create()

    def __del__(self):
        self._library.lane_destroy(self._lane)

    def cycles(self, operation, first, second, select):
        """The output in each cycle, from the inputs in each cycle."""
        arrays = [np.ascontiguousarray(operation, np.uint8), np.ascontiguousarray(first, np.uint32),
                  np.ascontiguousarray(second, np.uint32), np.ascontiguousarray(select, np.uint8)]
        result = np.zeros(len(first), np.uint32)
        pointers = [array.ctypes.data_as(POINTER(np.ctypeslib.as_ctypes_type(array.dtype)))
                    for array in (*arrays, result)]
        self._library.lane_run(self._lane, len(first), *pointers)
        return result

    def run(self, op, first, second):
        """The results of one operation, on new operands in each cycle."""
        pad = [(0, LATENCY[op])]
        cycles = len(first) + LATENCY[op]
        code = np.full(cycles, op.value)
        return self.cycles(code, np.pad(first, pad), np.pad(second, pad), code)[LATENCY[op]:]

    def sweep(self, op, count):
        """Compares ``count`` words' results with the C compiler's; the first word that is wrong, or 2**32.

        Fewer than 2**32 lie evenly among all.
        """
        return self._library.lane_sweep(self._lane, op.value, LATENCY[op], count)


def _build(work, text, compiler):
    (work / "lane.v").write_text(text)
    model = verilate(work, ["lane.v"], "lane", "--no-assert")
    # No contraction and no excess precision in what the sweeps compare with.
    compiler.compile(model.sources(_HARNESS, fast=[*FAST, "-ffp-contract=off"]), work / "lane.so",
                     flags=[*verilator_flags(), f"-I{model.folder}"], objects=[runtime_object(compiler, model)])
    return {}
