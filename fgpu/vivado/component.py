"""``component.xml``: the core as IP-XACT describes it (IEEE 1685-2009, which is what Vivado reads)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from fgpu.config import Config
from fgpu.memory_map import Words, control_bytes, control_words
from fgpu.tools.interfaces import Interface, interfaces

from .zynq import VLNV

__all__ = ["CONFIG_PARAMETER", "CONTROL_BLOCK", "Port", "component_xml"]

CONTROL_BLOCK: Final = "reg0"
"""The segment of addresses that Vivado maps."""
CONFIG_PARAMETER: Final = "FGPU_CONFIG"
"""The IP's parameter that has the text ``Config.key`` of the core: drivers learn from it what they drive."""
_SPIRIT: Final = "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"
_XILINX: Final = "http://www.xilinx.com"
_CONTROL: Final = "s_axi"
_VIEWS: Final = (
    ("xilinx_anylanguagesynthesis", "Synthesis", ":vivado.xilinx.com:synthesis"),
    ("xilinx_anylanguagebehavioralsimulation", "Simulation", ":vivado.xilinx.com:simulation"),
)
_FAMILIES: Final = ("zynq", "zynquplus", "artix7", "kintex7", "virtex7", "spartan7")


@dataclass(frozen=True)
class Port:
    """A port of the Verilog module."""

    is_input: bool
    width: int


def component_xml(config: Config, ports: Mapping[str, Port], verilog: str) -> str:
    """The description of a core with these ports, whose Verilog is in the file ``verilog``, as seen from it."""
    ElementTree.register_namespace("spirit", _SPIRIT)
    ElementTree.register_namespace("xilinx", _XILINX)
    root = Element(_spirit("component"))
    for name, text in zip(("vendor", "library", "name", "version"), VLNV, strict=True):
        _text(root, name, text)
    found = interfaces(ports)
    _bus_interfaces(root, config, found)
    _addresses(root, config, [each.name for each in found if each.kind == "aximm" and each.is_master])
    _model(root, ports)
    _file_sets(root, verilog)
    _text(root, "description", "FGPU: a soft GPU that runs kernels of OpenCL C")
    _parameters(root, {"Component_Name": "fgpu_v1_0", CONFIG_PARAMETER: config.key})
    _extensions(root)
    ElementTree.indent(root)
    return ElementTree.tostring(root, "unicode", xml_declaration=True) + "\n"


def _spirit(name: str) -> str:
    return f"{{{_SPIRIT}}}{name}"


def _add(parent: Element, name: str, /, **attributes: str) -> Element:
    return SubElement(parent, _spirit(name), {_spirit(key): value for key, value in attributes.items()})


def _text(parent: Element, name: str, text: str | int, /, **attributes: str) -> Element:
    element = _add(parent, name, **attributes)
    element.text = str(text)
    return element


def _parameters(parent: Element, given: Mapping[str, str], prefix: str = "") -> None:
    if given:
        parameters = _add(parent, "parameters")
        for name, value in given.items():
            parameter = _add(parameters, "parameter")
            _text(parameter, "name", name)
            identity = f"{prefix or 'PARAM_VALUE'}.{name}"
            _text(parameter, "value", value, id=identity)


def _bus_interfaces(root: Element, config: Config, found: list[Interface]) -> None:
    parent = _add(root, "busInterfaces")
    for each in found:
        interface = _add(parent, "busInterface")
        _text(interface, "name", each.name)
        for tag, suffix in (("busType", ""), ("abstractionType", "_rtl")):
            _add(interface, tag, vendor="xilinx.com", library=each.library, name=each.kind + suffix, version="1.0")
        mode = _add(interface, "master" if each.is_master else "slave")
        parameters = dict(each.parameters)
        if each.kind == "aximm" and each.is_master:
            _add(mode, "addressSpaceRef", addressSpaceRef=each.name)
            parameters["MAX_BURST_LENGTH"] = str(config.burst_beats)
        elif each.kind == "aximm":
            _add(mode, "memoryMapRef", memoryMapRef=each.name)
        maps = _add(interface, "portMaps")
        for signal, port in each.ports.items():
            entry = _add(maps, "portMap")
            _text(_add(entry, "logicalPort"), "name", signal)
            _text(_add(entry, "physicalPort"), "name", port)
        _parameters(interface, parameters, f"BUSIFPARAM_VALUE.{each.name.upper()}")


