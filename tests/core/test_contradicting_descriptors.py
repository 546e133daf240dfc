"""Descriptors whose words contradict each other: the engines make the same of them as the hardware."""

import random
import warnings
from pathlib import Path

import numpy as np
import pytest

from fgpu.compiler import compile_opencl
from fgpu.errors import DescriptorWarning, LaunchError
from fgpu.sim import Device, KernelDescriptor
from fgpu.sim.dispatch import contradictions

from ..configurations import ATOMIC
from ..seeds import seed_of_test

PLACES = 1024
SOURCE = """
uint mix(uint h, uint v) { return (h ^ v) * 0x01000193u + (h >> 15); }
__kernel void count(__global uint *out)
{
    uint h = 0x811c9dc5u;
    for (uint d = 0; d < 3; d++) {
        h = mix(h, get_local_id(d));
        h = mix(h, get_group_id(d));
        h = mix(h, get_global_id(d));
        h = mix(h, get_global_size(d));
        h = mix(h, get_local_size(d));
        h = mix(h, get_global_offset(d));
    }
    atomic_add(&out[h >> 22], h | 1);
}
"""
"""Each work-item adds what it was told to one of the places, however many are told the same."""


@pytest.fixture(scope="module")
def image():
    return compile_opencl(SOURCE, config=ATOMIC)


@pytest.fixture(scope="module")
def devices():
    with Device(ATOMIC) as hardware, Device(ATOMIC, engine="functional") as functional:
        yield hardware, functional


def random_words(rng: random.Random, entry: int) -> list[int]:
    """An LRAM slot that asks for no more than 27 work-groups; all else may be anything, but for four dimensions."""
    dimensions = rng.randint(1, 3)
    extents = [rng.choice([0, 1, 2, 7, 8, 64, 512, 600, 1023, rng.randrange(1024)]) for _ in range(3)]
    if rng.random() < 0.5:
        extents = [rng.randint(1, 8) for _ in range(3)]
    words = [rng.getrandbits(32) for _ in range(32)]
    words[0] = rng.getrandbits(18) << 14 | entry
    for index in range(3):
        if rng.random() < 0.3:
            words[1 + index] = 0
        if index < dimensions:
            words[8 + index] = rng.randint(0, 2)
    words[7] = dimensions - 1 << 30 | extents[2] << 20 | extents[1] << 10 | extents[0]
    words[11] = 1 << 28 | rng.getrandbits(28)
    return words


def outcome(device: Device, image, words: list[int], initialize: bool):
    out = device.buffer(PLACES, np.uint32)
    words[16] = out.address
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptorWarning)
        run = device.launch_descriptor(image, words, initialize=initialize)
    content = out.read()
    out.free()
    return run.instructions, run.work_item_instructions, content.tolist()


def compare(devices, image, seed: int, count: int) -> None:
    rng = random.Random(seed)
    contradicting = 0
    for number in range(count):
        words = random_words(rng, image.kernel("count").entry)
        contradicting += bool(contradictions(words))
        initialize = rng.random() < 0.5
        exact, functional = (outcome(device, image, list(words), initialize) for device in devices)
        assert exact == functional, f"seed {seed}, descriptor {number}: {words}"
    assert contradicting > count // 2


def test_random_descriptors(devices, image):
    compare(devices, image, 1, 40)


@pytest.mark.long
def test_many_random_descriptors(devices, image):
    compare(devices, image, seed_of_test(), 500)


def test_local_ids_are_kept_for_as_many_wavefronts_only(devices):
    """Word 0 of the first launch has one wavefront for a shape of 128: the second one's ids were not computed."""
    image = compile_opencl("__kernel void id(__global int *out) { out[get_global_id(0)] = get_local_id(0); }")
    for device in devices:
        out = device.buffer(np.full(128, -1, np.int32))
        words = KernelDescriptor(entry=0, global_size=(128,), local_size=(128,), parameters=(out.address,)).words()
        few = list(words)
        few[0] &= (1 << 28) - 1
        with pytest.warns(DescriptorWarning, match="1 wavefronts"):
            device.launch_descriptor(image, few, initialize=True)
        device.launch_descriptor(image, words, initialize=False)
        assert out.read().tolist() == list(range(128))


def test_one_dimension_of_eight_with_the_work_items_of_before(devices, image):
    """A host program of the reference changes word 7 only; 64 work-items then write each element eight times."""
    source = "__kernel void id(__global int *out) { out[get_global_id(0)] = get_global_id(0); }"
    image = compile_opencl(source, config=ATOMIC)
    for device in devices:
        out = device.buffer(np.full(64, -1, np.int32))
        descriptor = KernelDescriptor(entry=0, global_size=(64,), local_size=(64,), work_groups=(8,),
                                      parameters=(out.address,))
        words = list(descriptor.words())
        words[7] = 8
        text = (r"^descriptor word 11 has 64 work-items in a work-group, but word 7's extents \(8,\) make 8\. "
                r"It runs as on the hardware: .* 1 wavefronts \(word 0\) and 64 work-items \(word 11\)")
        with pytest.warns(DescriptorWarning, match=text) as caught:
            run = device.launch_descriptor(image, words)
        assert Path(caught[0].filename) == Path(__file__)
        assert out.read().tolist() == list(range(64))
        assert run.work_item_instructions == 64 * run.instructions
        with pytest.raises(LaunchError, match="word 11 has 64 work-items"):
            KernelDescriptor.from_words(words)
