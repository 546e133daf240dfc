"""What kernels do that OpenCL leaves open, work-items that return before a barrier and count as arrived at it, and
what PoCL refuses.
"""

from collections.abc import Callable

from ..fuzz.pocl import Argument
from .launches import Launch

__all__ = ["MODELS"]

Model = Callable[[int, int, int], dict[int, int]]
"""From the number of a work-group, its size and the kernel's number: what it stores where."""


def _return_at_start(first: int, size: int, n: int) -> dict[int, int]:
    return {i: 1000 + (i ^ 1) for i in range(first, first + size) if i < n}


def _return_of_half(first: int, size: int, _: int) -> dict[int, int]:
    return {first + item: 2 * (1000 + first + (item + 4 & 126)) + (2 if (item + 4) & 2 == 0 else -2)
            for item in range(0, size, 2)}


def _return_of_wavefronts(first: int, size: int, _: int) -> dict[int, int]:
    return {first + item: 1000 + first + (item ^ 64) for item in range(64, 192)}


def _return_of_all_but_one(first: int, size: int, k: int) -> dict[int, int]:
    return {first + k: 2 * (1000 + first + k) + 3}


def _return_in_loop(first: int, size: int, _: int) -> dict[int, int]:
    stored, n, rounds = {}, size, 0
    while n:
        rounds += 1
        stored |= {first + item: 1000 + first + n - 1 - item + rounds for item in range(n)}
        n //= 2
    return stored


def _return_after_divergence(first: int, size: int, _: int) -> dict[int, int]:
    def x(item: int) -> int:
        if item & 1:
            return first + item + sum(range(item & 7)) if not item & 2 else 1000 + first + item
        return (first + item) * 3 if item & 4 else first + item
    return {first + item: x(item ^ 4) + x(item) for item in range(size) if item & 3 != 3}


def _two_entries(first: int, size: int, _: int) -> dict[int, int]:
    number, x = first // size, [7 * i for i in range(first, first + size)]
    for n in range(number + 1):
        if n or not number & 1:
            x = [x[item] + x[item ^ 1] for item in range(size)]
        x = [x[item] ^ x[item ^ 2] >> 1 for item in range(size)]
    return {first + item: word for item, word in enumerate(x)}


_MODELS: dict[str, Model] = {
    "return_at_start": _return_at_start, "return_of_half": _return_of_half,
    "return_of_wavefronts": _return_of_wavefronts, "return_of_all_but_one": _return_of_all_but_one,
    "return_in_loop": _return_in_loop, "return_after_divergence": _return_after_divergence,
    "two_entries": _two_entries}


def _modelled(launch: Launch) -> list[Argument]:
    """The arguments afterwards."""
    (global_size,), (local_size,) = launch.global_size, launch.local_size
    out, *values = launch.arguments()
    number = int.from_bytes(values[0], "little") if values and isinstance(values[0], bytes) else 0
    assert isinstance(out, bytearray)
    for first in range(0, global_size, local_size):
        for at, word in _MODELS[launch.name](first, local_size, number).items():
            out[4 * at:4 * at + 4] = word.to_bytes(4, "little")
    return [out, *values]


MODELS = dict.fromkeys(_MODELS, _modelled)
