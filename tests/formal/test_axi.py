"""The AXI ports, proven."""

from pathlib import Path

import pytest

from fgpu.config import Config

from .axi_claims import addresses_claim, lite_claim, write_data_claim
from .prover import mutant

WIDE = Config(cache_line=64, cache_banks=8, axi_data_width=64, tag_managers=1)
FOUR_ROWS = WIDE.replace(cache_banks=4)
EVEN = Config(cache_line=128, cache_banks=1, axi_data_width=32, tag_managers=8)
CONFIGS = pytest.mark.parametrize("config", [WIDE, pytest.param(EVEN, marks=pytest.mark.ci)],
                                  ids=["wide", "even"])


@CONFIGS
def test_addresses(config: Config, tmp_path: Path) -> None:
    addresses_claim(config).prove(tmp_path, depth=2)


@pytest.mark.long
def test_addresses_are_those_asked_for(tmp_path: Path) -> None:
    addresses_claim(WIDE, contents=True).prove(tmp_path, "bmc", depth=6)


@CONFIGS
def test_write_data(config: Config, tmp_path: Path) -> None:
    write_data_claim(config).prove(tmp_path, depth=2)


@pytest.mark.long
def test_write_data_are_those_pushed(tmp_path: Path) -> None:
    write_data_claim(WIDE, contents=True).prove(tmp_path, "bmc", depth=9)


def test_lite(tmp_path: Path) -> None:
    lite_claim().prove(tmp_path, depth=3)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("axi.arlen.eq(config.burst_beats - 1)", "axi.arlen.eq(config.burst_beats)"),
    ("axi.awlen.eq(span.last - span.first)", "axi.awlen.eq(config.burst_beats - 1)"),
    ("axi.araddr.eq(reads.output.payload << config.line_offset_bits)", "axi.araddr.eq(reads.output.payload << 5)"),
    ("count.eq(count + 1)", "count.eq(count + 2)"),
    ("axi.arvalid.eq(reads.output.valid)", "axi.arvalid.eq(reads.output.valid & axi.arready)"),
    ("writes.output.ready.eq(axi.awready)", "writes.output.ready.eq(1)"),
    ("size = exact_log2(config.axi_data_width // 8)", "size = 2"),
])
def test_mutants_of_the_master_fail(old: str, new: str, tmp_path: Path) -> None:
    master = mutant("fgpu.cache.axi_master", old, new).AXIMaster
    holds, _ = addresses_claim(WIDE, master=master).check(tmp_path, "bmc", depth=5)
    assert not holds


@pytest.mark.long
@pytest.mark.parametrize(("old", "new", "contents"), [
    ("next_last.eq(beat + 1 == burst.span.last)", "next_last.eq((beat + 2).all())", False),
    ("single.eq(self.span.first == self.span.last)", "single.eq(0)", False),
    ("take.eq(spans.output.valid & (~", "take.eq((reserved != 0) & (~", False),
    ("Mux(begun, next_beat, burst.span.first)", "Mux(begun, next_beat, 0)", False),
    ("(~self.beats.valid | self.beats.ready))", "1)", False),
    ("spans.input.valid.eq(pushed & row_last)", "spans.input.valid.eq(pushed)", False),
    ("Cat(word.dirty for word in words)", "-1", True),
])
def test_mutants_of_the_pipeline_fail(old: str, new: str, contents: bool, tmp_path: Path) -> None:
    pipeline = mutant("fgpu.cache.write_pipeline", old, new).WritePipeline
    holds, _ = write_data_claim(WIDE, contents=contents, pipeline=pipeline).check(tmp_path, "bmc", depth=14)
    assert not holds


@pytest.mark.long
def test_a_span_that_forgets_its_first_row_fails(tmp_path: Path) -> None:
    """In lines of two rows it would forget nothing."""
    pipeline = mutant("fgpu.cache.write_pipeline", "some.eq((some | dirty.any()) & ~row.all())",
                      "some.eq(dirty.any() & ~row.all())").WritePipeline
    holds, _ = write_data_claim(FOUR_ROWS, contents=True, pipeline=pipeline).check(tmp_path, "bmc", depth=10)
    assert not holds


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [
    ("write_known & ~writing & (~axi.bvalid | axi.bready)", "write_known & ~writing"),
    ("axi.bresp.eq(Mux(writing_legal, Response.OKAY, Response.SLVERR))", "axi.bresp.eq(Response.OKAY)"),
    ("write_addresses.output.valid & write_words.output.valid", "write_addresses.output.valid"),
    ("read_known & ~reading & (~axi.rvalid | axi.rready)", "read_known & ~reading"),
    ("with m.If(axi.bready):", "with m.If(1):"),
    (" & word.strobe.all()", ""),
    ("bus.readable & aligned", "bus.readable"),
    ("bus.writable & whole", "bus.writable"),
    ("bus.write_address.eq(write_address[2:])", "bus.write_address.eq(address[2:])"),
    ("wants_write & ~(wants_read & prefers_read)", "wants_write"),
    ("(bus.read_ready | ~readable)", "bus.read_ready"),
    ("axi.rresp.eq(Mux(reading_legal, Response.OKAY, Response.SLVERR))", "axi.rresp.eq(Response.OKAY)"),
])
def test_mutants_of_the_slave_fail(old: str, new: str, tmp_path: Path) -> None:
    slave = mutant("fgpu.axi.lite", old, new).AXI4LiteSlave
    holds, _ = lite_claim(slave).check(tmp_path, "bmc", depth=10)
    assert not holds
