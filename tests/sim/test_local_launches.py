"""Launches of kernels with local memory: arguments, sizes, regions in global memory, and accesses outside."""

import re
from contextlib import nullcontext

import numpy as np
import pytest

import fgpu
from fgpu import Config, LocalMemory
from fgpu.compiler import Image, Kernel, Parameter, assemble
from fgpu.config import LOCAL_BASE
from fgpu.errors import KernelAccessError, LaunchError
from fgpu.sim import Device, GlobalMemory, KernelDescriptor
from fgpu.sim.dispatch import Dispatch
from fgpu.sim.local_memory import LocalRoom

from ..configurations import LOCAL
from ..tiers import quick

OUT = Parameter("out", "pointer", "int", 4)
TILE = Parameter("tile", "local", "int", 4)
BYTES = Parameter("bytes", "local", "char", 1)
FACTOR = Parameter("factor", "scalar", "int", 4)
REGIONS = (Parameter("local", "implicit", "uint", 4), Parameter("local_bytes", "implicit", "uint", 4))

WITH = Config.preset("tiny", local_memory=32)
WITHOUT = Config.preset("tiny")


def image(text, parameters=(OUT,), **attributes):
    return Image(assemble(text).words, {"k": Kernel("k", 0, parameters, **attributes)})


def functional(config=WITH, **options):
    return Device(config, engine="functional", **options)


PARAMETERS = """
    lp r1, 0
    lp r2, 1
    sw r2, r1[r0]
    lp r2, 2
    li r3, 1
    sw r2, r1[r3]
    ret
"""


@pytest.mark.parametrize(("static", "sizes", "begins"), [(0, (4, 4), (0, 128)), (20, (129, 1), (128, 384))])
def test_arguments_lie_behind_the_variables(make_device, static, sizes, begins):
    device = make_device(WITH)
    out = device.buffer(2, np.uint32)
    run = device.launch(image(PARAMETERS, (OUT, TILE, BYTES), local_bytes=static), global_size=1,
                        args=[out, LocalMemory(sizes[0]), LocalMemory(sizes[1])])
    assert (out.read() - np.uint32(LOCAL_BASE)).tolist() == list(begins)
    assert run.local_bytes == begins[1] + sizes[1]


def test_raw_code_takes_local_memory_too(make_device):
    device = make_device(WITH)
    out = device.buffer(2, np.uint32)
    run = device.launch(assemble(".kernel k\n" + PARAMETERS), global_size=1,
                        args=[out, fgpu.LocalMemory(np.int64(100)), LocalMemory(60)])
    assert (out.read() - np.uint32(LOCAL_BASE)).tolist() == [0, 128]
    assert run.local_bytes == 188


def described(device, *launch, **options):
    """The descriptor that the engine gets."""
    found, engine = [], device._engine.launch

    def look(launch):
        found.append(Dispatch.from_words(launch.descriptor))
        return engine(launch)

    device._engine.launch = look
    device.launch(*launch, **options)
    device._engine.launch = engine
    return found[0]


@pytest.mark.parametrize(("size", "rows", "groups"), [
    (1, 1, 0), (32, 1, 0), (33, 2, 0), (4096, 128, 0), (4097, 129, 7), (10_922, 342, 2), (16_384, 512, 2),
    (16_385, 513, 1), (32_768, 1024, 1),
])
def test_a_unit_takes_as_many_work_groups_as_there_is_room_for(size, rows, groups):
    with functional() as device:
        for chosen, args in ((image("ret", (TILE,)), [LocalMemory(size)]), (image("ret", (), local_bytes=size), [])):
            dispatch = described(device, chosen, global_size=64, args=args)
            assert (dispatch.local_rows, dispatch.local_groups, dispatch.place) == (rows, groups, False)


def test_kernels_without_local_memory_have_descriptors_as_before():
    with functional() as device:
        dispatch = described(device, image("sync\nret", (), has_barrier=True), global_size=64)
    assert (dispatch.local_rows, dispatch.local_groups, dispatch.place) == (0, 0, False)


# -- in global memory --------------------------------------------------------------------------------

# Work-items fill their work-group's region, wait, and take the word of the last but one of the others.
KEPT = """
    lid   r1, 0
    wgoff r2, 0
    add   r2, r2, r1        ; global id
    lp    r3, 0             ; out
    lp    r4, 1             ; tile: an offset
    lp    r5, 2             ; local
    lp    r6, 3             ; local_bytes
    wgoff r7, 3
    mul   r6, r6, r7
    add   r5, r5, r6
    add   r4, r4, r5        ; the tile's address
    sw    r2, r4[r1]
    sync
    li    r8, 127
    sub   r8, r8, r1
    lw    r9, r4[r8]
    sw    r9, r3[r2]
    ret
"""


