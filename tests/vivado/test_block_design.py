"""The script for Vivado, run by Tcl with models of Vivado's commands that know what pins there are."""

import re
from pathlib import Path
from typing import Any

import pytest

from fgpu.config import Config
from fgpu.vivado.package import package_files
from fgpu.vivado.zynq import ZYNQ_BOARDS

from .test_package import TINY, TWO_PORTS

tkinter = pytest.importorskip("tkinter", reason="this Python was built without Tcl")

PINS = {
    "processing_system7": {"FCLK_CLK0", "FCLK_RESET0_N", "IRQ_F2P", "M_AXI_GP0_ACLK",
                           *(f"S_AXI_HP{number}_ACLK" for number in range(4))},
    "proc_sys_reset": {"slowest_sync_clk", "ext_reset_in", "peripheral_reset", "peripheral_aresetn"},
    "axi_protocol_converter": {"aclk", "aresetn"},
    "fgpu": {"clk", "rst", "irq"},
}
BUSES = {
    "processing_system7": {"M_AXI_GP0", *(f"S_AXI_HP{number}" for number in range(4))},
    "axi_protocol_converter": {"S_AXI", "M_AXI"},
}
NOTHING = (
    "add_files", "apply_bd_automation", "create_bd_design", "create_project", "current_fileset", "current_project",
    "generate_target", "get_files", "get_timing_paths", "launch_runs", "make_wrapper", "open_run",
    "report_timing_summary", "report_utilization", "save_bd_design", "update_ip_catalog", "validate_bd_design",
    "wait_on_run")


class Vivado:
    """What the script does to a block design."""

    def __init__(self, config: Config, folder: Path, *, board_files: bool = True, slack: str = "1.5") -> None:
        for name, text in package_files(config, ZYNQ_BOARDS["pynq_z1"], verilog=lambda config: "").items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        self.folder = folder
        self.cells: dict[str, str] = {}
        self.nets: dict[str, set[str]] = {}
        self.buses: set[tuple[str, str]] = set()
        self.settings: dict[str, str] = {}
        self.addresses: list[dict[str, str]] = []
        self.config = config
        self._board_files = board_files
        self._slack = slack
        self.tcl: Any = tkinter.Tcl()
        for name in NOTHING:
            self.tcl.createcommand(name, lambda *arguments: "")
        for name in ("create_bd_cell", "get_bd_cells", "get_bd_pins", "get_bd_intf_pins", "connect_bd_net",
                     "connect_bd_intf_net", "set_property", "assign_bd_address", "get_board_parts", "get_property"):
            self.tcl.createcommand(name, getattr(self, name))
        for name in ("get_bd_addr_spaces", "get_bd_addr_segs"):
            self.tcl.createcommand(name, lambda name: name)
        for path in ("p/x.runs/impl_1/design_1_wrapper.bit", "p/x.gen/sources_1/bd/design_1/hw_handoff/design_1.hwh"):
            (folder / path).parent.mkdir(parents=True)
            (folder / path).write_text("from Vivado")

    def run(self, *arguments: str) -> None:
        self.tcl.call("set", "argv", self.tcl.call("list", *arguments))
        self.tcl.call("source", str(self.folder / "block_design.tcl"))

    def create_bd_cell(self, *arguments: str) -> str:
        assert arguments[:3] == ("-type", "ip", "-vlnv")
        vlnv, name = arguments[3:]
        self.cells[name] = vlnv.split(":")[2]
        return name

    def get_bd_cells(self, name: str) -> str:
        assert name in self.cells
        return name

    def get_bd_pins(self, path: str) -> str:
        cell, pin = path.split("/")
        assert pin in PINS[self.cells[cell]], path
        return path

    def get_bd_intf_pins(self, path: str) -> str:
        cell, bus = path.split("/")
        kind = self.cells[cell]
        mine = {"s_axi", *(f"m{number}_axi" for number in range(self.config.axi_ports))}
        assert bus in (mine if kind == "fgpu" else BUSES[kind]), path
        return path

    def connect_bd_net(self, source: str, sink: str) -> None:
        self.nets.setdefault(source, set()).add(sink)

    def connect_bd_intf_net(self, one: str, other: str) -> None:
        self.buses.add((one, other))

    def set_property(self, *arguments: str) -> None:
        if arguments[0] == "-dict":
            words = self.tcl.splitlist(arguments[1])
            self.settings |= {f"{arguments[2]}.{key}": value
                              for key, value in zip(words[::2], words[1::2], strict=True)}

    def assign_bd_address(self, *arguments: str) -> None:
        self.addresses.append(dict(zip(arguments[:-1:2], arguments[1::2], strict=True)) | {"segment": arguments[-1]})

    def get_board_parts(self, pattern: str) -> str:
        return re.sub(r"\*$", "1.0", pattern) if self._board_files else ""

    def get_property(self, name: str, what: str) -> str:
        return self._slack if name == "SLACK" else str(self.folder / "p")


