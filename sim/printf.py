"""What kernels print: the buffer that their records go to, and what the host makes of it after a launch.

:mod:`fgpu.compiler.legalize.printf` says what a record is and what is where in the buffer.
"""

import math
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, TextIO

import numpy as np

from fgpu.compiler.format_strings import HEADER_WORDS
from fgpu.compiler.image import Image, Kernel
from fgpu.compiler.legalize.printf import BufferWord, RegionWord
from fgpu.errors import LaunchError, MemoryAccessError, PrintfWarning

from .buffer import Buffer
from .descriptor import KernelDescriptor
from .device_memory import DeviceMemory
from .index_space import callers_level
from .numbers import is_integer
from .printf_text import formatted

__all__ = ["Printf", "PrintfBuffer", "PrintfOption", "print_to", "printf_option", "prints"]

_ORDERS = ("arrival", "work-item")
_SIZE_DEFAULT = 1 << 20
_SIZES = range(64, (1 << 30) + 1)
_WORD_BYTES = 4
_WORDS_END = 1 << 32


@dataclass(frozen=True, kw_only=True)
class Printf:
    """Where the output of kernels goes, in which order, and how much there may be.

    Raises :class:`~fgpu.errors.LaunchError` for values that cannot be.
    """

    to: TextIO | Callable[[str], object] | None = None
    """A text file, or what takes a text; None: standard output. It gets what a launch printed, as one text."""
    order: Literal["arrival", "work-item"] = "arrival"
    """``arrival``: as the calls find room, which may change from engine to engine; ``work-item``: work-items by their
    global ids, dimension 0 first, and the calls of each in its order. So it always is without the atomic operation
    ``add``."""
    size: int = _SIZE_DEFAULT
    """Bytes of global memory for the records of a launch: two words for each call, and the arguments. Without the
    atomic operation ``add`` the work-items have equal shares, with room for one call each at least."""
    errors: str = "backslashreplace"
    """What bytes that are no UTF-8 become in the text, as :meth:`bytes.decode` wants it."""
    tell: Callable[[str], object] | None = None
    """What is told of calls that found no room; None: a :class:`~fgpu.errors.PrintfWarning` tells of them."""

    def __post_init__(self) -> None:
        if self.to is not None and not callable(self.to) and not callable(getattr(self.to, "write", None)):
            raise LaunchError(f"printf must go to a text file or to what takes a text, not to {self.to!r}")
        if self.order not in _ORDERS:
            raise LaunchError(f"the order of printf is {' or '.join(map(repr, _ORDERS))}, not {self.order!r}")
        if not is_integer(self.size) or self.size not in _SIZES:
            raise LaunchError(f"the size of printf's buffer must be from {_SIZES[0]} to {_SIZES[-1]} bytes, "
                              f"not {self.size!r}")

    def print(self, text: str) -> None:
        """Hand on what was printed. What the file has no characters for is written as escapes."""
        if callable(self.to):
            self.to(text)
            return
        print_to(sys.stdout if self.to is None else self.to, text)


def print_to(file: TextIO, text: str) -> None:
    """Write a text, what the file has no characters for as escapes."""
    encoding = getattr(file, "encoding", None) or "utf-8"
    file.write(text.encode(encoding, "backslashreplace").decode(encoding))


PrintfOption = Printf | TextIO | Callable[[str], object] | None
"""What may be given for ``printf``."""


def printf_option(given: PrintfOption, otherwise: Printf) -> Printf:
    """What the caller of a launch, or of a device, gives, as a :class:`Printf`."""
    if given is None:
        return otherwise
    return given if isinstance(given, Printf) else Printf(to=given)


_SHARED, _OWN = "printf", "printf_own"
"""Parameters of kernels that print: one region for all work-items, or one for each."""


def prints(kernel: Kernel) -> bool:
    """Whether ``kernel`` has calls of printf."""
    return _parameter(kernel) is not None


def _parameter(kernel: Kernel) -> str | None:
    return next((parameter.name for parameter in kernel.parameters or ()
                 if parameter.kind == "implicit" and parameter.name in (_SHARED, _OWN)), None)


