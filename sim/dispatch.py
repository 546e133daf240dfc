"""What the hardware makes of the words of a kernel descriptor, even where they contradict each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from fgpu.address_map import DESCRIPTOR_WORDS, DescriptorWord, EntryWord, ShapeWord, SizeWord
from fgpu.config import DIMENSIONS, WAVEFRONT_SIZE, WAVEFRONTS, WORK_GROUP_MAX
from fgpu.errors import LaunchError

from .words import unpacked

__all__ = ["Dispatch", "checked_words", "contradictions"]

_ENTRY, _SIZE, _ORIGIN, _SHAPE = (int(word) for word in (
    DescriptorWord.ENTRY, DescriptorWord.GLOBAL_SIZE, DescriptorWord.GLOBAL_OFFSET, DescriptorWord.SHAPE))
_GROUPS, _ITEMS = int(DescriptorWord.WORK_GROUPS), int(DescriptorWord.SIZE)


@dataclass(frozen=True, kw_only=True)
class Dispatch:
    """How the dispatcher runs a kernel; each number comes from the word from which the hardware takes it.

    The tuples have three numbers, dimension 0 first.
    """

    entry: int
    dimensions: int
    extents: tuple[int, ...]
    """Of a work-group, for local ids and for the steps of its offset: word 7; 1 in dimensions that there are not."""
    steps: tuple[int, ...]
    """From one work-group's offset to the next: word 7, whatever the number of dimensions."""
    origins: tuple[int, ...]
    """Offsets of the first work-group: words 4 to 6."""
    work_groups: tuple[int, ...]
    """Words 8 to 10; 1 in dimensions that there are not."""
    wavefronts: int
    """Of a work-group: word 0, modulo the 8 of a compute unit."""
    last_items: int
    """Enabled work-items of a work-group's last wavefront, 1 to 64: word 11."""
    local_rows: int = 0
    """Rows of local memory of a work-group: word 11."""
    local_groups: int = 0
    """Work-groups that a compute unit may hold at a time; 0: eight. Word 11."""
    place: bool = False
    """Whether ``wgoff rd, 3`` tells work-groups that run apart: word 11."""

    @property
    def work_items(self) -> int:
        """Enabled work-items of a work-group."""
        return (self.wavefronts - 1) * WAVEFRONT_SIZE + self.last_items

    @property
    def all_wavefronts(self) -> int:
        """Wavefronts of all work-groups."""
        return math.prod(self.work_groups) * self.wavefronts

    @classmethod
    def from_words(cls, words: Sequence[int]) -> "Dispatch":
        """Raises :class:`~fgpu.errors.LaunchError` for other than 32 words, and for four dimensions."""
        return cls._from_shape(tuple(checked_words(words)[:_ITEMS + 1]))

    @classmethod
    @lru_cache(maxsize=256)
    def _from_shape(cls, words: tuple[int, ...]) -> "Dispatch":
        """From those before the parameters: programs launch the same again and again."""
        shape = unpacked(ShapeWord, words[_SHAPE])
        extents: tuple[int, ...] = shape["work_group_size"]
        dimensions = shape["dimensions_minus_1"] + 1
        if dimensions > DIMENSIONS:
            raise LaunchError(f"descriptor word 7 asks for {dimensions} dimensions; an index space has 1 to 3")
        there = range(dimensions)
        every = range(DIMENSIONS)
        entry, size = unpacked(EntryWord, words[_ENTRY]), unpacked(SizeWord, words[_ITEMS])
        return cls(
            entry=entry["entry"], dimensions=dimensions,
            extents=tuple(extents[index] if index in there else 1 for index in every), steps=extents,
            origins=tuple(words[_ORIGIN + index] for index in every),
            work_groups=tuple(words[_GROUPS + index] + 1 if index in there else 1 for index in every),
            wavefronts=entry["wavefronts_minus_1"] % WAVEFRONTS + 1,
            last_items=size["work_items"] % WAVEFRONT_SIZE or WAVEFRONT_SIZE,
            local_rows=size["local_rows"], local_groups=size["local_groups"], place=bool(size["place"]))


def checked_words(words: Sequence[int]) -> list[int]:
    """The words of an LRAM slot as plain integers, if they are that."""
    if len(words) != DESCRIPTOR_WORDS:
        raise LaunchError(f"a kernel descriptor has {DESCRIPTOR_WORDS} words, not {len(words)}")
    if set(map(type, words)) == {int} and min(words) >= 0 and max(words) < 1 << 32:
        return list(words)
    for index, word in enumerate(words):
        if isinstance(word, bool) or not hasattr(word, "__index__") or int(word) not in range(1 << 32):
            raise LaunchError(f"descriptor word {index} is {word!r}, which is not a 32-bit unsigned integer")
    return [int(word) for word in words]


def contradictions(words: Sequence[int]) -> list[str]:
    """What is wrong with each other in a descriptor that :class:`Dispatch` takes; each text names the words."""
    entry, shape = unpacked(EntryWord, words[_ENTRY]), unpacked(ShapeWord, words[_SHAPE])
    items = unpacked(SizeWord, words[_ITEMS])["work_items"]
    dimensions = range(shape["dimensions_minus_1"] + 1)
    extents = tuple(shape["work_group_size"][index] for index in dimensions)
    found = [f"word {_SIZE + index}: the global size in dimension {index} is 0" for index in dimensions
             if not words[_SIZE + index]]
    wrong = [f"word 7: the local size in dimension {index} is {extent}, not 1 to {WORK_GROUP_MAX}"
             for index, extent in enumerate(extents) if extent not in range(1, WORK_GROUP_MAX + 1)]
    if wrong:
        return found + wrong
    product = math.prod(extents)
    if product > WORK_GROUP_MAX:
        return [*found, f"word 7: the local size {extents} makes {product} work-items; a work-group holds at most "
                        f"{WORK_GROUP_MAX}"]
    if items != product:
        found.append(f"word 11 has {items} work-items in a work-group, but word 7's extents {extents} make {product}")
    wavefronts, needed = entry["wavefronts_minus_1"] + 1, -(-product // WAVEFRONT_SIZE)
    if wavefronts != needed:
        found.append(f"word 0 has {wavefronts} wavefronts in a work-group, but {product} work-items need {needed}")
    return found
