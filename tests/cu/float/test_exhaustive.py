"""Every operation on all operands of a small format: the same source as for binary32, against exact arithmetic."""

from functools import lru_cache

import numpy as np
import pytest

from fgpu.cu.float.format import Format
from fgpu.cu.float.operations import FloatOp

from .model import LaneModel
from .reference import Reference

BINARY = [FloatOp.FADD, FloatOp.FSUB, FloatOp.FMUL, FloatOp.FDIV, FloatOp.FSLT]
LARGE, SMALL = Format(5, 4), Format(5, 2, subnormals=False)
FORMATS = [pytest.param(LARGE, marks=pytest.mark.ci), SMALL,
           pytest.param(Format(5, 4, subnormals=False), marks=pytest.mark.long)]


def named(number):
    return f"{number.exponent_bits}e{number.fraction_bits}" + ("" if number.subnormals else "_flush")


@lru_cache
def lane(number):
    return LaneModel(number=number), Reference(number)


@pytest.mark.parametrize("op", FloatOp, ids=lambda op: op.name)
@pytest.mark.parametrize("number", FORMATS, ids=named)
def test_all_operands(number, op):
    check(*lane(number), op)


@pytest.mark.ci
@pytest.mark.parametrize("names", ["FADD FSUB", "UITOFP ITOFP", "FPTOSI FPTOUI", "FADD FPTOUI", "FSUB ITOFP", "FDIV",
                                   "FSQRT FSLT"])
def test_some_units(names):
    """Without the others, units are narrower and share less."""
    ops = [FloatOp[name] for name in names.split()]
    number = Format(5, 2)
    model, reference = LaneModel(frozenset(ops), number), Reference(number)
    for op in ops:
        check(model, reference, op)


@pytest.mark.ci
def test_sums_alone():
    """Without conversions, an adder has no more bits than rounding needs, so that each one that it drops counts."""
    model, reference = LaneModel(frozenset({FloatOp.FADD, FloatOp.FSUB}), LARGE), Reference(LARGE)
    check(model, reference, FloatOp.FADD)
    check(model, reference, FloatOp.FSUB)


def check(model, reference, op):
    words = np.arange(1 << reference.number.width)
    first, second = (array.ravel() for array in np.meshgrid(words, words if op in BINARY else words[:1]))
    got = model.run(op, first, second)
    operation = reference.operations[op]
    expected = np.array([operation(a, b) for a, b in zip(first.tolist(), second.tolist(), strict=True)], np.uint32)
    wrong = np.flatnonzero(got != expected)
    assert not len(wrong), "\n".join(
        f"{first[i]:x}, {second[i]:x} -> {got[i]:x}, not {expected[i]:x}" for i in wrong[:8])
