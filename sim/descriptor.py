"""The kernel descriptor: the 32 words of an LRAM slot that say how a kernel runs (dissertation, appendix B)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import parse

from fgpu.address_map import DESCRIPTOR_WORDS, DescriptorWord, EntryWord, ShapeWord, SizeWord
from fgpu.config import DIMENSIONS, KERNEL_SLOTS, PARAMETERS_MAX, WAVEFRONT_SIZE, WORK_GROUP_MAX
from fgpu.errors import LaunchError

from .dispatch import Dispatch, checked_words, contradictions
from .numbers import is_integer
from .words import packed, unpacked

__all__ = ["KernelDescriptor"]

_WORD = range(1 << 32)
_LOCAL_ROWS, _LOCAL_GROUPS = (range(1 << SizeWord.as_shape()[name].width) for name in ("local_rows", "local_groups"))


@dataclass(frozen=True, kw_only=True)
class KernelDescriptor:
    """How one kernel runs. Raises :class:`~fgpu.errors.LaunchError` when built with what cannot run.

    Sizes and offsets are in work-items, one number for each of the 1 to 3 dimensions, dimension 0 first.
    """

    entry: int
    """Word index of the first instruction in CRAM."""
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    """Work-items of a work-group, at most 512 altogether."""
    global_offset: tuple[int, ...] = ()
    """Offset of the global ids; empty: zero in every dimension."""
    work_groups: tuple[int, ...] = ()
    """Work-groups to run; empty: as many as cover the global size."""
    parameters: tuple[int, ...] = ()
    """Up to 16 unsigned 32-bit words."""
    local_rows: int = 0
    """Rows of 32 bytes of local memory of each work-group."""
    local_groups: int = 0
    """Work-groups that a compute unit may hold at a time, so that their local memory fits; 0: eight."""
    place: bool = False
    """Whether ``wgoff rd, 3`` reads a number that no other running work-group has."""

    def __post_init__(self) -> None:
        dimensions = len(self.global_size)
        if not 1 <= dimensions <= DIMENSIONS:
            raise LaunchError(f"the global size {self.global_size} has {dimensions} dimensions; it must have 1 to 3")
        if len(self.local_size) != dimensions:
            raise LaunchError(f"the local size {self.local_size} has {len(self.local_size)} dimensions, "
                              f"the global size {self.global_size} has {dimensions}; give equally many")
        _check_each("the global size in dimension", self.global_size, _WORD[1:])
        _check_each("the local size in dimension", self.local_size, range(1, WORK_GROUP_MAX + 1))
        if self.work_items > WORK_GROUP_MAX:
            raise LaunchError(f"the local size {self.local_size} makes {self.work_items} work-items; "
                              f"a work-group holds at most {WORK_GROUP_MAX}")
        if not self.global_offset:
            object.__setattr__(self, "global_offset", (0,) * dimensions)
        if len(self.global_offset) != dimensions:
            raise LaunchError(f"the global offset {self.global_offset} has {len(self.global_offset)} dimensions, "
                              f"the global size {dimensions}; give equally many")
        _check_each("the global offset in dimension", self.global_offset, _WORD)
        if not self.work_groups:
            groups = tuple(-(-size // local) for size, local in zip(self.global_size, self.local_size, strict=True))
            object.__setattr__(self, "work_groups", groups)
        _check_each("the number of work-groups in dimension", self.work_groups, range(1, (1 << 32) + 1))
        if len(self.parameters) > PARAMETERS_MAX:
            raise LaunchError(f"{len(self.parameters)} parameters are too many; a kernel takes at most "
                              f"{PARAMETERS_MAX}")
        _check_each("parameter", self.parameters, _WORD)
        if self.entry not in range(1 << EntryWord.as_shape()["entry"].width):
            raise LaunchError(f"the first instruction's address {self.entry} is outside the descriptor's 14 bits")
        _check_each("local_rows", (self.local_rows,), _LOCAL_ROWS)
        _check_each("local_groups", (self.local_groups,), _LOCAL_GROUPS)

    # -- derived numbers ------------------------------------------------------------------------

    @property
    def dimensions(self) -> int:
        """Dimensions of the index space, 1 to 3."""
        return len(self.global_size)

    @property
    def work_items(self) -> int:
        """Work-items of a work-group."""
        return math.prod(self.local_size)

    @property
    def wavefronts(self) -> int:
        """Wavefronts of a work-group; the last may be partly empty."""
        return -(-self.work_items // WAVEFRONT_SIZE)

    def check_divisible(self) -> None:
        """Refuse a global size that the local size does not divide, as OpenCL does."""
        for dimension, (size, local) in enumerate(zip(self.global_size, self.local_size, strict=True)):
            if size % local:
                raise LaunchError(
                    f"the global size {size} in dimension {dimension} is not a multiple of the local size {local}; "
                    f"round it up to {size + local - size % local} or choose another local size")

    # -- the words ------------------------------------------------------------------------------

    def words(self) -> tuple[int, ...]:
        """The 32 words of the LRAM slot; sizes of dimensions that the kernel lacks are 1, their offsets 0."""
        words = [0] * DESCRIPTOR_WORDS
        words[DescriptorWord.ENTRY] = packed(
            EntryWord, {"entry": self.entry, "wavefronts_minus_1": self.wavefronts - 1})
        words[DescriptorWord.SHAPE] = packed(ShapeWord, {
            "work_group_size": _padded(self.local_size, 1), "dimensions_minus_1": self.dimensions - 1})
        words[DescriptorWord.SIZE] = packed(SizeWord, {
            "work_items": self.work_items, "parameters": len(self.parameters) % PARAMETERS_MAX,
            "local_rows": self.local_rows, "local_groups": self.local_groups, "place": int(self.place)})
        per_dimension = {
            DescriptorWord.GLOBAL_SIZE: _padded(self.global_size, 1),
            DescriptorWord.GLOBAL_OFFSET: _padded(self.global_offset, 0),
            DescriptorWord.WORK_GROUPS: [groups - 1 for groups in _padded(self.work_groups, 1)],
        }
        for first, values in per_dimension.items():
            words[first:first + DIMENSIONS] = values
        words[DescriptorWord.PARAMETERS:DescriptorWord.PARAMETERS + len(self.parameters)] = self.parameters
        return tuple(words)

    @classmethod
    def from_words(cls, words: Sequence[int]) -> "KernelDescriptor":
        """Read the words of an LRAM slot.

        The 4 bits for the number of parameters cannot say 16: 0 means 16 where any parameter word is not zero.
        Raises :class:`~fgpu.errors.LaunchError` where the words contradict each other; what the hardware then makes
        of them, :class:`~fgpu.sim.dispatch.Dispatch` tells.
        """
        words = checked_words(words)
        dimensions = Dispatch.from_words(words).dimensions
        wrong = contradictions(words)
        if wrong:
            raise LaunchError(f"descriptor {'; '.join(wrong)}")
        entry = unpacked(EntryWord, words[DescriptorWord.ENTRY])
        shape = unpacked(ShapeWord, words[DescriptorWord.SHAPE])
        size = unpacked(SizeWord, words[DescriptorWord.SIZE])
        parameters = words[DescriptorWord.PARAMETERS:]
        if size["parameters"] or not any(parameters):
            del parameters[size["parameters"]:]

        def vector(first: int) -> tuple[int, ...]:
            return tuple(words[first:first + dimensions])

        return cls(
            entry=entry["entry"],
            global_size=vector(DescriptorWord.GLOBAL_SIZE),
            local_size=shape["work_group_size"][:dimensions],
            global_offset=vector(DescriptorWord.GLOBAL_OFFSET),
            work_groups=tuple(groups + 1 for groups in vector(DescriptorWord.WORK_GROUPS)),
            parameters=tuple(parameters),
            local_rows=size["local_rows"], local_groups=size["local_groups"], place=bool(size["place"]),
        )

    @classmethod
    def from_xml(cls, path: str | Path) -> tuple["KernelDescriptor", int]:
        """Read the XML form of the dissertation's listing 5.1; returns the descriptor and its slot.

        Numbers are decimal or hexadecimal (``0x``). Offsets default to 0 and ``index``, the slot, to 0, and so do
        ``local_rows``, ``local_groups`` and ``place``, which the dissertation does not have.
        Raises :class:`~fgpu.errors.LaunchError` for a file that is not such a descriptor.
        """
        try:
            root = parse(str(path)).getroot()
        except OSError as error:
            raise LaunchError(f"cannot read descriptor {path}: {error.strerror}") from None
        except (ParseError, DefusedXmlException) as error:
            raise LaunchError(f"{path}: not a well-formed, plain XML file: {error}") from None
        try:
            return _from_element(root)
        except LaunchError as error:
            raise LaunchError(f"{path}: {error}") from None


def _padded(values: tuple[int, ...], filler: int) -> tuple[int, ...]:
    return values + (filler,) * (DIMENSIONS - len(values))


def _check_each(what: str, values: Sequence[int], allowed: range) -> None:
    for index, value in enumerate(values):
        if not is_integer(value) or int(value) not in allowed:
            raise LaunchError(
                f"{what} {index} is {value!r}; it must be an integer from {allowed[0]} to {allowed[-1]}")


# -- XML ----------------------------------------------------------------------------------------


def _from_element(root: Element) -> tuple[KernelDescriptor, int]:
    if root.tag != "kernel":
        raise LaunchError(f"the root element must be <kernel>, not <{root.tag}>")
    values: dict[str, int] = {}
    for element in root:
        if element.tag in values:
            raise LaunchError(f"<{element.tag}> is given twice")
        text = (element.text or "").strip()
        try:
            values[element.tag] = int(text, 16 if text.lower().startswith("0x") else 10)
        except ValueError:
            raise LaunchError(f"<{element.tag}> is {text!r}, not a decimal or hexadecimal (0x) number") from None

    def take(tag: str, default: int | None = None) -> int:
        value = values.pop(tag, default)
        if value is None:
            raise LaunchError(f"the descriptor lacks <{tag}>")
        return value

    slot = take("index", 0)
    if slot not in range(KERNEL_SLOTS):
        raise LaunchError(f"<index> is {slot}; LRAM has the slots 0 to {KERNEL_SLOTS - 1}")
    dimensions = take("nDim")
    if not 1 <= dimensions <= DIMENSIONS:
        raise LaunchError(f"<nDim> is {dimensions}; an index space has 1 to 3 dimensions")
    parameters = take("nParameters")
    if not 0 <= parameters <= PARAMETERS_MAX:
        raise LaunchError(f"<nParameters> is {parameters}; a kernel takes 0 to {PARAMETERS_MAX}")
    descriptor = KernelDescriptor(
        entry=take("start_addr"),
        global_size=tuple(take(f"global_size{index}") for index in range(dimensions)),
        local_size=tuple(take(f"work_group_size{index}") for index in range(dimensions)),
        global_offset=tuple(take(f"global_offset{index}", 0) for index in range(dimensions)),
        parameters=tuple(take(f"param{index}") for index in range(parameters)),
        local_rows=take("local_rows", 0), local_groups=take("local_groups", 0), place=bool(take("place", 0)),
    )
    if values:
        raise LaunchError(f"<{min(values)}> is unknown, or beyond the numbers that <nDim> and <nParameters> give")
    return descriptor, slot
