"""The checker of cocotb benches knows the rules of the one in C++, by the same right and wrong runs."""

import pytest

from ..sim.test_axi_checker import RIGHT, WRONG
from .axi_checker import AxiChecker, LiteChecker, ProtocolError


def run(cycles: list[dict[str, int]]) -> None:
    """Cycles on an AXI4 port and a control port at once."""
    axi, lite = AxiChecker("port", beat_bytes=8), LiteChecker("control")
    for cycle in cycles:
        wires = {channel + field: 0 for checker in (axi, lite) for channel, fields in checker.PAYLOADS.items()
                 for field in ("valid", "ready", *fields)}
        wires |= {"arsize": 3, "awsize": 3, "arburst": 1, "awburst": 1}
        wires |= {name.replace("ar_", "ar").replace("aw_", "aw"): value for name, value in cycle.items()
                  if not name.startswith("lite_")}
        lite_wires = dict.fromkeys(wires, 0) | {
            name.removeprefix("lite_"): value for name, value in cycle.items() if name.startswith("lite_")}
        axi.step(wires)
        lite.step(lite_wires)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_passes(name: str) -> None:
    run(RIGHT[name])


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    """In the last cycle, not before."""
    cycles, message = WRONG[name]
    run(cycles[:-1])
    with pytest.raises(ProtocolError) as raised:
        run(cycles)
    words = message.removeprefix("control port's ").removeprefix("port's ")
    assert words in str(raised.value)


def test_quiet() -> None:
    """Only while nothing is outstanding."""
    axi, lite = AxiChecker("port", beat_bytes=8), LiteChecker("control")
    assert axi.quiet
    assert lite.quiet
    idle = {channel + field: 0 for channel, fields in AxiChecker.PAYLOADS.items() for field in (
        "valid", "ready", *fields)}
    axi.step(idle | {"arvalid": 1, "arready": 1, "arsize": 3, "arburst": 1})
    assert not axi.quiet
    axi.step(idle | {"rvalid": 1, "rready": 1, "rlast": 1})
    assert axi.quiet