@pytest.mark.parametrize("config", [TINY, TWO_PORTS], ids=lambda config: config.key)
@pytest.mark.parametrize("board", ZYNQ_BOARDS)
def test_all_is_connected(config: Config, board: str, tmp_path: Path) -> None:
    vivado = Vivado(config, tmp_path)
    vivado.run(board, "40")
    numbers = range(config.axi_ports)
    used = {"processing_system7_0/M_AXI_GP0_ACLK", "fgpu_0/clk", "reset/slowest_sync_clk", "control/aclk",
            *(f"data{number}/aclk" for number in numbers),
            *(f"processing_system7_0/S_AXI_HP{number}_ACLK" for number in numbers)}
    assert vivado.nets == {
        "processing_system7_0/FCLK_CLK0": used, "processing_system7_0/FCLK_RESET0_N": {"reset/ext_reset_in"},
        "reset/peripheral_reset": {"fgpu_0/rst"}, "fgpu_0/irq": {"processing_system7_0/IRQ_F2P"},
        "reset/peripheral_aresetn": {"control/aresetn", *(f"data{number}/aresetn" for number in numbers)}}
    assert vivado.buses == {
        ("processing_system7_0/M_AXI_GP0", "control/S_AXI"), ("control/M_AXI", "fgpu_0/s_axi"),
        *((f"fgpu_0/m{number}_axi", f"data{number}/S_AXI") for number in numbers),
        *((f"data{number}/M_AXI", f"processing_system7_0/S_AXI_HP{number}") for number in numbers)}
    assert vivado.settings["control.CONFIG.MI_PROTOCOL"] == "AXI4LITE"
    assert vivado.settings["data0.CONFIG.MI_PROTOCOL"] == "AXI3"
    assert vivado.settings["processing_system7_0.CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ"] == "40"
    assert vivado.settings["processing_system7_0.CONFIG.PCW_S_AXI_HP0_DATA_WIDTH"] == str(config.axi_data_width)
    control, *memory = vivado.addresses
    assert control["-offset"] == "0x43C00000"
    assert control["-range"] == ("128K" if config is TWO_PORTS else "64K")
    assert [each["-target_address_space"] for each in memory] == [f"fgpu_0/m{number}_axi" for number in numbers]
    assert (tmp_path / "fgpu.bit").read_text() == (tmp_path / "fgpu.hwh").read_text() == "from Vivado"


@pytest.mark.parametrize(("arguments", "options", "message"), [
    (("none",), {}, "choose a board: arty_z7_20 pynq_z1"),
    (("pynq_z1",), {"board_files": False}, "Vivado has no board files .*pynq-z1.*: install them"),
    (("pynq_z1",), {"slack": "-0.25"}, "too slow for 50 MHz by -0.25 ns"),
])
def test_what_goes_wrong_is_said(arguments: tuple[str, ...], options: dict[str, Any], message: str,
                                 tmp_path: Path) -> None:
    with pytest.raises(tkinter.TclError, match=message):
        Vivado(TINY, tmp_path, **options).run(*arguments)
