"""The driver, with a board of Python at the other end of the line."""

import zlib

import pytest

from fgpu.board.link import Link
from fgpu.board.protocol import BOARD_BASE, BOARD_MAGIC, DEFAULT_BAUD, MEMORY_BASE, RETRIES_TO_DEFAULT, BoardRegister

from .host import FRAME_READ, FRAME_WRITE, answer

CLOCK = 40_000_000
RATE = BOARD_BASE + 4 * BoardRegister.RATE


class Port:
    """A serial port, and a board behind it that understands ``deaf`` frames not at all."""

    def __init__(self, deaf: int = 0) -> None:
        self.baudrate = self.rate = DEFAULT_BAUD
        self.deaf = deaf
        self.is_open = True
        self.timeout = 0.0
        self.words = {BOARD_BASE: BOARD_MAGIC, BOARD_BASE + 4: CLOCK, BOARD_BASE + 8: 1 << 20}
        self._answers, self._failures, self._heard_nonsense = b"", 0, False

    def write(self, text: bytes) -> None:
        is_right = self.baudrate == self.rate and zlib.crc32(text[:-4]) == int.from_bytes(text[-4:], "little")
        if self.deaf and self.rate != DEFAULT_BAUD:
            self.deaf -= 1
            is_right = False
        if not is_right:
            self._heard_nonsense = True
            return
        self._failures = 0
        address = 4 * int.from_bytes(text[3:7], "big")
        if text[0] == FRAME_READ:
            self._answers += answer(text[1], [self.words.get(address, 0)])
        elif text[0] == FRAME_WRITE:
            self.words[address] = word = int.from_bytes(text[7:11], "big")
            self._answers += answer(text[1])
            if address == RATE:
                self.rate = round(word * CLOCK / (1 << 24))

    def read(self, length: int) -> bytes:
        if not self._answers and self._heard_nonsense:
            self._heard_nonsense = False
            self._failures += 1
            if self._failures == RETRIES_TO_DEFAULT:
                self.rate, self._failures = DEFAULT_BAUD, 0
        found, self._answers = self._answers[:length], self._answers[length:]
        return found

    def reset_input_buffer(self) -> None:
        self._answers = b""

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.is_open = False


def session(monkeypatch: pytest.MonkeyPatch, port: Port) -> Link:
    import serial

    monkeypatch.setattr(serial, "Serial", lambda *_, **__: port)
    return Link("port", baud=2_500_000)


@pytest.mark.parametrize("failures", [0, 1, RETRIES_TO_DEFAULT - 1, RETRIES_TO_DEFAULT, 7])
def test_a_session_goes_on_at_the_first_rate(monkeypatch: pytest.MonkeyPatch, failures: int) -> None:
    """The board takes that when it has understood nothing for a while; the driver does then, too."""
    port = Port()
    link = session(monkeypatch, port)
    assert link.baud == 2_500_000
    link.write_word(MEMORY_BASE, 7)
    port.deaf = failures
    assert link.read_word(MEMORY_BASE) == 7
    assert link.baud == (DEFAULT_BAUD if failures >= RETRIES_TO_DEFAULT else 2_500_000)
    assert link.failures == min(failures, RETRIES_TO_DEFAULT)
