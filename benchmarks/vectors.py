"""Problems on vectors. Right answers are NumPy's, in the kernels' order of operations."""

from collections.abc import Callable
from typing import Final

import numpy as np

from .benchmark import Case, Problem, Step

__all__ = [
    "TAPS", "ac_power", "atomic_ac_power", "atomic_reduction", "bitonic", "copy", "divide", "elementwise", "fft",
    "fir", "nbody", "reduction", "selection", "xcorr",
]

TAPS: Final = 12
"""Coefficients of the FIR filter."""
_FACTOR: Final = 4
"""Elements that a work-item of a reduction takes in each launch but the first."""
_REDUCED: Final = 2048
"""Most elements that the first launch of a reduction leaves."""
_ATOMIC_ITEMS: Final = 512
"""Most work-items of an atomic reduction."""
_SOFTENING: Final = 0.0625
_TIME_STEP: Final = 0.0078125

_Make = Callable[[Case], Problem]
_Combine = Callable[[np.ndarray, np.ndarray], np.ndarray]


def copy(case: Case) -> Problem:
    """Each element as it is."""
    a = case.data(case.size)
    return Problem({"in": a, "out": np.zeros_like(a)}, {"out": a}, (case.line("in", "out"),))


def elementwise(operation: np.ufunc) -> _Make:
    """A maker for ``operation`` on two vectors."""
    def make(case: Case) -> Problem:
        a, b = case.data(case.size), case.data(case.size)
        expected = case.narrow(operation(case.wide(a), case.wide(b)))
        return Problem({"a": a, "b": b, "out": np.zeros_like(a)}, {"out": expected}, (case.line("a", "b", "out"),))
    return make


