"""Schemes of divergence: programs compute the same under all of them, and where work-items meet."""

import random

import numpy as np
import pytest

from fgpu.compiler import assemble, compile_opencl
from fgpu.config import ANNOTATED, ATOMICS, DIVERGENCE, FLOAT_OPS, Config
from fgpu.cu.divergence import HARDWARE
from fgpu.errors import ToolError
from fgpu.isa import Opcode, decode
from fgpu.sim import Device, GlobalMemory
from fgpu.sim.descriptor import KernelDescriptor
from fgpu.sim.engine import Launch
from fgpu.sim.functional import functional_engine
from fgpu.sim.pysim import PysimEngine

from ..annotations import Reconvergence, annotated, annotated_kernel
from ..configurations import GROUPS
from ..core.program_generator import generate
from ..core.program_statements import Statements
from ..seeds import seed_of_test

BASE, SIZE = 0x1000_0000, 1 << 18
CONFIG = Config(float_ops=FLOAT_OPS, atomics=ATOMICS, local_memory=8, link_stack_depth=32)


@pytest.mark.parametrize("scheme", DIVERGENCE[1:])
def test_random_programs(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Branches, loops and calls: memory is that of ``stack``."""
    # Elsewhere a wavefront's work-items share words in an order that is known; here it is the scheme's.
    monkeypatch.setattr(Statements, "access_wavefront", Statements.access_own)
    seed = seed_of_test()
    joins = 0
    for index in range(12):
        rng = random.Random(f"{seed} {index}")
        kernel = generate(rng, CONFIG, BASE, SIZE, wavefronts=rng.choice([1, 4, 12]))
        content = np.frombuffer(rng.randbytes(SIZE), np.uint8)
        found = []
        for config in (CONFIG, CONFIG.replace(divergence=scheme)):
            memory = GlobalMemory(BASE, SIZE)
            memory.bytes[:] = content
            each = annotated_kernel(kernel, config)
            result = functional_engine(config, memory).launch(
                Launch(program=each.program, descriptor=each.descriptor.words()))
            found.append((memory.bytes.copy(), result))
        assert np.array_equal(found[0][0], found[1][0]), f"FGPU_SEED={seed}, program {index}"
        joins += found[1][1].stats["joins"]
    assert joins


BODIES = {
    "a loop in a loop": "for (int j = 0; j < n; j++)"
                        " for (int v = a[i + j]; v > 0; v -= 7 + j) { s += v * v; o[i] = s; }",
    "continue and break": "for (int j = 0; j < n; j++) { int v = a[i + j]; if (v < 30) continue; s += v; o[i] = s;"
                          " if (v > 95) break; s *= 3; o[i] = s; }",
    "gotos": "for (int j = 0; j < n; j++) { for (int m = 4; m < n; m++) { int v = a[i + j + m]; if (v < 40) { s += 3;"
             " o[i] = s; if (v == 7) break; s *= 5; o[i] = s; if (v == 9) goto left; }"
             " else if (v > 97) { s++; o[i] = s; goto found; } s ^= v; } s += 2; o[i] = s; } s = ~s;"
             " left: s *= 3; o[i] = s; found: o[i] = s; s ^= s >> 3;",
    "returns": "for (int j = 0; j < n; j++) { int v = a[i + j]; if (v > 50) { if (v > 90) { o[i] = s; return; }"
               " o[i] = v; s += 2; } else if (v < 5) { o[i] = ~s; return; } s += v; }",
    "calls": "for (int j = 0; j < n; j++) { int v = a[i + j]; if (v & 1) s += f(v, i); else s ^= f(s & 63, v); }",
    "barriers": "__local int l[64]; for (int j = 0; j < n; j++) { int v = a[i + j]; if (v & 3) s += v;"
                " if (v & 4) s *= 5; l[i] = s; barrier(CLK_LOCAL_MEM_FENCE);"
                " for (int m = 0; m < (v & 7); m++) s ^= l[(i + m) & 63];"
                " barrier(CLK_LOCAL_MEM_FENCE); }",
}


def run(body: str, scheme: str, engine: str = "functional", config: Config = CONFIG) -> tuple[list[int], int, int]:
    """The results of a kernel with ``body``, the instructions that a wavefront took, and the work-items in them."""
    source = """
        __attribute__((noinline)) int f(int x, int y) { int s = 0; while (x > 0) { if (x & y & 1) return s + y;
                                                       x -= 9; s += x; } return s; }
        __kernel void k(__global int *o, __global const int *a, int n) { int i = get_global_id(0), s = 0;
    """ + body + "o[i] = s; }"
    config = config.replace(divergence=scheme)
    data = np.random.default_rng(5).integers(0, 100, 200).astype(np.int32)
    with Device(config, engine=engine) as device:
        out, given = device.buffer(np.zeros(64, np.int32)), device.buffer(data)
        image = compile_opencl(source, config=config)
        launch = device.launch(image, "k", global_size=64, local_size=64, args=[out, given, 12])
        return out.read().tolist(), launch.instructions, launch.work_item_instructions


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_compiled_programs(body: str) -> None:
    """All of OpenCL C's control flow, for each scheme compiled as it needs."""
    assert len({tuple(run(body, scheme)[0]) for scheme in DIVERGENCE}) == 1


@pytest.mark.ci
@pytest.mark.parametrize("scheme", DIVERGENCE[1:])
def test_a_core_does_what_its_model_does(scheme: str) -> None:
    """The same on the smallest core, in Amaranth's simulator: branches in branches, a return among them, a loop."""
    body = "if (i & 1) { o[i] = 5; if (i & 2) { if (i & 4) { o[i] = 9; return; } s = a[i]; } else s = 7; s *= 3; }" \
        " while (s > 60) s -= 40; "
    config = Config.preset("tiny").replace(link_stack_depth=16)
    assert run(body, scheme, "pysim", config) == run(body, scheme, "functional", config)


@pytest.mark.ci
@pytest.mark.parametrize("scheme", [scheme for scheme in HARDWARE if scheme != "stack"])
def test_hardware_does_what_its_model_does(scheme: str) -> None:
    """Compiled programs give the same memory, by as many instructions, which have as many work-items enabled."""
    config = GROUPS.replace(divergence=scheme)
    for body in BODIES.values():
        assert run(body, scheme, "verilator", config) == run(body, scheme, "functional", config)


MEETINGS = """
    addi r4, r0, 0
    lid r1, 0
    lp r2, 0
    andi r3, r1, 1
    beq r3, r0, sum
    addi r4, r1, 5
sum:
    fadd r4, r4, r1         # of subnormals: of integers
    andi r3, r1, 6
    beq r3, r0, again
    fadd r4, r4, r4
again:
    fadd r4, r4, r3
    sw r4, r2[r1]
    ret
"""


@pytest.mark.ci
@pytest.mark.parametrize("scheme", [scheme for scheme in HARDWARE if scheme != "stack"])
def test_paths_meet_at_an_operation_that_fewer_lanes_have(scheme: str) -> None:
    """What is selected there is no instruction yet: the operation is issued once, when they have met."""
    config = Config.preset("tiny").replace(
        link_stack_depth=16, float_ops=frozenset({"fadd"}), float_lanes=frozenset({"fadd:1"}), divergence=scheme)
    words, entry = program(MEETINGS), 0
    if scheme in ANNOTATED:
        words, entry = annotated(words, entry, scheme)
    descriptor = KernelDescriptor(entry=entry, global_size=(256,), local_size=(64,), parameters=(BASE,))
    memory = GlobalMemory(BASE, SIZE)
    hardware = PysimEngine(config, memory)
    hardware.launch(Launch(program=words, descriptor=descriptor.words()))
    item = np.arange(64)
    sums = item + np.where(item & 1, item + 5, 0)
    expected = sums * np.where(item & 6, 2, 1) + (item & 6)
    np.testing.assert_array_equal(memory.words[:64], expected)
    hardware.close()


def test_paths_meet_where_all_come_by_though_some_return() -> None:
    """The comparison of 2009: with annotations those that part around a ``return`` meet at the end only."""
    body = "int v = a[i]; if (v & 1) { if (v > 90) return; o[i] = 1; } else if (v > 80) { o[i] = 2; return; }" \
        + "s = s * 3 + o[i]; s ^= s << 3;" * 12
    issued = {scheme: run(body, scheme)[1] for scheme in DIVERGENCE}
    assert issued["min_pc"] < 0.7 * issued["tokens"]
    assert issued["implicit"] <= issued["tokens"]


def test_only_annotated_schemes_have_places_to_meet() -> None:
    """One before each branch whose condition may differ between work-items, and none elsewhere."""
    source = """__kernel void k(__global int *o, int n) { int i = get_global_id(0);
        if (o[i] & 1) { o[i] = 3; o[i + 64] = 5; } for (int j = 0; j < n; j++) o[i] = o[i] * 3 + j; }"""
    for scheme in DIVERGENCE:
        words = compile_opencl(source, config=CONFIG.replace(divergence=scheme)).words
        rows = [decode(word)[0] for word in words]
        places = [pc for pc, row in enumerate(rows) if row.opcode is Opcode.MEET]
        assert len(places) == (scheme in ANNOTATED)
        assert all(rows[pc + 1].is_branch for pc in places)


def program(text: str) -> list[int]:
    return list(assemble(text).words)


NESTED = """
    lid r1, 0
    andi r2, r1, 1
    beq r2, r0, even    # 2
    andi r3, r1, 2
    beq r3, r0, odd     # 4
    ret
odd:
    addi r4, r4, 1
even:
    addi r4, r4, 2
    ret
"""


def test_returns_move_the_annotations_behind_the_meeting() -> None:
    points = Reconvergence(program(NESTED), 0)
    assert [points.post_dominator(pc) for pc in (2, 4)] == [None, None]
    assert [points.end_of_structure(pc) for pc in (2, 4)] == [7, 6]


def test_the_compiled_engine_says_what_it_cannot() -> None:
    with pytest.raises(ToolError, match="the compiled engine has no divergence='tokens'; FGPU_FUNCTIONAL=numpy does"):
        functional_engine(Config(divergence="tokens"), GlobalMemory(BASE, SIZE), "native")
