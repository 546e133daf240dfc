"""Random calls of printf print on our engine what they print on PoCL, where that is installed.

Not those with ``+`` or a space for unsigned numbers, or with both, as PoCL does not ignore what C does, and those
with vectors of 128 bytes or strings in a width, of which PoCL prints others.
"""

import io
import random
import subprocess
import sys
from pathlib import Path

import pytest

from fgpu.compiler import compile_opencl
from fgpu.config import ATOMICS, Config
from fgpu.sim import Device, Printf
from tests.seeds import seed_of_test

from .fuzz.pocl import opencl

CALLS, WORK_ITEMS = 40, 3
ON_POCL = """
import ctypes, sys
from tests.compiler.fuzz.pocl import opencl
from tests.compiler.fuzz.program import Parameter, Source
opencl().run(Source(sys.stdin.read(), ("k",), (Parameter("__global int *", "a", bytes(4), True),), {items}), 1)
ctypes.CDLL(None).fflush(None)
"""
INTEGERS = {"hh": "char", "h": "short", "": "int", "hl": "int", "l": "long"}


def flags(rng, some):
    """Flags, of which there are ``some``, width and precision."""
    return "".join(flag for flag in some if rng.random() < 0.2) + rng.choice(["", str(rng.randrange(1, 20))]) \
        + rng.choice(["", f".{rng.randrange(12)}"])


def an_integer(rng, type):
    bits = {"char": 8, "short": 16, "int": 32, "long": 64}[type]
    return f"({type})({rng.getrandbits(rng.randrange(1, bits))}{'L' if bits == 64 else ''} {rng.choice('+-')} i)"


def a_float(rng):
    value = rng.choice([rng.uniform(-100, 100), rng.randrange(-20, 20) / 8, 10.0 ** rng.uniform(-9, 9)])
    return f"({value:.8e}f * (1 + i))"


def a_conversion(rng):
    """A conversion specification and an argument."""
    lanes = rng.choice([None, None, 2, 3, 4, 8, 16])
    if rng.random() < 0.1:
        return rng.choice([("%%", None), (f"%{rng.randrange(1, 9)}c", "'a' + i"), ("%s", 'i ? "yes" : "no"'),
                           (f"%.{rng.randrange(6)}s", '"text"')])
    if rng.random() < 0.5:
        length = rng.choice(["hh", "h", "" if lanes is None else "hl", *(["l"] if lanes != 16 else [])])
        value, letter = lambda: an_integer(rng, INTEGERS[length]), rng.choice("diouxX")
        type = INTEGERS[length]
    else:
        length, type = "" if lanes is None else "hl", "float"
        value, letter = lambda: a_float(rng), rng.choice("fFeEgGaA")
    vector = "" if lanes is None else f"v{lanes}"
    argument = value() if lanes is None else f"({type}{lanes})({', '.join(value() for _ in range(lanes))})"
    spelled = flags(rng, "-#0" if letter in "ouxX" else rng.choice(["-+#0", "- #0"]))
    return f"%{spelled}{vector}{length}{letter}", argument


def a_kernel(rng):
    calls = []
    for number in range(CALLS):
        conversions = [a_conversion(rng) for _ in range(rng.randrange(1, 4))]
        text = "|".join(text for text, _ in conversions)
        arguments = "".join(f", {argument}" for _, argument in conversions if argument is not None)
        calls.append(f'    printf("%d.{number}: {text}\\n", i{arguments});')
    body = "\n".join(calls)
    return f"__kernel void k(__global int *a)\n{{\n    int i = get_global_id(0);\n{body}\n}}\n"


@pytest.mark.ci
def test_pocl_prints_the_same():
    try:
        opencl()
    except OSError as error:
        pytest.skip(str(error))
    source, text = a_kernel(random.Random(seed_of_test())), io.StringIO()
    there = subprocess.run([sys.executable, "-c", ON_POCL.format(items=WORK_ITEMS)], input=source, text=True,
                           capture_output=True, check=True, cwd=Path(__file__).parents[2])
    config = Config(atomics=ATOMICS, cram_size=16)
    with Device(config, engine="functional", printf=Printf(to=text, order="work-item")) as device:
        image = compile_opencl(source, config=config)
        image["k"](device.buffer(1), global_size=WORK_ITEMS)
    assert sorted(text.getvalue().splitlines()) == sorted(there.stdout.splitlines())
