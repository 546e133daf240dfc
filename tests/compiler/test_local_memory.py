"""Barriers and local memory: what kernels compute, with local memory and without, and what the compiler says."""

import re
import warnings

import numpy as np
import pytest

from fgpu.compiler import Image, compile_opencl, disassemble
from fgpu.config import ATOMICS, Config
from fgpu.errors import DivergentBarrierWarning
from fgpu.sim import Device

from ..tiers import quick
from .work_group_programs import GROUPS, PROGRAMS

SIZES = (1, 5, 64, 100, 512)
CONFIGS = {
    "hardware": Config(local_memory=32, atomics=ATOMICS),
    "none": Config(local_memory=0, atomics=ATOMICS, link_stack_depth=8),
    "small": Config(local_memory=64, cram_size=4, scratchpad_size=0),
}


def check(program, size, config, seed=0):
    arguments, expected = program.make(size, np.random.default_rng(seed))
    image = compile_opencl(program.source, filename=f"{program.name}.cl", config=config)
    with Device(config, engine="functional", check_accesses=True) as device:
        given = [device.buffer(value) if isinstance(value, np.ndarray) else value for value in arguments]
        device.launch(image, "k", global_size=GROUPS * size, local_size=size, args=given)
        found = given[0].read()
    assert found.tolist() == np.asarray(expected).tolist()


@pytest.mark.filterwarnings("ignore::fgpu.errors.DivergentBarrierWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=[program.name for program in PROGRAMS])
@pytest.mark.parametrize("config", quick(CONFIGS, ["hardware", "none"]))
@pytest.mark.parametrize("size", quick(SIZES, [100]))
def test_results(program, size, config):
    check(program, size, CONFIGS[config])


def code(body, parameters="__global int *a, __local int *t, int n", config=CONFIGS["hardware"], before=""):
    """The assembly text of a kernel."""
    source = f"{before}__kernel void k({parameters}) {{ int i = get_global_id(0), l = get_local_id(0); {body} }}"
    return disassemble(compile_opencl(source, config=config))


def syncs(text):
    return len(re.findall(r"\bsync\b", text))


@pytest.mark.parametrize("name", ["barrier", "work_group_barrier"])
@pytest.mark.parametrize(("body", "count"), [
    # LLVM would know behind the barrier which way it came, or do the same in both arms once.
    ("if (t[l] > n) a[i] = 1; WAIT(1); if (t[l] > n) a[i + n] = 2;", 1),
    ("int v = l > n ? 3 : n; if (l > n) a[i] = 1; WAIT(2); if (v == 3) a[i + n] = 2;", 1),
    ("if (n > 3) { t[l] = 1; WAIT(1); a[i] = t[0]; } else { t[l] = 2; WAIT(1); a[i] = t[1]; }", 2),
    ("for (int j = 0; j < n; j++) { t[l] += j; WAIT(3); a[j] = t[n]; }", 1),
    ("for (int j = 0; j < 3; j++) { t[l] += j; WAIT(3); a[j] = t[n]; }", 3),
    ("WAIT(1); WAIT(2);", 2),
    # Few instructions at the end might be there for each way that leads to them.
    ("if (l > n) a[i] = 1; else t[l + n] = 3; WAIT(1); a[i + n] = 2;", 1),
])
def test_every_barrier_is_there_once(name, body, count):
    assert syncs(code(body.replace("WAIT", name))) == count


@pytest.mark.parametrize(("body", "places"), [
    ("if (l < n) {\n a[i]++;\n barrier(1); }\n a[i] = n;", [(3, 1)]),
    ("for (int j = l; j < n; j += 64) {\n a[j]++;\n barrier(1); }", [(3, 1)]),
    ("if (l & 1)\n barrier(1);\n else\n barrier(1);\n a[i] = 3;", [(2, 1), (4, 1)]),
    ("t[l] = atomic_inc(a);\n barrier(1);\n if (t[l])\n barrier(1);\n a[i] = 1;", [(4, 3)]),
    ("while (1) {\n barrier(1);\n if (t[l])\n return;\n a[i] = 3; }", [(2, 3)]),
    ("if (n == 3)\n barrier(1);\n else\n a[i] = 4;\n if (a[get_group_id(0)] == t[n])\n barrier(1);\n a[n] = i;", []),
    ("if (i >= n) return;\n t[l] = a[i];\n barrier(1);\n a[i] = t[0];", []),
    ("for (int j = 0; j < n; j++) {\n if (l < j) a[i] += j;\n barrier(1); }", []),
])
def test_warnings(body, places):
    expected = [f"k.cl:{barrier}: a barrier to which some work-items of a work-group come and others may not, by the "
                f"branch at k.cl:{branch}: it depends on a work-item's id" for barrier, branch in places]
    source = "__kernel void k(__global int *a, __local int *t, int n) { int i = get_global_id(0), l = " \
        f"get_local_id(0); {body} }}"
    for _ in range(2):      # the second time it is known
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            image = compile_opencl(source, filename="k.cl", config=CONFIGS["hardware"])
        assert [str(warning.message) for warning in caught] == expected
        assert {warning.category for warning in caught} <= {DivergentBarrierWarning}
        assert {warning.filename for warning in caught} <= {__file__}
        assert Image.from_json(image.to_json()).warnings == tuple(expected)


@pytest.mark.parametrize("config", CONFIGS)
def test_parts_of_words_at_known_places(config):
    """Of which a shift's amount is computed when they are compiled: as 0xFFFC0530, of which five bits count."""
    source = """__kernel void k(__global uint *o) {
      __local char c[4]; __local short s[4]; __local uchar b[4]; int i = get_local_id(0);
      c[i] = -91 + i; s[i] = -300 - i; b[i] = 200 + i;
      barrier(CLK_LOCAL_MEM_FENCE);
      int x = c[1], y = s[1]; uint z = b[3];
      if (i == 0) { o[0] = x & 0xffff; o[1] = (uint)x % 192; o[2] = y & 0x3ffff; o[3] = (uint)y % 192; o[4] = z * z;
        o[5] = (uint)(z + c[2]) / 7; o[6] = (uint)(c[3] - s[3]) % 192; o[7] = (ushort)y * 3; } }"""
    x, y, z = -90 % 2 ** 32, -301 % 2 ** 32, 203
    with Device(CONFIGS[config], engine="functional") as device:
        out = device.buffer(np.zeros(8, np.uint32))
        device.launch(compile_opencl(source, config=device.config), "k", global_size=4, local_size=4, args=[out])
        assert out.read().tolist() == [x & 0xFFFF, x % 192, y & 0x3FFFF, y % 192, z * z, (z - 89) // 7,
                                       (303 - 88) % 192, (y & 0xFFFF) * 3]