@pytest.mark.parametrize("units", [1, 2])
def test_without_local_memory_each_work_group_has_a_region(make_device, units):
    device = make_device(WITHOUT.replace(compute_units=units))
    kept = image(KEPT, (OUT, TILE, *REGIONS), local_bytes=40, has_barrier=True)
    out = device.buffer(40 * 128, np.uint32)
    before = device._allocator.ranges
    # 40 bytes of variables, 512 of the argument from 128 on.
    dispatch = described(device, kept, global_size=40 * 128, local_size=128, args=[out, LocalMemory(512)])
    assert np.array_equal(out.read(), np.arange(40 * 128).reshape(40, 128)[:, ::-1].ravel())
    assert dispatch.place
    assert (dispatch.local_rows, dispatch.local_groups) == (0, 0)
    assert device._allocator.ranges == before


def test_the_host_gives_regions_of_equal_size_their_bytes_and_offsets(make_device):
    device = make_device(WITHOUT.replace(compute_units=2))
    out = device.buffer(5, np.uint32)
    store = "".join(f"lp r2, {index}\nli r3, {index}\nsw r2, r1[r3]\n" for index in range(5))
    device.launch(image(f"lp r1, 0\n{store}ret", (OUT, TILE, BYTES, *REGIONS), local_bytes=130), global_size=1,
                  args=[out, LocalMemory(4), LocalMemory(200)])
    first, end = device._allocator.ranges[-1]
    address, tile, rest, local, size = out.read().tolist()
    assert address == first
    assert (tile, rest) == (256, 384)
    assert size == 640      # 584 rounded up
    assert local >= end
    device.buffer(1)


def test_regions_that_memory_has_no_room_for():
    memory = GlobalMemory(size=1 << 15)
    with functional(WITHOUT, memory=memory) as device, pytest.raises(
            LaunchError, match=r"'k' needs 8,192 bytes of local memory, in global memory, for each of 8 work-groups"):
        device.launch(image("ret", (TILE, *REGIONS)), global_size=1, args=[LocalMemory(8192)])


def test_kernels_that_keep_it_in_global_memory_run_where_there_is_local_memory(make_device):
    """The image says where its local memory is, not the configuration."""
    device = make_device(WITH)
    out = device.buffer(1024, np.uint32)
    device.launch(image(KEPT, (OUT, TILE, *REGIONS)), global_size=1024, local_size=128, args=[out, LocalMemory(512)])
    assert np.array_equal(out.read(), np.arange(1024).reshape(8, 128)[:, ::-1].ravel())


def test_launches_of_work_items_that_work_together_are_not_cut():
    """They could tell, whatever the image says."""
    with functional(WITHOUT) as device:
        alone = image("ret", (), splittable=True)
        together = image("sync\nret", (), splittable=True, has_barrier=True)
        assert device.launch(alone, global_size=1021).parts == 2
        with pytest.warns(fgpu.errors.PerformanceWarning):
            assert device.launch(together, global_size=1021).parts == 1


# -- bad launches ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, -4, 2.0, True, "64", None])
def test_sizes_of_local_memory(size):
    with pytest.raises(LaunchError, match=rf"local memory has a number of bytes from 1, not {size!r}"):
        LocalMemory(size)


@pytest.mark.parametrize("config", [WITH, WITHOUT], ids=["with local memory", "without"])
def test_arguments_of_other_kinds(config):
    with functional(config) as device:
        buffer = device.buffer(64)

        def launch(parameter, argument):
            device.launch(image("ret", (parameter,)), global_size=64, args=[argument])

        for argument in (buffer, 256, 0, None, np.zeros(64, np.int32)):
            with pytest.raises(LaunchError, match=r"argument 0 \(__local int \*tile\) is local memory; pass its "
                                                  r"size, LocalMemory\(bytes\), not "):
                launch(TILE, argument)
        with pytest.raises(LaunchError, match=r"argument 0 \(int \*out\) points to global memory, not to local"):
            launch(OUT, LocalMemory(64))
        for parameter in (FACTOR, Parameter("v", "scalar", "int4", 16), Parameter("s", "struct", "struct s", 8)):
            with pytest.raises(LaunchError, match=r"argument 0 \(.*\) is a value, not local memory"):
                launch(parameter, LocalMemory(64))
        with pytest.raises(LaunchError, match=r"takes 1 arguments \(__local int \*tile\), not 0"):
            device.launch(image("ret", (TILE,)), global_size=64)


@pytest.mark.parametrize(("config", "static", "size", "message"), [
    (WITH, 0, 32_769, "needs 32,769 bytes of local memory for each work-group; a compute unit of this configuration "
                      r"has 32,768 \(local_memory=32\). Ask for less, or use Config\(local_memory=64\)"),
    (WITH, 32_760, 4, "needs 32,900 bytes of local memory for each work-group, 32,760 of them for its variables; "),
    (WITH, 1 << 20, 4, r"no configuration has so much; Config\(local_memory=0\) has it in global memory"),
    (WITHOUT, 0, 64, r"needs 64 bytes .*; this configuration has none \(local_memory=0\). Compile it for this "
                     r"configuration, and it is in global memory; or use Config\(local_memory=8\)"),
])
def test_too_much_local_memory(config, static, size, message):
    with functional(config) as device, pytest.raises(LaunchError, match="kernel 'k' .*" + message):
        device.launch(image("ret", (TILE,), local_bytes=static), global_size=64, args=[LocalMemory(size)])


