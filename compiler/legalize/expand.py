"""What the machine lacks even for words."""

from ..ir.module import Function
from .bit_counting import expand_bit_counting
from .division import expand_divisions
from .inline_routines import inline_routines
from .switches import expand_switches

__all__ = ["expand", "expand_switches"]


def expand(function: Function) -> None:
    """Rewrite ``function`` in place so that only operations remain that the machine has."""
    expand_divisions(function)
    expand_bit_counting(function)
    inline_routines(function)
