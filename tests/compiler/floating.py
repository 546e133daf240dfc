"""Floating-point operands that find errors, and launches that feed them to a kernel."""

import numpy as np

from fgpu.config import Config
from fgpu.sim import Device

CANONICAL_NAN = 0x7FC0_0000
_GROUP = 512


def special_words():
    """Binary32 numbers at the edges of something, as words."""
    positive = {0, 1, 2, 3, 0x400000, 0x7FFFFE, 0x7FFFFF, 0x800000, 0x800001, 0xFFFFFF, 0x1000000, 0x1000001,
                0x7F7FFFFF, 0x7F7FFFFE, 0x7F000000, 0x7F800000, 0x7F800001, 0x7FBFFFFF, CANONICAL_NAN, 0x7FFFFFFF}
    exponents = [1, 2, 23, 24, 25, 26, 64, 102, 103, 104, 120, 125, 126, 127, 128, 129, 149, 150, 151, 152, 157, 158,
                 159, 190, 230, 253, 254]
    for exponent in exponents:
        one = exponent << 23
        positive |= {one - 1, one, one + 1, one + 2, one | 0x400000, one | 0x7FFFFF, one | 0x555555, one | 0x800}
    words = np.array(sorted(positive), np.uint32)
    return np.concatenate([words, words | np.uint32(0x8000_0000)])


def random_pairs(rng, count):
    """Pairs of words, a third each: any two; exponents that differ little; the same with few bits set."""
    any_two = rng.integers(0, 1 << 32, (2, count), dtype=np.uint32)
    exponent = rng.integers(0, 256, count)
    other = np.clip(exponent + rng.integers(-30, 31, count), 0, 255)
    # For products and quotients at the edges of the range, the exponents' sum is what is stratified.
    mirrored = np.clip(rng.choice([1, 127, 253, 380], count) - exponent + rng.integers(-30, 31, count), 0, 255)
    fractions = rng.integers(0, 1 << 23, (2, count))
    few = fractions & rng.integers(0, 1 << 23, (2, count)) & rng.integers(0, 1 << 23, (2, count))
    few = np.where(rng.random((2, count)) < 0.3, 0x7FFFFF ^ few, few)
    kind = rng.integers(0, 6, count)
    fractions = np.where(kind % 2, few, fractions)
    exponents = np.stack([exponent, np.where(kind < 4, other, mirrored)])
    signs = rng.integers(0, 2, (2, count))
    close = (signs << 31 | exponents << 23 | fractions).astype(np.uint32)
    return np.where(rng.random(count) < 0.2, any_two, close)


def triples(seed, count, pairs, product, spread, fraction_bits):
    """Words for sums that cancel, sums of very different parts, and any; ``product`` is that of words."""
    rng = np.random.default_rng(seed)
    a, b = pairs(rng, count)
    c = np.concatenate(pairs(rng, count // 2 + 1))[:count]
    word = a.dtype.type
    near = product(a, b) ^ rng.integers(0, 8, count, dtype=word)
    near += rng.integers(-spread, spread + 1, count).astype(word) << word(fraction_bits)
    near ^= rng.integers(0, 2, count, dtype=word) << word(8 * a.itemsize - 1)
    return a, b, np.where(rng.random(count) < 0.6, near, c)


def half_away(values):
    """Rounded to whole numbers, and halves away from zero."""
    return np.copysign(np.floor(np.abs(values.astype(np.float64)) + 0.5), values)


def fused(a, b, c):
    """a * b + c of numbers below binary64, which is to be rounded once: their product is exact there, and the sum is
    rounded to odd."""
    product, c = a.astype(np.float64) * b, c.astype(np.float64)
    total = product + c
    part = total - product
    error = (product - (total - part)) + (c - part)
    inexact = np.isfinite(error) & (error != 0) & (total.view(np.int64) & 1 == 0)
    return np.where(inexact, np.nextafter(total, np.where(error > 0, np.inf, -np.inf)), total)


def all_pairs(words):
    a, b = np.meshgrid(words, words)
    return np.stack([a.ravel(), b.ravel()])


def launch(image, kernel, *inputs, config=None, engine="functional"):
    """Run ``kernel(inputs..., output)`` over arrays of words; returns the output's words."""
    count = len(inputs[0])
    padded = -(-count // _GROUP) * _GROUP
    # A wavefront meets all kinds of numbers: neighbours go to different ones.
    device = Device(config or Config(), engine=engine)
    buffers = [device.buffer(np.resize(array, padded)) for array in inputs]
    out = device.buffer(np.zeros(padded, np.uint32))
    device.launch(image, kernel, global_size=(padded,), local_size=(_GROUP,), args=[*buffers, out])
    return out.read()[:count].view(np.uint32)


def floats(words):
    return words.view(np.float32)


def canonical(values):
    """The words of float32 results, every NaN as the one that we produce."""
    values = np.asarray(values, np.float32)
    return np.where(np.isnan(values), np.uint32(CANONICAL_NAN), values.view(np.uint32))
