"""Faults planted in the start of wavefronts, in the barrier, in the allocation of local memory and in its banks are
found by the tests beside."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from ..formal.prover import mutant
from . import test_barrier, test_launcher, test_local_bases, test_local_memory, test_scheduler

_Test = Callable[[], None]


@dataclass(frozen=True)
class Unit:
    """A class of a module, where tests or other units take it from, and the tests that are to find its faults."""

    module: str
    name: str
    used: tuple[Any, str]
    tests: tuple[_Test, ...]


def _accesses(config: str, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        test_local_memory.test_random_accesses(config, seed, patch)


_OF_MEMORY = (partial(_accesses, "tiny", 0), partial(_accesses, "tiny", 1), partial(_accesses, "default", 0))
_CONTROLLER, _MEMORY = "fgpu.cu.memory_controller", "fgpu.cu.local_memory"

BARRIER = Unit("fgpu.cu.barrier", "Barrier", (test_barrier, "Barrier"), tuple(
    partial(test_barrier.test_random_work_groups, most) for most in (1, 2, 4)))
LAUNCHER = Unit("fgpu.cu.launcher", "Launcher", (test_launcher, "Launcher"), tuple(
    partial(test_launcher.test_random_work_groups, *each) for each in ((1, 0, 0), (2, 0, 1), (5, 1, 0))))
SELECTOR = Unit("fgpu.cu.selector", "WavefrontSelector", ("fgpu.cu.scheduler", "WavefrontSelector"),
                (partial(test_scheduler.test_nothing_is_issued_during_a_hold, 30),))
BASES = Unit("fgpu.cu.local_bases", "LocalBases", (test_local_bases, "LocalBases"),
             (test_local_bases.test_a_base_is_that_of_the_issue,))
MEMORY = Unit(_MEMORY, "LocalMemory", (_CONTROLLER, "LocalMemory"), _OF_MEMORY)
BANKS = Unit("fgpu.cu.local_banks", "LocalBanks", (_MEMORY, "LocalBanks"), _OF_MEMORY)
RETURN = Unit("fgpu.cu.load_return", "LoadReturn", (_CONTROLLER, "LoadReturn"), _OF_MEMORY)
ATOMICS = Unit("fgpu.cu.local_atomics", "LocalAtomics", (_MEMORY, "LocalAtomics"), _OF_MEMORY)
PAIRS = Unit("fgpu.cu.local_arbiter", "LanePairs", (_MEMORY, "LanePairs"), _OF_MEMORY)


def found(unit: Unit, old: str, new: str) -> None:
    """Demand that a test fails where ``old`` is ``new`` in the unit's module."""
    faulty = getattr(mutant(unit.module, old, new), unit.name)
    where, name = unit.used
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{where}.{name}" if isinstance(where, str) else f"{where.__name__}.{name}", faulty)
        for test in unit.tests:
            try:
                test()
            except AssertionError:
                return
    pytest.fail(f"nothing found {new!r} instead of {old!r}")


