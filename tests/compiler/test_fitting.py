"""The search for what fits: its result, and that it ends soon where nothing does. Work is counted, not timed."""

import pytest

from fgpu.compiler.backend import allocate
from fgpu.compiler.backend.mir import MachineFunction
from fgpu.compiler.kernels import compile_sources
from fgpu.config import Config
from fgpu.errors import CompileError

CONFIG = Config(cram_size=2)


class Work:
    """The operations of the functions that passes and rounds of register allocation get."""

    def __init__(self):
        self.operations = 0

    def before(self, step, function, context):
        self.count(function)

    def after(self, step, function, context):
        pass

    def count(self, function):
        if isinstance(function, MachineFunction):
            self.operations += sum(len(block.ops) for block in function.blocks.values())
        else:
            self.operations += sum(len(block.instructions) for block in function.blocks.values())


@pytest.fixture
def work(monkeypatch):
    counted = Work()
    graph = allocate._Graph.__init__

    def built(self, function):
        counted.count(function)
        graph(self, function)

    monkeypatch.setattr(allocate._Graph, "__init__", built)
    return counted


def sha512(rounds, blocks):
    """Rounds like SHA-512's, unrolled: some 64-bit variables and an array, all in registers or not."""
    return """#define R(x, n) ((x >> n) | (x << (64 - n)))
    void block(ulong *h, ulong *w) {
    ulong a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], m = h[7];
    _Pragma("unroll") for (int i = 0; i < ROUNDS; i++) {
        if (i >= 16) { ulong x = w[i - 15 & 15], y = w[i - 2 & 15];
            w[i & 15] += (R(x, 1) ^ R(x, 8) ^ (x >> 7)) + w[i - 7 & 15] + (R(y, 19) ^ R(y, 61) ^ (y >> 6)); }
        ulong t = m + (R(e, 14) ^ R(e, 18) ^ R(e, 41)) + ((e & f) ^ (~e & g)) + i * 0x428a2f98d728ae22UL + w[i & 15];
        m = g; g = f; f = e; e = d + t; d = c; c = b;
        b = a; a = t + (R(a, 28) ^ R(a, 34)) + ((a & b) ^ (a & c) ^ (b & c)); }
    h[0] += a; h[1] += b; h[2] += c; h[3] += d; h[4] += e; h[5] += f; h[6] += g; h[7] += m; }
    __kernel void k(__global ulong *in, __global ulong *out) {
        int n = get_global_id(0); ulong h[8], w[16]; for (int j = 0; j < 8; j++) h[j] = j;
        _Pragma("unroll") for (int p = 0; p < BLOCKS; p++)
        { for (int j = 0; j < 16; j++) w[j] = in[n + p * 16 + j]; block(h, w); }
        for (int j = 0; j < 8; j++) out[n * 8 + j] = h[j]; }""".replace("ROUNDS", str(rounds)).replace("BLOCKS",
                                                                                                        str(blocks))


def live(variables, statements, type):
    """So many variables that live from the start to the end."""
    return f"__kernel void k(__global {type} *a) {{ int i = get_global_id(0);\n" \
        + "".join(f"{type} v{k} = a[i + {k}];\n" for k in range(variables)) \
        + "".join(f"v{k * 7 % variables} = v{k * 11 % variables} {'+-^&|*'[k * k % 6]} v{k * 3 % 29} + {k};"
                  for k in range(statements)) \
        + "".join(f"a[i + {k}] = v{k};\n" for k in range(variables)) + "}"


def tables(rounds):
    """As Blowfish: a table that is written, in a frame, and rounds that read it at four places."""
    return """#define F(x) (((s[x >> 24] + s[256 + (x >> 16 & 255)]) ^ s[512 + (x >> 8 & 255)]) + s[768 + (x & 255)])
    __kernel void k(__global uint *in, __global uint *out) {
        int n = get_global_id(0); uint s[1024], p[18], l = n, r = 1;
        for (int i = 0; i < 1024; i++) s[i] = in[i]; for (int i = 0; i < 18; i++) p[i] = in[1024 + i];
        """ + "for (int i = 0; i < 1024; i += 2) {" \
        + "".join(f"l ^= p[{i % 18}]; r ^= F(l); r ^= p[{(i + 1) % 18}]; l ^= F(r); "
                  for i in range(0, rounds, 2)) + "s[i] = l; s[i + 1] = r; }\n out[2 * n] = l; out[2 * n + 1] = r; }"


PROGRAMS = {
    "a hash": (sha512(80, 1), 7), "of four blocks": (sha512(80, 4), 8), "of some rounds": (sha512(9, 1), 200),
    "variables": (live(120, 150, "int"), 90), "of 64 bits": (live(60, 60, "ulong"), 40),
    "spilled": (live(50, 180, "int"), 110), "a table": (tables(32), 120),
    "some kernels": ("".join(live(30, 60, "int").replace(" k(", f" k{n}(") for n in range(8)), 250),
}
"""With the operations that passes and rounds of register allocation may look at, for each word of the code RAM: a
quarter more than they do."""


def test_orders_of_a_long_program_that_spill_more_are_given_up(work):
    """Three plans' orders were allocated to the end, and the last one twice: 89 operations a word."""
    image = compile_sources({"k.cl": live(50, 1400, "int")}, [], Config(cram_size=32), observers=[work])
    assert image.kernels["k"].private_bytes > 0
    assert 0 < work.operations < 75 * len(image.words), work.operations / len(image.words)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_cannot_fit_is_refused_after_little_work(name, work):
    source, most = PROGRAMS[name]
    with pytest.raises(CompileError, match="the code RAM holds 512"):
        compile_sources({"k.cl": source}, [], CONFIG, observers=[work])
    assert 0 < work.operations < most * CONFIG.cram_words, work.operations / CONFIG.cram_words
