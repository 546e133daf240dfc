"""What pipelines are made of: registers without reset, shifters in steps, the count of leading zeros, rounding."""

from collections.abc import Iterator, Sequence
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, ValueLike

from .format import Format

__all__ = ["Stages", "lost", "moved_left", "moved_right", "packed", "steps"]


class Stages:
    """Names values of a module, in the same cycle or some cycles later."""

    def __init__(self, m: Module) -> None:
        self._m = m

    def now(self, name: str, value: ValueLike) -> Signal:
        """The value, in the same cycle."""
        value = Value.cast(value)
        signal = Signal(value.shape(), name=name)
        self._m.d.comb += signal.eq(value)
        return signal

    def later(self, name: str, value: Any, cycles: int = 1) -> Any:
        """The value some cycles later. Longer delays become shift registers in LUTs, as nothing resets them."""
        for cycle in range(1, cycles + 1):
            register = Signal(value.shape(), name=f"{name}_{cycle}" if cycles > 1 else name, reset_less=True)
            self._m.d.sync += register.eq(value)
            value = register
        return value

    def later_unless(self, name: str, value: Any, instead: Any, constant: int = 0) -> Any:
        """The value a cycle later, or ``constant`` where ``instead`` is true: flip-flops do that without LUTs."""
        register = Signal(value.shape(), name=name, reset_less=True)
        self._m.d.sync += register.eq(value)
        with self._m.If(instead):
            self._m.d.sync += register.eq(constant)
        return register

    def leading_zeros(self, name: str, value: Value) -> tuple[Value, Value]:
        """The number of zeros above the highest one, and whether there is a one (otherwise the number is any)."""
        width = 1 << max(len(value) - 1, 1).bit_length()
        return self._leading_zeros(name, Cat(Const(0, width - len(value)), value))

    def _leading_zeros(self, name: str, value: Value) -> tuple[Value, Value]:
        if len(value) == 1:
            return Const(0, 0), value
        half = len(value) // 2
        low, low_any = self._leading_zeros(f"{name}_l", value[:half])
        high, high_any = self._leading_zeros(f"{name}_h", value[half:])
        return self.now(name, Cat(Mux(high_any, high, low)[:len(high)], ~high_any)), high_any | low_any


def steps(bits: int, lowest: int = 0) -> Iterator[tuple[int, int]]:
    """Two bits of a shift amount at a time, from the highest to ``lowest``: (first, end). Four ways fit a LUT of six
    inputs."""
    for first in reversed(range(lowest, bits, 2)):
        yield first, min(first + 2, bits)


def _chosen(choice: Value, options: Sequence[Value]) -> Value:
    if len(options) == 1:
        return options[0]
    half = len(options) // 2
    return Mux(choice[-1], _chosen(choice[:-1], options[half:]), _chosen(choice[:-1], options[:half]))


def moved_left(value: Value, places: Value, step: tuple[int, int]) -> Value:
    """``value`` shifted by two bits of ``places``; as wide as it was."""
    first, end = step
    return _chosen(places[first:end], [
        Cat(Const(0, min(n << first, len(value))), value)[:len(value)] for n in range(1 << end - first)])


def moved_right(value: Value, places: Value, step: tuple[int, int]) -> Value:
    """``value`` shifted by two bits of ``places``; as wide as it was."""
    first, end = step
    return _chosen(places[first:end], [
        Cat(value[n << first:], Const(0, min(n << first, len(value)))) for n in range(1 << end - first)])


def lost(value: Value, places: Value, step: tuple[int, int]) -> Value:
    """Whether :func:`moved_right` drops a one."""
    first, end = step
    return _chosen(places[first:end], [value[:n << first].any() for n in range(1 << end - first)])


def packed(stages: Stages, number: Format, *, sign: Value, base: Value, significand: Value, up: Value, nan: Value,
           infinite: Value, integer: Value | None = None, is_integer: Value | None = None) -> Value:
    """The number with exponent field ``base``, plus ``significand`` with its leading one, plus one unit if ``up``; a
    cycle later.

    The leading one and a carry of rounding both count up the exponent, so that what overflows in rounding becomes
    infinite by itself. Subnormals have ``base`` 0 and no leading one. Without subnormals, ``base`` may be -1. Instead
    of all that it is ``integer`` if ``is_integer``.
    """
    fraction, exponent = number.fraction_bits, number.exponent_bits
    total: Value = stages.now("total", (Cat(significand[:fraction], base[:exponent])
                                 + Cat(up, Const(0, fraction - 1), significand[fraction]))[:fraction + exponent])
    is_special = stages.now("is_special", nan | infinite)
    clear: Value = is_special
    if not number.subnormals:
        clear = stages.now("clear", is_special | ~total[fraction:].any())
    quiet = (total[fraction - 1] & ~clear) | nan
    sign = sign & ~nan
    if integer is not None and is_integer is not None:
        is_special, clear = is_special & ~is_integer, clear & ~is_integer
        total, quiet = Mux(is_integer, integer, total), Mux(is_integer, integer[fraction - 1], quiet)
        sign = Mux(is_integer, integer[-1], sign)
    return Cat(
        stages.later_unless("packed_fraction", total[:fraction - 1], clear),
        stages.later("packed_quiet", quiet),
        stages.later_unless("packed_exponent", total[fraction:fraction + exponent], is_special,
                            number.special_exponent),
        stages.later("packed_sign", sign),
    )
