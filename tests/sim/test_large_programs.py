"""Programs of more than 4,096 words: the code RAM behind its window in the control interface."""

import numpy as np
import pytest

from fgpu import Config
from fgpu.address_map import CODE_BASE, CONTROL_BASE, CRAM_BASE, code_address, control_address_bits
from fgpu.compiler import Image, assemble
from fgpu.errors import ImageError
from fgpu.sim import KernelDescriptor


def program(words):
    """Exactly so many: a number that each of them but a few changes, and a kernel and a subroutine at the end."""
    head = "lid r1, 0\nlp r2, 0\nli r5, 0\n"
    call = "jsub twice\nsw r5, r2[r1]\nret\n"
    tail = "second: lid r1, 0\nlp r2, 0\nli r5, 77\nsw r5, r2[r1]\nret\ntwice: add r5, r5, r5\nret\n"
    steps = [number * number % 8191 for number in range(words - 3 - 3 - 7)]
    text = head + "".join(f"addi r5, r5, {step}\n" for step in steps) + call + tail
    image = assemble(text)
    assert len(image.words) == words
    return image, 2 * sum(steps)


@pytest.mark.parametrize("kib", [32, 64])
def test_every_instruction_of_a_full_code_ram_runs(make_device, kib):
    config = Config.preset("tiny", cram_size=kib)
    device = make_device(config)
    image, expected = program(config.cram_words)
    out = device.buffer(64)

    def launch(entry):
        descriptor = KernelDescriptor(entry=entry, global_size=(64,), local_size=(64,), parameters=(out.address,))
        device.launch_descriptor(image, descriptor.words())

    launch(0)
    assert np.array_equal(out.read(), [expected % (1 << 32)] * 64)
    launch(config.cram_words - 7)
    assert np.array_equal(out.read(), [77] * 64)


def test_the_first_instructions_have_the_addresses_of_old():
    assert [code_address(word) for word in (0, 4095)] == [CRAM_BASE, CONTROL_BASE - 4]
    assert [code_address(word) for word in (4096, 16383)] == [CODE_BASE + 0x4000, CODE_BASE + 0xFFFC]
    assert [control_address_bits(Config(cram_size=size).cram_words) for size in (1, 16, 32, 64)] == [16, 16, 17, 17]


def test_programs_larger_than_any_code_ram():
    image, _ = program(1 << 14)
    with pytest.raises(ImageError, match="the image has 16385 words; the code RAM holds at most 16384"):
        Image.from_words([*image.words, image.words[0]])
