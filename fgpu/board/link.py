"""The host's end of the line: reads and writes of a board, each of which is right or an error."""

import contextlib
import errno
import os
import random
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fgpu.errors import BoardError
from fgpu.extras import demand

from .protocol import (
    BOARD_BASE,
    BOARD_MAGIC,
    BURST_WORDS,
    CONFIG_WORDS,
    DEFAULT_BAUD,
    RETRIES_TO_DEFAULT,
    TIMEOUT_SECONDS,
    BoardRegister,
    Command,
    Status,
    rate_of,
)

__all__ = ["FAST_BAUD", "Link"]

FAST_BAUD: Final = 3_000_000
"""What the ULX3S' serial chip can do."""
_WINDOW: Final = 8          # frames that may be under way; the bridge keeps their headers
_TRIES: Final = 12          # failures one after the other
_SWITCH_SECONDS: Final = 0.02    # the board has its new rate only behind the answer's last bit
_BITS: Final = 10           # of a byte on the line
_ANSWER_BYTES: Final = 6    # beside the data


@dataclass(frozen=True)
class _Frame:
    """A request, and how long its answer's data are."""

    command: Any
    address: int
    count: int
    data: bytes = b""

    def text(self, sequence: int) -> bytes:
        """What goes over the line."""
        head = bytes([self.command.value, sequence, self.count - 1]) + (self.address // 4).to_bytes(4, "big")
        return head + self.data + zlib.crc32(head + self.data).to_bytes(4, "little")

    @property
    def answer_bytes(self) -> int:
        """Length of the answer."""
        return _ANSWER_BYTES + (4 * self.count if self.command is Command.FRAME_READ else 0)


def _swapped(data: bytes) -> bytes:
    """Words of memory as they go over the line, or the other way round."""
    turned = bytearray(len(data))
    for place in range(4):
        turned[place::4] = data[3 - place::4]
    return bytes(turned)


def _reason(port: str, error: Exception) -> str:
    """Why a port cannot be opened, and what to do; pyserial hides some of it in its messages."""
    from serial.tools.list_ports import comports

    number = getattr(error, "errno", None)
    if number == errno.ENOENT:
        there = ", ".join(sorted(each.device for each in comports()))
        return f"there is none of that name; there are {there}" if there else "there is none; is a board connected?"
    if number in (errno.EACCES, errno.EPERM):
        return "no right to use it; on Debian and Ubuntu the members of the group dialout have it"
    if number in (errno.EAGAIN, errno.EBUSY):
        return "another program uses it"
    if (os.path.exists(port) and not Path(port).is_char_device()) or "Inappropriate ioctl" in str(error):
        return "it is no serial port"
    return str(error)


class Link:
    """A session with a board.

    Parameters
    ----------
    port
        A serial port's name, such as ``/dev/ttyUSB0``.
    baud
        The rate to use after the first exchange.
    first_baud
        That which the board starts with.
    timeout
        Seconds after which an answer is taken for lost, beyond those that its bytes take.
    silence
        Seconds after which the bridge forgets what it did not understand.

    Damaged requests and answers are repeated; writes of single words are executed once nevertheless. ``failures``
    counts them; after some of them, one after the other, the line has its first rate for the rest of the session.

    Raises :class:`~fgpu.errors.BoardError` when the board does not answer, and for accesses that it answers with an
    error; :class:`~fgpu.errors.MissingExtraError` without pyserial (``fgpu[board]``).
    """

    def __init__(self, port: str, *, baud: int = FAST_BAUD, first_baud: int = DEFAULT_BAUD, timeout: float = 0.5,
                 silence: float = 1.2 * TIMEOUT_SECONDS) -> None:
        demand("a board", "board")
        import serial

        self._timeout = timeout
        self._silence = silence
        self._first_baud = first_baud
        self._sequence = random.randrange(128)
        self.failures = 0
        self.port = port
        try:
            self._serial = serial.Serial(port, first_baud, timeout=timeout, exclusive=True)
        except (OSError, ValueError) as error:
            raise BoardError(f"cannot open the serial port {port!r}: {_reason(port, error)}") from None
        try:
            self._connect(baud)
        except BaseException:
            self._serial.close()
            raise

    def __enter__(self) -> "Link":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the session: the board takes commands of others, at its first rate."""
        if self._serial.is_open:
            with contextlib.suppress(BoardError):       # it is gone, or hears another rate; that passes
                self._exchange([_Frame(Command.FRAME_LEAVE, 0, 1)], tries=2)
            self._serial.close()

    def abandon(self) -> None:
        """Close the port and say nothing, as a host that dies."""
        self._serial.close()

    def _connect(self, baud: int) -> None:
        self._serial.reset_input_buffer()
        self._exchange([_Frame(Command.FRAME_READ, BOARD_BASE, 1)], tries=2 * RETRIES_TO_DEFAULT)
        magic = self.read_register(BoardRegister.MAGIC)
        if magic != BOARD_MAGIC:
            raise BoardError(f"at {self.port!r} is something else than a board of fgpu: it answers 0x{magic:08X}")
        self.clock = self.read_register(BoardRegister.CLOCK)
        self.memory_bytes = self.read_register(BoardRegister.MEMORY_BYTES)
        fastest = min(baud, self.clock // 4)
        if fastest == self._first_baud:
            return
        self.write_word(BOARD_BASE + 4 * BoardRegister.RATE, rate_of(fastest, self.clock))
        self._serial.flush()
        self._serial.baudrate = fastest
        time.sleep(_SWITCH_SECONDS)
        try:
            self._exchange([_Frame(Command.FRAME_READ, BOARD_BASE, 1)], tries=2)
        except BoardError:      # the line is not good enough
            self._serial.baudrate = self._first_baud
            self._exchange([_Frame(Command.FRAME_READ, BOARD_BASE, 1)], tries=2 * RETRIES_TO_DEFAULT)

    @property
    def baud(self) -> int:
        """The line's rate."""
        return int(self._serial.baudrate)

    def config_key(self) -> str:
        """The text ``Config.key`` of the board's core."""
        text = self.read(BOARD_BASE + 4 * BoardRegister.CONFIG, 4 * CONFIG_WORDS)
        return text.rstrip(b"\0").decode("ascii", errors="replace")

    def read_register(self, register: int) -> int:
        """A register of the board."""
        return self.read_word(BOARD_BASE + 4 * register)

    def read_word(self, address: int) -> int:
        """A word at a byte address."""
        return int.from_bytes(self.read(address, 4), "little")

    def write_word(self, address: int, word: int) -> None:
        """Write a word; it is written once, whatever the line does."""
        self._exchange([_Frame(Command.FRAME_WRITE, address, 1, word.to_bytes(4, "big"))])

    def read(self, address: int, length: int, progress: Callable[[int], None] = lambda done: None) -> bytes:
        """So many bytes from ``address`` on, both multiples of 4. ``progress`` is told how many have come."""
        frames = [_Frame(Command.FRAME_READ, address + at, min(4 * BURST_WORDS, length - at) // 4)
                  for at in range(0, length, 4 * BURST_WORDS)]
        return _swapped(b"".join(self._exchange(frames, progress=progress)))

    def write(self, address: int, data: bytes, progress: Callable[[int], None] = lambda done: None) -> None:
        """Write bytes to memory from ``address`` on, both multiples of 4. Where the line is bad, some of them may be
        written more than once."""
        turned = _swapped(data)
        self._exchange([
            _Frame(Command.FRAME_WRITE, address + at, len(part) // 4, part)
            for at in range(0, len(turned), 4 * BURST_WORDS) for part in [turned[at:at + 4 * BURST_WORDS]]],
            progress=progress)

    def _exchange(self, frames: Sequence[_Frame], *, tries: int = _TRIES,
                  progress: Callable[[int], None] = lambda done: None) -> list[bytes]:
        """The data of the answers to some frames."""
        answers: list[bytes] = []
        numbers = [0x80 | (self._sequence + index) % 128 for index in range(len(frames))]
        self._sequence += len(frames)
        sent = failures = 0
        while len(answers) < len(frames):
            while sent < min(len(frames), len(answers) + _WINDOW):
                self._send(frames[sent].text(numbers[sent]))
                sent += 1
            here = len(answers)
            data = self._answer(numbers[here], frames[here], frames[here:sent])
            if data is not None:
                answers.append(data)
                failures = 0
                progress(4 * sum(frame.count for frame in frames[:len(answers)]))
                continue
            failures += 1
            self.failures += 1
            if failures >= tries:
                raise BoardError(f"the board at {self.port!r} does not answer ({failures} tries at {self.baud:,} "
                                 "baud); is it on, and loaded with this design (fgpu build --board)?")
            self._settle()
            if failures == RETRIES_TO_DEFAULT:
                # The board is back at its first rate, or soon will be: it understands none of what comes at that.
                self._serial.baudrate = self._first_baud
            sent = here
        return answers

    def _send(self, text: bytes) -> None:
        try:
            self._serial.write(text)
        except OSError as error:
            raise BoardError(f"the serial port {self.port!r} is gone: {error}") from None

    def _answer(self, number: int, frame: _Frame, under_way: Sequence[_Frame]) -> bytes | None:
        """The data of an answer, or None if it did not come as it should."""
        line = sum(len(each.data) + each.answer_bytes + 11 for each in under_way) * _BITS / self.baud
        self._serial.timeout = self._timeout + line
        try:
            text = self._serial.read(frame.answer_bytes)
        except OSError as error:
            raise BoardError(f"the serial port {self.port!r} is gone: {error}") from None
        if len(text) < frame.answer_bytes or zlib.crc32(text[:-4]) != int.from_bytes(text[-4:], "little"):
            return None
        if text[0] != number or text[-5] not in (Status.OKAY.value, Status.ERROR.value):
            return None
        if text[-5] == Status.ERROR.value:
            self._settle()      # what else is under way
            verb = "write" if frame.command is Command.FRAME_WRITE else "read"
            raise BoardError(f"the board answered a {verb} of {4 * frame.count} bytes at 0x{frame.address:08X} with "
                             "an error: there is nothing, or it is refused")
        return text[1:-5]

    def _settle(self) -> None:
        """Wait until both sides have forgotten what went wrong."""
        self._serial.timeout = self._silence
        end = time.monotonic() + 20 * self._silence
        while self._serial.read(4096) and time.monotonic() < end:
            pass
