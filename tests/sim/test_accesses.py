"""Accesses of kernels outside every buffer, and misaligned ones: found on every engine, at no cost of a cycle."""

import pickle
import random
import re
from itertools import product

import numpy as np
import pytest

from fgpu import Config
from fgpu.compiler import Image, assemble, compile_opencl
from fgpu.errors import KernelAccessError, KernelFault
from fgpu.isa import decode
from fgpu.sim import Device, KernelDescriptor

from ..configurations import ATOMIC
from . import kernels

TINY = Config.preset("tiny")
SOURCE = """
__kernel void store(__global int *o, int at) { o[get_global_id(0) + at] = 1; }
__kernel void load(__global const int *a, int at, __global int *o) { o[get_global_id(0)] = a[at]; }
__kernel void load_char(__global const char *a, int at, __global int *o) { o[get_global_id(0)] = a[at]; }
__kernel void store_char(__global char *a, int at, __global int *o) { a[at] = 1; o[0] = a[0]; }
__kernel void load_short(__global const short *a, int at, __global int *o) {
    o[0] = *(__global short *)((uint)a + at); }
__kernel void store_word(__global char *a, int at, __global int *o) {
    *(__global int *)((uint)a + at) = 1; o[0] = 0; }
"""




@pytest.fixture(scope="module")
def image():
    return compile_opencl(SOURCE, config=TINY)


def run(device: Device, image, kernel: str, length: int, at: int, dtype: str = "i4"):
    """Launch a kernel on a buffer of ``length`` elements before another; the neighbour must stay as it is."""
    a, neighbour = device.buffer(np.zeros(length, dtype)), device.buffer(64)
    arguments = [a, at] if kernel == "store" else [a, at, device.buffer(64)]
    try:
        return device.launch(image, kernel, global_size=64 if kernel != "store" else length, args=arguments)
    finally:
        assert not neighbour.read().any()


@pytest.mark.parametrize(("kernel", "length", "at", "dtype", "message"), [
    ("store", 64, 1, "i4", "swp .*: store to 0x10000100 by work-item 63 is outside every buffer, just behind that "
                           "from 0x10000000 to 0x100000FF"),
    ("store", 1024, 1, "i4", "store to 0x10001000 by work-item 1023 is outside .*, just behind"),
    ("store", 64, -1, "i4", "store to 0x0FFFFFFC by work-item 0 is outside .*, 4 bytes before that from 0x10000000"),
    ("load", 64, 64, "i4", "lwp .*: load from 0x10000100 by work-item 0 is outside .*, just behind"),
    ("load", 64, 1 << 29, "i4", "load from 0x90000000 .* outside every buffer, 214747\\d+ bytes behind the end of"),
    ("load_char", 6, 6, "i1", "lbp .*: load from 0x10000006 by work-item 0 is outside .*, just behind"),
    ("store_char", 6, 6, "i1", "sbp .*: store to 0x10000006 .* outside"),
    ("load_short", 7, 13, "i2", "lh .*: load from 0x1000000D by work-item 0 is misaligned: lh needs a multiple of 2"),
    ("store_word", 64, 2, "i1", "sw .*: store to 0x10000002 by work-item 0 is misaligned: sw needs a multiple of 4"),
    ("store_word", 64, 64, "i1", "sw .*: store to 0x10000040 by work-item 0 is outside .*, just behind"),
])
def test_bad_accesses(image, kernel, length, at, dtype, message):
    """The text is the same on both engines, and the device can be used afterwards as before."""
    texts = []
    for engine in ("functional", "verilator"):
        with Device(TINY, engine=engine) as device:
            with pytest.raises(KernelAccessError, match=f"kernel '{kernel}'.*: PC \\d+: .*{message}") as caught:
                run(device, image, kernel, length, at, dtype)
            texts.append(str(caught.value))
            assert f"0x{caught.value.address:08X}" in texts[-1]
            assert f"PC {caught.value.pc}:" in texts[-1]
            run(device, image, kernel, length, 0, dtype)
    assert texts[0] == texts[1]


@pytest.mark.long
def test_pysim_finds_them(image):
    for kernel, at, message in (("store", 1, "store to 0x10000100 by work-item 63 is outside"), ("store", 0, None)):
        with Device(TINY, engine="pysim") as device:
            if message is None:
                run(device, image, kernel, 64, at)
            else:
                with pytest.raises(KernelAccessError, match=message):
                    run(device, image, kernel, 64, at)


@pytest.mark.parametrize(("engine", "config"), [("functional", TINY), ("verilator", TINY), ("verilator", ATOMIC)],
                         ids=["functional", "1 CU", "2 CUs"])
