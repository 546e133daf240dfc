"""Barriers: who waits for whom, what is seen behind them, and who goes on with whom."""

import re

import numpy as np
import pytest

from fgpu import Config
from fgpu.compiler import assemble
from fgpu.errors import SimulationTimeout
from fgpu.sim import Device, KernelDescriptor

# r1 = local id, r2 = group id, r3 = global id, r4 = out
IDS = """
    lid   r1, 0
    wgid  r2, 0
    wgoff r3, 0
    add   r3, r3, r1
    lp    r4, 0
"""


def run(device, text, *, global_size, local_size, in_words=None, **fields):
    """Assemble and run; returns the words of the output, one for each work-item, and the run."""
    out = device.buffer(np.full(global_size, -1, np.int32))
    descriptor = KernelDescriptor(entry=0, global_size=(global_size,), local_size=(local_size,),
                                  parameters=(out.address,), **fields)
    result = device.launch_descriptor(assemble(text), descriptor.words())
    return out.read(), result


# What is behind `far` has the higher addresses: engines that let wavefronts run on at the lower ones run these last.
EXCHANGE = IDS + """
    srli  r5, r1, 6
    beq   r5, r6, far       ; r6 = 0: the first wavefront
stored:
    sync
    lp    r7, 0
    xori  r8, r3, 64        ; the other wavefront's
    lw    r9, r4[r8]
    sync                    ; all have read
    sw    r9, r4[r3]
    ret
far:
    li    r10, 200
again:
    addi  r10, r10, -1
    bne   r10, r0, again
    beq   r0, r0, stored
"""


def test_every_store_before_a_barrier_is_seen_behind_it(make_device):
    text = EXCHANGE.replace("stored:", "stored:\n    addi r9, r3, 1000\n    sw r9, r4[r3]")
    out, _ = run(make_device(Config.preset("tiny")), text, global_size=1024, local_size=128)
    assert np.array_equal(out, (np.arange(1024) ^ 64) + 1000)


def test_the_barrier_of_one_work_group_is_not_that_of_another(make_device):
    """The first work-group waits in a loop before its barrier for what the second stores behind its own."""
    out, _ = run(make_device(Config.preset("tiny")), IDS + """
        bne   r2, r0, second
    waits:
        li    r5, 64
        lw    r6, r4[r5]
        li    r7, 7
        bne   r6, r7, waits
    second:
        sync
        li    r7, 7
        sw    r7, r4[r3]
        ret
    """, global_size=128, local_size=64)
    assert (out == 7).all()


PARTED = IDS + """
    andi  r5, r1, 3
    beq   r5, r0, fourth    ; 16 of 64: they go first, and are parked
    addi  r6, r1, 0
    beq   r0, r0, meet
fourth:
    addi  r6, r1, 100
    beq   r0, r0, meet
meet:
    sync
    sw    r6, r4[r3]
    ret
"""


def test_a_parted_wavefront_goes_on_as_one(make_device):
    out, result = run(make_device(Config.preset("tiny")), PARTED, global_size=64, local_size=64)
    items = np.arange(64)
    assert np.array_equal(out, np.where(items % 4 == 0, items + 100, items))
    # 7 in common; then 3 of each part, with its sync; then the store and the return of both.
    assert result.instructions == 7 + 2 * 3 + 2
    assert result.work_item_instructions == 64 * (7 + 3 + 2)


def test_a_wavefront_parts_again_behind_a_barrier(make_device):
    """The stacks are as empty as before: 40 rounds, each with six branches on the way to the barrier."""
    out, _ = run(make_device(Config.preset("tiny", link_stack_depth=8)), IDS + """
        li    r5, 40
        li    r6, 0
    round:
        add   r7, r1, r5
        andi  r7, r7, 63
    again:
        beq   r7, r0, meet
        add   r6, r6, r7
        srli  r7, r7, 1
        beq   r0, r0, again
    meet:
        sync
        addi  r5, r5, -1
        bne   r5, r0, round
        sw    r6, r4[r3]
        ret
    """, global_size=128, local_size=128)
    items = np.arange(128)
    expected = sum(sum((items + turn & 63) >> shift for shift in range(6)) for turn in range(1, 41))
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("least", [0, 1, 20, 63, 64, 65, 127, 128, 191])
def test_work_items_that_have_ended_count_as_arrived(make_device, least):
    """Those below ``least`` return before the barrier: some of a wavefront, all of it, and nearly all."""
    out, _ = run(make_device(Config.preset("tiny")), IDS + f"""
        sltiu r5, r1, {least}
        bne   r5, r0, end
        addi  r6, r1, 5
        sw    r6, r4[r3]
        sync
        li    r7, {191 if least else 0}
        wgoff r8, 0
        add   r7, r7, r8
        lw    r9, r4[r7]
        sync
        sw    r9, r4[r3]
    end:
        ret
    """, global_size=384, local_size=192)
    items = np.arange(384)
    last = 191 + 5 if least else 5
    assert np.array_equal(out, np.where(items % 192 < least, -1, last))


