"""The control port, proven for all runs of some cycles."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import Module, Value
from amaranth.lib import wiring

from fgpu.axi.signatures import Response
from fgpu.config import Config
from fgpu.control import ControlInterface

from .control_claim import control_claim

ERRORS: dict[str, Callable[[Any, Any], list[Any]]] = {
    "reads the word beside": lambda inner, outer: [inner.axi.araddr.eq(Value.cast(outer.axi.araddr) ^ 4)],
    "takes partial words": lambda inner, outer: [inner.axi.wstrb.eq(15)],
    "hides errors": lambda inner, outer: [outer.axi.rresp.eq(Response.OKAY)],
    "does not wait": lambda inner, outer: [inner.axi.rready.eq(1)],
    "answers twice": lambda inner, outer: [inner.axi.bready.eq(outer.axi.bready & outer.axi.rvalid)],
    "overtakes": lambda inner, outer: [outer.axi.bvalid.eq(outer.axi.awvalid)],
}
"""What a control interface does otherwise than the real one inside it."""


@pytest.mark.ci
def test_control_port(tmp_path: Path) -> None:
    control_claim(4).prove(tmp_path, "bmc", depth=4)


@pytest.mark.ci
def test_control_port_for_longer(tmp_path: Path) -> None:
    control_claim(6).prove(tmp_path, "bmc", depth=6, timeout=3600)


@pytest.mark.long
@pytest.mark.parametrize("error", ERRORS)
def test_errors_are_found(error: str, tmp_path: Path) -> None:
    class Broken(ControlInterface):
        def elaborate(self, platform: object) -> Module:
            m = Module()
            m.submodules.inner = inner = ControlInterface(Config(cram_size=1))
            # The same ports, one by one, so that what comes later wins.
            for (_, member, outside), (_, _, inside) in zip(
                    self.signature.flatten(self), inner.signature.flatten(inner), strict=True):
                outside, inside = Value.cast(outside), Value.cast(inside)
                m.d.comb += inside.eq(outside) if member.flow is wiring.In else outside.eq(inside)
            m.d.comb += ERRORS[error](inner, self)
            return m

    holds, _ = control_claim(6, Broken).check(tmp_path, "bmc", depth=6)
    assert not holds
