"""Cores that Linux knows as a userspace I/O device, and what ``/dev/mem`` shows."""

import mmap
import os
from pathlib import Path
from typing import Final

import numpy as np

from fgpu.errors import BoardError

from .engine import Mapped
from .memory import MappedMemory

__all__ = ["MappedWords", "open_dev_mem", "open_uio"]

_SYSFS: Final = Path("/sys/class/uio")


class MappedWords:
    """Words of a mapping; each access is one of 32 bits."""

    def __init__(self, pages: mmap.mmap) -> None:
        self._words = memoryview(pages).cast("I")

    def read(self, offset: int) -> int:
        """A word."""
        return self._words[offset // 4]

    def write(self, offset: int, word: int) -> None:
        """Write a word."""
        self._words[offset // 4] = word

    def close(self) -> None:
        """Give the mapping free."""
        self._words.release()


def open_uio(path: str | Path, *, clock: float = 50e6, sysfs: Path = _SYSFS) -> Mapped:
    """The core of a device such as ``/dev/uio0``: its map 0 is the control interface, its map 1 memory for kernels.

    Raises :class:`~fgpu.errors.BoardError` if there is no such device, or without these maps.
    """
    path = Path(path)
    maps = sysfs / path.name / "maps"

    def number(entry: str) -> int:
        try:
            return int((maps / entry).read_text(), 0)
        except (OSError, ValueError) as error:
            raise BoardError(
                f"{path} has no {maps / entry}: it must be a UIO device with two maps, the control interface and "
                f"memory for kernels (docs/zynq.md): {error}") from None

    sizes = [number("map0/size"), number("map1/size")]
    base = number("map1/addr")
    # Map n of a device begins at the offset of n pages.
    return _mapped(path, [(0, sizes[0]), (mmap.PAGESIZE, sizes[1])], base, clock)


def open_dev_mem(control_address: int, control_bytes: int, memory_address: int, memory_bytes: int, *,
                 clock: float = 50e6, path: str | Path = "/dev/mem") -> Mapped:
    """The core whose control interface and memory are at physical addresses. Memory must be kept from Linux.

    Raises :class:`~fgpu.errors.BoardError` if they cannot be mapped.
    """
    return _mapped(Path(path), [(control_address, control_bytes), (memory_address, memory_bytes)], memory_address,
                   clock)


def _mapped(path: Path, places: list[tuple[int, int]], base: int, clock: float) -> Mapped:
    try:
        file = os.open(path, os.O_RDWR | os.O_SYNC)
    except OSError as error:
        raise BoardError(f"cannot open {path}: {error.strerror}") from None
    pages: list[mmap.mmap] = []
    try:
        for offset, size in places:
            pages.append(mmap.mmap(file, size, offset=offset))
    except (OSError, ValueError) as error:
        for page in pages:
            page.close()
        raise BoardError(f"cannot map {size} bytes at 0x{offset:X} of {path}: {error}") from None
    finally:
        os.close(file)
    words = MappedWords(pages[0])
    memory = MappedMemory(base, np.frombuffer(pages[1], np.uint8))

    def close() -> None:
        words.close()
        pages[0].close()    # memory stays readable

    return Mapped(words, memory, clock, close)