@pytest.mark.parametrize("waiting", [1, 31, 33, 63])
def test_the_last_part_may_end_where_others_are_parked(make_device, waiting):
    """Both orders of the parts: parked first and then ended, and the other way round."""
    out, _ = run(make_device(Config.preset("tiny")), IDS + f"""
        sltiu r5, r1, {waiting}
        bne   r5, r0, waits
        sw    r1, r4[r3]
        ret
    waits:
        sync
        addi  r6, r1, 1000
        sw    r6, r4[r3]
        ret
    """, global_size=128, local_size=64)
    items = np.arange(128) % 64
    assert np.array_equal(out, np.where(items < waiting, items + 1000, items))


def test_parts_at_two_barriers_go_on_behind_the_last(make_device):
    """That is no OpenCL; but every engine does the same."""
    out, _ = run(make_device(Config.preset("tiny")), IDS + """
        sltiu r5, r1, 20
        bne   r5, r0, few
        sync                ; the many come last
        li    r6, 1
        sw    r6, r4[r3]
        ret
    few:
        sync
        li    r6, 2
        sw    r6, r4[r3]
        ret
    """, global_size=64, local_size=64)
    assert (out == 1).all()


SUBROUTINE = IDS + """
    jsub  meets
    sw    r6, r4[r3]
    ret
meets:
    andi  r5, r1, 1
    bne   r5, r0, odd
    addi  r6, r1, 10
    sync                    ; each part has its own; they go on behind the odd ones', who come last
    ret
odd:
    addi  r6, r1, 20
    sync
    ret
"""


def test_a_barrier_in_a_subroutine(make_device):
    out, result = run(make_device(Config.preset("tiny")), SUBROUTINE, global_size=128, local_size=64)
    items = np.arange(128) % 64
    assert np.array_equal(out, items + np.where(items % 2, 20, 10))
    # One return from the subroutine, for both parts.
    assert result.instructions == 2 * (5 + 1 + 2 + 2 + 2 + 1 + 2)


def test_a_subroutine_waits_for_nobody_who_did_not_call_it(make_device):
    """The odd work-items call alone, then the even ones: the call's entry hides the others' part."""
    out, result = run(make_device(Config.preset("tiny")), IDS + """
        andi  r5, r1, 1
        li    r6, 3
        bne   r5, r0, odd
        li    r6, 4
    odd:
        jsub  meets
        sw    r6, r4[r3]
        ret
    meets:
        sltiu r7, r1, 10
        bne   r7, r0, few
        addi  r6, r6, 100
    few:
        sync
        addi  r6, r6, 1000
        ret
    """, global_size=64, local_size=64)
    items = np.arange(64)
    assert np.array_equal(out, 1000 + np.where(items % 2, 3, 4) + np.where(items < 10, 0, 100))
    parts = 2 * (1 + 2 + 2 + 1 + 2 + 2)     # jsub; sltiu and bne; sync of both; addi; addi and ret; sw and ret
    assert result.instructions == 8 + 1 + parts


@pytest.mark.parametrize("local_size", [1, 63, 65, 130, 511, 512])
def test_partly_empty_wavefronts(make_device, local_size):
    """Each work-item takes what the one before it stored, all around the work-group."""
    out, _ = run(make_device(Config.preset("tiny")), IDS + """
        sw    r3, r4[r3]
        sync
        wgsize r5, 0
        bne   r1, r0, before
        add   r1, r5, r0
    before:
        wgoff r6, 0
        add   r6, r6, r1
        addi  r6, r6, -1
        lw    r7, r4[r6]
        sync
        sw    r7, r4[r3]
        ret
    """, global_size=3 * local_size, local_size=local_size)
    groups = np.arange(3 * local_size).reshape(3, local_size)
    assert np.array_equal(out, np.roll(groups, 1, axis=1).ravel())


