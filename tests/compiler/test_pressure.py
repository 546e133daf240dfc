"""The least that is spilled: told before registers are allocated, and never more than the allocator spills then."""

import random

import pytest

from fgpu.compiler.backend.allocate import allocate
from fgpu.compiler.backend.liveness import live_out
from fgpu.compiler.backend.mir import COLOURS
from fgpu.compiler.backend.out_of_ssa import leave_ssa
from fgpu.compiler.backend.parser import parse_machine_function
from fgpu.compiler.backend.pressure import least_spilled
from fgpu.compiler.backend.schedule import shorten_lives


def least(function, available):
    return least_spilled(function, live_out(function), available)


def test_what_is_computed_again_takes_no_place():
    function = parse_machine_function("""kernel @k {
    ^entry:
      %32 = lp 0
      %33 = const 7
      %34 = lw %32[r0]
      %35 = lw %32[%33]
      %36 = lw %32[%34]
      go ^loop
    ^loop:
      %37 = phi ^entry %34, ^loop %38
      %39 = phi ^entry %35, ^loop %35
      %38 = add %37, %36
      sw %39, %32[%38]
      bne %38, %33, ^loop
      sw %36, %32[%33]
      ret
    }""")
    # %35, %36, and %34, %37 or %38; %32 and %33 are made again, and %39 is a copy.
    assert [least(function, available) for available in range(5)] == [3, 2, 1, 0, 0]


def generated(seed):
    """A loop between two blocks, with values that live in part of it and in all of it."""
    r = random.Random(seed)
    made = [32]

    def new():
        made.append(made[-1] + 1)
        return made[-1]

    def block(known, count):
        ops = []
        for _ in range(count):
            a, b = r.choice(known), r.choice(known)
            op = r.choice((f"add %{a}, %{b}", f"lw %{a}[%{b}]", f"const {r.randrange(99)}", f"macc %{a}, %{b}, %{a}"))
            known = [*known, new()]
            ops.append(f"%{made[-1]} = {op}")
        return known, [*ops, *(f"sw %{r.choice(known)}, %32[%{each}]" for each in r.sample(known, len(known) // 2))]

    outside, entry = block([32], r.randrange(20, 60))
    phis = [(new(), r.choice(outside)) for _ in range(r.randrange(1, 12))]
    inside, loop = block([*outside, *(phi for phi, _ in phis)], r.randrange(10, 30))
    phis = [f"%{phi} = phi ^entry %{source}, ^loop %{r.choice(inside)}" for phi, source in phis]
    _, end = block(inside, 5)
    return "\n".join(["kernel @k {", "^entry:", "%32 = lp 0", *entry, "go ^loop", "^loop:", *phis, *loop,
                      f"bne %{inside[-1]}, %32, ^loop", "go ^end", "^end:", *end, "ret", "}"])


@pytest.mark.parametrize("seed", range(12))
def test_no_allocation_spills_less(seed):
    text = generated(seed)
    few = COLOURS[:12]
    for shorten in (False, True):
        function = parse_machine_function(text)
        if shorten:
            shorten_lives(function)
        told = least(function, len(few))
        leave_ssa(function)
        words = allocate(function, available=few)
        assert 0 < told <= words