def divide(case: Case) -> Problem:
    """Each element divided by a constant, rounded towards zero where they are integers."""
    a, divisor = case.data(case.size), 3.7 if case.element.is_float else 37
    divisor = case.element.wide.type(divisor).item()
    wide = case.wide(a)
    # NumPy rounds quotients of integers down, C towards zero.
    expected = wide / np.float32(divisor) if case.element.is_float else np.sign(wide) * (abs(wide) // divisor)
    return Problem({"in": a, "out": np.zeros_like(a)}, {"out": case.narrow(expected)},
                   (case.line("in", "out", divisor),))


def fir(case: Case) -> Problem:
    """A finite impulse response filter of ``TAPS`` coefficients."""
    samples, coefficients = case.data(case.size + TAPS - 1), case.data(TAPS)
    expected = np.zeros(case.size, case.element.wide)
    for tap, coefficient in enumerate(case.wide(coefficients)):
        expected += case.wide(samples[tap:tap + case.size]) * coefficient
    return Problem({"in": samples, "coeff": coefficients, "out": case.zeros(case.size)},
                   {"out": case.narrow(expected)}, (case.line("in", "coeff", "out", TAPS),))


def xcorr(case: Case) -> Problem:
    """The cross-correlation of two vectors."""
    a, b = case.data(case.size), case.data(2 * case.size)
    expected, wide = np.zeros(case.size, case.element.wide), case.wide(b)
    for shift, factor in enumerate(case.wide(a)):
        expected += factor * wide[shift:shift + case.size]
    return Problem({"a": a, "b": b, "out": case.zeros(case.size)}, {"out": case.narrow(expected)},
                   (case.line("a", "b", "out", case.size),))


def selection(case: Case) -> Problem:
    """Sorted by counting, for each element, those that are smaller."""
    data = case.data(case.size)
    return Problem({"in": data, "out": np.zeros_like(data)}, {"out": np.sort(data)},
                   (case.line("in", "out", case.size),))


def bitonic(case: Case) -> Problem:
    """Sorted by Batcher's bitonic network, a launch for each of its columns."""
    data = case.data(case.size)
    steps = tuple(case.line("data", stage, number, 1, items=case.size // 2)
                  for stage in range(case.size.bit_length() - 1) for number in range(stage + 1))
    return Problem({"data": data}, {"data": np.sort(data)}, steps)


def fft(case: Case) -> Problem:
    """Passes in Stockham's order; real and imaginary parts beside each other."""
    n = case.size
    points = case.data(n, 2)
    angles = -2 * np.pi * np.arange(n // 2) / n
    roots = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    expected, arrays, steps = points, ("points", "other"), []
    for number in range(n.bit_length() - 1):
        steps.append(case.line(*arrays, "roots", number, items=n // 2))
        expected, arrays = _fft_pass(expected, roots, 1 << number), arrays[::-1]
    return Problem({"points": points, "roots": roots, "other": np.zeros_like(points)}, {arrays[0]: expected},
                   tuple(steps))


def _fft_pass(points: np.ndarray, roots: np.ndarray, length: int) -> np.ndarray:
    """Transforms of ``length`` points become transforms of twice as many."""
    half = len(points) // 2
    items = np.arange(half)
    within = items & (length - 1)
    root, left, right = roots[within * (half // length)], points[:half], points[half:]
    turned = np.stack([right[:, 0] * root[:, 0] - right[:, 1] * root[:, 1],
                       right[:, 0] * root[:, 1] + right[:, 1] * root[:, 0]], axis=1)
    result = np.empty_like(points)
    place = 2 * items - within
    result[place], result[place + length] = left + turned, left - turned
    return result


def nbody(case: Case) -> Problem:
    """One step in time; a body is x, y, z and its mass."""
    bodies = case.rng.random((case.size, 4), np.float32)
    velocities = case.rng.standard_normal((case.size, 4), np.float32)
    velocities[:, 3] = 0
    pulls = np.zeros_like(bodies)
    for body in bodies:
        way = body[:3] - bodies[:, :3]
        squares = way * way
        square = squares[:, 0] + squares[:, 1] + squares[:, 2] + np.float32(_SOFTENING)
        pulls[:, :3] += way * (body[3] / (square * np.sqrt(square)))[:, None]
    faster = velocities + pulls * np.float32(_TIME_STEP)
    moved = bodies + faster * np.float32(_TIME_STEP)
    steps = (case.line("bodies", "pulls", case.size, _SOFTENING),
             case.line("bodies", "velocities", "pulls", _TIME_STEP, items=4 * case.size, kernel="nbody_move"))
    return Problem({"bodies": bodies, "velocities": velocities, "pulls": np.zeros_like(bodies)},
                   {"pulls": pulls, "velocities": faster, "bodies": moved}, steps)


# -- reductions ---------------------------------------------------------------------------------


def _reduce(values: np.ndarray, items: int, combine: _Combine) -> np.ndarray:
    """What ``items`` work-items leave, each of which takes every ``items``-th element."""
    result = values[:items]
    for first in range(items, len(values), items):
        following = values[first:first + items]
        result = np.concatenate([combine(result[:len(following)], following), result[len(following):]])
    return result


def _steps(case: Case, *more: float, kernel: str = "") -> tuple[tuple[Step, ...], str]:
    """Launches until one element is left, or one of each lane, and the array where it is.

    The first is of ``kernel``, which has ``more`` arguments.
    """
    count, steps, arrays = case.items, list[Step](), ("in", "first")
    while count > 1 or not steps:
        items = max(1, min(count // _FACTOR, _REDUCED))
        steps.append(case.line(*arrays, count, *(() if steps else more), items=items, kernel="" if steps else kernel))
        count, arrays = items, (arrays[1], "second" if arrays[1] == "first" else "first")
    return tuple(steps), arrays[0]


def _reduction(case: Case, data: np.ndarray, mapped: np.ndarray, combine: _Combine, steps: tuple[Step, ...],
               where: str) -> Problem:
    left = mapped.reshape(-1, case.element.lanes)
    for step in steps:
        left = _reduce(left, step.global_size[0], combine)
    room = case.zeros(min(case.size, _REDUCED * case.element.lanes))
    return Problem({"in": data, "first": room, "second": room}, {where: case.narrow(left).reshape(-1)}, steps)


def reduction(combine: np.ufunc) -> _Make:
    """A maker that combines all elements, in launches that leave ever fewer."""
    def make(case: Case) -> Problem:
        data = case.data(case.size)
        return _reduction(case, data, case.wide(data), combine, *_steps(case))
    return make


def _squares(case: Case) -> tuple[np.ndarray, np.ndarray, int | float]:
    """Data, their distances from a value, squared, and the value."""
    data = case.data(case.size)
    value = case.element.wide.type(0.7 if case.element.is_float else 37)
    distance = case.wide(data) - value
    return data, distance * distance, value.item()


def ac_power(case: Case) -> Problem:
    """The sum of the squared distances from a value, in launches that leave ever fewer."""
    data, squares, value = _squares(case)
    return _reduction(case, data, squares, np.add, *_steps(case, value, kernel="ac_power"))


def atomic_reduction(combine: np.ufunc, start: int) -> _Make:
    """One launch; each work-item combines its own result with the word at the output, which is ``start`` before."""
    def make(case: Case) -> Problem:
        data = case.data(case.size)
        return _atomic(case, data, combine.reduce(data, dtype=case.element.wide), start)
    return make


def atomic_ac_power(case: Case) -> Problem:
    """The sum of the squared distances from a value, added by atomic operations."""
    data, squares, value = _squares(case)
    return _atomic(case, data, squares.sum(dtype=np.int32), 0, value, kernel="ac_power")


def _atomic(case: Case, data: np.ndarray, expected: np.ndarray, start: int, *more: float,
            kernel: str = "") -> Problem:
    items = min(max(case.size // _FACTOR, 1), _ATOMIC_ITEMS)
    return Problem({"in": data, "out": np.array([start], case.element.lane)}, {"out": np.atleast_1d(expected)},
                   (case.line("in", "out", case.size, *more, items=items, kernel=kernel),))
