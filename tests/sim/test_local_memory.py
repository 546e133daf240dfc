"""Local memory: each instruction against a model in NumPy, and that each work-group has its own."""

import numpy as np
import pytest

from fgpu import Config
from fgpu.compiler import assemble
from fgpu.config import LOCAL_BASE
from fgpu.sim import KernelDescriptor

CONFIG = Config.preset("tiny", local_memory=8)
# r1 = local id, r2 = group id, r3 = global id, r4 = out, r5 = in, r6 = local memory
IDS = f"""
    lid   r1, 0
    wgid  r2, 0
    wgoff r3, 0
    add   r3, r3, r1
    lp    r4, 0
    lp    r5, 1
    li    r6, {LOCAL_BASE - (1 << 32)}
"""
# Each of the first 64 work-items fills a word, and shows it at the end.
FILL = """
    sltiu r10, r1, 64
    beq   r10, r0, filled
    lw    r11, r5[r3]
    lsw   r11, r6[r1]
    beq   r0, r0, filled
filled:
    sync
"""
SHOW = """
    sync
    llw   r11, r6[r1]
    sw    r11, r4[r3]
    ret
"""


def run(device, text, words, *, local_size, global_size=None, parameters=(), rows=8, **fields):
    """Run it with ``words`` as input; returns as many words of output, as unsigned numbers."""
    global_size = global_size or local_size
    source = device.buffer(np.asarray(words, np.uint32))
    out = device.buffer(np.zeros(global_size, np.uint32))
    descriptor = KernelDescriptor(
        entry=0, global_size=(global_size,), local_size=(local_size,), local_rows=rows,
        parameters=(out.address, source.address, *parameters), **fields)
    device.launch_descriptor(assemble(text), descriptor.words())
    return out.read()


@pytest.fixture
def random():
    return np.random.default_rng(17)


def test_words_go_round_the_work_group(make_device, random):
    words = random.integers(0, 1 << 32, 4 * 512, np.uint32)
    out = run(make_device(Config.preset("tiny", local_memory=16)), IDS + """
        lw    r7, r5[r3]
        lsw   r7, r6[r1]
        sync
        xori  r8, r1, 511
        llw   r9, r6[r8]
        sw    r9, r4[r3]
        ret
    """, words, local_size=512, global_size=4 * 512, rows=64, local_groups=4)
    assert np.array_equal(out, words.reshape(4, 512)[:, ::-1].ravel())


def test_every_work_group_has_its_own(make_device, random):
    """Each writes all its rows before any reads them; work-groups with equal addresses do not meet."""
    words = random.integers(0, 1 << 32, 40 * 64, np.uint32)
    out = run(make_device(CONFIG), IDS + """
        lw    r7, r5[r3]
        lsw   r7, r6[r1]
        li    r8, 50
    again:
        addi  r8, r8, -1
        llw   r9, r6[r1]
        bne   r9, r7, wrong
        bne   r8, r0, again
        sw    r9, r4[r3]
    wrong:
        ret
    """, words, local_size=64, global_size=40 * 64)
    assert np.array_equal(out, words)