def test_the_work_item_is_the_one(engine, config):
    """The error tells which of many work-items it was, in up to three dimensions, with offsets."""
    image = compile_opencl("""
        __kernel void k(__global int *o, int x, int y, int z, int far) {
            int i = get_global_id(0), j = get_global_id(1), l = get_global_id(2);
            int is_it = (i == x) & (j == y) & (l == z);
            for (int n = 0; n < 3; n++) o[(i * 7 + j * 3 + l) & 63] = n;
            o[is_it ? far : 5] = 1;
        }""", config=config)
    rng = random.Random(3)
    with Device(config, engine=engine, memory_latency=(0, 40)) as device:
        out = device.buffer(64)
        for _ in range(12):
            dimensions = rng.randint(1, 3)
            local = list(rng.choice({1: [(40,), (130,), (512,)], 2: [(40, 5), (9, 16), (2, 65)],
                                     3: [(9, 5, 7), (4, 4, 4), (1, 3, 33)]}[dimensions]))
            size = [extent * rng.randint(1, 3) for extent in local]
            offset = [rng.choice((0, 5, 1000)) for _ in local]
            ids = [first + rng.randrange(extent) for first, extent in zip(offset, size, strict=True)]
            far = rng.choice((64, -1, 4000))
            name = f"work-item {ids[0] if dimensions == 1 else tuple(ids)}"
            message = f"store to 0x{out.address + 4 * far:08X} by {name} is"
            with pytest.raises(KernelAccessError, match=re.escape(message)):
                device.launch(image, global_size=size, local_size=local, global_offset=offset,
                              args=[out, *[*ids, 0, 0][:3], far])


LINES = """\
int helper(__global const int *a, int i)
{
    return a[i];                                    // 3
}
__kernel void k(__global int *o, __global const int *a, __global char *c, int at, int which)
{
    int i = get_global_id(0);
    if (which == 9) o[i + at] = 1;                  // 8
    int sum = 0;
    for (int n = 0; n < 8; n++)
        sum += a[n + (which == 11 ? at : 0)];       // 11
    c[i + (which == 12 ? at : 0)] = sum;            // 12
    sum += helper(a,
                  which == 3 ? at : 0);
    o[i] = sum;                                     // 15
}
"""


@pytest.mark.parametrize("engine", ["functional", "verilator"])
@pytest.mark.parametrize("options", [[], ["-DSMALL"]])
def test_the_source_line_is_the_one(engine, options):
    config = TINY if options else TINY.replace(cram_size=1)
    image = compile_opencl({"lines.cl": LINES}, options=options, config=config)
    with Device(TINY, engine=engine) as device:
        arguments = [device.buffer(64), device.buffer(64), device.buffer(64, np.int8)]
        device.launch(image, global_size=64, args=[*arguments, 1 << 20, 0])
        for which, line in ((9, 8), (11, 11), (12, 12), (3, 3)):
            message = rf"kernel 'k', lines.cl:{line}: PC \d+: .* by work-item \d+ is outside"
            with pytest.raises(KernelAccessError, match=message):
                device.launch(image, global_size=64, args=[*arguments, 1 << 20, which])


def test_images_keep_their_lines(tmp_path):
    image = compile_opencl({"lines.cl": LINES}, config=TINY)
    assert any(is_access(decode(image.words[pc])[0]) for pc in image.lines)
    image.save(tmp_path / "image.json")
    assert Image.load(tmp_path / "image.json").lines == image.lines == pickle.loads(pickle.dumps(image)).lines


def is_access(row) -> bool:
    return row.is_load or row.is_store or row.atomic is not None


def test_cycles_are_the_same(image):
    runs = []
    for check in (False, True):
        with Device(TINY, check_accesses=check) as device:
            done = run(device, image, "store", 1000, 0)
            runs.append((done.cycles, done.instructions, done.stats))
    assert runs[0] == runs[1]


@pytest.mark.parametrize("engine", ["functional", "verilator"])
def test_the_option_lets_them_be(image, engine):
    with Device(TINY, engine=engine, check_accesses=False) as device:
        out, neighbour = device.buffer(1024), device.buffer(64)
        far = (neighbour.address - out.address) // 4
        device.launch(image, "store", global_size=4, args=[out, far])
        assert neighbour.read()[:5].tolist() == [1, 1, 1, 1, 0]
        with pytest.raises(KernelFault):
            device.launch(image, "load", global_size=1, args=[out, 1 << 29, neighbour])


@pytest.mark.parametrize("engine", ["functional", "verilator"])
def test_atomics(engine):
    image = compile_opencl("__kernel void k(__global int *o, int at) {"
                           "atomic_add((__global int *)((uint)o + at), 1); atomic_cmpxchg(o, 0, 1); }", config=ATOMIC)
    with Device(ATOMIC, engine=engine) as device:
        out = device.buffer(64)
        device.launch(image, global_size=64, args=[out, 252])
        for at, message in ((256, "aadd at 0x10000100 by work-item 0 is outside every buffer, just behind"),
                            (2, "aadd at 0x10000002 by work-item 0 is misaligned: aadd needs a multiple of 4")):
            with pytest.raises(KernelAccessError, match=message):
                device.launch(image, global_size=64, args=[out, at])


