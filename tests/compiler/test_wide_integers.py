"""Integers of several words, against Python's: long integers, and those of three and four words."""

import random

import numpy as np
import pytest
from llvmlite import binding as llvm

from fgpu.compiler import compile_opencl, kernels
from fgpu.compiler.frontend.clang import Bitcode
from fgpu.config import Config

from .interpreter import run

WORD = 32
COUNT = 64
EDGE_WORDS = [0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFE, 0xFFFF_FFFF]


def numbers(rng: random.Random, bits: int) -> list[int]:
    """With words that are likely to carry, and random ones."""
    return [sum((rng.choice(EDGE_WORDS) if rng.random() < 0.7 else rng.getrandbits(WORD)) << at
                for at in range(0, bits, WORD)) for _ in range(COUNT)]


def as_words(values: list[int], bits: int) -> np.ndarray:
    return np.array([value >> at & 0xFFFF_FFFF for value in values for at in range(0, bits, WORD)], np.uint32)


def results(bits: int, expressions: list[str], a: list[int], b: list[int]) -> list[list[int]]:
    """What each of the expressions in x and y gives for all pairs; ``wide`` is their type, ``signed_wide`` that with
    a sign."""
    words = bits // WORD
    join = " | ".join(f"(wide){{0}}[{words} * i + {word}] << {word * WORD}" for word in range(words))
    stores = "".join(f"r = {text};" + "".join(
        f"out[({number} * n + i) * {words} + {word}] = (uint)(r >> {word * WORD});" for word in range(words))
        for number, text in enumerate(expressions))
    image = compile_opencl(f"""
        typedef unsigned _BitInt({bits}) wide;
        typedef _BitInt({bits}) signed_wide;
        __kernel void k(__global const uint *a, __global const uint *b, __global uint *out, int n) {{
            int i = get_global_id(0);
            wide x = {join.format("a")}, y = {join.format("b")}, r;
            {stores}
        }}""", config=Config(cram_size=16))
    out = np.zeros(len(expressions) * COUNT * words, np.uint32)
    run(image, "k", COUNT, [as_words(a, bits), as_words(b, bits), out, COUNT])
    rows = out.reshape(len(expressions), COUNT, words)
    return [[sum(int(word) << WORD * at for at, word in enumerate(value)) for value in row] for row in rows]


def signed(value: int, bits: int) -> int:
    return value - (value >> bits - 1 << bits)


@pytest.mark.parametrize("bits", [96, 128])
def test_arithmetic_of_three_and_four_words(bits: int) -> None:
    functions = {
        "x + y": lambda x, y: x + y,
        "x - y": lambda x, y: x - y,
        "x * y": lambda x, y: x * y,
        "x + 1": lambda x, y: x + 1,
        "x - 1": lambda x, y: x - 1,
        "x - ((wide)1 << 32)": lambda x, y: x - 2**32,
        "(x ^ y) + (x & y)": lambda x, y: (x ^ y) + (x & y),
        "x < y": lambda x, y: x < y,
        "(signed_wide)x <= (signed_wide)y": lambda x, y: signed(x, bits) <= signed(y, bits),
        "x == y ? x : -y": lambda x, y: x if x == y else -y,
        **{f"x << {n}": lambda x, y, n=n: x << n for n in (1, 31, 32, 33, 64, bits - 1)},
        **{f"x >> {n}": lambda x, y, n=n: x >> n for n in (1, 31, 32, 33, 64, bits - 1)},
        **{f"(wide)((signed_wide)x >> {n})": lambda x, y, n=n: signed(x, bits) >> n for n in (1, 32, 40, bits - 1)},
    }
    rng = random.Random(bits)
    a, b = numbers(rng, bits), numbers(rng, bits)
    b[:4] = a[:4]
    for (text, function), row in zip(functions.items(), results(bits, list(functions), a, b), strict=True):
        assert row == [int(function(x, y)) % (1 << bits) for x, y in zip(a, b, strict=True)], text


def test_two_long_integers_shifted_together_by_constants() -> None:
    """Rotations, and bits out of two: below a word, a word, and more."""
    rng = random.Random(2)
    a, b = numbers(rng, 64), numbers(rng, 64)
    amounts = [1, 7, 31, 32, 33, 40, 63]
    expressions = [text for n in amounts for text in (f"rotate((ulong)x, {n}ul)", f"x << {n} | y >> {64 - n}")]
    rows = iter(results(64, expressions, a, b))
    for n in amounts:
        assert next(rows) == [(x << n | x >> 64 - n) % 2**64 for x in a], f"rotation by {n}"
        assert next(rows) == [(x << n | y >> 64 - n) % 2**64 for x, y in zip(a, b, strict=True)], f"shift by {n}"


def test_funnel_shifts_by_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those to the right and by 0, which clang's passes do without."""
    shifts = [(name, n) for name in ("fshl", "fshr") for n in (0, 1, 31, 32, 33, 63, 64, 69)]
    body = "".join(f"""
        %r{number} = call i64 @llvm.{name}.i64(i64 %x, i64 %y, i64 {n})
        %p{number} = getelementptr [{COUNT} x i64], ptr addrspace(1) %o, i32 {number}, i32 %i
        store i64 %r{number}, ptr addrspace(1) %p{number}, align 8""" for number, (name, n) in enumerate(shifts))
    text = f"""
        target datalayout = "e-p:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512"
        target triple = "spir-unknown-unknown"
        declare spir_func i32 @_Z13get_global_idj(i32)
        declare i64 @llvm.fshl.i64(i64, i64, i64)
        declare i64 @llvm.fshr.i64(i64, i64, i64)
        define spir_kernel void @k(ptr addrspace(1) align 8 %a, ptr addrspace(1) align 8 %b,
                                   ptr addrspace(1) align 8 %o) !kernel_arg_name !0 {{
        %i = call spir_func i32 @_Z13get_global_idj(i32 0)
        %ax = getelementptr i64, ptr addrspace(1) %a, i32 %i
        %by = getelementptr i64, ptr addrspace(1) %b, i32 %i
        %x = load i64, ptr addrspace(1) %ax, align 8
        %y = load i64, ptr addrspace(1) %by, align 8
        {body}
        ret void
        }}
        !0 = !{{!"a", !"b", !"o"}}"""
    with llvm.parse_assembly(text, llvm.create_context()) as module:
        bitcode = module.as_bitcode()
    monkeypatch.setattr(kernels, "compile_to_bitcode", lambda *arguments, **options: Bitcode(bitcode, ()))
    image = kernels.compile_sources({"k.cl": ""}, [], Config(cram_size=16))
    rng = random.Random(3)
    a, b = numbers(rng, 64), numbers(rng, 64)
    out = np.zeros((len(shifts), COUNT), np.uint64)
    run(image, "k", COUNT, [np.array(a, np.uint64), np.array(b, np.uint64), out])
    for (name, n), row in zip(shifts, out.tolist(), strict=True):
        both = [x << 64 | y for x, y in zip(a, b, strict=True)]
        moved = n % 64
        assert row == [(each << moved >> 64 if name == "fshl" else each >> moved) % 2**64 for each in both], (name, n)
