"""Work-items that part at a branch meet again: results, and how many instructions wavefronts take."""

import numpy as np
import pytest

from fgpu.compiler import compile_opencl, disassemble
from fgpu.config import Config
from fgpu.sim import Device

ITEMS = 64


def run(body, config=None, count=1000, local_size=None):
    """The results of ``o`` after a kernel that has ``body``, the random words in ``a``, and the launch."""
    source = "__kernel void k(__global int *o, __global const int *a, int n) {\n" \
        f"int i = get_global_id(0), s = 0; {body} o[i] = s; }}"
    config = config or Config()
    data = np.random.default_rng(count).integers(0, 100, count).astype(np.int32)
    with Device(config, engine="functional") as device:
        out, given = device.buffer(np.zeros(ITEMS, np.int32)), device.buffer(data)
        image = compile_opencl(source, config=config)
        launch = device.launch(image, "k", global_size=ITEMS, local_size=local_size, args=[out, given, 12])
        return out.read(), data, launch


def together_and_alone(body):
    """The instructions of one wavefront with 64 work-items, and those that one takes by itself on average."""
    together, _, launch = run(body)
    apart, _, single = run(body, local_size=1)
    assert (together == apart).all()
    return launch.instructions, single.instructions / ITEMS


def test_a_condition_in_a_loop_does_not_split_the_wavefront_for_good():
    body = "for (int j = 0; j < n; j++) { int v = a[i * n + j]; if (v > 50) { o[i] = s; s += v * 3; s ^= s << 2; } }"
    out, data, launch = run(body)
    for i in range(ITEMS):
        s = 0
        for v in map(int, data[12 * i:12 * i + 12]):
            if v > 50:
                s += v * 3
                s ^= s << 2
        assert out[i] == (s + 2**31) % 2**32 - 2**31
    assert launch.instructions < 12 * 16 + 20       # 64 parts would take more than ten times as many


@pytest.mark.parametrize("body", [
    # a loop in a loop, each with as many rounds as the data say
    "for (int j = 0; j < n; j++) for (int v = a[i + j]; v > 0; v -= 7 + j) { s += v * v; o[i] = s; }",
    # continue by data
    "for (int j = 0; j < n; j++) { int v = a[i + j]; if (v < 30) continue; s += v; o[i] = s; s *= 3; o[i] = s; }",
    # continue and break by data
    "for (int j = 0; j < n; j++) { int v = a[i + j]; if (v < 30) continue; s += v; o[i] = s;"
    " if (v > 95) break; s *= 3; o[i] = s; }",
    # ways to several places behind loops, and out of several loops
    "for (int j = 0; j < n; j++) { for (int m = 4; m < n; m++) { int v = a[i + j + m]; if (v < 40) { s += 3;"
    " o[i] = s; if (v == 7) break; s *= 5; o[i] = s; if (v == 9) goto left; }"
    " else if (v > 97) { s++; o[i] = s; goto found; } s ^= v; } s += 2; o[i] = s; } s = ~s;"
    " left: s *= 3; o[i] = s; found: o[i] = s; s ^= s >> 3;",
    # break by data
    "for (int j = 0; j < n; j++) { int v = a[i + j]; s += v; o[i] = s; if (v > 80) break; s *= 3; o[i] = s; }",
    # a switch that falls through
    "for (int j = 0; j < n; j++) switch (a[i + j] & 7) { case 0: s += 5; o[i] = s; case 1: s ^= 3; break;"
    " case 2: o[i] = s * 2; break; case 5: s -= a[s & 63]; o[i] = s; default: s++; }",
    # regions behind and in one another
    "for (int j = 0; j < n; j++) { if (a[i + j] & 1) { if (a[i + j] & 2) o[i] = s++; else o[i] = s += 2; s *= 5; }"
    " if (a[i + j] & 4) { while (s & 3) { s += 5; o[i] = s; } } else { o[i] = s -= 9; } }",
    # calls that split the wavefront, too
    "for (int j = 1; j < n; j++) if (a[i + j] & 1) { s += a[i] / (j + (i & 3)); o[i] = s; s += a[i + j] % (i + 3); }",
])
def test_few_instructions_more_than_a_work_item_needs(body):
    together, single = together_and_alone(body)
    assert together < 6 * single


def test_returns_in_loops_keep_their_meaning():
    body = "for (int j = 0; j < n; j++) { int v = a[i + j]; if (v > 60) { s += v;" \
        " if (v > 90) { o[i] = -s; return; } o[i] = s; s *= 3; } s++; }"
    out, data, _ = run(body)
    for i in range(ITEMS):
        s, result = 0, None
        for v in map(int, data[i:i + 12]):
            if v > 60:
                s += v
                if v > 90:
                    result = -s
                    break
                s *= 3
            s += 1
        assert out[i] == (s if result is None else result)


def nest(depth):
    """Loops and conditions in one another, ``depth`` of them."""
    inner = f"if (a[i + {depth} + (s & 7)] & 1) {{ o[i] = s += {depth}; }} else {{ o[i] = s ^= {depth + 1}; }}"
    for level in range(depth):
        test = f"a[i + {level} + (s & 3)] & {1 << level % 3}"
        inner = f"for (int j{level} = a[i + {level}] & 1; j{level} < 2; j{level}++) {{ {inner} s += j{level}; }}" \
            if level % 2 else f"if ({test}) {{ {inner} s *= 3; o[i] = s; }} s++;"
    return inner


@pytest.mark.parametrize("stack", [8, 16])
@pytest.mark.parametrize("depth", [3, 8, 16])
def test_no_nesting_overflows_the_stack(depth, stack):
    body = "for (int j = 0; j < n; j++) { " + nest(depth) + " s += a[i] / (1 + (a[j] & 3)); }"
    config = Config(link_stack_depth=stack)
    together, _, _ = run(body, config)
    apart, _, _ = run(body, config, local_size=1)
    assert (together == apart).all()


def test_conditions_that_all_work_items_share_cost_nothing():
    source = "__kernel void k(__global int *o, __global const int *a, int n) { int i = get_global_id(0), s = 0;\n" \
        "for (int j = 0; j < n; j++) { if (a[j] > 3) { s += a[i + j]; o[i + j] = s; } else o[j + 2 * i] = 1; }\n" \
        "if (get_group_id(0) & 1) for (int j = 0; j < a[n]; j++) { s += a[s & 63]; o[i] = s; o[i + s] = s; }" \
        " o[i] = s; }"
    assert "jsub" not in disassemble(compile_opencl(source))


def test_what_is_behind_must_be_worth_it():
    source = "__kernel void k(__global int *o, __global const int *a, int n) { int i = get_global_id(0);\n" \
        "int s = a[i]; if (s > n) for (int j = 0; j < s; j++) { s += a[s & 63]; o[i + j] = s; } o[i] = s; }"
    assert "jsub" not in disassemble(compile_opencl(source))