@pytest.mark.ci
@pytest.mark.parametrize(("unit", "old", "new"), [
    (BARRIER, "groups.starting))", "groups.starting & 0))"),
    (BARRIER, "(~self.arrived[slot]).replicate", "(self.arrived[slot]).replicate"),
    (BARRIER, "complete.eq(~awaited)", "complete.eq(~awaited & complete)"),
    (BARRIER, "(groups.members[slot] & complete).any()", "complete.any()"),
    (BARRIER, "(groups.members[slot] & complete).any()", "(groups.members[0] & complete).any()"),
    (BARRIER, "self.arrived[slot] & (groups", "(groups"),
    (BARRIER, "range(WAVEFRONTS)),", "range(WAVEFRONTS - 1)),"),
    (LAUNCHER, "with m.Elif(self.free[slot]):", "with m.Elif(0):"),
    (LAUNCHER, "number < kernel.local_groups", "number <= kernel.local_groups"),
    (LAUNCHER, "(~taken & allowed).any() | unlimited", "1"),
    (LAUNCHER, "~self.clearing & has_number ", "~self.clearing "),
    (LAUNCHER, "self.runtime_write.valid.eq(~self.loading)", "self.runtime_write.valid.eq(1)"),
    (LAUNCHER, "with m.If(~self.loading & ~finishing):", "with m.If(~finishing):"),
    (LAUNCHER, "with m.If(~self.loading & finishing & ~waiting):", "with m.If(finishing & ~waiting):"),
    (LAUNCHER, "with m.If(~self.loading & finishing & ~waiting):", "with m.If(~self.loading & finishing):"),
    (LAUNCHER, "(waiting & self.mask_ready).replicate", "waiting.replicate"),
    (LAUNCHER, "with m.If(choosing):", "with m.If(1):"),
    (SELECTOR, "& ~self.hold)", ")"),
    (LAUNCHER, "lowest(~taken)", "1"),
    (LAUNCHER, "members[slot].eq(taking)", "members[slot].eq(lowest(~taken))"),
    (LAUNCHER, "self.groups.starting.eq(taking)", "self.groups.starting.eq(0)"),
    (LAUNCHER, "free_count > kernel", "free_count >= kernel"),
    (LAUNCHER, "~self.clearing & has_number", "has_number"),
    (LAUNCHER, "taken.eq(reduce(or_, (members[slot] for slot in range(WAVEFRONTS)",
     "taken.eq(reduce(or_, (members[slot] for slot in range(WAVEFRONTS - 1)"),
    (LAUNCHER, "Cat(self.group, self.compute_unit)", "Cat(taken[:3], self.compute_unit)"),
    (BASES, "(rows << bit)", "rows"),
    (BASES, "range(1, MEMORY_STAGE + 1)", "range(1, MEMORY_STAGE)"),
    (BASES, "self.group[bit].rep", "self.group[0].rep"),
    (BASES, "range(GROUP_BITS)", "range(GROUP_BITS - 1)"),
    (BASES, "write.en.eq(self.start.any())", "write.en.eq(self.start[1:].any())"),
    (BASES, "number_of(self.start)", "number_of(self.start)[:2]"),
])
def test_work_groups(unit: Unit, old: str, new: str) -> None:
    found(unit, old, new)


@pytest.mark.long
@pytest.mark.parametrize(("unit", "old", "new"), [
    (MEMORY, " & ~addressed.atomic & ", " & "),
    (MEMORY, "(routed.write.any() | addressed.write.any())", "addressed.write.any()"),
    (MEMORY, "(routed.write.any() | addressed.write.any())", "routed.write.any()"),
    (MEMORY, "& (fresh | same_word.any()))", "& fresh)"),
    (MEMORY, "banks.base.eq(0), ", ""),
    (MEMORY, "arbiter.served | kind.atomic.replicate(PE_COUNT)", "arbiter.served"),
    (MEMORY, "(final | kind.atomic)", "final"),
    (MEMORY, "Mux(kind.atomic, arbiter.leaders, kind.lanes)", "kind.lanes"),
    (MEMORY, "routed.width.eq(Width.WORD), routed.sources.eq(0)", "routed.width.eq(Width.WORD)"),
    (BANKS, "write_port.addr.eq(row4)", "write_port.addr.eq(row3)"),
    (BANKS, "self.base + choose", "choose"),
    (BANKS, "Mux(narrow, low, words[number][16:])", "words[number][16:]"),
    (BANKS, "Mux(byte_wide, words[number][:8], words[number][8:16])", "words[number][8:16]"),
    (ATOMICS, "(expected[part], self.expected)", "(expected[part], self.operands)"),
    (ATOMICS, "[~self.lane[-1], self.lane[-1]]", "[1, self.lane[-1]]"),
    (ATOMICS, "choose(list(given)[lanes], self.lane[:-1])", "list(given)[lanes][0]"),
    (PAIRS, "_PART * number] for", "_PART * number - 1] for"),
    (PAIRS, "range(1, len(self.parts))", "range(2, len(self.parts))"),
    (RETURN, "is_clear | ~local.returns", "1"),
    (RETURN, "self.stations.ready.eq(able & ~turn)", "self.stations.ready.eq(able)"),
    (RETURN, "~local.served & (turn & local.load).replicate(PE_COUNT)", "Const(0, PE_COUNT)"),
])
def test_memory(unit: Unit, old: str, new: str) -> None:
    found(unit, old, new)