# -- what is allowed --------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["functional", "verilator"])
def test_the_end_of_a_buffer_that_is_no_whole_word(engine):
    """Loads of bytes and words read the word in which it ends."""
    image = compile_opencl("""
        __kernel void k(__global const uchar *a, __global uint *o) { int i = get_global_id(0); o[i] = a[i]; }
        __kernel void v(__global const uint *a, __global uint *o) { int i = get_global_id(0); o[i] = a[i]; }""",
                           config=TINY)
    for length in range(1, 9):
        with Device(TINY, engine=engine) as device:
            given, out = device.buffer(np.arange(1, length + 1, dtype=np.uint8)), device.buffer(8, np.uint32)
            device.launch(image, "k", global_size=length, args=[given, out])
            assert out.read()[:length].tolist() == list(range(1, length + 1))
            words = -(-length // 4)
            if length % 4 == 0:
                device.launch(image, "v", global_size=words, args=[given.view(np.uint32), out])
                with pytest.raises(KernelAccessError):
                    device.launch(image, "v", global_size=words + 1, args=[given.view(np.uint32), out])


@pytest.mark.parametrize("engine", ["functional", "verilator"])
def test_what_the_device_adds_is_allowed(engine):
    """Tables, frames in global memory, and the parameters for which the descriptor has no room."""
    table = ", ".join(str(i * i) for i in range(61))
    names = [f"a{i}" for i in range(18)]
    image = compile_opencl(f"""
        __constant uchar small[5] = {{1, 2, 3, 4, 5}};
        __constant int table[61] = {{{table}}};
        __kernel void k(__global int *o, {', '.join(f'int {name}' for name in names)}) {{
            int i = get_global_id(0);
            int frame[100];
            for (int n = 0; n < 100; n++) frame[(n * 7) % 100] = n + i;
            o[i] = table[i % 61] + frame[i % 100] + small[i % 5] + {' + '.join(names)};
        }}""", config=TINY)
    assert image.kernels["k"].private_bytes
    assert image.data
    with Device(TINY, engine=engine) as device:
        out = device.buffer(100)
        device.launch(image, global_size=100, args=[out, *range(18)])
        frames = [next(n for n in range(100) if n * 7 % 100 == i % 100) + i for i in range(100)]
        assert out.read().tolist() == [(i % 61) ** 2 + frames[i] + i % 5 + 1 + sum(range(18)) for i in range(100)]


def test_absolute_addresses_allow_all_memory():
    image = kernels.LOOP
    typed = compile_opencl("__kernel void k(__global int *o, int n) { o[get_global_id(0)] = n; }")
    free = 0x1200_0000
    uses = [
        lambda device: device.launch(image, global_size=64, args=[free]),
        lambda device: device.launch(typed, global_size=64, args=[free, 7]),
        lambda device: device.launch_descriptor(image, KernelDescriptor(
            entry=0, global_size=(64,), local_size=(64,), parameters=(free,)).words()),
    ]
    for use, touch in product(uses, (False, True)):
        device = Device(engine="functional")
        device.buffer(64)
        use(device)
        if touch:
            assert device.read(free, 64).any()
    for access in (lambda device: device.read(free, 1), lambda device: device.write_word(free, 1)):
        device = Device(engine="functional")
        out = device.buffer(64)
        far = compile_opencl("__kernel void k(__global int *o, int n) { o[n] = 1; }")
        with pytest.raises(KernelAccessError):
            device.launch(far, global_size=1, args=[out, (free - out.address) // 4])
        access(device)
        device.launch(far, global_size=1, args=[out, (free - out.address) // 4])
        with pytest.raises(KernelAccessError, match="is misaligned"):
            device.launch(typed, global_size=1, args=[out.address + 2, 0])


def test_numbers_that_lead_into_a_buffer_keep_the_check():
    device = Device(engine="functional")
    out = device.buffer(64)
    typed = compile_opencl("__kernel void k(__global int *o, int n) { o[get_global_id(0)] = n; }")
    device.launch(typed, global_size=32, args=[out.address + 128, 7])
    with pytest.raises(KernelAccessError, match="work-item 32 is outside"):
        device.launch(typed, global_size=33, args=[out.address + 128, 7])
    with pytest.raises(KernelAccessError, match="store to 0x00000000 by work-item 0 is outside"):
        device.launch(typed, global_size=1, args=[0, 7])
    raw = assemble(".kernel k\n lp r1, 0\n sw r1, r1[r0]\n ret")
    with pytest.raises(KernelAccessError, match=r"PC 1: sw r1, r1\[r0\]: store to 0x00000010 by work-item 0 is"):
        device.launch(raw, global_size=1, args=[16])