def _addresses(root: Element, config: Config, masters: list[str]) -> None:
    spaces = _add(root, "addressSpaces")
    for name in masters:
        space = _add(spaces, "addressSpace")
        _text(space, "name", name)
        _text(space, "range", 1 << 32, format="long")
        _text(space, "width", config.axi_data_width, format="long")
    memory_map = _add(_add(root, "memoryMaps"), "memoryMap")
    _text(memory_map, "name", _CONTROL)
    block = _add(memory_map, "addressBlock")
    _text(block, "name", CONTROL_BLOCK)
    _text(block, "baseAddress", 0, format="bitString", bitStringLength="32")
    _text(block, "range", control_bytes(config), format="long")
    _text(block, "width", 32, format="long")
    _text(block, "usage", "register")
    for words in control_words(config):
        _register(block, words)


def _register(block: Element, words: Words) -> None:
    register = _add(block, "register")
    _text(register, "name", words.name)
    _text(register, "description", words.what)
    if words.count > 1:
        _text(register, "dim", words.count)
    _text(register, "addressOffset", f"0x{words.address:05X}")
    _text(register, "size", 32, format="long")
    if words.count == 1:
        _text(register, "volatile", "true")
    _text(register, "access", words.access)
    for each in words.fields:
        entry = _add(register, "field")
        _text(entry, "name", each.name)
        _text(entry, "bitOffset", each.offset)
        _text(entry, "bitWidth", each.width, format="long")


def _model(root: Element, ports: Mapping[str, Port]) -> None:
    model = _add(root, "model")
    views = _add(model, "views")
    for name, title, kind in _VIEWS:
        view = _add(views, "view")
        _text(view, "name", name)
        _text(view, "displayName", title)
        _text(view, "envIdentifier", kind)
        _text(view, "language", "Verilog")
        _text(view, "modelName", VLNV[2])
        _text(_add(view, "fileSetRef"), "localName", f"{name}_view_fileset")
    entries = _add(model, "ports")
    for port_name, port in ports.items():
        entry = _add(entries, "port")
        _text(entry, "name", port_name)
        wire = _add(entry, "wire")
        _text(wire, "direction", "in" if port.is_input else "out")
        if port.width > 1:
            vector = _add(wire, "vector")
            _text(vector, "left", port.width - 1, format="long")
            _text(vector, "right", 0, format="long")
        definition = _add(_add(wire, "wireTypeDefs"), "wireTypeDef")
        _text(definition, "typeName", "wire")
        for name, _, _ in _VIEWS:
            _text(definition, "viewNameRef", name)


def _file_sets(root: Element, verilog: str) -> None:
    sets = _add(root, "fileSets")
    for name, _, _ in _VIEWS:
        file_set = _add(sets, "fileSet")
        _text(file_set, "name", f"{name}_view_fileset")
        entry = _add(file_set, "file")
        _text(entry, "name", verilog)
        _text(entry, "fileType", "verilogSource")


def _extensions(root: Element) -> None:
    """What Vivado's IP catalogue shows."""
    extensions = SubElement(_add(root, "vendorExtensions"), f"{{{_XILINX}}}coreExtensions")

    def add(parent: Element, name: str, text: str = "", **attributes: str) -> Element:
        element = SubElement(parent, f"{{{_XILINX}}}{name}", {f"{{{_XILINX}}}{key}": value
                                                              for key, value in attributes.items()})
        element.text = text or None
        return element

    families = add(extensions, "supportedFamilies")
    for family in _FAMILIES:
        add(families, "family", family, lifeCycle="Production")
    add(add(extensions, "taxonomies"), "taxonomy", "/UserIP")
    add(extensions, "displayName", "FGPU")
    add(extensions, "coreRevision", "1")
