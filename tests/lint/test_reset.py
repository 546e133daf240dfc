"""Every register is reset, but those in the pipelines of floating-point units: what they hold is never asked for."""

from collections.abc import Iterator

from amaranth.hdl import Elaboratable, Fragment, Module, Signal

from fgpu.config import ATOMICS, FLOAT_OPS, Config
from fgpu.core import FGPU


def unreset(fragment: Fragment, path: str = "core") -> Iterator[str]:
    """The registers of a design that no reset reaches."""
    for domain, statements in fragment.statements.items():
        if domain != "comb":
            for signal in {id(each): each for statement in statements for each in statement._lhs_signals()}.values():
                if signal.reset_less:
                    yield f"{path}.{signal.name}"
    for number, (inner, name, *_) in enumerate(fragment.subfragments):
        yield from unreset(inner, f"{path}.{name or number}")


def names(design: Elaboratable) -> set[str]:
    return set(unreset(Fragment.get(design, None)))


def test_all_is_reset() -> None:
    found = names(FGPU(Config.preset("tiny", cache_ways=2, atomics=ATOMICS, float_ops=FLOAT_OPS, statistics=True,
                                     float_lanes={"fdiv": 1, "itofp": 2})))
    assert found, "the floating-point units have registers without reset"
    assert not {name for name in found if ".floats." not in name}


def test_the_test_can_fail() -> None:
    class Bad(Elaboratable):
        def elaborate(self, platform: object) -> Module:
            m = Module()
            m.submodules.inner = inner = Module()
            used = Signal(reset_less=True)
            inner.d.sync += used.eq(~used)
            return m

    assert names(Bad()) == {"core.inner.used"}
