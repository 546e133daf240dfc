"""The multiplexer of an AXI port, proven."""

from pathlib import Path

import pytest

from fgpu.config import Config

from .port_mux_claim import port_mux_claim
from .prover import mutant

CONFIG = Config(cache_slices=2, axi_data_width=32)


@pytest.mark.ci
def test_port_mux(tmp_path: Path) -> None:
    port_mux_claim(CONFIG).prove(tmp_path, "bmc", depth=7)


@pytest.mark.ci
def test_slices_write_one_after_the_other(tmp_path: Path) -> None:
    port_mux_claim(CONFIG).prove(tmp_path, "cover", depth=8)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("source = order.output.payload", "source = axi.rid[:bits]"),
    ('fields["id"] = Cat(Const(number, bits), fields["id"])', 'fields["id"] = Cat(Const(0, bits), fields["id"])'),
    ("each.rvalid.eq(axi.rvalid & (axi.rid[:bits] == number))", "each.rvalid.eq(axi.rvalid)"),
    ("each.bid.eq(axi.bid[bits:])", "each.bid.eq(axi.bid)"),
    ("order.output.ready.eq(beats.input.valid & beats.input.ready & last)",
     "order.output.ready.eq(beats.input.valid & beats.input.ready)"),
    ("each.wready.eq(order.output.valid & (source == number) & beats.input.ready)",
     "each.wready.eq(order.output.valid & beats.input.ready)"),
    ('wires(each, "ready")[0].eq(go & turn.chosen[number])', 'wires(each, "ready")[0].eq(go)'),
])
def test_mutants_fail(old: str, new: str, tmp_path: Path) -> None:
    mux = mutant("fgpu.cache.port_mux", old, new).PortMux
    holds, _ = port_mux_claim(CONFIG, mux).check(tmp_path, "bmc", depth=6)
    assert not holds
