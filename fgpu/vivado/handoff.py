"""The hardware hand-off: a ``.hwh`` like that which Vivado writes beside the bitstream of the block design.

It has what PYNQ and simulators of PYNQ programs read: the core's ports, interfaces and registers, and its place among
the processors' addresses. Vivado's own file tells more, of parts that are none of ours.
"""

from collections.abc import Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from fgpu.config import Config
from fgpu.memory_map import control_bytes, control_words
from fgpu.tools.interfaces import interfaces

from .component import CONFIG_PARAMETER, CONTROL_BLOCK, Port
from .zynq import CELL, CLOCK_MHZ, CONTROL_ADDRESS, MEMORY_BYTES, PROCESSORS, VLNV, ZynqBoard

__all__ = ["hardware_handoff"]


def hardware_handoff(config: Config, ports: Mapping[str, Port], board: ZynqBoard) -> str:
    """The description of the block design on a board."""
    part, package = board.part.split("clg")
    root = Element("EDKSYSTEM", EDWVERSION="1.2", VIVADOVERSION="2022.1")
    SubElement(root, "SYSTEMINFO", ARCH="zynq", BOARD=board.board_part, DEVICE=part.removeprefix("xc"),
               NAME="design_1", PACKAGE=f"clg{package.split('-')[0]}", SPEEDGRADE=f"-{package.split('-')[1]}")
    modules = SubElement(root, "MODULES")
    _core(modules, config, ports)
    _processors(modules, config)
    ElementTree.indent(root)
    return ElementTree.tostring(root, "unicode", xml_declaration=True) + "\n"


def _module(modules: Element, name: str, vlnv: str) -> Element:
    kind, version = vlnv.split(":")[2:]
    return SubElement(modules, "MODULE", COREREVISION="1", FULLNAME=f"/{name}", HWVERSION=version, INSTANCE=name,
                      IPTYPE="PERIPHERAL", IS_ENABLE="1", MODCLASS="PERIPHERAL", MODTYPE=kind, VLNV=vlnv)


def _core(modules: Element, config: Config, ports: Mapping[str, Port]) -> None:
    module = _module(modules, CELL, ":".join(VLNV))
    block = SubElement(SubElement(module, "ADDRESSBLOCKS"), "ADDRESSBLOCK", ACCESS="read-write", INTERFACE="s_axi",
                       NAME=CONTROL_BLOCK, RANGE=str(control_bytes(config)), USAGE="register")
    registers = SubElement(block, "REGISTERS")
    for words in control_words(config):
        register = SubElement(registers, "REGISTER", NAME=words.name)
        for name, value in (("DESCRIPTION", words.what), ("ADDRESS_OFFSET", str(words.address)), ("SIZE", "32"),
                            ("ACCESS", words.access)):
            SubElement(register, "PROPERTY", NAME=name, VALUE=value)
        fields = SubElement(register, "FIELDS")
        for bits in words.fields:
            field = SubElement(fields, "FIELD", NAME=bits.name)
            for name, number in (("BIT_OFFSET", bits.offset), ("BIT_WIDTH", bits.width)):
                SubElement(field, "PROPERTY", NAME=name, VALUE=str(number))
            SubElement(field, "PROPERTY", NAME="ACCESS", VALUE=words.access)
    parameters = SubElement(module, "PARAMETERS")
    for name, value in (("Component_Name", "design_1_fgpu_0_0"), (CONFIG_PARAMETER, config.key),
                        ("C_BASEADDR", f"0x{CONTROL_ADDRESS:08X}"),
                        ("C_HIGHADDR", f"0x{CONTROL_ADDRESS + control_bytes(config) - 1:08X}")):
        SubElement(parameters, "PARAMETER", NAME=name, VALUE=value)
    entries = SubElement(module, "PORTS")
    found = interfaces(ports)
    kinds = {port: each for each in found for port in each.ports.values() if each.kind != "aximm"}
    for name, port in ports.items():
        entry = SubElement(entries, "PORT", DIR="I" if port.is_input else "O", NAME=name, SIGIS="undef",
                           SIGNAME=f"{CELL}_{name}")
        if port.width > 1:
            entry.set("LEFT", str(port.width - 1))
            entry.set("RIGHT", "0")
        if name not in kinds:
            continue
        kind = kinds[name].kind
        entry.set("SIGIS", {"clock": "clk", "reset": "rst", "interrupt": "INTERRUPT"}[kind])
        if kind == "clock":
            entry.set("CLKFREQUENCY", str(CLOCK_MHZ * 1_000_000))
        elif kind == "reset":
            entry.set("POLARITY", kinds[name].parameters["POLARITY"])
        else:
            entry.set("SENSITIVITY", kinds[name].parameters["SENSITIVITY"])
    buses = SubElement(module, "BUSINTERFACES")
    for each in found:
        if each.kind == "aximm":
            bus = SubElement(buses, "BUSINTERFACE", BUSNAME=f"{CELL}_{each.name}", NAME=each.name,
                             VLNV="xilinx.com:interface:aximm:1.0", TYPE="MASTER" if each.is_master else "SLAVE")
            maps = SubElement(bus, "PORTMAPS")
            for signal, port_name in each.ports.items():
                SubElement(maps, "PORTMAP", LOGICAL=signal, PHYSICAL=port_name)
    memory = SubElement(module, "MEMORYMAP")
    for number, each in enumerate([each for each in found if each.kind == "aximm" and each.is_master]):
        port_name = f"S_AXI_HP{number}"
        _range(memory, f"HP{number}_DDR_LOWOCM", 0, MEMORY_BYTES, PROCESSORS, each.name, port_name, "MEMORY")


def _processors(modules: Element, config: Config) -> None:
    module = _module(modules, PROCESSORS, "xilinx.com:ip:processing_system7:5.5")
    parameters = SubElement(module, "PARAMETERS")
    SubElement(parameters, "PARAMETER", NAME="PCW_FPGA0_PERIPHERAL_FREQMHZ", VALUE=str(CLOCK_MHZ))
    _range(SubElement(module, "MEMORYMAP"), CONTROL_BLOCK, CONTROL_ADDRESS, control_bytes(config), CELL, "M_AXI_GP0",
           "s_axi", "REGISTER")


def _range(parent: Element, block: str, base: int, size: int, instance: str, master: str, slave: str,
           kind: str) -> None:
    SubElement(parent, "MEMRANGE", ADDRESSBLOCK=block, BASENAME="C_BASEADDR", BASEVALUE=f"0x{base:08X}",
               HIGHNAME="C_HIGHADDR", HIGHVALUE=f"0x{base + size - 1:08X}", INSTANCE=instance, IS_DATA="TRUE",
               IS_INSTRUCTION="FALSE", MASTERBUSINTERFACE=master, MEMTYPE=kind, SLAVEBUSINTERFACE=slave)
