"""The conformance groups that apply to OpenCL 1.2 without images, and how long ones are shortened."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

__all__ = ["GROUPS", "Group"]


@dataclass(frozen=True, kw_only=True)
class Group:
    """One program of the suite: a folder of ``test_conformance/``."""

    folder: str
    program: str
    """Name of the executable, and of its target in cmake."""
    options: tuple[str, ...] = ()
    """What each run gets before the subtest's name."""
    last: tuple[str, ...] = ()
    """What it gets behind the name."""
    note: str = ""
    """How this shortens the group, for the table."""
    brief: "Brief | None" = None
    """How it is shortened further."""
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The arguments for each subtest, where its name alone is not enough."""
    subtest: str | None = None
    """The one of which these are the parts, by names of ours."""
    leave_out: str | None = None
    """A regular expression for the names of subtests that are not run."""
    limit: float = 1.0
    """The time limit is so many times that of the command."""

    def selects(self, subtest: str) -> bool:
        """Whether ``subtest`` is run."""
        return self.leave_out is None or not re.fullmatch(self.leave_out, subtest)

    def chooses(self, subtest: str) -> tuple[str, ...]:
        """The arguments that choose a subtest."""
        return self.parts.get(subtest, (subtest,))

    @property
    def arguments(self) -> tuple[str, ...]:
        """All that the group's runs share."""
        return (*self.options, *self.last)

    @property
    def forms(self) -> tuple["Group", ...]:
        """The group itself, then as it is for devices that are simulated cycle by cycle, each shorter than the one
        before."""
        return (self,) if self.brief is None else (self, *self._shortened(self.brief).forms)

    def _shortened(self, brief: "Brief") -> "Group":
        options = self.options if brief.options is None else brief.options
        return replace(self, options=options, last=brief.last, parts=brief.parts or self.parts, note=brief.note,
                       brief=brief.brief)


@dataclass(frozen=True, kw_only=True)
class Brief:
    """What makes a group short enough for a device that is simulated cycle by cycle."""

    note: str
    options: tuple[str, ...] | None = None
    """Instead of the group's."""
    last: tuple[str, ...] = ()
    parts: Mapping[str, tuple[str, ...]] | None = None
    """Instead of the group's, by the same names; ``options`` or ``last`` must differ, too, as outcomes tell forms by
    these."""
    brief: "Brief | None" = None
    """What makes it shorter still, for subtests that take too long so."""


def _conversions() -> dict[str, tuple[str, ...]]:
    """All rounding modes and saturations of one pair of types are a part: ``int_float`` and so on."""
    integers = ("uchar", "char", "ushort", "short", "uint", "int", "ulong", "long")
    types = (*integers, "half", "float", "double")
    modes = ("", "_rte", "_rtp", "_rtn", "_rtz")
    saturations = {to: ("", "_sat") if to in integers else ("",) for to in types}
    return {f"{to}_{of}": tuple(f"{to}{saturation}{mode}_{of}" for saturation in saturations[to] for mode in modes)
            for to in types for of in types}


def _dimensions(sides: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """``sides`` has the most work-items a side by the start of a subtest's name: without, `quick_3d` has sixteen
    launches of 2^30 work-items."""
    return {name: (*(("-n", str(sides[start])) if start in sides else ()), name)
            for start in ("quick_1d", "quick_2d", "quick_3d", "full_1d", "full_2d", "full_3d")
            for name in (f"{start}_implicit_local", f"{start}_explicit_local")}


_WIMPY: Final = "wimpy: a fraction of the operands"
_FEW: Final = Brief(last=("1024",), note="1,024 elements instead of 16,384")
_QUICK: Final = "the quick list: `quick_int_math` for `int_math` and so on"
_FEWER: Final = "wimpy with a reduction of 4096 instead of 128"
_ALL = (
    Group(folder="computeinfo", program="computeinfo"),
    Group(folder="basic", program="basic", brief=_FEW),
    Group(folder="api", program="api"),
    Group(folder="compiler", program="compiler"),
    Group(folder="buffers", program="buffers", brief=_FEW),
    Group(folder="mem_host_flags", program="mem_host_flags"),
    Group(folder="allocations", program="allocations", options=("single", "5"), limit=2,
          note="single allocations, five repetitions"),
    Group(folder="events", program="events"),
    Group(folder="profiling", program="profiling"),
    Group(folder="multiple_device_context", program="multiples"),
    Group(folder="device_partition", program="device_partition"),
    Group(folder="printf", program="printf"),
    Group(folder="atomics", program="atomics", brief=_FEW),
    Group(folder="vectors", program="vectors"),
    Group(folder="thread_dimensions", program="thread_dimensions", limit=2,
          parts=_dimensions({"quick_3d": 256, "full_1d": 4096, "full_2d": 128, "full_3d": 32}),
          note="`quick_3d` up to 256 a side; `full_` up to 4096, 128 and 32 a side in 1, 2 and 3 dimensions",
          # Not wimpy: the suite then calls `full_` ones passed and runs nothing.
          brief=Brief(options=("-b", str(4 << 20)),
                      note="buffers of 4 MiB; up to 4096, 512 and 16 a side in 1, 2 and 3 dimensions, `full_2d` 64",
                      parts=_dimensions({"quick_1d": 4096, "quick_2d": 512, "quick_3d": 16,
                                         "full_1d": 4096, "full_2d": 64, "full_3d": 16}))),
    Group(folder="relationals", program="relationals", brief=_FEW),
    Group(folder="select", program="select", options=("--wimpy",), note=_WIMPY, limit=2),
    Group(folder="commonfns", program="commonfns", brief=_FEW),
    Group(folder="geometrics", program="geometrics", brief=_FEW),
    Group(folder="integer_ops", program="integer_ops", options=("--wimpy",), limit=2,
          leave_out="u?(long|int|short|char)_(math|logic|shift|compare)",
          note=_QUICK, brief=replace(_FEW, note=f"{_QUICK}; {_FEW.note}")),
    Group(folder="half", program="half", options=("--wimpy", "-[65536]"), limit=2,
          note="wimpy: one of 65536 blocks of operands"),
    Group(folder="contractions", program="contractions", limit=2),
    Group(folder="conversions", program="conversions", options=("--wimpy",), note=_WIMPY, parts=_conversions(),
          subtest="conversions", limit=2,
          brief=Brief(options=("--wimpy", "-[4096]"), note=_FEWER,
                      brief=Brief(options=("--wimpy", "-[4096]", "-1"), note=f"{_FEWER}, scalars only"))),
    Group(folder="math_brute_force", program="bruteforce", options=("--wimpy", "-[256]", "-1"), limit=2,
          note="wimpy with a reduction of 256 instead of 32, scalars only",
          brief=Brief(options=("--wimpy", "-[512]", "-1"),
                      note="wimpy with a reduction of 512 instead of 32, scalars only")),
)
GROUPS: Final[Mapping[str, Group]] = {group.folder: group for group in _ALL}
"""By the folder's name, short ones first."""
