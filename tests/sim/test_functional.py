"""The functional engine by itself: what the device would not let through, bounds and counters."""

import numpy as np
import pytest

from fgpu import Config
from fgpu.compiler import assemble
from fgpu.errors import LaunchError, SimulationError
from fgpu.isa import Opcode, encode
from fgpu.sim import Device, GlobalMemory, KernelDescriptor
from fgpu.sim.engine import Launch
from fgpu.sim.functional import FunctionalEngine
from fgpu.sim.functional.wavefronts import lanes_to_masks, masks_to_lanes

from . import kernels

ONE_WAVEFRONT = KernelDescriptor(entry=0, global_size=(64,), local_size=(64,)).words()


@pytest.mark.parametrize(("program", "config", "message"), [
    ("fadd r1, r1, r1", {}, "PC 0: fadd r1, r1, r1: this configuration lacks floating point"),
    ("aadd r1, r2[r3]", {}, "lacks atomics"),
    ("sb r1, r2[r3]", {"sub_integer_stores": False}, r"PC 0: sb r1, r2\[r3\]: .* lacks stores of 8 and 16 bits"),
    ("sh r1, r2[r3]", {"sub_integer_stores": False}, "lacks stores of 8 and 16 bits"),
    ("llwi r1, r2[0]", {"scratchpad_size": 0}, "lacks a scratchpad"),
    ([0xFF00_0000], {}, "PC 0: unknown opcode byte 0xFF"),
    ([encode(Opcode.RET)] * 257, {"cram_size": 1}, "257 words; this configuration's code RAM holds 256"),
])
def test_instructions_that_cannot_run(program, config, message):
    words = assemble(program).words if isinstance(program, str) else program
    engine = FunctionalEngine(Config(**config), GlobalMemory(size=4096))
    with pytest.raises(SimulationError, match=message):
        engine.launch(Launch(program=words, descriptor=ONE_WAVEFRONT))


def test_four_dimensions_are_refused():
    with pytest.raises(LaunchError, match="word 7 asks for 4 dimensions"):
        FunctionalEngine(Config(), GlobalMemory()).launch(
            Launch(program=[0], descriptor=[*ONE_WAVEFRONT[:7], 3 << 30, *ONE_WAVEFRONT[8:]]))


@pytest.mark.parametrize(("groups", "local_size"), [(20_000, 1), (3000, 7), (100, 512), (40, 450)])
def test_launches_larger_than_what_runs_together(groups, local_size):
    device = Device(engine="functional")
    out = device.buffer(groups * local_size)
    run = device.launch(kernels.LOOP, global_size=groups * local_size, local_size=local_size, args=[out])
    assert np.array_equal(out.read(), np.arange(groups * local_size) & 15)
    assert run.stats["work_groups"] == groups
    assert run.stats["wavefronts"] == groups * -(-local_size // 64)


def test_full_divergence_needs_six_stack_entries():
    device = Device(engine="functional")
    run = device.launch(kernels.TREE, global_size=64, args=[device.buffer(64)])
    assert run.stats["divergent_branches"] == 63
    assert run.stats["stack_entries"] <= 6
    # Each of the 64 paths runs the common end by itself, and stores.
    assert run.instructions > 64 * 2


def test_uniform_branches_do_not_diverge():
    device = Device(engine="functional")
    image = assemble(".kernel k\n wgid r1, 0\nagain: addi r1, r1, -1\n slti r2, r1, 0\n beq r2, r0, again\n ret")
    run = device.launch(image, global_size=640, local_size=64)
    assert run.stats["divergent_branches"] == run.stats["stack_entries"] == 0
    assert run.instructions == sum(2 + 3 * (group + 1) for group in range(10))
    assert run.work_item_instructions == 64 * run.instructions


def test_masks_and_lanes_are_inverse():
    lanes = np.random.default_rng(0).random(640) < 0.5
    masks = lanes_to_masks(lanes)
    assert [int(mask) for mask in masks] == [
        sum(int(lane) << bit for bit, lane in enumerate(part)) for part in lanes.reshape(-1, 64)]
    assert np.array_equal(masks_to_lanes(masks), lanes)
