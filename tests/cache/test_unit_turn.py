"""Turns of compute units."""

from amaranth.sim import SimulatorContext

from fgpu.cache.unit_turn import _LONGEST, _QUIET, UnitTurn
from fgpu.config import Config

from ..streams import simulate


def _turns(cycles: int, *, requests: int, wanted: int = 1) -> list[tuple[int, int]]:
    """Whose turns there were, and how many cycles each lasted; the last one is not over."""
    dut = UnitTurn(Config(compute_units=4))
    seen: list[int] = []

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(dut.wanted, wanted)
        ctx.set(dut.requests, requests)
        for _ in range(cycles):
            seen.append(ctx.get(dut.unit))
            await ctx.tick()

    simulate(dut, bench)
    turns: list[tuple[int, int]] = []
    for unit in seen:
        turns = [*turns[:-1], (unit, turns[-1][1] + 1)] if turns and turns[-1][0] == unit else [*turns, (unit, 1)]
    return turns


def test_each_unit_that_asks_has_a_long_turn() -> None:
    turns = _turns(5 * _LONGEST, requests=0b1111)
    assert [unit for unit, _ in turns] == [1, 2, 4, 8, 1]
    assert all(_LONGEST <= cycles <= _LONGEST + 1 for _, cycles in turns[:-1])


def test_one_that_does_not_ask_has_a_short_one() -> None:
    turns = _turns(2 * _LONGEST, requests=0b0100)
    assert [unit for unit, _ in turns][:5] == [1, 2, 4, 8, 1]
    assert [cycles > _LONGEST - 1 for _, cycles in turns[:4]] == [False, False, True, False]
    assert all(cycles <= _QUIET + 2 for unit, cycles in turns if unit != 4)


def test_nobody_has_a_turn_where_none_is_wanted() -> None:
    assert _turns(2 * _LONGEST, requests=0b1111, wanted=0) == [(1, 2 * _LONGEST)]
