"""Atomic operations: compiled for hardware that has them, run on the functional engine."""

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import ATOMICS, Config
from fgpu.errors import CompileError
from fgpu.sim import Device

CONFIG = Config(atomics=ATOMICS)
ITEMS = 128


def launch(body, *arrays):
    parameters = ", ".join(f"__global {'int' if a.dtype == np.int32 else 'uint'} *p{n}" for n, a in enumerate(arrays))
    image = compile_opencl(f"__kernel void k({parameters}) {{ int i = get_global_id(0); {body} }}", config=CONFIG)
    device = Device(CONFIG, engine="functional")
    buffers = [device.buffer(array) for array in arrays]
    device.launch(image, "k", global_size=(ITEMS,), local_size=(64,), args=buffers)
    return [buffer.read() for buffer in buffers]


def words(seed, dtype=np.int32, count=ITEMS):
    return np.random.default_rng(seed).integers(0, 2**32, count, dtype=np.uint32).view(dtype)


@pytest.mark.parametrize(("operation", "dtype", "combine"), [
    ("add", np.int32, np.add), ("add", np.uint32, np.add), ("sub", np.int32, np.subtract),
    ("max", np.int32, np.maximum), ("max", np.uint32, np.maximum), ("min", np.int32, np.minimum),
    ("min", np.uint32, np.minimum), ("and", np.uint32, np.bitwise_and), ("or", np.int32, np.bitwise_or),
    ("xor", np.int32, np.bitwise_xor),
])
def test_reductions(operation, dtype, combine):
    data, start = words(1, dtype), words(2, dtype, 1)
    result, _ = launch(f"atomic_{operation}(p0, p1[i]);", start, data)
    expected = start[0]
    with np.errstate(over="ignore"):
        for value in data:
            expected = combine(expected, value)
    assert result[0] == expected


def test_histogram_and_tickets():
    data = words(3, np.uint32)
    counts, tickets, down, _ = launch(
        "atomic_inc(p0 + (p3[i] & 15)); p1[i] = atomic_inc(&p1[128]); atomic_dec(&p2[3]);",
        np.zeros(16, np.int32), np.zeros(ITEMS + 1, np.uint32), np.zeros(4, np.int32), data)
    assert (counts == np.bincount(data & 15, minlength=16)).all()
    assert sorted(tickets[:ITEMS]) == list(range(ITEMS))
    assert down.tolist() == [0, 0, 0, -ITEMS]


def test_exchange():
    old, cell = launch("p0[i] = atomic_xchg(p1, i + 1);", np.zeros(ITEMS, np.int32), np.zeros(1, np.int32))
    assert sorted([*old, *cell]) == list(range(ITEMS + 1))


def test_compare_and_exchange():
    winners, cell = launch("p0[i] = atomic_cmpxchg(p1 + 1, 7, 100 + i);", np.zeros(ITEMS, np.int32),
                           np.array([7, 7], np.int32))
    assert (winners == 7).sum() == 1
    assert cell[0] == 7
    assert cell[1] == 100 + np.flatnonzero(winners == 7)[0]


def test_only_what_the_hardware_has():
    source = "__kernel void k(__global uint *a) {\n    atomic_max(a, 1u);\n}"
    compile_opencl(source, config=Config(atomics=frozenset({"umax"})))
    with pytest.raises(CompileError, match=r"k.cl:2: atomic_max\(\) needs hardware with the atomic operation 'umax'"):
        compile_opencl(source, filename="k.cl", config=Config(atomics=frozenset({"max"})))


@pytest.mark.parametrize(("call", "operation"), [
    ("atomic_add(a, 1)", "add"), ("atomic_dec(a)", "add"), ("atomic_cmpxchg(a, 1, 2)", "cmpxchg"),
    ("atom_min(a, 1)", "min"), ("atom_xor(a, 1)", "xor"),
])
def test_each_operation_is_asked_for(call, operation):
    """Without a configuration the compiler takes all; else the hardware must have the operation."""
    source = f"__kernel void k(__global int *a) {{\n    {call};\n}}"
    assert compile_opencl(source) == compile_opencl(source, config=Config(atomics=frozenset({operation})))
    with pytest.raises(CompileError, match=rf"k.cl:2: .*needs hardware with the atomic operation '{operation}'"):
        compile_opencl(source, filename="k.cl", config=Config(atomics=ATOMICS - {operation}))


@pytest.mark.parametrize("name", ["add", "sub", "xchg", "inc", "dec", "cmpxchg", "min", "max", "and", "or", "xor"])
def test_old_names(name):
    operands = {"inc": "", "dec": "", "cmpxchg": ", 1u, 2u"}.get(name, ", 1u")
    images = [compile_opencl(f"__kernel void k(__global uint *a) {{ a[1] = {prefix}_{name}(a{operands}); }}")
              for prefix in ("atomic", "atom")]
    assert images[0] == images[1]
