"""``fgpu load``, with a stand-in for openFPGALoader on the PATH."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from fgpu.cli import main

STAND_IN = """#!/bin/sh
echo "$@" > "{folder}/arguments"
{script}
"""
# What version 1.1.1 says where there is no board, and where a user may not use it.
NO_BOARD = """\
echo "unable to open ftdi device: -3 (device not found)" >&2
echo "JTAG init failed with: unable to open ftdi device" >&2
exit 1"""
NO_RIGHT = """\
echo "unable to open ftdi device: -4 (usb_open() failed)" >&2
exit 1"""
NO_LIBRARY = """\
echo "openFPGALoader: error while loading shared libraries: libusb-1.0.so.0: cannot open shared object file" >&2
exit 127"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command runs, with a bitstream and a stand-in that is content."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "ulx3s_85f.bit").write_bytes(b"bits")
    stand_in(tmp_path, "exit 0")
    return tmp_path


def stand_in(folder: Path, script: str) -> None:
    program = folder / "openFPGALoader"
    program.write_text(STAND_IN.format(folder=folder, script=script))
    program.chmod(0o755)


def load(arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["load", "--board", *arguments.split()])
    return done.exit_code, done.output


@pytest.mark.parametrize(("arguments", "given"), [
    ("ulx3s_85f", "-b ulx3s ulx3s_85f.bit"),
    ("ulx3s_85f --flash", "-b ulx3s --write-flash ulx3s_85f.bit"),
    ("ulx3s_45f other.bit", "-b ulx3s other.bit"),
])
def test_openfpgaloader_gets_board_and_bitstream(folder: Path, arguments: str, given: str) -> None:
    (folder / "other.bit").write_bytes(b"bits")
    status, output = load(arguments)
    assert status == 0, output
    assert output == f"loaded {given.split()[-1]}\n"
    assert (folder / "arguments").read_text() == f"{given}\n"


@pytest.mark.parametrize(("arguments", "script", "told"), [
    ("ulx3s_85f", NO_BOARD, "there is no Radiona ULX3S, 85F here: is it connected by USB"),
    ("ulx3s_85f", NO_RIGHT, "no right to use the USB device of Radiona ULX3S, 85F; a udev rule"),
    ("ulx3s_85f", NO_LIBRARY, "libusb-1.0.so.0: cannot open shared object file; on Debian and Ubuntu: apt install"),
    ("ulx3s_85f", "echo strange; exit 3", "openFPGALoader failed with status 3: strange"),
    ("ulx3s_45f", "exit 0", "there is no bitstream ulx3s_45f.bit; fgpu build --board ulx3s_45f -o ulx3s_45f.bit"),
    ("x", "exit 0", "there is no board 'x'; there are ulx3s_85f"),
    ("pynq_z1", "exit 0", "pynq_z1 (Digilent PYNQ-Z1) is for Vivado and PYNQ"),
    ("ulx3s_85f empty.bit", "exit 0", "the bitstream empty.bit is empty; fgpu build --board ulx3s_85f"),
    ("ulx3s_85f .", "exit 0", "cannot read the bitstream .: Is a directory"),
])
def test_what_is_wrong_is_said(folder: Path, arguments: str, script: str, told: str) -> None:
    stand_in(folder, script)
    (folder / "empty.bit").touch()
    status, output = load(arguments)
    assert status == 1
    assert output.startswith("Error: ")
    assert told in output