class PrintfBuffer:
    """The records of one launch, in ``device``'s memory: a context in which the launch is, and which prints them.

    Raises :class:`~fgpu.errors.LaunchError` where memory has no room.
    """

    def __init__(self, device: DeviceMemory, image: Image, kernel: Kernel, option: Printf,
                 descriptor: KernelDescriptor) -> None:
        self._device = device
        self._image = image
        self._kernel = kernel
        self._option = option
        self._first = 0
        for size, offset in zip(reversed(descriptor.global_size), reversed(descriptor.global_offset), strict=True):
            self._first = (self._first * size + offset) % _WORDS_END
        self._regions = math.prod(descriptor.global_size) if _parameter(kernel) == _OWN else 1
        largest = max((format.words for format in image.formats), default=HEADER_WORDS)
        self._share = max(option.size // _WORD_BYTES // self._regions, len(RegionWord) + largest)
        scrap = len(BufferWord) + self._regions * self._share
        try:
            self._buffer: Buffer = device.buffer(scrap + largest, np.uint32)
        except MemoryAccessError as error:
            raise LaunchError(
                f"kernel {kernel.name!r} needs {_WORD_BYTES * (scrap + largest)} bytes for what printf prints: "
                f"{error}; Printf(size=...) may be less than {option.size}") from None
        header = {BufferWord.SCRAP: self.address + _WORD_BYTES * scrap,
                  BufferWord.ROOM: self._share - len(RegionWord), BufferWord.SHARE: self._share,
                  BufferWord.FIRST: self._first}
        self._buffer[:len(BufferWord)] = np.array([header.get(word, 0) for word in BufferWord], np.uint32)

    @property
    def parameter(self) -> tuple[str, int]:
        """The kernel's parameter, and what it is told."""
        name = _parameter(self._kernel)
        assert name is not None
        return name, self.address

    @property
    def address(self) -> int:
        """Where the buffer is."""
        return self._buffer.address

    def __enter__(self) -> "PrintfBuffer":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        """Print the records, tell of those that found no room, and free the memory.

        If the kernel has not ended, memory may lack the end of a record: what is there is printed.
        """
        has_ended = kind is None
        # The memory itself: where a launch failed, the device may not say that its cache is clean.
        words = self._device.memory.view(self.address, self._buffer.nbytes).view(np.uint32).copy()
        self._buffer.free()
        regions = words[len(BufferWord):][:self._regions * self._share].reshape(self._regions, self._share)
        found = list(self._records(regions, has_ended))
        if self._option.order == "work-item":
            found.sort(key=lambda record: record[0])
        text = b"".join(printed for _, printed in found).decode("utf-8", self._option.errors)
        if text:
            self._option.print(text)
        self._warn(regions, len(found))

    def _records(self, regions: np.ndarray, has_ended: bool) -> Iterator[tuple[int, bytes]]:
        """Of each record the work-item, from 0 on, and what it prints."""
        content = regions[:, len(RegionWord):]
        for number in np.flatnonzero(regions[:, RegionWord.USED] if has_ended else regions.any(axis=1)):
            words = content[number]
            used = int(regions[number, RegionWord.USED])
            words = words[:used if has_ended else 1 + max(np.flatnonzero(words), default=-1)]
            yield from self._records_of(words)

    def _records_of(self, words: np.ndarray) -> Iterator[tuple[int, bytes]]:
        at, formats = 0, self._image.formats
        while at + HEADER_WORDS <= len(words):
            number = int(words[at])
            if not 1 <= number <= len(formats):     # room that was taken and not used any more
                at += 1
                continue
            format = formats[number - 1]
            arguments = words[at + HEADER_WORDS:at + format.words].tobytes()
            missing = _WORD_BYTES * (format.words - HEADER_WORDS) - len(arguments)
            work_item = (~int(words[at + 1]) - self._first) % _WORDS_END
            yield work_item, formatted(format, arguments + bytes(missing), self._image.strings)
            at += format.words

    def _warn(self, regions: np.ndarray, printed: int) -> None:
        calls = int(regions[:, RegionWord.LOST_CALLS].sum(dtype=np.int64))
        if not calls:
            return
        lost = regions[:, RegionWord.LOST_WORDS].astype(np.int64)
        needed = _WORD_BYTES * self._regions * (self._share + int(lost.max()))
        text = (f"kernel {self._kernel.name!r}: {calls} of {calls + printed} calls of printf are not printed, "
                f"{_WORD_BYTES * int(lost.sum())} bytes that the buffer of {self._option.size} has no room for")
        if self._option.tell is not None:
            self._option.tell(text)
            return
        warnings.warn(f"{text}; give it {needed}, with printf=Printf(size={needed}) or --printf-size",
                      PrintfWarning, stacklevel=callers_level())