@pytest.mark.parametrize("mnemonic", ["llb", "llh", "llw"])
def test_loads_bring_the_aligned_word(make_device, random, mnemonic):
    """Also from addresses that are no multiple of the width: the base is odd."""
    words = random.integers(0, 1 << 32, 64, np.uint32)
    out = run(make_device(CONFIG, check_accesses=False), IDS + FILL + f"""
        addi  r7, r6, 3
        {mnemonic} r8, r7[r1]
        sw    r8, r4[r3]
        ret
    """, words, local_size=48)
    addresses = 3 + (np.arange(48) << "bhw".index(mnemonic[-1]))
    memory = np.concatenate([words[:48], np.zeros(16, np.uint32)])
    assert np.array_equal(out, memory[addresses // 4])


@pytest.mark.parametrize(("mnemonic", "dtype"), [("lsb", "u1"), ("lsh", "<u2"), ("lsw", "<u4")])
def test_stores_write_their_part_of_the_word(make_device, random, mnemonic, dtype):
    words = random.integers(0, 1 << 32, 64, np.uint32)
    out = run(make_device(CONFIG), IDS + FILL + f"""
        sltiu r7, r1, 16
        beq   r7, r0, end
        li    r8, -12345
        mul   r9, r8, r1
        {mnemonic} r9, r6[r1]
    end:
    """ + SHOW, words, local_size=64)
    memory = words.copy()
    memory.view(dtype)[:16] = (-12345 * np.arange(16)).astype(dtype)
    assert np.array_equal(out, memory)


@pytest.mark.parametrize("mnemonic", ["lsb", "lsh", "lsw"])
def test_the_highest_work_item_wins(make_device, random, mnemonic):
    """All 64 store to eight places; bytes of one word from several work-items all arrive."""
    words = random.integers(0, 1 << 32, 64, np.uint32)
    out = run(make_device(CONFIG), IDS + FILL + f"""
        andi  r7, r1, 7
        addi  r8, r1, 100
        {mnemonic} r8, r6[r7]
    """ + SHOW, words, local_size=64)
    memory = words.copy()
    memory.view({"lsb": "u1", "lsh": "<u2", "lsw": "<u4"}[mnemonic])[:8] = np.arange(156, 164)
    assert np.array_equal(out, memory)


def signed(word):
    return (word ^ 0x8000_0000) - 0x8000_0000


ATOMICS = {
    "laadd": lambda old, new: (old + new) % (1 << 32),
    "lamax": lambda old, new: max(old, new, key=signed),
    "lamin": lambda old, new: min(old, new, key=signed),
    "laumax": max,
    "laumin": min,
    "laand": lambda old, new: old & new,
    "laor": lambda old, new: old | new,
    "laxor": lambda old, new: old ^ new,
    "laxchg": lambda old, new: new,
}


@pytest.mark.parametrize("mnemonic", ATOMICS)
def test_atomics_take_the_lowest_work_item_first(make_device, random, mnemonic):
    words = random.integers(0, 1 << 32, 64, np.uint32)
    text = IDS + FILL + f"""
        li    r12, 5
        mul   r7, r1, r12
        andi  r7, r7, 7         ; one of eight words
        llw   r8, r6[r1]
        {mnemonic} r8, r6[r7]
        sync
    """
    device = make_device(CONFIG)
    memory, old = words.tolist(), []
    for item, operand in enumerate(words.tolist()):
        at = item * 5 & 7
        old.append(memory[at])
        memory[at] = ATOMICS[mnemonic](memory[at], operand)
    out = run(device, text + "    sw r8, r4[r3]\n    ret", words, local_size=64)
    assert np.array_equal(out, np.array(old, np.uint32))
    out = run(device, text + SHOW, words, local_size=64)
    assert np.array_equal(out, np.array(memory, np.uint32))


def test_compare_and_exchange(make_device):
    """A chain: each work-item of a word finds what the one before it left; the last six expect something else."""
    words = np.zeros(64, np.uint32)
    text = IDS + FILL + """
        andi  r7, r1, 3
        slli  r9, r7, 2
        add   r9, r9, r6        ; address
        srli  r10, r1, 2        ; expected: the turn in its word
        addi  r8, r10, 1
        sltiu r12, r10, 10
        movz  r10, r0, r12      ; from turn 10 on nobody's
        lacmpxchg r8, r9, r10
        sync
    """
    device = make_device(CONFIG)
    out = run(device, text + "    sw r8, r4[r3]\n    ret", words, local_size=64)
    assert np.array_equal(out, np.minimum(np.arange(64) // 4, 10))
    assert np.array_equal(run(device, text + SHOW, words, local_size=64), [10] * 4 + [0] * 60)


@pytest.mark.parametrize("kib", [8, 32, 64])
def test_addresses_are_modulo_the_size(make_device, random, kib):
    """Address 0, and one or two sizes further, are one word; half a size further is another."""
    config = Config.preset("tiny", local_memory=kib)
    words = random.integers(0, 1 << 32, 64, np.uint32)
    out = run(make_device(config, check_accesses=False), IDS + """
        lw    r7, r5[r3]
        lsw   r7, r0[r1]
        lp    r8, 4
        lsw   r0, r8[r1]
        sync
        lp    r8, 2
        xori  r9, r1, 1
        llw   r10, r8[r9]       ; two sizes further
        lp    r8, 3
        llw   r11, r8[r9]       ; a size further
        bne   r10, r11, end
        sw    r10, r4[r3]
    end:
        ret
    """, words, local_size=64, parameters=(kib * 2048, kib * 1024, kib * 512))
    assert np.array_equal(out, words.reshape(32, 2)[:, ::-1].ravel())


def test_local_atomics_of_many_wavefronts(make_device, random):
    """A histogram with bins in local memory, added to global memory's by one work-item for each."""
    data = random.integers(0, 64, 4096).astype(np.uint32)
    out = run(make_device(Config.preset("tiny", local_memory=8)), IDS + """
        sltiu r7, r1, 64
        beq   r7, r0, cleared
        lsw   r0, r6[r1]
    cleared:
        sync
        lw    r8, r5[r3]
        li    r9, 1
        laadd r9, r6[r8]
        sync
        beq   r7, r0, end
        llw   r10, r6[r1]
        slli  r11, r2, 6
        add   r11, r11, r1
        sw    r10, r4[r11]
    end:
        ret
    """, data, local_size=512, global_size=4096)
    bins = np.stack([np.bincount(part, minlength=64) for part in data.reshape(8, 512)])
    assert np.array_equal(out[:512], bins.ravel())