# -- accesses ----------------------------------------------------------------------------------------

BASE = LOCAL_BASE
ACCESS = """
.kernel k
    lid   r1, 0
    lp    r2, 0
    lp    r3, 1
    addi  r4, r1, -5
    bne   r4, r0, end       ; only work-item 5
    {}
end:
    ret
"""


OUTSIDE = [
    ("llw r5, r3[r0]", 4096 + 20, "load from local address 0xFFFF9014 by work-item 5 is 20 bytes behind the 4,096 "
                                  "bytes of the work-group's local memory"),
    ("lsw r5, r3[r0]", 4096, "store to local address 0xFFFF9000 by work-item 5 is just behind the 4,096 bytes"),
    ("llb r5, r3[r0]", -1, "load from local address 0xFFFF7FFF by work-item 5 is 1 bytes before the 4,096 bytes"),
    ("laadd r5, r3[r0]", 8192, "laadd at local address 0xFFFFA000 by work-item 5 is 4,096 bytes behind"),
    ("lacmpxchg r5, r3, r4", 1 << 14, "lacmpxchg at local address 0xFFFFC000 by work-item 5 is 12,288 bytes behind"),
    ("llh r5, r3[r0]", 3, "from local address 0xFFFF8003 by work-item 5 is misaligned: llh needs a multiple of 2"),
    ("lsw r5, r3[r0]", 2, "is misaligned: lsw needs a multiple of 4"),
    ("lamax r5, r3[r0]", 5, "is misaligned: lamax needs a multiple of 4"),
]


@pytest.mark.parametrize(("engine", "instruction", "offset", "message"), [
    *(("functional", *row) for row in OUTSIDE), pytest.param("pysim", *OUTSIDE[0], marks=pytest.mark.ci),
    *(pytest.param("verilator", *row, marks=pytest.mark.ci) for row in OUTSIDE)])
def test_accesses_outside_local_memory(engine, instruction, offset, message):
    program = assemble(ACCESS.format(instruction))
    address = (BASE + offset) % (1 << 32)
    with Device(LOCAL, engine=engine) as device:
        with pytest.raises(KernelAccessError, match="kernel 'k'.*: PC 5: .*" + re.escape(message)) as raised:
            device.launch(program, global_size=64, args=[LocalMemory(4096), address])
        assert (raised.value.address, raised.value.pc) == (address, 5)
        descriptor = KernelDescriptor(entry=0, global_size=(64,), local_size=(64,), parameters=(0, address),
                                      local_rows=128)
        with pytest.raises(KernelAccessError, match=re.escape(message)):
            device.launch_descriptor(program, descriptor.words())
    with Device(LOCAL, engine=engine, check_accesses=False) as device:
        device.launch(program, global_size=64, args=[LocalMemory(4096), address])


@pytest.mark.parametrize("engine", quick(["functional", "verilator"], ["functional"]))
@pytest.mark.parametrize(("instruction", "offset", "refused"), [
    ("llw r5, r3[r0]", 4, ""),      # of six bytes the last two, with the rest of their word
    ("llh r5, r3[r0]", 4, ""), ("lsb r5, r3[r0]", 5, ""),
    ("lsw r5, r3[r0]", 4, "across the end of the 6 bytes"), ("llb r5, r3[r0]", 6, "just behind the 6 bytes"),
])
def test_accesses_at_the_end_of_local_memory(engine, instruction, offset, refused):
    with Device(LOCAL, engine=engine) as device, \
            pytest.raises(KernelAccessError, match=refused) if refused else nullcontext():
        device.launch(assemble(ACCESS.format(instruction)), global_size=64, args=[LocalMemory(6), BASE + offset])


def test_without_any_local_memory_there_is_nothing_to_access():
    with functional() as device, pytest.raises(
            KernelAccessError, match="is outside local memory, of which the work-group has none"):
        device.launch(assemble(ACCESS.format("llw r5, r3[r0]")), global_size=64, args=[0, BASE])


def test_nothing_begins_at_address_0():
    """Behind 32 KiB of variables an argument would: it would be a null pointer."""
    kernel = Kernel("k", 0, (Parameter("t", "local", "int", 4),), local_bytes=1 << 15)
    room = LocalRoom.of(kernel, [LocalMemory(128)], Config(local_memory=64))
    assert room.addresses == (128,)
    assert room.bytes == (1 << 15) + 256
