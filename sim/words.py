"""Words with fields as plain integers: Amaranth's layouts say what is where, but take their time."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from amaranth.lib import data

__all__ = ["packed", "unpacked"]

_Field = tuple[int, int]


@lru_cache
def _fields(layout: Any) -> dict[str, _Field | tuple[_Field, ...]]:
    """Of each field the lowest bit and the mask, or those of its elements."""
    found: dict[str, _Field | tuple[_Field, ...]] = {}
    for name, field in data.Layout.cast(layout):
        if isinstance(field.shape, data.ArrayLayout):
            elements = [element for _, element in field.shape]
            found[name] = tuple((field.offset + each.offset, (1 << each.width) - 1) for each in elements)
        else:
            found[name] = field.offset, (1 << field.width) - 1
    return found


def unpacked(layout: Any, word: int) -> dict[str, Any]:
    """The fields of a word with the layout of a ``data.Struct``: numbers, and tuples of them for arrays."""
    return {name: tuple(word >> low & mask for low, mask in field) if isinstance(field[0], tuple)
            else word >> field[0] & field[1] for name, field in _fields(layout).items()}


def packed(layout: Any, values: Mapping[str, Any]) -> int:
    """The word with these values, of which the fields take the lower bits; others are 0."""
    word, fields = 0, _fields(layout)
    for name, value in values.items():
        field = fields[name]
        if isinstance(field[0], tuple):
            for (low, mask), each in zip(field, value, strict=True):
                word |= (int(each) & mask) << low
        else:
            word |= (int(value) & field[1]) << field[0]
    return word
