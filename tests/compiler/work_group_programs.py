"""Kernels whose work-items work together, and what they compute, in NumPy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fgpu.sim import LocalMemory

__all__ = ["GROUPS", "PROGRAMS", "Program"]

GROUPS = 11


@dataclass(frozen=True)
class Program:
    """A kernel ``k``. ``make`` gives its arguments, of which the first is what it writes, and what that should
    become, for so many work-items a work-group."""

    name: str
    source: str
    make: Callable[[int, np.random.Generator], tuple[Sequence[Any], Any]]


PROGRAMS: list[Program] = []


def program(source: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Note a program by what computes its arguments and its results."""
    def noted(make: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(Program(make.__name__, source, make))
        return make
    return noted


def words(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.integers(-1000, 1000, count).astype(np.int32)


def nothing(count: int, dtype: Any = np.int32) -> np.ndarray:
    return np.zeros(count, dtype)


@program("""
__kernel void k(__global int *restrict out, __global const int *restrict in, __local int *restrict t, int n) {
    int i = get_global_id(0), l = get_local_id(0);
    t[l] = 0;
    for (int j = i; j < n; j += get_global_size(0))
        t[l] += in[j];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int some = get_local_size(0); some > 1;) {
        int rest = (some + 1) / 2;
        if (l + rest < some)
            t[l] += t[l + rest];
        some = rest;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = t[0];
}""")
def reduction(size, rng):
    data = words(rng, 10 * size + 7)
    sums = [data[np.arange(len(data)) % (GROUPS * size) // size == group].sum() for group in range(GROUPS)]
    return [nothing(GROUPS * size), data, LocalMemory(4 * size), len(data)], np.repeat(sums, size)


@program("""
__kernel void k(__global int *out, __global const int *in) {
    __local int t[2][512];
    int l = get_local_id(0), now = 0;
    t[0][l] = in[get_global_id(0)];
    for (int step = 1; step < get_local_size(0); step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        t[1 - now][l] = t[now][l] + (l < step ? 0 : t[now][l - step]);
        now = 1 - now;
    }
    out[get_global_id(0)] = t[now][l];
}""")
def scan(size, rng):
    data = words(rng, GROUPS * size)
    return [nothing(len(data)), data], np.cumsum(data.reshape(GROUPS, size), axis=1).ravel()


@program("""
__kernel void k(__global int *out, __global const uchar *in, int each) {
    __local int bins[16];
    int l = get_local_id(0), size = get_local_size(0);
    for (int j = l; j < 16; j += size)
        bins[j] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = l; j < each; j += size)
        atomic_inc(&bins[in[get_group_id(0) * each + j] & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = l; j < 16; j += size)
        out[get_group_id(0) * 16 + j] = bins[j];
}""")
def histogram(size, rng):
    data = rng.integers(0, 256, (GROUPS, 3 * size + 1)).astype(np.uint8)
    counts = [np.bincount(part & 15, minlength=16) for part in data]
    return [nothing(GROUPS * 16), data.ravel(), data.shape[1]], np.ravel(counts)


@program("""
#define TILE 4
__kernel void k(__global int *out, __global const int *a, __global const int *b, int n) {
    __local int as[TILE][TILE + 1], bs[TILE][TILE];
    int l = get_local_id(0), x = l % TILE, y = l / TILE;
    for (int tile = get_group_id(0); tile < (n / TILE) * (n / TILE); tile += get_num_groups(0)) {
        int row = tile / (n / TILE) * TILE, column = tile % (n / TILE) * TILE, sum = 0;
        for (int at = 0; at < n; at += TILE) {
            for (int j = l; j < TILE * TILE; j += get_local_size(0)) {
                as[j / TILE][j % TILE] = a[(row + j / TILE) * n + at + j % TILE];
                bs[j / TILE][j % TILE] = b[(at + j / TILE) * n + column + j % TILE];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int j = l; j < TILE * TILE; j += get_local_size(0)) {
                sum = at ? out[(row + j / TILE) * n + column + j % TILE] : 0;
                for (int k = 0; k < TILE; k++)
                    sum += as[j / TILE][k] * bs[k][j % TILE];
                out[(row + j / TILE) * n + column + j % TILE] = sum;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}""")
def tiled_product(size, rng):
    a, b = words(rng, 256), words(rng, 256)
    return [nothing(256), a, b, 16], (a.reshape(16, 16) @ b.reshape(16, 16)).ravel()


@program("""
void together(void) { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }
__attribute__((noinline)) int turned(__local int *restrict t, int value, int by) {
    int l = get_local_id(0), size = get_local_size(0);
    together();
    t[l] = value;
    together();
    return t[(l + by) % size];
}
__kernel void k(__global int *out, __global const int *in, __local int *t, int rounds) {
    int value = in[get_global_id(0)];
    for (int j = 0; j < rounds; j++)
        value = turned(t, value, j) + (value & 1 ? value / (j + 3) : 0);
    out[get_global_id(0)] = turned(t, value, 1);
}""")
def helpers(size, rng):
    data = words(rng, GROUPS * size)
    value = data.reshape(GROUPS, size)
    for j in range(6):
        value = np.roll(value, -j, axis=1) + np.where(value & 1, np.fix(value / (j + 3)).astype(np.int32), 0)
    return [nothing(len(data)), data, LocalMemory(4 * size), 6], np.roll(value, -1, axis=1).ravel()


@program("""
__kernel void k(__global int *out, __global const int *in, int n) {
    __local int t[513], last;
    int i = get_global_id(0), l = get_local_id(0);
    if (i >= n)
        return;
    if (i == n - 1 || l == get_local_size(0) - 1)
        last = l;
    t[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 4; j++) {
        int next = t[l == last ? 0 : l + 1];
        barrier(CLK_LOCAL_MEM_FENCE);
        t[l] = next + j;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = t[l];
}""")
def early_returns(size, rng):
    data = words(rng, GROUPS * size)
    n = len(data) - size // 3
    expected = nothing(len(data))
    for start in range(0, n, size):
        end = min(start + size, n)
        expected[start:end] = np.roll(data[start:end], -4) + 6
    return [nothing(len(data)), data, n], expected


@program("""
__kernel void k(__global int *out, __global const int *in) {
    __local int t[512];
    int i = get_global_id(0), l = get_local_id(0), size = get_local_size(0), value = in[i];
    for (int j = 0; j < 5; j++) {
        if (l % 3 == 0) {
            for (int m = 0; m < l % 7; m++)
                value += value / (m + 2);
            if (value & 4)
                value ^= j;
            else
                value -= 3;
        } else if (l % 3 == 1 && j > 2) {
            value = value * 5 + 1;
        }
        t[l] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l & 1)
            value += t[(l + 1) % size];
        else if (value > 0)
            value -= t[(l + j) % size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = value;
}""")
def parted_ways(size, rng):
    data = words(rng, GROUPS * size)
    expected = []
    for part in data.reshape(GROUPS, size).astype(int):
        values = [int(value) for value in part]
        for j in range(5):
            for place, value in enumerate(values):
                if place % 3 == 0:
                    for m in range(place % 7):
                        value += int(np.fix(value / (m + 2)))
                    value = value ^ j if value & 4 else value - 3
                elif place % 3 == 1 and j > 2:
                    value = value * 5 + 1
                values[place] = value
            seen = list(values)
            for place, value in enumerate(seen):
                if place & 1:
                    values[place] = value + seen[(place + 1) % size]
                elif value > 0:
                    values[place] = value - seen[(place + j) % size]
        expected += values
    return [nothing(len(data)), data], np.array(expected).astype(np.int32)


@program("""
typedef struct { char c; short s; long l; uchar more[3]; } all;
__kernel void k(__global long *out, __global const int *in, __local char *bytes) {
    __local all t[512];
    __local short shorts[3][600];
    __local ulong longs[512];
    __local float4 vectors[512];
    __local char flag;
    int i = get_global_id(0), l = get_local_id(0), size = get_local_size(0), next = (l + 1) % size, v = in[i];
    t[l].c = v; t[l].s = v * 3; t[l].l = (long)v << 33 | l; t[l].more[2] = v >> 3;
    shorts[l % 3][l] = v + 1;
    longs[l] = (ulong)v * 0x123456789ul;
    vectors[l] = (float4)(v, l, 1.5f, -v);
    bytes[l] = v ^ 0x55;
    if (l == size - 1)
        flag = 7;
    barrier(CLK_LOCAL_MEM_FENCE);
    all other = t[next];
    long sum = other.c + other.s + other.l + other.more[2] + shorts[next % 3][next] + longs[next];
    sum += bytes[next] + flag;
    float4 f = vectors[next] * 3.0f;
    out[i] = sum + (int)(f.x + f.y + f.z + f.w);
}""")
def all_types(size, rng):
    data = words(rng, GROUPS * size)
    v = data.astype(np.int64)
    place = np.arange(len(data)) % size
    with np.errstate(over="ignore"):
        sums = v.astype(np.int8) + (v * 3).astype(np.int16) + ((v << 33) | place) + ((v >> 3) & 255) \
            + (v + 1).astype(np.int16) + v * 0x123456789 + (v ^ 0x55).astype(np.int8) + 7 \
            + np.fix(3 * place + 4.5).astype(np.int64)
    return [nothing(len(data), np.int64), data, LocalMemory(size)], np.roll(sums.reshape(GROUPS, size), -1, 1).ravel()


@program("""
int first(__local const int *p) { return p ? *p : -1; }
__attribute__((noinline)) void put(__local int *to, int value) { to[0] = value; to[1] = value >> 16; }
__kernel void k(__global int *out, __global const int *in, __local int *a, __local short *b) {
    __local int t[1024];
    int i = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
    __local int *now = t, *other = t + 512, *none = 0;
    now[l] = in[i];
    for (int j = 0; j < 5; j++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        other[l] = now[(l + 1) % size] + 1;
        __local int *swap = now; now = other; other = swap;
    }
    __local int *mine = in[i] & 1 ? a : now;
    put(a + 2 * l, in[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    vstore2((short2)(l, in[i]), l, b);
    __local char *bytes = (__local char *)b;
    int4 four = size > 3 ? vload4(0, now) : (int4)(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = mine[l] + first(none) + ((__local ushort *)b)[2 * ((l + 1) % size) + 1] + bytes[4 * l] + four.s3;
}""")
def pointers(size, rng):
    data = words(rng, GROUPS * size)
    expected = []
    for part in data.reshape(GROUPS, size):
        now = np.roll(part, -5) + 5
        a = np.ravel(np.column_stack([part, part >> 16]))
        result = np.where(part & 1, a[:size], now) - 1 + (np.roll(part, -1) & 0xFFFF)
        expected.append(result + np.arange(size).astype(np.int8) + (now[3] if size > 3 else 0))
    return [nothing(len(data)), data, LocalMemory(8 * size), LocalMemory(4 * size)], np.ravel(expected)


@program("""
__kernel void k(__global int *out, __global const int *in, int n) {
    __local int t[512];
    int i = get_global_id(0), l = get_local_id(0), size = get_local_size(0), value = in[i];
    if (get_group_id(0) == 1) {
        t[l] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        value = t[size - 1 - l];
    }
    switch (n) {
    case 3:
        t[l] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        value += t[0];
        barrier(CLK_LOCAL_MEM_FENCE);
        break;
    case 4: value = 1; break;
    }
    if (n & 1) { barrier(CLK_LOCAL_MEM_FENCE); t[l] = value; value++; barrier(CLK_LOCAL_MEM_FENCE); }
    else { t[l] = 2 * value; barrier(CLK_LOCAL_MEM_FENCE); }
    out[i] = value + t[(l + 2) % size];
}""")
def conditions_of_all(size, rng):
    data = words(rng, GROUPS * size)
    parts = data.reshape(GROUPS, size).copy()
    parts[1] = parts[1, ::-1]
    parts += parts[:, :1].copy()
    return [nothing(len(data)), data, 3], (parts + 1 + np.roll(parts, -2, axis=1)).ravel()


@program("""
__kernel void k(__global int *out, __global const int *in) {
    __local int largest, least, old;
    __local uint mask, most;
    __local float f;
    int i = get_global_id(0), l = get_local_id(0), v = in[i];
    if (l == 0) { largest = -5000; least = 5000; mask = 0; most = 0; old = -1; f = 0.5f; }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_max(&largest, v);
    atomic_min(&least, v);
    atomic_or(&mask, 1u << (l & 31));
    atom_max(&most, (uint)v);
    if (atomic_cmpxchg(&old, -1, l) == -1)
        atomic_xchg(&f, 2.25f);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = largest * 3 + least + (int)mask + (int)most + (old >= 0) + (int)(f * 4.0f);
}""")
def atomics(size, rng):
    data = words(rng, GROUPS * size)
    mask = (1 << min(size, 32)) - 1
    results = [int(part.max()) * 3 + int(part.min()) + mask + int(part.view(np.uint32).max()) + 1 + 9
               for part in data.reshape(GROUPS, size)]
    return [nothing(len(data)), data], np.repeat(results, size).astype(np.int32)


@program("""
__kernel void k(__global int *out, __global int *turn) {
    int i = get_global_id(0), l = get_local_id(0), size = get_local_size(0), first = i - l, own[20];
    for (int j = 0; j < 20; j++)
        own[j] = j * l;
    turn[i] = l;
    for (int j = 0; j < 3; j++) {
        barrier(CLK_GLOBAL_MEM_FENCE);
        int next = turn[first + (l + 1) % size];
        barrier(CLK_GLOBAL_MEM_FENCE);
        turn[i] = next + own[(l + j) % 20];
    }
    out[i] = turn[i];
}""")
def global_memory_and_arrays(size, rng):
    place = np.arange(size)
    turn = place
    for j in range(3):
        turn = np.roll(turn, -1) + (place + j) % 20 * place
    return [nothing(GROUPS * size), nothing(GROUPS * size)], np.tile(turn, GROUPS)


@program("""
__kernel void k(__global int *restrict out, __global const int *in, __local int *restrict t) {
    int i = get_global_id(0), l = get_local_id(0), first = i - l;
    if (l == 0)
        t[0] = out[first] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    int was = t[0], there = out[first];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (l == 0) {
        t[0] = was + 5;
        out[first] = there + 7;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    int sum = was + there + t[0] + out[first];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    out[i] = sum;
}""")
def promises(size, rng):
    data = words(rng, GROUPS * size)
    return [nothing(len(data)), data, LocalMemory(4 * size)], np.repeat(data[::size] * 4 + 12, size)


@program("""
__attribute__((noinline)) int sum(__local int *t, int value, int round) {
    int l = get_local_id(0);
    if (value > -5000) {        // all are
        t[l] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        value += t[l % 3 ? l : l + 3 < get_local_size(0) ? l + 3 : 0] / (round + 3);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return value;
}
__kernel void k(__global int *out, __global const int *in, int n) {
    __local int t[512];
    int i = get_global_id(0), l = get_local_id(0), value = in[i];
    if (l % 3) {        // most leave, but not at once
        for (int j = 0; j < n + l % 5; j++)
            value = value * 3 + 1;
        out[i] = value;
        return;
    }
    for (int j = 0; j < n; j++) {
        value = sum(t, value, j);
        if (value & 1)
            value /= 3;
    }
    out[i] = value;
}""")
def the_few_that_stay(size, rng):
    data = words(rng, GROUPS * size)
    expected = []
    for part in data.reshape(GROUPS, size):
        values = [int(value) for value in part]
        for place, value in enumerate(values):
            for _ in range(4 + place % 5 if place % 3 else 0):
                value = value * 3 + 1
            values[place] = value
        for j in range(4):
            seen = list(values)
            for place in range(0, size, 3):
                value = seen[place] + int(np.fix(seen[place + 3 if place + 3 < size else 0] / (j + 3)))
                values[place] = int(np.fix(value / 3)) if value & 1 else value
        expected += values
    return [nothing(len(data)), data, 4], np.array(expected)


@program("""
__attribute__((noinline)) int turned(__local int *t, int value) {
    int l = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    return t[(l + 1) % get_local_size(0)];
}
__kernel void k(__global int *out, __global const int *in, __local int *t, int n) {
    int i = get_global_id(0), l = get_local_id(0), value = in[i];
    if (l & 1) {        // deeper than some link stacks
        if (l & 2) {
            if (l & 4) {
                for (int j = 0; j < (l & 7); j++)
                    value += value / 3;
                out[i] = value;
            }
            for (int j = 0; j < (l & 7); j++)
                value -= value / 5;
            out[i] += value;
        }
        for (int j = 0; j < (l & 7); j++)
            value += value / 7;
        out[i] += value;
    }
    if (in[i] > -5000) {    // all are
        value = turned(t, value);
        out[i] += value;
    }
    for (int j = 0; j < n; j++)
        value = turned(t, value) + j;
    out[i] += value;
}""")
def deep_ways(size, rng):
    data = words(rng, GROUPS * size)
    expected = []
    for part in data.reshape(GROUPS, size):
        values, sums = [int(value) for value in part], []
        for place, value in enumerate(values):
            total, rounds = 0, range(place & 7)
            if place & 7 == 7:
                for _ in rounds:
                    value += int(np.fix(value / 3))
                total = value
            if place & 3 == 3:
                for _ in rounds:
                    value -= int(np.fix(value / 5))
                total += value
            if place & 1:
                for _ in rounds:
                    value += int(np.fix(value / 7))
                total += value
            values[place] = value
            sums.append(total)
        turned = np.roll(values, -1)
        expected += list(sums + turned + np.roll(turned, -4) + 6)
    return [nothing(len(data)), data, LocalMemory(4 * size), 4], np.array(expected)