def test_a_kernel_with_barriers_and_none_in_some_work_groups(make_device):
    """The barrier is in code that only odd work-groups come to."""
    out, _ = run(make_device(Config.preset("tiny")), IDS + """
        andi  r5, r2, 1
        beq   r5, r0, end
        sw    r3, r4[r3]
        sync
        xori  r6, r3, 127
        lw    r7, r4[r6]
        sync
        sw    r7, r4[r3]
    end:
        ret
    """, global_size=8 * 128, local_size=128)
    items = np.arange(8 * 128)
    assert np.array_equal(out, np.where(items >> 7 & 1, items ^ 127, -1))


# -- a number of the work-group's own ---------------------------------------------------------------


@pytest.mark.parametrize(("units", "local_size"), [(1, 512), (1, 64), (2, 128)])
def test_no_two_work_groups_that_run_have_the_same_place(make_device, units, local_size):
    """Each marks the word of its place, which must be free, and frees it when all its work-items have been there."""
    device = make_device(Config.preset("tiny", compute_units=units))
    marks = device.buffer(8 * units, np.int32)
    groups = 40
    out = device.buffer(np.full(groups, -1, np.int32))
    descriptor = KernelDescriptor(entry=0, global_size=(groups * local_size,), local_size=(local_size,), place=True,
                                  parameters=(out.address, marks.address))
    device.launch_descriptor(assemble(IDS + """
        wgoff r5, 3
        lp    r6, 1
        bne   r1, r0, others
        lw    r7, r6[r5]            ; 0: nobody else is here
        bne   r7, r0, end
        addi  r8, r2, 1
        sw    r8, r6[r5]
    others:
        sync
        lw    r9, r6[r5]            ; still ours
        addi  r8, r2, 1
        bne   r9, r8, end
        sync
        bne   r1, r0, end
        sw    r0, r6[r5]
        sw    r5, r4[r2]
    end:
        ret
    """), descriptor.words())
    places = out.read()
    assert places.min() >= 0
    assert places.max() < 8 * units
    assert not marks.read().any()


def test_places_are_told_only_where_the_descriptor_asks(make_device):
    text = IDS + "    wgoff r5, 3\n    sw r5, r4[r3]\n    ret"
    out, _ = run(make_device(Config.preset("tiny")), text, global_size=256, local_size=64)
    assert not out.any()
    # Where none is larger than the unit holds, the same as without.
    out, _ = run(make_device(Config.preset("tiny")), text, global_size=256, local_size=64, place=True)
    assert (out.reshape(4, 64) == out[::64, np.newaxis]).all()


# -- messages ---------------------------------------------------------------------------------------


def test_who_waits_at_a_barrier_when_time_is_up():
    image = assemble("""
        lid   r1, 0
        srli  r5, r1, 6
        li    r6, 1
    spins:
        beq   r5, r6, spins
        sync
        ret
    """)
    descriptor = KernelDescriptor(entry=0, global_size=(192,), local_size=(192,))
    with Device(Config.preset("tiny"), engine="functional") as device, pytest.raises(SimulationTimeout) as raised:
        device.launch_descriptor(image, descriptor.words(), max_cycles=2000)
    message = str(raised.value)
    assert re.search("wavefront 1 of work-group 0 is at [^;]*: beq r5, r6[^;]*, 64 work-items enabled;", message)
    assert re.findall(r"wavefront (\d) of work-group 0 waits at the barrier [^;]*PC 4: sync", message) == ["0", "2"]


def test_which_part_of_a_wavefront_is_at_the_barrier_when_time_is_up():
    image = assemble("""
        lid   r1, 0
        sltiu r5, r1, 10
        beq   r5, r0, spins
        sync                ; ten
        ret
    spins:
        beq   r0, r0, spins
    """)
    descriptor = KernelDescriptor(entry=0, global_size=(64,), local_size=(64,))
    with Device(Config.preset("tiny"), engine="functional") as device, pytest.raises(
            SimulationTimeout, match=r"is at PC 5: beq.*, 54 work-items enabled, 10 at the barrier PC 3: sync$"):
        device.launch_descriptor(image, descriptor.words(), max_cycles=2000)
