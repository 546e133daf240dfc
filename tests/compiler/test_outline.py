"""Kernels that have room in the code RAM only when what they repeat is a subroutine: they do the same."""

import random

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.compiler.kernels import compile_sources
from fgpu.config import Config
from fgpu.errors import CompileError
from fgpu.sim import Device

from ..seeds import seed_of_test

ITEMS, WORDS = 64, 64
DTYPES = {"char": "int8", "short": "int16", "int": "int32", "long": "int64", "float": "float32", "double": "float64"}


def repeated(r, count):
    """Statements of a few kinds, at places of their own: what one does may depend on what others stored."""
    kinds = [
        "*(__global {type}16 *)(out + {at}) = vload16(0, in + {other}) {operator} ({type}){x};",
        "vstore8(vload8(0, in + {other}) + vload8(0, out + {before}) * vload8(0, in + n), 0, out + {at});",
        "x = in[{other}] * 3 + in[{other} + 1] * x + in[{other} + 2] * 5 + in[{other} + 4] * 7; out[{at}] = x;",
        "if (x & 1) {{ vstore4(vload4(0, in + {other}) ^ vload4(0, out + {at}) + vload4(0, in + {other} + 7), 0, "
        "out + {at}); x += out[{at}]; }}",
    ]
    chosen = [(r.choice(kinds), r.choice("+-^|")) for _ in range(3)]
    lines = []
    for _ in range(count):
        kind, operator = r.choice(chosen)
        # The places overlap: nothing may be loaded before what was stored before it.
        lines.append(kind.format(type="{type}", operator=operator, x=r.choice(("x", "y")), at=r.randrange(3) * 16,
                                 before=r.randrange(40), other=r.randrange(44)))
    return lines


def source(type, lines):
    body = "\n    ".join(lines).replace("{type}", type)
    return f"""__kernel void k(__global {type} *a, __global {type} *b) {{
    int n = get_local_id(0) % 8, at = get_global_id(0) * {WORDS};
    __global {type} *in = a + at, *out = get_global_id(0) % 3 ? b + at : in;
    {type} x = in[0], y = in[n];
    {body}
    out[0] += x; }}"""


def run(image, type):
    data = np.random.default_rng(7).integers(-1 << 7, 1 << 7, 2 * ITEMS * WORDS).astype(type)
    with Device(Config(cram_size=64), engine="functional") as device:
        a, b = (device.buffer(part) for part in np.split(data, 2))
        image["k"](a, b, global_size=ITEMS)
        return np.concatenate((a[:], b[:]))


@pytest.mark.parametrize("type", ["int", "char", "short", "long"])
@pytest.mark.parametrize("number", [0, *(pytest.param(number, marks=pytest.mark.long) for number in range(1, 6))])
def test_a_kernel_with_subroutines_for_what_it_repeats_does_the_same(type, number):
    text = source(type, repeated(random.Random(seed_of_test()), 8 if type == "long" else 16))
    whole = compile_opencl(text, config=Config(cram_size=64))
    for size in (2, 1):
        try:
            small = compile_opencl(text, config=Config(cram_size=size))
        except CompileError:
            break
        np.testing.assert_array_equal(run(small, DTYPES[type]), run(whole, DTYPES[type]))


@pytest.mark.parametrize("type", [*(pytest.param(type, marks=pytest.mark.ci) for type in ("char", "long")), *(
    pytest.param(type, marks=pytest.mark.long) for type in ("short", "int", "float", "double"))])
def test_constructors_of_vectors_of_sixteen(type):
    """As many as in the conformance tests, where they are up to 36,850 instructions one by one."""
    lines = [f"    b[{n}] = ({type}16)(vload8(0, a), a[8], vload3(0, a + 9), vload4(0, a + 12));" for n in range(273)]
    text = "\n".join([f"__kernel void k(__global {type} *a, __global {type}16 *b) {{", *lines, "}"])
    image = compile_sources({"k.cl": text}, [], Config(cram_size=64))
    assert len(image.words) <= 16384
    dtype = DTYPES[type]
    data = np.arange(1, 17).astype(dtype)
    with Device(Config(cram_size=64), engine="functional") as device:
        a, b = device.buffer(data), device.buffer(np.zeros(273 * 16, dtype))
        image["k"](a, b, global_size=1)
        np.testing.assert_array_equal(b[:].reshape(273, 16), np.tile(data, (273, 1)))
